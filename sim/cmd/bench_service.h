// Private to `uvea bench service`: three parties with a database each, one process per party, over
// loopback, and N requests that lie in their stores when they start.
#ifndef UVEA_SIM_CMD_BENCH_SERVICE_H
#define UVEA_SIM_CMD_BENCH_SERVICE_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/service/node.h"
#include "core/service/share_object.h"
#include "core/store/store.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { UVEA_BENCH_WARM_REQUESTS = 16 }; // not counted

// The same for every run of a call.
struct uvea_bench_service {
    uint64_t records;
    uint64_t requests; // of a run, those before the warm ones included
    uint64_t in_flight;
    uint64_t sessions;
    uint64_t connections;
    uint64_t chunk_records;
    uint64_t port;
    char directory[PATH_MAX];
    char store[UVEA_PARTY_COUNT][PATH_MAX];
    char pki[PATH_MAX];
    char note[PATH_MAX]; // how many records the stores hold
    struct uvea_share_key_pair keys[UVEA_PARTY_COUNT];
};

struct uvea_bench_request;

struct uvea_bench_run {
    enum uvea_search_path path;
    bool tls;
    const struct uvea_bench_request *requests;
};

// The subcommand.
int uvea_bench_service_command(int argc, char **argv);

// ---- bench_service_store.c

// Three stores of `records` records with their spectra, unless they are there already: a few
// hundred people over and over. *seconds: what it took, 0 when nothing was to be done.
UVEA_MUST_USE enum uvea_error uvea_bench_stores_fill(const struct uvea_bench_service *service,
                                                     double *seconds,
                                                     struct uvea_error_context *context);

// Requests of people who are not enrolled, and are not to be. stamp: of this run alone, so that no
// store knows its keys. Owned: uvea_bench_requests_free.
struct uvea_bench_request {
    char key[64];
    struct uvea_buf object;
    struct uvea_buf envelope;
};
UVEA_MUST_USE enum uvea_error uvea_bench_requests_make(const struct uvea_bench_service *service,
                                                       uint64_t stamp,
                                                       struct uvea_bench_request **requests);
void uvea_bench_requests_free(const struct uvea_bench_service *service,
                              struct uvea_bench_request *requests);

// As if clients had sent them: the objects into a party's store, the envelopes into the topic that
// party 0 keeps.
UVEA_MUST_USE enum uvea_error uvea_bench_requests_queue(const struct uvea_bench_service *service,
                                                        const struct uvea_bench_request *requests,
                                                        struct uvea_party party,
                                                        struct uvea_store *store,
                                                        struct uvea_error_context *context);

// ---- bench_service_party.c

struct uvea_bench_snapshot {
    uint64_t now_ns; // CLOCK_MONOTONIC, the same for all processes
    uint64_t cpu_ns; // of the process, user and system
    struct uvea_node_stats stats;
};

// What a party tells, in memory that it shares with the command.
struct uvea_bench_party {
    atomic_bool stop;                // set by the command
    atomic_uint published;           // requests
    atomic_bool ready;               // its first batch has begun
    struct uvea_bench_snapshot warm; // the warm requests are published
    struct uvea_bench_snapshot last; // of the last batch; read when the process has ended
    struct uvea_error_context failure;
};

// One party's process, from its start to its end. Gives the exit status.
int uvea_bench_party_run(const struct uvea_bench_service *service, const struct uvea_bench_run *run,
                         struct uvea_party party, struct uvea_bench_party *report);

// ---- bench_service_run.c

struct uvea_bench_measured {
    struct uvea_bench_snapshot warm[UVEA_PARTY_COUNT];
    struct uvea_bench_snapshot last[UVEA_PARTY_COUNT];
    uint64_t rss_bytes[UVEA_PARTY_COUNT]; // at its highest
    double start_s;                       // from the start of the processes to the first batch
    double seconds; // from the last warm result of any party to the very last one
};

UVEA_MUST_USE enum uvea_error uvea_bench_service_measure(const struct uvea_bench_service *service,
                                                         const struct uvea_bench_run *run,
                                                         struct uvea_bench_measured *measured,
                                                         struct uvea_error_context *context);

// ---- bench_service_print.c

// runs: what was measured, in order.
void uvea_bench_service_print(const struct uvea_bench_service *service,
                              const struct uvea_bench_run *runs,
                              const struct uvea_bench_measured *measured, size_t count);
void uvea_bench_service_print_json(const struct uvea_bench_service *service,
                                   const struct uvea_bench_run *runs,
                                   const struct uvea_bench_measured *measured, size_t count);

#endif
