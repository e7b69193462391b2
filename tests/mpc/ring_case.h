// The tests of one ring; core/mpc/width.h says how. Included by test_ops.c only.
#include "core/mpc/width.h"

// The party's halves, taken from the session's scratch memory.
static enum uvea_error MPC(take_dealt)(struct uvea_session *session, unsigned party,
                                       const struct dealt *dealt, SHARE *share)
{
    UVEA_TRY(TAKE(session, dealt->count, share));
    for (size_t i = 0; i < dealt->count; i++) {
        share->a[i] = REDUCE(dealt->part[party][i]);
        share->b[i] = REDUCE(dealt->part[prev_of(party)][i]);
    }
    return UVEA_OK;
}

static enum uvea_error MPC(reveals)(struct uvea_session *session, const char *what,
                                    const SHARE *share, const struct pair *pair,
                                    uint64_t (*want)(uint64_t x, uint64_t y))
{
    TYPE *open;
    UVEA_TRY(TAKE_VALUES(session, share->count, &open));
    UVEA_TRY(MPC(reveal)(session, share, open));
    for (size_t i = 0; i < share->count; i++) {
        uint64_t plain = want(dealt_sum(&pair->x, i), dealt_sum(&pair->y, i));
        UVEA_TRY(same_u64(what, i, open[i], REDUCE(plain)));
    }
    return UVEA_OK;
}

static enum uvea_error MPC(additive)(struct uvea_session *session, unsigned party,
                                     const struct pair *pair)
{
    size_t count = pair->x.count;
    TYPE *terms;
    TYPE *open;
    UVEA_TRY(TAKE_VALUES(session, count, &terms));
    UVEA_TRY(TAKE_VALUES(session, count, &open));
    for (size_t i = 0; i < count; i++) {
        terms[i] = REDUCE(pair->x.part[party][i]);
    }
    UVEA_TRY(MPC(reveal_additive)(session, terms, count, open));
    for (size_t i = 0; i < count; i++) {
        UVEA_TRY(same_u64("reveal_additive", i, open[i], REDUCE(dealt_sum(&pair->x, i))));
    }
    return UVEA_OK;
}

static enum uvea_error MPC(ring_case)(struct uvea_session *session, unsigned party, void *arg)
{
    const struct pair *pair = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    SHARE x;
    SHARE y;
    SHARE z;
    UVEA_TRY(MPC(take_dealt)(session, party, &pair->x, &x));
    UVEA_TRY(MPC(take_dealt)(session, party, &pair->y, &y));
    UVEA_TRY(TAKE(session, pair->x.count, &z));
    MPC(add)(&x, &y, &z);
    UVEA_TRY(MPC(reveals)(session, "add", &z, pair, plain_add));
    MPC(sub)(&x, &y, &z);
    UVEA_TRY(MPC(reveals)(session, "sub", &z, pair, plain_sub));
    MPC(negate)(&x, &z);
    UVEA_TRY(MPC(reveals)(session, "negate", &z, pair, plain_negate));
    MPC(scale)(&x, REDUCE(PUBLIC), &z);
    UVEA_TRY(MPC(reveals)(session, "scale", &z, pair, plain_scale));
    MPC(shift)(&x, 5, &z);
    UVEA_TRY(MPC(reveals)(session, "shift", &z, pair, plain_shift));
    MPC(add_public)(session->party, &x, REDUCE(PUBLIC), &z);
    UVEA_TRY(MPC(reveals)(session, "add_public", &z, pair, plain_add_public));
    MPC(product)(&x, &y, z.a);
    UVEA_TRY(MPC(reshare)(session, &z));
    UVEA_TRY(MPC(reveals)(session, "product", &z, pair, plain_product));
    UVEA_TRY(MPC(additive)(session, party, pair));
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

#include "core/mpc/width_end.h"
