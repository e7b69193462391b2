#include "core/base/check.h"
#include "core/store/impl.h"

// ---- reading

enum {
    COLUMN_ID,
    COLUMN_SEQUENCE,
    COLUMN_SERIAL,
    COLUMN_TYPE,
    COLUMN_S3_URL,
    COLUMN_COMPLETED,
    COLUMN_PERSISTED,
    COLUMN_RESULT,
    COLUMN_ATTRIBUTES,
};

static enum uvea_error get_modification(struct uvea_sql *sql, struct uvea_modification *out,
                                        struct uvea_error_context *context)
{
    uint64_t serial, completed, persisted;
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_ID, INT64_MAX, &out->id, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_SEQUENCE, INT64_MAX, &out->sequence, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_SERIAL, UINT32_MAX, &serial, context));
    UVEA_TRY(uvea_sql_get_text(sql, COLUMN_TYPE, &out->type, context));
    UVEA_TRY(uvea_sql_get_text(sql, COLUMN_S3_URL, &out->s3_url, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_COMPLETED, 1, &completed, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_PERSISTED, 1, &persisted, context));
    UVEA_TRY(uvea_sql_get_text(sql, COLUMN_RESULT, &out->result, context));
    UVEA_TRY(uvea_sql_get_text(sql, COLUMN_ATTRIBUTES, &out->attributes, context));
    if (out->type == NULL) {
        return uvea_error_set(context, UVEA_ERR_STATE, "modification %llu has no type",
                              (unsigned long long)out->id);
    }
    out->serial = (uint32_t)serial;
    out->completed = completed != 0;
    out->persisted = persisted != 0;
    return UVEA_OK;
}

struct reading {
    size_t count;
    uvea_modification_fn *fn;
    void *arg;
};

static enum uvea_error read_modification(struct uvea_sql *sql, void *arg,
                                         struct uvea_error_context *context)
{
    const struct reading *reading = arg;
    struct uvea_modification modification = {0};
    UVEA_TRY(get_modification(sql, &modification, context));
    return reading->fn(reading->arg, &modification);
}

static enum uvea_error read_newest(struct uvea_store *store, void *arg,
                                   struct uvea_error_context *context)
{
    struct reading *reading = arg;
    return uvea_sql_each(store->sql, UVEA_SQL_MODIFICATIONS_NEWEST,
                         UVEA_SQL_VALUES(uvea_store_limit(reading->count)), read_modification,
                         reading, context);
}

enum uvea_error uvea_store_modifications(struct uvea_store *store, size_t count,
                                         uvea_modification_fn *fn, void *arg,
                                         struct uvea_error_context *context)
{
    return uvea_store_query(store, read_newest, &(struct reading){count, fn, arg}, context);
}

// ---- writing

static struct uvea_sql_value serial_value(uint32_t serial)
{
    return serial != 0 ? uvea_sql_integer(serial) : uvea_sql_null();
}

static struct uvea_sql_value sequence_value(uint64_t sequence)
{
    return sequence != 0 ? uvea_sql_integer((int64_t)sequence) : uvea_sql_null();
}

static enum uvea_error check_described(const struct uvea_modification *modification,
                                       struct uvea_error_context *context)
{
    UVEA_TRY(uvea_store_check_text("a modification's type", modification->type,
                                   UVEA_STORE_TYPE_CHARS_MAX, context));
    UVEA_TRY(uvea_store_check_optional("a modification's s3_url", modification->s3_url,
                                       UVEA_STORE_KEY_BYTES_MAX, context));
    return uvea_store_check_optional("a modification's attributes", modification->attributes,
                                     UVEA_STORE_BODY_BYTES_MAX, context);
}

static enum uvea_error check_result(const struct uvea_modification *modification,
                                    struct uvea_error_context *context)
{
    return uvea_store_check_optional("a result", modification->result, UVEA_STORE_BODY_BYTES_MAX,
                                     context);
}

// ---- claiming

struct claim {
    uint64_t batch_id;
    const struct uvea_modification *modifications;
    size_t count;
    uint64_t first_id;
};

static enum uvea_error claim_message(struct uvea_store *store, uint64_t batch_id, uint64_t sequence,
                                     struct uvea_error_context *context)
{
    char text[UVEA_STORE_SEQUENCE_BYTES];
    uvea_store_sequence_encode(sequence, text);
    int64_t changes = 0;
    UVEA_TRY(
        uvea_sql_execute(store->sql, UVEA_SQL_INGEST_CLAIM,
                         UVEA_SQL_VALUES(uvea_sql_integer((int64_t)batch_id), uvea_sql_text(text)),
                         &changes, context));
    if (changes != 1) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "message %llu cannot be claimed: it is not here, or not pending",
                              (unsigned long long)sequence);
    }
    return UVEA_OK;
}

static enum uvea_error insert_modification(struct uvea_store *store, uint64_t id,
                                           const struct uvea_modification *modification,
                                           struct uvea_error_context *context)
{
    return uvea_sql_execute(
        store->sql, UVEA_SQL_MODIFICATION_INSERT,
        UVEA_SQL_VALUES(uvea_sql_integer((int64_t)id), sequence_value(modification->sequence),
                        serial_value(modification->serial), uvea_sql_text(modification->type),
                        uvea_sql_text(modification->s3_url),
                        uvea_sql_text(modification->attributes),
                        uvea_sql_integer(uvea_store_now_s(store))),
        NULL, context);
}

static enum uvea_error claim(struct uvea_store *store, void *arg,
                             struct uvea_error_context *context)
{
    struct claim *claim = arg;
    bool found = false;
    int64_t last = 0;
    UVEA_TRY(
        uvea_sql_find(store->sql, UVEA_SQL_MODIFICATION_LAST, NULL, 0, &found, &last, context));
    claim->first_id = (uint64_t)last + 1;
    for (size_t i = 0; i < claim->count; i++) {
        const struct uvea_modification *modification = &claim->modifications[i];
        UVEA_TRY(claim_message(store, claim->batch_id, modification->sequence, context));
        UVEA_TRY(insert_modification(store, claim->first_id + i, modification, context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_claim(struct uvea_store *store, uint64_t batch_id,
                                 const struct uvea_modification *modifications, size_t count,
                                 uint64_t *first_id, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_store_check_number("batch id", batch_id, context));
    for (size_t i = 0; i < count; i++) {
        UVEA_TRY(uvea_store_check_number("sequence number", modifications[i].sequence, context));
        UVEA_TRY(check_described(&modifications[i], context));
    }
    struct claim call = {batch_id, modifications, count, 0};
    UVEA_TRY(uvea_store_transact(store, claim, &call, context));
    *first_id = call.first_id;
    return UVEA_OK;
}

// ---- the commit of a batch

static enum uvea_error complete(struct uvea_store *store,
                                const struct uvea_modification *modification,
                                struct uvea_error_context *context)
{
    int64_t changes = 0;
    UVEA_TRY(uvea_sql_execute(store->sql, UVEA_SQL_MODIFICATION_COMPLETE,
                              UVEA_SQL_VALUES(serial_value(modification->serial),
                                              uvea_sql_integer(modification->persisted),
                                              uvea_sql_text(modification->result),
                                              uvea_sql_integer((int64_t)modification->id)),
                              &changes, context));
    if (changes != 1) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "modification %llu cannot be completed: it is not in progress",
                              (unsigned long long)modification->id);
    }
    return UVEA_OK;
}

static enum uvea_error update_record(struct uvea_store *store,
                                     const struct uvea_store_record *record,
                                     struct uvea_error_context *context)
{
    bool found = false;
    int64_t version = 0;
    UVEA_TRY(uvea_sql_find(store->sql, UVEA_SQL_RECORD_VERSION,
                           UVEA_SQL_VALUES(uvea_sql_integer(record->serial)), &found, &version,
                           context));
    if (!found) {
        return uvea_error_set(context, UVEA_ERR_STATE, "record %u is to be updated, but not stored",
                              (unsigned)record->serial);
    }
    if (version >= record->version) {
        return uvea_error_set(
            context, UVEA_ERR_STATE,
            "record %u is to be updated to version %u, but stored at version %lld",
            (unsigned)record->serial, (unsigned)record->version, (long long)version);
    }
    return uvea_store_put_record(store, record, true, context);
}

static enum uvea_error persist_message(struct uvea_store *store, uint64_t sequence,
                                       struct uvea_error_context *context)
{
    char text[UVEA_STORE_SEQUENCE_BYTES];
    uvea_store_sequence_encode(sequence, text);
    int64_t changes = 0;
    UVEA_TRY(uvea_sql_execute(
        store->sql, UVEA_SQL_INGEST_PERSIST,
        UVEA_SQL_VALUES(uvea_sql_integer(uvea_store_now_s(store)), uvea_sql_text(text)), &changes,
        context));
    if (changes != 1) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "message %llu cannot be persisted: it is not claimed",
                              (unsigned long long)sequence);
    }
    return UVEA_OK;
}

static enum uvea_error persist_messages(struct uvea_store *store, const uint64_t *sequences,
                                        size_t count, struct uvea_error_context *context)
{
    uint64_t before;
    UVEA_TRY(uvea_store_state_get(store, uvea_store_persisted_name, &before, context));
    uint64_t persisted = before;
    for (size_t i = 0; i < count; i++) {
        UVEA_TRY(persist_message(store, sequences[i], context));
        persisted = sequences[i] > persisted ? sequences[i] : persisted;
    }
    if (persisted == before) {
        return UVEA_OK;
    }
    return uvea_store_state_put(store, uvea_store_persisted_name, persisted, context);
}

static enum uvea_error commit(struct uvea_store *store, void *arg,
                              struct uvea_error_context *context)
{
    const struct uvea_store_commit *commit = arg;
    UVEA_TRY(uvea_store_append_records(store, commit->inserts, commit->insert_count, context));
    uint64_t last_id = 0;
    for (size_t i = 0; i < commit->modification_count; i++) {
        UVEA_TRY(complete(store, &commit->modifications[i], context));
        last_id = commit->modifications[i].id;
    }
    if (last_id != 0) {
        UVEA_TRY(uvea_store_state_put(store, uvea_store_frontier_name, last_id, context));
    }
    for (size_t i = 0; i < commit->update_count; i++) {
        UVEA_TRY(update_record(store, &commit->updates[i], context));
    }
    return persist_messages(store, commit->sequences, commit->sequence_count, context);
}

enum uvea_error uvea_store_commit(struct uvea_store *store, const struct uvea_store_commit *call,
                                  struct uvea_error_context *context)
{
    for (size_t i = 0; i < call->modification_count; i++) {
        const struct uvea_modification *modification = &call->modifications[i];
        UVEA_TRY(uvea_store_check_number("modification id", modification->id, context));
        UVEA_TRY(check_result(modification, context));
        UVEA_CHECK(i == 0 || modification->id > modification[-1].id);
    }
    for (size_t i = 0; i < call->sequence_count; i++) {
        UVEA_TRY(uvea_store_check_number("sequence number", call->sequences[i], context));
    }
    return uvea_store_transact(store, commit, (void *)call, context);
}

enum uvea_error uvea_store_frontier(struct uvea_store *store, uint64_t *id,
                                    struct uvea_error_context *context)
{
    return uvea_store_number(store, uvea_store_frontier_name, id, context);
}

// ---- start-up repair

// A row that is there keeps what only this party knows: the message it came from, the attributes.
static enum uvea_error write_modification(struct uvea_store *store,
                                          const struct uvea_modification *modification,
                                          struct uvea_error_context *context)
{
    return uvea_sql_execute(
        store->sql, UVEA_SQL_MODIFICATION_PUT,
        UVEA_SQL_VALUES(
            uvea_sql_integer((int64_t)modification->id), sequence_value(modification->sequence),
            serial_value(modification->serial), uvea_sql_text(modification->type),
            uvea_sql_text(modification->s3_url), uvea_sql_text(modification->attributes),
            uvea_sql_integer(uvea_store_now_s(store)), uvea_sql_integer(modification->persisted),
            uvea_sql_text(modification->result)),
        NULL, context);
}

static enum uvea_error delete_modification(struct uvea_store *store, uint64_t id,
                                           struct uvea_error_context *context)
{
    int64_t changes = 0;
    UVEA_TRY(uvea_sql_execute(store->sql, UVEA_SQL_MODIFICATION_DELETE,
                              UVEA_SQL_VALUES(uvea_sql_integer((int64_t)id)), &changes, context));
    if (changes != 1) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "modification %llu cannot be deleted: it is not in progress",
                              (unsigned long long)id);
    }
    return UVEA_OK;
}

static enum uvea_error repair(struct uvea_store *store, void *arg,
                              struct uvea_error_context *context)
{
    const struct uvea_store_repair *repair = arg;
    for (size_t i = 0; i < repair->write_count; i++) {
        UVEA_TRY(write_modification(store, &repair->write[i], context));
    }
    for (size_t i = 0; i < repair->delete_count; i++) {
        UVEA_TRY(delete_modification(store, repair->delete_ids[i], context));
    }
    for (size_t i = 0; i < repair->record_count; i++) {
        UVEA_TRY(uvea_store_put_record(store, &repair->records[i], true, context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_repair(struct uvea_store *store, const struct uvea_store_repair *call,
                                  struct uvea_error_context *context)
{
    for (size_t i = 0; i < call->write_count; i++) {
        const struct uvea_modification *modification = &call->write[i];
        UVEA_TRY(uvea_store_check_number("modification id", modification->id, context));
        if (modification->sequence != 0) {
            UVEA_TRY(uvea_store_check_number("sequence number", modification->sequence, context));
        }
        UVEA_TRY(check_described(modification, context));
        UVEA_TRY(check_result(modification, context));
    }
    for (size_t i = 0; i < call->delete_count; i++) {
        UVEA_TRY(uvea_store_check_number("modification id", call->delete_ids[i], context));
    }
    return uvea_store_transact(store, repair, (void *)call, context);
}
