#include "core/base/mem.h"
#include "sim/cmd/sweep_db.h"

#include <libpq-fe.h>

enum { COLUMNS_MAX = 64, PARAMS_MAX = 64 };

static enum uvea_error fail(PGconn *connection, struct uvea_error_context *context)
{
    return uvea_error_set(context, UVEA_ERR_IO, "the sweep's database: %.400s",
                          PQerrorMessage(connection));
}

static enum uvea_error row(const PGresult *result, int at, uvea_sweep_row_fn *fn, void *arg,
                           struct uvea_error_context *context)
{
    const char *columns[COLUMNS_MAX];
    int count = PQnfields(result);
    for (int i = 0; i < count && i < COLUMNS_MAX; i++) {
        columns[i] = PQgetisnull(result, at, i) ? NULL : PQgetvalue(result, at, i);
    }
    return fn == NULL ? UVEA_OK : fn(arg, columns, (size_t)count, context);
}

// Rows come one by one: there may be millions. All results are read, whatever happened, so that the
// connection can be used again.
static enum uvea_error query(void *self, const char *sql, const char *const *params, size_t count,
                             uvea_sweep_row_fn *fn, void *arg, struct uvea_error_context *context)
{
    if (PQsendQueryParams(self, sql, (int)count, NULL, params, NULL, NULL, 0) != 1 ||
        PQsetSingleRowMode(self) != 1) {
        return fail(self, context);
    }
    enum uvea_error error = UVEA_OK;
    PGresult *result;
    while ((result = PQgetResult(self)) != NULL) {
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_SINGLE_TUPLE && error == UVEA_OK) {
            error = row(result, 0, fn, arg, context);
        } else if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK &&
                   status != PGRES_COMMAND_OK && error == UVEA_OK) {
            error = fail(self, context);
        }
        PQclear(result);
    }
    return error;
}

static void close_db(void *self)
{
    PQfinish(self);
}

static void be_quiet(void *arg, const PGresult *result)
{
    (void)arg;
    (void)result;
}

enum uvea_error uvea_sweep_postgres_open(const char *url, struct uvea_sweep_backend *backend,
                                         struct uvea_error_context *context)
{
    PGconn *connection = PQconnectdb(url);
    if (connection == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (PQstatus(connection) != CONNECTION_OK) {
        enum uvea_error error = fail(connection, context);
        PQfinish(connection);
        return error;
    }
    (void)PQsetNoticeReceiver(connection, be_quiet, NULL); // "relation exists, skipping"
    *backend = (struct uvea_sweep_backend){.query = query, .close = close_db, .self = connection};
    return UVEA_OK;
}
