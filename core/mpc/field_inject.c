#include "core/mpc/field_inject.h"

#include "core/base/check.h"
#include "core/field/field.h"
#include "core/mpc/field_draw.h"
#include "core/mpc/round.h"
#include "core/mpc/temp.h"

// With b = b0 ^ b1 ^ b2 named by role, role 1 knows s = b0 ^ b1 and shares it as x + r01; the
// product s b2 is made with two more pads, and s + b2 - 2 s b2 is the bit.

static uint16_t minus_twice(uint16_t value, uint16_t product)
{
    return uvea_field_sub(value, uvea_field_add(product, product));
}

// Role 0 holds r01 and b2.
static enum uvea_error inject_as_0(struct uvea_session *session, const uint16_t *b2, uint16_t *sent,
                                   uint16_t *got, struct uvea_share16 *out)
{
    size_t count = out->count;
    uvea_prg_fill_field(session->prf.my, out->a, count);   // r01
    uvea_prg_fill_field(session->prf.prev, out->b, count); // r02
    for (size_t i = 0; i < count; i++) {
        sent[i] = uvea_field_sub(uvea_field_mul(out->a[i], b2[i]), out->b[i]);
    }
    UVEA_TRY(uvea_mpc_send_vec_u16(session, UVEA_PEER_NEXT, sent, count));
    UVEA_TRY(uvea_mpc_recv_field(session, UVEA_PEER_PREV, got, count));
    for (size_t i = 0; i < count; i++) {
        out->a[i] = minus_twice(out->a[i], sent[i]);
        out->b[i] = minus_twice(b2[i], uvea_field_add(out->b[i], got[i]));
    }
    return UVEA_OK;
}

// Role 1 holds b0 and b1.
static enum uvea_error inject_as_1(struct uvea_session *session, const uint16_t *b01,
                                   uint16_t *sent, uint16_t *got, struct uvea_share16 *out)
{
    size_t count = out->count;
    uvea_prg_fill_field(session->prf.prev, out->b, count); // r01
    uvea_prg_fill_field(session->prf.my, out->a, count);   // r12
    for (size_t i = 0; i < count; i++) {
        sent[i] = uvea_field_sub(b01[i], out->b[i]);
    }
    UVEA_TRY(uvea_mpc_send_vec_u16(session, UVEA_PEER_NEXT, sent, count));
    UVEA_TRY(uvea_mpc_recv_field(session, UVEA_PEER_PREV, got, count));
    for (size_t i = 0; i < count; i++) {
        out->a[i] = minus_twice(sent[i], out->a[i]);
        out->b[i] = minus_twice(out->b[i], got[i]);
    }
    return UVEA_OK;
}

// Role 2 holds b2, and waits for role 1 before it can send.
static enum uvea_error inject_as_2(struct uvea_session *session, const uint16_t *b2, uint16_t *sent,
                                   uint16_t *got, struct uvea_share16 *out)
{
    size_t count = out->count;
    uvea_prg_fill_field(session->prf.my, out->a, count);   // r02
    uvea_prg_fill_field(session->prf.prev, out->b, count); // r12
    UVEA_TRY(uvea_mpc_recv_field(session, UVEA_PEER_PREV, got, count));
    for (size_t i = 0; i < count; i++) {
        sent[i] = uvea_field_sub(uvea_field_mul(got[i], b2[i]), out->b[i]);
    }
    UVEA_TRY(uvea_mpc_send_vec_u16(session, UVEA_PEER_NEXT, sent, count));
    for (size_t i = 0; i < count; i++) {
        out->a[i] = minus_twice(b2[i], uvea_field_add(out->a[i], sent[i]));
        out->b[i] = minus_twice(got[i], out->b[i]);
    }
    return UVEA_OK;
}

// The bits a role works on: roles 0 and 2 know b2, role 1 knows b0 ^ b1.
static void role_bits(const struct uvea_planes *bits, size_t lanes, unsigned role, uint16_t *out)
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

enum uvea_error uvea_mpc_inject_field(struct uvea_session *session, const struct uvea_planes *bits,
                                      size_t lanes, struct uvea_share16 *out)
{
    UVEA_CHECK(bits->words == uvea_words_for(lanes) && out->count == bits->plane_count * lanes);
    if (out->count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    uint16_t *own;
    uint16_t *sent;
    uint16_t *got;
    UVEA_TRY_CLEANUP(uvea_mpc_take_u16(session, out->count, &own));
    UVEA_TRY_CLEANUP(uvea_mpc_take_u16(session, out->count, &sent));
    UVEA_TRY_CLEANUP(uvea_mpc_take_u16(session, out->count, &got));
    unsigned role = uvea_mpc_role(session);
    role_bits(bits, lanes, role, own);
    uvea_mpc_charge(session, out->count, 16);
    if (role == 0) {
        error = inject_as_0(session, own, sent, got, out);
    } else if (role == 1) {
        error = inject_as_1(session, own, sent, got, out);
    } else {
        error = inject_as_2(session, own, sent, got, out);
    }
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}
