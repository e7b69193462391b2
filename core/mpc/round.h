// Messages of a protocol step: one value each, encoded straight from the caller's array into the
// outgoing frame, and read from the incoming one with its element count checked.
// Every message that leaves is counted in the session's traffic.
//
// Errors: those of the link, and PEER or FORMAT when a peer sent another kind or number of elements
// than the step expects. session->error then holds the sentence.
#ifndef UVEA_CORE_MPC_ROUND_H
#define UVEA_CORE_MPC_ROUND_H

#include "core/mpc/session.h"

#include <stddef.h>
#include <stdint.h>

// The reference's usual rule: a scalar when count is 1, a vector otherwise.
UVEA_MUST_USE enum uvea_error uvea_mpc_send_u16(struct uvea_session *session, enum uvea_peer peer,
                                                const uint16_t *from, size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_send_u32(struct uvea_session *session, enum uvea_peer peer,
                                                const uint32_t *from, size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_send_u48(struct uvea_session *session, enum uvea_peer peer,
                                                const uint64_t *from, size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_send_u64(struct uvea_session *session, enum uvea_peer peer,
                                                const uint64_t *from, size_t count);
// `count` packed bits.
UVEA_MUST_USE enum uvea_error uvea_mpc_send_bits(struct uvea_session *session, enum uvea_peer peer,
                                                 const uint64_t *words, size_t count);

// Always a vector: galois_ring_to_rep3 and reshare_products.
UVEA_MUST_USE enum uvea_error uvea_mpc_send_vec_u16(struct uvea_session *session,
                                                    enum uvea_peer peer, const uint16_t *from,
                                                    size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_send_vec_u32(struct uvea_session *session,
                                                    enum uvea_peer peer, const uint32_t *from,
                                                    size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_send_vec_u48(struct uvea_session *session,
                                                    enum uvea_peer peer, const uint64_t *from,
                                                    size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_send_vec_u64(struct uvea_session *session,
                                                    enum uvea_peer peer, const uint64_t *from,
                                                    size_t count);

UVEA_MUST_USE enum uvea_error uvea_mpc_send_prf_key(struct uvea_session *session,
                                                    enum uvea_peer peer,
                                                    const uint8_t key[UVEA_PRF_KEY_BYTES]);
UVEA_MUST_USE enum uvea_error uvea_mpc_send_prf_check(struct uvea_session *session,
                                                      enum uvea_peer peer, const uint64_t value[2]);
UVEA_MUST_USE enum uvea_error uvea_mpc_send_checksum(struct uvea_session *session,
                                                     enum uvea_peer peer, uint64_t irises,
                                                     uint64_t graph);

// Bytes as they are, for what parties compare in the clear.
UVEA_MUST_USE enum uvea_error uvea_mpc_send_bytes(struct uvea_session *session, enum uvea_peer peer,
                                                  const uint8_t *from, size_t count);

// (blocks) A view of the bytes that came, good until the next receipt from the same peer. PEER: not
// bytes, or more than bytes_max.
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_bytes(struct uvea_session *session, enum uvea_peer peer,
                                                  size_t bytes_max, const uint8_t **bytes,
                                                  size_t *count);

// (blocks) Exactly count elements; one element may also come as a scalar.
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_u16(struct uvea_session *session, enum uvea_peer peer,
                                                uint16_t *out, size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_u32(struct uvea_session *session, enum uvea_peer peer,
                                                uint32_t *out, size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_u48(struct uvea_session *session, enum uvea_peer peer,
                                                uint64_t *out, size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_u64(struct uvea_session *session, enum uvea_peer peer,
                                                uint64_t *out, size_t count);
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_bits(struct uvea_session *session, enum uvea_peer peer,
                                                 uint64_t *words, size_t count);
// (blocks) Insists on a vector.
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_vec_u16(struct uvea_session *session,
                                                    enum uvea_peer peer, uint16_t *out,
                                                    size_t count);
// (blocks)
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_prf_key(struct uvea_session *session,
                                                    enum uvea_peer peer,
                                                    uint8_t out[UVEA_PRF_KEY_BYTES]);
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_prf_check(struct uvea_session *session,
                                                      enum uvea_peer peer, uint64_t out[2]);
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_checksum(struct uvea_session *session,
                                                     enum uvea_peer peer, uint64_t out[2]);

#endif
