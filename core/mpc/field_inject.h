// Replicated bits to replicated shares of 0 or 1 in F_p. Roles turn with the session id.
// Source: ntt.md 3, in the form of wire.md 6.6.
#ifndef UVEA_CORE_MPC_FIELD_INJECT_H
#define UVEA_CORE_MPC_FIELD_INJECT_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

// bits: planes of `lanes` lanes; out: plane_count * lanes canonical elements, plane after plane.
// Each party sends one vector of that many elements; latency 2. No lanes, no message.
UVEA_MUST_USE enum uvea_error uvea_mpc_inject_field(struct uvea_session *session,
                                                    const struct uvea_planes *bits, size_t lanes,
                                                    struct uvea_share16 *out);

#endif
