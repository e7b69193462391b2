// Replicated bits, 64 lanes to a word, in planes: XOR is local, an AND of any number of words is
// one message. Operands have equal plane counts and words. Everything but what `reveal` gives back
// is secret. Source: wire.md 5, 6.3.
#ifndef UVEA_CORE_MPC_BITS_H
#define UVEA_CORE_MPC_BITS_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

// A view of `count` planes from `first` on.
struct uvea_planes uvea_planes_at(const struct uvea_planes *planes, size_t first, size_t count);

static inline size_t uvea_planes_total(const struct uvea_planes *planes)
{
    return planes->plane_count * planes->words;
}

// out may be x or y.
void uvea_mpc_xor(const struct uvea_planes *x, const struct uvea_planes *y,
                  struct uvea_planes *out);
// Complements both halves, which inverts the secret because three components are an odd number.
void uvea_mpc_not(const struct uvea_planes *x, struct uvea_planes *out);
// x AND a public word pattern of as many words as x has in all.
void uvea_mpc_and_public(const struct uvea_planes *x, const uint64_t *pattern,
                         struct uvea_planes *out);

// This party's XOR term of x AND y: uvea_planes_total words. out may not overlap x or y.
void uvea_mpc_and_term(const struct uvea_planes *x, const struct uvea_planes *y, uint64_t *out);

// x->a holds XOR terms, gate after gate, and becomes a share of their XOR: the second half of any
// group of ANDs. One message of uvea_planes_total words to next, one from prev; nothing when there
// are none. Counts the words as AND gates.
UVEA_MUST_USE enum uvea_error uvea_mpc_reshare_and(struct uvea_session *session,
                                                   struct uvea_planes *x);

// out = x AND y, one message. out may not overlap x or y.
UVEA_MUST_USE enum uvea_error uvea_mpc_and(struct uvea_session *session,
                                           const struct uvea_planes *x, const struct uvea_planes *y,
                                           struct uvea_planes *out);

// One plane of `lanes` bits in the clear, padding zero (open_bin): packed bits to next, the same
// from prev. The caller names its leakage entry in docs/threat-model.md.
UVEA_MUST_USE enum uvea_error uvea_mpc_reveal_bits(struct uvea_session *session,
                                                   const struct uvea_planes *x, size_t lanes,
                                                   uint64_t *out);

#endif
