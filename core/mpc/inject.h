// Replicated bits to arithmetic shares of 0 or 1. Roles turn with the session id, so the parties
// must agree on it. Source: wire.md 6.6.
#ifndef UVEA_CORE_MPC_INJECT_H
#define UVEA_CORE_MPC_INJECT_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

// bits: any number of planes of `lanes` lanes; out has plane_count * lanes elements, plane after
// plane. Each party sends one message of that many elements; latency 2. No lanes, no message.
UVEA_MUST_USE enum uvea_error uvea_mpc_inject_u16(struct uvea_session *session,
                                                  const struct uvea_planes *bits, size_t lanes,
                                                  struct uvea_share16 *out);
UVEA_MUST_USE enum uvea_error uvea_mpc_inject_u32(struct uvea_session *session,
                                                  const struct uvea_planes *bits, size_t lanes,
                                                  struct uvea_share32 *out);
UVEA_MUST_USE enum uvea_error uvea_mpc_inject_u64(struct uvea_session *session,
                                                  const struct uvea_planes *bits, size_t lanes,
                                                  struct uvea_share64 *out);

#endif
