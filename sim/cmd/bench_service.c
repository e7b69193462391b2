#include "sim/cmd/bench_service.h"

#include "core/base/check.h"
#include "core/scan/search.h"
#include "sim/cmd/args.h"
#include "sim/cmd/bench.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/entropy.h"
#include "sim/live/certs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    RUNS_MAX = 4,
    DAY_S = 86400,
};

struct arguments {
    struct uvea_bench_service service;
    const char *scan; // NULL: both
    const char *tls;
    const char *directory; // NULL: one that is removed again
    bool json;
};

static enum uvea_error check_choice(const char *name, const char *value, const char *a,
                                    const char *b, struct uvea_error_context *context)
{
    if (value != NULL && strcmp(value, a) != 0 && strcmp(value, b) != 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s %s: want %s or %s", name, value, a, b);
    }
    return UVEA_OK;
}

static enum uvea_error check_numbers(const struct uvea_bench_service *service,
                                     struct uvea_error_context *context)
{
    const struct {
        const char *name;
        uint64_t value;
        uint64_t low;
        uint64_t high;
    } bounds[] = {
        {"--records", service->records, 1, UVEA_BENCH_RECORDS_MAX},
        {"--requests", service->requests, UVEA_BENCH_WARM_REQUESTS + 1, 1000},
        {"--in-flight", service->in_flight, 1, UVEA_BATCH_REQUESTS_MAX},
        {"--sessions", service->sessions, UVEA_SEARCH_SESSION_MULTIPLE, 4096},
        {"--connections", service->connections, 1, 64},
        {"--chunk", service->chunk_records, 1, UVEA_SEARCH_CHUNK_RECORDS},
        {"--port", service->port, 1024, 65000},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(bounds); i++) {
        if (bounds[i].value < bounds[i].low || bounds[i].value > bounds[i].high) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "%s %" PRIu64 ": want %" PRIu64 " to %" PRIu64, bounds[i].name,
                                  bounds[i].value, bounds[i].low, bounds[i].high);
        }
    }
    if (service->sessions % UVEA_SEARCH_SESSION_MULTIPLE != 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--sessions: want a multiple of %d",
                              UVEA_SEARCH_SESSION_MULTIPLE);
    }
    return UVEA_OK;
}

static enum uvea_error parse(int argc, char **argv, struct arguments *out,
                             struct uvea_error_context *context)
{
    struct uvea_bench_service *service = &out->service;
    const struct uvea_arg_option options[] = {
        {"--records", UVEA_ARG_U64, &service->records, NULL},
        {"--requests", UVEA_ARG_U64, &service->requests, NULL},
        {"--in-flight", UVEA_ARG_U64, &service->in_flight, NULL},
        {"--sessions", UVEA_ARG_U64, &service->sessions, NULL},
        {"--connections", UVEA_ARG_U64, &service->connections, NULL},
        {"--chunk", UVEA_ARG_U64, &service->chunk_records, NULL},
        {"--port", UVEA_ARG_U64, &service->port, NULL},
        {"--scan", UVEA_ARG_TEXT, &out->scan, NULL},
        {"--tls", UVEA_ARG_TEXT, &out->tls, NULL},
        {"--directory", UVEA_ARG_TEXT, &out->directory, NULL},
        {"--json", UVEA_ARG_FLAG, &out->json, NULL},
    };
    struct uvea_arg_positionals none = {.what = "argument"};
    *service = (struct uvea_bench_service){
        .records = 65536,
        .requests = UVEA_BENCH_WARM_REQUESTS + 16,
        .in_flight = 1,
        .sessions = 16,
        .connections = 4,
        .chunk_records = 1024,
        .port = 18000,
    };
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &none, context));
    UVEA_TRY(check_choice("--scan", out->scan, "ring", "ntt", context));
    UVEA_TRY(check_choice("--tls", out->tls, "on", "off", context));
    return check_numbers(service, context);
}

// ---- the directory

static enum uvea_error set_paths(struct uvea_bench_service *service, const char *directory,
                                 struct uvea_error_context *context)
{
    if (strlen(directory) > sizeof(service->directory) - 64) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s: the name is too long", directory);
    }
    (void)snprintf(service->directory, sizeof(service->directory), "%s", directory);
    (void)snprintf(service->pki, sizeof(service->pki), "%.4000s/pki", directory);
    (void)snprintf(service->note, sizeof(service->note), "%.4000s/records", directory);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        (void)snprintf(service->store[party], sizeof(service->store[party]), "%.4000s/p%u.db",
                       directory, party);
    }
    return UVEA_OK;
}

static enum uvea_error open_directory(struct arguments *arguments,
                                      struct uvea_error_context *context)
{
    char made[PATH_MAX];
    const char *parent = getenv("TMPDIR");
    if (arguments->directory != NULL) {
        if (mkdir(arguments->directory, 0700) != 0 && errno != EEXIST) {
            return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", arguments->directory,
                                  strerror(errno));
        }
        return set_paths(&arguments->service, arguments->directory, context);
    }
    const int len = snprintf(made, sizeof(made), "%s/uvea-bench-XXXXXX",
                             parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (len >= (int)sizeof(made) || mkdtemp(made) == NULL) {
        return uvea_error_set(context, UVEA_ERR_IO, "no temporary directory: %s", strerror(errno));
    }
    return set_paths(&arguments->service, made, context);
}

// Only what this program has made, by name.
static void remove_files(const struct uvea_bench_service *service)
{
    static const char *const store_endings[] = {"", "-wal", "-shm"};
    static const char *const stems[] = {"p0-root", "p1-root", "p2-root", "client-root",
                                        "p0",      "p1",      "p2"};
    char path[PATH_MAX];
    char key[PATH_MAX];
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        for (size_t i = 0; i < UVEA_COUNT_OF(store_endings); i++) {
            (void)snprintf(path, sizeof(path), "%.4080s%s", service->store[party],
                           store_endings[i]);
            (void)unlink(path);
        }
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(stems); i++) {
        if (uvea_certs_paths(service->pki, stems[i], path, key, NULL) == UVEA_OK) {
            (void)unlink(path);
            (void)unlink(key);
        }
    }
    (void)unlink(service->note);
    (void)rmdir(service->pki);
    (void)rmdir(service->directory);
}

static enum uvea_error make_certificates(const struct uvea_bench_service *service,
                                         struct uvea_error_context *context)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    const int64_t now_s = (int64_t)time(NULL);
    const struct uvea_certs_window window = {now_s - DAY_S, now_s + 7 * DAY_S};
    UVEA_TRY(uvea_certs_init(service->pki, &window, true, context));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        UVEA_TRY(uvea_certs_issue_party(service->pki, uvea_party_at(i), names, UVEA_COUNT_OF(names),
                                        &window, true, context));
    }
    return UVEA_OK;
}

static enum uvea_error make_keys(struct uvea_bench_service *service)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uint8_t seed[UVEA_SHARE_KEY_BYTES];
        UVEA_TRY(uvea_cmd_entropy(seed, sizeof(seed)));
        UVEA_TRY(uvea_share_key_pair_from_seed(seed, &service->keys[i]));
    }
    return UVEA_OK;
}

// ---- all runs

static size_t plan_runs(const struct arguments *arguments, struct uvea_bench_run runs[RUNS_MAX])
{
    size_t count = 0;
    for (int ring = 0; ring < 2; ring++) {
        for (int clear = 0; clear < 2; clear++) {
            const bool path_wanted =
                arguments->scan == NULL || strcmp(arguments->scan, ring ? "ring" : "ntt") == 0;
            const bool tls_wanted =
                arguments->tls == NULL || strcmp(arguments->tls, clear ? "off" : "on") == 0;
            if (path_wanted && tls_wanted) {
                runs[count] = (struct uvea_bench_run){
                    .path = ring ? UVEA_SEARCH_RING : UVEA_SEARCH_NTT,
                    .tls = !clear,
                };
                count++;
            }
        }
    }
    return count;
}

static enum uvea_error prepare(struct uvea_bench_service *service,
                               struct uvea_error_context *context)
{
    double seconds = 0;
    UVEA_TRY(make_certificates(service, context));
    UVEA_TRY(make_keys(service));
    UVEA_TRY(uvea_bench_stores_fill(service, &seconds, context));
    (void)fprintf(stderr, "stores of %" PRIu64 " records filled in %.1f s\n", service->records,
                  seconds);
    return UVEA_OK;
}

static enum uvea_error run_one(const struct uvea_bench_service *service,
                               const struct uvea_bench_run *plan,
                               struct uvea_bench_measured *measured,
                               struct uvea_error_context *context)
{
    struct uvea_bench_request *requests;
    struct uvea_bench_run run = *plan;
    uint64_t stamp;
    UVEA_TRY(uvea_cmd_entropy(&stamp, sizeof(stamp)));
    UVEA_TRY(uvea_bench_requests_make(service, stamp, &requests));
    run.requests = requests;
    const enum uvea_error error = uvea_bench_service_measure(service, &run, measured, context);
    uvea_bench_requests_free(service, requests);
    return error;
}

static enum uvea_error run_all(const struct arguments *arguments,
                               struct uvea_error_context *context)
{
    const struct uvea_bench_service *service = &arguments->service;
    struct uvea_bench_run runs[RUNS_MAX] = {0};
    static struct uvea_bench_measured measured[RUNS_MAX];
    const size_t count = plan_runs(arguments, runs);
    for (size_t i = 0; i < count; i++) {
        UVEA_TRY(run_one(service, &runs[i], &measured[i], context));
        (void)fprintf(stderr, "run %zu of %zu done\n", i + 1, count);
    }
    if (arguments->json) {
        uvea_bench_service_print_json(service, runs, measured, count);
    } else {
        uvea_bench_service_print(service, runs, measured, count);
    }
    return UVEA_OK;
}

int uvea_bench_service_command(int argc, char **argv)
{
    static struct arguments arguments;
    struct uvea_error_context context = {{0}};
    enum uvea_error error = parse(argc, argv, &arguments, &context);
    if (error != UVEA_OK) {
        return uvea_cmd_fail("bench service", error, &context);
    }
    error = open_directory(&arguments, &context);
    if (error == UVEA_OK) {
        error = prepare(&arguments.service, &context);
    }
    if (error == UVEA_OK) {
        error = run_all(&arguments, &context);
    }
    if (arguments.directory == NULL) {
        remove_files(&arguments.service);
    }
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("bench service", error, &context);
}
