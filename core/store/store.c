#include "core/store/store.h"

#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/net/handshake.h"
#include "core/store/impl.h"
#include "core/store/schema.h"

#include <stdio.h>
#include <string.h>

// ---- opening

// Takes over sql, also when it fails.
static enum uvea_error open_on(struct uvea_rt *rt, struct uvea_sql *sql, struct uvea_store **store,
                               struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_ERR_MEMORY;
    struct uvea_store *opened = uvea_mem_alloc(1, sizeof(*opened));
    if (opened == NULL) {
        goto cleanup;
    }
    opened->rt = rt;
    opened->sql = sql;
    UVEA_TRY_CLEANUP(
        uvea_schema_migrate(sql, UVEA_SCHEMA_VERSION, uvea_store_now_s(opened), context));
    UVEA_TRY_CLEANUP(uvea_rt_lock_open(rt, &opened->lock));
    *store = opened;
    return UVEA_OK;
cleanup:
    sql->ops->close(sql);
    uvea_mem_free(opened);
    return error;
}

enum uvea_error uvea_store_open_sqlite(struct uvea_rt *rt, const char *path, const char *vfs,
                                       struct uvea_store **store,
                                       struct uvea_error_context *context)
{
    if (path[0] == '\0' || path[0] == ':') {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "a database is kept in a file; '%s' names none", path);
    }
    struct uvea_sql *sql;
    UVEA_TRY(uvea_sql_open_sqlite(path, vfs, &sql, context));
    return open_on(rt, sql, store, context);
}

enum uvea_error uvea_store_open_postgres(struct uvea_rt *rt, const char *url, const char *schema,
                                         struct uvea_store **store,
                                         struct uvea_error_context *context)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t chars = strlen(schema);
    if (chars == 0 || chars > UVEA_STORE_SCHEMA_CHARS_MAX || strspn(schema, allowed) != chars) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "a schema's name has 1 to %d letters, digits, '_' and '-'",
                              UVEA_STORE_SCHEMA_CHARS_MAX);
    }
    struct uvea_sql *sql;
    UVEA_TRY(uvea_sql_open_postgres(url, schema, &sql, context));
    return open_on(rt, sql, store, context);
}

void uvea_store_close(struct uvea_store *store)
{
    if (store == NULL) {
        return;
    }
    store->sql->ops->close(store->sql);
    uvea_rt_lock_close(store->rt, store->lock);
    uvea_mem_wipe(store->bytes, sizeof(store->bytes));
    uvea_mem_wipe(store->eyes, sizeof(store->eyes));
    uvea_mem_free(store);
}

// ---- carrying calls out

static enum uvea_error refuse_broken(struct uvea_store *store, struct uvea_error_context *context)
{
    return uvea_error_set(context, UVEA_ERR_IO,
                          "the store failed before and must be opened again: %s",
                          store->sql->failure.text);
}

static enum uvea_error transact(struct uvea_store *store, uvea_store_body_fn *body, void *arg,
                                struct uvea_error_context *context)
{
    struct uvea_sql *sql = store->sql;
    UVEA_TRY(sql->ops->begin(sql, context));
    enum uvea_error error = body(store, arg, context);
    if (error != UVEA_OK) {
        sql->ops->rollback(sql);
        return error;
    }
    return sql->ops->commit(sql, context);
}

static enum uvea_error alone(struct uvea_store *store, bool writes, uvea_store_body_fn *body,
                             void *arg, struct uvea_error_context *context)
{
    uvea_rt_lock_take(store->rt, store->lock);
    enum uvea_error error;
    if (store->sql->broken) {
        error = refuse_broken(store, context);
    } else {
        error = writes ? transact(store, body, arg, context) : body(store, arg, context);
    }
    uvea_rt_lock_release(store->rt, store->lock);
    return error;
}

enum uvea_error uvea_store_transact(struct uvea_store *store, uvea_store_body_fn *body, void *arg,
                                    struct uvea_error_context *context)
{
    return alone(store, true, body, arg, context);
}

enum uvea_error uvea_store_query(struct uvea_store *store, uvea_store_body_fn *body, void *arg,
                                 struct uvea_error_context *context)
{
    return alone(store, false, body, arg, context);
}

int64_t uvea_store_now_s(struct uvea_store *store)
{
    return (int64_t)(uvea_rt_wall_ns(store->rt) / UVEA_SECOND);
}

// ---- what comes from outside

enum uvea_error uvea_store_check_number(const char *what, uint64_t number,
                                        struct uvea_error_context *context)
{
    if (number == 0 || number > INT64_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s %llu is not in 1..2^63-1", what,
                              (unsigned long long)number);
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_check_size(const char *what, size_t bytes, size_t bytes_max,
                                      struct uvea_error_context *context)
{
    if (bytes > bytes_max) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "%s has %zu bytes; at most %zu are kept",
                              what, bytes, bytes_max);
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_check_optional(const char *what, const char *text, size_t bytes_max,
                                          struct uvea_error_context *context)
{
    if (text == NULL) {
        return UVEA_OK;
    }
    size_t bytes = strlen(text);
    UVEA_TRY(uvea_store_check_size(what, bytes, bytes_max, context));
    if (!uvea_identity_valid(text, bytes)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s is not UTF-8", what);
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_check_text(const char *what, const char *text, size_t bytes_max,
                                      struct uvea_error_context *context)
{
    if (text == NULL || text[0] == '\0') {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s is empty", what);
    }
    return uvea_store_check_optional(what, text, bytes_max, context);
}

struct uvea_sql_value uvea_store_limit(uint64_t count)
{
    return uvea_sql_integer(count < INT64_MAX ? (int64_t)count : INT64_MAX);
}

// ---- forms of storage

void uvea_store_sequence_encode(uint64_t sequence, char text[UVEA_STORE_SEQUENCE_BYTES])
{
    (void)snprintf(text, UVEA_STORE_SEQUENCE_BYTES, "%0*llu", UVEA_STORE_SEQUENCE_DIGITS,
                   (unsigned long long)sequence);
}

enum uvea_error uvea_store_sequence_decode(const char *text, uint64_t *sequence,
                                           struct uvea_error_context *context)
{
    uint64_t value = 0;
    bool good = text != NULL && strlen(text) == UVEA_STORE_SEQUENCE_DIGITS;
    for (size_t i = 0; good && text[i] != '\0'; i++) {
        good = text[i] >= '0' && text[i] <= '9' && value <= INT64_MAX / 10;
        value = 10 * value + (uint64_t)(text[i] - '0');
    }
    if (!good || value > INT64_MAX) {
        return uvea_error_set(context, UVEA_ERR_STATE, "a stored sequence number is none");
    }
    *sequence = value;
    return UVEA_OK;
}

// Each step is a bijection of the sum and, the sum given, of the word.
static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ (sum >> 29);
}

int64_t uvea_store_sum(uint64_t id, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint64_t sum = mix(mix(0, id), count);
    for (; count >= 8; at += 8, count -= 8) {
        sum = mix(sum, uvea_load_le64(at));
    }
    uint8_t tail[8] = {0};
    if (count > 0) {
        memcpy(tail, at, count);
    }
    return (int64_t)mix(sum, uvea_load_le64(tail));
}

int64_t uvea_store_sum_text(int64_t sum, const char *text)
{
    static const char none[] = "\xff"; // no UTF-8
    text = text != NULL ? text : none;
    return uvea_store_sum((uint64_t)sum, text, strlen(text));
}

// ---- named numbers

const struct uvea_store_name uvea_store_frontier_name = {"commit", "last_modification_id"};
const struct uvea_store_name uvea_store_contiguous_name = {"ingest", "contiguous_sequence_number"};
const struct uvea_store_name uvea_store_persisted_name = {"ingest",
                                                          "max_persisted_sequence_number"};

static int64_t sum_of(struct uvea_store_name name, uint64_t value)
{
    return uvea_store_sum_text(uvea_store_sum_text((int64_t)value, name.domain), name.name);
}

struct number {
    struct uvea_store_name name;
    uint64_t value;
};

static enum uvea_error get_number(struct uvea_sql *sql, void *arg,
                                  struct uvea_error_context *context)
{
    struct number *number = arg;
    UVEA_TRY(uvea_sql_get_unsigned(sql, 0, INT64_MAX, &number->value, context));
    return uvea_sql_check_sum(sql, 1, sum_of(number->name, number->value), number->name.name,
                              context);
}

enum uvea_error uvea_store_state_get(struct uvea_store *store, struct uvea_store_name name,
                                     uint64_t *value, struct uvea_error_context *context)
{
    struct number number = {.name = name};
    UVEA_TRY(uvea_sql_each(store->sql, UVEA_SQL_STATE_GET,
                           UVEA_SQL_VALUES(uvea_sql_text(name.domain), uvea_sql_text(name.name)),
                           get_number, &number, context));
    *value = number.value;
    return UVEA_OK;
}

enum uvea_error uvea_store_state_put(struct uvea_store *store, struct uvea_store_name name,
                                     uint64_t value, struct uvea_error_context *context)
{
    return uvea_sql_execute(store->sql, UVEA_SQL_STATE_PUT,
                            UVEA_SQL_VALUES(uvea_sql_text(name.domain), uvea_sql_text(name.name),
                                            uvea_sql_integer((int64_t)value),
                                            uvea_sql_integer(sum_of(name, value))),
                            NULL, context);
}

static enum uvea_error read_number(struct uvea_store *store, void *arg,
                                   struct uvea_error_context *context)
{
    struct number *number = arg;
    return uvea_store_state_get(store, number->name, &number->value, context);
}

enum uvea_error uvea_store_number(struct uvea_store *store, struct uvea_store_name name,
                                  uint64_t *value, struct uvea_error_context *context)
{
    struct number number = {.name = name};
    UVEA_TRY(uvea_store_query(store, read_number, &number, context));
    *value = number.value;
    return UVEA_OK;
}

// ---- whose it is

static const struct uvea_store_name owner_name = {"party", "number_plus_one"};

static enum uvea_error own(struct uvea_store *store, void *arg, struct uvea_error_context *context)
{
    const unsigned *party = arg;
    uint64_t owner;
    UVEA_TRY(uvea_store_state_get(store, owner_name, &owner, context));
    if (owner == 0) {
        return uvea_store_state_put(store, owner_name, *party + UINT64_C(1), context);
    }
    if (owner != *party + UINT64_C(1)) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "the database belongs to party %llu, this is party %u",
                              (unsigned long long)(owner - 1), *party);
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_own(struct uvea_store *store, struct uvea_party party,
                               struct uvea_error_context *context)
{
    unsigned index = party.index;
    return uvea_store_transact(store, own, &index, context);
}
