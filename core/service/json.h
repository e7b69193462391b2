// Writing JSON objects: members in the order in which they are put, compact, UTF-8 as it is.
#ifndef UVEA_CORE_SERVICE_JSON_H
#define UVEA_CORE_SERVICE_JSON_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <jansson.h>
#include <stdbool.h>

// Takes value over, also when it fails. False when there is no value or memory is short; then the
// object may be released only.
UVEA_MUST_USE bool uvea_service_put(json_t *object, const char *name, json_t *value);

// Appends the text of an object, and a NUL behind it that len does not count. MEMORY is the only
// error; len is unchanged then.
UVEA_MUST_USE enum uvea_error uvea_service_append_json(const json_t *object, struct uvea_buf *buf);

#endif
