// Private to `uvea replay` and `uvea diff`: a scenario, and the cluster that it goes to.
#ifndef UVEA_SIM_CMD_TARGET_H
#define UVEA_SIM_CMD_TARGET_H

#include "core/base/error.h"
#include "core/rt/rt.h"
#include "core/tls/tls.h"
#include "sim/cmd/args.h"
#include "sim/live/cluster.h"
#include "sim/live/replay.h"
#include "sim/scenario/scenario.h"

#include <stdbool.h>
#include <stdint.h>

// What both commands are given.
struct uvea_target_arguments {
    const char *file;
    const char *cluster;
    struct uvea_arg_list overrides;
    bool has_seed;
    uint64_t seed;
    bool ignore_faults;
    bool progress;
};
// The rows of an option table that fill it.
#define UVEA_TARGET_OPTIONS(arguments)                                                             \
    {"--target", UVEA_ARG_TEXT, &(arguments)->cluster, NULL},                                      \
        {"--set", UVEA_ARG_LIST, &(arguments)->overrides, NULL},                                   \
        {"--progress", UVEA_ARG_FLAG, &(arguments)->progress, NULL},                               \
        {"--seed", UVEA_ARG_U64, &(arguments)->seed, &(arguments)->has_seed},                      \
    {                                                                                              \
        "--ignore-faults", UVEA_ARG_FLAG, &(arguments)->ignore_faults, NULL                        \
    }

struct uvea_target {
    struct uvea_scenario scenario;
    struct uvea_cluster cluster;
    struct uvea_tls *tls;
    struct uvea_rt *rt;
    struct uvea_replay_config config; // ready for a replay
    uint64_t shown_ns;                // when its progress was last shown; 0: never
};

// Reads both files, the key and the certificates, and checks the scenario. USAGE without --target.
// Sentences name the file. Close it also after a failure; it is all zero before.
UVEA_MUST_USE enum uvea_error uvea_target_open(const struct uvea_target_arguments *arguments,
                                               struct uvea_target *target,
                                               struct uvea_error_context *context);
void uvea_target_close(struct uvea_target *target);

// Behind a replay: takes away what is shown of its progress.
void uvea_target_end_progress(const struct uvea_target *target);

// What the cluster file's commands and stores allow. The arg is the target.
struct uvea_replay_control uvea_target_control(struct uvea_target *target);

#endif
