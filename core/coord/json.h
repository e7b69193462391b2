// Reading and writing of the JSON that parties send each other. Sentences name places and members,
// never contents of strings.
//
// Whole numbers go up to 2^64 - 1, which the parser's own do not: one of more than 18 digits comes
// out of uvea_coord_json_load as a string of its digits, and where a number is wanted such a string
// is one, whoever wrote it.
#ifndef UVEA_CORE_COORD_JSON_H
#define UVEA_CORE_COORD_JSON_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One JSON object without duplicate members, of at most bytes_max bytes, nested at most 16 deep.
// The caller releases *object with json_decref. FORMAT or LIMIT with a sentence; *object is then
// NULL.
UVEA_MUST_USE enum uvea_error uvea_coord_json_load(const uint8_t *text, size_t bytes,
                                                   size_t bytes_max, json_t **object,
                                                   struct uvea_error_context *context);

// ---- members of an object. FORMAT: missing, or of another type; LIMIT: beyond the bound. Both
// sentences name the member. Strings are owned by the object. Outputs are unchanged on failure.

UVEA_MUST_USE enum uvea_error uvea_coord_json_bool(const json_t *object, const char *name,
                                                   bool *out, struct uvea_error_context *context);

UVEA_MUST_USE enum uvea_error uvea_coord_json_number(const json_t *object, const char *name,
                                                     uint64_t max, uint64_t *out,
                                                     struct uvea_error_context *context);

// A member that is null or not there gives *has = false.
UVEA_MUST_USE enum uvea_error uvea_coord_json_number_or_null(const json_t *object, const char *name,
                                                             uint64_t max, bool *has, uint64_t *out,
                                                             struct uvea_error_context *context);

UVEA_MUST_USE enum uvea_error uvea_coord_json_string(const json_t *object, const char *name,
                                                     size_t bytes_max, const char **out,
                                                     struct uvea_error_context *context);

// A member that is null or not there gives *out = NULL.
UVEA_MUST_USE enum uvea_error uvea_coord_json_string_or_null(const json_t *object, const char *name,
                                                             size_t bytes_max, const char **out,
                                                             struct uvea_error_context *context);

UVEA_MUST_USE enum uvea_error uvea_coord_json_array(const json_t *object, const char *name,
                                                    size_t count_max, const json_t **out,
                                                    struct uvea_error_context *context);

// Decimal digits without leading zeros, at most 2^64 - 1: FORMAT for other texts, LIMIT for more.
UVEA_MUST_USE enum uvea_error uvea_coord_digits(const char *text, uint64_t *out);

// ---- writing. MEMORY is the only error; what has been appended by then stays.

UVEA_MUST_USE enum uvea_error uvea_coord_append(struct uvea_buf *json, const char *text);
UVEA_MUST_USE enum uvea_error uvea_coord_append_number(struct uvea_buf *json, uint64_t number);
// Any value, compact, members in their order.
UVEA_MUST_USE enum uvea_error uvea_coord_append_value(struct uvea_buf *json, const json_t *value);
// A quoted string, or null for NULL. text is valid UTF-8 (else FORMAT).
UVEA_MUST_USE enum uvea_error uvea_coord_append_string(struct uvea_buf *json, const char *text);

#endif
