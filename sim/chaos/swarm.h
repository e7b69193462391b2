// What a seed draws when swarm.faults is on. Each family of faults is on in half of the seeds
// (option `draw`), so that some runs meet one family alone and others all of them; within a family
// numbers and magnitudes are drawn separately. Lags are drawn just under, at and just over the
// times after which something in the service gives up. Streams "swarm/<family>".
// Source: simulation.md 2.
#ifndef UVEA_SIM_CHAOS_SWARM_H
#define UVEA_SIM_CHAOS_SWARM_H

#include "core/base/error.h"
#include "sim/scenario/scenario.h"

// Adds the seed's faults to the scenario's list and changes its options and requests. The list has
// room for UVEA_SCENARIO_FAULTS_MAX; drawn faults that find none are left out.
void uvea_swarm_draw(struct uvea_scenario *scenario);

#endif
