// Adding bit-sliced numbers: the circuits that turn an arithmetic share into bits.
//
// Each party splits a share locally into three binary sharings, one per component; their sum is the
// secret. A full adder on every plane leaves a sum and a carry plane, and a ripple (or, for two
// numbers, a prefix tree) adds those up. Sources: wire.md 6.4, 6.5, 6.8, 6.9.
#ifndef UVEA_CORE_MPC_ADDER_H
#define UVEA_CORE_MPC_ADDER_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

// The full adder over the three components of x (a bit-sliced arithmetic share, which itself is the
// sharing of the sum planes): terms receives this party's XOR terms of the carry planes' AND gates,
// uvea_planes_total(x) words. After they were reshared, carry_finish turns them into the carries.
void uvea_mpc_carry_terms(struct uvea_party party, const struct uvea_planes *x, uint64_t *terms);
void uvea_mpc_carry_finish(struct uvea_party party, const struct uvea_planes *x,
                           struct uvea_planes *carries);

// carry <- majority(left[k], right[k], carry), plane by plane. All views; carry is one plane.
struct uvea_ripple {
    struct uvea_planes left;
    struct uvea_planes right;
    struct uvea_planes carry;
};

// The XOR terms of the gate at plane k: carry.words words.
void uvea_mpc_ripple_terms(const struct uvea_ripple *ripple, size_t k, uint64_t *terms);

// Planes 0..steps-1 of `count` ripples side by side, the gates of one step in one message: `steps`
// messages. All ripples have equal words.
UVEA_MUST_USE enum uvea_error uvea_mpc_ripple(struct uvea_session *session,
                                              const struct uvea_ripple *ripples, size_t count,
                                              size_t steps);

// msb (one plane) <- top bit of x + y for K bit-sliced planes, by a prefix tree.
// K = 16: 39 AND planes in 5 messages; 32: 86 in 6; 48: 133 in 7.
UVEA_MUST_USE enum uvea_error uvea_mpc_prefix_msb(struct uvea_session *session,
                                                  const struct uvea_planes *x,
                                                  const struct uvea_planes *y,
                                                  struct uvea_planes *msb);

#endif
