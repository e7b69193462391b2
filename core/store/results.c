#include "core/base/check.h"
#include "core/store/impl.h"

// ---- publishing

struct publish {
    const uint64_t *ids;
    size_t count;
};

static enum uvea_error publish_one(struct uvea_store *store, uint64_t id,
                                   struct uvea_error_context *context)
{
    struct uvea_sql_value key = uvea_sql_integer((int64_t)id);
    bool published = false;
    int64_t number;
    UVEA_TRY(uvea_sql_find(store->sql, UVEA_SQL_RESULT_FIND, UVEA_SQL_VALUES(key), &published,
                           &number, context));
    if (published) {
        return UVEA_OK;
    }
    int64_t changes = 0;
    UVEA_TRY(uvea_sql_execute(store->sql, UVEA_SQL_RESULT_PUBLISH,
                              UVEA_SQL_VALUES(uvea_sql_integer(uvea_store_now_s(store)), key),
                              &changes, context));
    if (changes != 1) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "modification %llu cannot be published: it is not completed, or has "
                              "no result",
                              (unsigned long long)id);
    }
    return UVEA_OK;
}

static enum uvea_error publish(struct uvea_store *store, void *arg,
                               struct uvea_error_context *context)
{
    const struct publish *publish = arg;
    for (size_t i = 0; i < publish->count; i++) {
        UVEA_TRY(publish_one(store, publish->ids[i], context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_publish(struct uvea_store *store, const uint64_t *ids, size_t count,
                                   struct uvea_error_context *context)
{
    for (size_t i = 0; i < count; i++) {
        UVEA_TRY(uvea_store_check_number("modification id", ids[i], context));
    }
    return uvea_store_transact(store, publish, &(struct publish){ids, count}, context);
}

// ---- what a crash kept from being published

struct replay {
    size_t lookback;
    int64_t replayed;
};

static enum uvea_error replay(struct uvea_store *store, void *arg,
                              struct uvea_error_context *context)
{
    struct replay *replay = arg;
    return uvea_sql_execute(store->sql, UVEA_SQL_RESULT_REPLAY,
                            UVEA_SQL_VALUES(uvea_sql_integer(uvea_store_now_s(store)),
                                            uvea_store_limit(replay->lookback)),
                            &replay->replayed, context);
}

enum uvea_error uvea_store_replay(struct uvea_store *store, size_t lookback, size_t *replayed,
                                  struct uvea_error_context *context)
{
    struct replay call = {.lookback = lookback};
    UVEA_TRY(uvea_store_transact(store, replay, &call, context));
    *replayed = (size_t)call.replayed;
    return UVEA_OK;
}

// ---- reading

struct reading {
    uint64_t after;
    size_t max;
    uvea_store_result_fn *fn;
    void *arg;
};

static enum uvea_error read_result(struct uvea_sql *sql, void *arg,
                                   struct uvea_error_context *context)
{
    const struct reading *reading = arg;
    struct uvea_modification modification;
    uint64_t number;
    UVEA_TRY(uvea_store_get_modification(sql, &modification, context));
    UVEA_TRY(
        uvea_sql_get_unsigned(sql, UVEA_STORE_MODIFICATION_COLUMNS, INT64_MAX, &number, context));
    if (modification.result == NULL) {
        return uvea_error_set(context, UVEA_ERR_STATE, "result %llu is empty",
                              (unsigned long long)number);
    }
    const struct uvea_store_result result = {.number = number,
                                             .modification_id = modification.id,
                                             .sequence = modification.sequence,
                                             .batch = modification.batch,
                                             .type = modification.type,
                                             .body = modification.result,
                                             .attributes = modification.attributes};
    return reading->fn(reading->arg, &result);
}

static enum uvea_error read_results(struct uvea_store *store, void *arg,
                                    struct uvea_error_context *context)
{
    struct reading *reading = arg;
    return uvea_sql_each(
        store->sql, UVEA_SQL_RESULTS,
        UVEA_SQL_VALUES(uvea_store_limit(reading->after), uvea_store_limit(reading->max)),
        read_result, reading, context);
}

enum uvea_error uvea_store_results(struct uvea_store *store, uint64_t after, size_t max,
                                   uvea_store_result_fn *fn, void *arg,
                                   struct uvea_error_context *context)
{
    return uvea_store_query(store, read_results, &(struct reading){after, max, fn, arg}, context);
}
