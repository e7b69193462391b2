// The tables, version by version. A database at version n has had the steps 1..n applied, each in a
// transaction of its own, and says so in the table uvea_schema.
#ifndef UVEA_CORE_STORE_SCHEMA_H
#define UVEA_CORE_STORE_SCHEMA_H

#include "core/base/error.h"
#include "core/store/sql.h"

#include <stdint.h>

enum { UVEA_SCHEMA_VERSION = 3 }; // what this program reads and writes

// Only reads. FORMAT: there are tables but not ours, or of a newer version; `name` names the place.
UVEA_MUST_USE enum uvea_error uvea_schema_check(struct uvea_sql *sql, const char *name,
                                                struct uvea_error_context *context);

// Applies the steps up to version `to` that are missing. now_s: seconds since 1970.
UVEA_MUST_USE enum uvea_error uvea_schema_migrate(struct uvea_sql *sql, unsigned to, int64_t now_s,
                                                  struct uvea_error_context *context);

#endif
