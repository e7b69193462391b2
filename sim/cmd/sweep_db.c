#include "sim/cmd/sweep_db.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct uvea_sweep_db {
    struct uvea_sweep_backend backend;
};

// ---- columns. Seeds are below 2^63, so that BIGINT holds them.

#define KEY_COLUMNS "build, scenario, overrides, seed"
#define NUMBERS(X)                                                                                 \
    X(twice, run->twice)                                                                           \
    X(wall_ms, run->wall_ms)                                                                       \
    X(sim_ms, result->sim_ns / 1000000)                                                            \
    X(hostile, result->hostile)                                                                    \
    X(requests, result->requests)                                                                  \
    X(responses, result->responses)                                                                \
    X(disagreements, result->disagreements)                                                        \
    X(mismatches, result->mismatches)                                                              \
    X(restarts, result->restarts)                                                                  \
    X(batches, result->batches)                                                                    \
    X(errors, result->errors)                                                                      \
    X(steps, result->steps)                                                                        \
    X(events, result->events)

#define NUMBER_ENUM(name, value) NUMBER_##name,
enum number { NUMBERS(NUMBER_ENUM) NUMBER_COUNT };

#define NUMBER_DECLARATION(name, value) #name " BIGINT NOT NULL, "
#define NUMBER_NAME(name, value) #name ", "
#define NUMBER_UPDATE(name, value) #name "=excluded." #name ", "

enum {
    TEXT_VERDICT,
    TEXT_REASON,
    TEXT_HASH,
    TEXT_ANSWERS_HASH,
    TEXT_FAULTS,
    TEXT_MARKS,
    TEXT_COUNT,
    KEY_COUNT = 4,
    NUMBER_CHARS_MAX = 24,
    HASH_CHARS = 2 * UVEA_SIM_HASH_BYTES,
};

static const char make_table[] =
    "CREATE TABLE IF NOT EXISTS uvea_runs("
    "build TEXT NOT NULL, scenario TEXT NOT NULL, overrides TEXT NOT NULL, seed BIGINT NOT NULL, "
    "file TEXT NOT NULL, " NUMBERS(
        NUMBER_DECLARATION) "verdict TEXT NOT NULL, reason TEXT NOT NULL, hash TEXT NOT NULL, "
                            "answers_hash TEXT NOT NULL, "
                            "faults TEXT NOT NULL, marks TEXT NOT NULL, PRIMARY KEY(" KEY_COLUMNS
                            "))";

static const char insert_run[] = "INSERT INTO uvea_runs(" KEY_COLUMNS ", file, " NUMBERS(
    NUMBER_NAME) "verdict, reason, hash, answers_hash, faults, marks) "
                 "VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,"
                 "$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24) "
                 "ON CONFLICT(" KEY_COLUMNS ") DO UPDATE SET file=excluded.file, " NUMBERS(
                     NUMBER_UPDATE) "verdict=excluded.verdict, reason=excluded.reason, "
                                    "hash=excluded.hash, "
                                    "answers_hash=excluded.answers_hash, faults=excluded.faults, "
                                    "marks=excluded.marks";
_Static_assert(KEY_COUNT + 1 + NUMBER_COUNT + TEXT_COUNT == 24, "parameters of insert_run");

static const char select_runs[] = "SELECT seed, " NUMBERS(
    NUMBER_NAME) "verdict, reason, hash, answers_hash, faults, marks "
                 "FROM uvea_runs WHERE build=$1 AND scenario=$2 AND overrides=$3 AND "
                 "seed BETWEEN CAST($4 AS BIGINT) AND CAST($5 AS BIGINT) ORDER BY seed";

// ---- opening

static bool is_postgres(const char *where)
{
    return strncmp(where, "postgres://", 11) == 0 || strncmp(where, "postgresql://", 13) == 0;
}

static enum uvea_error execute(struct uvea_sweep_db *db, const char *sql,
                               struct uvea_error_context *context)
{
    return db->backend.query(db->backend.self, sql, NULL, 0, NULL, NULL, context);
}

// Several sweeps that make one table at the same time get in each other's way in PostgreSQL.
static enum uvea_error prepare(struct uvea_sweep_db *db, bool lock,
                               struct uvea_error_context *context)
{
    if (lock) {
        UVEA_TRY(execute(db, "SELECT pg_advisory_lock(7563656101)", context));
    }
    UVEA_TRY(execute(db, make_table, context));
    return lock ? execute(db, "SELECT pg_advisory_unlock(7563656101)", context) : UVEA_OK;
}

enum uvea_error uvea_sweep_db_open(const char *where, struct uvea_sweep_db **db,
                                   struct uvea_error_context *context)
{
    struct uvea_sweep_db *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    bool postgres = is_postgres(where);
    enum uvea_error error = postgres ? uvea_sweep_postgres_open(where, &made->backend, context)
                                     : uvea_sweep_sqlite_open(where, &made->backend, context);
    if (error == UVEA_OK) {
        error = prepare(made, postgres, context);
    }
    if (error != UVEA_OK) {
        uvea_sweep_db_close(made);
        return error;
    }
    *db = made;
    return UVEA_OK;
}

void uvea_sweep_db_close(struct uvea_sweep_db *db)
{
    if (db == NULL) {
        return;
    }
    if (db->backend.close != NULL) {
        db->backend.close(db->backend.self);
    }
    uvea_mem_free(db);
}

// ---- counts as JSON: what is zero is left out

static const char *phase_text(unsigned phase)
{
    return phase == UVEA_PHASE_NONE ? "none" : uvea_point_text((enum uvea_point)phase);
}

static void put_count(json_t *object, const char *name, uint64_t count)
{
    if (count > 0) {
        (void)json_object_set_new(object, name, json_integer((json_int_t)count));
    }
}

static uint64_t get_count(const json_t *object, const char *name)
{
    json_int_t count = json_integer_value(json_object_get(object, name));
    return count > 0 ? (uint64_t)count : 0;
}

static json_t *faults_json(const struct uvea_world_result *result)
{
    json_t *faults = json_object();
    for (unsigned family = 0; family < UVEA_FAMILY_COUNT; family++) {
        json_t *phases = json_object();
        for (unsigned phase = 0; phase < UVEA_PHASE_COUNT; phase++) {
            put_count(phases, phase_text(phase), result->faults[family][phase]);
        }
        if (json_object_size(phases) > 0) {
            (void)json_object_set(faults, uvea_family_text((enum uvea_family)family), phases);
        }
        json_decref(phases);
    }
    return faults;
}

static json_t *marks_json(const struct uvea_world_result *result)
{
    json_t *marks = json_object();
    for (unsigned point = 0; point < UVEA_POINT_COUNT; point++) {
        put_count(marks, uvea_point_text((enum uvea_point)point), result->points[point]);
    }
    for (unsigned mark = 0; mark < UVEA_MARK_COUNT; mark++) {
        put_count(marks, uvea_mark_text((enum uvea_mark)mark), result->marks[mark]);
    }
    return marks;
}

// Takes the object over.
static enum uvea_error dump(json_t *object, char *text, size_t size)
{
    size_t len = object == NULL ? size : json_dumpb(object, text, size - 1, JSON_COMPACT);
    json_decref(object);
    if (len == 0 || len >= size) {
        return UVEA_ERR_MEMORY;
    }
    text[len] = '\0';
    return UVEA_OK;
}

static void read_faults(const json_t *faults, struct uvea_world_result *result)
{
    for (unsigned family = 0; family < UVEA_FAMILY_COUNT; family++) {
        const json_t *phases = json_object_get(faults, uvea_family_text((enum uvea_family)family));
        for (unsigned phase = 0; phase < UVEA_PHASE_COUNT; phase++) {
            result->faults[family][phase] = get_count(phases, phase_text(phase));
        }
    }
}

static void read_marks(const json_t *marks, struct uvea_world_result *result)
{
    for (unsigned point = 0; point < UVEA_POINT_COUNT; point++) {
        result->points[point] = get_count(marks, uvea_point_text((enum uvea_point)point));
    }
    for (unsigned mark = 0; mark < UVEA_MARK_COUNT; mark++) {
        result->marks[mark] = get_count(marks, uvea_mark_text((enum uvea_mark)mark));
    }
}

// ---- saving

struct texts {
    char seed[NUMBER_CHARS_MAX];
    char numbers[NUMBER_COUNT][NUMBER_CHARS_MAX];
    char hash[HASH_CHARS + 1];
    char answers_hash[HASH_CHARS + 1];
    char faults[16384];
    char marks[4096];
};

static void hex(const uint8_t hash[UVEA_SIM_HASH_BYTES], char text[HASH_CHARS + 1])
{
    for (unsigned i = 0; i < UVEA_SIM_HASH_BYTES; i++) {
        (void)snprintf(text + 2 * (size_t)i, 3, "%02x", hash[i]);
    }
}

static enum uvea_error put_texts(const struct uvea_sweep_run *run, struct texts *texts)
{
    const struct uvea_world_result *result = &run->result;
#define NUMBER_VALUE(name, value) (uint64_t)(value),
    const uint64_t numbers[] = {NUMBERS(NUMBER_VALUE)};
#undef NUMBER_VALUE
    (void)snprintf(texts->seed, sizeof(texts->seed), "%" PRIu64, run->seed);
    for (unsigned i = 0; i < NUMBER_COUNT; i++) {
        (void)snprintf(texts->numbers[i], sizeof(texts->numbers[i]), "%" PRIu64, numbers[i]);
    }
    hex(result->hash, texts->hash);
    hex(result->answers_hash, texts->answers_hash);
    UVEA_TRY(dump(faults_json(result), texts->faults, sizeof(texts->faults)));
    return dump(marks_json(result), texts->marks, sizeof(texts->marks));
}

enum uvea_error uvea_sweep_db_save(struct uvea_sweep_db *db, const struct uvea_sweep_key *key,
                                   const char *file, const struct uvea_sweep_run *run,
                                   struct uvea_error_context *context)
{
    struct texts *texts = uvea_mem_alloc(1, sizeof(*texts));
    if (texts == NULL) {
        return UVEA_ERR_MEMORY;
    }
    enum uvea_error error;
    const char *params[KEY_COUNT + 1 + NUMBER_COUNT + TEXT_COUNT];
    size_t count = 0;
    UVEA_TRY_CLEANUP(put_texts(run, texts));
    params[count++] = key->build;
    params[count++] = key->content;
    params[count++] = key->overrides;
    params[count++] = texts->seed;
    params[count++] = file;
    for (unsigned i = 0; i < NUMBER_COUNT; i++) {
        params[count++] = texts->numbers[i];
    }
    params[count++] = uvea_verdict_text(run->result.verdict);
    params[count++] = run->result.reason;
    params[count++] = texts->hash;
    params[count++] = texts->answers_hash;
    params[count++] = texts->faults;
    params[count++] = texts->marks;
    UVEA_TRY_CLEANUP(
        db->backend.query(db->backend.self, insert_run, params, count, NULL, NULL, context));
cleanup:
    uvea_mem_free(texts);
    return error;
}

// ---- loading

struct loading {
    uvea_sweep_run_fn *fn;
    void *arg;
};

static enum uvea_error bad_row(struct uvea_error_context *context)
{
    return uvea_error_set(context, UVEA_ERR_FORMAT,
                          "the sweep's database: a row is not one of this program's");
}

static bool parse_number(const char *text, uint64_t *out)
{
    char *end = NULL;
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static bool find_verdict(const char *text, enum uvea_verdict *out)
{
    for (int verdict = UVEA_VERDICT_PASS; verdict <= UVEA_VERDICT_DIFFERS; verdict++) {
        if (strcmp(uvea_verdict_text((enum uvea_verdict)verdict), text) == 0) {
            *out = (enum uvea_verdict)verdict;
            return true;
        }
    }
    return false;
}

static bool read_numbers(const char *const *columns, struct uvea_sweep_run *run)
{
    uint64_t numbers[NUMBER_COUNT];
    for (unsigned i = 0; i < NUMBER_COUNT; i++) {
        if (!parse_number(columns[i], &numbers[i])) {
            return false;
        }
    }
    run->twice = numbers[NUMBER_twice] != 0;
    run->wall_ms = numbers[NUMBER_wall_ms];
    run->result.sim_ns = numbers[NUMBER_sim_ms] * 1000000;
    run->result.hostile = numbers[NUMBER_hostile] != 0;
    run->result.requests = numbers[NUMBER_requests];
    run->result.responses = numbers[NUMBER_responses];
    run->result.disagreements = numbers[NUMBER_disagreements];
    run->result.mismatches = numbers[NUMBER_mismatches];
    run->result.restarts = numbers[NUMBER_restarts];
    run->result.batches = numbers[NUMBER_batches];
    run->result.errors = numbers[NUMBER_errors];
    run->result.steps = numbers[NUMBER_steps];
    run->result.events = numbers[NUMBER_events];
    return true;
}

static bool read_texts(const char *const *columns, struct uvea_world_result *result)
{
    for (unsigned i = 0; i < TEXT_COUNT; i++) {
        if (columns[i] == NULL) {
            return false;
        }
    }
    json_t *faults = json_loads(columns[TEXT_FAULTS], 0, NULL);
    json_t *marks = json_loads(columns[TEXT_MARKS], 0, NULL);
    bool good = json_is_object(faults) && json_is_object(marks) &&
                find_verdict(columns[TEXT_VERDICT], &result->verdict);
    if (good) {
        (void)snprintf(result->reason, sizeof(result->reason), "%s", columns[TEXT_REASON]);
        read_faults(faults, result);
        read_marks(marks, result);
    }
    json_decref(faults);
    json_decref(marks);
    return good;
}

static enum uvea_error see_row(void *arg, const char *const *columns, size_t count,
                               struct uvea_error_context *context)
{
    const struct loading *loading = arg;
    struct uvea_sweep_run run = {.seed = 0};
    if (count != 1 + NUMBER_COUNT + TEXT_COUNT || !parse_number(columns[0], &run.seed) ||
        !read_numbers(columns + 1, &run) || !read_texts(columns + 1 + NUMBER_COUNT, &run.result)) {
        return bad_row(context);
    }
    return loading->fn(loading->arg, &run);
}

enum uvea_error uvea_sweep_db_load(struct uvea_sweep_db *db, const struct uvea_sweep_key *key,
                                   uint64_t first, uint64_t last, uvea_sweep_run_fn *fn, void *arg,
                                   struct uvea_error_context *context)
{
    char from[NUMBER_CHARS_MAX];
    char to[NUMBER_CHARS_MAX];
    struct loading loading = {.fn = fn, .arg = arg};
    (void)snprintf(from, sizeof(from), "%" PRIu64, first);
    (void)snprintf(to, sizeof(to), "%" PRIu64, last);
    const char *params[] = {key->build, key->content, key->overrides, from, to};
    return db->backend.query(db->backend.self, select_runs, params, UVEA_COUNT_OF(params), see_row,
                             &loading, context);
}
