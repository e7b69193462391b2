// One run of the service benchmark.
#include "core/posix/posix.h"
#include "sim/cmd/bench_service.h"
#include "sim/cmd/entropy.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    REQUEST_S_MAX = 120,
    STOP_S_MAX = 60,
    GIVE_UP_S_MAX = 5, // for a run that has failed
};
#define LOOK_NS (50 * UVEA_MS)   // a look takes 0.2 ms of each party's time
#define END_NS (2 * UVEA_SECOND) // until a process that hangs up is seen to have ended

// ---- the client

static enum uvea_error open_client(struct uvea_bench_trio *trio, struct uvea_error_context *context)
{
    struct uvea_posix_config config = uvea_posix_config_default();
    UVEA_TRY(uvea_cmd_entropy(&trio->stamp, sizeof(trio->stamp)));
    if (trio->run->tls) {
        const struct uvea_tls_config tls = uvea_cluster_tls(&trio->service->cluster);
        UVEA_TRY(uvea_tls_open(&tls, &trio->tls, context));
    }
    config.tls = trio->tls;
    return uvea_posix_open(&config, &trio->rt, context);
}

static void close_client(struct uvea_bench_trio *trio)
{
    uvea_posix_close(trio->rt);
    uvea_tls_close(trio->tls);
}

// ---- looking on

static bool all_published(const struct uvea_bench_look *look, uint64_t sequence)
{
    bool all = true;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        all = all && look->party[i].published >= sequence;
    }
    return all;
}

// Looks until every party has published up to `sequence`. before: the last look at which one had
// not, unless there was none; then it keeps its value.
static enum uvea_error look_on(struct uvea_bench_trio *trio, uint64_t sequence,
                               uint64_t deadline_ns, struct uvea_bench_look *before,
                               struct uvea_bench_look *reached, struct uvea_error_context *context)
{
    for (;;) {
        UVEA_TRY(uvea_bench_trio_check(trio, context));
        UVEA_TRY(uvea_bench_look(trio, reached, context));
        if (all_published(reached, sequence)) {
            return UVEA_OK;
        }
        if (uvea_rt_now_ns(trio->rt) >= deadline_ns) {
            return uvea_error_set(context, UVEA_ERR_TIMEOUT,
                                  "request %" PRIu64 " is not answered in time", sequence);
        }
        *before = *reached;
        UVEA_TRY(uvea_rt_sleep_ns(trio->rt, LOOK_NS));
    }
}

static enum uvea_error measure(struct uvea_bench_trio *trio, struct uvea_bench_measured *measured,
                               struct uvea_error_context *context)
{
    const uint64_t requests = trio->service->requests;
    struct uvea_bench_look unused;
    UVEA_TRY(uvea_bench_look(trio, &measured->before, context)); // none is posted yet
    UVEA_TRY(uvea_bench_requests_send(trio, context));
    const uint64_t deadline_ns =
        uvea_rt_deadline_ns(trio->rt, REQUEST_S_MAX * UVEA_SECOND * requests);
    UVEA_TRY(look_on(trio, trio->sequences[UVEA_BENCH_WARM_REQUESTS - 1], deadline_ns,
                     &measured->before, &measured->warm, context));
    return look_on(trio, trio->sequences[requests - 1], deadline_ns, &unused, &measured->last,
                   context);
}

// ---- the run

static enum uvea_error run(struct uvea_bench_trio *trio, struct uvea_bench_measured *measured,
                           struct uvea_error_context *context)
{
    const uint64_t began_ns = uvea_rt_now_ns(trio->rt);
    UVEA_TRY(uvea_bench_trio_start(trio, context));
    UVEA_TRY(uvea_bench_await_ready(trio, context));
    measured->start_s = 1e-9 * (double)(uvea_rt_now_ns(trio->rt) - began_ns);
    UVEA_TRY(measure(trio, measured, context));
    UVEA_TRY(uvea_bench_requests_check(trio, context));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        UVEA_TRY(uvea_bench_trio_peak(trio, i, &measured->peak_bytes[i], context));
    }
    return UVEA_OK;
}

// A call that failed because its party has ended is told of as the end of that party.
static enum uvea_error explain(struct uvea_bench_trio *trio, enum uvea_error error,
                               struct uvea_error_context *context)
{
    struct uvea_error_context end = {{0}};
    const uint64_t deadline_ns = uvea_rt_deadline_ns(trio->rt, END_NS);
    enum uvea_error ended = UVEA_OK;
    if (error == UVEA_ERR_STATE || error == UVEA_ERR_MEMORY) {
        return error;
    }
    while (ended == UVEA_OK && uvea_rt_now_ns(trio->rt) < deadline_ns) {
        ended = uvea_bench_trio_check(trio, &end);
        if (ended == UVEA_OK && uvea_rt_sleep_ns(trio->rt, LOOK_NS) != UVEA_OK) {
            break;
        }
    }
    if (ended != UVEA_OK) {
        *context = end;
        return ended;
    }
    return error;
}

enum uvea_error uvea_bench_service_measure(const struct uvea_bench_service *service,
                                           const struct uvea_bench_run *plan,
                                           struct uvea_bench_measured *measured,
                                           struct uvea_error_context *context)
{
    struct uvea_bench_trio trio = {.service = service, .run = plan};
    enum uvea_error error = open_client(&trio, context);
    if (error == UVEA_OK) {
        error = run(&trio, measured, context);
        if (error == UVEA_OK) {
            error = uvea_bench_trio_stop(&trio, STOP_S_MAX, context);
        } else {
            error = explain(&trio, error, context);
            (void)!uvea_bench_trio_stop(&trio, GIVE_UP_S_MAX, NULL);
        }
    }
    close_client(&trio);
    return error;
}
