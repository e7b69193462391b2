// Sign extraction: the top bit of arithmetic shares as one plane of replicated bits. `msb` is one
// plane of ceil(count / 64) words of the caller. No elements, no message. Source: wire.md 6.8, 6.9.
#ifndef UVEA_CORE_MPC_MSB_H
#define UVEA_CORE_MPC_MSB_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

// Two-way: one more split message (a third of the elements per party, roles turning with the
// session id), then a prefix adder. Messages and AND planes: u16 6 / 39, u32 7 / 86, u48 8 / 133.
UVEA_MUST_USE enum uvea_error uvea_mpc_msb_u16(struct uvea_session *session,
                                               const struct uvea_share16 *x,
                                               struct uvea_planes *msb);
UVEA_MUST_USE enum uvea_error uvea_mpc_msb_u32(struct uvea_session *session,
                                               const struct uvea_share32 *x,
                                               struct uvea_planes *msb);
UVEA_MUST_USE enum uvea_error uvea_mpc_msb_u48(struct uvea_session *session,
                                               const struct uvea_share64 *x,
                                               struct uvea_planes *msb);

// Three-way: a full adder and a ripple; 31 messages, 61 AND planes, no traffic beyond the gates.
UVEA_MUST_USE enum uvea_error uvea_mpc_msb_three_way_u32(struct uvea_session *session,
                                                         const struct uvea_share32 *x,
                                                         struct uvea_planes *msb);

#endif
