#include "sim/gen/template.h"

#include "core/base/check.h"

#include <string.h>

enum {
    ROWS = UVEA_IRIS_ROWS,
    COLUMNS = UVEA_IRIS_COLUMNS,
    WAVELETS = 2,
    PARTS = 2,
    ROW_BOX = 2,    // rows that share noise: neighbouring rows of an iris look alike
    COLUMN_BOX = 5, // columns that the broad wavelet averages
    NARROW_WEIGHT = 4,
    BROAD_TILT = 77,
    NARROW_TILT = 147,
    NOISE_ROWS = ROWS + ROW_BOX - 1,
};

// Code bits are signs of smoothed noise: both wavelets see the same noise, the broad one through a
// box of columns, the narrow one through 1 : 4 : 1. Real and imaginary parts have their own.
struct noise {
    int at[NOISE_ROWS][COLUMNS];
};

static void draw_noise(struct uvea_sim_random *random, struct noise *noise)
{
    uint8_t bytes[COLUMNS];
    for (unsigned row = 0; row < NOISE_ROWS; row++) {
        uvea_sim_random_fill(random, bytes, sizeof(bytes));
        for (unsigned column = 0; column < COLUMNS; column++) {
            noise->at[row][column] = 2 * (int)bytes[column] - 255;
        }
    }
}

static void plane_set(uint64_t *plane, unsigned row, unsigned column, unsigned wavelet,
                      unsigned part, bool value)
{
    unsigned i =
        COLUMNS * WAVELETS * PARTS * row + WAVELETS * PARTS * column + PARTS * wavelet + part;
    uint64_t bit = UINT64_C(1) << (i % 64);
    plane[i / 64] = value ? plane[i / 64] | bit : plane[i / 64] & ~bit;
}

static void code_row(const struct noise *noise, unsigned row, unsigned part, uint64_t *code)
{
    int tilt = row % 2 == 0 ? 1 : -1;
    int sum[COLUMNS] = {0};
    for (unsigned i = 0; i < ROW_BOX; i++) {
        for (unsigned column = 0; column < COLUMNS; column++) {
            sum[column] += noise->at[row + i][column];
        }
    }
    for (unsigned column = 0; column < COLUMNS; column++) {
        int broad = 0;
        for (unsigned i = 0; i < COLUMN_BOX; i++) {
            broad += sum[(column + COLUMNS - COLUMN_BOX / 2 + i) % COLUMNS];
        }
        int narrow = sum[(column + COLUMNS - 1) % COLUMNS] + NARROW_WEIGHT * sum[column] +
                     sum[(column + 1) % COLUMNS];
        plane_set(code, row, column, 0, part, broad + tilt * BROAD_TILT < 0);
        plane_set(code, row, column, 1, part, narrow + tilt * NARROW_TILT < 0);
    }
}

static void draw_code(struct uvea_sim_random *random, uint64_t *code)
{
    for (unsigned part = 0; part < PARTS; part++) {
        struct noise noise;
        draw_noise(random, &noise);
        for (unsigned row = 0; row < ROWS; row++) {
            code_row(&noise, row, part, code);
        }
    }
}

// ---- occlusion

// An eyelid covers the outer rows around a column, the fewer columns the further it reaches in.
struct eyelid {
    unsigned centre;
    unsigned half_width; // on the outermost row
};

static unsigned eyelid_depth(const struct eyelid *lid)
{
    return 1 + lid->half_width / 6;
}

// Columns covered to each side of the centre, `inward` rows from the outermost: a parabola.
static unsigned eyelid_reach(const struct eyelid *lid, unsigned inward)
{
    unsigned depth = eyelid_depth(lid);
    return lid->half_width * (depth * depth - inward * inward) / (depth * depth);
}

static unsigned eyelid_area(const struct eyelid *lid)
{
    unsigned area = 0;
    for (unsigned inward = 0; inward < eyelid_depth(lid); inward++) {
        area += 2 * eyelid_reach(lid, inward) + 1;
    }
    return area;
}

static void hide(uint64_t *mask, unsigned row, unsigned column, unsigned wavelet)
{
    for (unsigned part = 0; part < PARTS; part++) {
        plane_set(mask, row, column % COLUMNS, wavelet, part, false);
    }
}

// The narrow wavelet looks one column less far to the side, so it sees a little more.
static void draw_eyelid(const struct eyelid *lid, uint64_t *mask)
{
    for (unsigned inward = 0; inward < eyelid_depth(lid); inward++) {
        unsigned reach = eyelid_reach(lid, inward);
        for (unsigned offset = 0; offset <= 2 * reach; offset++) {
            unsigned column = COLUMNS + lid->centre + offset - reach;
            hide(mask, ROWS - 1 - inward, column, 0);
            if (offset > 0 && offset < 2 * reach) {
                hide(mask, ROWS - 1 - inward, column, 1);
            }
        }
    }
}

static void grow_eyelid(struct eyelid *lid, unsigned area)
{
    while (eyelid_area(lid) < area) {
        lid->half_width++;
    }
}

static void draw_mask(struct uvea_sim_random *random, uint64_t *mask)
{
    memset(mask, 0xff, UVEA_IRIS_WORDS * sizeof(*mask));
    // 150 to 530 of 3,200 places are hidden by eyelids, 50 to 80 % of them by the upper one.
    unsigned hidden = (unsigned)uvea_sim_random_range(random, 150, 530);
    unsigned upper_area = hidden * (unsigned)uvea_sim_random_range(random, 50, 80) / 100;
    struct eyelid upper = {.centre = (unsigned)uvea_sim_random_range(random, 140, 160)};
    struct eyelid lower = {.centre = (unsigned)uvea_sim_random_range(random, 40, 60)};
    grow_eyelid(&upper, upper_area);
    grow_eyelid(&lower, hidden - upper_area);
    draw_eyelid(&upper, mask);
    draw_eyelid(&lower, mask);

    // The reflection of a lamp: three rows, two to six columns.
    unsigned row = (unsigned)uvea_sim_random_range(random, 1, 6);
    unsigned column = (unsigned)uvea_sim_random_below(random, COLUMNS);
    unsigned columns = (unsigned)uvea_sim_random_range(random, 2, 6);
    for (unsigned i = 0; i < 3 * columns; i++) {
        hide(mask, row + i / columns, column + i % columns, 0);
        hide(mask, row + i / columns, column + i % columns, 1);
    }
}

void uvea_gen_template(struct uvea_sim_random *random, struct uvea_template *out)
{
    draw_code(random, out->code);
    draw_mask(random, out->mask);
}

void uvea_gen_pair(struct uvea_sim_random *random, struct uvea_template_pair *out)
{
    uvea_gen_template(random, &out->eye[UVEA_EYE_LEFT]);
    uvea_gen_template(random, &out->eye[UVEA_EYE_RIGHT]);
}

// ---- copies

void uvea_gen_fill_mask(struct uvea_template *iris, bool valid)
{
    memset(iris->mask, valid ? 0xff : 0, sizeof(iris->mask));
}

unsigned uvea_gen_common_bits(const struct uvea_template *a, const struct uvea_template *b)
{
    unsigned count = 0;
    for (unsigned i = 0; i < UVEA_IRIS_WORDS; i++) {
        count += (unsigned)__builtin_popcountll(a->mask[i] & b->mask[i]);
    }
    return count;
}

// Inverts exactly `wanted` of the code bits that are valid in both masks, every choice equally
// likely; at least that many must be.
static void flip_common(struct uvea_sim_random *random, const uint64_t *other_mask, unsigned common,
                        unsigned wanted, struct uvea_template *iris)
{
    for (unsigned i = 0; i < UVEA_IRIS_BITS && wanted > 0; i++) {
        if ((iris->mask[i / 64] & other_mask[i / 64]) >> (i % 64) & 1) {
            if (uvea_sim_random_chance(random, wanted, common)) {
                iris->code[i / 64] ^= UINT64_C(1) << (i % 64);
                wanted--;
            }
            common--;
        }
    }
    UVEA_CHECK(wanted == 0);
}

enum uvea_error uvea_gen_flip(struct uvea_sim_random *random, const struct uvea_template *in,
                              unsigned differing, struct uvea_template *out)
{
    unsigned common = uvea_gen_common_bits(in, in);
    if (differing > common) {
        return UVEA_ERR_LIMIT;
    }
    struct uvea_template copy = *in;
    flip_common(random, in->mask, common, differing, &copy);
    *out = copy;
    return UVEA_OK;
}

enum uvea_error uvea_gen_noisy(struct uvea_sim_random *random, const struct uvea_template *in,
                               unsigned differing, struct uvea_template *out)
{
    struct uvea_template copy = *in;
    draw_mask(random, copy.mask);
    unsigned common = uvea_gen_common_bits(in, &copy);
    if (differing > common) {
        return UVEA_ERR_LIMIT;
    }
    flip_common(random, in->mask, common, differing, &copy);
    *out = copy;
    return UVEA_OK;
}
