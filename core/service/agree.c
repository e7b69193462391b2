#include "core/service/agree.h"

#include "core/mpc/round.h"
#include "core/scan/fanout.h"

#include <inttypes.h>
#include <string.h>

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

static enum uvea_error recv_digest(struct uvea_session *session, enum uvea_peer peer,
                                   uint8_t out[UVEA_AGREE_DIGEST_BYTES])
{
    const uint8_t *bytes;
    size_t count;

    UVEA_TRY(uvea_mpc_recv_bytes(session, peer, UVEA_AGREE_DIGEST_BYTES, &bytes, &count));
    if (count != UVEA_AGREE_DIGEST_BYTES) {
        return uvea_error_set(&session->error, UVEA_ERR_PEER,
                              "session %u: party %u sent a digest of %zu bytes, want %d",
                              session->id, uvea_party_peer(session->party, peer).index, count,
                              UVEA_AGREE_DIGEST_BYTES);
    }
    memcpy(out, bytes, count);
    return UVEA_OK;
}

// theirs[peer] gets that peer's digest.
static enum uvea_error exchange(struct uvea_session *session, const uint8_t *own,
                                uint8_t theirs[UVEA_PEER_COUNT][UVEA_AGREE_DIGEST_BYTES])
{
    UVEA_TRY(uvea_mpc_send_bytes(session, UVEA_PEER_NEXT, own, UVEA_AGREE_DIGEST_BYTES));
    UVEA_TRY(uvea_mpc_send_bytes(session, UVEA_PEER_PREV, own, UVEA_AGREE_DIGEST_BYTES));
    UVEA_TRY(recv_digest(session, UVEA_PEER_NEXT, theirs[UVEA_PEER_NEXT]));
    return recv_digest(session, UVEA_PEER_PREV, theirs[UVEA_PEER_PREV]);
}

enum uvea_error uvea_agree_digest(const struct uvea_agree *agree, uint64_t batch_id,
                                  const uint8_t digest[UVEA_AGREE_DIGEST_BYTES],
                                  struct uvea_error_context *context)
{
    struct uvea_session *session = agree->sessions[0];
    uint8_t theirs[UVEA_PEER_COUNT][UVEA_AGREE_DIGEST_BYTES];
    struct uvea_party odd = agree->party;
    bool next_agrees;
    bool prev_agrees;

    UVEA_TRY(uvea_session_report(session, exchange(session, digest, theirs), context));
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
