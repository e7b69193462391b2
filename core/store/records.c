#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/store/impl.h"

#include <stdio.h>
#include <string.h>

static const char *const eye_names[] = {[UVEA_EYE_LEFT] = "left", [UVEA_EYE_RIGHT] = "right"};

// Binds an eye to its place: serial, version and side.
static uint64_t place_of(uint32_t serial, uint16_t version, enum uvea_eye eye)
{
    return (uint64_t)serial << 32 | (uint64_t)version << 1 | (uint64_t)eye;
}

// ---- writing

static void encode_eye(const uint16_t *from, uint8_t *to)
{
    for (size_t i = 0; i < UVEA_RECORD_COEFFICIENTS; i++) {
        uvea_store_le16(to + 2 * i, from[i]);
    }
}

static struct uvea_sql_value sum_of(const struct uvea_store *store,
                                    const struct uvea_store_record *record, enum uvea_eye eye)
{
    uint64_t place = place_of(record->serial, record->version, eye);
    return uvea_sql_integer(uvea_store_sum(place, store->bytes[eye], UVEA_STORE_EYE_BYTES));
}

static struct uvea_sql_value code_of(const struct uvea_store *store, enum uvea_eye eye)
{
    return uvea_sql_blob(store->bytes[eye], UVEA_STORE_CODE_BYTES);
}

static struct uvea_sql_value mask_of(const struct uvea_store *store, enum uvea_eye eye)
{
    return uvea_sql_blob(store->bytes[eye] + UVEA_STORE_CODE_BYTES, UVEA_STORE_MASK_BYTES);
}

enum uvea_error uvea_store_put_record(struct uvea_store *store,
                                      const struct uvea_store_record *record, bool replace,
                                      struct uvea_error_context *context)
{
    if (record->serial == 0) {
        return uvea_error_set(context, UVEA_ERR_STATE, "a record's serial is 0");
    }
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        UVEA_CHECK(record->eye[eye] != NULL);
        encode_eye(record->eye[eye], store->bytes[eye]);
    }
    enum uvea_error error = uvea_sql_execute(
        store->sql, replace ? UVEA_SQL_RECORD_PUT : UVEA_SQL_RECORD_INSERT,
        UVEA_SQL_VALUES(uvea_sql_integer(record->serial), uvea_sql_integer(record->version),
                        uvea_sql_integer(uvea_store_now_s(store)), code_of(store, UVEA_EYE_LEFT),
                        mask_of(store, UVEA_EYE_LEFT), sum_of(store, record, UVEA_EYE_LEFT),
                        code_of(store, UVEA_EYE_RIGHT), mask_of(store, UVEA_EYE_RIGHT),
                        sum_of(store, record, UVEA_EYE_RIGHT)),
        NULL, context);
    uvea_mem_wipe(store->bytes, sizeof(store->bytes));
    return error;
}

static enum uvea_error last_serial(struct uvea_store *store, uint64_t *serial,
                                   struct uvea_error_context *context)
{
    bool found = false;
    int64_t last = 0;
    UVEA_TRY(uvea_sql_find(store->sql, UVEA_SQL_RECORD_LAST, NULL, 0, &found, &last, context));
    *serial = (uint64_t)last;
    return UVEA_OK;
}

enum uvea_error uvea_store_append_records(struct uvea_store *store,
                                          const struct uvea_store_record *records, size_t count,
                                          struct uvea_error_context *context)
{
    uint64_t last;
    UVEA_TRY(last_serial(store, &last, context));
    for (size_t i = 0; i < count; i++) {
        if (records[i].serial != last + 1) {
            return uvea_error_set(context, UVEA_ERR_STATE,
                                  "record %u is to be inserted, but the one to follow is %llu",
                                  (unsigned)records[i].serial, (unsigned long long)last + 1);
        }
        UVEA_TRY(uvea_store_put_record(store, &records[i], false, context));
        last++;
    }
    return UVEA_OK;
}

struct seed {
    const struct uvea_store_record *records;
    size_t count;
};

static enum uvea_error seed(struct uvea_store *store, void *arg, struct uvea_error_context *context)
{
    const struct seed *seed = arg;
    uint64_t last;
    UVEA_TRY(last_serial(store, &last, context));
    if (seed->count > UINT32_MAX - last) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "%zu records do not fit behind %llu",
                              seed->count, (unsigned long long)last);
    }
    for (size_t i = 0; i < seed->count; i++) {
        struct uvea_store_record record = seed->records[i];
        record.serial = (uint32_t)(last + i + 1);
        record.version = 0;
        UVEA_TRY(uvea_store_put_record(store, &record, false, context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_seed(struct uvea_store *store, const struct uvea_store_record *records,
                                size_t count, struct uvea_error_context *context)
{
    return uvea_store_transact(store, seed, &(struct seed){records, count}, context);
}

// ---- reading

// The eye whose code, mask and sum stand in the columns from `column` on.
static enum uvea_error decode_eye(struct uvea_store *store, int column, uint32_t serial,
                                  uint16_t version, enum uvea_eye eye, uint16_t *out,
                                  struct uvea_error_context *context)
{
    const uint8_t *code;
    const uint8_t *mask;
    size_t code_bytes, mask_bytes;
    UVEA_TRY(uvea_sql_get_blob(store->sql, column, &code, &code_bytes, context));
    UVEA_TRY(uvea_sql_get_blob(store->sql, column + 1, &mask, &mask_bytes, context));
    if (code_bytes != UVEA_STORE_CODE_BYTES || mask_bytes != UVEA_STORE_MASK_BYTES) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "record %u: its %s eye has %zu and %zu bytes", (unsigned)serial,
                              eye_names[eye], code_bytes, mask_bytes);
    }
    uint8_t *bytes = store->bytes[eye];
    memcpy(bytes, code, code_bytes);
    memcpy(bytes + code_bytes, mask, mask_bytes);
    char what[64];
    (void)snprintf(what, sizeof(what), "the %s eye of record %u at version %u", eye_names[eye],
                   (unsigned)serial, (unsigned)version);
    int64_t sum = uvea_store_sum(place_of(serial, version, eye), bytes, UVEA_STORE_EYE_BYTES);
    UVEA_TRY(uvea_sql_check_sum(store->sql, column + 2, sum, what, context));
    for (size_t i = 0; i < UVEA_RECORD_COEFFICIENTS; i++) {
        out[i] = uvea_load_le16(bytes + 2 * i);
    }
    return UVEA_OK;
}

struct reading {
    struct uvea_store *store;
    uint32_t first;
    uint32_t count;
    unsigned eyes;
    uvea_store_record_fn *fn;
    void *arg;
};

static enum uvea_error read_record(struct uvea_sql *sql, void *arg,
                                   struct uvea_error_context *context)
{
    const struct reading *reading = arg;
    struct uvea_store *store = reading->store;
    uint64_t serial, version;
    UVEA_TRY(uvea_sql_get_unsigned(sql, 0, UINT32_MAX, &serial, context));
    UVEA_TRY(uvea_sql_get_unsigned(sql, 1, UINT16_MAX, &version, context));
    struct uvea_store_record record = {.serial = (uint32_t)serial, .version = (uint16_t)version};
    int column = 2;
    for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        if ((reading->eyes & 1u << eye) != 0) {
            UVEA_TRY(decode_eye(store, column, record.serial, record.version, (enum uvea_eye)eye,
                                store->eyes[eye], context));
            record.eye[eye] = store->eyes[eye];
            column += 3;
        }
    }
    return reading->fn(reading->arg, &record);
}

static enum uvea_error read_records(struct uvea_store *store, void *arg,
                                    struct uvea_error_context *context)
{
    static const enum uvea_sql_statement statements[] = {
        UVEA_SQL_RECORDS_BARE, UVEA_SQL_RECORDS_LEFT, UVEA_SQL_RECORDS_RIGHT,
        UVEA_SQL_RECORDS_BOTH};
    struct reading *reading = arg;
    enum uvea_error error =
        uvea_sql_each(store->sql, statements[reading->eyes],
                      UVEA_SQL_VALUES(uvea_sql_integer(reading->first),
                                      uvea_sql_integer((int64_t)reading->first + reading->count)),
                      read_record, reading, context);
    uvea_mem_wipe(store->bytes, sizeof(store->bytes));
    uvea_mem_wipe(store->eyes, sizeof(store->eyes));
    return error;
}

enum uvea_error uvea_store_read_records(struct uvea_store *store, uint32_t first, uint32_t count,
                                        unsigned eyes, uvea_store_record_fn *fn, void *arg,
                                        struct uvea_error_context *context)
{
    UVEA_CHECK(eyes < 1u << UVEA_EYE_COUNT);
    struct reading reading = {store, first, count, eyes, fn, arg};
    return uvea_store_query(store, read_records, &reading, context);
}

struct counts {
    uint64_t count;
    uint64_t serial_max;
};

static enum uvea_error read_counts(struct uvea_sql *sql, void *arg,
                                   struct uvea_error_context *context)
{
    struct counts *counts = arg;
    UVEA_TRY(uvea_sql_get_unsigned(sql, 0, UINT32_MAX, &counts->count, context));
    return uvea_sql_get_unsigned(sql, 1, UINT32_MAX, &counts->serial_max, context);
}

static enum uvea_error count_records(struct uvea_store *store, void *arg,
                                     struct uvea_error_context *context)
{
    return uvea_sql_each(store->sql, UVEA_SQL_RECORD_COUNT, NULL, 0, read_counts, arg, context);
}

enum uvea_error uvea_store_count(struct uvea_store *store, uint64_t *count, uint64_t *serial_max,
                                 struct uvea_error_context *context)
{
    struct counts counts = {0};
    UVEA_TRY(uvea_store_query(store, count_records, &counts, context));
    *count = counts.count;
    *serial_max = counts.serial_max;
    return UVEA_OK;
}

// ---- one eye

struct wanted {
    struct uvea_store *store;
    enum uvea_eye eye;
    uint32_t serial;
    uint16_t version;
    uint16_t *out;
    bool found;
};

static enum uvea_error read_wanted(struct uvea_sql *sql, void *arg,
                                   struct uvea_error_context *context)
{
    struct wanted *wanted = arg;
    uint64_t version;
    UVEA_TRY(uvea_sql_get_unsigned(sql, 1, UINT16_MAX, &version, context));
    if (version != wanted->version) {
        return uvea_error_set(context, UVEA_ERR_NOT_FOUND,
                              "record %u is wanted at version %u and stored at version %u",
                              (unsigned)wanted->serial, (unsigned)wanted->version,
                              (unsigned)version);
    }
    wanted->found = true;
    return decode_eye(wanted->store, 2, wanted->serial, wanted->version, wanted->eye,
                      wanted->store->eyes[wanted->eye], context);
}

static enum uvea_error read_eye(struct uvea_store *store, void *arg,
                                struct uvea_error_context *context)
{
    struct wanted *wanted = arg;
    enum uvea_error error = uvea_sql_each(
        store->sql, wanted->eye == UVEA_EYE_LEFT ? UVEA_SQL_RECORDS_LEFT : UVEA_SQL_RECORDS_RIGHT,
        UVEA_SQL_VALUES(uvea_sql_integer(wanted->serial),
                        uvea_sql_integer((int64_t)wanted->serial + 1)),
        read_wanted, wanted, context);
    if (error == UVEA_OK && !wanted->found) {
        error = uvea_error_set(context, UVEA_ERR_NOT_FOUND,
                               "record %u is wanted at version %u and not stored",
                               (unsigned)wanted->serial, (unsigned)wanted->version);
    }
    if (error == UVEA_OK) {
        memcpy(wanted->out, store->eyes[wanted->eye], sizeof(store->eyes[wanted->eye]));
    }
    uvea_mem_wipe(store->bytes, sizeof(store->bytes));
    uvea_mem_wipe(store->eyes, sizeof(store->eyes));
    return error;
}

enum uvea_error uvea_store_read_eye(struct uvea_store *store, enum uvea_eye eye, uint32_t serial,
                                    uint16_t version, uint16_t out[UVEA_RECORD_COEFFICIENTS],
                                    struct uvea_error_context *context)
{
    struct wanted wanted = {store, eye, serial, version, out, false};
    return uvea_store_query(store, read_eye, &wanted, context);
}
