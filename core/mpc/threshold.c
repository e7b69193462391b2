#include "core/mpc/threshold.h"

#include "core/base/check.h"
#include "core/base/plant.h"
#include "core/mpc/adder.h"
#include "core/mpc/bits.h"
#include "core/mpc/msb.h"
#include "core/mpc/predicate.h"
#include "core/mpc/ring.h"
#include "core/mpc/round.h"
#include "core/mpc/temp.h"
#include "core/mpc/transpose.h"

enum {
    MASK_BITS = 16,
    EXPR_BITS = 18, // 4C - M
    TERM_BITS = 16, // 2C - m
};

enum uvea_error uvea_mpc_fhd_greater(struct uvea_session *session, const struct uvea_share32 *codes,
                                     const struct uvea_share32 *masks, uint32_t a,
                                     struct uvea_planes *not_match)
{
    UVEA_CHECK(codes->count == masks->count);
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct uvea_share32 difference;
    struct uvea_share32 scaled;
    UVEA_TRY_CLEANUP(uvea_mpc_take_share32(session, codes->count, &difference));
    UVEA_TRY_CLEANUP(uvea_mpc_take_share32(session, codes->count, &scaled));
    uvea_mpc_shift_u32(codes, 16, &difference);
    uvea_mpc_scale_u32(masks, a, &scaled);
    uvea_mpc_sub_u32(&difference, &scaled, &difference);
    UVEA_TRY_CLEANUP(uvea_mpc_msb_u32(session, &difference, not_match));
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

enum uvea_error uvea_mpc_strict_above(struct uvea_session *session,
                                      const struct uvea_share16 *codes,
                                      const struct uvea_share32 *masks,
                                      struct uvea_planes *not_match)
{
    UVEA_CHECK(codes->count == masks->count);
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct uvea_share32 difference;
    UVEA_TRY_CLEANUP(uvea_mpc_take_share32(session, codes->count, &difference));
    for (size_t i = 0; i < codes->count; i++) {
        difference.a[i] = ((uint32_t)codes->a[i] << 16) - masks->a[i] * UVEA_STRICT_THRESHOLD;
        difference.b[i] = ((uint32_t)codes->b[i] << 16) - masks->b[i] * UVEA_STRICT_THRESHOLD;
    }
    if (uvea_plant_active(UVEA_PLANT_THRESHOLD_OFF_BY_ONE)) {
        uvea_mpc_add_public_u32(session->party, &difference, UINT32_MAX, &difference);
    }
    UVEA_TRY_CLEANUP(uvea_mpc_msb_three_way_u32(session, &difference, not_match));
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

// ---- 18 bits

// Both numbers of the 18-bit form, their planes of one sharing, and the carries of their full
// adders: mask planes 0..15, then expression planes 0..16, so that they are one message.
struct dense {
    struct uvea_planes mask;
    struct uvea_planes expr;
    struct uvea_planes carries;
    struct uvea_ripple ripples[2]; // mask, expression
};

enum { CARRY_PLANES = MASK_BITS + EXPR_BITS - 1 };

// One half of the pairs (C, M) -> planes of M and of 4C - M mod 2^18.
static void slice_pairs(const uint16_t *half, size_t count, uint16_t *masks, uint32_t *exprs,
                        uint64_t *mask_planes, uint64_t *expr_planes)
{
    for (size_t i = 0; i < count; i++) {
        masks[i] = half[2 * i + 1];
        exprs[i] = (4 * (uint32_t)half[2 * i] - masks[i]) & ((1U << EXPR_BITS) - 1);
    }
    uvea_mpc_slice_u16(masks, count, MASK_BITS, mask_planes);
    uvea_mpc_slice_u32(exprs, count, EXPR_BITS, expr_planes);
}

static enum uvea_error dense_slice(struct uvea_session *session, const struct uvea_share16 *pairs,
                                   struct dense *dense)
{
    size_t count = pairs->count / 2;
    size_t words = uvea_words_for(count);
    uint16_t *masks;
    uint32_t *exprs;
    UVEA_TRY(uvea_mpc_take_planes(session, MASK_BITS, words, &dense->mask));
    UVEA_TRY(uvea_mpc_take_planes(session, EXPR_BITS, words, &dense->expr));
    UVEA_TRY(uvea_mpc_take_u16(session, count, &masks));
    UVEA_TRY(uvea_mpc_take_u32(session, count, &exprs));
    slice_pairs(pairs->a, count, masks, exprs, dense->mask.a, dense->expr.a);
    slice_pairs(pairs->b, count, masks, exprs, dense->mask.b, dense->expr.b);
    return UVEA_OK;
}

static enum uvea_error dense_full_adders(struct uvea_session *session, struct dense *dense)
{
    size_t words = dense->mask.words;
    struct uvea_planes expr_below = uvea_planes_at(&dense->expr, 0, EXPR_BITS - 1);
    UVEA_TRY(uvea_mpc_take_planes(session, CARRY_PLANES, words, &dense->carries));
    uvea_mpc_carry_terms(session->party, &dense->mask, dense->carries.a);
    uvea_mpc_carry_terms(session->party, &expr_below, dense->carries.a + MASK_BITS * words);
    UVEA_TRY(uvea_mpc_reshare_and(session, &dense->carries));
    struct uvea_planes mask_carries = uvea_planes_at(&dense->carries, 0, MASK_BITS);
    struct uvea_planes expr_carries = uvea_planes_at(&dense->carries, MASK_BITS, EXPR_BITS - 1);
    uvea_mpc_carry_finish(session->party, &dense->mask, &mask_carries);
    uvea_mpc_carry_finish(session->party, &expr_below, &expr_carries);
    return UVEA_OK;
}

// Both carries up to bit 16.
static enum uvea_error dense_ripple(struct uvea_session *session, struct dense *dense)
{
    struct uvea_planes carry;
    UVEA_TRY(uvea_mpc_take_planes(session, 2, dense->mask.words, &carry));
    dense->ripples[0] = (struct uvea_ripple){
        .left = uvea_planes_at(&dense->mask, 1, MASK_BITS - 1),
        .right = uvea_planes_at(&dense->carries, 0, MASK_BITS - 1),
        .carry = uvea_planes_at(&carry, 0, 1),
    };
    dense->ripples[1] = (struct uvea_ripple){
        .left = uvea_planes_at(&dense->expr, 1, EXPR_BITS - 2),
        .right = uvea_planes_at(&dense->carries, MASK_BITS, EXPR_BITS - 2),
        .carry = uvea_planes_at(&carry, 1, 1),
    };
    return uvea_mpc_ripple(session, dense->ripples, 2, MASK_BITS - 1);
}

// The halves' integer sums overflow: sum of the E halves = E + (...) 2^18, but the M halves inside
// them stand for M + q 2^16. So q's two bits are added back at bits 16 and 17 of E; bit 17 is the
// sign.
static enum uvea_error dense_sign(struct uvea_session *session, const struct dense *dense,
                                  struct uvea_planes *sign)
{
    const struct uvea_planes *mask_carry = &dense->ripples[0].carry;
    const struct uvea_planes *expr_carry = &dense->ripples[1].carry;
    struct uvea_planes mask_last = uvea_planes_at(&dense->carries, MASK_BITS - 1, 1);
    struct uvea_planes expr_16 = uvea_planes_at(&dense->expr, 16, 1);
    struct uvea_planes expr_17 = uvea_planes_at(&dense->expr, 17, 1);
    struct uvea_planes carry_15 = uvea_planes_at(&dense->carries, MASK_BITS + 15, 1);
    struct uvea_planes carry_16 = uvea_planes_at(&dense->carries, MASK_BITS + 16, 1);
    struct uvea_planes gates;
    struct uvea_planes bits_16; // of the expression, of q
    size_t words = sign->words;
    UVEA_TRY(uvea_mpc_take_planes(session, 3, words, &gates));
    UVEA_TRY(uvea_mpc_take_planes(session, 2, words, &bits_16));
    struct uvea_planes e16 = uvea_planes_at(&bits_16, 0, 1);
    struct uvea_planes m16 = uvea_planes_at(&bits_16, 1, 1);
    uvea_mpc_xor(&expr_16, &carry_15, &e16);
    uvea_mpc_xor(&e16, expr_carry, &e16);
    uvea_mpc_xor(&mask_last, mask_carry, &m16);

    uvea_mpc_ripple_terms(&dense->ripples[1], MASK_BITS - 1, gates.a);
    uvea_mpc_and_term(&mask_last, mask_carry, gates.a + words);
    uvea_mpc_and_term(&e16, &m16, gates.a + 2 * words);
    UVEA_TRY(uvea_mpc_reshare_and(session, &gates));

    uvea_mpc_xor(&expr_17, &carry_16, sign);
    uvea_mpc_xor(sign, expr_carry, sign);
    for (size_t i = 0; i < gates.plane_count; i++) {
        struct uvea_planes gate = uvea_planes_at(&gates, i, 1);
        uvea_mpc_xor(sign, &gate, sign);
    }
    return UVEA_OK;
}

enum uvea_error uvea_mpc_anonymous_above(struct uvea_session *session,
                                         const struct uvea_share16 *pairs,
                                         struct uvea_planes *not_match)
{
    UVEA_CHECK(pairs->count % 2 == 0 && not_match->plane_count == 1 &&
               not_match->words == uvea_words_for(pairs->count / 2));
    if (pairs->count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct dense dense;
    UVEA_TRY_CLEANUP(dense_slice(session, pairs, &dense));
    UVEA_TRY_CLEANUP(dense_full_adders(session, &dense));
    UVEA_TRY_CLEANUP(dense_ripple(session, &dense));
    UVEA_TRY_CLEANUP(dense_sign(session, &dense, not_match));
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

// ---- two terms

// What one of the two non-holders makes of its values: pads them, tells the other, and slices the
// sum, which both then know, into the half of y it keeps.
static enum uvea_error two_term_open_y(struct uvea_session *session, enum uvea_peer partner,
                                       struct uvea_prg *shared, uint16_t *values, size_t count,
                                       uint64_t *y)
{
    uint16_t *pads; // and then the partner's values
    UVEA_TRY(uvea_mpc_take_u16(session, count, &pads));
    uvea_prg_fill_u16(shared, pads, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = (uint16_t)(values[i] + pads[i]);
    }
    UVEA_TRY(uvea_mpc_send_u16(session, partner, values, count));
    UVEA_TRY(uvea_mpc_recv_u16(session, partner, pads, count));
    for (size_t i = 0; i < count; i++) {
        values[i] = (uint16_t)(values[i] + pads[i]);
    }
    uvea_mpc_slice_u16(values, count, TERM_BITS, y);
    return UVEA_OK;
}

// The holder's z is its own values less both pads, as bits under a mask it has with next.
static enum uvea_error two_term_share_z(struct uvea_session *session, uint16_t *values,
                                        size_t count, struct uvea_planes *z)
{
    uint16_t *pads;
    size_t total = uvea_planes_total(z);
    UVEA_TRY(uvea_mpc_take_u16(session, 2 * count, &pads));
    uvea_prg_fill_u16(session->prf.my, pads, count);
    uvea_prg_fill_u16(session->prf.prev, pads + count, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = (uint16_t)(values[i] - pads[i] - pads[count + i]);
    }
    uvea_mpc_slice_u16(values, count, TERM_BITS, z->b);
    uvea_prg_fill_u64(session->prf.my, z->a, total);
    for (size_t i = 0; i < total; i++) {
        z->b[i] ^= z->a[i];
    }
    return uvea_mpc_send_u64(session, UVEA_PEER_PREV, z->b, total);
}

// y + z = the sum of the parties' values; the two sharings leave out one party each.
static enum uvea_error two_term_shares(struct uvea_session *session, uint16_t *values, size_t count,
                                       struct uvea_planes *y, struct uvea_planes *z)
{
    size_t total = uvea_planes_total(z);
    unsigned holder = session->id % UVEA_PARTY_COUNT;
    uvea_mpc_charge(session, total, 64);
    if (session->party.index == holder) {
        return two_term_share_z(session, values, count, z);
    }
    if (session->party.index == (holder + 1) % UVEA_PARTY_COUNT) {
        UVEA_TRY(two_term_open_y(session, UVEA_PEER_NEXT, session->prf.prev, values, count, y->a));
        uvea_prg_fill_u64(session->prf.prev, z->b, total);
        return UVEA_OK;
    }
    UVEA_TRY(two_term_open_y(session, UVEA_PEER_PREV, session->prf.my, values, count, y->b));
    return uvea_mpc_recv_u64(session, UVEA_PEER_NEXT, z->a, total);
}

static enum uvea_error two_term_sign(struct uvea_session *session, uint16_t *values, size_t count,
                                     struct uvea_planes *sign)
{
    struct uvea_planes y;
    struct uvea_planes z;
    struct uvea_planes carry;
    UVEA_TRY(uvea_mpc_take_planes(session, TERM_BITS, sign->words, &y));
    UVEA_TRY(uvea_mpc_take_planes(session, TERM_BITS, sign->words, &z));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, sign->words, &carry));
    UVEA_TRY(two_term_shares(session, values, count, &y, &z));
    struct uvea_ripple ripple = {.left = y, .right = z, .carry = carry};
    UVEA_TRY(uvea_mpc_ripple(session, &ripple, 1, TERM_BITS - 1));
    struct uvea_planes y_top = uvea_planes_at(&y, TERM_BITS - 1, 1);
    struct uvea_planes z_top = uvea_planes_at(&z, TERM_BITS - 1, 1);
    uvea_mpc_xor(&y_top, &z_top, sign);
    uvea_mpc_xor(sign, &carry, sign);
    return UVEA_OK;
}

enum uvea_error uvea_mpc_two_term_above(struct uvea_session *session, const uint16_t *contributions,
                                        size_t count, struct uvea_planes *not_match)
{
    UVEA_CHECK(not_match->plane_count == 1 && not_match->words == uvea_words_for(count));
    if (count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    uint16_t *values;
    UVEA_TRY_CLEANUP(uvea_mpc_take_u16(session, count, &values));
    for (size_t i = 0; i < count; i++) {
        values[i] = (uint16_t)(2 * contributions[2 * i] - contributions[2 * i + 1]);
    }
    UVEA_TRY_CLEANUP(two_term_sign(session, values, count, not_match));
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}
