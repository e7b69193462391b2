// The predicates of the scan: from additive contributions to opened match bits.
// A comparison is a pair (code dot C, half mask dot m), M = 2m mod 2^16; arrays are interleaved:
// contributions[2j] = this party's additive share of C, [2j+1] of m, both mod 2^16.
// Opened bits: comparison j is bit j mod 64 of word j/64, 1 = match, padding zero.
// Sources: wire.md 6.1, 6.7, 6.9, 6.10; service.md 2.3.
#ifndef UVEA_CORE_MPC_PREDICATE_H
#define UVEA_CORE_MPC_PREDICATE_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

enum uvea_predicate_form {
    UVEA_PREDICATE_DENSE,    // 66 AND planes in 17 messages; keeps the refreshed distances
    UVEA_PREDICATE_TWO_TERM, // 15 AND planes in 16 messages; nothing refreshed (variant L)
};

enum { UVEA_STRICT_THRESHOLD = 20316 }; // trunc((1 - 2 * 0.345) * 65536)

// Anonymous threshold, 4C - M >= 0, revealed (leakage entry L1): ceil(count/64) words into opened.
// distances: with DENSE, on success, the refreshed pairs (C, M) as Rep3 in the same interleaving
// (2*count values; the caller deinits it); with TWO_TERM it is left empty and uvea_mpc_refresh
// makes the pairs of chosen comparisons later. May be NULL when the caller wants none. count = 0
// costs no message.
UVEA_MUST_USE enum uvea_error uvea_mpc_anonymous_match(struct uvea_session *session,
                                                       enum uvea_predicate_form form,
                                                       const uint16_t *contributions, size_t count,
                                                       uint64_t *opened,
                                                       struct uvea_share16 *distances);

// galois_ring_to_rep3 (6.1): additive u16 -> Rep3, count values, 1 message. out is initialised
// here.
UVEA_MUST_USE enum uvea_error uvea_mpc_refresh(struct uvea_session *session,
                                               const uint16_t *additive, size_t count,
                                               struct uvea_share16 *out);

// Unsigned and signed lift u16 -> u32 (6.7). out is initialised here.
UVEA_MUST_USE enum uvea_error uvea_mpc_lift_u32(struct uvea_session *session,
                                                const struct uvea_share16 *in,
                                                struct uvea_share32 *out);
UVEA_MUST_USE enum uvea_error uvea_mpc_lift_signed_u32(struct uvea_session *session,
                                                       const struct uvea_share16 *in,
                                                       struct uvea_share32 *out);

// Strict threshold with pre-lifted masks, not (MSB(65536 C - 20316 M)), revealed (leakage entry
// L2). codes and masks have equal counts; masks are the unsigned lift of M.
UVEA_MUST_USE enum uvea_error uvea_mpc_strict_match(struct uvea_session *session,
                                                    const struct uvea_share16 *codes,
                                                    const struct uvea_share32 *masks,
                                                    uint64_t *opened);

#endif
