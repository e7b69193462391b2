#include "core/iris/share.h"

#include "core/base/chacha.h"
#include "core/base/check.h"
#include "core/base/plant.h"
#include "core/ring/galois.h"

#include <string.h>

enum {
    BLOCK = UVEA_GALOIS_DEGREE,
    ROW = BLOCK * UVEA_IRIS_COLUMNS, // 800 coefficients that rotate and mirror together
    HALF_COLUMNS = UVEA_IRIS_COLUMNS / 2,
    WAVELET = 4 * ROW,
    IMAGINARY = 2 * WAVELET, // the first imaginary coefficient
};
_Static_assert(2 * IMAGINARY == (int)UVEA_SHARE_COEFFICIENTS &&
                   IMAGINARY == (int)UVEA_MASK_COEFFICIENTS,
               "a trimmed mask is the real half");
_Static_assert((int)UVEA_SHARE_COEFFICIENTS == (int)UVEA_IRIS_BITS, "one coefficient for each bit");

// Each party's share of zero: the first four draws of StdRng seed 0 as the Shamir mask.
static const struct uvea_galois zero_shares[UVEA_PARTY_COUNT] = {
    {{28543, 16306, 27003, 31892}},
    {{31892, 60435, 16306, 27003}},
    {{60435, 11205, 43309, 58895}},
};

// Where the bit at position `at` of a share is in a template.
static size_t plain_index(size_t at)
{
    size_t part = at / IMAGINARY;
    size_t wavelet = at % IMAGINARY / WAVELET;
    size_t row = 4 * (at % BLOCK) + at % WAVELET / ROW;
    size_t column = at % ROW / BLOCK;
    return ROW * row + 4 * column + 2 * wavelet + part;
}

static uint16_t get_bit(const uint64_t plane[UVEA_IRIS_WORDS], size_t index)
{
    return (uint16_t)(plane[index / 64] >> index % 64 & 1);
}

static void code_block(const struct uvea_template *in, size_t at, uint16_t block[BLOCK])
{
    for (size_t i = 0; i < BLOCK; i++) {
        size_t index = plain_index(at + i);
        uint16_t mask = get_bit(in->mask, index);
        block[i] = (uint16_t)(mask - 2 * (get_bit(in->code, index) & mask));
    }
}

static void mask_block(const struct uvea_template *in, size_t at, uint16_t block[BLOCK])
{
    for (size_t i = 0; i < BLOCK; i++) {
        block[i] = get_bit(in->mask, plain_index(at + i));
    }
}

static struct uvea_galois draw_element(uvea_draw_u16_fn *draw, void *arg)
{
    struct uvea_galois element;
    for (size_t i = 0; i < BLOCK; i++) {
        element.c[i] = draw(arg);
    }
    return element;
}

static void share_block(struct uvea_party party, const uint16_t block[BLOCK],
                        struct uvea_galois mask, uint16_t out[BLOCK])
{
    struct uvea_galois share = uvea_galois_share(party, uvea_galois_from_block(block), mask);
    memcpy(out, share.c, sizeof(share.c));
}

void uvea_iris_split(const struct uvea_template *in, uvea_draw_u16_fn *draw, void *arg,
                     struct uvea_iris_share out[UVEA_PARTY_COUNT])
{
    uint16_t block[BLOCK];
    for (size_t at = 0; at < UVEA_SHARE_COEFFICIENTS; at += BLOCK) {
        struct uvea_galois mask = draw_element(draw, arg);
        code_block(in, at, block);
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            share_block(uvea_party_at(i), block, mask, out[i].code + at);
        }
    }
    for (size_t at = 0; at < UVEA_SHARE_COEFFICIENTS; at += BLOCK) {
        struct uvea_galois mask = draw_element(draw, arg);
        mask_block(in, at, block);
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            share_block(uvea_party_at(i), block, mask, out[i].mask + at);
        }
    }
}

// Lagrange at zero over the two points, back in the A basis.
static void open_block(const struct uvea_galois weights[2], const uint16_t first[BLOCK],
                       const uint16_t second[BLOCK], uint16_t block[BLOCK])
{
    struct uvea_galois left;
    struct uvea_galois right;
    memcpy(left.c, first, sizeof(left.c));
    memcpy(right.c, second, sizeof(right.c));
    uvea_galois_to_block(
        uvea_galois_add(uvea_galois_mul(left, weights[0]), uvea_galois_mul(right, weights[1])),
        block);
}

// Writes one coordinate into template bits that are still zero. The code bit under a mask of 0 was
// never shared and stays 0.
static enum uvea_error put_coordinate(uint16_t code, uint16_t mask, size_t at,
                                      struct uvea_template *out, struct uvea_error_context *context)
{
    if (mask > 1) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "the shares do not belong together: mask bit %zu is not 0 or 1", at);
    }
    if (code != 0 && code != 1 && code != UINT16_MAX) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "the shares do not belong together: code bit %zu is not -1, 0 or 1",
                              at);
    }
    if ((code != 0) != (mask == 1)) {
        return uvea_error_set(
            context, UVEA_ERR_FORMAT,
            "the shares do not belong together: code and mask disagree at bit %zu", at);
    }
    out->mask[at / 64] |= (uint64_t)mask << at % 64;
    out->code[at / 64] |= (uint64_t)(code == UINT16_MAX) << at % 64;
    return UVEA_OK;
}

enum uvea_error uvea_iris_join(struct uvea_party first, const struct uvea_iris_share *first_share,
                               struct uvea_party second, const struct uvea_iris_share *second_share,
                               struct uvea_template *out, struct uvea_error_context *context)
{
    const struct uvea_galois weights[2] = {uvea_galois_weight_two(first, second),
                                           uvea_galois_weight_two(second, first)};
    struct uvea_template found = {{0}, {0}};
    for (size_t at = 0; at < UVEA_SHARE_COEFFICIENTS; at += BLOCK) {
        uint16_t code[BLOCK];
        uint16_t mask[BLOCK];
        open_block(weights, first_share->code + at, second_share->code + at, code);
        open_block(weights, first_share->mask + at, second_share->mask + at, mask);
        for (size_t i = 0; i < BLOCK; i++) {
            UVEA_TRY(put_coordinate(code[i], mask[i], plain_index(at + i), &found, context));
        }
    }
    *out = found;
    return UVEA_OK;
}

static uint16_t draw_chacha(void *arg)
{
    return (uint16_t)uvea_chacha_next_u32(arg);
}

void uvea_iris_deletion_dummy(struct uvea_party party, struct uvea_iris_share *out)
{
    // Code bit 0 under mask bit 1 is the symbol 1, so code and mask share the same secrets.
    static const uint16_t ones[BLOCK] = {1, 1, 1, 1};
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 0);
    for (size_t at = 0; at < UVEA_SHARE_COEFFICIENTS; at += BLOCK) {
        share_block(party, ones, draw_element(draw_chacha, &rng), out->code + at);
    }
    for (size_t at = 0; at < UVEA_SHARE_COEFFICIENTS; at += BLOCK) {
        share_block(party, ones, draw_element(draw_chacha, &rng), out->mask + at);
    }
}

static void swap_blocks(uint16_t left[BLOCK], uint16_t right[BLOCK])
{
    for (size_t i = 0; i < BLOCK; i++) {
        uint16_t held = left[i];
        left[i] = right[i];
        right[i] = held;
    }
}

// Columns reflected inside each half, in every row.
static void reflect(uint16_t *coefficients, size_t count)
{
    for (size_t half = 0; half < count; half += (size_t)BLOCK * HALF_COLUMNS) {
        for (size_t column = 0; column < HALF_COLUMNS / 2; column++) {
            swap_blocks(coefficients + half + BLOCK * column,
                        coefficients + half + BLOCK * (HALF_COLUMNS - 1 - column));
        }
    }
}

void uvea_iris_mirror_code(struct uvea_party party, uint16_t code[UVEA_SHARE_COEFFICIENTS])
{
    UVEA_CHECK(party.index < UVEA_PARTY_COUNT);
    const struct uvea_galois *zero = &zero_shares[party.index];
    for (size_t at = IMAGINARY; at < UVEA_SHARE_COEFFICIENTS; at++) {
        code[at] = (uint16_t)(zero->c[at % BLOCK] - code[at]);
    }
    reflect(code, UVEA_SHARE_COEFFICIENTS);
}

void uvea_iris_mirror_mask(uint16_t mask[UVEA_MASK_COEFFICIENTS])
{
    if (uvea_plant_active(UVEA_PLANT_MIRROR_MASK_AS_CODE)) {
        // A trimmed mask has no imaginary half, so the second wavelet stands in for it.
        for (size_t at = WAVELET; at < UVEA_MASK_COEFFICIENTS; at++) {
            mask[at] = (uint16_t)-mask[at];
        }
    }
    reflect(mask, UVEA_MASK_COEFFICIENTS);
}
