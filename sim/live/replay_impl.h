// What the files of the replay share. Private to them.
#ifndef UVEA_SIM_LIVE_REPLAY_IMPL_H
#define UVEA_SIM_LIVE_REPLAY_IMPL_H

#include "core/base/error.h"
#include "sim/live/keeper.h"
#include "sim/live/replay.h"
#include "sim/live/rows.h"
#include "sim/scenario/scenario.h"
#include "sim/world/client.h"
#include "sim/world/ledger.h"
#include "sim/world/population.h"

// The scenario as it is carried out: mixes drawn, faults left out (listed in ignored), the database
// as requests in front of the others (*enrolments of them). out has memory of its own. USAGE names
// what a live cluster cannot do, or what there is no command for.
UVEA_MUST_USE enum uvea_error uvea_replay_plan(const struct uvea_replay_config *config,
                                               struct uvea_scenario *out, size_t *enrolments,
                                               char ignored[UVEA_REPLAY_IGNORED_CHARS],
                                               struct uvea_error_context *context);

// (blocks) Whether the cluster is what the scenario asks for, and empty. Appends party 0's common
// configuration. The keeper is attended to meanwhile. Errors: see uvea_replay_run.
UVEA_MUST_USE enum uvea_error uvea_replay_check(const struct uvea_replay_config *config,
                                                struct uvea_keeper *keeper,
                                                struct uvea_buf *common_config,
                                                struct uvea_error_context *context);

struct uvea_replay {
    const struct uvea_replay_config *config;
    struct uvea_replay_result *result;
    struct uvea_scenario scenario; // as it is carried out
    size_t enrolments;
    size_t requests; // behind them, without restarts
    uint64_t began_ns;
    struct uvea_population population;
    struct uvea_ledger *ledger;
    struct uvea_client client;
    struct uvea_keeper keeper;
    struct uvea_rows enrolled;       // answers to the enrolments
    struct uvea_client_times *times; // owned, by sequence number - 1
};

// (blocks) Behind the last answer: stops the parties, looks at their stores, and starts them again
// whatever was found, until they are ready. Or says in the result why not.
UVEA_MUST_USE enum uvea_error uvea_replay_check_ledger(struct uvea_replay *replay,
                                                       struct uvea_error_context *context);

struct uvea_replay_progress uvea_replay_progress(const struct uvea_replay *replay);

// Behind the client's end: rows, figures and hash of the result.
UVEA_MUST_USE enum uvea_error uvea_replay_collect(struct uvea_replay *replay);

#endif
