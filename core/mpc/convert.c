#include "core/mpc/convert.h"

#include "core/base/mem.h"
#include "core/field/field.h"
#include "core/field/share.h"
#include "core/mpc/bits.h"
#include "core/mpc/field_inject.h"
#include "core/mpc/msb.h"
#include "core/mpc/predicate.h"
#include "core/mpc/temp.h"
#include "core/mpc/transpose.h"
#include "core/ring/galois.h"

#include <string.h>

enum {
    // Eyes of one exchange: bounds the memory to a few MB, and is the same on all parties.
    BATCH_EYES = 16,
    CODE_VALUES = UVEA_FIELD_CODE_VALUES,
    MASK_VALUES = UVEA_FIELD_MASK_VALUES,
};

// The party's additive share of each coordinate: weight at zero, then monomial to coordinate basis.
static void to_additive(struct uvea_party party, const uint16_t *share, size_t count, uint16_t *out)
{
    struct uvea_galois weight = uvea_galois_weight_three(party);
    for (size_t i = 0; i < count; i += UVEA_GALOIS_DEGREE) {
        struct uvea_galois element;
        memcpy(element.c, share + i, sizeof(element.c));
        uvea_galois_to_block(uvea_galois_mul(element, weight), out + i);
    }
}

// All codes of the batch, then all masks.
static enum uvea_error batch_additive(struct uvea_session *session,
                                      const struct uvea_convert_source *sources, size_t eyes,
                                      struct uvea_share16 *out)
{
    uint16_t *additive;
    UVEA_TRY(uvea_mpc_take_u16(session, eyes * UVEA_FIELD_EYE_VALUES, &additive));
    for (size_t eye = 0; eye < eyes; eye++) {
        to_additive(session->party, sources[eye].code, CODE_VALUES, additive + eye * CODE_VALUES);
        to_additive(session->party, sources[eye].mask, MASK_VALUES,
                    additive + eyes * CODE_VALUES + eye * MASK_VALUES);
    }
    return uvea_mpc_refresh(session, additive, eyes * UVEA_FIELD_EYE_VALUES, out);
}

// The lowest bit of a sum is the XOR of the lowest bits: one plane, without a message.
static void low_bits(const struct uvea_share16 *x, uint16_t *scratch, struct uvea_planes *out)
{
    const uint16_t *const from[] = {x->a, x->b};
    uint64_t *const to[] = {out->a, out->b};
    for (unsigned half = 0; half < 2; half++) {
        for (size_t i = 0; i < x->count; i++) {
            scratch[i] = from[half][i] & 1;
        }
        uvea_mpc_slice_u16(scratch, x->count, 1, to[half]);
    }
}

// Replicated shares of the low bits and, for codes, of the sign bits -> Shamir shares of
// low - 2 sign, in the eyes' order.
static void to_shamir(struct uvea_party party, const struct uvea_share16 *low,
                      const struct uvea_share16 *sign, size_t eyes, struct uvea_field_eye *out)
{
    // a is component x_party, which party + 2 lacks; b is x_(party-1), which party + 1 lacks.
    uint16_t weight_a = uvea_field_weight_component(party, uvea_party_peer(party, UVEA_PEER_PREV));
    uint16_t weight_b = uvea_field_weight_component(party, uvea_party_peer(party, UVEA_PEER_NEXT));
    size_t codes = eyes * CODE_VALUES;
    for (size_t i = 0; i < low->count; i++) {
        uint16_t a = low->a[i];
        uint16_t b = low->b[i];
        if (i < codes) {
            a = uvea_field_sub(a, uvea_field_add(sign->a[i], sign->a[i]));
            b = uvea_field_sub(b, uvea_field_add(sign->b[i], sign->b[i]));
        }
        uint16_t value = uvea_field_add(uvea_field_mul(a, weight_a), uvea_field_mul(b, weight_b));
        if (i < codes) {
            out[i / CODE_VALUES].values[i % CODE_VALUES] = value;
        } else {
            size_t at = i - codes;
            out[at / MASK_VALUES].values[CODE_VALUES + at % MASK_VALUES] = value;
        }
    }
}

static enum uvea_error convert_bits(struct uvea_session *session, const struct uvea_share16 *x,
                                    size_t eyes, struct uvea_field_eye *out)
{
    struct uvea_share16 codes = {x->a, x->b, eyes * CODE_VALUES};
    struct uvea_planes low_plane;
    struct uvea_planes sign_plane;
    struct uvea_share16 low;
    struct uvea_share16 sign;
    uint16_t *scratch;
    UVEA_TRY(uvea_mpc_take_u16(session, x->count, &scratch));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, uvea_words_for(x->count), &low_plane));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, uvea_words_for(codes.count), &sign_plane));
    UVEA_TRY(uvea_mpc_take_share16(session, x->count, &low));
    UVEA_TRY(uvea_mpc_take_share16(session, codes.count, &sign));
    low_bits(x, scratch, &low_plane);
    UVEA_TRY(uvea_mpc_msb_u16(session, &codes, &sign_plane));
    UVEA_TRY(uvea_mpc_inject_field(session, &low_plane, x->count, &low));
    UVEA_TRY(uvea_mpc_inject_field(session, &sign_plane, codes.count, &sign));
    to_shamir(session->party, &low, &sign, eyes, out);
    return UVEA_OK;
}

static enum uvea_error convert_batch(struct uvea_session *session,
                                     const struct uvea_convert_source *sources, size_t eyes,
                                     struct uvea_field_eye *out)
{
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    struct uvea_share16 x = {.count = 0};
    enum uvea_error error;
    UVEA_TRY_CLEANUP(batch_additive(session, sources, eyes, &x));
    error = convert_bits(session, &x, eyes, out);
cleanup:
    uvea_share16_deinit(&x);
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

enum uvea_error uvea_mpc_convert_eyes(struct uvea_session *session,
                                      const struct uvea_convert_source *sources, size_t count,
                                      struct uvea_field_eye *out)
{
    for (size_t done = 0; done < count; done += BATCH_EYES) {
        size_t eyes = count - done < BATCH_EYES ? count - done : BATCH_EYES;
        enum uvea_error error = convert_batch(session, sources + done, eyes, out + done);
        if (error != UVEA_OK) {
            uvea_mem_wipe(out, count * sizeof(*out));
            return error;
        }
    }
    return UVEA_OK;
}
