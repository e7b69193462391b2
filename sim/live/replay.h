// A scenario against parties that run somewhere else: enrols its database through the front door,
// sends its requests, collects all answers, and has them judged by the same oracle and ledger as a
// simulated run. Works over any runtime, so that it is tested in the simulator.
#ifndef UVEA_SIM_LIVE_REPLAY_H
#define UVEA_SIM_LIVE_REPLAY_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/rt.h"
#include "core/service/share_object.h"
#include "core/store/store.h"
#include "sim/live/rows.h"
#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What to do about a cluster that a replay has been at.
#define UVEA_REPLAY_FRESH                                                                          \
    "a replay enrols its own records and needs a fresh cluster: ./dev cluster down and up, or "    \
    "another directory for uvea cluster init"

enum uvea_replay_act { UVEA_REPLAY_START, UVEA_REPLAY_STOP, UVEA_REPLAY_KILL, UVEA_REPLAY_ACTS };
const char *uvea_replay_act_text(enum uvea_replay_act act);

// What can be done to the parties from outside. All zero: nothing.
struct uvea_replay_control {
    void *arg;
    unsigned can[UVEA_PARTY_COUNT];     // bit 1 << enum uvea_replay_act
    const char *logs[UVEA_PARTY_COUNT]; // where their output goes, for sentences; NULL: not known
    // (blocks) STOP and KILL return when the process has ended, or when there is none. START fails
    // when it runs already. Of what `can` says only.
    enum uvea_error (*act)(void *arg, unsigned party, enum uvea_replay_act act,
                           struct uvea_error_context *context);
    // The store of a party that is stopped. IO while it is still in use. NULL: no store is known.
    enum uvea_error (*open_store)(void *arg, unsigned party, struct uvea_store **store,
                                  struct uvea_error_context *context);
};

static inline bool uvea_replay_can(const struct uvea_replay_control *control, unsigned party,
                                   enum uvea_replay_act act)
{
    return (control->can[party] & 1u << act) != 0;
}

struct uvea_replay_progress {
    size_t enrolled; // of the scenario's records; answered by all parties, as below
    size_t enrolments;
    size_t answered; // of the requests behind them, restarts not counted
    size_t requests;
};
typedef void uvea_replay_progress_fn(void *arg, const struct uvea_replay_progress *progress);

// Borrowed, all of it.
struct uvea_replay_config {
    struct uvea_rt *rt;
    bool simulated; // rt is of the simulator
    const struct uvea_scenario *scenario;
    const char *addresses[UVEA_PARTY_COUNT]; // of the parties' HTTP servers
    uint8_t public_keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    struct uvea_replay_control control;
    uint64_t pace_ns;     // between two requests, or 0: as the scenario says
    uint64_t patience_ns; // longest time without any answer
    bool ignore_faults;   // that only the simulator can bring about; else they are refused
    bool carries_on;      // also after a wrong answer
    // Whether to end now, in order: what was found is still judged, told and true. NULL: never.
    // Asked whenever the replay waits. It is over within the ten seconds that one call may take.
    bool (*interrupted)(void);
    uvea_replay_progress_fn *progress; // or NULL; called whenever it waits for answers
    void *progress_arg;
};

enum { UVEA_REPLAY_IGNORED_CHARS = 400 };

// All zero before; release with uvea_replay_result_deinit.
struct uvea_replay_result {
    enum uvea_verdict verdict;
    bool interrupted; // before its end, and nothing was wrong so far; the verdict is NO_PROGRESS
    char reason[512]; // one sentence, empty for a pass
    char ledger[512]; // of the check of the stores: what came of it, or why it was left out
    bool ledger_checked;
    char afterwards[512]; // why the parties are not ready again behind that check; empty: they are
    char ignored[UVEA_REPLAY_IGNORED_CHARS]; // faults that were left out, empty for none
    uint64_t enrolments;                     // records of the scenario
    uint64_t enrolled;                       // of these, answered by all parties
    uint64_t enrolling_ns;
    uint64_t requests; // of the scenario, without its database
    uint64_t sent;     // of these
    uint64_t responses;
    uint64_t disagreements; // these two also of enrolments
    uint64_t mismatches;
    uint64_t records;
    uint64_t batches;
    uint64_t errors;
    uint64_t elapsed_ns;     // from the first request behind the enrolments to the last answer
    uint64_t bytes_sent;     // bodies of HTTP requests, enrolments included
    uint64_t bytes_received; // and of the answers to them
    uint8_t answers_hash[UVEA_LEDGER_HASH_BYTES]; // without enrolments: a simulated run's
    uint64_t *latencies_ns; // owned, ascending: acceptance to third answer, without enrolments
    size_t latency_count;
    struct uvea_rows rows;         // every request with its answers, without enrolments
    struct uvea_buf common_config; // JSON, as party 0 has it
};
void uvea_replay_result_deinit(struct uvea_replay_result *result);

// "interrupted", or the text of the verdict.
const char *uvea_replay_verdict_text(const struct uvea_replay_result *result);

// The q-th of 1000 parts of the requests were answered within this time; 0 when there are none.
uint64_t uvea_replay_latency_ns(const struct uvea_replay_result *result, unsigned q);

// A copy without the faults that only the simulator can bring about: what is left of the scenario
// with ignore_faults.
UVEA_MUST_USE enum uvea_error uvea_replay_calm(const struct uvea_scenario *in,
                                               struct uvea_scenario *out);

// (blocks) Before anything is sent: FORMAT or USAGE names what the scenario asks for and cannot
// have (faults, restarts without commands, a class), the field in which the cluster is configured
// otherwise, or that it is not empty; TIMEOUT: a party does not answer; CLOSED: it was interrupted.
// Then all of it.
// A verdict other than a pass is no error. What is left of the result on an error is released by
// the caller too.
UVEA_MUST_USE enum uvea_error uvea_replay_run(const struct uvea_replay_config *config,
                                              struct uvea_replay_result *result,
                                              struct uvea_error_context *context);

#endif
