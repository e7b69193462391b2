// The client of a world: makes each planned request when its turn comes, shares it out, sends it to
// the parties and reads what each of them answers, all over HTTP and with patience: what fails is
// tried again until the world's time is up. What it sends and reads goes into the ledger.
#ifndef UVEA_SIM_WORLD_CLIENT_H
#define UVEA_SIM_WORLD_CLIENT_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/rt.h"
#include "core/service/share_object.h"
#include "sim/world/leak.h"
#include "sim/world/ledger.h"
#include "sim/world/population.h"
#include "sim/world/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the client asks the world for when the plan says restart.
typedef void uvea_client_restart_fn(void *arg, const struct uvea_request_plan *plan);

struct uvea_client {
    // given
    struct uvea_rt *rt;
    const struct uvea_scenario *scenario;
    struct uvea_population *population;
    struct uvea_ledger *ledger;
    const char *addresses[UVEA_PARTY_COUNT]; // of the parties' HTTP servers
    uint8_t public_keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    struct uvea_leak *leak; // is told what each party gets
    uint64_t deadline_ns;   // by the client's clock
    uvea_client_restart_fn *restart;
    void *restart_arg;
    uvea_world_progress_fn *progress;
    void *progress_arg;
    // found
    size_t sent;                     // requests accepted, restarts not counted
    uint64_t read[UVEA_PARTY_COUNT]; // results
    uint64_t retried_posts;
    bool finished; // every request was answered by all three parties
    bool bad_plan; // a request cannot be made as the scenario says
    enum uvea_error error;
    struct uvea_error_context reason; // empty when finished
};

// The task; arg is the struct uvea_client.
void uvea_client_run(void *arg);

#endif
