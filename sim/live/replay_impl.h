// What the files of the replay share. Private to them.
#ifndef UVEA_SIM_LIVE_REPLAY_IMPL_H
#define UVEA_SIM_LIVE_REPLAY_IMPL_H

#include "core/base/error.h"
#include "sim/live/replay.h"
#include "sim/scenario/scenario.h"

// The scenario as it is carried out: mixes drawn, faults left out (listed in ignored), the database
// as requests in front of the others (*enrolments of them). out has memory of its own. USAGE names
// what a live cluster cannot do, or what there is no command for.
UVEA_MUST_USE enum uvea_error uvea_replay_plan(const struct uvea_replay_config *config,
                                               struct uvea_scenario *out, size_t *enrolments,
                                               char ignored[UVEA_REPLAY_IGNORED_CHARS],
                                               struct uvea_error_context *context);

// (blocks) Whether the cluster is what the scenario asks for, and empty. Appends party 0's common
// configuration. Errors: see uvea_replay_run.
UVEA_MUST_USE enum uvea_error uvea_replay_check(const struct uvea_replay_config *config,
                                                struct uvea_buf *common_config,
                                                struct uvea_error_context *context);

#endif
