#include "core/mpc/lift.h"

#include "core/base/check.h"
#include "core/mpc/adder.h"
#include "core/mpc/bits.h"
#include "core/mpc/inject.h"
#include "core/mpc/predicate.h"
#include "core/mpc/ring.h"
#include "core/mpc/temp.h"
#include "core/mpc/transpose.h"

enum {
    BITS = 16,
    SIGN = 1 << 15,
};

void uvea_mpc_mul_lift_u32(const struct uvea_share16 *x, unsigned bits, struct uvea_share32 *out)
{
    UVEA_CHECK(bits >= 16 && bits < 32 && x->count == out->count);
    for (size_t i = 0; i < x->count; i++) {
        out->a[i] = (uint32_t)x->a[i] << bits;
        out->b[i] = (uint32_t)x->b[i] << bits;
    }
}

void uvea_mpc_mul_lift_u48(const struct uvea_share32 *x, unsigned bits, struct uvea_share64 *out)
{
    UVEA_CHECK(bits >= 16 && bits < 48 && x->count == out->count);
    for (size_t i = 0; i < x->count; i++) {
        out->a[i] = (uint64_t)x->a[i] << bits & UVEA_RING48_MASK;
        out->b[i] = (uint64_t)x->b[i] << bits & UVEA_RING48_MASK;
    }
}

static enum uvea_error full_adder(struct uvea_session *session, const struct uvea_share16 *in,
                                  struct uvea_planes *sum, struct uvea_planes *carries)
{
    size_t words = uvea_words_for(in->count);
    UVEA_TRY(uvea_mpc_take_planes(session, BITS, words, sum));
    UVEA_TRY(uvea_mpc_take_planes(session, BITS, words, carries));
    uvea_mpc_slice_u16(in->a, in->count, BITS, sum->a);
    uvea_mpc_slice_u16(in->b, in->count, BITS, sum->b);
    uvea_mpc_carry_terms(session->party, sum, carries->a);
    UVEA_TRY(uvea_mpc_reshare_and(session, carries));
    uvea_mpc_carry_finish(session->party, sum, carries);
    return UVEA_OK;
}

// The halves as integers sum to value + overflow[0] * 2^16 + overflow[1] * 2^17: 17 messages, 32 W
// AND words. overflow: two planes.
static enum uvea_error overflow_of(struct uvea_session *session, const struct uvea_share16 *in,
                                   struct uvea_planes *overflow)
{
    struct uvea_planes sum;
    struct uvea_planes carries;
    struct uvea_planes carry;
    UVEA_TRY(full_adder(session, in, &sum, &carries));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, sum.words, &carry));
    struct uvea_ripple ripple = {
        .left = uvea_planes_at(&sum, 1, BITS - 1),
        .right = uvea_planes_at(&carries, 0, BITS - 1),
        .carry = carry,
    };
    UVEA_TRY(uvea_mpc_ripple(session, &ripple, 1, BITS - 1));
    struct uvea_planes last = uvea_planes_at(&carries, BITS - 1, 1);
    struct uvea_planes first_overflow = uvea_planes_at(overflow, 0, 1);
    struct uvea_planes second_overflow = uvea_planes_at(overflow, 1, 1);
    uvea_mpc_xor(&last, &carry, &first_overflow);
    return uvea_mpc_and(session, &last, &carry, &second_overflow);
}

// Needs only 16 bits of each injected bit, since the first is moved up by 16.
static enum uvea_error lift_u32(struct uvea_session *session, const struct uvea_share16 *in,
                                struct uvea_share32 *out)
{
    struct uvea_planes overflow;
    struct uvea_share16 injected;
    UVEA_TRY(uvea_mpc_take_planes(session, 2, uvea_words_for(in->count), &overflow));
    UVEA_TRY(uvea_mpc_take_share16(session, 2 * in->count, &injected));
    UVEA_TRY(overflow_of(session, in, &overflow));
    UVEA_TRY(uvea_mpc_inject_u16(session, &overflow, in->count, &injected));
    for (size_t i = 0; i < in->count; i++) {
        size_t j = in->count + i;
        out->a[i] = in->a[i] - ((uint32_t)injected.a[i] << 16) - ((uint32_t)injected.a[j] << 17);
        out->b[i] = in->b[i] - ((uint32_t)injected.b[i] << 16) - ((uint32_t)injected.b[j] << 17);
    }
    return UVEA_OK;
}

static uint64_t lifted_u48(uint16_t half, uint32_t first, uint32_t second)
{
    return (half - ((uint64_t)first << 16) - ((uint64_t)second << 17)) & UVEA_RING48_MASK;
}

static enum uvea_error lift_u48(struct uvea_session *session, const struct uvea_share16 *in,
                                struct uvea_share64 *out)
{
    struct uvea_planes overflow;
    struct uvea_share32 injected;
    UVEA_TRY(uvea_mpc_take_planes(session, 2, uvea_words_for(in->count), &overflow));
    UVEA_TRY(uvea_mpc_take_share32(session, 2 * in->count, &injected));
    UVEA_TRY(overflow_of(session, in, &overflow));
    UVEA_TRY(uvea_mpc_inject_u32(session, &overflow, in->count, &injected));
    for (size_t i = 0; i < in->count; i++) {
        size_t j = in->count + i;
        out->a[i] = lifted_u48(in->a[i], injected.a[i], injected.a[j]);
        out->b[i] = lifted_u48(in->b[i], injected.b[i], injected.b[j]);
    }
    return UVEA_OK;
}

// A signed value is lifted as the unsigned value 2^15 above it.
static enum uvea_error take_raised(struct uvea_session *session, const struct uvea_share16 *in,
                                   struct uvea_share16 *raised)
{
    UVEA_TRY(uvea_mpc_take_share16(session, in->count, raised));
    uvea_mpc_add_public_u16(session->party, in, SIGN, raised);
    return UVEA_OK;
}

enum uvea_error uvea_mpc_lift_u32(struct uvea_session *session, const struct uvea_share16 *in,
                                  struct uvea_share32 *out)
{
    UVEA_TRY(uvea_share32_init(out, in->count));
    if (in->count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error = lift_u32(session, in, out);
    uvea_scratch_release(&session->scratch, mark);
    if (error != UVEA_OK) {
        uvea_share32_deinit(out);
    }
    return error;
}

enum uvea_error uvea_mpc_lift_signed_u32(struct uvea_session *session,
                                         const struct uvea_share16 *in, struct uvea_share32 *out)
{
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct uvea_share16 raised;
    *out = (struct uvea_share32){0};
    UVEA_TRY_CLEANUP(take_raised(session, in, &raised));
    UVEA_TRY_CLEANUP(uvea_mpc_lift_u32(session, &raised, out));
    uvea_mpc_add_public_u32(session->party, out, -(uint32_t)SIGN, out);
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

enum uvea_error uvea_mpc_lift_u48(struct uvea_session *session, const struct uvea_share16 *in,
                                  struct uvea_share64 *out)
{
    UVEA_CHECK(in->count == out->count);
    if (in->count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error = lift_u48(session, in, out);
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

enum uvea_error uvea_mpc_lift_signed_u48(struct uvea_session *session,
                                         const struct uvea_share16 *in, struct uvea_share64 *out)
{
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct uvea_share16 raised;
    UVEA_TRY_CLEANUP(take_raised(session, in, &raised));
    UVEA_TRY_CLEANUP(uvea_mpc_lift_u48(session, &raised, out));
    uvea_mpc_add_public_u48(session->party, out, UVEA_RING48_MASK + 1 - SIGN, out);
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}
