#include "core/service/engine.h"

#include "core/base/endian.h"
#include "core/net/link.h"
#include "core/scan/fanout.h"
#include "core/wire/value.h"

#include <openssl/evp.h>
#include <string.h>

enum { DIGEST_BYTES = 32 };

static const enum uvea_peer peers[UVEA_PEER_COUNT] = {UVEA_PEER_NEXT, UVEA_PEER_PREV};

static struct uvea_session *agreement_session(const struct uvea_engine *engine)
{
    return engine->search.sessions[0];
}

// ---- one Bytes value to and from both neighbours

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

// theirs[peer] gets that peer's bytes.
static enum uvea_error exchange_bytes(struct uvea_session *session, const uint8_t *own,
                                      size_t count, uint8_t theirs[UVEA_PEER_COUNT][DIGEST_BYTES],
                                      struct uvea_error_context *context)
{
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        const enum uvea_error error = send_bytes(session, peers[i], own, count);
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "session %u cannot send to party %u: %s",
                                  session->id, uvea_party_peer(session->party, peers[i]).index,
                                  uvea_error_text(error));
        }
    }
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        UVEA_TRY(recv_bytes(session, peers[i], theirs[peers[i]], count, context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_engine_agree_valid(struct uvea_engine *engine, bool valid, bool *all_valid,
                                        struct uvea_error_context *context)
{
    const uint8_t own = valid ? 1 : 0;
    uint8_t theirs[UVEA_PEER_COUNT][DIGEST_BYTES];
    bool all = valid;

    UVEA_TRY(exchange_bytes(agreement_session(engine), &own, sizeof(own), theirs, context));
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        if (theirs[peers[i]][0] > 1) {
            return uvea_error_set(
                context, UVEA_ERR_PEER, "party %u says neither valid nor invalid but %u",
                uvea_party_peer(engine->party, peers[i]).index, theirs[peers[i]][0]);
        }
        all = all && theirs[peers[i]][0] == 1;
    }
    *all_valid = all;
    return UVEA_OK;
}

// ---- drift

static enum uvea_error check_one_drift(void *arg, size_t position,
                                       struct uvea_error_context *context)
{
    struct uvea_engine *engine = arg;
    struct uvea_session *session = engine->search.sessions[position];
    const enum uvea_error error = uvea_session_check_drift(session);

    if (error != UVEA_OK && context != NULL) {
        *context = session->error;
    }
    return error;
}

enum uvea_error uvea_engine_check_drift(struct uvea_engine *engine,
                                        struct uvea_error_context *context)
{
    return uvea_fanout(engine->rt, "drift check", check_one_drift, engine,
                       engine->search.session_count, UVEA_FANOUT_TASKS_MAX, context);
}

// ---- outcome

static enum uvea_error append_u32(struct uvea_buf *buf, uint32_t value)
{
    uint8_t bytes[4];

    uvea_store_le32(bytes, value);
    return uvea_buf_append(buf, bytes, sizeof(bytes));
}

static enum uvea_error append_eye(struct uvea_buf *buf, const struct uvea_eye_result *eye)
{
    UVEA_TRY(append_u32(buf, (uint32_t)eye->candidate_count));
    for (size_t i = 0; i < eye->candidate_count; i++) {
        UVEA_TRY(append_u32(buf, eye->candidates[i].index));
        UVEA_TRY(append_u32(buf, eye->candidates[i].anonymous));
        UVEA_TRY(append_u32(buf, eye->candidates[i].strict));
    }
    return UVEA_OK;
}

static enum uvea_error append_matches(struct uvea_buf *buf,
                                      const struct uvea_orientation_matches *matches)
{
    UVEA_TRY(append_u32(buf, matches->supermatch));
    UVEA_TRY(append_u32(buf, (uint32_t)matches->full.count));
    for (size_t i = 0; i < matches->full.count; i++) {
        UVEA_TRY(append_u32(buf, matches->full.serials[i]));
    }
    return UVEA_OK;
}

// Partial lists follow from the candidates; full ones depend on the LUC set too.
static enum uvea_error encode_outcome(const struct uvea_engine *engine,
                                      const struct uvea_search_result *search,
                                      const struct uvea_outcome *outcome, struct uvea_buf *buf)
{
    UVEA_TRY(uvea_buf_append(buf, engine->run_seed, sizeof(engine->run_seed)));
    UVEA_TRY(append_u32(buf, (uint32_t)engine->requests));
    UVEA_TRY(append_u32(buf, outcome->decision));
    UVEA_TRY(append_u32(buf, outcome->mirror_attack));
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        UVEA_TRY(append_matches(buf, &outcome->matches[way]));
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            UVEA_TRY(append_eye(buf, &search->eye[way][eye]));
        }
    }
    return UVEA_OK;
}

static enum uvea_error digest_outcome(const struct uvea_engine *engine,
                                      const struct uvea_search_result *search,
                                      const struct uvea_outcome *outcome,
                                      uint8_t digest[DIGEST_BYTES])
{
    struct uvea_buf buf = {0};
    enum uvea_error error = encode_outcome(engine, search, outcome, &buf);

    if (error == UVEA_OK && EVP_Digest(buf.data, buf.len, digest, NULL, EVP_sha256(), NULL) != 1) {
        error = UVEA_ERR_CRYPTO;
    }
    uvea_buf_deinit(&buf);
    return error;
}

enum uvea_error uvea_engine_check_outcome(struct uvea_engine *engine,
                                          const struct uvea_search_result *search,
                                          const struct uvea_outcome *outcome,
                                          struct uvea_error_context *context)
{
    uint8_t own[DIGEST_BYTES];
    uint8_t theirs[UVEA_PEER_COUNT][DIGEST_BYTES];
    bool next_agrees;
    bool prev_agrees;
    struct uvea_party odd = engine->party;

    UVEA_TRY(digest_outcome(engine, search, outcome, own));
    UVEA_TRY(exchange_bytes(agreement_session(engine), own, sizeof(own), theirs, context));
    next_agrees = memcmp(own, theirs[UVEA_PEER_NEXT], sizeof(own)) == 0;
    prev_agrees = memcmp(own, theirs[UVEA_PEER_PREV], sizeof(own)) == 0;
    if (next_agrees && prev_agrees) {
        return UVEA_OK;
    }
    if (next_agrees || prev_agrees) {
        odd = uvea_party_peer(engine->party, next_agrees ? UVEA_PEER_PREV : UVEA_PEER_NEXT);
    } else if (memcmp(theirs[UVEA_PEER_NEXT], theirs[UVEA_PEER_PREV], sizeof(own)) != 0) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "request %llu: all three parties opened different results",
                              (unsigned long long)engine->requests);
    }
    return uvea_error_set(context, UVEA_ERR_STATE,
                          "request %llu: party %u opened another result than the other two",
                          (unsigned long long)engine->requests, odd.index);
}

// ---- state

enum uvea_error uvea_engine_check_state(struct uvea_engine *engine,
                                        struct uvea_error_context *context)
{
    struct uvea_session *session = agreement_session(engine);
    const enum uvea_error error =
        uvea_session_check_state(session, uvea_resident_checksum(engine->resident), 0);

    if (error != UVEA_OK && context != NULL) {
        *context = session->error;
    }
    return error;
}
