#include "core/store/sql.h"

#include "core/base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *types;
    const char *text;
} statements[] = {
#define STATEMENT_ROW(name, types, text) {#name, types, text},
    UVEA_SQL_STATEMENTS(STATEMENT_ROW)
#undef STATEMENT_ROW
};

const char *uvea_sql_statement_name(enum uvea_sql_statement statement)
{
    return statements[statement].name;
}

const char *uvea_sql_statement_text(enum uvea_sql_statement statement)
{
    return statements[statement].text;
}

const char *uvea_sql_statement_types(enum uvea_sql_statement statement)
{
    return statements[statement].types;
}

struct uvea_sql_value uvea_sql_integer(int64_t integer)
{
    return (struct uvea_sql_value){.type = UVEA_SQL_INTEGER, .integer = integer};
}

struct uvea_sql_value uvea_sql_text(const char *text)
{
    if (text == NULL) {
        return uvea_sql_null();
    }
    return (struct uvea_sql_value){.type = UVEA_SQL_TEXT, .bytes = text, .count = strlen(text)};
}

// Both libraries take a null pointer for NULL, however many bytes it has.
struct uvea_sql_value uvea_sql_blob(const void *bytes, size_t count)
{
    UVEA_CHECK(bytes != NULL || count == 0);
    return (struct uvea_sql_value){
        .type = UVEA_SQL_BLOB, .bytes = bytes != NULL ? bytes : "", .count = count};
}

struct uvea_sql_value uvea_sql_null(void)
{
    return (struct uvea_sql_value){.type = UVEA_SQL_NULL};
}

enum uvea_error uvea_sql_break(struct uvea_sql *sql, struct uvea_error_context *context,
                               const char *format, ...)
{
    struct uvea_error_context sentence;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(sentence.text, sizeof(sentence.text), format, args);
    va_end(args);
    if (!sql->broken) {
        sql->broken = true;
        sql->failure = sentence;
    }
    return uvea_error_set(context, UVEA_ERR_IO, "%s", sentence.text);
}

// ---- the two languages

static const char *word_of(const struct uvea_sql_dialect *dialect, const char *word, size_t chars)
{
    const struct {
        const char *word;
        const char *text;
    } words[] = {
        {"int", dialect->integer},   {"blob", dialect->blob},       {"key", dialect->key},
        {"strict", dialect->strict}, {"catalog", dialect->catalog},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(words); i++) {
        if (strlen(words[i].word) == chars && memcmp(words[i].word, word, chars) == 0) {
            return words[i].text;
        }
    }
    return NULL;
}

enum uvea_error uvea_sql_expand(const struct uvea_sql_dialect *dialect, const char *text,
                                struct uvea_buf *out)
{
    for (;;) {
        size_t plain = strcspn(text, "{");
        UVEA_TRY(uvea_buf_append(out, text, plain));
        text += plain;
        if (*text == '\0') {
            return uvea_buf_append(out, "", 1);
        }
        size_t chars = strcspn(text + 1, "}");
        const char *word = word_of(dialect, text + 1, chars);
        UVEA_CHECK(word != NULL && text[1 + chars] == '}');
        UVEA_TRY(uvea_buf_append(out, word, strlen(word)));
        text += chars + 2;
    }
}

// ---- running statements

static void check_values(enum uvea_sql_statement statement, const struct uvea_sql_value *values,
                         size_t count)
{
    static const char letters[] = {
        [UVEA_SQL_INTEGER] = 'i', [UVEA_SQL_TEXT] = 't', [UVEA_SQL_BLOB] = 'b'};
    const char *types = uvea_sql_statement_types(statement);
    UVEA_CHECK(strlen(types) == count && count <= UVEA_SQL_PARAMETERS_MAX);
    for (size_t i = 0; i < count; i++) {
        UVEA_CHECK(values[i].type == UVEA_SQL_NULL || letters[values[i].type] == types[i]);
    }
}

static enum uvea_error start(struct uvea_sql *sql, enum uvea_sql_statement statement,
                             const struct uvea_sql_value *values, size_t count,
                             struct uvea_error_context *context)
{
    check_values(statement, values, count);
    return sql->ops->start(sql, statement, values, count, context);
}

enum uvea_error uvea_sql_execute(struct uvea_sql *sql, enum uvea_sql_statement statement,
                                 const struct uvea_sql_value *values, size_t count,
                                 int64_t *changes, struct uvea_error_context *context)
{
    int64_t changed = 0;
    bool row = true;
    enum uvea_error error = start(sql, statement, values, count, context);
    while (error == UVEA_OK && row) {
        error = sql->ops->step(sql, &row, &changed, context);
    }
    sql->ops->finish(sql);
    if (error == UVEA_OK && changes != NULL) {
        *changes = changed;
    }
    return error;
}

static enum uvea_error first_integer(struct uvea_sql *sql, bool *found, int64_t *integer,
                                     struct uvea_error_context *context)
{
    bool row = false;
    int64_t changes;
    UVEA_TRY(sql->ops->step(sql, &row, &changes, context));
    if (row) {
        uint64_t value;
        UVEA_TRY(uvea_sql_get_unsigned(sql, 0, INT64_MAX, &value, context));
        *integer = (int64_t)value;
    }
    *found = row;
    return UVEA_OK;
}

enum uvea_error uvea_sql_find(struct uvea_sql *sql, enum uvea_sql_statement statement,
                              const struct uvea_sql_value *values, size_t count, bool *found,
                              int64_t *integer, struct uvea_error_context *context)
{
    enum uvea_error error = start(sql, statement, values, count, context);
    if (error == UVEA_OK) {
        error = first_integer(sql, found, integer, context);
    }
    sql->ops->finish(sql);
    return error;
}

enum uvea_error uvea_sql_each(struct uvea_sql *sql, enum uvea_sql_statement statement,
                              const struct uvea_sql_value *values, size_t count,
                              uvea_sql_row_fn *fn, void *arg, struct uvea_error_context *context)
{
    enum uvea_error error = start(sql, statement, values, count, context);
    while (error == UVEA_OK) {
        bool row = false;
        int64_t changes;
        error = sql->ops->step(sql, &row, &changes, context);
        if (error != UVEA_OK || !row) {
            break;
        }
        error = fn(sql, arg, context);
    }
    sql->ops->finish(sql);
    return error;
}

// ---- columns

static enum uvea_error typed(struct uvea_sql *sql, int column, enum uvea_sql_type type,
                             struct uvea_sql_value *value, struct uvea_error_context *context)
{
    UVEA_TRY(sql->ops->column(sql, column, value, context));
    if (value->type != type && (value->type != UVEA_SQL_NULL || type != UVEA_SQL_TEXT)) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "column %d of a stored row is not of its type", column + 1);
    }
    return UVEA_OK;
}

enum uvea_error uvea_sql_get_unsigned(struct uvea_sql *sql, int column, uint64_t max, uint64_t *out,
                                      struct uvea_error_context *context)
{
    struct uvea_sql_value value;
    UVEA_TRY(typed(sql, column, UVEA_SQL_INTEGER, &value, context));
    if (value.integer < 0 || (uint64_t)value.integer > max) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "column %d of a stored row holds %lld, which is not in 0..%llu",
                              column + 1, (long long)value.integer, (unsigned long long)max);
    }
    *out = (uint64_t)value.integer;
    return UVEA_OK;
}

enum uvea_error uvea_sql_get_text(struct uvea_sql *sql, int column, const char **out,
                                  struct uvea_error_context *context)
{
    struct uvea_sql_value value;
    UVEA_TRY(typed(sql, column, UVEA_SQL_TEXT, &value, context));
    *out = value.type == UVEA_SQL_TEXT ? value.bytes : NULL;
    return UVEA_OK;
}

enum uvea_error uvea_sql_get_blob(struct uvea_sql *sql, int column, const uint8_t **out,
                                  size_t *count, struct uvea_error_context *context)
{
    struct uvea_sql_value value;
    UVEA_TRY(typed(sql, column, UVEA_SQL_BLOB, &value, context));
    *out = value.bytes;
    *count = value.count;
    return UVEA_OK;
}

// The comparison says only whether a disk kept what it was given.
enum uvea_error uvea_sql_check_sum(struct uvea_sql *sql, int column, int64_t sum, const char *what,
                                   struct uvea_error_context *context)
{
    struct uvea_sql_value value;
    UVEA_TRY(typed(sql, column, UVEA_SQL_INTEGER, &value, context));
    if (value.integer != sum) {
        return uvea_error_set(context, UVEA_ERR_STATE, "%s is not what was stored", what);
    }
    return UVEA_OK;
}
