#include "core/mpc/bits.h"

#include "core/base/check.h"
#include "core/base/plant.h"
#include "core/mpc/round.h"
#include "core/mpc/temp.h"

struct uvea_planes uvea_planes_at(const struct uvea_planes *planes, size_t first, size_t count)
{
    UVEA_CHECK(first <= planes->plane_count && count <= planes->plane_count - first);
    size_t offset = first * planes->words;
    return (struct uvea_planes){planes->a + offset, planes->b + offset, count, planes->words};
}

static void check_alike(const struct uvea_planes *x, const struct uvea_planes *y)
{
    UVEA_CHECK(x->plane_count == y->plane_count && x->words == y->words);
}

void uvea_mpc_xor(const struct uvea_planes *x, const struct uvea_planes *y, struct uvea_planes *out)
{
    check_alike(x, y);
    check_alike(x, out);
    for (size_t i = 0; i < uvea_planes_total(x); i++) {
        out->a[i] = x->a[i] ^ y->a[i];
        out->b[i] = x->b[i] ^ y->b[i];
    }
}

void uvea_mpc_not(const struct uvea_planes *x, struct uvea_planes *out)
{
    check_alike(x, out);
    for (size_t i = 0; i < uvea_planes_total(x); i++) {
        out->a[i] = ~x->a[i];
        out->b[i] = ~x->b[i];
    }
}

void uvea_mpc_and_public(const struct uvea_planes *x, const uint64_t *pattern,
                         struct uvea_planes *out)
{
    check_alike(x, out);
    for (size_t i = 0; i < uvea_planes_total(x); i++) {
        out->a[i] = x->a[i] & pattern[i];
        out->b[i] = x->b[i] & pattern[i];
    }
}

void uvea_mpc_and_term(const struct uvea_planes *x, const struct uvea_planes *y, uint64_t *out)
{
    check_alike(x, y);
    for (size_t i = 0; i < uvea_planes_total(x); i++) {
        out[i] = (x->a[i] & (y->a[i] ^ y->b[i])) ^ (x->b[i] & y->a[i]);
    }
}

// x->a ^= my ^ prev; x->b is only a place for the random words.
static void mask(struct uvea_session *session, struct uvea_planes *x, size_t total)
{
    if (uvea_plant_active(UVEA_PLANT_SKIP_PRF_WORD) && session->party.index == 1 &&
        session->traffic.and_words == 0) {
        (void)uvea_prg_next_u32(session->prf.my);
    }
    uvea_prg_fill_u64(session->prf.my, x->b, total);
    for (size_t i = 0; i < total; i++) {
        x->a[i] ^= x->b[i];
    }
    uvea_prg_fill_u64(session->prf.prev, x->b, total);
    for (size_t i = 0; i < total; i++) {
        x->a[i] ^= x->b[i];
    }
}

enum uvea_error uvea_mpc_reshare_and(struct uvea_session *session, struct uvea_planes *x)
{
    size_t total = uvea_planes_total(x);
    if (total == 0) {
        return UVEA_OK;
    }
    mask(session, x, total);
    session->traffic.and_words += total;
    uvea_mpc_charge(session, total, 64);
    UVEA_TRY(uvea_mpc_send_u64(session, UVEA_PEER_NEXT, x->a, total));
    return uvea_mpc_recv_u64(session, UVEA_PEER_PREV, x->b, total);
}

enum uvea_error uvea_mpc_and(struct uvea_session *session, const struct uvea_planes *x,
                             const struct uvea_planes *y, struct uvea_planes *out)
{
    check_alike(x, out);
    uvea_mpc_and_term(x, y, out->a);
    return uvea_mpc_reshare_and(session, out);
}

enum uvea_error uvea_mpc_reveal_bits(struct uvea_session *session, const struct uvea_planes *x,
                                     size_t lanes, uint64_t *out)
{
    UVEA_CHECK(x->plane_count == 1 && x->words == uvea_words_for(lanes));
    if (lanes == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    uint64_t *third;
    UVEA_TRY_CLEANUP(uvea_mpc_take_u64(session, x->words, &third));
    uvea_mpc_charge(session, x->words, 64);
    UVEA_TRY_CLEANUP(uvea_mpc_send_bits(session, UVEA_PEER_NEXT, x->b, lanes));
    UVEA_TRY_CLEANUP(uvea_mpc_recv_bits(session, UVEA_PEER_PREV, third, lanes));
    for (size_t i = 0; i < x->words; i++) {
        out[i] = x->a[i] ^ x->b[i] ^ third[i];
    }
    if (lanes % 64 != 0) {
        out[x->words - 1] &= (UINT64_C(1) << lanes % 64) - 1;
    }
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}
