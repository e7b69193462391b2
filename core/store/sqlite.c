#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/store/schema.h"
#include "core/store/sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

struct sqlite {
    struct uvea_sql base; // first member
    sqlite3 *db;
    sqlite3_stmt *statements[UVEA_SQL_STATEMENT_COUNT]; // NULL until first used
    sqlite3_stmt *current;
    const char *current_name;
};

static const struct uvea_sql_dialect dialect = {
    .integer = "INTEGER",
    .blob = "BLOB",
    .key = "TEXT",
    .strict = " STRICT",
    .catalog = "sqlite_schema WHERE type = 'table'",
};

static struct sqlite *of(struct uvea_sql *sql)
{
    return (struct sqlite *)sql;
}

// What a file that cannot be gone on with is called: the error, after the connection is broken.
static enum uvea_error give_up(struct sqlite *sqlite, enum uvea_error error, const char *sentence,
                               const char *message, struct uvea_error_context *context)
{
    const char *path = sqlite3_db_filename(sqlite->db, "main");
    enum uvea_error broken = uvea_sql_break(&sqlite->base, context, "%s: %s (SQLite: %s)",
                                            path != NULL ? path : "", sentence, message);
    (void)broken;
    return error;
}

static enum uvea_error damaged(struct sqlite *sqlite, const char *message,
                               struct uvea_error_context *context)
{
    return give_up(sqlite, UVEA_ERR_STATE,
                   "the database file is damaged and a copy must be restored", message, context);
}

// What a failure of `doing` means. SQLite's own sentences name tables and constraints, never
// values.
static enum uvea_error failed(struct sqlite *sqlite, const char *doing, int code,
                              struct uvea_error_context *context)
{
    const char *message = sqlite->db != NULL ? sqlite3_errmsg(sqlite->db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return uvea_error_set(context, UVEA_ERR_MEMORY, "SQLite is short of memory: %s", doing);
    case SQLITE_CONSTRAINT:
        return uvea_error_set(context, UVEA_ERR_STATE, "SQLite refused %s: %s", doing, message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return uvea_sql_break(&sqlite->base, context,
                              "the database is in use by another process (SQLite, %s: %s)", doing,
                              message);
    case SQLITE_CORRUPT:
        return damaged(sqlite, message, context);
    case SQLITE_NOTADB:
        return give_up(sqlite, UVEA_ERR_FORMAT, "the file is no SQLite database", message, context);
    default:
        return uvea_sql_break(&sqlite->base, context, "SQLite failed, %s: %s (%d)", doing, message,
                              code);
    }
}

static enum uvea_error run(struct uvea_sql *sql, const char *text,
                           struct uvea_error_context *context)
{
    int code = sqlite3_exec(of(sql)->db, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? UVEA_OK : failed(of(sql), text, code, context);
}

static enum uvea_error begin(struct uvea_sql *sql, struct uvea_error_context *context)
{
    return run(sql, "BEGIN IMMEDIATE", context);
}

static enum uvea_error commit(struct uvea_sql *sql, struct uvea_error_context *context)
{
    int code = sqlite3_exec(of(sql)->db, "COMMIT", NULL, NULL, NULL);
    if (code == SQLITE_OK) {
        return UVEA_OK;
    }
    return uvea_sql_break(sql, context, "SQLite failed, COMMIT: %s (%d)",
                          sqlite3_errmsg(of(sql)->db), code);
}

// Some failures have rolled back by themselves.
static void rollback(struct uvea_sql *sql)
{
    sqlite3 *db = of(sql)->db;
    if (sqlite3_get_autocommit(db) == 0 &&
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK) {
        enum uvea_error error =
            uvea_sql_break(sql, NULL, "SQLite failed, ROLLBACK: %s", sqlite3_errmsg(db));
        (void)error; // what made it necessary is reported
    }
}

// ---- statements

// The parameters $1, $2, ... are numbered by SQLite as they first appear.
static void check_parameters(sqlite3_stmt *statement, size_t count)
{
    UVEA_CHECK(sqlite3_bind_parameter_count(statement) == (int)count);
    for (int i = 1; i <= (int)count; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "$%d", i);
        UVEA_CHECK(strcmp(sqlite3_bind_parameter_name(statement, i), name) == 0);
    }
}

static enum uvea_error prepare(struct sqlite *sqlite, enum uvea_sql_statement statement,
                               struct uvea_error_context *context)
{
    if (sqlite->statements[statement] != NULL) {
        return UVEA_OK;
    }
    struct uvea_buf text = {0};
    enum uvea_error error = uvea_sql_expand(&dialect, uvea_sql_statement_text(statement), &text);
    if (error == UVEA_OK) {
        int code =
            sqlite3_prepare_v3(sqlite->db, (const char *)text.data, (int)text.len,
                               SQLITE_PREPARE_PERSISTENT, &sqlite->statements[statement], NULL);
        if (code != SQLITE_OK) {
            error = failed(sqlite, uvea_sql_statement_name(statement), code, context);
        }
    }
    uvea_buf_deinit(&text);
    return error;
}

static int bind(sqlite3_stmt *statement, int at, const struct uvea_sql_value *value)
{
    switch (value->type) {
    case UVEA_SQL_INTEGER:
        return sqlite3_bind_int64(statement, at, value->integer);
    case UVEA_SQL_TEXT:
        return sqlite3_bind_text64(statement, at, value->bytes, value->count, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case UVEA_SQL_BLOB:
        return sqlite3_bind_blob64(statement, at, value->bytes, value->count, SQLITE_STATIC);
    case UVEA_SQL_NULL:
        break;
    }
    return sqlite3_bind_null(statement, at);
}

static enum uvea_error start(struct uvea_sql *sql, enum uvea_sql_statement statement,
                             const struct uvea_sql_value *values, size_t count,
                             struct uvea_error_context *context)
{
    struct sqlite *sqlite = of(sql);
    UVEA_CHECK(sqlite->current == NULL);
    UVEA_TRY(prepare(sqlite, statement, context));
    sqlite->current = sqlite->statements[statement];
    sqlite->current_name = uvea_sql_statement_name(statement);
    check_parameters(sqlite->current, count);
    for (size_t i = 0; i < count; i++) {
        int code = bind(sqlite->current, (int)i + 1, &values[i]);
        if (code != SQLITE_OK) {
            return failed(sqlite, sqlite->current_name, code, context);
        }
    }
    return UVEA_OK;
}

static enum uvea_error step(struct uvea_sql *sql, bool *row, int64_t *changes,
                            struct uvea_error_context *context)
{
    struct sqlite *sqlite = of(sql);
    int code = sqlite3_step(sqlite->current);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return failed(sqlite, sqlite->current_name, code, context);
    }
    *row = code == SQLITE_ROW;
    *changes = code == SQLITE_DONE ? sqlite3_changes64(sqlite->db) : 0;
    return UVEA_OK;
}

static enum uvea_error column(struct uvea_sql *sql, int at, struct uvea_sql_value *value,
                              struct uvea_error_context *context)
{
    sqlite3_stmt *statement = of(sql)->current;
    *value = uvea_sql_null();
    switch (sqlite3_column_type(statement, at)) {
    case SQLITE_INTEGER:
        *value = uvea_sql_integer(sqlite3_column_int64(statement, at));
        break;
    case SQLITE_FLOAT: // no column of ours; left to the reader, who expects another type
        break;
    case SQLITE_TEXT:
        value->type = UVEA_SQL_TEXT;
        value->bytes = sqlite3_column_text(statement, at);
        value->count = (size_t)sqlite3_column_bytes(statement, at);
        break;
    case SQLITE_BLOB:
        value->type = UVEA_SQL_BLOB;
        value->bytes = sqlite3_column_blob(statement, at);
        value->count = (size_t)sqlite3_column_bytes(statement, at);
        if (value->bytes == NULL && sqlite3_errcode(of(sql)->db) != SQLITE_NOMEM) {
            value->bytes = "";
        }
        break;
    default:
        break;
    }
    if (value->bytes == NULL && value->type >= UVEA_SQL_TEXT) {
        return failed(of(sql), of(sql)->current_name, SQLITE_NOMEM, context);
    }
    return UVEA_OK;
}

static void finish(struct uvea_sql *sql)
{
    struct sqlite *sqlite = of(sql);
    if (sqlite->current != NULL) {
        (void)sqlite3_reset(sqlite->current); // says again what step said
        (void)sqlite3_clear_bindings(sqlite->current);
        sqlite->current = NULL;
    }
}

// A broken connection leaves its log as it is: what of it counts is found out when it is opened.
static void close_sqlite(struct uvea_sql *sql)
{
    struct sqlite *sqlite = of(sql);
    finish(sql);
    for (size_t i = 0; i < UVEA_SQL_STATEMENT_COUNT; i++) {
        (void)sqlite3_finalize(sqlite->statements[i]);
    }
    if (sql->broken && sqlite->db != NULL) {
        (void)sqlite3_db_config(sqlite->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
    int code = sqlite3_close(sqlite->db);
    UVEA_CHECK(code == SQLITE_OK); // anything else would be a statement left behind
    uvea_mem_free(sqlite);
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
    .close = close_sqlite,
};

// ---- opening

static int configure(sqlite3 *db)
{
    static const struct {
        int option;
        int on;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},          {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(options); i++) {
        int code = sqlite3_db_config(db, options[i].option, options[i].on, NULL);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    (void)sqlite3_extended_result_codes(db, 1);
    return sqlite3_busy_timeout(db, 0);
}

// What a pragma answers first, cut to 200 characters.
struct answer {
    char text[201];
};

static enum uvea_error ask(struct sqlite *sqlite, const char *pragma, struct answer *answer,
                           struct uvea_error_context *context)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(sqlite->db, pragma, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
    }
    enum uvea_error error = UVEA_OK;
    if (code == SQLITE_ROW) {
        const unsigned char *got = sqlite3_column_text(statement, 0);
        (void)snprintf(answer->text, sizeof(answer->text), "%s",
                       got != NULL ? (const char *)got : "nothing");
    } else {
        error = failed(sqlite, pragma, code, context);
    }
    (void)sqlite3_finalize(statement);
    return error;
}

static enum uvea_error expect(struct sqlite *sqlite, const char *pragma, const char *wanted,
                              struct uvea_error_context *context)
{
    struct answer answer;
    UVEA_TRY(ask(sqlite, pragma, &answer, context));
    if (strcmp(answer.text, wanted) != 0) {
        return uvea_sql_break(&sqlite->base, context, "SQLite answers %s with %s, not %s", pragma,
                              answer.text, wanted);
    }
    return UVEA_OK;
}

// The check tells of a read that failed in the same way as of a page that is bad. Nobody should
// restore a copy for that.
static bool was_not_read(const char *finding)
{
    return strstr(finding, "failed to get page") != NULL ||
           strstr(finding, "unable to get the page") != NULL;
}

// Reads the whole file, log included: an index that lost an entry would answer wrongly without any
// error.
static enum uvea_error check_integrity(struct sqlite *sqlite, struct uvea_error_context *context)
{
    struct answer answer;
    UVEA_TRY(ask(sqlite, "PRAGMA integrity_check(1)", &answer, context));
    if (strcmp(answer.text, "ok") == 0) {
        return UVEA_OK;
    }
    if (was_not_read(answer.text)) {
        return uvea_sql_break(&sqlite->base, context,
                              "the database file cannot be read to its end (SQLite: %s)",
                              answer.text);
    }
    return damaged(sqlite, answer.text, context);
}

// Takes the file for this process alone, then looks at what it is before anything is written. The
// locking mode comes first: the log's index is then kept in memory and not in a shared file.
static enum uvea_error take(struct sqlite *sqlite, const char *path,
                            struct uvea_error_context *context)
{
    UVEA_TRY(expect(sqlite, "PRAGMA locking_mode = EXCLUSIVE", "exclusive", context));
    UVEA_TRY(run(&sqlite->base,
                 "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192; PRAGMA mmap_size = 0;"
                 "PRAGMA cell_size_check = ON",
                 context));
    UVEA_TRY(run(&sqlite->base, "BEGIN EXCLUSIVE", context));
    UVEA_TRY(uvea_schema_check(&sqlite->base, path, context));
    return run(&sqlite->base, "COMMIT", context);
}

// The checkpoint matters after a failed sync: a later sync of the log alone could then succeed
// without the pages that were lost, while the database file is written and synced anew.
static enum uvea_error make_durable(struct sqlite *sqlite, struct uvea_error_context *context)
{
    UVEA_TRY(expect(sqlite, "PRAGMA journal_mode = WAL", "wal", context));
    UVEA_TRY(run(&sqlite->base,
                 "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000;"
                 "PRAGMA journal_size_limit = 16777216",
                 context));
    UVEA_TRY(expect(sqlite, "PRAGMA synchronous", "2", context));
    UVEA_TRY(check_integrity(sqlite, context));
    UVEA_TRY(expect(sqlite, "PRAGMA wal_checkpoint(TRUNCATE)", "0", context));
    int code = sqlite3_db_config(sqlite->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return code == SQLITE_OK ? UVEA_OK : failed(sqlite, "configuring", code, context);
}

enum uvea_error uvea_sql_open_sqlite(const char *path, const char *vfs, struct uvea_sql **sql,
                                     struct uvea_error_context *context)
{
    struct sqlite *sqlite = uvea_mem_alloc(1, sizeof(*sqlite));
    if (sqlite == NULL) {
        return UVEA_ERR_MEMORY;
    }
    sqlite->base.ops = &ops;
    enum uvea_error error = UVEA_OK;
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int code = sqlite3_open_v2(path, &sqlite->db, flags, vfs);
    if (code == SQLITE_OK) {
        code = configure(sqlite->db);
    }
    if (code != SQLITE_OK) {
        error = failed(sqlite, path, code, context);
    }
    if (error == UVEA_OK) {
        error = take(sqlite, path, context);
    }
    if (error == UVEA_OK) {
        error = make_durable(sqlite, context);
    }
    if (error != UVEA_OK) {
        close_sqlite(&sqlite->base);
        return error;
    }
    *sql = &sqlite->base;
    return UVEA_OK;
}
