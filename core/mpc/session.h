// An MPC session: one link, one pair of random streams, one role rotation, one task at a time.
#ifndef UVEA_CORE_MPC_SESSION_H
#define UVEA_CORE_MPC_SESSION_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/mpc/prf.h"
#include "core/mpc/scratch.h"
#include "core/net/link.h"
#include "core/rt/rt.h"

#include <stdint.h>

// What this party did in the session so far. value_bytes counts encoded values (descriptor, length
// and body) without the 4-byte session id of each frame; and_words counts 64-lane AND gates.
struct uvea_traffic {
    uint64_t messages;
    uint64_t value_bytes;
    uint64_t and_words;
};

struct uvea_session {
    struct uvea_rt *rt;
    struct uvea_link *link; // borrowed
    struct uvea_party party;
    uint32_t id;         // session id: rotates roles, so all parties must agree on it
    struct uvea_prf prf; // owned
    struct uvea_traffic traffic;
    struct uvea_scratch scratch;     // owned; working memory of the operation under way
    struct uvea_error_context error; // why the last operation failed
};

// This party's role in protocols whose roles turn with the session: (party + id) mod 3.
static inline unsigned uvea_mpc_role(const struct uvea_session *session)
{
    return (session->party.index + session->id % UVEA_PARTY_COUNT) % UVEA_PARTY_COUNT;
}

// Passes on how an operation of the session ended: its sentence goes into context (may be NULL)
// when it failed.
static inline enum uvea_error uvea_session_report(const struct uvea_session *session,
                                                  enum uvea_error error,
                                                  struct uvea_error_context *context)
{
    if (error != UVEA_OK && context != NULL) {
        *context = session->error;
    }
    return error;
}

// Draws a seed, exchanges it with the neighbours (PrfKey to next, PrfKey from prev) and opens the
// two streams. On failure session is zeroed but for the sentence in session->error. After a failed
// operation a session is only good for uvea_session_deinit. wire.md 4 "seed exchange".
UVEA_MUST_USE enum uvea_error uvea_session_init(struct uvea_session *session, struct uvea_rt *rt,
                                                struct uvea_link *link, struct uvea_party party,
                                                uint32_t id, enum uvea_prf_kind kind);

// The same with given seeds: own is shared with next, prev's is prev's own. For tests and replay.
UVEA_MUST_USE enum uvea_error uvea_session_init_seeded(struct uvea_session *session,
                                                       struct uvea_rt *rt, struct uvea_link *link,
                                                       struct uvea_party party, uint32_t id,
                                                       enum uvea_prf_kind kind,
                                                       const uint8_t own[UVEA_PRF_SEED_BYTES],
                                                       const uint8_t prev[UVEA_PRF_SEED_BYTES]);

void uvea_session_deinit(struct uvea_session *session);

// The shared-seed protocol of wire.md 4 (run once, on session position 0): XOR of three parties'
// seeds.
UVEA_MUST_USE enum uvea_error uvea_session_shared_seed(struct uvea_session *session,
                                                       uint8_t out[UVEA_PRF_SEED_BYTES]);

// The drift check between requests: the three zero shares must sum to 0 mod 2^128, else DRIFT.
// Opens one u128 zero share (docs/threat-model.md, leakage entry L3). Not every drift is still
// there to be seen: two AES positions in the last 8 bytes of one 128-byte state are both refilled,
// and streams that were out of step until then go on alike.
UVEA_MUST_USE enum uvea_error uvea_session_check_drift(struct uvea_session *session);

// The state checksum exchange of wire.md 6.15: DRIFT-free parties agree on (irises, graph) or
// STATE.
UVEA_MUST_USE enum uvea_error uvea_session_check_state(struct uvea_session *session,
                                                       uint64_t irises, uint64_t graph);

#endif
