// Shares in a session's scratch memory, all zero, until the scratch is released: working values of
// one operation, never handed to a caller. Also how an operation accounts for its work.
// MEMORY on failure, with a sentence in session->error.
#ifndef UVEA_CORE_MPC_TEMP_H
#define UVEA_CORE_MPC_TEMP_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

UVEA_MUST_USE enum uvea_error uvea_mpc_take_u16(struct uvea_session *session, size_t count,
                                                uint16_t **values);
UVEA_MUST_USE enum uvea_error uvea_mpc_take_u32(struct uvea_session *session, size_t count,
                                                uint32_t **values);
UVEA_MUST_USE enum uvea_error uvea_mpc_take_u64(struct uvea_session *session, size_t count,
                                                uint64_t **values);
UVEA_MUST_USE enum uvea_error uvea_mpc_take_share16(struct uvea_session *session, size_t count,
                                                    struct uvea_share16 *share);
UVEA_MUST_USE enum uvea_error uvea_mpc_take_share32(struct uvea_session *session, size_t count,
                                                    struct uvea_share32 *share);
UVEA_MUST_USE enum uvea_error uvea_mpc_take_share64(struct uvea_session *session, size_t count,
                                                    struct uvea_share64 *share);
UVEA_MUST_USE enum uvea_error uvea_mpc_take_planes(struct uvea_session *session, size_t plane_count,
                                                   size_t words, struct uvea_planes *planes);

// Charges one message's worth of work: count values of `bits` bits each, in words. Once per message
// and round, with public counts only.
void uvea_mpc_charge(struct uvea_session *session, size_t count, unsigned bits);

#endif
