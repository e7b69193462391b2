// The functions of ring.h for one ring; see width.h. Included by ring.c only.
#include "core/mpc/width.h"

void MPC(add)(const SHARE *x, const SHARE *y, SHARE *out)
{
    UVEA_CHECK(x->count == y->count && x->count == out->count);
    for (size_t i = 0; i < x->count; i++) {
        out->a[i] = REDUCE(x->a[i] + y->a[i]);
        out->b[i] = REDUCE(x->b[i] + y->b[i]);
    }
}

void MPC(sub)(const SHARE *x, const SHARE *y, SHARE *out)
{
    UVEA_CHECK(x->count == y->count && x->count == out->count);
    for (size_t i = 0; i < x->count; i++) {
        out->a[i] = REDUCE(x->a[i] - y->a[i]);
        out->b[i] = REDUCE(x->b[i] - y->b[i]);
    }
}

void MPC(scale)(const SHARE *x, TYPE factor, SHARE *out)
{
    UVEA_CHECK(x->count == out->count);
    for (size_t i = 0; i < x->count; i++) {
        out->a[i] = REDUCE((WIDE)x->a[i] * factor);
        out->b[i] = REDUCE((WIDE)x->b[i] * factor);
    }
}

void MPC(negate)(const SHARE *x, SHARE *out)
{
    MPC(scale)(x, REDUCE(UINT64_MAX), out);
}

void MPC(shift)(const SHARE *x, unsigned bits, SHARE *out)
{
    UVEA_CHECK(bits < WIDTH);
    MPC(scale)(x, REDUCE(UINT64_C(1) << bits), out);
}

void MPC(add_public)(struct uvea_party party, const SHARE *x, TYPE value, SHARE *out)
{
    UVEA_CHECK(x->count == out->count);
    TYPE to_a = party.index == 0 ? value : 0;
    TYPE to_b = party.index == 1 ? value : 0;
    for (size_t i = 0; i < x->count; i++) {
        out->a[i] = REDUCE(x->a[i] + to_a);
        out->b[i] = REDUCE(x->b[i] + to_b);
    }
}

void MPC(product)(const SHARE *x, const SHARE *y, TYPE *out)
{
    UVEA_CHECK(x->count == y->count);
    for (size_t i = 0; i < x->count; i++) {
        WIDE both = (WIDE)y->a[i] + y->b[i];
        out[i] = REDUCE(x->a[i] * both + (WIDE)x->b[i] * y->a[i]);
    }
}

void MPC(mask)(struct uvea_session *session, SHARE *x)
{
    PRG(fill)(session->prf.my, x->b, x->count);
    for (size_t i = 0; i < x->count; i++) {
        x->a[i] = REDUCE(x->a[i] + x->b[i]);
    }
    PRG(fill)(session->prf.prev, x->b, x->count);
    for (size_t i = 0; i < x->count; i++) {
        x->a[i] = REDUCE(x->a[i] - x->b[i]);
    }
}

enum uvea_error MPC(reshare)(struct uvea_session *session, SHARE *x)
{
    if (x->count == 0) {
        return UVEA_OK;
    }
    MPC(mask)(session, x);
    uvea_mpc_charge(session, x->count, WIDTH);
    UVEA_TRY(MPC(send_vec)(session, UVEA_PEER_NEXT, x->a, x->count));
    return MPC(recv)(session, UVEA_PEER_PREV, x->b, x->count);
}

enum uvea_error MPC(reveal)(struct uvea_session *session, const SHARE *x, TYPE *out)
{
    if (x->count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    TYPE *third;
    UVEA_TRY_CLEANUP(TAKE_VALUES(session, x->count, &third));
    uvea_mpc_charge(session, x->count, WIDTH);
    UVEA_TRY_CLEANUP(MPC(send)(session, UVEA_PEER_NEXT, x->b, x->count));
    UVEA_TRY_CLEANUP(MPC(recv)(session, UVEA_PEER_PREV, third, x->count));
    for (size_t i = 0; i < x->count; i++) {
        out[i] = REDUCE(x->a[i] + x->b[i] + third[i]);
    }
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

enum uvea_error MPC(reveal_additive)(struct uvea_session *session, const TYPE *terms, size_t count,
                                     TYPE *out)
{
    if (count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    SHARE others;
    UVEA_TRY_CLEANUP(TAKE(session, count, &others));
    uvea_mpc_charge(session, count, WIDTH);
    UVEA_TRY_CLEANUP(MPC(send)(session, UVEA_PEER_NEXT, terms, count));
    UVEA_TRY_CLEANUP(MPC(send)(session, UVEA_PEER_PREV, terms, count));
    UVEA_TRY_CLEANUP(MPC(recv)(session, UVEA_PEER_PREV, others.a, count));
    UVEA_TRY_CLEANUP(MPC(recv)(session, UVEA_PEER_NEXT, others.b, count));
    for (size_t i = 0; i < count; i++) {
        out[i] = REDUCE(terms[i] + others.a[i] + others.b[i]);
    }
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

#include "core/mpc/width_end.h"
