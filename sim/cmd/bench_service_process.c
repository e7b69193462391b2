// The three uvead of a run of the service benchmark.
#include "core/base/buf.h"
#include "core/posix/file.h"
#include "sim/cmd/bench_service.h"
#include "sim/cmd/cluster.h"
#include "sim/cmd/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOG_BYTES_MAX = 64 << 20,
    STATUS_BYTES_MAX = 1 << 16, // of a file of /proc
    HOW_CHARS = 96,
};
#define LOOK_NS (10 * UVEA_MS)

// ---- start

// What a run changes; uvead takes it over from this process.
static enum uvea_error set_environment(const struct uvea_bench_run *run)
{
    const bool set =
        setenv("UVEA__SCAN__PATH", run->path == UVEA_SEARCH_NTT ? "ntt" : "ring", 1) == 0 &&
        setenv("UVEA__TLS__ENABLED", run->tls ? "true" : "false", 1) == 0;
    return set ? UVEA_OK : UVEA_ERR_MEMORY;
}

static enum uvea_error start_one(struct uvea_bench_trio *trio, unsigned index,
                                 struct uvea_error_context *context)
{
    const struct uvea_bench_service *service = trio->service;
    struct uvea_bench_party *party = &trio->party[index];
    struct uvea_cluster_process process;
    UVEA_TRY(uvea_cluster_process_of(service->directory, index, &process, context));
    const int log = open(process.log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", process.log, strerror(errno));
    }
    const char *const arguments[] = {service->uvead, "--config", process.configuration, NULL};
    const struct uvea_spawn plan = {
        .program = service->uvead,
        .arguments = arguments,
        .output = log,
        .dies_with_us = true,
    };
    *party = (struct uvea_bench_party){.pid = 0};
    memcpy(party->log, process.log, sizeof(party->log));
    const enum uvea_error error = uvea_spawn(&plan, &party->pid, context);
    close(log);
    return error;
}

enum uvea_error uvea_bench_trio_start(struct uvea_bench_trio *trio,
                                      struct uvea_error_context *context)
{
    UVEA_TRY(set_environment(trio->run));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        UVEA_TRY(start_one(trio, i, context));
    }
    return UVEA_OK;
}

// ---- what became of one

// The message of the last error; a line that is no event of uvead counts as one.
static void find_complaint(const struct uvea_buf *log, char *text, size_t size)
{
    const char *at = (const char *)log->data;
    const char *end = at + log->len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t len = (size_t)((newline != NULL ? newline : end) - at);
        json_t *event = json_loadb(at, len, 0, NULL);
        const char *level = json_string_value(json_object_get(event, "level"));
        const char *message = json_string_value(json_object_get(event, "message"));
        if (event == NULL && len > 0) {
            (void)snprintf(text, size, "%.*s", (int)(len < size ? len : size), at);
        } else if (level != NULL && message != NULL && strcmp(level, "error") == 0) {
            (void)snprintf(text, size, "%s", message);
        }
        json_decref(event);
        at += len + 1;
    }
}

static void read_complaint(const struct uvea_bench_party *party, char *text, size_t size)
{
    struct uvea_buf log = {0};
    (void)snprintf(text, size, "it said nothing");
    if (uvea_file_read(party->log, LOG_BYTES_MAX, &log, NULL) == UVEA_OK) {
        find_complaint(&log, text, size);
    }
    uvea_buf_deinit(&log);
}

static enum uvea_error tell_end(const struct uvea_bench_trio *trio, unsigned index,
                                struct uvea_error_context *context)
{
    const struct uvea_bench_party *party = &trio->party[index];
    char how[HOW_CHARS];
    char complaint[sizeof(context->text) / 2];
    if (WIFSIGNALED(party->status)) {
        (void)snprintf(how, sizeof(how), "was ended by signal %d (%s)", WTERMSIG(party->status),
                       strsignal(WTERMSIG(party->status)));
    } else {
        (void)snprintf(how, sizeof(how), "ended with status %d", WEXITSTATUS(party->status));
    }
    read_complaint(party, complaint, sizeof(complaint));
    return uvea_error_set(context, UVEA_ERR_IO, "party %u: %.160s %s: %s", index,
                          trio->service->uvead, how, complaint);
}

// Notes those that have ended.
static void collect(struct uvea_bench_trio *trio)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_bench_party *party = &trio->party[i];
        if (party->pid != 0 && waitpid(party->pid, &party->status, WNOHANG) == party->pid) {
            party->pid = 0;
            party->has_ended = true;
        }
    }
}

// Of several, one that was killed: the others ended because of it. UVEA_PARTY_COUNT: none has.
static unsigned first_ended(const struct uvea_bench_trio *trio)
{
    unsigned ended = UVEA_PARTY_COUNT;
    for (unsigned i = UVEA_PARTY_COUNT; i-- > 0;) {
        const struct uvea_bench_party *party = &trio->party[i];
        const bool killed = ended < UVEA_PARTY_COUNT && WIFSIGNALED(trio->party[ended].status);
        if (party->has_ended && (!killed || WIFSIGNALED(party->status))) {
            ended = i;
        }
    }
    return ended;
}

enum uvea_error uvea_bench_trio_check(struct uvea_bench_trio *trio,
                                      struct uvea_error_context *context)
{
    UVEA_TRY(uvea_bench_interrupted(context));
    collect(trio);
    const unsigned ended = first_ended(trio);
    return ended == UVEA_PARTY_COUNT ? UVEA_OK : tell_end(trio, ended, context);
}

// ---- memory

enum uvea_error uvea_bench_trio_peak(const struct uvea_bench_trio *trio, unsigned party,
                                     uint64_t *bytes, struct uvea_error_context *context)
{
    char path[64];
    struct uvea_buf text = {0};
    uint64_t kib = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)trio->party[party].pid);
    enum uvea_error error = uvea_file_read(path, STATUS_BYTES_MAX, &text, context);
    if (error == UVEA_OK) {
        error = uvea_buf_append(&text, "", 1);
    }
    if (error == UVEA_OK) {
        const char *line = strstr((const char *)text.data, "\nVmHWM:");
        kib = line != NULL ? strtoull(line + strlen("\nVmHWM:"), NULL, 10) : 0;
        error = kib > 0 ? UVEA_OK
                        : uvea_error_set(context, UVEA_ERR_IO, "%s says nothing of memory", path);
    }
    uvea_buf_deinit(&text);
    *bytes = kib * 1024;
    return error;
}

// ---- end

static bool any_runs(const struct uvea_bench_trio *trio)
{
    bool any = false;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        any = any || trio->party[i].pid != 0;
    }
    return any;
}

static void signal_all(const struct uvea_bench_trio *trio, int signal)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (trio->party[i].pid != 0) {
            (void)kill(trio->party[i].pid, signal);
        }
    }
}

static enum uvea_error kill_late(struct uvea_bench_trio *trio, uint64_t seconds_max,
                                 struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_OK;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_bench_party *party = &trio->party[i];
        if (party->pid != 0) {
            (void)kill(party->pid, SIGKILL);
            while (waitpid(party->pid, &party->status, 0) < 0 && errno == EINTR) {
            }
            party->pid = 0;
            error = uvea_error_set(context, UVEA_ERR_IO,
                                   "party %u did not end within %" PRIu64 " s of SIGTERM", i,
                                   seconds_max);
        }
    }
    return error;
}

enum uvea_error uvea_bench_trio_stop(struct uvea_bench_trio *trio, uint64_t seconds_max,
                                     struct uvea_error_context *context)
{
    const uint64_t deadline_ns = uvea_rt_deadline_ns(trio->rt, seconds_max * UVEA_SECOND);
    signal_all(trio, SIGTERM);
    collect(trio);
    while (any_runs(trio) && uvea_rt_now_ns(trio->rt) < deadline_ns) {
        if (uvea_rt_sleep_ns(trio->rt, LOOK_NS) != UVEA_OK) {
            break;
        }
        collect(trio);
    }
    UVEA_TRY(kill_late(trio, seconds_max, context));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (trio->party[i].status != 0) {
            return tell_end(trio, i, context);
        }
    }
    return UVEA_OK;
}
