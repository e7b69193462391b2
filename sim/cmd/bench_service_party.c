// One party of the service benchmark: what uvead runs, and a look at it after each batch.
#include "core/kernel/cpu.h"
#include "core/posix/posix.h"
#include "core/tls/tls.h"
#include "sim/cmd/bench_service.h"
#include "sim/live/certs.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { PORT_MESH = 10 }; // above those of the HTTP servers

struct process {
    const struct uvea_bench_service *service;
    const struct uvea_bench_run *run;
    struct uvea_party party;
    struct uvea_bench_party *report;
    char http[UVEA_PARTY_COUNT][32];
    char mesh[UVEA_PARTY_COUNT][32];
    char certificate[PATH_MAX];
    char key[PATH_MAX];
    char roots[UVEA_PARTY_COUNT + 1][PATH_MAX];
    char unused[PATH_MAX];
    struct uvea_tls *tls;
    struct uvea_rt *rt;
    struct uvea_store *store;
    struct uvea_node *node;
};

// ---- looking at it

static void look(const struct process *process, struct uvea_bench_snapshot *snapshot)
{
    struct timespec now;
    struct timespec cpu;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    *snapshot = (struct uvea_bench_snapshot){
        .now_ns = (uint64_t)now.tv_sec * UVEA_SECOND + (uint64_t)now.tv_nsec,
        .cpu_ns = (uint64_t)cpu.tv_sec * UVEA_SECOND + (uint64_t)cpu.tv_nsec,
        .stats = uvea_node_stats(process->node),
    };
}

static void begun(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    const struct process *process = arg;
    (void)party;
    (void)batch;
    atomic_store(&process->report->ready, true);
}

static void published(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    const struct process *process = arg;
    struct uvea_bench_party *report = process->report;
    (void)party;
    look(process, &report->last);
    if (report->warm.now_ns == 0 && report->last.stats.requests >= UVEA_BENCH_WARM_REQUESTS) {
        report->warm = report->last;
    }
    (void)atomic_fetch_add(&report->published, (unsigned)batch->count);
}

static void watch(void *arg)
{
    struct process *process = arg;
    while (uvea_rt_sleep_ns(process->rt, 20 * UVEA_MS) == UVEA_OK) {
        if (atomic_load(&process->report->stop)) {
            uvea_node_stop(process->node, "the benchmark is over");
            return;
        }
    }
}

// ---- setting it up

static enum uvea_error open_tls(struct process *process, struct uvea_error_context *context)
{
    const struct uvea_bench_service *service = process->service;
    char stem[16];
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        (void)snprintf(stem, sizeof(stem), "p%u-root", i);
        UVEA_TRY(uvea_certs_paths(service->pki, stem, process->roots[i], process->unused, context));
    }
    UVEA_TRY(uvea_certs_paths(service->pki, "client-root", process->roots[UVEA_PARTY_COUNT],
                              process->unused, context));
    (void)snprintf(stem, sizeof(stem), "p%u", process->party.index);
    UVEA_TRY(uvea_certs_paths(service->pki, stem, process->certificate, process->key, context));
    const struct uvea_tls_config config = {
        .key_file = process->key,
        .certificate_file = process->certificate,
        .party_root_files = {process->roots[0], process->roots[1], process->roots[2]},
        .client_root_file = process->roots[UVEA_PARTY_COUNT],
        .own_party = process->party.index,
    };
    return uvea_tls_open(&config, &process->tls, context);
}

static enum uvea_error open_runtime(struct process *process, struct uvea_error_context *context)
{
    struct uvea_posix_config config = uvea_posix_config_default();
    if (process->run->tls) {
        UVEA_TRY(open_tls(process, context));
    }
    config.tls = process->tls;
    return uvea_posix_open(&config, &process->rt, context);
}

static void configure(struct process *process, struct uvea_node_config *config)
{
    const struct uvea_bench_service *service = process->service;
    const struct uvea_cpu cpu = uvea_cpu_detect();
    *config = uvea_node_config_default(process->party);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const unsigned port = (unsigned)service->port + i;
        (void)snprintf(process->http[i], sizeof(process->http[i]), "127.0.0.1:%u", port);
        (void)snprintf(process->mesh[i], sizeof(process->mesh[i]), "127.0.0.1:%u",
                       port + PORT_MESH);
        config->peer_http_addresses[i] = process->http[i];
        config->mesh.dial_address[i] = process->mesh[i];
    }
    config->http_address = process->http[process->party.index];
    config->mesh.listen_address = process->mesh[process->party.index];
    config->mesh.session_count = (uint32_t)service->sessions;
    config->mesh.connection_count = (uint32_t)service->connections;
    config->mesh.start_jitter_ns_max = 100 * UVEA_MS;
    config->mesh.retry_delay_ns = 200 * UVEA_MS;
    config->mesh.recv_ns_max = 60 * UVEA_SECOND;
    config->search.path = process->run->path;
    config->search.form = UVEA_PREDICATE_TWO_TERM;
    config->search.field_form = UVEA_FIELD_PREDICATE_VALID_RANGE;
    config->search.kernel = uvea_ring_kernel_best(&cpu);
    config->search.spectral_kernel = uvea_spectral_kernel_best(&cpu);
    config->search.chunk_records_max = service->chunk_records;
    config->policy.luc_lookback_records = 0;
    config->batch_requests_max = (uint32_t)service->in_flight;
    config->records_max = (uint32_t)service->records + 1;
    config->keys.current = service->keys[process->party.index];
    config->observer = (struct uvea_node_observer){
        .arg = process,
        .begun = begun,
        .published = published,
    };
}

static enum uvea_error serve(struct process *process, struct uvea_error_context *context)
{
    struct uvea_node_config config;
    struct uvea_task *watcher;
    UVEA_TRY(open_runtime(process, context));
    UVEA_TRY(uvea_store_open_sqlite(process->rt, process->service->store[process->party.index],
                                    NULL, &process->store, context));
    UVEA_TRY(uvea_bench_requests_queue(process->service, process->run->requests, process->party,
                                       process->store, context));
    configure(process, &config);
    UVEA_TRY(uvea_node_open(process->rt, &config, process->store, &process->node, context));
    UVEA_TRY(uvea_rt_spawn(process->rt, "watch", watch, process, &watcher));
    const enum uvea_error error = uvea_node_run(process->node, context);
    uvea_posix_stop(process->rt);
    uvea_rt_join(process->rt, watcher);
    return error;
}

int uvea_bench_party_run(const struct uvea_bench_service *service, const struct uvea_bench_run *run,
                         struct uvea_party party, struct uvea_bench_party *report)
{
    static struct process process; // of a process of its own
    process = (struct process){.service = service, .run = run, .party = party, .report = report};
    enum uvea_error error = serve(&process, &report->failure);
    if (error != UVEA_OK && report->failure.text[0] == '\0') {
        error = uvea_error_set(&report->failure, error, "%s", uvea_error_text(error));
    }
    uvea_node_close(process.node);
    uvea_store_close(process.store);
    uvea_posix_close(process.rt);
    uvea_tls_close(process.tls);
    return error == UVEA_OK ? 0 : 1;
}
