// From a scenario's options to the configurations of the simulator, the parties and the oracle.
#ifndef UVEA_SIM_WORLD_SETUP_H
#define UVEA_SIM_WORLD_SETUP_H

#include "core/base/error.h"
#include "core/service/party.h"
#include "oracle/decide.h"
#include "sim/runtime/sim.h"
#include "sim/scenario/scenario.h"

// LIMIT: more faults than a simulation takes.
UVEA_MUST_USE enum uvea_error uvea_setup_sim(const struct uvea_scenario *scenario,
                                             struct uvea_sim_config *config,
                                             struct uvea_error_context *context);

// Strings in config are literals. NOT_FOUND: this processor has not the kernels that the scenario
// names for the party.
UVEA_MUST_USE enum uvea_error uvea_setup_party(const struct uvea_scenario *scenario, unsigned index,
                                               struct uvea_party_config *config,
                                               struct uvea_error_context *context);

struct uvea_oracle_config uvea_setup_oracle(const struct uvea_scenario *scenario);

#endif
