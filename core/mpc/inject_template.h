// bit_inject for one ring; see width.h. Included by inject.c only.
//
// With b = b0 ^ b1 ^ b2 named by role, b0 ^ b1 = (b0 ^ b1 - r01) + r01 is shared additively by role
// 1, multiplied by b2 with two pads, and u + b2 - 2 u b2 is the bit.
#include "core/mpc/width.h"

// Role 0: holds r01 and b2.
static enum uvea_error MPC(inject_as_0)(struct uvea_session *session, const TYPE *b2, TYPE *sent,
                                        TYPE *got, SHARE *out)
{
    size_t count = out->count;
    PRG(fill)(session->prf.my, out->a, count);   // r01
    PRG(fill)(session->prf.prev, out->b, count); // r02
    for (size_t i = 0; i < count; i++) {
        sent[i] = REDUCE((WIDE)out->a[i] * b2[i] - out->b[i]);
    }
    UVEA_TRY(MPC(send)(session, UVEA_PEER_NEXT, sent, count));
    UVEA_TRY(MPC(recv)(session, UVEA_PEER_PREV, got, count));
    for (size_t i = 0; i < count; i++) {
        out->a[i] = REDUCE(out->a[i] - 2 * (WIDE)sent[i]);
        out->b[i] = REDUCE(b2[i] - 2 * ((WIDE)out->b[i] + got[i]));
    }
    return UVEA_OK;
}

// Role 1: holds b0 and b1.
static enum uvea_error MPC(inject_as_1)(struct uvea_session *session, const TYPE *b01, TYPE *sent,
                                        TYPE *got, SHARE *out)
{
    size_t count = out->count;
    PRG(fill)(session->prf.prev, out->b, count); // r01
    PRG(fill)(session->prf.my, out->a, count);   // r12
    for (size_t i = 0; i < count; i++) {
        sent[i] = REDUCE(b01[i] - out->b[i]);
    }
    UVEA_TRY(MPC(send)(session, UVEA_PEER_NEXT, sent, count));
    UVEA_TRY(MPC(recv)(session, UVEA_PEER_PREV, got, count));
    for (size_t i = 0; i < count; i++) {
        out->a[i] = REDUCE(sent[i] - 2 * (WIDE)out->a[i]);
        out->b[i] = REDUCE(out->b[i] - 2 * (WIDE)got[i]);
    }
    return UVEA_OK;
}

// Role 2: holds b2, and waits for role 1 before it can send.
static enum uvea_error MPC(inject_as_2)(struct uvea_session *session, const TYPE *b2, TYPE *sent,
                                        TYPE *got, SHARE *out)
{
    size_t count = out->count;
    PRG(fill)(session->prf.my, out->a, count);   // r02
    PRG(fill)(session->prf.prev, out->b, count); // r12
    UVEA_TRY(MPC(recv)(session, UVEA_PEER_PREV, got, count));
    for (size_t i = 0; i < count; i++) {
        sent[i] = REDUCE((WIDE)got[i] * b2[i] - out->b[i]);
    }
    UVEA_TRY(MPC(send)(session, UVEA_PEER_NEXT, sent, count));
    for (size_t i = 0; i < count; i++) {
        out->a[i] = REDUCE(b2[i] - 2 * ((WIDE)out->a[i] + sent[i]));
        out->b[i] = REDUCE(got[i] - 2 * (WIDE)out->b[i]);
    }
    return UVEA_OK;
}

// The bits a role works on, as ring elements.
static void MPC(inject_bits)(const struct uvea_planes *bits, size_t lanes, unsigned role, TYPE *out)
{
    uint64_t use_a = role == 0 ? 0 : UINT64_MAX;
    uint64_t use_b = role == 2 ? 0 : UINT64_MAX;
    for (size_t plane = 0; plane < bits->plane_count; plane++) {
        const uint64_t *a = bits->a + plane * bits->words;
        const uint64_t *b = bits->b + plane * bits->words;
        for (size_t i = 0; i < lanes; i++) {
            uint64_t word = (a[i / 64] & use_a) ^ (b[i / 64] & use_b);
            out[plane * lanes + i] = word >> i % 64 & 1;
        }
    }
}

enum uvea_error MPC(inject)(struct uvea_session *session, const struct uvea_planes *bits,
                            size_t lanes, SHARE *out)
{
    UVEA_CHECK(bits->words == uvea_words_for(lanes) && out->count == bits->plane_count * lanes);
    if (out->count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    TYPE *own;
    TYPE *sent;
    TYPE *got;
    UVEA_TRY_CLEANUP(TAKE_VALUES(session, out->count, &own));
    UVEA_TRY_CLEANUP(TAKE_VALUES(session, out->count, &sent));
    UVEA_TRY_CLEANUP(TAKE_VALUES(session, out->count, &got));
    unsigned role = uvea_mpc_role(session);
    MPC(inject_bits)(bits, lanes, role, own);
    uvea_mpc_charge(session, out->count, WIDTH);
    if (role == 0) {
        error = MPC(inject_as_0)(session, own, sent, got, out);
    } else if (role == 1) {
        error = MPC(inject_as_1)(session, own, sent, got, out);
    } else {
        error = MPC(inject_as_2)(session, own, sent, got, out);
    }
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

#include "core/mpc/width_end.h"
