// A world: three parties and a client in one simulation, a scenario's requests, and a judge that
// holds every answer against the oracle's. One call is one run of one seed.
#ifndef UVEA_SIM_WORLD_WORLD_H
#define UVEA_SIM_WORLD_WORLD_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "sim/runtime/trace.h"
#include "sim/scenario/scenario.h"

#include <stdint.h>
#include <stdio.h>

// verdict, exit status, text. WRONG: a wrong answer or a broken invariant. DIFFERS: two runs with
// one seed are not alike.
#define UVEA_VERDICTS(X)                                                                           \
    X(PASS, 0, "pass")                                                                             \
    X(WRONG, 10, "wrong")                                                                          \
    X(NO_PROGRESS, 11, "no-progress")                                                              \
    X(CRASH, 12, "crash")                                                                          \
    X(RESOURCE_LIMIT, 13, "resource-limit")                                                        \
    X(SKIPPED, 14, "skipped")                                                                      \
    X(DIFFERS, 15, "differs")

enum uvea_verdict {
#define UVEA_VERDICT_ENUM(name, status, text) UVEA_VERDICT_##name,
    UVEA_VERDICTS(UVEA_VERDICT_ENUM)
#undef UVEA_VERDICT_ENUM
};

const char *uvea_verdict_text(enum uvea_verdict verdict);
int uvea_verdict_exit_status(enum uvea_verdict verdict);

// Called between requests with how many have been answered.
typedef void uvea_world_progress_fn(void *arg, size_t answered, size_t requests);

struct uvea_world_options {
    FILE *trace;                                // every event as NDJSON, or NULL
    struct uvea_sim_record_list *keep;          // every event's record, or NULL
    const struct uvea_sim_record_list *compare; // an earlier run's records, or NULL
    FILE *failure_report;                       // the parties' last events on failure, or NULL
    uvea_world_progress_fn *progress;           // or NULL
    void *progress_arg;
};

struct uvea_world_result {
    enum uvea_verdict verdict;
    char reason[512];       // one sentence, empty for a pass
    uint64_t requests;      // of the scenario
    uint64_t responses;     // answers that arrived, of 3 x requests
    uint64_t disagreements; // requests whose three answers differ beyond node_id
    uint64_t mismatches;    // answers or opened values that differ from the oracle's
    uint64_t records;       // in the database at the end
    uint64_t sim_ns;
    uint64_t steps;
    uint64_t events;
    uint64_t comparisons; // per party
    uint64_t bytes_sent[UVEA_PARTY_COUNT];
    uint8_t hash[UVEA_SIM_HASH_BYTES];         // of every event
    uint8_t answers_hash[UVEA_SIM_HASH_BYTES]; // of the answers and of the candidates opened for
                                               // them, the same for every path of the scan
    struct uvea_sim_difference difference;     // with options.compare
};

// Finds what is wrong with a scenario before it is run: that it has no requests, or cannot be
// carried out as far as this is known. Errors as of uvea_world_run, and USAGE for a scenario
// without requests.
UVEA_MUST_USE enum uvea_error uvea_world_check(const struct uvea_scenario *scenario,
                                               struct uvea_error_context *context);

// Runs the scenario with its seed. A verdict other than a pass is no error. Errors: FORMAT or IO
// for template files (the sentence names file and line), NOT_FOUND when a template file does not
// exist, MEMORY. result is filled only on OK.
UVEA_MUST_USE enum uvea_error uvea_world_run(const struct uvea_scenario *scenario,
                                             const struct uvea_world_options *options,
                                             struct uvea_world_result *result,
                                             struct uvea_error_context *context);

#endif
