// The guard: a task that looks every now and then whether the main task still has a right to wait
// for its peers, and ends the mesh's generation when it has not; and whether a peer has left the
// mesh between two batches, which stops the party. Inside the module.
#ifndef UVEA_CORE_SERVICE_GUARD_H
#define UVEA_CORE_SERVICE_GUARD_H

#include "core/base/error.h"
#include "core/coord/state.h"
#include "core/net/mesh.h"
#include "core/rt/rt.h"

#include <stdint.h>

// What the main task is at.
enum uvea_guard_phase {
    UVEA_GUARD_CONNECTING, // the mesh may be connecting: a stop makes that fail
    UVEA_GUARD_STARTING,   // connected: any stop ends it
    UVEA_GUARD_IDLE,       // waits for nothing but agreements, which look for a stop themselves
    UVEA_GUARD_BATCH,      // a batch is in work: it may end before an orderly stop, within bounds
};

// Borrows everything; the mesh is closed after the guard.
struct uvea_guard_config {
    struct uvea_rt *rt;
    struct uvea_coord *coord;
    struct uvea_mesh *mesh;
    uint64_t batch_ns_max; // a batch in work
    uint64_t drain_ns_max; // a batch in work after an orderly stop was asked for
};

struct uvea_guard;

UVEA_MUST_USE enum uvea_error uvea_guard_open(const struct uvea_guard_config *config,
                                              struct uvea_guard **guard);
// (blocks) NULL is allowed.
void uvea_guard_close(struct uvea_guard *guard);

// Begins in UVEA_GUARD_CONNECTING.
void uvea_guard_enter(struct uvea_guard *guard, enum uvea_guard_phase phase);

#endif
