// Private to `uvea bench service`: three uvead on one machine with a database each, requests posted
// to them as clients post them, and their metrics read meanwhile.
//
// Everything is in one directory: that of a cluster (sim/live/cluster_make.h), whose stores are
// filled, and the note RECORDS that says how many records are in all three.
#ifndef UVEA_SIM_CMD_BENCH_SERVICE_H
#define UVEA_SIM_CMD_BENCH_SERVICE_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/iris/template.h"
#include "core/rt/rt.h"
#include "core/scan/search.h"
#include "core/scan/stages.h"
#include "core/tls/tls.h"
#include "sim/live/cluster.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    UVEA_BENCH_WARM_REQUESTS = 16, // not counted
    UVEA_BENCH_REQUESTS_MAX = 1000,
};

// The same for every run of a call.
struct uvea_bench_service {
    uint64_t records;
    uint64_t requests; // of a run, the warm ones included
    uint64_t in_flight;
    uint64_t sessions;
    uint64_t connections;
    uint64_t chunk_records;
    uint64_t port;
    char directory[PATH_MAX]; // absolute
    char note[PATH_MAX];
    char uvead[PATH_MAX]; // the program
    struct uvea_cluster cluster;
};

struct uvea_bench_run {
    enum uvea_search_path path;
    bool tls;
};

// The subcommand.
int uvea_bench_service_command(int argc, char **argv);

// OK until SIGINT or SIGTERM has come; then CLOSED.
UVEA_MUST_USE enum uvea_error uvea_bench_interrupted(struct uvea_error_context *context);

// ---- bench_service_directory.c

// Makes `directory` a cluster's, or a temporary one when it is NULL. One that this has made before
// keeps its stores; keys, certificates and configurations are made anew. USAGE: another cluster is
// there. IO, CRYPTO. directory of service is set as soon as there is something to remove.
UVEA_MUST_USE enum uvea_error uvea_bench_directory_open(struct uvea_bench_service *service,
                                                        const char *directory,
                                                        struct uvea_error_context *context);

// With all that is in it. For temporary ones.
void uvea_bench_directory_remove(const struct uvea_bench_service *service);

// How many records were once put into all three stores; 0: nothing is noted.
uint64_t uvea_bench_directory_records(const struct uvea_bench_service *service);
UVEA_MUST_USE enum uvea_error uvea_bench_directory_note(const struct uvea_bench_service *service,
                                                        uint64_t records,
                                                        struct uvea_error_context *context);

// ---- bench_service_store.c

// Three stores of `records` records with their spectra, unless they are there already: a few
// hundred people over and over. *seconds: what it took, 0 when nothing was to be done.
UVEA_MUST_USE enum uvea_error uvea_bench_stores_fill(const struct uvea_bench_service *service,
                                                     double *seconds,
                                                     struct uvea_error_context *context);

// The person of record 1, and of every some hundredth behind it.
void uvea_bench_first_person(struct uvea_template_pair *pair);

// ---- one run: the three processes and their client

struct uvea_bench_party {
    pid_t pid;          // 0: not started, or ended
    int status;         // as wait gives it, when it has ended
    bool has_ended;     // by itself
    char log[PATH_MAX]; // output of this run
};

// All zero is none.
struct uvea_bench_trio {
    const struct uvea_bench_service *service;
    const struct uvea_bench_run *run;
    struct uvea_tls *tls; // the client's; NULL without TLS
    struct uvea_rt *rt;   // the client's
    uint64_t stamp;       // of this run alone, so that no store knows its requests
    uint64_t sequences[UVEA_BENCH_REQUESTS_MAX];
    struct uvea_bench_party party[UVEA_PARTY_COUNT];
};

// ---- bench_service_process.c

// Starts the processes; they end with this one, however it ends. IO names the program.
UVEA_MUST_USE enum uvea_error uvea_bench_trio_start(struct uvea_bench_trio *trio,
                                                    struct uvea_error_context *context);

// OK while all run and nobody has interrupted. IO: one has ended; the sentence says how, with the
// last complaint of its log.
UVEA_MUST_USE enum uvea_error uvea_bench_trio_check(struct uvea_bench_trio *trio,
                                                    struct uvea_error_context *context);

// The most memory that a running process has had resident. IO.
UVEA_MUST_USE enum uvea_error uvea_bench_trio_peak(const struct uvea_bench_trio *trio,
                                                   unsigned party, uint64_t *bytes,
                                                   struct uvea_error_context *context);

// SIGTERM to all; SIGKILL to those that have not ended in time. Afterwards none runs. IO: one did
// not end in time, or not well.
UVEA_MUST_USE enum uvea_error uvea_bench_trio_stop(struct uvea_bench_trio *trio,
                                                   uint64_t seconds_max,
                                                   struct uvea_error_context *context);

// ---- bench_service_request.c: people who are not enrolled and are not to be, but for the first of
// each run, who is, so that a search that finds nobody is noticed

// (blocks) Gives all share objects to all parties, then the requests to party 0. Errors as of
// uvea_live_call.
UVEA_MUST_USE enum uvea_error uvea_bench_requests_send(struct uvea_bench_trio *trio,
                                                       struct uvea_error_context *context);

// (blocks) Reads the three answers to each. STATE: the parties do not agree, or are wrong; TIMEOUT:
// one is missing.
UVEA_MUST_USE enum uvea_error uvea_bench_requests_check(const struct uvea_bench_trio *trio,
                                                        struct uvea_error_context *context);

// ---- bench_service_watch.c

// What a party's metrics say.
struct uvea_bench_snapshot {
    uint64_t published; // sequence number of the last request whose result is
    uint64_t requests;
    uint64_t comparisons;
    uint64_t bytes_sent;
    uint64_t cpu_ns; // of the process, user and system
    uint64_t stage_ns[UVEA_STAGE_COUNT];
};

// One look at all three, in order.
struct uvea_bench_look {
    uint64_t from_ns; // before the first was asked, and after the last had answered
    uint64_t to_ns;
    struct uvea_bench_snapshot party[UVEA_PARTY_COUNT];
};

// (blocks) Until all are ready. TIMEOUT names the party that is not; IO: one has ended.
UVEA_MUST_USE enum uvea_error uvea_bench_await_ready(struct uvea_bench_trio *trio,
                                                     struct uvea_error_context *context);

// (blocks)
UVEA_MUST_USE enum uvea_error uvea_bench_look(const struct uvea_bench_trio *trio,
                                              struct uvea_bench_look *look,
                                              struct uvea_error_context *context);

// ---- bench_service_run.c

// What is divided by must be no less, and what divides no more, than it was: time and work are
// those since `before`, comparisons and bytes those since `warm`.
struct uvea_bench_measured {
    struct uvea_bench_look before; // the last at which a party had not published all warm requests
    struct uvea_bench_look warm;   // the one behind it
    struct uvea_bench_look last;   // the first at which all had published everything
    uint64_t peak_bytes[UVEA_PARTY_COUNT];
    double start_s; // from the start of the processes until all were ready
};

// (blocks) From the start of the processes to their end; none runs when it returns.
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
