// One run of the service benchmark: three processes, and waiting for them.
#include "core/base/mem.h"
#include "sim/cmd/bench_service.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 20,
    START_S_MAX = 1800, // a large database is read, checked and, the first time, converted
    REQUEST_S_MAX = 120,
};

struct shared {
    struct uvea_bench_party party[UVEA_PARTY_COUNT];
};

struct parties {
    const struct uvea_bench_service *service;
    const struct uvea_bench_run *run;
    struct shared *shared;
    pid_t pid[UVEA_PARTY_COUNT]; // 0: not started, or ended
    uint64_t rss_bytes[UVEA_PARTY_COUNT];
    bool failed;
};

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum uvea_error start(struct parties *parties, unsigned index,
                             struct uvea_error_context *context)
{
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "cannot start a process: %s", strerror(errno));
    }
    if (pid == 0) {
        // A party must not outlive a command that was killed.
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(getppid() != parent
                  ? 1
                  : uvea_bench_party_run(parties->service, parties->run, uvea_party_at(index),
                                         &parties->shared->party[index]));
    }
    parties->pid[index] = pid;
    return UVEA_OK;
}

// Takes the end of a process when it has ended, or waits for it.
static void collect(struct parties *parties, unsigned index, bool waits)
{
    struct rusage usage;
    int status;
    if (parties->pid[index] == 0 ||
        wait4(parties->pid[index], &status, waits ? 0 : WNOHANG, &usage) != parties->pid[index]) {
        return;
    }
    parties->pid[index] = 0;
    parties->rss_bytes[index] = (uint64_t)usage.ru_maxrss * 1024;
    parties->failed = parties->failed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static bool all(const struct parties *parties,
                bool (*holds)(const struct parties *parties, unsigned index))
{
    bool all = true;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        all = all && holds(parties, i);
    }
    return all;
}

static bool is_ready(const struct parties *parties, unsigned index)
{
    return atomic_load(&parties->shared->party[index].ready);
}

static bool is_through(const struct parties *parties, unsigned index)
{
    return atomic_load(&parties->shared->party[index].published) >= parties->service->requests;
}

static bool has_ended(const struct parties *parties, unsigned index)
{
    return parties->pid[index] == 0;
}

// The sentence of the first party that has one.
static enum uvea_error tell_failure(const struct parties *parties, const char *what,
                                    struct uvea_error_context *context)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const char *text = parties->shared->party[i].failure.text;
        if (text[0] != '\0') {
            return uvea_error_set(context, UVEA_ERR_STATE, "party %u: %.400s", i, text);
        }
    }
    return uvea_error_set(context, UVEA_ERR_STATE, "%s", what);
}

static enum uvea_error wait_until(struct parties *parties,
                                  bool (*holds)(const struct parties *parties, unsigned index),
                                  double seconds_max, const char *what,
                                  struct uvea_error_context *context)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    const double until_s = now_s() + seconds_max;
    while (!all(parties, holds)) {
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            collect(parties, i, false);
        }
        if (parties->failed || now_s() > until_s) {
            return tell_failure(parties, what, context);
        }
        (void)nanosleep(&pause, NULL);
    }
    return UVEA_OK;
}

static enum uvea_error run_parties(struct parties *parties, double *start_s,
                                   struct uvea_error_context *context)
{
    const double began_s = now_s();
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        UVEA_TRY(start(parties, i, context));
    }
    UVEA_TRY(wait_until(parties, is_ready, START_S_MAX, "no request is processed", context));
    *start_s = now_s() - began_s;
    UVEA_TRY(wait_until(parties, is_through,
                        (double)REQUEST_S_MAX * (double)parties->service->requests,
                        "the requests are not answered", context));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        atomic_store(&parties->shared->party[i].stop, true);
    }
    return wait_until(parties, has_ended, REQUEST_S_MAX, "the parties do not stop", context);
}

static void read_reports(const struct parties *parties, struct uvea_bench_measured *measured)
{
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_bench_party *party = &parties->shared->party[i];
        measured->warm[i] = party->warm;
        measured->last[i] = party->last;
        measured->rss_bytes[i] = parties->rss_bytes[i];
        from_ns = party->warm.now_ns > from_ns ? party->warm.now_ns : from_ns;
        to_ns = party->last.now_ns > to_ns ? party->last.now_ns : to_ns;
    }
    measured->seconds = 1e-9 * (double)(to_ns - from_ns);
}

enum uvea_error uvea_bench_service_measure(const struct uvea_bench_service *service,
                                           const struct uvea_bench_run *run,
                                           struct uvea_bench_measured *measured,
                                           struct uvea_error_context *context)
{
    struct parties parties = {.service = service, .run = run};
    parties.shared = mmap(NULL, sizeof(*parties.shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (parties.shared == MAP_FAILED) {
        return UVEA_ERR_MEMORY;
    }
    const enum uvea_error error = run_parties(&parties, &measured->start_s, context);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (parties.pid[i] != 0) {
            (void)kill(parties.pid[i], SIGKILL);
            collect(&parties, i, true);
        }
    }
    if (error == UVEA_OK) {
        read_reports(&parties, measured);
    }
    (void)munmap(parties.shared, sizeof(*parties.shared));
    return error;
}
