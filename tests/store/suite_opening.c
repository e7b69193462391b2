// Opening, versions of the schema, several users, accidents.
#include "core/base/check.h"
#include "core/store/schema.h"
#include "tests/store/fixture.h"
#include "tests/store/life.h"
#include "tests/store/suite.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void new_place(struct fixture *fixture)
{
    fixture_stop(fixture);
    fixture->backend->place(fixture);
}

void everything_is_there_after_opening_again(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 3);
    fixture_ingest(fixture, 1, 2);
    fixture_complete(fixture, fixture_claim(fixture, 1, "uniqueness"), 1);
    for (int i = 0; i < 3; i++) {
        fixture_again(fixture);
        uint64_t count, serial_max;
        SUCCEED(fixture, uvea_store_count(fixture->store, &count, &serial_max, &fixture->context));
        assert_int_equal(count, 3);
        assert_int_equal(fixture_state(fixture).max_persisted, 1);
        assert_string_equal(list_modifications(fixture, 9),
                            "1:1:0:uniqueness:-:done:0:{\"n\":1}:- ");
    }
}

// ---- the schema

void newer_schema_is_refused_unwritten(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 1);
    fixture_stop(fixture);
    fixture->backend->raw(fixture, "INSERT INTO uvea_schema (version, applied_at) VALUES (99, 0)",
                          NULL);
    uint64_t before = fixture->backend->fingerprint(fixture);
    REFUSE(fixture, UVEA_ERR_FORMAT, fixture->backend->open(fixture));
    assert_non_null(strstr(fixture->context.text, "schema version 99"));
    assert_non_null(strstr(fixture->context.text, fixture->place));
    assert_int_equal(fixture->backend->fingerprint(fixture), before);
    fixture->backend->raw(fixture, "DELETE FROM uvea_schema WHERE version = 99", NULL);
    fixture_again(fixture);
}

void foreign_tables_are_refused_unwritten(void **state)
{
    struct fixture *fixture = *state;
    new_place(fixture);
    fixture->backend->raw(fixture, "CREATE TABLE other (x INTEGER)", NULL);
    uint64_t before = fixture->backend->fingerprint(fixture);
    REFUSE(fixture, UVEA_ERR_FORMAT, fixture->backend->open(fixture));
    assert_non_null(strstr(fixture->context.text, "not those of a party"));
    assert_int_equal(fixture->backend->fingerprint(fixture), before);
}

void older_schema_is_brought_up_to_date(void **state)
{
    struct fixture *fixture = *state;
    new_place(fixture);
    struct uvea_sql *sql;
    SUCCEED(fixture, fixture->backend->connect(fixture, &sql));
    SUCCEED(fixture, uvea_schema_migrate(sql, 1, 0, &fixture->context));
    sql->ops->close(sql);
    long long versions = 0;
    fixture->backend->raw(fixture, "SELECT count(*) FROM uvea_schema", &versions);
    assert_int_equal(versions, 1);
    fixture_again(fixture);
    SUCCEED(fixture, uvea_store_spectral_trim(fixture->store, 0, &fixture->context));
    fixture_insert(fixture, 1, 1);
    fixture_stop(fixture);
    fixture->backend->raw(fixture, "SELECT count(*) FROM uvea_schema", &versions);
    assert_int_equal(versions, UVEA_SCHEMA_VERSION);
}

// The sum of a row that has no batch.
static long long write_row(struct fixture *fixture)
{
    const struct uvea_modification write = {.id = 1, .type = "reauth", .result = "{}"};
    const struct uvea_store_repair repair = {.write = &write, .write_count = 1};
    long long sum = 0;
    SUCCEED(fixture, uvea_store_repair(fixture->store, &repair, &fixture->context));
    fixture_stop(fixture);
    fixture->backend->raw(fixture, "SELECT row_sum FROM modifications", &sum);
    return sum;
}

static enum uvea_error check_batch(void *arg, const struct uvea_store_result *result)
{
    uint64_t *count = arg;
    assert_int_equal(result->number, ++*count);
    assert_int_equal(result->batch, 0);
    return UVEA_OK;
}

void older_results_are_of_no_batch(void **state)
{
    struct fixture *fixture = *state;
    const long long sum = write_row(fixture);
    new_place(fixture);
    struct uvea_sql *sql;
    SUCCEED(fixture, fixture->backend->connect(fixture, &sql));
    SUCCEED(fixture, uvea_schema_migrate(sql, 2, 0, &fixture->context));
    sql->ops->close(sql);
    char row[300];
    (void)snprintf(row, sizeof(row),
                   "INSERT INTO modifications (id, request_type, status, persisted,"
                   " result_message_body, row_sum, created_at)"
                   " VALUES (1, 'reauth', 'COMPLETED', 0, '{}', %lld, 0)",
                   sum);
    fixture->backend->raw(fixture, row, NULL);
    fixture->backend->raw(fixture, "INSERT INTO results VALUES (1, 1, 0)", NULL);
    fixture_again(fixture);
    uint64_t count = 0;
    SUCCEED(fixture,
            uvea_store_results(fixture->store, 0, 9, check_batch, &count, &fixture->context));
    assert_int_equal(count, 1);
    assert_string_equal(list_modifications(fixture, 9), "1:0:0:reauth:-:done:0:{}:- ");
    fixture_ingest(fixture, 1, 1);
    assert_int_equal(fixture_claim(fixture, 1, "uniqueness"), 2);
}

// ---- other processes

// A child that runs fn; its exit status is what fn returns.
static pid_t in_child(int (*fn)(struct fixture *fixture, int pipe_end), struct fixture *fixture,
                      int pipe_end)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(fn(fixture, pipe_end));
    }
    return child;
}

static int status_of(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// Opens, says so, and closes when the other end of the pair is closed.
static int hold_open(struct fixture *fixture, int pipe_end)
{
    char byte = 'o';
    if (fixture->backend->open(fixture) != UVEA_OK || write(pipe_end, &byte, 1) != 1) {
        return 1;
    }
    while (read(pipe_end, &byte, 1) > 0) {
    }
    uvea_store_close(fixture->store);
    return 0;
}

void second_user_is_refused_by_name(void **state)
{
    struct fixture *fixture = *state;
    fixture_stop(fixture);
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    pid_t child = in_child(hold_open, fixture, pair[1]);
    char byte;
    assert_int_equal(read(pair[0], &byte, 1), 1);
    REFUSE(fixture, UVEA_ERR_IO, fixture->backend->open(fixture));
    assert_non_null(strstr(fixture->context.text, "in use by another process"));
    assert_int_equal(shutdown(pair[0], SHUT_RDWR), 0);
    assert_int_equal(status_of(child), 0);
    (void)close(pair[0]);
    (void)close(pair[1]);
    fixture_again(fixture);
}

static int open_and_close(struct fixture *fixture, int pipe_end)
{
    (void)pipe_end;
    if (fixture->backend->open(fixture) != UVEA_OK) {
        (void)fprintf(stderr, "%s\n", fixture->context.text);
        return 1;
    }
    uvea_store_close(fixture->store);
    return 0;
}

void migrators_at_once_all_succeed(void **state)
{
    struct fixture *fixture = *state;
    for (int round = 0; round < 5; round++) {
        new_place(fixture);
        pid_t children[3];
        for (size_t i = 0; i < 3; i++) {
            children[i] = in_child(open_and_close, fixture, -1);
            if (!fixture->backend->waits) { // refuses instead: one after the other
                assert_int_equal(status_of(children[i]), 0);
            }
        }
        for (size_t i = 0; i < 3 && fixture->backend->waits; i++) {
            assert_int_equal(status_of(children[i]), 0);
        }
        long long versions = 0;
        fixture->backend->raw(fixture, "SELECT count(*) FROM uvea_schema", &versions);
        assert_int_equal(versions, UVEA_SCHEMA_VERSION);
    }
}

// ---- threads

enum { THREADS = 4, MESSAGES = 25 };

struct worker {
    struct fixture *fixture;
    unsigned number;
    bool failed;
};

static void *work(void *arg)
{
    struct worker *worker = arg;
    for (unsigned i = 0; i < MESSAGES; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "%u-%u", worker->number, i);
        uint64_t sequence;
        uint64_t again;
        struct uvea_store *store = worker->fixture->store;
        worker->failed = worker->failed ||
                         uvea_store_topic_append(store, id, NULL, 0, &sequence, NULL) != UVEA_OK ||
                         uvea_store_topic_append(store, id, NULL, 0, &again, NULL) != UVEA_OK ||
                         again != sequence;
    }
    return NULL;
}

static enum uvea_error count_messages(void *arg, const struct uvea_store_message *message)
{
    uint64_t *count = arg;
    assert_int_equal(message->sequence, ++*count);
    return UVEA_OK;
}

void threads_take_turns(void **state)
{
    struct fixture *fixture = *state;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){fixture, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(workers[i].failed);
    }
    uint64_t count = 0;
    SUCCEED(fixture, uvea_store_topic_read(fixture->store, 0, SIZE_MAX, count_messages, &count,
                                           &fixture->context));
    assert_int_equal(count, THREADS * MESSAGES);
}

// ---- accidents

void failed_write_ends_the_store(void **state)
{
    struct fixture *fixture = *state;
    fixture_insert(fixture, 1, 1);
    fixture->backend->hurt(fixture, true);
    struct uvea_store_commit commit = {.inserts = &sample_make(2, 0)->record, .insert_count = 1};
    REFUSE(fixture, UVEA_ERR_IO, uvea_store_commit(fixture->store, &commit, &fixture->context));
    char first[sizeof(fixture->context.text)];
    (void)snprintf(first, sizeof(first), "%s", fixture->context.text);
    fixture->backend->hurt(fixture, false);
    uint64_t count, serial_max, sequence;
    REFUSE(fixture, UVEA_ERR_IO, uvea_store_commit(fixture->store, &commit, &fixture->context));
    REFUSE(fixture, UVEA_ERR_IO,
           uvea_store_count(fixture->store, &count, &serial_max, &fixture->context));
    assert_non_null(strstr(fixture->context.text, "must be opened again"));
    assert_non_null(strstr(fixture->context.text, first));
    REFUSE(fixture, UVEA_ERR_IO,
           uvea_store_topic_append(fixture->store, "m", NULL, 0, &sequence, &fixture->context));
    fixture_again(fixture);
    SUCCEED(fixture, uvea_store_count(fixture->store, &count, &serial_max, &fixture->context));
    assert_true(count == 1 || count == 2);
    fixture_insert(fixture, (uint32_t)count + 1, 1);
}

// The commit was sent, and the answer is that the connection is gone.
void failed_commit_ends_the_store(void **state)
{
    struct fixture *fixture = *state;
    if (fixture->backend->hurt_commit == NULL) {
        skip();
        return;
    }
    uint64_t sequence = 0;
    fixture->backend->hurt_commit(fixture, true);
    REFUSE(fixture, UVEA_ERR_IO,
           uvea_store_topic_append(fixture->store, "m", NULL, 0, &sequence, &fixture->context));
    REFUSE(fixture, UVEA_ERR_IO,
           uvea_store_topic_append(fixture->store, "m", NULL, 0, &sequence, &fixture->context));
    assert_non_null(strstr(fixture->context.text, "must be opened again"));
    assert_int_equal(sequence, 0);
    fixture->backend->hurt_commit(fixture, false);
    fixture_again(fixture);
    SUCCEED(fixture,
            uvea_store_topic_append(fixture->store, "m", NULL, 0, &sequence, &fixture->context));
    assert_int_equal(sequence, 1);
}

// Goes on from where it finds the store, a byte for each step that has returned.
static int live(struct fixture *fixture, int pipe_end)
{
    if (fixture->backend->open(fixture) != UVEA_OK) {
        return 1;
    }
    struct life_progress progress;
    SUCCEED(fixture, life_look(fixture, &progress));
    for (uint64_t step = life_steps(&progress);; step++) {
        SUCCEED(fixture, life_step(fixture, step));
        if (write(pipe_end, "s", 1) != 1) {
            return 1;
        }
    }
}

void killed_process_loses_nothing_acknowledged(void **state)
{
    struct fixture *fixture = *state;
    enum { LIVES = 40 };
    uint64_t steps = 0;
    for (unsigned life = 0; life < LIVES; life++) {
        fixture_stop(fixture);
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = in_child(live, fixture, ends[1]);
        (void)close(ends[1]);
        char byte;
        for (unsigned i = 0; i < life % 7; i++) {
            assert_int_equal(read(ends[0], &byte, 1), 1);
            steps++;
        }
        for (volatile unsigned spin = 0; spin < life * 7919u % 200000u; spin++) {
        }
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        while (read(ends[0], &byte, 1) == 1) {
            steps++;
        }
        (void)close(ends[0]);
        SUCCEED(fixture, fixture->backend->open(fixture));
        struct life_progress progress;
        SUCCEED(fixture, life_look(fixture, &progress));
        uint64_t found = life_steps(&progress);
        assert_true(found == steps || found == steps + 1); // the last may have been done unsaid
        steps = found;
    }
    assert_true(steps >= LIVES);
}
