#include "core/mpc/field_predicate.h"

#include "core/field/field.h"
#include "core/mpc/adder.h"
#include "core/mpc/bits.h"
#include "core/mpc/field_draw.h"
#include "core/mpc/field_threshold.h"
#include "core/mpc/open.h"
#include "core/mpc/round.h"
#include "core/mpc/temp.h"
#include "core/mpc/transpose.h"

#include <stdbool.h>
#include <string.h>

enum { BITS = UVEA_FIELD_Y_BITS };

// ---- both forms

// One party adds the offset to its contributions.
static void add_offset(const struct uvea_session *session, const uint16_t *contributions,
                       size_t count, uint16_t *out)
{
    uint16_t offset = session->party.index == 0 ? UVEA_FIELD_Y_OFFSET : 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = uvea_field_add(contributions[i], offset);
    }
}

// ---- the full form: refresh, split into two numbers, 17-bit sum, comparison

// The components of Y as a replicated share: own + my - prev, and the same from prev.
static enum uvea_error full_refresh(struct uvea_session *session, const uint16_t *contributions,
                                    struct uvea_share16 *share)
{
    size_t count = share->count;
    uint16_t *draws;
    UVEA_TRY(uvea_mpc_take_u16(session, count, &draws));
    add_offset(session, contributions, count, share->a);
    uvea_prg_fill_field(session->prf.my, draws, count);
    for (size_t i = 0; i < count; i++) {
        share->a[i] = uvea_field_add(share->a[i], draws[i]);
    }
    uvea_prg_fill_field(session->prf.prev, draws, count);
    for (size_t i = 0; i < count; i++) {
        share->a[i] = uvea_field_sub(share->a[i], draws[i]);
    }
    uvea_mpc_charge(session, count, BITS);
    UVEA_TRY(uvea_mpc_send_vec_u16(session, UVEA_PEER_NEXT, share->a, count));
    return uvea_mpc_recv_field(session, UVEA_PEER_PREV, share->b, count);
}

// The piece of the vector that belongs to a role.
struct piece {
    size_t first;
    size_t count;
};

static struct piece piece_of(size_t count, unsigned role)
{
    size_t first = count / 3;
    size_t second = (count - first) / 2;
    const struct piece pieces[UVEA_PARTY_COUNT] = {
        {0, first},
        {first, second},
        {first + second, count - first - second},
    };
    return pieces[role];
}

// Y = u + v over the integers mod p: in each piece its owner knows u, the field sum of its two
// components, and shares u's bits under a mask it has with prev; the other two hold v. Everybody
// sends before anybody receives.
static enum uvea_error full_split(struct uvea_session *session, const struct uvea_share16 *y,
                                  struct uvea_share16 *u, struct uvea_share16 *v)
{
    unsigned role = uvea_mpc_role(session);
    struct piece own = piece_of(y->count, role);
    struct piece next = piece_of(y->count, (role + 1) % UVEA_PARTY_COUNT);
    struct piece prev = piece_of(y->count, (role + 2) % UVEA_PARTY_COUNT);
    uvea_mpc_charge(session, y->count, BITS);
    for (size_t i = own.first; i < own.first + own.count; i++) {
        u->b[i] = uvea_prg_gen_u16(session->prf.prev);
        u->a[i] = uvea_field_add(y->a[i], y->b[i]) ^ u->b[i];
    }
    UVEA_TRY(uvea_mpc_send_vec_u16(session, UVEA_PEER_NEXT, u->a + own.first, own.count));
    for (size_t i = next.first; i < next.first + next.count; i++) {
        u->a[i] = uvea_prg_gen_u16(session->prf.my);
        v->b[i] = y->b[i];
    }
    for (size_t i = prev.first; i < prev.first + prev.count; i++) {
        v->a[i] = y->a[i];
    }
    return uvea_mpc_recv_vec_u16(session, UVEA_PEER_PREV, u->b + prev.first, prev.count);
}

// The 17-bit sum W = u + v and its comparison, plane by plane; see field_threshold.h.
struct full {
    struct uvea_planes u;
    struct uvea_planes v;
    struct uvea_planes carry; // into plane k
    struct uvea_planes least; // L so far
    struct uvea_planes sum;   // w_k
    struct uvea_planes gates; // up to two of a layer
};

static void sum_plane(const struct full *full, size_t k)
{
    const struct uvea_planes u = uvea_planes_at(&full->u, k, 1);
    const struct uvea_planes v = uvea_planes_at(&full->v, k, 1);
    struct uvea_planes sum = full->sum;
    uvea_mpc_xor(&u, &v, &sum);
    uvea_mpc_xor(&sum, &full->carry, &sum);
}

// L <- w_k and L where the limit has a 1, w_k or L where it has a 0; gate is w_k and L.
static void compare_plane(struct full *full, size_t k, const struct uvea_planes *gate)
{
    if ((UVEA_FIELD_Y_LIMIT >> k & 1) == 0) {
        uvea_mpc_xor(&full->least, &full->sum, &full->least);
        uvea_mpc_xor(&full->least, gate, &full->least);
    } else {
        memcpy(full->least.a, gate->a, gate->words * sizeof(*gate->a));
        memcpy(full->least.b, gate->b, gate->words * sizeof(*gate->b));
    }
}

// Layer k: the adder's gate at plane k, and for k = 1..14 the comparison's beside it.
static enum uvea_error full_layer(struct uvea_session *session, struct full *full, size_t k)
{
    bool compares = k >= 1 && k < UVEA_FIELD_Y_LIMIT_BITS;
    const struct uvea_ripple ripple = {.left = full->u, .right = full->v, .carry = full->carry};
    struct uvea_planes adder = uvea_planes_at(&full->gates, 0, 1);
    struct uvea_planes compare = uvea_planes_at(&full->gates, 1, 1);
    struct uvea_planes layer = uvea_planes_at(&full->gates, 0, compares ? 2 : 1);
    sum_plane(full, k);
    uvea_mpc_ripple_terms(&ripple, k, adder.a);
    if (compares) {
        uvea_mpc_and_term(&full->sum, &full->least, compare.a);
    }
    UVEA_TRY(uvea_mpc_reshare_and(session, &layer));
    uvea_mpc_xor(&full->carry, &adder, &full->carry);
    if (compares) {
        compare_plane(full, k, &compare);
    } else if (k == 0) {
        uvea_mpc_xor(&full->least, &full->sum, &full->least); // bit 0 of the limit is 1: L = w_0
    }
    return UVEA_OK;
}

// Layer 16: not (w_15 xor (L and (w_15 xor w_16))); sum holds w_15 and carry w_16 by then.
static enum uvea_error full_choose(struct uvea_session *session, struct full *full,
                                   struct uvea_planes *not_match)
{
    struct uvea_planes gate = uvea_planes_at(&full->gates, 0, 1);
    uvea_mpc_xor(&full->carry, &full->sum, &full->carry);
    uvea_mpc_and_term(&full->least, &full->carry, gate.a);
    UVEA_TRY(uvea_mpc_reshare_and(session, &gate));
    uvea_mpc_xor(&full->sum, &gate, not_match);
    uvea_mpc_not(not_match, not_match);
    return UVEA_OK;
}

static enum uvea_error full_circuit(struct uvea_session *session, const struct uvea_share16 *u,
                                    const struct uvea_share16 *v, struct uvea_planes *not_match)
{
    size_t words = not_match->words;
    struct full full;
    UVEA_TRY(uvea_mpc_take_planes(session, BITS, words, &full.u));
    UVEA_TRY(uvea_mpc_take_planes(session, BITS, words, &full.v));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, words, &full.carry));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, words, &full.least));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, words, &full.sum));
    UVEA_TRY(uvea_mpc_take_planes(session, 2, words, &full.gates));
    uvea_mpc_slice_u16(u->a, u->count, BITS, full.u.a);
    uvea_mpc_slice_u16(u->b, u->count, BITS, full.u.b);
    uvea_mpc_slice_u16(v->a, v->count, BITS, full.v.a);
    uvea_mpc_slice_u16(v->b, v->count, BITS, full.v.b);
    for (size_t k = 0; k < BITS; k++) {
        UVEA_TRY(full_layer(session, &full, k));
    }
    return full_choose(session, &full, not_match);
}

static enum uvea_error full_form(struct uvea_session *session, const uint16_t *contributions,
                                 size_t count, struct uvea_planes *not_match)
{
    struct uvea_share16 y;
    struct uvea_share16 u;
    struct uvea_share16 v;
    UVEA_TRY(uvea_mpc_take_share16(session, count, &y));
    UVEA_TRY(uvea_mpc_take_share16(session, count, &u));
    UVEA_TRY(uvea_mpc_take_share16(session, count, &v));
    UVEA_TRY(full_refresh(session, contributions, &y));
    UVEA_TRY(full_split(session, &y, &u, &v));
    return full_circuit(session, &u, &v, not_match);
}

// ---- the valid-range form: one party holds z, the other two know y, Y = y + z mod p
//
// accept = [z >= a] xor [z >= b] xor [a > b], a = 32768 - y mod p, b anywhere where Y is
// impossible. b is a multiple of 512 (or 0), so that its comparison needs 7 bits of z.

// The holder's bits of z, shared under a mask it has with next.
static enum uvea_error range_share_z(struct uvea_session *session, uint16_t *values, size_t count,
                                     struct uvea_planes *z)
{
    uint16_t *draws;
    size_t total = uvea_planes_total(z);
    UVEA_TRY(uvea_mpc_take_u16(session, 2 * count, &draws));
    uvea_prg_fill_field(session->prf.my, draws, count);
    uvea_prg_fill_field(session->prf.prev, draws + count, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = uvea_field_sub(uvea_field_sub(values[i], draws[i]), draws[count + i]);
    }
    uvea_mpc_slice_u16(values, count, BITS, z->b);
    uvea_prg_fill_u64(session->prf.my, z->a, total);
    for (size_t i = 0; i < total; i++) {
        z->b[i] ^= z->a[i];
    }
    return uvea_mpc_send_vec_u64(session, UVEA_PEER_PREV, z->b, total);
}

// The other two pad their values and tell each other: both then know y.
static enum uvea_error range_open_y(struct uvea_session *session, enum uvea_peer partner,
                                    struct uvea_prg *with_holder, uint16_t *values, size_t count)
{
    uint16_t *other;
    UVEA_TRY(uvea_mpc_take_u16(session, count, &other));
    uvea_prg_fill_field(with_holder, other, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = uvea_field_add(values[i], other[i]);
    }
    UVEA_TRY(uvea_mpc_send_vec_u16(session, partner, values, count));
    UVEA_TRY(uvea_mpc_recv_field(session, partner, other, count));
    for (size_t i = 0; i < count; i++) {
        values[i] = uvea_field_add(values[i], other[i]);
    }
    return UVEA_OK;
}

// What both non-holders make of y, value by value: the complements of the bounds' bits and [a > b].
struct bounds {
    uint16_t *not_a;
    uint16_t *not_b; // shifted right by 9
    uint16_t *a_above_b;
};

static enum uvea_error take_bounds(struct uvea_session *session, size_t count,
                                   struct bounds *bounds)
{
    UVEA_TRY(uvea_mpc_take_u16(session, count, &bounds->not_a));
    UVEA_TRY(uvea_mpc_take_u16(session, count, &bounds->not_b));
    return uvea_mpc_take_u16(session, count, &bounds->a_above_b);
}

static void find_bounds(const uint16_t *y, size_t count, struct bounds *bounds)
{
    const uint16_t coarse_mask = (1 << UVEA_FIELD_Y_COARSE_BITS) - 1;
    for (size_t i = 0; i < count; i++) {
        struct uvea_field_bounds of = uvea_field_bounds_of(y[i]);
        bounds->not_a[i] = (uint16_t)~of.a;
        bounds->not_b[i] = (uint16_t)(~(of.b >> UVEA_FIELD_Y_COARSE_SHIFT) & coarse_mask);
        bounds->a_above_b[i] = of.a_above_b;
    }
}

struct range {
    struct uvea_planes z;
    struct uvea_planes not_a;
    struct uvea_planes not_b;
    struct uvea_planes a_above_b;
    struct uvea_planes carries; // [z >= b], [z >= a] so far
};

// Bounds are known to next and prev of the holder, so they stand in the half these two share.
static enum uvea_error range_bounds(struct uvea_session *session, const uint16_t *y, size_t count,
                                    bool in_a, struct range *range)
{
    struct bounds bounds;
    UVEA_TRY(take_bounds(session, count, &bounds));
    find_bounds(y, count, &bounds);
    uvea_mpc_slice_u16(bounds.not_a, count, BITS, in_a ? range->not_a.a : range->not_a.b);
    uvea_mpc_slice_u16(bounds.not_b, count, UVEA_FIELD_Y_COARSE_BITS,
                       in_a ? range->not_b.a : range->not_b.b);
    uvea_mpc_slice_u16(bounds.a_above_b, count, 1, in_a ? range->a_above_b.a : range->a_above_b.b);
    return UVEA_OK;
}

static enum uvea_error range_convert(struct uvea_session *session, uint16_t *values, size_t count,
                                     struct range *range)
{
    size_t total = uvea_planes_total(&range->z);
    unsigned holder = session->id % UVEA_PARTY_COUNT;
    uvea_mpc_charge(session, total, 64);
    if (session->party.index == holder) {
        return range_share_z(session, values, count, &range->z);
    }
    if (session->party.index == (holder + 1) % UVEA_PARTY_COUNT) {
        UVEA_TRY(range_open_y(session, UVEA_PEER_NEXT, session->prf.prev, values, count));
        uvea_prg_fill_u64(session->prf.prev, range->z.b, total);
        return range_bounds(session, values, count, true, range);
    }
    UVEA_TRY(range_open_y(session, UVEA_PEER_PREV, session->prf.my, values, count));
    UVEA_TRY(range_bounds(session, values, count, false, range));
    return uvea_mpc_recv_u64(session, UVEA_PEER_NEXT, range->z.a, total);
}

// [z >= t] is the carry out of z + not t + 1. Both run side by side for the 7 coarse bits; the fine
// one goes on for 9 more.
static enum uvea_error range_compare(struct uvea_session *session, struct range *range)
{
    struct uvea_ripple ripples[2] = {
        {
            .left = uvea_planes_at(&range->z, UVEA_FIELD_Y_COARSE_SHIFT, UVEA_FIELD_Y_COARSE_BITS),
            .right = range->not_b,
            .carry = uvea_planes_at(&range->carries, 0, 1),
        },
        {
            .left = range->z,
            .right = range->not_a,
            .carry = uvea_planes_at(&range->carries, 1, 1),
        },
    };
    uvea_mpc_not(&range->carries, &range->carries); // both start at 1
    UVEA_TRY(uvea_mpc_ripple(session, ripples, 2, UVEA_FIELD_Y_COARSE_BITS));
    ripples[1].left =
        uvea_planes_at(&range->z, UVEA_FIELD_Y_COARSE_BITS, UVEA_FIELD_Y_COARSE_SHIFT);
    ripples[1].right =
        uvea_planes_at(&range->not_a, UVEA_FIELD_Y_COARSE_BITS, UVEA_FIELD_Y_COARSE_SHIFT);
    return uvea_mpc_ripple(session, &ripples[1], 1, UVEA_FIELD_Y_COARSE_SHIFT);
}

static enum uvea_error range_form(struct uvea_session *session, const uint16_t *contributions,
                                  size_t count, struct uvea_planes *not_match)
{
    size_t words = not_match->words;
    struct range range;
    uint16_t *values;
    UVEA_TRY(uvea_mpc_take_u16(session, count, &values));
    UVEA_TRY(uvea_mpc_take_planes(session, BITS, words, &range.z));
    UVEA_TRY(uvea_mpc_take_planes(session, BITS, words, &range.not_a));
    UVEA_TRY(uvea_mpc_take_planes(session, UVEA_FIELD_Y_COARSE_BITS, words, &range.not_b));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, words, &range.a_above_b));
    UVEA_TRY(uvea_mpc_take_planes(session, 2, words, &range.carries));
    add_offset(session, contributions, count, values);
    UVEA_TRY(range_convert(session, values, count, &range));
    UVEA_TRY(range_compare(session, &range));
    const struct uvea_planes above_b = uvea_planes_at(&range.carries, 0, 1);
    const struct uvea_planes above_a = uvea_planes_at(&range.carries, 1, 1);
    uvea_mpc_xor(&above_a, &above_b, not_match);
    uvea_mpc_xor(not_match, &range.a_above_b, not_match);
    uvea_mpc_not(not_match, not_match);
    return UVEA_OK;
}

enum uvea_error uvea_mpc_field_match(struct uvea_session *session,
                                     enum uvea_field_predicate_form form,
                                     const uint16_t *contributions, size_t count, uint64_t *opened)
{
    if (count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct uvea_planes not_match;
    UVEA_TRY_CLEANUP(uvea_mpc_take_planes(session, 1, uvea_words_for(count), &not_match));
    if (form == UVEA_FIELD_PREDICATE_FULL) {
        error = full_form(session, contributions, count, &not_match);
    } else {
        error = range_form(session, contributions, count, &not_match);
    }
    if (error == UVEA_OK) {
        error = uvea_mpc_reveal_matches(session, &not_match, count, opened); // L1
    }
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}
