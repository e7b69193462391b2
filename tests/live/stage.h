// Three simulated parties and a replay as their client, in place of a live cluster.
#ifndef UVEA_TESTS_LIVE_STAGE_H
#define UVEA_TESTS_LIVE_STAGE_H

#include "sim/live/replay.h"
#include "sim/runtime/sim.h"
#include "sim/world/machine.h"

#define STAGE_SMALL "sessions: 8\nconnections: 2\n"

struct stage {
    struct uvea_sim *sim;
    struct uvea_ledger *ledger; // that the machines talk to; judges nothing
    struct uvea_machine machines[UVEA_PARTY_COUNT];
    struct uvea_rt *rt;               // the client's
    struct uvea_scenario cluster;     // what the parties are configured by
    struct uvea_scenario scenario;    // what is replayed
    struct uvea_replay_config config; // filled; a test may change it before the run
    uint64_t after_ns;                // when the first replay begins
    unsigned replays;                 // one after the other; 1 unless said otherwise
    struct uvea_replay_result result; // of the last
    enum uvea_error error;
    struct uvea_error_context context;
    unsigned acts[UVEA_REPLAY_ACTS]; // how often each was done
    bool broken[UVEA_PARTY_COUNT];   // the command to start it fails
    uvea_task_fn *beside; // runs beside the replay, with the stage, until it is over; NULL
    bool over;
    uint64_t kills_seed; // for a task beside it
    unsigned kills;
};

// Parties as `cluster` says, a replay of `scenario`; both are YAML.
struct stage *stage_open(const char *cluster, const char *scenario);
// Until the replay is over.
void stage_run(struct stage *stage);
void stage_close(struct stage *stage);

// Both, and wants a pass with every request answered.
void stage_expect_pass(const char *cluster, const char *scenario);

void stage_load(const char *text, struct uvea_scenario *scenario);

#endif
