// From a scenario's options to the configurations of the simulator, the parties and the ledger.
#ifndef UVEA_SIM_WORLD_SETUP_H
#define UVEA_SIM_WORLD_SETUP_H

#include "core/base/error.h"
#include "core/service/node.h"
#include "sim/runtime/sim.h"
#include "sim/scenario/scenario.h"
#include "sim/world/ledger.h"

#include <jansson.h>

void uvea_setup_sim(const struct uvea_scenario *scenario, struct uvea_sim_config *config);

// The addresses of the parties' HTTP servers: literals.
extern const char *const uvea_setup_http_addresses[UVEA_PARTY_COUNT];
extern const char *const uvea_setup_mesh_addresses[UVEA_PARTY_COUNT];

// A party's keys for share objects, from the stream "keys/<party>".
UVEA_MUST_USE enum uvea_error uvea_setup_keys(const struct uvea_scenario *scenario, unsigned index,
                                              struct uvea_share_keys *keys);

// Strings in config are literals; the observer is left out. NOT_FOUND: this processor has not the
// kernels that the scenario names for the party.
UVEA_MUST_USE enum uvea_error uvea_setup_node(const struct uvea_scenario *scenario, unsigned index,
                                              struct uvea_node_config *config,
                                              struct uvea_error_context *context);

// What parties that run the scenario have in common (uvea_node_common_config); NULL: MEMORY.
json_t *uvea_setup_common_config(const struct uvea_scenario *scenario);

struct uvea_ledger_config uvea_setup_ledger(const struct uvea_scenario *scenario);

#endif
