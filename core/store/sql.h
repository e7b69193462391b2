// The thin layer under the store: what it asks of a database library, and the same calls for both.
// Everything else, the SQL included, is written once on top of it.
//
// A connection runs one statement at a time. What a started statement was given must stay good
// until it is finished; what a column gave is good until the next step.
//
// Errors: IO the back end failed, and the connection is `broken` from then on; MEMORY; STATE a
// constraint of the schema was violated. After the last two the transaction can only be rolled
// back.
#ifndef UVEA_CORE_STORE_SQL_H
#define UVEA_CORE_STORE_SQL_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/store/statements.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum uvea_sql_type {
    UVEA_SQL_NULL,
    UVEA_SQL_INTEGER,
    UVEA_SQL_TEXT, // UTF-8; NUL behind it
    UVEA_SQL_BLOB,
};

struct uvea_sql_value {
    enum uvea_sql_type type;
    int64_t integer;
    const void *bytes; // of a text or a blob
    size_t count;
};

struct uvea_sql_value uvea_sql_integer(int64_t integer);
struct uvea_sql_value uvea_sql_text(const char *text); // NULL gives NULL
struct uvea_sql_value uvea_sql_blob(const void *bytes, size_t count);
struct uvea_sql_value uvea_sql_null(void);

// The words in braces that the schema and the statements use where the two languages differ.
struct uvea_sql_dialect {
    const char *integer; // {int}
    const char *blob;    // {blob}
    const char *key;     // {key}: text that is ordered by its bytes
    const char *strict;  // {strict}: behind a table whose columns hold their type only
    const char *catalog; // {catalog}: the tables there are, with their `name`
};

struct uvea_sql;

struct uvea_sql_ops {
    const struct uvea_sql_dialect *dialect;
    // Whole statements without parameters whose rows do not matter.
    enum uvea_error (*run)(struct uvea_sql *sql, const char *text,
                           struct uvea_error_context *context);
    enum uvea_error (*begin)(struct uvea_sql *sql, struct uvea_error_context *context);
    // Any failure is IO: the effect is unknown.
    enum uvea_error (*commit)(struct uvea_sql *sql, struct uvea_error_context *context);
    // After a failure; its own leaves the connection broken.
    void (*rollback)(struct uvea_sql *sql);
    enum uvea_error (*start)(struct uvea_sql *sql, enum uvea_sql_statement statement,
                             const struct uvea_sql_value *values, size_t count,
                             struct uvea_error_context *context);
    // *row: there is a row to look at; otherwise the statement has run and *changes says how many
    // rows it changed.
    enum uvea_error (*step)(struct uvea_sql *sql, bool *row, int64_t *changes,
                            struct uvea_error_context *context);
    enum uvea_error (*column)(struct uvea_sql *sql, int column, struct uvea_sql_value *value,
                              struct uvea_error_context *context);
    // Ends the started statement, if there is one.
    void (*finish)(struct uvea_sql *sql);
    void (*close)(struct uvea_sql *sql);
};

struct uvea_sql {
    const struct uvea_sql_ops *ops;
    bool broken;
    struct uvea_error_context failure; // what broke it
};

// Marks the connection broken and gives IO with the sentence.
UVEA_MUST_USE UVEA_PRINTF(3, 4) enum uvea_error
    uvea_sql_break(struct uvea_sql *sql, struct uvea_error_context *context, const char *format,
                   ...);

// Appends text with the dialect's words in place of those in braces, and a NUL that len counts.
UVEA_MUST_USE enum uvea_error uvea_sql_expand(const struct uvea_sql_dialect *dialect,
                                              const char *text, struct uvea_buf *out);

// For example "RECORD_INSERT"; its SQL; its parameters, a letter each: i, t or b.
const char *uvea_sql_statement_name(enum uvea_sql_statement statement);
const char *uvea_sql_statement_text(enum uvea_sql_statement statement);
const char *uvea_sql_statement_types(enum uvea_sql_statement statement);

// ---- running statements. The values are an array literal.

#define UVEA_SQL_VALUES(...)                                                                       \
    (const struct uvea_sql_value[]){__VA_ARGS__},                                                  \
        sizeof((const struct uvea_sql_value[]){__VA_ARGS__}) / sizeof(struct uvea_sql_value)

// Runs a statement to its end; *changes (may be NULL) is the number of rows it changed.
UVEA_MUST_USE enum uvea_error uvea_sql_execute(struct uvea_sql *sql,
                                               enum uvea_sql_statement statement,
                                               const struct uvea_sql_value *values, size_t count,
                                               int64_t *changes,
                                               struct uvea_error_context *context);

// The integer of the first column of the first row; *found says whether there is one.
UVEA_MUST_USE enum uvea_error uvea_sql_find(struct uvea_sql *sql, enum uvea_sql_statement statement,
                                            const struct uvea_sql_value *values, size_t count,
                                            bool *found, int64_t *integer,
                                            struct uvea_error_context *context);

// Sees one row; an error ends the statement and becomes its result.
typedef enum uvea_error uvea_sql_row_fn(struct uvea_sql *sql, void *arg,
                                        struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_sql_each(struct uvea_sql *sql, enum uvea_sql_statement statement,
                                            const struct uvea_sql_value *values, size_t count,
                                            uvea_sql_row_fn *fn, void *arg,
                                            struct uvea_error_context *context);

// ---- columns of the row a statement stands on. STATE: it is of another type, or out of 0..max.

UVEA_MUST_USE enum uvea_error uvea_sql_get_unsigned(struct uvea_sql *sql, int column, uint64_t max,
                                                    uint64_t *out,
                                                    struct uvea_error_context *context);
// *out is NULL for NULL.
UVEA_MUST_USE enum uvea_error uvea_sql_get_text(struct uvea_sql *sql, int column, const char **out,
                                                struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_sql_get_blob(struct uvea_sql *sql, int column,
                                                const uint8_t **out, size_t *count,
                                                struct uvea_error_context *context);

// STATE, naming what, when the column does not hold this sum.
UVEA_MUST_USE enum uvea_error uvea_sql_check_sum(struct uvea_sql *sql, int column, int64_t sum,
                                                 const char *what,
                                                 struct uvea_error_context *context);

// ---- connections

UVEA_MUST_USE enum uvea_error uvea_sql_open_sqlite(const char *path, const char *vfs,
                                                   struct uvea_sql **sql,
                                                   struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_sql_open_postgres(const char *url, const char *schema,
                                                     struct uvea_sql **sql,
                                                     struct uvea_error_context *context);

#endif
