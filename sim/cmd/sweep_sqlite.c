#include "core/base/mem.h"
#include "sim/cmd/sweep_db.h"

#include <sqlite3.h>

enum { COLUMNS_MAX = 64, BUSY_MS = 120000 };

static enum uvea_error fail(sqlite3 *db, struct uvea_error_context *context)
{
    return uvea_error_set(context, UVEA_ERR_IO, "the sweep's database: %.400s", sqlite3_errmsg(db));
}

static enum uvea_error rows(sqlite3 *db, sqlite3_stmt *statement, uvea_sweep_row_fn *fn, void *arg,
                            struct uvea_error_context *context)
{
    const char *columns[COLUMNS_MAX];
    int status;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        int count = sqlite3_column_count(statement);
        for (int i = 0; i < count && i < COLUMNS_MAX; i++) {
            columns[i] = (const char *)sqlite3_column_text(statement, i);
        }
        if (fn != NULL) {
            UVEA_TRY(fn(arg, columns, (size_t)count, context));
        }
    }
    return status == SQLITE_DONE ? UVEA_OK : fail(db, context);
}

static enum uvea_error query(void *self, const char *sql, const char *const *params, size_t count,
                             uvea_sweep_row_fn *fn, void *arg, struct uvea_error_context *context)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(self, sql, -1, &statement, NULL) != SQLITE_OK) {
        return fail(self, context);
    }
    enum uvea_error error = UVEA_OK;
    for (size_t i = 0; i < count && error == UVEA_OK; i++) {
        if (sqlite3_bind_text(statement, (int)i + 1, params[i], -1, SQLITE_STATIC) != SQLITE_OK) {
            error = fail(self, context);
        }
    }
    if (error == UVEA_OK) {
        error = rows(self, statement, fn, arg, context);
    }
    (void)sqlite3_finalize(statement);
    return error;
}

static void close_db(void *self)
{
    (void)sqlite3_close(self);
}

enum uvea_error uvea_sweep_sqlite_open(const char *path, struct uvea_sweep_backend *backend,
                                       struct uvea_error_context *context)
{
    sqlite3 *db = NULL;
    int status = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (status == SQLITE_OK) {
        status = sqlite3_busy_timeout(db, BUSY_MS);
    }
    if (status == SQLITE_OK) {
        status = sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL", NULL, NULL,
                              NULL);
    }
    const bool read_only = status == SQLITE_OK && sqlite3_db_readonly(db, "main") == 1;
    if (status != SQLITE_OK || read_only) {
        enum uvea_error error =
            uvea_error_set(context, UVEA_ERR_IO, "%.200s: %.200s", path,
                           read_only ? "it cannot be written" : sqlite3_errmsg(db));
        (void)sqlite3_close(db);
        return error;
    }
    *backend = (struct uvea_sweep_backend){.query = query, .close = close_db, .self = db};
    return UVEA_OK;
}
