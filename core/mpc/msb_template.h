// Two-way sign extraction for one ring; see width.h, and SLICE from the includer. Included by msb.c
// only.
//
// The components of a value are x_c + x_(c-1), which the party in role c knows, and x_(c+1), which
// the other two hold. Each role does this for a third of the elements: role c re-shares its sum as
// bits, padded by a draw from the stream it has with role c - 1. Result: two binary sharings whose
// integer sum is the secret.
#include "core/mpc/width.h"

// This party's part in the piece of elements [first, first + count) that belongs to role `owner`.
static enum uvea_error MPC(split_piece)(struct uvea_session *session, const SHARE *x,
                                        unsigned owner, size_t first, size_t count, SHARE *left,
                                        SHARE *right)
{
    unsigned role = uvea_mpc_role(session);
    TYPE *left_a = left->a + first;
    TYPE *left_b = left->b + first;
    if (role == owner) {
        for (size_t i = 0; i < count; i++) {
            left_b[i] = PRG(gen)(session->prf.prev);
            left_a[i] = REDUCE(x->a[first + i] + x->b[first + i]) ^ left_b[i];
        }
        return MPC(send)(session, UVEA_PEER_NEXT, left_a, count);
    }
    if (role == (owner + 1) % UVEA_PARTY_COUNT) {
        for (size_t i = 0; i < count; i++) {
            right->a[first + i] = x->a[first + i];
        }
        return MPC(recv)(session, UVEA_PEER_PREV, left_b, count);
    }
    for (size_t i = 0; i < count; i++) {
        left_a[i] = PRG(gen)(session->prf.my);
        right->b[first + i] = x->b[first + i];
    }
    return UVEA_OK;
}

static enum uvea_error MPC(split)(struct uvea_session *session, const SHARE *x, SHARE *left,
                                  SHARE *right)
{
    size_t lengths[UVEA_PARTY_COUNT] = {x->count / 3};
    lengths[1] = (x->count - lengths[0]) / 2;
    lengths[2] = x->count - lengths[0] - lengths[1];
    uvea_mpc_charge(session, x->count, WIDTH);
    // A piece of no elements is still a message: the reference sends it.
    size_t first = 0;
    for (unsigned owner = 0; owner < UVEA_PARTY_COUNT; owner++) {
        UVEA_TRY(MPC(split_piece)(session, x, owner, first, lengths[owner], left, right));
        first += lengths[owner];
    }
    return UVEA_OK;
}

static enum uvea_error MPC(take_slices)(struct uvea_session *session, const SHARE *x,
                                        struct uvea_planes *planes)
{
    UVEA_TRY(uvea_mpc_take_planes(session, WIDTH, uvea_words_for(x->count), planes));
    SLICE(x->a, x->count, WIDTH, planes->a);
    SLICE(x->b, x->count, WIDTH, planes->b);
    return UVEA_OK;
}

enum uvea_error MPC(msb)(struct uvea_session *session, const SHARE *x, struct uvea_planes *msb)
{
    UVEA_CHECK(msb->plane_count == 1 && msb->words == uvea_words_for(x->count));
    if (x->count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    SHARE left;
    SHARE right;
    struct uvea_planes left_planes;
    struct uvea_planes right_planes;
    UVEA_TRY_CLEANUP(TAKE(session, x->count, &left));
    UVEA_TRY_CLEANUP(TAKE(session, x->count, &right));
    UVEA_TRY_CLEANUP(MPC(split)(session, x, &left, &right));
    UVEA_TRY_CLEANUP(MPC(take_slices)(session, &left, &left_planes));
    UVEA_TRY_CLEANUP(MPC(take_slices)(session, &right, &right_planes));
    UVEA_TRY_CLEANUP(uvea_mpc_prefix_msb(session, &left_planes, &right_planes, msb));
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

#include "core/mpc/width_end.h"
