#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/store/impl.h"

#include <stdio.h>

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
    COLUMN_SUM,
    COLUMN_BATCH,
    COLUMN_COUNT,
};
_Static_assert((int)COLUMN_COUNT == (int)UVEA_STORE_MODIFICATION_COLUMNS, "as impl.h says");

// Of everything a row says. Rows older than batches have a sum without one.
static int64_t sum_of(const struct uvea_modification *modification)
{
    uint8_t numbers[24];
    uvea_store_le64(numbers, modification->sequence);
    uvea_store_le32(numbers + 8, modification->serial);
    uvea_store_le32(numbers + 12,
                    (modification->completed ? 1u : 0u) | (modification->persisted ? 2u : 0u));
    uvea_store_le64(numbers + 16, modification->batch);
    const size_t bytes = modification->batch == 0 ? 16 : 24;
    int64_t sum = uvea_store_sum(modification->id, numbers, bytes);
    sum = uvea_store_sum_text(sum, modification->type);
    sum = uvea_store_sum_text(sum, modification->s3_url);
    sum = uvea_store_sum_text(sum, modification->result);
    return uvea_store_sum_text(sum, modification->attributes);
}

enum uvea_error uvea_store_get_modification(struct uvea_sql *sql, struct uvea_modification *out,
                                            struct uvea_error_context *context)
{
    struct uvea_modification got = {0};
    uint64_t serial, completed, persisted;
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_ID, INT64_MAX, &got.id, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_SEQUENCE, INT64_MAX, &got.sequence, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_SERIAL, UINT32_MAX, &serial, context));
    UVEA_TRY(uvea_sql_get_text(sql, COLUMN_TYPE, &got.type, context));
    UVEA_TRY(uvea_sql_get_text(sql, COLUMN_S3_URL, &got.s3_url, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_COMPLETED, 1, &completed, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_PERSISTED, 1, &persisted, context));
    UVEA_TRY(uvea_sql_get_text(sql, COLUMN_RESULT, &got.result, context));
    UVEA_TRY(uvea_sql_get_text(sql, COLUMN_ATTRIBUTES, &got.attributes, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, COLUMN_BATCH, INT64_MAX, &got.batch, context));
    got.serial = (uint32_t)serial;
    got.completed = completed != 0;
    got.persisted = persisted != 0;
    char what[40];
    (void)snprintf(what, sizeof(what), "modification %llu", (unsigned long long)got.id);
    UVEA_TRY(uvea_sql_check_sum(sql, COLUMN_SUM, sum_of(&got), what, context));
    *out = got;
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
    UVEA_TRY(uvea_store_get_modification(sql, &modification, context));
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

// Of a message, also where it stands for the batch that the message is the first of.
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

static enum uvea_error insert_modification(struct uvea_store *store, uint64_t id, uint64_t batch,
                                           const struct uvea_modification *modification,
                                           struct uvea_error_context *context)
{
    struct uvea_modification row = *modification;
    row.id = id;
    row.batch = batch;
    row.completed = false;
    row.persisted = false;
    row.result = NULL;
    return uvea_sql_execute(
        store->sql, UVEA_SQL_MODIFICATION_INSERT,
        UVEA_SQL_VALUES(uvea_sql_integer((int64_t)id), sequence_value(modification->sequence),
                        serial_value(modification->serial), uvea_sql_text(modification->type),
                        uvea_sql_text(modification->s3_url),
                        uvea_sql_text(modification->attributes), uvea_sql_integer(sum_of(&row)),
                        uvea_sql_integer(uvea_store_now_s(store)), sequence_value(batch)),
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
        UVEA_TRY(insert_modification(store, claim->first_id + i, claim->modifications[0].sequence,
                                     modification, context));
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

// A row that is to be changed: what it will say, and the sum of that.
struct change {
    const struct uvea_modification *to;
    bool found;
    bool completed; // as it stands
    int64_t sum;
};

static enum uvea_error sum_completed(struct uvea_sql *sql, void *arg,
                                     struct uvea_error_context *context)
{
    struct change *change = arg;
    struct uvea_modification row;
    UVEA_TRY(uvea_store_get_modification(sql, &row, context));
    change->found = true;
    change->completed = row.completed;
    row.serial = change->to->serial;
    row.persisted = change->to->persisted;
    row.result = change->to->result;
    row.completed = true;
    change->sum = sum_of(&row);
    return UVEA_OK;
}

static enum uvea_error complete(struct uvea_store *store,
                                const struct uvea_modification *modification,
                                struct uvea_error_context *context)
{
    struct uvea_sql_value id = uvea_sql_integer((int64_t)modification->id);
    struct change change = {.to = modification};
    UVEA_TRY(uvea_sql_each(store->sql, UVEA_SQL_MODIFICATION_FIND, UVEA_SQL_VALUES(id),
                           sum_completed, &change, context));
    if (!change.found || change.completed) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "modification %llu cannot be completed: it is not in progress",
                              (unsigned long long)modification->id);
    }
    return uvea_sql_execute(store->sql, UVEA_SQL_MODIFICATION_COMPLETE,
                            UVEA_SQL_VALUES(serial_value(modification->serial),
                                            uvea_sql_integer(modification->persisted),
                                            uvea_sql_text(modification->result),
                                            uvea_sql_integer(change.sum), id),
                            NULL, context);
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

// A row that is there keeps what only this party knows: the message it came from, the batch, the
// attributes, and a result, which may be published already.
static enum uvea_error sum_replaced(struct uvea_sql *sql, void *arg,
                                    struct uvea_error_context *context)
{
    struct change *change = arg;
    struct uvea_modification row;
    UVEA_TRY(uvea_store_get_modification(sql, &row, context));
    struct uvea_modification to = *change->to;
    to.sequence = row.sequence;
    to.batch = row.batch;
    to.attributes = row.attributes;
    to.result = row.result != NULL ? row.result : to.result;
    to.completed = true;
    change->sum = sum_of(&to);
    return UVEA_OK;
}

static enum uvea_error write_modification(struct uvea_store *store,
                                          const struct uvea_modification *modification,
                                          struct uvea_error_context *context)
{
    struct uvea_sql_value id = uvea_sql_integer((int64_t)modification->id);
    struct uvea_modification row = *modification;
    row.batch = 0;
    row.completed = true;
    struct change change = {.to = modification, .sum = sum_of(&row)};
    UVEA_TRY(uvea_sql_each(store->sql, UVEA_SQL_MODIFICATION_FIND, UVEA_SQL_VALUES(id),
                           sum_replaced, &change, context));
    return uvea_sql_execute(
        store->sql, UVEA_SQL_MODIFICATION_PUT,
        UVEA_SQL_VALUES(
            id, sequence_value(modification->sequence), serial_value(modification->serial),
            uvea_sql_text(modification->type), uvea_sql_text(modification->s3_url),
            uvea_sql_text(modification->attributes), uvea_sql_integer(change.sum),
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
    uint64_t frontier;
    UVEA_TRY(uvea_store_state_get(store, uvea_store_frontier_name, &frontier, context));
    for (size_t i = 0; i < repair->write_count; i++) {
        const uint64_t id = repair->write[i].id;
        UVEA_TRY(write_modification(store, &repair->write[i], context));
        frontier = id > frontier ? id : frontier;
    }
    if (repair->write_count > 0) { // as if this party had committed what it is given
        UVEA_TRY(uvea_store_state_put(store, uvea_store_frontier_name, frontier, context));
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
