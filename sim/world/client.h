// The client of a world: makes each planned request when its turn comes, shares it out, sends it to
// the three parties, waits for their answers and has them judged. Stops at the first fault.
#ifndef UVEA_SIM_WORLD_CLIENT_H
#define UVEA_SIM_WORLD_CLIENT_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/rt.h"
#include "core/service/request.h"
#include "oracle/decide.h"
#include "sim/world/answers.h"
#include "sim/world/intake.h"
#include "sim/world/judge.h"
#include "sim/world/population.h"
#include "sim/world/world.h"

#include <stdbool.h>

struct uvea_client {
    // given
    struct uvea_rt *rt;
    const struct uvea_scenario *scenario;
    struct uvea_population *population;
    struct uvea_oracle_model *model;
    const char *addresses[UVEA_PARTY_COUNT];
    struct uvea_response *const *answers; // UVEA_PARTY_COUNT, as the parties gave them
    struct uvea_answers *all_answers;     // takes in the answers to each request
    uvea_world_progress_fn *progress;
    void *progress_arg;
    // found
    uint64_t responses;
    uint64_t disagreements;
    uint64_t mismatches;
    bool finished;                    // every request was answered rightly
    bool bad_plan;                    // a request cannot be made as the scenario says
    enum uvea_error error;            // why it stopped, when nothing was judged wrong
    struct uvea_error_context reason; // empty when finished
};

// The task; arg is the struct uvea_client.
void uvea_client_run(void *arg);

#endif
