// The agreements of three parties over HTTP, as straight-line code that waits: start-up barriers,
// exchange of states, batch size, batch entries, heartbeat. Every wait has a deadline and names what
// it waited for and what came last. Each looks for a stop of its own party between two attempts and
// ends with its error. Sources: service.md 8; wire.md 9.
#ifndef UVEA_CORE_COORD_COORD_H
#define UVEA_CORE_COORD_COORD_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/coord/state.h"
#include "core/coord/sync.h"
#include "core/rt/rt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Defaults: uvea_coord_timing_default.
struct uvea_coord_timing {
    uint64_t lag_ns_min;       // 5 ms: first pause while a peer is behind (409, stale id, stale hash)
    uint64_t lag_ns_max;       // 100 ms: the pause doubles up to this, with jitter of a half
    uint64_t transport_ns;     // 1 s: pause after a transport error or another status
    uint64_t attempt_ns;       // 10 s: one HTTP attempt
    uint64_t startup_ns;       // 300 s: each start-up agreement
    uint64_t batch_size_ns;    // 10 s
    uint64_t entries_ns;       // 20 s, then it begins again, until the party is stopped
    uint64_t idle_ns;          // 20 ms: between two agreements on an empty batch
    uint64_t heartbeat_ns;     // 2 s
    uint32_t heartbeat_initial_retries; // 10
    uint32_t heartbeat_failures;        // 3 in a row stop the party
};
struct uvea_coord_timing uvea_coord_timing_default(void);

// Borrows everything. addresses: each party's HTTP server; the own one is not used.
struct uvea_coord_link {
    struct uvea_rt *rt;
    struct uvea_coord *coord;
    struct uvea_party party;
    const char *addresses[UVEA_PARTY_COUNT];
    struct uvea_coord_timing timing;
};

// ---- start-up (service.md 8.2). All block.

// Barrier A: hears from both peers and remembers their boot ids. STATE: a peer that is ready already
// does not know our boot id, so it belongs to an older fleet.
UVEA_MUST_USE enum uvea_error uvea_coord_meet(const struct uvea_coord_link *link,
                                              struct uvea_error_context *context);

// Barrier B: until each peer lists the current boot ids of both others.
UVEA_MUST_USE enum uvea_error uvea_coord_see_all(const struct uvea_coord_link *link,
                                                 struct uvea_error_context *context);

// Both peers' states, at their places in states (the own place is left alone).
UVEA_MUST_USE enum uvea_error
uvea_coord_exchange(const struct uvea_coord_link *link,
                    struct uvea_sync_state states[UVEA_PARTY_COUNT],
                    struct uvea_error_context *context);

// Until both peers are ready. STATE: a boot id changed meanwhile.
UVEA_MUST_USE enum uvea_error uvea_coord_await_ready(const struct uvea_coord_link *link,
                                                     struct uvea_error_context *context);

// ---- batches (service.md 8.4, 8.5). All block.

// Publishes `available` (at most UVEA_COORD_ENTRIES_MAX) under batch_id and agrees on the smallest of
// the three counts. *agreed may be 0: the caller pauses for idle_ns and asks again.
UVEA_MUST_USE enum uvea_error uvea_coord_agree_size(const struct uvea_coord_link *link,
                                                    uint64_t batch_id, uint32_t available,
                                                    uint32_t *agreed,
                                                    struct uvea_error_context *context);

// Publishes this party's validity bits and the hash of its batch (SHA-256 over the message ids), and
// waits until both peers show the same hash; valid becomes the AND of the three parties' bits.
UVEA_MUST_USE enum uvea_error uvea_coord_agree_entries(const struct uvea_coord_link *link,
                                                       uint64_t batch_id, bool *valid,
                                                       size_t count,
                                                       const uint8_t sha[UVEA_COORD_SHA_BYTES],
                                                       struct uvea_error_context *context);

// ---- heartbeat

struct uvea_heartbeat;

// Watches both peers in a task of its own; stops the party (uvea_coord_stop) when one is gone, is
// shutting down or was started anew.
UVEA_MUST_USE enum uvea_error uvea_heartbeat_open(const struct uvea_coord_link *link,
                                                  struct uvea_heartbeat **heartbeat);
// (blocks) NULL is allowed.
void uvea_heartbeat_close(struct uvea_heartbeat *heartbeat);

#endif
