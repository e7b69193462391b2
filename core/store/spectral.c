#include "core/base/check.h"
#include "core/store/impl.h"

#include <string.h>

// ---- reading

struct reading {
    enum uvea_eye eye;
    uint32_t first;
    uint32_t count;
    uvea_spectral_row_fn *fn;
    void *arg;
};

// *fits stays true when the column is a number of 0..max.
static enum uvea_error number(struct uvea_sql *sql, int column, uint64_t max, uint64_t *out,
                              bool *fits, struct uvea_error_context *context)
{
    struct uvea_sql_value value;
    UVEA_TRY(sql->ops->column(sql, column, &value, context));
    if (value.type != UVEA_SQL_INTEGER || value.integer < 0 || (uint64_t)value.integer > max) {
        *fits = false;
        return UVEA_OK;
    }
    *out = (uint64_t)value.integer;
    return UVEA_OK;
}

// *fits stays true when the column is a blob, of `bytes` bytes unless that is 0.
static enum uvea_error blob(struct uvea_sql *sql, int column, size_t bytes,
                            struct uvea_sql_value *out, bool *fits,
                            struct uvea_error_context *context)
{
    UVEA_TRY(sql->ops->column(sql, column, out, context));
    if (out->type != UVEA_SQL_BLOB || (bytes != 0 && out->count != bytes)) {
        *fits = false;
    }
    return UVEA_OK;
}

// What a column gave is good until the next step only, so each is used before the row is left.
static enum uvea_error read_row(struct uvea_sql *sql, void *arg, struct uvea_error_context *context)
{
    const struct reading *reading = arg;
    struct uvea_spectral_row row = {.eye = reading->eye};
    uint64_t serial = 0, version = 0, party = 0, format = 0;
    struct uvea_sql_value generation, hash, payload;
    bool fits = true;
    UVEA_TRY(number(sql, 0, UINT32_MAX, &serial, &fits, context));
    UVEA_TRY(number(sql, 1, UINT16_MAX, &version, &fits, context));
    UVEA_TRY(number(sql, 2, UVEA_PARTY_COUNT - 1, &party, &fits, context));
    UVEA_TRY(number(sql, 3, UINT16_MAX, &format, &fits, context));
    UVEA_TRY(blob(sql, 4, sizeof(row.generation), &generation, &fits, context));
    UVEA_TRY(blob(sql, 5, sizeof(row.hash), &hash, &fits, context));
    UVEA_TRY(blob(sql, 6, 0, &payload, &fits, context));
    if (!fits) {
        return UVEA_OK;
    }
    row.serial = (uint32_t)serial;
    row.version = (uint16_t)version;
    row.party = (unsigned char)party;
    row.format = (uint16_t)format;
    memcpy(row.generation, generation.bytes, sizeof(row.generation));
    memcpy(row.hash, hash.bytes, sizeof(row.hash));
    row.payload = payload.bytes;
    row.payload_bytes = payload.count;
    return reading->fn(reading->arg, &row);
}

static enum uvea_error read_rows(struct uvea_store *store, void *arg,
                                 struct uvea_error_context *context)
{
    struct reading *reading = arg;
    return uvea_sql_each(
        store->sql, UVEA_SQL_SPECTRAL_READ,
        UVEA_SQL_VALUES(uvea_sql_integer(reading->eye), uvea_sql_integer(reading->first),
                        uvea_sql_integer((int64_t)reading->first + reading->count)),
        read_row, reading, context);
}

enum uvea_error uvea_store_spectral_read(struct uvea_store *store, enum uvea_eye eye,
                                         uint32_t first, uint32_t count, uvea_spectral_row_fn *fn,
                                         void *arg, struct uvea_error_context *context)
{
    struct reading reading = {eye, first, count, fn, arg};
    return uvea_store_query(store, read_rows, &reading, context);
}

// ---- writing

struct write {
    const struct uvea_spectral_row *rows;
    size_t count;
};

static enum uvea_error write_rows(struct uvea_store *store, void *arg,
                                  struct uvea_error_context *context)
{
    const struct write *write = arg;
    for (size_t i = 0; i < write->count; i++) {
        const struct uvea_spectral_row *row = &write->rows[i];
        UVEA_TRY(uvea_sql_execute(
            store->sql, UVEA_SQL_SPECTRAL_PUT,
            UVEA_SQL_VALUES(uvea_sql_integer(row->serial), uvea_sql_integer(row->version),
                            uvea_sql_integer(row->eye), uvea_sql_integer(row->party),
                            uvea_sql_integer(row->format),
                            uvea_sql_blob(row->generation, sizeof(row->generation)),
                            uvea_sql_blob(row->hash, sizeof(row->hash)),
                            uvea_sql_blob(row->payload, row->payload_bytes)),
            NULL, context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_store_spectral_write(struct uvea_store *store,
                                          const struct uvea_spectral_row *rows, size_t count,
                                          struct uvea_error_context *context)
{
    for (size_t i = 0; i < count; i++) {
        UVEA_CHECK(rows[i].party < UVEA_PARTY_COUNT && (unsigned)rows[i].eye < UVEA_EYE_COUNT);
        UVEA_TRY(uvea_store_check_size("a spectral row's payload", rows[i].payload_bytes,
                                       UVEA_STORE_BODY_BYTES_MAX, context));
    }
    return uvea_store_transact(store, write_rows, &(struct write){rows, count}, context);
}

static enum uvea_error trim(struct uvea_store *store, void *arg, struct uvea_error_context *context)
{
    const uint32_t *serial_max = arg;
    return uvea_sql_execute(store->sql, UVEA_SQL_SPECTRAL_TRIM,
                            UVEA_SQL_VALUES(uvea_sql_integer(*serial_max)), NULL, context);
}

enum uvea_error uvea_store_spectral_trim(struct uvea_store *store, uint32_t serial_max,
                                         struct uvea_error_context *context)
{
    return uvea_store_transact(store, trim, &serial_max, context);
}
