// Lifts to a larger ring. The u16 -> u32 lifts are in predicate.h. `out` is the caller's, of equal
// count. Source: wire.md 6.7.
#ifndef UVEA_CORE_MPC_LIFT_H
#define UVEA_CORE_MPC_LIFT_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

// out = x * 2^bits without a message. The halves' own overflow is lost above bit 16 + bits (32 +
// bits), so a secret of j bits comes out right for 16 <= bits <= 32 - j, or 48 - j from u32 (with
// bits == 16, all that is left of the overflow falls off the ring).
void uvea_mpc_mul_lift_u32(const struct uvea_share16 *x, unsigned bits, struct uvea_share32 *out);
void uvea_mpc_mul_lift_u48(const struct uvea_share32 *x, unsigned bits, struct uvea_share64 *out);

// u16 -> u48: 18 messages, 256 W + 8 n bytes.
UVEA_MUST_USE enum uvea_error uvea_mpc_lift_u48(struct uvea_session *session,
                                                const struct uvea_share16 *in,
                                                struct uvea_share64 *out);
UVEA_MUST_USE enum uvea_error uvea_mpc_lift_signed_u48(struct uvea_session *session,
                                                       const struct uvea_share16 *in,
                                                       struct uvea_share64 *out);

#endif
