// The agreements of three parties over HTTP, as straight-line code that waits: start-up barriers,
// exchange of states, batch size, batch entries, heartbeat. Every wait has a deadline and names
// what it waited for and what came last. Each looks for a stop of its own party between two
// attempts and ends with its error. Sources: service.md 8; wire.md 9.
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
//
// A peer that answers is alive, however far behind it is: a commit on a disk that stalls takes half
// a minute and must not end the other two parties. So an agreement on a batch has two bounds: how
// long a peer may give no usable answer at all (that is the heartbeat's business, which decides
// sooner; this bound is for the case that it does not), and how long it may answer that it is not
// there yet, which is as long as a batch may take.
struct uvea_coord_timing {
    uint64_t lag_ns_min;   // 5 ms: first pause while a peer is behind (409, stale id, stale hash)
    uint64_t lag_ns_max;   // 100 ms: the pause doubles up to this; all pauses vary by a half
    uint64_t transport_ns; // 1 s: pause after a transport error or another status
    uint64_t attempt_ns;   // 10 s: one HTTP attempt, to the last byte of the answer
    uint64_t startup_ns;   // 300 s: each start-up agreement
    uint64_t silence_ns;   // 60 s: agreements on a batch: longest time without a usable answer
    uint64_t behind_ns;    // 600 s: agreements on a batch: in all
    uint64_t idle_ns;      // 20 ms: between two agreements on an empty batch
    uint64_t heartbeat_ns; // 2 s
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

// Barrier A: hears from both peers and remembers their boot ids; a peer that is shutting down is
// waited for. RESET: a peer that is ready already does not know our boot id, so it belongs to an
// older fleet.
UVEA_MUST_USE enum uvea_error uvea_coord_meet(const struct uvea_coord_link *link,
                                              struct uvea_error_context *context);

// Barrier B: until each peer lists the current boot ids of both others. A peer that is started anew
// meanwhile is met again: nothing has been agreed with it yet.
UVEA_MUST_USE enum uvea_error uvea_coord_see_all(const struct uvea_coord_link *link,
                                                 struct uvea_error_context *context);

// Both peers' states, at their places in states (the own place is left alone). RESET: a peer was
// started anew since it was met, so that the state may not be that of the one that was.
UVEA_MUST_USE enum uvea_error uvea_coord_exchange(const struct uvea_coord_link *link,
                                                  struct uvea_sync_state states[UVEA_PARTY_COUNT],
                                                  struct uvea_error_context *context);

// Until both peers are ready. RESET: a boot id changed meanwhile. CLOSED: a peer is shutting down.
UVEA_MUST_USE enum uvea_error uvea_coord_await_ready(const struct uvea_coord_link *link,
                                                     struct uvea_error_context *context);

// ---- batches (service.md 8.4, 8.5). All block.

// Publishes `available` (of which UVEA_COORD_ENTRIES_MAX count) under batch_id and agrees on the
// smallest of the three counts. *agreed may be 0, and is at once when available is: the caller
// pauses for idle_ns and asks again under the same id. An answer about another batch than the one
// asked for is stale, whether older or newer.
//
// Nobody can be left behind here: a party goes on to the next id only after
// uvea_coord_agree_entries, which needs both peers' entries, which they publish only after they
// have read this party's count.
UVEA_MUST_USE enum uvea_error uvea_coord_agree_size(const struct uvea_coord_link *link,
                                                    uint64_t batch_id, uint32_t available,
                                                    uint32_t *agreed,
                                                    struct uvea_error_context *context);

// Publishes this party's validity bits and the hash of its batch (SHA-256 over the message ids),
// and waits until both peers show the same hash; valid becomes the AND of the three parties' bits.
// count is 1 to UVEA_COORD_ENTRIES_MAX. Only the hash tells batches apart: those that follow each
// other differ in it, because no message is in two of them. STATE: equal hashes over different
// counts.
UVEA_MUST_USE enum uvea_error uvea_coord_agree_entries(const struct uvea_coord_link *link,
                                                       uint64_t batch_id, bool *valid, size_t count,
                                                       const uint8_t sha[UVEA_COORD_SHA_BYTES],
                                                       struct uvea_error_context *context);

// ---- heartbeat

struct uvea_heartbeat;

// Watches each peer in a task of its own; stops the party (uvea_coord_stop): CLOSED when a peer is
// shutting down, has left heartbeat_failures beats in a row without any answer, or has given none
// of use (another status, half a body) for silence_ns; RESET when it was started anew; TIMEOUT when
// either silence came before it was heard at all.
UVEA_MUST_USE enum uvea_error uvea_heartbeat_open(const struct uvea_coord_link *link,
                                                  struct uvea_heartbeat **heartbeat);
// (blocks) NULL is allowed.
void uvea_heartbeat_close(struct uvea_heartbeat *heartbeat);

#endif
