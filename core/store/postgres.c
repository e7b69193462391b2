#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/store/schema.h"
#include "core/store/sql.h"
#include "core/store/store.h"

#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Values go over in binary. Rows arrive one by one, so that a large read needs no large memory.
struct postgres {
    struct uvea_sql base; // first member
    PGconn *connection;
    PGresult *result; // of the last step
    bool busy;        // a statement was sent and not all of its results are read
    const char *current_name;
    bool prepared[UVEA_SQL_STATEMENT_COUNT];
};

static const struct uvea_sql_dialect dialect = {
    .integer = "BIGINT",
    .blob = "BYTEA",
    .key = "TEXT COLLATE \"C\"",
    .strict = "",
    .catalog = "(SELECT tablename AS name FROM pg_catalog.pg_tables"
               " WHERE schemaname = current_schema()) AS tables",
};

// Types as PostgreSQL numbers them (pg_type.h).
enum {
    TYPE_BYTEA = 17,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_TEXT = 25,
};

static struct postgres *of(struct uvea_sql *sql)
{
    return (struct postgres *)sql;
}

// What libpq says, on one line: its line ends and tabs become spaces.
struct said {
    char text[400];
};

static struct said flatten(const char *message)
{
    struct said said = {.text = ""};
    size_t at = 0;
    for (; *message != '\0' && at + 1 < sizeof(said.text); message++) {
        const bool space = strchr(" \t\r\n", *message) != NULL;
        if (!space) {
            said.text[at++] = *message;
        } else if (at > 0 && said.text[at - 1] != ' ') {
            said.text[at++] = ' ';
        }
    }
    said.text[at - (at > 0 && said.text[at - 1] == ' ' ? 1 : 0)] = '\0';
    return said;
}

static struct said said_by(const PGconn *connection)
{
    return flatten(connection != NULL ? PQerrorMessage(connection) : "out of memory");
}

// What a failed result means, which is freed. Only the primary message is told: the details may
// show values. A violated constraint (class 23) leaves a transaction that can be rolled back.
static enum uvea_error failed(struct postgres *postgres, const char *doing, PGresult *result,
                              struct uvea_error_context *context)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const struct said said = message != NULL ? flatten(message) : said_by(postgres->connection);
    enum uvea_error error;
    if (state != NULL && strncmp(state, "23", 2) == 0) {
        error =
            uvea_error_set(context, UVEA_ERR_STATE, "PostgreSQL refused %s: %s", doing, said.text);
    } else {
        error = uvea_sql_break(&postgres->base, context, "PostgreSQL failed, %s: %s (%s)", doing,
                               said.text, state != NULL ? state : "no state");
    }
    PQclear(result);
    return error;
}

// Sends text and expects the server to end it with this command tag; NULL: any.
static enum uvea_error run_to(struct postgres *postgres, const char *text, const char *tag,
                              struct uvea_error_context *context)
{
    PGresult *result = PQexec(postgres->connection, text);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        return failed(postgres, text, result, context);
    }
    enum uvea_error error = UVEA_OK;
    if (tag != NULL && strcmp(PQcmdStatus(result), tag) != 0) {
        error = uvea_sql_break(&postgres->base, context, "PostgreSQL answers %s with %s", tag,
                               PQcmdStatus(result));
    }
    PQclear(result);
    return error;
}

static enum uvea_error run(struct uvea_sql *sql, const char *text,
                           struct uvea_error_context *context)
{
    return run_to(of(sql), text, NULL, context);
}

static enum uvea_error begin(struct uvea_sql *sql, struct uvea_error_context *context)
{
    return run_to(of(sql), "BEGIN", "BEGIN", context);
}

// A transaction that failed is ended by COMMIT without an error, but with another tag.
static enum uvea_error commit(struct uvea_sql *sql, struct uvea_error_context *context)
{
    enum uvea_error error = run_to(of(sql), "COMMIT", "COMMIT", context);
    if (error != UVEA_OK && !sql->broken) {
        return uvea_sql_break(sql, context, "PostgreSQL failed, COMMIT: a constraint");
    }
    return error;
}

static void rollback(struct uvea_sql *sql)
{
    if (!sql->broken) {
        enum uvea_error error = run_to(of(sql), "ROLLBACK", "ROLLBACK", NULL);
        (void)error; // what made it necessary is reported
    }
}

// ---- statements

static Oid type_of(char letter)
{
    return letter == 'i' ? TYPE_INT8 : letter == 't' ? TYPE_TEXT : TYPE_BYTEA;
}

static enum uvea_error prepare(struct postgres *postgres, enum uvea_sql_statement statement,
                               struct uvea_error_context *context)
{
    if (postgres->prepared[statement]) {
        return UVEA_OK;
    }
    const char *name = uvea_sql_statement_name(statement);
    const char *types = uvea_sql_statement_types(statement);
    Oid oids[UVEA_SQL_PARAMETERS_MAX] = {0};
    for (size_t i = 0; types[i] != '\0'; i++) {
        oids[i] = type_of(types[i]);
    }
    struct uvea_buf text = {0};
    enum uvea_error error = uvea_sql_expand(&dialect, uvea_sql_statement_text(statement), &text);
    if (error == UVEA_OK) {
        PGresult *result = PQprepare(postgres->connection, name, (const char *)text.data,
                                     (int)strlen(types), oids);
        if (PQresultStatus(result) == PGRES_COMMAND_OK) {
            postgres->prepared[statement] = true;
            PQclear(result);
        } else {
            error = failed(postgres, name, result, context);
        }
    }
    uvea_buf_deinit(&text);
    return error;
}

static enum uvea_error start(struct uvea_sql *sql, enum uvea_sql_statement statement,
                             const struct uvea_sql_value *values, size_t count,
                             struct uvea_error_context *context)
{
    struct postgres *postgres = of(sql);
    UVEA_CHECK(!postgres->busy);
    UVEA_TRY(prepare(postgres, statement, context));
    uint64_t integers[UVEA_SQL_PARAMETERS_MAX];
    const char *bytes[UVEA_SQL_PARAMETERS_MAX];
    int lengths[UVEA_SQL_PARAMETERS_MAX];
    int formats[UVEA_SQL_PARAMETERS_MAX];
    for (size_t i = 0; i < count; i++) {
        bool integer = values[i].type == UVEA_SQL_INTEGER;
        integers[i] = htobe64((uint64_t)values[i].integer);
        bytes[i] = integer ? (const char *)&integers[i] : values[i].bytes;
        lengths[i] = integer ? 8 : (int)values[i].count;
        formats[i] = 1;
    }
    postgres->current_name = uvea_sql_statement_name(statement);
    if (PQsendQueryPrepared(postgres->connection, postgres->current_name, (int)count, bytes,
                            lengths, formats, 1) != 1 ||
        PQsetSingleRowMode(postgres->connection) != 1) {
        return uvea_sql_break(sql, context, "PostgreSQL failed, %s: %s", postgres->current_name,
                              said_by(postgres->connection).text);
    }
    postgres->busy = true;
    return UVEA_OK;
}

static int64_t changes_of(PGresult *result)
{
    const char *tuples = PQcmdTuples(result);
    return tuples[0] != '\0' ? (int64_t)strtoll(tuples, NULL, 10) : 0;
}

static enum uvea_error step(struct uvea_sql *sql, bool *row, int64_t *changes,
                            struct uvea_error_context *context)
{
    struct postgres *postgres = of(sql);
    PQclear(postgres->result);
    postgres->result = PQgetResult(postgres->connection);
    switch (PQresultStatus(postgres->result)) {
    case PGRES_SINGLE_TUPLE:
        *row = true;
        *changes = 0;
        return UVEA_OK;
    case PGRES_TUPLES_OK: // after the last row
    case PGRES_COMMAND_OK:
        *row = false;
        *changes = changes_of(postgres->result);
        return UVEA_OK;
    default:
        break;
    }
    PGresult *result = postgres->result;
    postgres->result = NULL;
    return failed(postgres, postgres->current_name, result, context);
}

// libpq puts a NUL behind every value.
static enum uvea_error column(struct uvea_sql *sql, int at, struct uvea_sql_value *value,
                              struct uvea_error_context *context)
{
    const PGresult *result = of(sql)->result;
    (void)context;
    *value = uvea_sql_null();
    if (PQgetisnull(result, 0, at) != 0) {
        return UVEA_OK;
    }
    const char *bytes = PQgetvalue(result, 0, at);
    size_t count = (size_t)PQgetlength(result, 0, at);
    switch (PQftype(result, at)) {
    case TYPE_INT2:
    case TYPE_INT4:
    case TYPE_INT8: {
        uint64_t integer = (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;
        for (size_t i = 0; i < count; i++) {
            integer = integer << 8 | (uint8_t)bytes[i];
        }
        *value = uvea_sql_integer((int64_t)integer);
        break;
    }
    case TYPE_TEXT:
        *value = (struct uvea_sql_value){.type = UVEA_SQL_TEXT, .bytes = bytes, .count = count};
        break;
    case TYPE_BYTEA:
        *value = uvea_sql_blob(bytes, count);
        break;
    default: // none of ours; left to the reader, who expects another type
        break;
    }
    return UVEA_OK;
}

static void finish(struct uvea_sql *sql)
{
    struct postgres *postgres = of(sql);
    PQclear(postgres->result);
    postgres->result = NULL;
    while (postgres->busy) {
        PGresult *result = PQgetResult(postgres->connection);
        postgres->busy = result != NULL;
        PQclear(result);
    }
}

static void close_postgres(struct uvea_sql *sql)
{
    struct postgres *postgres = of(sql);
    PQclear(postgres->result);
    PQfinish(postgres->connection);
    uvea_mem_free(postgres);
}

static const struct uvea_sql_ops ops = {
    .dialect = &dialect,
    .run = run,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .start = start,
    .step = step,
    .column = column,
    .finish = finish,
    .close = close_postgres,
};

// ---- opening

enum uvea_error uvea_store_check_postgres_url(const char *url, struct uvea_error_context *context)
{
    char *said = NULL; // quotes the url
    PQconninfoOption *options = PQconninfoParse(url, &said);
    const bool good = options != NULL;
    PQconninfoFree(options);
    if (said != NULL) {
        uvea_mem_wipe(said, strlen(said));
    }
    PQfreemem(said);
    return good ? UVEA_OK
                : uvea_error_set(context, UVEA_ERR_FORMAT,
                                 "neither a postgresql:// URL nor a list of name=value that libpq "
                                 "knows (not shown, as it may hold a password)");
}

enum {
    LOCK_CLASS_CREATE = 0x75766561, // advisory locks: making a schema
    LOCK_CLASS_OWN = 0x75766562,    // being a schema's one user; the key is the schema's number
    TEXT_BYTES = 512,
};

static void ignore_notice(void *arg, const char *message)
{
    (void)arg;
    (void)message;
}

static enum uvea_error connect(struct postgres *postgres, const char *url,
                               struct uvea_error_context *context)
{
    // What stands behind dbname overrides the URL, what stands before can be overridden by it.
    const char *const names[] = {"connect_timeout", "application_name", "dbname", "client_encoding",
                                 NULL};
    const char *const values[] = {"10", "uvea", url, "UTF8", NULL};
    postgres->connection = PQconnectdbParams(names, values, 1);
    if (PQstatus(postgres->connection) != CONNECTION_OK) {
        return uvea_sql_break(&postgres->base, context, "PostgreSQL cannot be reached: %s",
                              said_by(postgres->connection).text);
    }
    (void)PQsetNoticeProcessor(postgres->connection, ignore_notice, NULL);
    const char *encoding = PQparameterStatus(postgres->connection, "server_encoding");
    if (encoding == NULL || (strcmp(encoding, "UTF8") != 0 && strcmp(encoding, "SQL_ASCII") != 0)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "the database holds text as %s, not UTF-8",
                              encoding != NULL ? encoding : "nothing");
    }
    return run(&postgres->base,
               "SET synchronous_commit = on; SET statement_timeout = 0; SET lock_timeout = '10s';"
               "SET idle_in_transaction_session_timeout = 0; SET row_security = off;"
               "SET default_transaction_isolation = 'read committed';"
               "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;"
               "SET tcp_keepalives_count = 3",
               context);
}

// The schema's number, or 0 when there is none. Its name needs no quoting as a value.
static enum uvea_error find_schema(struct postgres *postgres, const char *schema, unsigned *number,
                                   struct uvea_error_context *context)
{
    char text[TEXT_BYTES];
    (void)snprintf(text, sizeof(text),
                   "SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = '%s'", schema);
    PGresult *result = PQexec(postgres->connection, text);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        return failed(postgres, text, result, context);
    }
    *number = PQntuples(result) == 1 ? (unsigned)strtoul(PQgetvalue(result, 0, 0), NULL, 10) : 0;
    PQclear(result);
    return UVEA_OK;
}

// One at a time, as CREATE SCHEMA IF NOT EXISTS may fail when two do it at once.
static enum uvea_error create_schema(struct postgres *postgres, const char *schema,
                                     struct uvea_error_context *context)
{
    char text[TEXT_BYTES];
    (void)snprintf(text, sizeof(text),
                   "BEGIN; SELECT pg_advisory_xact_lock(%d, 0); CREATE SCHEMA IF NOT EXISTS \"%s\";"
                   "COMMIT",
                   LOCK_CLASS_CREATE, schema);
    return run_to(postgres, text, "COMMIT", context);
}

// The lock is held as long as the connection lives on the server: who has it knows that no earlier
// user of the schema can still commit anything.
static enum uvea_error own_schema(struct postgres *postgres, const char *schema, unsigned number,
                                  struct uvea_error_context *context)
{
    char text[TEXT_BYTES];
    (void)snprintf(text, sizeof(text), "SELECT pg_advisory_lock(%d, %d)", LOCK_CLASS_OWN,
                   (int)number);
    PGresult *result = PQexec(postgres->connection, text);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state != NULL && strcmp(state, "55P03") == 0) {
        PQclear(result);
        return uvea_sql_break(&postgres->base, context,
                              "the schema %s is in use by another process", schema);
    }
    if (PQresultStatus(result) != PGRES_TUPLES_OK) {
        return failed(postgres, text, result, context);
    }
    PQclear(result);
    (void)snprintf(text, sizeof(text), "SET search_path = \"%s\"", schema);
    return run(&postgres->base, text, context);
}

static enum uvea_error take(struct postgres *postgres, const char *schema,
                            struct uvea_error_context *context)
{
    unsigned number = 0;
    UVEA_TRY(find_schema(postgres, schema, &number, context));
    if (number == 0) {
        UVEA_TRY(create_schema(postgres, schema, context));
        UVEA_TRY(find_schema(postgres, schema, &number, context));
    }
    UVEA_TRY(own_schema(postgres, schema, number, context));
    char name[TEXT_BYTES];
    (void)snprintf(name, sizeof(name), "the schema %s", schema);
    return uvea_schema_check(&postgres->base, name, context);
}

enum uvea_error uvea_sql_open_postgres(const char *url, const char *schema, struct uvea_sql **sql,
                                       struct uvea_error_context *context)
{
    struct postgres *postgres = uvea_mem_alloc(1, sizeof(*postgres));
    if (postgres == NULL) {
        return UVEA_ERR_MEMORY;
    }
    postgres->base.ops = &ops;
    enum uvea_error error = connect(postgres, url, context);
    if (error == UVEA_OK) {
        error = take(postgres, schema, context);
    }
    if (error != UVEA_OK) {
        close_postgres(&postgres->base);
        return error;
    }
    *sql = &postgres->base;
    return UVEA_OK;
}
