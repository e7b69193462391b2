// What clients hand in: the topic of the sequencing party, and share objects.
#include "core/base/check.h"
#include "core/store/impl.h"

#include <string.h>

// ---- the topic

// Binds a body to its number and id.
static int64_t topic_sum(uint64_t sequence, const char *message_id, const uint8_t *body,
                         size_t body_bytes)
{
    return uvea_store_sum_text(uvea_store_sum(sequence, body, body_bytes), message_id);
}

struct append {
    const char *message_id;
    const uint8_t *body;
    size_t body_bytes;
    uint64_t sequence;
};

static enum uvea_error append(struct uvea_store *store, void *arg,
                              struct uvea_error_context *context)
{
    struct append *append = arg;
    struct uvea_sql *sql = store->sql;
    struct uvea_sql_value message_id = uvea_sql_text(append->message_id);
    bool found = false;
    int64_t sequence = 0;
    UVEA_TRY(uvea_sql_find(sql, UVEA_SQL_TOPIC_FIND, UVEA_SQL_VALUES(message_id), &found, &sequence,
                           context));
    if (found) {
        append->sequence = (uint64_t)sequence;
        return UVEA_OK;
    }
    UVEA_TRY(uvea_sql_find(sql, UVEA_SQL_TOPIC_LAST, NULL, 0, &found, &sequence, context));
    append->sequence = (uint64_t)sequence + 1;
    int64_t sum = topic_sum(append->sequence, append->message_id, append->body, append->body_bytes);
    return uvea_sql_execute(sql, UVEA_SQL_TOPIC_INSERT,
                            UVEA_SQL_VALUES(uvea_sql_integer(sequence + 1), message_id,
                                            uvea_sql_blob(append->body, append->body_bytes),
                                            uvea_sql_integer(sum),
                                            uvea_sql_integer(uvea_store_now_s(store))),
                            NULL, context);
}

enum uvea_error uvea_store_topic_append(struct uvea_store *store, const char *message_id,
                                        const uint8_t *body, size_t body_bytes, uint64_t *sequence,
                                        struct uvea_error_context *context)
{
    UVEA_TRY(uvea_store_check_text("a message id", message_id, UVEA_STORE_KEY_BYTES_MAX, context));
    UVEA_TRY(uvea_store_check_size("a message", body_bytes, UVEA_STORE_BODY_BYTES_MAX, context));
    struct append call = {message_id, body, body_bytes, 0};
    UVEA_TRY(uvea_store_transact(store, append, &call, context));
    *sequence = call.sequence;
    return UVEA_OK;
}

struct reading {
    uint64_t after;
    size_t max;
    uvea_store_message_fn *fn;
    void *arg;
};

static enum uvea_error read_message(struct uvea_sql *sql, void *arg,
                                    struct uvea_error_context *context)
{
    const struct reading *reading = arg;
    struct uvea_store_message message = {.valid = true};
    UVEA_TRY(uvea_sql_get_unsigned(sql, 0, INT64_MAX, &message.sequence, context));
    UVEA_TRY(uvea_sql_get_blob(sql, 1, &message.body, &message.body_bytes, context));
    const char *message_id;
    UVEA_TRY(uvea_sql_get_text(sql, 3, &message_id, context));
    UVEA_TRY(uvea_sql_check_sum(
        sql, 2, topic_sum(message.sequence, message_id, message.body, message.body_bytes),
        "a message of the topic", context));
    return reading->fn(reading->arg, &message);
}

static enum uvea_error read_topic(struct uvea_store *store, void *arg,
                                  struct uvea_error_context *context)
{
    struct reading *reading = arg;
    return uvea_sql_each(
        store->sql, UVEA_SQL_TOPIC_READ,
        UVEA_SQL_VALUES(uvea_store_limit(reading->after), uvea_store_limit(reading->max)),
        read_message, reading, context);
}

enum uvea_error uvea_store_topic_read(struct uvea_store *store, uint64_t after, size_t max,
                                      uvea_store_message_fn *fn, void *arg,
                                      struct uvea_error_context *context)
{
    return uvea_store_query(store, read_topic, &(struct reading){after, max, fn, arg}, context);
}

// ---- share objects. What they hold is sealed for its party, so that comparing tells nothing.

static int64_t object_sum(const char *key, const uint8_t *bytes, size_t count)
{
    return uvea_store_sum_text(uvea_store_sum(0, bytes, count), key);
}

struct object {
    const char *key;
    const uint8_t *bytes;
    size_t count;
    struct uvea_buf *out;
    bool found;
    bool same;
};

static enum uvea_error look_at_object(struct uvea_sql *sql, void *arg,
                                      struct uvea_error_context *context)
{
    struct object *object = arg;
    const uint8_t *bytes;
    size_t count;
    UVEA_TRY(uvea_sql_get_blob(sql, 0, &bytes, &count, context));
    UVEA_TRY(uvea_sql_check_sum(sql, 1, object_sum(object->key, bytes, count), "a share object",
                                context));
    object->found = true;
    object->same = count == object->count && memcmp(bytes, object->bytes, count) == 0;
    return object->out != NULL ? uvea_buf_append(object->out, bytes, count) : UVEA_OK;
}

static enum uvea_error get_object(struct uvea_store *store, void *arg,
                                  struct uvea_error_context *context)
{
    struct object *object = arg;
    return uvea_sql_each(store->sql, UVEA_SQL_OBJECT_GET,
                         UVEA_SQL_VALUES(uvea_sql_text(object->key)), look_at_object, object,
                         context);
}

static enum uvea_error put_object(struct uvea_store *store, void *arg,
                                  struct uvea_error_context *context)
{
    struct object *object = arg;
    int64_t changes = 0;
    UVEA_TRY(uvea_sql_execute(
        store->sql, UVEA_SQL_OBJECT_INSERT,
        UVEA_SQL_VALUES(uvea_sql_text(object->key), uvea_sql_blob(object->bytes, object->count),
                        uvea_sql_integer(object_sum(object->key, object->bytes, object->count)),
                        uvea_sql_integer(uvea_store_now_s(store))),
        &changes, context));
    if (changes == 1) {
        return UVEA_OK;
    }
    UVEA_TRY(get_object(store, object, context));
    if (!object->same) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "another object is stored under this key");
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_share_put(struct uvea_store *store, const char *key,
                                     const uint8_t *bytes, size_t count,
                                     struct uvea_error_context *context)
{
    UVEA_TRY(uvea_store_check_text("a share object's key", key, UVEA_STORE_KEY_BYTES_MAX, context));
    UVEA_TRY(uvea_store_check_size("a share object", count, UVEA_STORE_OBJECT_BYTES_MAX, context));
    struct object object = {.key = key, .bytes = bytes, .count = count};
    return uvea_store_transact(store, put_object, &object, context);
}

enum uvea_error uvea_store_share_get(struct uvea_store *store, const char *key,
                                     struct uvea_buf *out, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_store_check_text("a share object's key", key, UVEA_STORE_KEY_BYTES_MAX, context));
    struct object object = {.key = key, .bytes = (const uint8_t *)"", .out = out};
    UVEA_TRY(uvea_store_query(store, get_object, &object, context));
    return object.found ? UVEA_OK
                        : uvea_error_set(context, UVEA_ERR_NOT_FOUND,
                                         "no share object is stored under this key");
}
