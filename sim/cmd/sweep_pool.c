// The runs of a sweep, several at a time.

#include "core/base/mem.h"
#include "sim/cmd/interrupt.h"
#include "sim/cmd/sweep.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAKE_MS = 200 };

struct worker {
    bool busy;
    bool killed; // took too long
    bool second; // the run is repeated, twice in one process
    size_t file;
    uint64_t slot;
    uint64_t started_ns;
    struct uvea_run_child child;
    struct uvea_sweep_run run; // of the first time
};

struct pool {
    struct uvea_sweep *sweep;
    struct worker *workers;
    struct pollfd *polls;
    size_t count;
    size_t running;
    uint64_t next_slot; // seeds go slowest, so that early on every file is met
    size_t next_file;
    bool visible; // standard error is a terminal
    uint64_t printed_ns;
    enum uvea_error error; // the first; nothing is started after it
    struct uvea_error_context *context;
};

uint64_t uvea_sweep_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

// Which seeds: a matter of the pair alone, so that a resumed sweep and every shard agree.
bool uvea_sweep_twice(const struct uvea_sweep *sweep, size_t file, uint64_t seed)
{
    uint64_t mixed = seed * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < 16; i++) {
        mixed = (mixed ^ (uint64_t)sweep->files[file].content[i]) * UINT64_C(0xff51afd7ed558ccd);
        mixed ^= mixed >> 32;
    }
    return mixed % 100 < sweep->arguments.twice_percent;
}

static void keep_error(struct pool *pool, enum uvea_error error,
                       const struct uvea_error_context *said)
{
    if (pool->error == UVEA_OK) {
        pool->error = error;
        *pool->context = *said;
    }
}

// ---- starting

static bool next_pair(struct pool *pool)
{
    const struct uvea_sweep *sweep = pool->sweep;
    while (pool->next_slot < sweep->slot_count) {
        if (!sweep->files[pool->next_file].slots[pool->next_slot].done) {
            return true;
        }
        if (++pool->next_file == sweep->arguments.file_count) {
            pool->next_file = 0;
            pool->next_slot++;
        }
    }
    return false;
}

static void step_over_pair(struct pool *pool)
{
    if (++pool->next_file == pool->sweep->arguments.file_count) {
        pool->next_file = 0;
        pool->next_slot++;
    }
}

static void start(struct pool *pool, struct worker *worker)
{
    struct uvea_sweep *sweep = pool->sweep;
    struct uvea_scenario *scenario = &sweep->files[worker->file].scenario;
    struct uvea_run_arguments arguments = uvea_sweep_run_arguments(sweep, worker->file);
    struct uvea_error_context said = {.text = ""};
    arguments.twice = worker->second;
    scenario->options[UVEA_OPTION_root_seed] = uvea_sweep_seed(sweep, worker->slot);
    uvea_sweep_set_step(sweep, worker->file, worker->slot);
    enum uvea_error error = uvea_run_start(&arguments, scenario, &worker->child, &said);
    if (error != UVEA_OK) {
        keep_error(pool, error, &said);
        return;
    }
    worker->busy = true;
    worker->killed = false;
    worker->started_ns = uvea_sweep_now_ns();
    pool->running++;
}

static void start_free(struct pool *pool)
{
    for (size_t i = 0; i < pool->count && pool->error == UVEA_OK; i++) {
        struct worker *worker = &pool->workers[i];
        if (worker->busy || !next_pair(pool)) {
            continue;
        }
        *worker = (struct worker){.file = pool->next_file, .slot = pool->next_slot};
        step_over_pair(pool);
        start(pool, worker);
    }
}

// ---- finishing

static void set_verdict(struct uvea_world_result *result, enum uvea_verdict verdict,
                        const char *reason)
{
    result->verdict = verdict;
    (void)snprintf(result->reason, sizeof(result->reason), "%s", reason);
}

// What a worker's run came to; an error only when the sweep cannot go on.
static enum uvea_error take_report(struct pool *pool, struct worker *worker,
                                   struct uvea_world_result *result,
                                   struct uvea_error_context *said)
{
    struct uvea_run_report report;
    uvea_run_finish(&worker->child, &report);
    *result = report.result;
    if (worker->killed) {
        char reason[96];
        (void)snprintf(reason, sizeof(reason), "no result after %llu s of real time",
                       (unsigned long long)pool->sweep->arguments.limit_s);
        *result = (struct uvea_world_result){.verdict = UVEA_VERDICT_RESOURCE_LIMIT};
        set_verdict(result, UVEA_VERDICT_RESOURCE_LIMIT, reason);
    } else if (report.error == UVEA_ERR_MEMORY) {
        *result = (struct uvea_world_result){.verdict = UVEA_VERDICT_RESOURCE_LIMIT};
        set_verdict(result, UVEA_VERDICT_RESOURCE_LIMIT, uvea_error_text(report.error));
    } else if (report.error != UVEA_OK) {
        return uvea_error_set(
            said, report.error, "%.200s, seed %llu: %.250s", pool->sweep->files[worker->file].path,
            (unsigned long long)uvea_sweep_seed(pool->sweep, worker->slot),
            report.context.text[0] != '\0' ? report.context.text : uvea_error_text(report.error));
    }
    return UVEA_OK;
}

// A second process repeated the run twice: it has compared its two runs event by event, and its
// hash must be that of the first process.
static void compare(struct uvea_world_result *first, const struct uvea_world_result *second)
{
    if (second->verdict == UVEA_VERDICT_DIFFERS || second->verdict == UVEA_VERDICT_RESOURCE_LIMIT) {
        set_verdict(first, second->verdict, second->reason);
    } else if (second->verdict != first->verdict ||
               memcmp(second->hash, first->hash, sizeof(first->hash)) != 0 ||
               memcmp(second->answers_hash, first->answers_hash, sizeof(first->answers_hash)) !=
                   0) {
        set_verdict(first, UVEA_VERDICT_DIFFERS, "a second process came to another hash");
    }
}

static void say_failure(const struct pool *pool, const struct worker *worker)
{
    const struct uvea_world_result *result = &worker->run.result;
    if (result->verdict == UVEA_VERDICT_PASS || result->verdict == UVEA_VERDICT_SKIPPED) {
        return;
    }
    if (pool->visible) {
        uvea_sweep_print_progress(pool->sweep, pool->running, true);
    }
    char step[UVEA_SWEEP_STEP_CHARS] = "";
    if (uvea_sweep_by_steps(pool->sweep)) {
        (void)snprintf(step, sizeof(step), " step %llu",
                       (unsigned long long)uvea_sweep_step(pool->sweep, worker->slot));
    }
    (void)fprintf(stderr, "%s seed %llu%s: %s: %s\n", pool->sweep->files[worker->file].path,
                  (unsigned long long)worker->run.seed, step, uvea_verdict_text(result->verdict),
                  result->reason);
}

static enum uvea_error record(struct pool *pool, const struct worker *worker,
                              struct uvea_error_context *said)
{
    struct uvea_sweep *sweep = pool->sweep;
    UVEA_TRY(uvea_sweep_count(sweep, worker->file, worker->slot, &worker->run, false));
    if (sweep->db == NULL) {
        return UVEA_OK;
    }
    struct uvea_sweep_key key;
    UVEA_TRY(uvea_sweep_key(sweep, worker->file, &key, said));
    enum uvea_error error =
        uvea_sweep_db_save(sweep->db, &key, sweep->files[worker->file].path, &worker->run, said);
    uvea_mem_free((char *)key.overrides);
    return error;
}

static void finish(struct pool *pool, struct worker *worker)
{
    struct uvea_error_context said = {.text = ""};
    struct uvea_world_result result;
    worker->busy = false;
    pool->running--;
    enum uvea_error error = take_report(pool, worker, &result, &said);
    if (error != UVEA_OK) {
        keep_error(pool, error, &said);
        return;
    }
    worker->run.seed = uvea_sweep_seed(pool->sweep, worker->slot);
    if (worker->second) {
        compare(&worker->run.result, &result);
        worker->run.twice = true;
    } else {
        worker->run.result = result;
        worker->run.wall_ms = (uvea_sweep_now_ns() - worker->started_ns) / 1000000;
        if (result.verdict == UVEA_VERDICT_PASS && pool->error == UVEA_OK &&
            uvea_sweep_twice(pool->sweep, worker->file,
                             worker->run.seed + uvea_sweep_step(pool->sweep, worker->slot))) {
            worker->second = true;
            start(pool, worker);
            return;
        }
    }
    say_failure(pool, worker);
    error = record(pool, worker, &said);
    if (error != UVEA_OK) {
        keep_error(pool, error, &said);
    }
}

// ---- waiting

static void kill_overdue(struct pool *pool)
{
    uint64_t limit_ns = pool->sweep->arguments.limit_s * UINT64_C(1000000000);
    uint64_t now_ns = uvea_sweep_now_ns();
    for (size_t i = 0; limit_ns > 0 && i < pool->count; i++) {
        struct worker *worker = &pool->workers[i];
        uint64_t allowed_ns = worker->second ? 2 * limit_ns : limit_ns;
        if (worker->busy && !worker->killed && now_ns - worker->started_ns > allowed_ns) {
            worker->killed = true;
            (void)kill(worker->child.pid, SIGKILL);
        }
    }
}

// Runs under way are given up; they can be had again.
static void abandon(struct pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        if (pool->workers[i].busy) {
            (void)kill(pool->workers[i].child.pid, SIGKILL);
        }
    }
    for (size_t i = 0; i < pool->count; i++) {
        struct uvea_run_report report;
        if (pool->workers[i].busy) {
            uvea_run_finish(&pool->workers[i].child, &report);
            pool->workers[i].busy = false;
        }
    }
    pool->running = 0;
}

static void show_progress(struct pool *pool)
{
    uint64_t now_ns = uvea_sweep_now_ns();
    if (pool->visible && now_ns - pool->printed_ns >= WAKE_MS * UINT64_C(1000000)) {
        pool->printed_ns = now_ns;
        uvea_sweep_print_progress(pool->sweep, pool->running, false);
    }
}

static void wait_for_some(struct pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        const struct worker *worker = &pool->workers[i];
        pool->polls[i] =
            (struct pollfd){.fd = worker->busy ? worker->child.fd : -1, .events = POLLIN};
    }
    int ready = poll(pool->polls, (nfds_t)pool->count, WAKE_MS);
    for (size_t i = 0; ready > 0 && i < pool->count; i++) {
        if (pool->polls[i].revents != 0) {
            finish(pool, &pool->workers[i]);
        }
    }
    kill_overdue(pool);
    show_progress(pool);
}

enum uvea_error uvea_sweep_run(struct uvea_sweep *sweep, struct uvea_error_context *context)
{
    struct pool pool = {
        .sweep = sweep,
        .count = (size_t)sweep->arguments.jobs,
        .visible = isatty(STDERR_FILENO) == 1,
        .error = UVEA_OK,
        .context = context,
    };
    pool.workers = uvea_mem_alloc(pool.count, sizeof(*pool.workers));
    pool.polls = uvea_mem_alloc(pool.count, sizeof(*pool.polls));
    if (pool.workers == NULL || pool.polls == NULL) {
        pool.error = UVEA_ERR_MEMORY;
    }
    while (uvea_interrupt_signal() == 0) {
        if (pool.error == UVEA_OK) {
            start_free(&pool);
        }
        if (pool.running == 0) {
            break;
        }
        wait_for_some(&pool);
    }
    if (pool.running > 0) {
        abandon(&pool);
    }
    if (pool.visible) {
        uvea_sweep_print_progress(sweep, 0, true);
    }
    uvea_mem_free(pool.workers);
    uvea_mem_free(pool.polls);
    sweep->ended_ns = uvea_sweep_now_ns();
    return pool.error;
}
