#include "core/mpc/session.h"

#include "core/base/mem.h"
#include "core/mpc/round.h"

#include <string.h>

_Static_assert((int)UVEA_PRF_SEED_BYTES == (int)UVEA_PRF_KEY_BYTES, "a seed travels as a PrfKey");

static const enum uvea_peer prev_then_next[UVEA_PEER_COUNT] = {UVEA_PEER_PREV, UVEA_PEER_NEXT};

static void session_start(struct uvea_session *session, struct uvea_rt *rt, struct uvea_link *link,
                          struct uvea_party party, uint32_t id)
{
    *session = (struct uvea_session){.rt = rt, .link = link, .party = party, .id = id};
}

static enum uvea_error open_streams(struct uvea_session *session, enum uvea_prf_kind kind,
                                    const uint8_t own[UVEA_PRF_SEED_BYTES],
                                    const uint8_t prev[UVEA_PRF_SEED_BYTES])
{
    UVEA_TRY(uvea_prg_open(kind, own, &session->prf.my));
    return uvea_prg_open(kind, prev, &session->prf.prev);
}

// Zeroes the session but for the sentence that says why it failed.
static enum uvea_error give_up(struct uvea_session *session, enum uvea_error error)
{
    struct uvea_error_context sentence = session->error;
    uvea_session_deinit(session);
    session->error = sentence;
    return error;
}

static enum uvea_error exchange_seed(struct uvea_session *session, uint8_t own[UVEA_PRF_SEED_BYTES],
                                     uint8_t prev[UVEA_PRF_SEED_BYTES])
{
    UVEA_TRY(uvea_rt_entropy(session->rt, own, UVEA_PRF_SEED_BYTES));
    UVEA_TRY(uvea_mpc_send_prf_key(session, UVEA_PEER_NEXT, own));
    return uvea_mpc_recv_prf_key(session, UVEA_PEER_PREV, prev);
}

enum uvea_error uvea_session_init(struct uvea_session *session, struct uvea_rt *rt,
                                  struct uvea_link *link, struct uvea_party party, uint32_t id,
                                  enum uvea_prf_kind kind)
{
    session_start(session, rt, link, party, id);
    uint8_t own[UVEA_PRF_SEED_BYTES];
    uint8_t prev[UVEA_PRF_SEED_BYTES];
    enum uvea_error error = exchange_seed(session, own, prev);
    if (error == UVEA_OK) {
        error = open_streams(session, kind, own, prev);
    }
    uvea_mem_wipe(own, sizeof(own));
    uvea_mem_wipe(prev, sizeof(prev));
    return error == UVEA_OK ? UVEA_OK : give_up(session, error);
}

enum uvea_error uvea_session_init_seeded(struct uvea_session *session, struct uvea_rt *rt,
                                         struct uvea_link *link, struct uvea_party party,
                                         uint32_t id, enum uvea_prf_kind kind,
                                         const uint8_t own[UVEA_PRF_SEED_BYTES],
                                         const uint8_t prev[UVEA_PRF_SEED_BYTES])
{
    session_start(session, rt, link, party, id);
    enum uvea_error error = open_streams(session, kind, own, prev);
    return error == UVEA_OK ? UVEA_OK : give_up(session, error);
}

void uvea_session_deinit(struct uvea_session *session)
{
    uvea_prg_close(session->prf.my);
    uvea_prg_close(session->prf.prev);
    uvea_scratch_deinit(&session->scratch);
    *session = (struct uvea_session){0};
}

// seeds: own, prev's, next's
static enum uvea_error gather_seeds(struct uvea_session *session,
                                    uint8_t seeds[UVEA_PARTY_COUNT][UVEA_PRF_SEED_BYTES])
{
    UVEA_TRY(uvea_rt_entropy(session->rt, seeds[0], UVEA_PRF_SEED_BYTES));
    UVEA_TRY(uvea_mpc_send_prf_key(session, UVEA_PEER_NEXT, seeds[0]));
    UVEA_TRY(uvea_mpc_recv_prf_key(session, UVEA_PEER_PREV, seeds[1]));
    UVEA_TRY(uvea_mpc_send_prf_key(session, UVEA_PEER_PREV, seeds[0]));
    return uvea_mpc_recv_prf_key(session, UVEA_PEER_NEXT, seeds[2]);
}

enum uvea_error uvea_session_shared_seed(struct uvea_session *session,
                                         uint8_t out[UVEA_PRF_SEED_BYTES])
{
    uint8_t seeds[UVEA_PARTY_COUNT][UVEA_PRF_SEED_BYTES];
    enum uvea_error error = gather_seeds(session, seeds);
    if (error == UVEA_OK) {
        for (size_t i = 0; i < UVEA_PRF_SEED_BYTES; i++) {
            out[i] = seeds[0][i] ^ seeds[1][i] ^ seeds[2][i];
        }
    }
    uvea_mem_wipe(seeds, sizeof(seeds));
    return error;
}

// sum += value mod 2^128
static void add_u128(uint64_t sum[2], const uint64_t value[2])
{
    uint64_t carry = __builtin_add_overflow(sum[0], value[0], &sum[0]);
    sum[1] += value[1] + carry;
}

// my - prev
static void zero_share_u128(struct uvea_prf *prf, uint64_t out[2])
{
    uint64_t prev[2];
    uvea_prg_gen_u128(prf->my, out);
    uvea_prg_gen_u128(prf->prev, prev);
    uint64_t borrow = __builtin_sub_overflow(out[0], prev[0], &out[0]);
    out[1] -= prev[1] + borrow;
}

enum uvea_error uvea_session_check_drift(struct uvea_session *session)
{
    uint64_t sum[2];
    zero_share_u128(&session->prf, sum);
    UVEA_TRY(uvea_mpc_send_prf_check(session, UVEA_PEER_PREV, sum));
    UVEA_TRY(uvea_mpc_send_prf_check(session, UVEA_PEER_NEXT, sum));
    for (unsigned i = 0; i < UVEA_PEER_COUNT; i++) {
        uint64_t theirs[2];
        UVEA_TRY(uvea_mpc_recv_prf_check(session, prev_then_next[i], theirs));
        add_u128(sum, theirs);
    }
    if (sum[0] != 0 || sum[1] != 0) {
        return uvea_error_set(&session->error, UVEA_ERR_DRIFT,
                              "session %u: the three zero shares do not sum to 0", session->id);
    }
    return UVEA_OK;
}

enum uvea_error uvea_session_check_state(struct uvea_session *session, uint64_t irises,
                                         uint64_t graph)
{
    uint64_t theirs[UVEA_PEER_COUNT][2];
    for (unsigned i = 0; i < UVEA_PEER_COUNT; i++) {
        UVEA_TRY(uvea_mpc_send_checksum(session, prev_then_next[i], irises, graph));
    }
    for (unsigned i = 0; i < UVEA_PEER_COUNT; i++) {
        UVEA_TRY(uvea_mpc_recv_checksum(session, prev_then_next[i], theirs[i]));
    }
    for (unsigned i = 0; i < UVEA_PEER_COUNT; i++) {
        if (theirs[i][0] != irises || theirs[i][1] != graph) {
            struct uvea_party peer = uvea_party_peer(session->party, prev_then_next[i]);
            return uvea_error_set(&session->error, UVEA_ERR_STATE,
                                  "session %u: party %u holds another state than party %u",
                                  session->id, peer.index, session->party.index);
        }
    }
    return UVEA_OK;
}
