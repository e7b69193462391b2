// Carries out a scenario's list of faults in a world, each at its time, and counts those that
// struck by family and by where their victim stood.
#ifndef UVEA_SIM_WORLD_INJECT_H
#define UVEA_SIM_WORLD_INJECT_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "sim/runtime/http.h"
#include "sim/runtime/sim.h"
#include "sim/scenario/scenario.h"
#include "sim/world/machine.h"
#include "sim/world/world.h"

#include <stdbool.h>
#include <stdint.h>

struct uvea_injection;

// All zero but for the first three members at the start.
struct uvea_injector {
    struct uvea_sim *sim;
    const struct uvea_scenario *scenario;
    struct uvea_machine *machines; // UVEA_PARTY_COUNT
    // its own
    struct uvea_injection *injections; // one per fault; owned
    struct uvea_sim_http_faults http[UVEA_PARTY_COUNT];
    struct uvea_sim_disk_faults disk[UVEA_PARTY_COUNT];
    uint64_t counts[UVEA_FAMILY_COUNT][UVEA_PHASE_COUNT];
};

// Before the run.
UVEA_MUST_USE enum uvea_error uvea_injector_arm(struct uvea_injector *injector,
                                                struct uvea_error_context *context);
void uvea_injector_deinit(struct uvea_injector *injector);

// When the last of the listed faults is over, in simulated time.
uint64_t uvea_injector_end_ns(const struct uvea_scenario *scenario);

enum uvea_family uvea_fault_family(enum uvea_fault_plan_kind kind);

#endif
