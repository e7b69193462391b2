// Private to `uvea sweep`: one table of runs, in SQLite or PostgreSQL, shared by sweeps that go on
// at the same time or one after the other.
#ifndef UVEA_SIM_CMD_SWEEP_DB_H
#define UVEA_SIM_CMD_SWEEP_DB_H

#include "core/base/error.h"
#include "sim/world/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UVEA_SWEEP_CONTENT_CHARS = 64 };

// What two runs with one seed must have in common to come to the same.
struct uvea_sweep_key {
    const char *build;
    const char *content;   // of the scenario, as a hash
    const char *overrides; // owned
};

struct uvea_sweep_run {
    uint64_t seed;
    bool twice;
    uint64_t wall_ms;
    struct uvea_world_result result; // of what the database keeps
};

struct uvea_sweep_db;

// where: a file, or a URL that begins with postgres:// or postgresql://. Makes the table when there
// is none. IO: the database said no, with what it said.
UVEA_MUST_USE enum uvea_error uvea_sweep_db_open(const char *where, struct uvea_sweep_db **db,
                                                 struct uvea_error_context *context);
void uvea_sweep_db_close(struct uvea_sweep_db *db);

typedef enum uvea_error uvea_sweep_run_fn(void *arg, const struct uvea_sweep_run *run);

// The recorded runs with seeds first..last. An error of fn ends the call and becomes its result.
UVEA_MUST_USE enum uvea_error uvea_sweep_db_load(struct uvea_sweep_db *db,
                                                 const struct uvea_sweep_key *key, uint64_t first,
                                                 uint64_t last, uvea_sweep_run_fn *fn, void *arg,
                                                 struct uvea_error_context *context);

// Inserts or replaces; durable when it returns. file: for people.
UVEA_MUST_USE enum uvea_error uvea_sweep_db_save(struct uvea_sweep_db *db,
                                                 const struct uvea_sweep_key *key, const char *file,
                                                 const struct uvea_sweep_run *run,
                                                 struct uvea_error_context *context);

// ---- what a back end does: statements with text parameters $1, $2, ... (each once, in order),
// rows of texts (NULL: an SQL null)

typedef enum uvea_error uvea_sweep_row_fn(void *arg, const char *const *columns, size_t count,
                                          struct uvea_error_context *context);

struct uvea_sweep_backend {
    enum uvea_error (*query)(void *self, const char *sql, const char *const *params, size_t count,
                             uvea_sweep_row_fn *fn, void *arg, struct uvea_error_context *context);
    void (*close)(void *self);
    void *self;
};

UVEA_MUST_USE enum uvea_error uvea_sweep_sqlite_open(const char *path,
                                                     struct uvea_sweep_backend *backend,
                                                     struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_sweep_postgres_open(const char *url,
                                                       struct uvea_sweep_backend *backend,
                                                       struct uvea_error_context *context);

#endif
