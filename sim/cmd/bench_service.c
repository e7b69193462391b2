#include "sim/cmd/bench_service.h"

#include "core/base/check.h"
#include "core/service/batch.h"
#include "sim/cmd/args.h"
#include "sim/cmd/bench.h"
#include "sim/cmd/cluster.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/interrupt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RUNS_MAX = 4 };

struct arguments {
    struct uvea_bench_service service;
    const char *scan; // NULL: both
    const char *tls;
    const char *directory; // NULL: one that is removed again
    const char *uvead;     // NULL: the one beside this program
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
        {"--requests", service->requests, UVEA_BENCH_WARM_REQUESTS + 1, UVEA_BENCH_REQUESTS_MAX},
        {"--in-flight", service->in_flight, 1, UVEA_BATCH_REQUESTS_MAX},
        {"--sessions", service->sessions, UVEA_SEARCH_SESSION_MULTIPLE, 256},
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
        {"--uvead", UVEA_ARG_TEXT, &out->uvead, NULL},
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

static enum uvea_error prepare(struct arguments *arguments, struct uvea_error_context *context)
{
    struct uvea_bench_service *service = &arguments->service;
    double seconds = 0;
    UVEA_TRY(uvea_cluster_find_uvead(arguments->uvead, service->uvead, context));
    UVEA_TRY(uvea_bench_directory_open(service, arguments->directory, context));
    UVEA_TRY(uvea_bench_stores_fill(service, &seconds, context));
    (void)fprintf(stderr, "stores of %" PRIu64 " records filled in %.1f s\n", service->records,
                  seconds);
    return UVEA_OK;
}

static enum uvea_error run_all(const struct arguments *arguments,
                               struct uvea_error_context *context)
{
    const struct uvea_bench_service *service = &arguments->service;
    struct uvea_bench_run runs[RUNS_MAX] = {0};
    static struct uvea_bench_measured measured[RUNS_MAX];
    const size_t count = plan_runs(arguments, runs);
    for (size_t i = 0; i < count; i++) {
        UVEA_TRY(uvea_bench_service_measure(service, &runs[i], &measured[i], context));
        (void)fprintf(stderr, "run %zu of %zu done\n", i + 1, count);
    }
    if (arguments->json) {
        uvea_bench_service_print_json(service, runs, measured, count);
    } else {
        uvea_bench_service_print(service, runs, measured, count);
    }
    return UVEA_OK;
}

enum uvea_error uvea_bench_interrupted(struct uvea_error_context *context)
{
    const int signal = uvea_interrupt_signal();
    return signal == 0 ? UVEA_OK
                       : uvea_error_set(context, UVEA_ERR_CLOSED, "interrupted by signal %d (%s)",
                                        signal, strsignal(signal));
}

static int exit_of(enum uvea_error error, const struct uvea_error_context *context)
{
    const int status = uvea_cmd_fail("bench service", error, context);
    if (uvea_interrupt_signal() != 0) {
        return UVEA_EXIT_SIGNAL + uvea_interrupt_signal();
    }
    return error == UVEA_ERR_TIMEOUT ? UVEA_EXIT_STUCK : status;
}

int uvea_bench_service_command(int argc, char **argv)
{
    static struct arguments arguments;
    struct uvea_error_context context = {{0}};
    enum uvea_error error = parse(argc, argv, &arguments, &context);
    if (error != UVEA_OK) {
        return uvea_cmd_fail("bench service", error, &context);
    }
    uvea_interrupt_listen();
    error = prepare(&arguments, &context);
    if (error == UVEA_OK) {
        error = run_all(&arguments, &context);
    }
    if (arguments.directory == NULL) {
        uvea_bench_directory_remove(&arguments.service);
    }
    uvea_cluster_deinit(&arguments.service.cluster);
    return error == UVEA_OK ? UVEA_EXIT_PASS : exit_of(error, &context);
}
