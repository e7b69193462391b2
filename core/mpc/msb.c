#include "core/mpc/msb.h"

#include "core/base/check.h"
#include "core/mpc/adder.h"
#include "core/mpc/bits.h"
#include "core/mpc/round.h"
#include "core/mpc/temp.h"
#include "core/mpc/transpose.h"

#define WIDTH 16
#define SLICE uvea_mpc_slice_u16
#include "core/mpc/msb.inc"
#undef SLICE
#define WIDTH 32
#define SLICE uvea_mpc_slice_u32
#include "core/mpc/msb.inc"
#undef SLICE
#define WIDTH 48
#define SLICE uvea_mpc_slice_u64
#include "core/mpc/msb.inc"
#undef SLICE

enum { TOP = 31 };

// The sum planes, the carry planes below the top (one message), and a carry plane to ripple in.
static enum uvea_error full_adder(struct uvea_session *session, const struct uvea_share32 *x,
                                  struct uvea_planes *sum, struct uvea_planes *carries,
                                  struct uvea_planes *carry)
{
    UVEA_TRY(take_slices_u32(session, x, sum));
    UVEA_TRY(uvea_mpc_take_planes(session, TOP, sum->words, carries));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, sum->words, carry));
    struct uvea_planes below = uvea_planes_at(sum, 0, TOP);
    uvea_mpc_carry_terms(session->party, &below, carries->a);
    UVEA_TRY(uvea_mpc_reshare_and(session, carries));
    uvea_mpc_carry_finish(session->party, &below, carries);
    return UVEA_OK;
}

enum uvea_error uvea_mpc_msb_three_way_u32(struct uvea_session *session,
                                           const struct uvea_share32 *x, struct uvea_planes *msb)
{
    UVEA_CHECK(msb->plane_count == 1 && msb->words == uvea_words_for(x->count));
    if (x->count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct uvea_planes sum;
    struct uvea_planes carries;
    struct uvea_planes carry;
    UVEA_TRY_CLEANUP(full_adder(session, x, &sum, &carries, &carry));
    struct uvea_ripple ripple = {
        .left = uvea_planes_at(&sum, 1, TOP - 1),
        .right = uvea_planes_at(&carries, 0, TOP - 1),
        .carry = carry,
    };
    UVEA_TRY_CLEANUP(uvea_mpc_ripple(session, &ripple, 1, TOP - 1));
    struct uvea_planes top_sum = uvea_planes_at(&sum, TOP, 1);
    struct uvea_planes top_carry = uvea_planes_at(&carries, TOP - 1, 1);
    uvea_mpc_xor(&top_sum, &top_carry, msb);
    uvea_mpc_xor(msb, &carry, msb);
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}
