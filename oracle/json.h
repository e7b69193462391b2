// How the oracle writes results: one JSON object, its members in the order in which they are put.
#ifndef UVEA_ORACLE_JSON_H
#define UVEA_ORACLE_JSON_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "oracle/search.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// All zero but for what uvea_oracle_json_begin sets. A call that cannot do its work marks the
// object as failed, and uvea_oracle_json_end says so.
struct uvea_oracle_json {
    json_t *object; // owned
    bool failed;
    const char *not_text; // the first member whose text is not UTF-8; NULL: none
};

void uvea_oracle_json_begin(struct uvea_oracle_json *json);

// Appends the object as compact JSON and releases it. MEMORY; FORMAT names a member that is not
// UTF-8. buf is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_oracle_json_end(struct uvea_oracle_json *json,
                                                   struct uvea_buf *buf,
                                                   struct uvea_error_context *context);

void uvea_oracle_json_null(struct uvea_oracle_json *json, const char *member);
void uvea_oracle_json_bool(struct uvea_oracle_json *json, const char *member, bool value);
void uvea_oracle_json_number(struct uvea_oracle_json *json, const char *member, uint64_t value);
void uvea_oracle_json_text(struct uvea_oracle_json *json, const char *member, const char *value);
void uvea_oracle_json_texts(struct uvea_oracle_json *json, const char *member,
                            const char *const *values, size_t count);

// Which records of a search: strict matches on one eye, or full matches.
enum uvea_oracle_list {
    UVEA_ORACLE_LIST_LEFT = UVEA_ORACLE_LEFT,
    UVEA_ORACLE_LIST_RIGHT = UVEA_ORACLE_RIGHT,
    UVEA_ORACLE_LIST_FULL,
};

// Their serials, the first UVEA_ORACLE_IDS_MAX of them. extra: a serial that is listed too, 0 for
// none.
void uvea_oracle_json_serials(struct uvea_oracle_json *json, const char *member,
                              const struct uvea_oracle_search *search, enum uvea_oracle_list list,
                              uint32_t extra, bool null_when_empty);

// One list of rotations for each serial of the same eye's list; null when there are none.
void uvea_oracle_json_rotations(struct uvea_oracle_json *json, const char *member,
                                const struct uvea_oracle_search *search, enum uvea_oracle_eye eye);

// The members of a uniqueness result that tell of the normal and of the mirror search.
void uvea_oracle_json_normal(struct uvea_oracle_json *json, const struct uvea_oracle_search *normal,
                             bool hidden);
void uvea_oracle_json_mirror(struct uvea_oracle_json *json, const struct uvea_oracle_search *mirror,
                             bool hidden);

#endif
