// What a run came to. Private to the world.
#ifndef UVEA_SIM_WORLD_CONCLUDE_H
#define UVEA_SIM_WORLD_CONCLUDE_H

#include "core/base/error.h"
#include "sim/runtime/sim.h"
#include "sim/world/world_impl.h"

// After the simulation has ended. MEMORY, or the ledger's own failure.
UVEA_MUST_USE enum uvea_error uvea_world_conclude(struct uvea_world *world,
                                                  const struct uvea_sim_outcome *outcome,
                                                  struct uvea_world_result *result,
                                                  struct uvea_error_context *context);

#endif
