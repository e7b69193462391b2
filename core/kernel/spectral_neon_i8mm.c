// The spectral kernel for NEON with matrix products of bytes: one instruction multiplies the low
// and the high bytes of eight channels of a record with the low and the high bytes of a query, and
// adds up all four products. Records and queries lie as in the stored form: per frequency, twelve
// groups of eight channels, eight low bytes, then eight high bytes.
#include "core/kernel/spectral_neon.inc"

#define QUERY_BLOCK 2

typedef int8_t stored;

enum {
    POINTS = UVEA_TRANSFORM_POINTS,
    CHANNELS = UVEA_SPECTRUM_CHANNELS,
    GROUP = 8,
    GROUPS = CHANNELS / GROUP,
    GROUP_BYTES = 2 * GROUP,
    TILE_GROUP_BYTES = LANES * GROUP_BYTES, // one group of all lanes
    TILE_POINT_BYTES = GROUPS * TILE_GROUP_BYTES,
    LINE_BYTES = 64,
};

struct tile {
    stored values[POINTS * TILE_POINT_BYTES];
};

struct query {
    stored values[POINTS * GROUPS * GROUP_BYTES];
};

// T[k] of one query for all lanes, nearly centred: |T[k]| <= UVEA_BOUND_REDUCED.
struct spectrum {
    int16_t values[POINTS][LANES];
};

static void put_bytes(int8_t *group, size_t channel, uint16_t canonical)
{
    int16_t value = uvea_field_to_centred(canonical);
    group[channel] = (int8_t)uvea_kernel_low_byte(value);
    group[GROUP + channel] = (int8_t)uvea_kernel_high_byte(value);
}

static void tile_put(void *tile, size_t slot, const struct uvea_spectrum *record)
{
    stored *out = ((struct tile *)tile)->values;
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        put_bytes(out + i / GROUP * TILE_GROUP_BYTES + slot * GROUP_BYTES, i % GROUP,
                  record->values[i]);
    }
}

static void query_put(void *query, const struct uvea_spectrum *spectrum)
{
    stored *out = ((struct query *)query)->values;
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        put_bytes(out + i / GROUP * GROUP_BYTES, i % GROUP, spectrum->values[i]);
    }
}

static inline const stored *frequency(const struct tile *tile, size_t k)
{
    return tile->values + k * TILE_POINT_BYTES;
}

// The four kinds of products of four lanes: low * low, low * high, high * low, high * high.
struct products {
    int32x4_t kind[4];
};

// From the products of each lane to the lanes of each product.
static inline struct products transpose(const int32x4_t lane[4])
{
    int32x4_t even_01 = vtrn1q_s32(lane[0], lane[1]);
    int32x4_t even_23 = vtrn1q_s32(lane[2], lane[3]);
    int32x4_t odd_01 = vtrn2q_s32(lane[0], lane[1]);
    int32x4_t odd_23 = vtrn2q_s32(lane[2], lane[3]);
    return (struct products){{
        vcombine_s32(vget_low_s32(even_01), vget_low_s32(even_23)),
        vcombine_s32(vget_low_s32(odd_01), vget_low_s32(odd_23)),
        vcombine_s32(vget_high_s32(even_01), vget_high_s32(even_23)),
        vcombine_s32(vget_high_s32(odd_01), vget_high_s32(odd_23)),
    }};
}

// low * low + 256 (mixed + 256 high * high): the bracket is at most UVEA_BOUND_BYTES_UPPER =
// 258,195,456, and after its reduction the whole at most 256 * 26300 + 1,572,864 = 8,305,664.
static inline int32x4_t combine(struct products sums)
{
    int32x4_t upper =
        vaddq_s32(vaddq_s32(sums.kind[1], sums.kind[2]), vshlq_n_s32(sums.kind[3], 8));
    return reduce_half(vaddq_s32(sums.kind[0], vshlq_n_s32(reduce_half(upper), 8)));
}

// As in spectral_pairs.inc: T[k] of all lanes for `count` queries, a constant wherever this is
// inlined.
static inline __attribute__((always_inline)) void sum_channels(const struct query *const *queries,
                                                               size_t count, const stored *record,
                                                               size_t k, const stored *ahead,
                                                               struct spectrum *out)
{
    int32x4_t sums[QUERY_BLOCK][LANES];
    for (size_t q = 0; q < count; q++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            sums[q][lane] = vdupq_n_s32(0);
        }
    }
    for (size_t group = 0; group < GROUPS; group++) {
        const stored *values = record + group * TILE_GROUP_BYTES;
        __builtin_prefetch(ahead + group * TILE_GROUP_BYTES, 0, 0);
        __builtin_prefetch(ahead + group * TILE_GROUP_BYTES + LINE_BYTES, 0, 0);
        for (size_t q = 0; q < count; q++) {
            int8x16_t bytes = vld1q_s8(queries[q]->values + (k * GROUPS + group) * GROUP_BYTES);
            for (size_t lane = 0; lane < LANES; lane++) {
                sums[q][lane] =
                    vmmlaq_s32(sums[q][lane], vld1q_s8(values + lane * GROUP_BYTES), bytes);
            }
        }
    }
    for (size_t q = 0; q < count; q++) {
        vec all = {{combine(transpose(sums[q])), combine(transpose(sums[q] + LANES / 2))}};
        vec_store16(out[q].values[k], all);
    }
}

#include "core/kernel/spectral_tile.inc"

const struct uvea_spectral_kernel uvea_spectral_kernel_neon_i8mm = {
    .name = "neon-i8mm",
    .supported = uvea_cpu_has_neon_i8mm,
    .tile_records = LANES,
    .tile_bytes = sizeof(struct tile),
    .query_bytes = sizeof(struct query),
    .tile_put = tile_put,
    .query_put = query_put,
    .scores = scores_of,
};
