// What the files of the world share. Private to them.
#ifndef UVEA_SIM_WORLD_WORLD_IMPL_H
#define UVEA_SIM_WORLD_WORLD_IMPL_H

#include "core/store/store.h"
#include "sim/runtime/sim.h"
#include "sim/tls/tls.h"
#include "sim/world/client.h"
#include "sim/world/inject.h"
#include "sim/world/leak.h"
#include "sim/world/ledger.h"
#include "sim/world/machine.h"
#include "sim/world/population.h"
#include "sim/world/world.h"

enum { UVEA_WORLD_CLIENT = UVEA_PARTY_COUNT }; // the client's node

struct uvea_world {
    struct uvea_scenario scenario; // expanded
    const struct uvea_world_options *options;
    struct uvea_sim *sim;
    struct uvea_sim_tls *tls; // NULL: off
    struct uvea_ledger *ledger;
    struct uvea_ledger *second; // knows results only; NULL: there is none
    struct uvea_population population;
    struct uvea_machine machines[UVEA_PARTY_COUNT];
    struct uvea_client client;
    struct uvea_injector injector;
    struct uvea_leak leak;
    uint64_t marks[UVEA_MARK_COUNT];
    uint64_t begun[UVEA_PARTY_COUNT]; // largest first sequence of a batch of theirs
};

// The three parties' stores, while their processes do not run. Close them also after a failure.
UVEA_MUST_USE enum uvea_error uvea_world_open_stores(struct uvea_world *world,
                                                     struct uvea_store *stores[UVEA_PARTY_COUNT],
                                                     struct uvea_error_context *context);
void uvea_world_close_stores(struct uvea_store *stores[UVEA_PARTY_COUNT]);

#endif
