#include "core/service/agree.h"

#include "core/net/link.h"
#include "core/scan/fanout.h"
#include "core/wire/value.h"

#include <inttypes.h>
#include <string.h>

static const enum uvea_peer peers[UVEA_PEER_COUNT] = {UVEA_PEER_NEXT, UVEA_PEER_PREV};

// ---- drift

static enum uvea_error check_one_drift(void *arg, size_t position,
                                       struct uvea_error_context *context)
{
    const struct uvea_agree *agree = arg;
    struct uvea_session *session = agree->sessions[position];

    return uvea_session_report(session, uvea_session_check_drift(session), context);
}

enum uvea_error uvea_agree_drift(const struct uvea_agree *agree, struct uvea_error_context *context)
{
    struct uvea_agree sessions = *agree;

    return uvea_fanout(agree->rt, "drift check", check_one_drift, &sessions, agree->session_count,
                       UVEA_FANOUT_TASKS_MAX, context);
}

// ---- digests

static enum uvea_error send_bytes(struct uvea_session *session, enum uvea_peer peer,
                                  const uint8_t *bytes, size_t count)
{
    struct uvea_buf *frame;
    size_t before;

    UVEA_TRY(uvea_link_begin(session->link, peer, &frame));
    before = frame->len;
    UVEA_TRY(uvea_value_append_bytes(frame, bytes, count));
    session->traffic.messages++;
    session->traffic.value_bytes += frame->len - before;
    return uvea_link_end(session->link, peer);
}

static enum uvea_error recv_bytes(struct uvea_session *session, enum uvea_peer peer, uint8_t *out,
                                  size_t count, struct uvea_error_context *context)
{
    struct uvea_value value;

    UVEA_TRY(uvea_link_recv(session->link, peer, &value, context));
    if (value.kind != UVEA_VALUE_BYTES || value.count != count) {
        return uvea_error_set(context, UVEA_ERR_PEER,
                              "session %u: party %u sent a value of kind 0x%02x with %zu elements, "
                              "want %zu bytes",
                              session->id, uvea_party_peer(session->party, peer).index,
                              (unsigned)value.kind, value.count, count);
    }
    memcpy(out, value.body, count);
    return UVEA_OK;
}

// theirs[peer] gets that peer's digest.
static enum uvea_error exchange(struct uvea_session *session, const uint8_t *own,
                                uint8_t theirs[UVEA_PEER_COUNT][UVEA_AGREE_DIGEST_BYTES],
                                struct uvea_error_context *context)
{
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        const enum uvea_error error = send_bytes(session, peers[i], own, UVEA_AGREE_DIGEST_BYTES);
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "session %u cannot send to party %u: %s",
                                  session->id, uvea_party_peer(session->party, peers[i]).index,
                                  uvea_error_text(error));
        }
    }
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        UVEA_TRY(recv_bytes(session, peers[i], theirs[peers[i]], UVEA_AGREE_DIGEST_BYTES, context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_agree_digest(const struct uvea_agree *agree, uint64_t batch_id,
                                  const uint8_t digest[UVEA_AGREE_DIGEST_BYTES],
                                  struct uvea_error_context *context)
{
    uint8_t theirs[UVEA_PEER_COUNT][UVEA_AGREE_DIGEST_BYTES];
    struct uvea_party odd = agree->party;
    bool next_agrees;
    bool prev_agrees;

    UVEA_TRY(exchange(agree->sessions[0], digest, theirs, context));
    next_agrees = memcmp(digest, theirs[UVEA_PEER_NEXT], UVEA_AGREE_DIGEST_BYTES) == 0;
    prev_agrees = memcmp(digest, theirs[UVEA_PEER_PREV], UVEA_AGREE_DIGEST_BYTES) == 0;
    if (next_agrees && prev_agrees) {
        return UVEA_OK;
    }
    if (next_agrees || prev_agrees) {
        odd = uvea_party_peer(agree->party, next_agrees ? UVEA_PEER_PREV : UVEA_PEER_NEXT);
    } else if (memcmp(theirs[UVEA_PEER_NEXT], theirs[UVEA_PEER_PREV], UVEA_AGREE_DIGEST_BYTES) !=
               0) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "batch %" PRIu64 ": all three parties opened different results",
                              batch_id);
    }
    return uvea_error_set(context, UVEA_ERR_STATE,
                          "batch %" PRIu64 ": party %u opened another result than the other two",
                          batch_id, odd.index);
}

// ---- state

enum uvea_error uvea_agree_state(const struct uvea_agree *agree, uint64_t checksum,
                                 struct uvea_error_context *context)
{
    struct uvea_session *session = agree->sessions[0];

    return uvea_session_report(session, uvea_session_check_state(session, checksum, 0), context);
}
