#include "core/store/schema.h"

#include "core/base/check.h"

#include <string.h>

// Version 1. Integers are wide enough for every column; ranges are checked where they are narrower.
// Sums: core/store/impl.h.
static const char tables[] =
    "CREATE TABLE uvea_schema ("
    " version {int} PRIMARY KEY,"
    " applied_at {int} NOT NULL){strict};"

    "CREATE TABLE irises ("
    " id {int} PRIMARY KEY CHECK (id BETWEEN 1 AND 4294967295),"
    " version_id {int} NOT NULL CHECK (version_id BETWEEN 0 AND 65535),"
    " last_modified_at {int} NOT NULL,"
    " left_sum {int} NOT NULL,"
    " right_sum {int} NOT NULL,"
    " left_code {blob} NOT NULL CHECK (length(left_code) = 25600),"
    " left_mask {blob} NOT NULL CHECK (length(left_mask) = 12800),"
    " right_code {blob} NOT NULL CHECK (length(right_code) = 25600),"
    " right_mask {blob} NOT NULL CHECK (length(right_mask) = 12800)){strict};"

    "CREATE TABLE modifications ("
    " id {int} PRIMARY KEY CHECK (id >= 1),"
    " sequence_number {int} UNIQUE CHECK (sequence_number >= 1),"
    " serial_id {int} CHECK (serial_id BETWEEN 1 AND 4294967295),"
    " request_type TEXT NOT NULL,"
    " s3_url TEXT,"
    " status TEXT NOT NULL CHECK (status IN ('IN_PROGRESS', 'COMPLETED')),"
    " persisted {int} NOT NULL CHECK (persisted IN (0, 1)),"
    " result_message_body TEXT,"
    " attributes TEXT,"
    " row_sum {int} NOT NULL,"
    " created_at {int} NOT NULL,"
    " CHECK (persisted = 0 OR (status = 'COMPLETED' AND serial_id IS NOT NULL)),"
    " CHECK (result_message_body IS NULL OR status = 'COMPLETED')){strict};"

    "CREATE TABLE ingested_requests ("
    " sequence_number {key} PRIMARY KEY CHECK (length(sequence_number) = 40),"
    " message_body {blob} NOT NULL,"
    " message_sum {int} NOT NULL,"
    " is_valid {int} NOT NULL CHECK (is_valid IN (0, 1)),"
    " received_at {int} NOT NULL,"
    " consumed_batch_id {int},"
    " persisted_at {int}){strict};"

    "CREATE INDEX ingested_requests_pending ON ingested_requests (sequence_number)"
    " WHERE persisted_at IS NULL AND consumed_batch_id IS NULL;"

    "CREATE TABLE persistent_state ("
    " domain {key} NOT NULL,"
    " name {key} NOT NULL,"
    " value {int} NOT NULL CHECK (value >= 0),"
    " value_sum {int} NOT NULL,"
    " PRIMARY KEY (domain, name)){strict};"

    "CREATE TABLE results ("
    " number {int} PRIMARY KEY CHECK (number >= 1),"
    " modification_id {int} NOT NULL UNIQUE REFERENCES modifications (id),"
    " published_at {int} NOT NULL){strict};"

    "CREATE TABLE topic ("
    " sequence_number {int} PRIMARY KEY CHECK (sequence_number >= 1),"
    " message_id {key} NOT NULL UNIQUE,"
    " body {blob} NOT NULL,"
    " body_sum {int} NOT NULL,"
    " received_at {int} NOT NULL){strict};"

    "CREATE TABLE share_objects ("
    " object_key {key} PRIMARY KEY,"
    " bytes {blob} NOT NULL,"
    " bytes_sum {int} NOT NULL,"
    " received_at {int} NOT NULL){strict}";

// Version 2. Nothing is checked here: rows are derived, and whoever reads one judges it whole.
static const char spectral[] = "CREATE TABLE cpu_spectral_irises ("
                               " serial_id {int} NOT NULL,"
                               " version_id {int} NOT NULL,"
                               " side {int} NOT NULL,"
                               " party {int} NOT NULL,"
                               " format_version {int} NOT NULL,"
                               " generation {blob} NOT NULL,"
                               " payload_hash {blob} NOT NULL,"
                               " payload {blob} NOT NULL,"
                               " PRIMARY KEY (side, serial_id))";

// Version 3. Null in rows that are older, and in those that a repair took over from a peer.
static const char batches[] = "ALTER TABLE modifications ADD COLUMN"
                              " batch {int} CHECK (batch >= 1)";

static const char *const steps[] = {tables, spectral, batches};

_Static_assert(UVEA_COUNT_OF(steps) == UVEA_SCHEMA_VERSION, "a step for each version");

struct catalog {
    uint64_t tables;
    uint64_t ours;
};

static enum uvea_error read_catalog(struct uvea_sql *sql, void *arg,
                                    struct uvea_error_context *context)
{
    struct catalog *catalog = arg;
    UVEA_TRY(uvea_sql_get_unsigned(sql, 0, INT64_MAX, &catalog->tables, context));
    return uvea_sql_get_unsigned(sql, 1, INT64_MAX, &catalog->ours, context);
}

// *version is 0 where there is no table at all.
static enum uvea_error find_version(struct uvea_sql *sql, const char *name, int64_t *version,
                                    struct uvea_error_context *context)
{
    struct catalog catalog = {0};
    UVEA_TRY(uvea_sql_each(sql, UVEA_SQL_CATALOG, NULL, 0, read_catalog, &catalog, context));
    *version = 0;
    if (catalog.tables == 0) {
        return UVEA_OK;
    }
    if (catalog.ours == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%s holds %llu tables, but not those of a party", name,
                              (unsigned long long)catalog.tables);
    }
    bool found = false;
    return uvea_sql_find(sql, UVEA_SQL_SCHEMA_VERSION, NULL, 0, &found, version, context);
}

enum uvea_error uvea_schema_check(struct uvea_sql *sql, const char *name,
                                  struct uvea_error_context *context)
{
    int64_t version = 0;
    UVEA_TRY(find_version(sql, name, &version, context));
    if (version > UVEA_SCHEMA_VERSION) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%s has schema version %lld; this program knows versions up to %d",
                              name, (long long)version, UVEA_SCHEMA_VERSION);
    }
    return UVEA_OK;
}

static enum uvea_error apply(struct uvea_sql *sql, unsigned version, int64_t now_s,
                             struct uvea_error_context *context)
{
    struct uvea_buf text = {0};
    enum uvea_error error = uvea_sql_expand(sql->ops->dialect, steps[version - 1], &text);
    if (error == UVEA_OK) {
        error = sql->ops->run(sql, (const char *)text.data, context);
    }
    uvea_buf_deinit(&text);
    UVEA_TRY(error);
    return uvea_sql_execute(sql, UVEA_SQL_SCHEMA_APPLIED,
                            UVEA_SQL_VALUES(uvea_sql_integer(version), uvea_sql_integer(now_s)),
                            NULL, context);
}

enum uvea_error uvea_schema_migrate(struct uvea_sql *sql, unsigned to, int64_t now_s,
                                    struct uvea_error_context *context)
{
    int64_t version = 0;
    UVEA_CHECK(to <= UVEA_SCHEMA_VERSION);
    UVEA_TRY(find_version(sql, "the database", &version, context));
    while (version < (int64_t)to) {
        UVEA_TRY(sql->ops->begin(sql, context));
        enum uvea_error error = apply(sql, (unsigned)version + 1, now_s, context);
        if (error != UVEA_OK) {
            sql->ops->rollback(sql);
            return error;
        }
        UVEA_TRY(sql->ops->commit(sql, context));
        version++;
    }
    return UVEA_OK;
}
