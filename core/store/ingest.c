#include "core/base/check.h"
#include "core/store/impl.h"

enum { ADVANCE_ROWS = 256 }; // read at a time to find how far the numbers have no gap

// Binds a message to its number and to whether it is good.
static int64_t sum_of(uint64_t sequence, bool valid, const uint8_t *body, size_t body_bytes)
{
    return uvea_store_sum(sequence << 1 | (valid ? 1u : 0u), body, body_bytes);
}

// ---- storing

struct ingest {
    const struct uvea_store_message *messages;
    size_t count;
};

static enum uvea_error insert_message(struct uvea_store *store,
                                      const struct uvea_store_message *message, uint64_t persisted,
                                      struct uvea_error_context *context)
{
    char text[UVEA_STORE_SEQUENCE_BYTES];
    uvea_store_sequence_encode(message->sequence, text);
    struct uvea_sql_value now = uvea_sql_integer(uvea_store_now_s(store));
    int64_t sum = sum_of(message->sequence, message->valid, message->body, message->body_bytes);
    return uvea_sql_execute(
        store->sql, UVEA_SQL_INGEST_INSERT,
        UVEA_SQL_VALUES(uvea_sql_text(text), uvea_sql_blob(message->body, message->body_bytes),
                        uvea_sql_integer(sum), uvea_sql_integer(message->valid), now,
                        message->sequence <= persisted ? now : uvea_sql_null()),
        NULL, context);
}

struct advance {
    uint64_t contiguous;
    size_t rows; // of which each followed the one before
};

static enum uvea_error advance_over(struct uvea_sql *sql, void *arg,
                                    struct uvea_error_context *context)
{
    struct advance *advance = arg;
    const char *text;
    uint64_t sequence;
    UVEA_TRY(uvea_sql_get_text(sql, 0, &text, context));
    UVEA_TRY(uvea_store_sequence_decode(text, &sequence, context));
    if (sequence == advance->contiguous + 1) {
        advance->contiguous++;
        advance->rows++;
    }
    return UVEA_OK;
}

static enum uvea_error advance_contiguous(struct uvea_store *store,
                                          struct uvea_error_context *context)
{
    struct advance advance = {0};
    UVEA_TRY(uvea_store_state_get(store, uvea_store_contiguous_name, &advance.contiguous, context));
    uint64_t before = advance.contiguous;
    do {
        char text[UVEA_STORE_SEQUENCE_BYTES];
        uvea_store_sequence_encode(advance.contiguous, text);
        advance.rows = 0;
        UVEA_TRY(uvea_sql_each(store->sql, UVEA_SQL_INGEST_AFTER,
                               UVEA_SQL_VALUES(uvea_sql_text(text), uvea_sql_integer(ADVANCE_ROWS)),
                               advance_over, &advance, context));
    } while (advance.rows == ADVANCE_ROWS);
    if (advance.contiguous == before) {
        return UVEA_OK;
    }
    return uvea_store_state_put(store, uvea_store_contiguous_name, advance.contiguous, context);
}

static enum uvea_error ingest(struct uvea_store *store, void *arg,
                              struct uvea_error_context *context)
{
    const struct ingest *ingest = arg;
    uint64_t persisted;
    UVEA_TRY(uvea_store_state_get(store, uvea_store_persisted_name, &persisted, context));
    for (size_t i = 0; i < ingest->count; i++) {
        UVEA_TRY(insert_message(store, &ingest->messages[i], persisted, context));
    }
    return advance_contiguous(store, context);
}

enum uvea_error uvea_store_ingest(struct uvea_store *store,
                                  const struct uvea_store_message *messages, size_t count,
                                  struct uvea_error_context *context)
{
    for (size_t i = 0; i < count; i++) {
        UVEA_TRY(uvea_store_check_number("sequence number", messages[i].sequence, context));
        UVEA_TRY(uvea_store_check_size("a message", messages[i].body_bytes,
                                       UVEA_STORE_BODY_BYTES_MAX, context));
    }
    return uvea_store_transact(store, ingest, &(struct ingest){messages, count}, context);
}

// ---- how far it is

static enum uvea_error read_state(struct uvea_store *store, void *arg,
                                  struct uvea_error_context *context)
{
    struct uvea_store_ingest_state *state = arg;
    UVEA_TRY(uvea_store_state_get(store, uvea_store_contiguous_name, &state->contiguous, context));
    UVEA_TRY(
        uvea_store_state_get(store, uvea_store_persisted_name, &state->max_persisted, context));
    char text[UVEA_STORE_SEQUENCE_BYTES];
    uvea_store_sequence_encode(state->contiguous, text);
    bool found = false;
    int64_t pending = 0;
    UVEA_TRY(uvea_sql_find(store->sql, UVEA_SQL_INGEST_PENDING_COUNT,
                           UVEA_SQL_VALUES(uvea_sql_text(text)), &found, &pending, context));
    state->pending = (uint64_t)pending;
    return UVEA_OK;
}

enum uvea_error uvea_store_ingest_state(struct uvea_store *store,
                                        struct uvea_store_ingest_state *state,
                                        struct uvea_error_context *context)
{
    struct uvea_store_ingest_state read = {0};
    UVEA_TRY(uvea_store_query(store, read_state, &read, context));
    *state = read;
    return UVEA_OK;
}

// ---- what is pending

struct pending {
    size_t count;
    uvea_store_message_fn *fn;
    void *arg;
};

static enum uvea_error read_pending(struct uvea_sql *sql, void *arg,
                                    struct uvea_error_context *context)
{
    const struct pending *pending = arg;
    struct uvea_store_message message = {0};
    const char *text;
    uint64_t valid;
    UVEA_TRY(uvea_sql_get_text(sql, 0, &text, context));
    UVEA_TRY(uvea_store_sequence_decode(text, &message.sequence, context));
    UVEA_TRY(uvea_sql_get_blob(sql, 1, &message.body, &message.body_bytes, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, 3, 1, &valid, context));
    message.valid = valid != 0;
    UVEA_TRY(uvea_sql_check_sum(
        sql, 2, sum_of(message.sequence, message.valid, message.body, message.body_bytes),
        "an ingested message", context));
    return pending->fn(pending->arg, &message);
}

static enum uvea_error pending(struct uvea_store *store, void *arg,
                               struct uvea_error_context *context)
{
    struct pending *pending = arg;
    uint64_t contiguous;
    UVEA_TRY(uvea_store_state_get(store, uvea_store_contiguous_name, &contiguous, context));
    char text[UVEA_STORE_SEQUENCE_BYTES];
    uvea_store_sequence_encode(contiguous, text);
    return uvea_sql_each(store->sql, UVEA_SQL_INGEST_PENDING,
                         UVEA_SQL_VALUES(uvea_sql_text(text), uvea_store_limit(pending->count)),
                         read_pending, pending, context);
}

enum uvea_error uvea_store_pending(struct uvea_store *store, size_t count,
                                   uvea_store_message_fn *fn, void *arg,
                                   struct uvea_error_context *context)
{
    return uvea_store_query(store, pending, &(struct pending){count, fn, arg}, context);
}

// ---- after a restart

static enum uvea_error recover(struct uvea_store *store, void *arg,
                               struct uvea_error_context *context)
{
    const uint64_t *max_persisted = arg;
    uint64_t persisted;
    UVEA_TRY(uvea_store_state_get(store, uvea_store_persisted_name, &persisted, context));
    if (*max_persisted > persisted) {
        persisted = *max_persisted;
        UVEA_TRY(uvea_store_state_put(store, uvea_store_persisted_name, persisted, context));
    }
    char text[UVEA_STORE_SEQUENCE_BYTES];
    uvea_store_sequence_encode(persisted, text);
    UVEA_TRY(uvea_sql_execute(
        store->sql, UVEA_SQL_INGEST_PERSIST_UP_TO,
        UVEA_SQL_VALUES(uvea_sql_integer(uvea_store_now_s(store)), uvea_sql_text(text)), NULL,
        context));
    return uvea_sql_execute(store->sql, UVEA_SQL_INGEST_RELEASE, NULL, 0, NULL, context);
}

enum uvea_error uvea_store_ingest_recover(struct uvea_store *store, uint64_t max_persisted,
                                          struct uvea_error_context *context)
{
    if (max_persisted > INT64_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "sequence number %llu is above 2^63-1",
                              (unsigned long long)max_persisted);
    }
    return uvea_store_transact(store, recover, &max_persisted, context);
}
