// From a scenario that leaves things to its seed to one that says everything: a mix becomes its
// requests, swarm.faults becomes a list of faults, clocks and delays. All that a run of the first
// does, a run of the second does as well; so a seed that failed can be written down, read, and made
// smaller.
#ifndef UVEA_SIM_CHAOS_EXPAND_H
#define UVEA_SIM_CHAOS_EXPAND_H

#include "core/base/error.h"
#include "sim/scenario/scenario.h"

// out has memory of its own (uvea_scenario_deinit) and neither mixes nor swarm.faults.
UVEA_MUST_USE enum uvea_error uvea_expand(const struct uvea_scenario *in,
                                          struct uvea_scenario *out);

#endif
