// NDJSON files of templates, as the subcommands read and write them.
#ifndef UVEA_SIM_CMD_RECORDS_H
#define UVEA_SIM_CMD_RECORDS_H

#include "core/iris/template.h"
#include "oracle/match.h"
#include "sim/cmd/file.h"

#include <stddef.h>
#include <stdint.h>

// Record n is line n, counted from 1. All zero is empty.
struct uvea_records {
    const char *path; // borrowed
    struct uvea_template *at;
    size_t count;
};

// At least one record. Errors name file, line and member; out is unchanged then.
UVEA_MUST_USE enum uvea_error uvea_records_read(const char *path, struct uvea_records *out,
                                                struct uvea_error_context *context);
void uvea_records_deinit(struct uvea_records *records);

// Record at `line`; USAGE names file and line when there is none.
UVEA_MUST_USE enum uvea_error uvea_records_get(const struct uvea_records *records, uint64_t line,
                                               const struct uvea_template **out,
                                               struct uvea_error_context *context);

// Writes one line.
UVEA_MUST_USE enum uvea_error uvea_records_write(struct uvea_output *out,
                                                 const struct uvea_template *record,
                                                 struct uvea_error_context *context);

// The same bits as the oracle's own type.
void uvea_records_to_oracle(const struct uvea_template *in, struct uvea_oracle_template *out);

#endif
