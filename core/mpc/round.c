#include "core/mpc/round.h"

// What every send has around its encoder: `append` sees the outgoing frame as `frame`.
#define SEND(append)                                                                               \
    do {                                                                                           \
        struct uvea_buf *frame;                                                                    \
        UVEA_TRY(begin(session, peer, &frame));                                                    \
        size_t before = frame->len;                                                                \
        enum uvea_error append_error = (append);                                                   \
        return end(session, peer, append_error, frame->len - before);                              \
    } while (0)

#define RECV(read)                                                                                 \
    do {                                                                                           \
        struct uvea_value value;                                                                   \
        UVEA_TRY(uvea_link_recv(session->link, peer, &value, &session->error));                    \
        return (read);                                                                             \
    } while (0)

static enum uvea_error begin(struct uvea_session *session, enum uvea_peer peer,
                             struct uvea_buf **frame)
{
    enum uvea_error error = uvea_link_begin(session->link, peer, frame);
    if (error != UVEA_OK) {
        return uvea_error_set(&session->error, error, "session %u cannot start a message: %s",
                              session->id, uvea_error_text(error));
    }
    return UVEA_OK;
}

// A frame whose value could not be appended must not leave as an empty one; the caller gives the
// session up, so the frame stays open.
static enum uvea_error end(struct uvea_session *session, enum uvea_peer peer, enum uvea_error error,
                           size_t value_bytes)
{
    if (error == UVEA_OK) {
        error = uvea_link_end(session->link, peer);
    }
    if (error != UVEA_OK) {
        return uvea_error_set(&session->error, error, "session %u cannot send %zu bytes: %s",
                              session->id, value_bytes, uvea_error_text(error));
    }
    session->traffic.messages++;
    session->traffic.value_bytes += value_bytes;
    return UVEA_OK;
}

enum uvea_error uvea_mpc_send_u16(struct uvea_session *session, enum uvea_peer peer,
                                  const uint16_t *from, size_t count)
{
    SEND(uvea_value_append_u16(frame, from, count));
}

enum uvea_error uvea_mpc_send_u32(struct uvea_session *session, enum uvea_peer peer,
                                  const uint32_t *from, size_t count)
{
    SEND(uvea_value_append_u32(frame, from, count));
}

enum uvea_error uvea_mpc_send_u48(struct uvea_session *session, enum uvea_peer peer,
                                  const uint64_t *from, size_t count)
{
    SEND(uvea_value_append_u48(frame, from, count));
}

enum uvea_error uvea_mpc_send_u64(struct uvea_session *session, enum uvea_peer peer,
                                  const uint64_t *from, size_t count)
{
    SEND(uvea_value_append_u64(frame, from, count));
}

enum uvea_error uvea_mpc_send_bits(struct uvea_session *session, enum uvea_peer peer,
                                   const uint64_t *words, size_t count)
{
    SEND(uvea_value_append_bits(frame, words, count));
}

enum uvea_error uvea_mpc_send_vec_u16(struct uvea_session *session, enum uvea_peer peer,
                                      const uint16_t *from, size_t count)
{
    SEND(uvea_value_append_vec16(frame, from, count));
}

enum uvea_error uvea_mpc_send_vec_u32(struct uvea_session *session, enum uvea_peer peer,
                                      const uint32_t *from, size_t count)
{
    SEND(uvea_value_append_vec32(frame, from, count));
}

enum uvea_error uvea_mpc_send_vec_u48(struct uvea_session *session, enum uvea_peer peer,
                                      const uint64_t *from, size_t count)
{
    SEND(uvea_value_append_vec48(frame, from, count));
}

enum uvea_error uvea_mpc_send_vec_u64(struct uvea_session *session, enum uvea_peer peer,
                                      const uint64_t *from, size_t count)
{
    SEND(uvea_value_append_vec64(frame, from, count));
}

enum uvea_error uvea_mpc_send_prf_key(struct uvea_session *session, enum uvea_peer peer,
                                      const uint8_t key[UVEA_PRF_KEY_BYTES])
{
    SEND(uvea_value_append_prf_key(frame, key));
}

enum uvea_error uvea_mpc_send_prf_check(struct uvea_session *session, enum uvea_peer peer,
                                        const uint64_t value[2])
{
    SEND(uvea_value_append_prf_check(frame, value));
}

enum uvea_error uvea_mpc_send_checksum(struct uvea_session *session, enum uvea_peer peer,
                                       uint64_t irises, uint64_t graph)
{
    SEND(uvea_value_append_checksum(frame, irises, graph));
}

enum uvea_error uvea_mpc_send_bytes(struct uvea_session *session, enum uvea_peer peer,
                                    const uint8_t *from, size_t count)
{
    SEND(uvea_value_append_bytes(frame, from, count));
}

enum uvea_error uvea_mpc_recv_bytes(struct uvea_session *session, enum uvea_peer peer,
                                    size_t bytes_max, const uint8_t **bytes, size_t *count)
{
    struct uvea_value value;
    UVEA_TRY(uvea_link_recv(session->link, peer, &value, &session->error));
    if (value.kind != UVEA_VALUE_BYTES || value.body_bytes > bytes_max) {
        return uvea_error_set(&session->error, UVEA_ERR_PEER,
                              "session %u: party %u sent no bytes, or more than %zu", session->id,
                              uvea_party_peer(session->party, peer).index, bytes_max);
    }
    *bytes = value.body;
    *count = value.body_bytes;
    return UVEA_OK;
}

enum uvea_error uvea_mpc_recv_u16(struct uvea_session *session, enum uvea_peer peer, uint16_t *out,
                                  size_t count)
{
    RECV(uvea_value_read_u16(&value, out, count, &session->error));
}

enum uvea_error uvea_mpc_recv_u32(struct uvea_session *session, enum uvea_peer peer, uint32_t *out,
                                  size_t count)
{
    RECV(uvea_value_read_u32(&value, out, count, &session->error));
}

enum uvea_error uvea_mpc_recv_u48(struct uvea_session *session, enum uvea_peer peer, uint64_t *out,
                                  size_t count)
{
    RECV(uvea_value_read_u48(&value, out, count, &session->error));
}

enum uvea_error uvea_mpc_recv_u64(struct uvea_session *session, enum uvea_peer peer, uint64_t *out,
                                  size_t count)
{
    RECV(uvea_value_read_u64(&value, out, count, &session->error));
}

enum uvea_error uvea_mpc_recv_bits(struct uvea_session *session, enum uvea_peer peer,
                                   uint64_t *words, size_t count)
{
    RECV(uvea_value_read_bits(&value, words, count, &session->error));
}

enum uvea_error uvea_mpc_recv_vec_u16(struct uvea_session *session, enum uvea_peer peer,
                                      uint16_t *out, size_t count)
{
    RECV(uvea_value_read_vec16(&value, out, count, &session->error));
}

enum uvea_error uvea_mpc_recv_prf_key(struct uvea_session *session, enum uvea_peer peer,
                                      uint8_t out[UVEA_PRF_KEY_BYTES])
{
    RECV(uvea_value_read_prf_key(&value, out, &session->error));
}

enum uvea_error uvea_mpc_recv_prf_check(struct uvea_session *session, enum uvea_peer peer,
                                        uint64_t out[2])
{
    RECV(uvea_value_read_prf_check(&value, out, &session->error));
}

enum uvea_error uvea_mpc_recv_checksum(struct uvea_session *session, enum uvea_peer peer,
                                       uint64_t out[2])
{
    RECV(uvea_value_read_checksum(&value, out, &session->error));
}
