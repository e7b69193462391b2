// A world: three parties and a client in one simulation, a scenario's requests, and a judge that
// holds every answer against the oracle's. One call is one run of one seed.
#ifndef UVEA_SIM_WORLD_WORLD_H
#define UVEA_SIM_WORLD_WORLD_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/point.h"
#include "sim/runtime/trace.h"
#include "sim/scenario/scenario.h"
#include "sim/world/ledger.h"

#include <stdbool.h>
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

// Families of faults, as a seed draws them.
#define UVEA_FAMILIES(X)                                                                           \
    X(NETWORK, "network")                                                                          \
    X(HTTP, "http")                                                                                \
    X(PROCESS, "process")                                                                          \
    X(STORAGE, "storage")                                                                          \
    X(CLOCK, "clock")                                                                              \
    X(MEMORY, "memory")                                                                            \
    X(MALFORMED, "malformed")                                                                      \
    X(HOSTILE, "hostile")

enum uvea_family {
#define UVEA_FAMILY_ENUM(name, text) UVEA_FAMILY_##name,
    UVEA_FAMILIES(UVEA_FAMILY_ENUM)
#undef UVEA_FAMILY_ENUM
        UVEA_FAMILY_COUNT,
};
const char *uvea_family_text(enum uvea_family family);

// Things that must have happened somewhere in a sweep, beside the points of core/rt/point.h.
#define UVEA_MARKS(X)                                                                              \
    X(BATCH_OF_MANY, "batch-of-many", "a batch held more than one request")                        \
    X(BATCH_MATCH, "batch-match", "a request matched an earlier one of its batch")                 \
    X(MIRROR_ATTACK, "mirror-attack", "a mirror attack was detected")                              \
    X(SHARE_REFUSED, "share-refused", "a party could not read a share")                            \
    X(QUARANTINED, "quarantined", "a malformed message was answered")                              \
    X(UPDATED, "updated", "a record was replaced")                                                 \
    X(DELETED, "record-deleted", "a record was deleted")                                           \
    X(REAUTHENTICATED, "reauthenticated", "a reauth succeeded")                                    \
    X(REPEATED_BATCH, "repeated-batch", "a batch was begun again after a restart")                 \
    X(FLEET_RESTART, "fleet-restart", "all parties were started again")                            \
    X(LAG_409, "lag-409", "a request to a peer was answered 409")                                  \
    X(RETRIED_POST, "retried-post", "a client sent the same request twice")

enum uvea_mark {
#define UVEA_MARK_ENUM(name, text, meaning) UVEA_MARK_##name,
    UVEA_MARKS(UVEA_MARK_ENUM)
#undef UVEA_MARK_ENUM
        UVEA_MARK_COUNT,
};
const char *uvea_mark_text(enum uvea_mark mark);

// The options that plan the death of each party's first process at one of its steps.
extern const enum uvea_option uvea_world_crash_steps[UVEA_PARTY_COUNT];

// Where a party stands in its life: behind the point it passed last, or before all of them.
enum { UVEA_PHASE_COUNT = UVEA_POINT_COUNT + 1, UVEA_PHASE_NONE = UVEA_POINT_COUNT };

// Where the judge has its knowledge from. RESULTS: from what clients read alone, as when it judges
// a live cluster. BOTH: two judges, one of each kind, which must agree. Not with class hostile.
#define UVEA_JUDGE_CHOICES "onlookers results both"
enum uvea_world_judge { UVEA_JUDGE_ONLOOKERS, UVEA_JUDGE_RESULTS, UVEA_JUDGE_BOTH };

struct uvea_world_options {
    enum uvea_world_judge judge;
    uvea_ledger_answer_fn *answer; // is shown every request's answers at the end, or NULL
    void *answer_arg;
    FILE *trace;                                // every event as NDJSON, or NULL
    struct uvea_sim_record_list *keep;          // every event's record, or NULL
    const struct uvea_sim_record_list *compare; // an earlier run's records, or NULL
    FILE *failure_report;                       // the parties' last events on failure, or NULL
    uvea_world_progress_fn *progress;           // or NULL
    void *progress_arg;
};

struct uvea_world_result {
    enum uvea_verdict verdict;
    bool hostile;           // nothing must be answered wrongly, but not everything need be answered
    char reason[512];       // one sentence, empty for a pass
    uint64_t requests;      // of the scenario
    uint64_t responses;     // answers that arrived, of 3 x requests
    uint64_t disagreements; // requests whose three answers differ beyond node_id
    uint64_t mismatches;    // answers or opened values that differ from the oracle's
    uint64_t records;       // in the database at the end
    uint64_t sim_ns;
    uint64_t steps;
    uint64_t party_steps[UVEA_PARTY_COUNT]; // of its last process
    uint64_t events;
    uint64_t comparisons; // per party
    uint64_t bytes_sent[UVEA_PARTY_COUNT];
    uint64_t faults[UVEA_FAMILY_COUNT][UVEA_PHASE_COUNT]; // that struck, by where their victim
                                                          // stood
    uint64_t points[UVEA_POINT_COUNT];                    // how often each was passed
    uint64_t marks[UVEA_MARK_COUNT];
    uint64_t restarts;                         // of parties
    uint64_t batches;                          // committed
    uint64_t errors;                           // requests answered with an error
    uint8_t hash[UVEA_SIM_HASH_BYTES];         // of every event
    uint8_t answers_hash[UVEA_SIM_HASH_BYTES]; // of the answers and of the candidates opened for
                                               // them, the same for every path of the scan
    struct uvea_sim_difference difference;     // with options.compare
};

// Finds what is wrong with a scenario before it is run: that it has no requests, or cannot be
// carried out as far as this is known. Errors as of uvea_world_run, and USAGE for a scenario
// without requests. *line: the line of the scenario that the sentence speaks of; 0: none.
UVEA_MUST_USE enum uvea_error uvea_world_check(const struct uvea_scenario *scenario, unsigned *line,
                                               struct uvea_error_context *context);

// Runs the scenario with its seed. A verdict other than a pass is no error. Errors: USAGE a judge
// that the class does not allow, what options->answer returned, FORMAT or IO for template files
// (the sentence names file and line), NOT_FOUND when a template file does not exist, MEMORY. result
// is filled only on OK.
UVEA_MUST_USE enum uvea_error uvea_world_run(const struct uvea_scenario *scenario,
                                             const struct uvea_world_options *options,
                                             struct uvea_world_result *result,
                                             struct uvea_error_context *context);

#endif
