// Inside the store: what the files that implement core/store/store.h share.
#ifndef UVEA_CORE_STORE_IMPL_H
#define UVEA_CORE_STORE_IMPL_H

#include "core/store/sql.h"
#include "core/store/store.h"

enum {
    UVEA_STORE_CODE_BYTES = 2 * UVEA_SHARE_COEFFICIENTS,        // 25,600
    UVEA_STORE_MASK_BYTES = 2 * UVEA_MASK_COEFFICIENTS,         // 12,800
    UVEA_STORE_EYE_BYTES = 2 * UVEA_RECORD_COEFFICIENTS,        // 38,400: code, then mask
    UVEA_STORE_SEQUENCE_BYTES = UVEA_STORE_SEQUENCE_DIGITS + 1, // with its NUL
};
_Static_assert(UVEA_STORE_CODE_BYTES == 25600 && UVEA_STORE_MASK_BYTES == 12800 &&
                   UVEA_STORE_EYE_BYTES == UVEA_STORE_CODE_BYTES + UVEA_STORE_MASK_BYTES,
               "the sizes that the schema checks");

struct uvea_store {
    struct uvea_rt *rt;
    struct uvea_lock *lock;
    struct uvea_sql *sql;
    uint8_t bytes[UVEA_EYE_COUNT][UVEA_STORE_EYE_BYTES];     // one record as it is stored; secret
    uint16_t eyes[UVEA_EYE_COUNT][UVEA_RECORD_COEFFICIENTS]; // one record as it is used; secret
};

// ---- carrying calls out

typedef enum uvea_error uvea_store_body_fn(struct uvea_store *store, void *arg,
                                           struct uvea_error_context *context);

// Runs body alone, in a transaction that is committed when it returns OK and undone otherwise.
UVEA_MUST_USE enum uvea_error uvea_store_transact(struct uvea_store *store,
                                                  uvea_store_body_fn *body, void *arg,
                                                  struct uvea_error_context *context);

// The same for a body that only reads.
UVEA_MUST_USE enum uvea_error uvea_store_query(struct uvea_store *store, uvea_store_body_fn *body,
                                               void *arg, struct uvea_error_context *context);

// The wall clock in seconds.
int64_t uvea_store_now_s(struct uvea_store *store);

// ---- what comes from outside

// USAGE names what is not 1..INT64_MAX, which is what a column holds.
UVEA_MUST_USE enum uvea_error uvea_store_check_number(const char *what, uint64_t number,
                                                      struct uvea_error_context *context);
// USAGE: NULL, empty or not UTF-8; LIMIT: longer than bytes_max.
UVEA_MUST_USE enum uvea_error uvea_store_check_text(const char *what, const char *text,
                                                    size_t bytes_max,
                                                    struct uvea_error_context *context);
// The same, but NULL and "" are fine.
UVEA_MUST_USE enum uvea_error uvea_store_check_optional(const char *what, const char *text,
                                                        size_t bytes_max,
                                                        struct uvea_error_context *context);
// LIMIT.
UVEA_MUST_USE enum uvea_error uvea_store_check_size(const char *what, size_t bytes,
                                                    size_t bytes_max,
                                                    struct uvea_error_context *context);

// What is bound for a number, or a count of rows, that may be larger than a column holds.
struct uvea_sql_value uvea_store_limit(uint64_t count);

// ---- forms of storage

// 40 digits, so that the order of texts is that of numbers.
void uvea_store_sequence_encode(uint64_t sequence, char text[UVEA_STORE_SEQUENCE_BYTES]);
UVEA_MUST_USE enum uvea_error uvea_store_sequence_decode(const char *text, uint64_t *sequence,
                                                         struct uvea_error_context *context);

// A sum that any change of one aligned group of 8 bytes changes, and any other change almost
// surely. It finds what a disk spoiled, not what an adversary forged. `id` binds the bytes to their
// row.
int64_t uvea_store_sum(uint64_t id, const void *bytes, size_t count);
// The same over a text or NULL, going on from a sum.
int64_t uvea_store_sum_text(int64_t sum, const char *text);

// ---- named numbers of the table persistent_state; one that was never put is 0

struct uvea_store_name {
    const char *domain;
    const char *name;
};
extern const struct uvea_store_name uvea_store_frontier_name;
extern const struct uvea_store_name uvea_store_contiguous_name;
extern const struct uvea_store_name uvea_store_persisted_name;

UVEA_MUST_USE enum uvea_error uvea_store_state_get(struct uvea_store *store,
                                                   struct uvea_store_name name, uint64_t *value,
                                                   struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_store_state_put(struct uvea_store *store,
                                                   struct uvea_store_name name, uint64_t value,
                                                   struct uvea_error_context *context);

// state_get as a call of its own.
UVEA_MUST_USE enum uvea_error uvea_store_number(struct uvea_store *store,
                                                struct uvea_store_name name, uint64_t *value,
                                                struct uvea_error_context *context);

// ---- parts of transactions

// The modification in the first eleven columns of a row; its texts are good until the next step.
enum { UVEA_STORE_MODIFICATION_COLUMNS = 11 };
UVEA_MUST_USE enum uvea_error uvea_store_get_modification(struct uvea_sql *sql,
                                                          struct uvea_modification *out,
                                                          struct uvea_error_context *context);

// Inserts a record, or replaces it when `replace`. Both eyes are given.
UVEA_MUST_USE enum uvea_error uvea_store_put_record(struct uvea_store *store,
                                                    const struct uvea_store_record *record,
                                                    bool replace,
                                                    struct uvea_error_context *context);
// Inserts records whose serials follow the largest one; STATE otherwise.
UVEA_MUST_USE enum uvea_error uvea_store_append_records(struct uvea_store *store,
                                                        const struct uvea_store_record *records,
                                                        size_t count,
                                                        struct uvea_error_context *context);

#endif
