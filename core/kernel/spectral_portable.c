// The spectral kernel in plain C, also the reference for the others. A tile is one record: 200
// times 96 centred residues. The loop over channels is what the compiler vectorises.
#include "core/base/mem.h"
#include "core/kernel/bounds.h"
#include "core/kernel/spectral_kernel.h"

enum { CHANNELS = UVEA_SPECTRUM_CHANNELS, POINTS = UVEA_TRANSFORM_POINTS };

struct tile {
    int16_t values[UVEA_SPECTRUM_VALUES]; // [CHANNELS k + channel], as in a spectrum
};

struct query {
    int16_t low[UVEA_SPECTRUM_VALUES];
    int16_t high[UVEA_SPECTRUM_VALUES];
};
_Static_assert(sizeof(struct tile) % 64 == 0 && sizeof(struct query) % 64 == 0,
               "arrays of them stay aligned");

static void tile_put(void *tile, size_t slot, const struct uvea_spectrum *record)
{
    (void)slot; // a tile has one
    struct tile *out = tile;
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        out->values[i] = uvea_field_to_centred(record->values[i]);
    }
}

static void query_put(void *query, const struct uvea_spectrum *spectrum)
{
    struct query *out = query;
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        int16_t value = uvea_field_to_centred(spectrum->values[i]);
        out->low[i] = uvea_kernel_low_byte(value);
        out->high[i] = uvea_kernel_high_byte(value);
    }
}

struct sums {
    int32_t low;  // at most 96 * 26100 * 128 = 320,716,800
    int32_t high; // at most 96 * 26100 * 102 = 255,571,200
};

static struct sums dot(const int16_t *restrict record, const int16_t *restrict low,
                       const int16_t *restrict high)
{
    struct sums sums = {0};
    for (size_t c = 0; c < CHANNELS; c++) {
        sums.low += record[c] * low[c];
        sums.high += record[c] * high[c];
    }
    return sums;
}

// low + 256 high mod p. Both bounds of the channel sums hold, so 2^21 p added makes the whole
// non-negative, and less than 2^38. With factor = 2^41 / p - e, e < 1, the quotient is floor(x / p)
// or one less: the error is below x / 2^41 + 1 < 2. x * factor < 2^38 * 2^25.4 < 2^64.
static uint16_t combine(struct sums sums)
{
    const uint64_t factor = (UINT64_C(1) << 41) / UVEA_FIELD_PRIME;
    uint64_t sum =
        (uint64_t)(sums.low + 256 * (int64_t)sums.high + ((int64_t)UVEA_FIELD_PRIME << 21));
    uint32_t rest = (uint32_t)(sum - (sum * factor >> 41) * UVEA_FIELD_PRIME);
    uint32_t less = rest - UVEA_FIELD_PRIME;
    return (uint16_t)(less + (-(less >> 31) & UVEA_FIELD_PRIME));
}
_Static_assert(UVEA_BOUND_CHANNEL_LOW + 256 * (int64_t)UVEA_BOUND_CHANNEL_HIGH <=
                   (int64_t)UVEA_FIELD_PRIME << 21,
               "combine adds enough");
_Static_assert((int64_t)UVEA_FIELD_PRIME << 22 < INT64_C(1) << 38, "and not too much");

static void score(const struct query *query, const struct tile *record, uint16_t *scores)
{
    uint16_t spectrum[POINTS];
    for (size_t k = 0; k < POINTS; k++) {
        size_t at = CHANNELS * k;
        spectrum[k] = combine(dot(record->values + at, query->low + at, query->high + at));
    }
    uvea_transform_selected_inverse(spectrum, scores);
    uvea_mem_wipe(spectrum, sizeof(spectrum));
}

static void scores_of(const void *const *queries, size_t query_count, const void *const *tiles,
                      size_t record_count, uint16_t *scores)
{
    for (size_t record = 0; record < record_count; record++) {
        for (size_t q = 0; q < query_count; q++) {
            score(queries[q], tiles[record],
                  scores + (q * record_count + record) * UVEA_SPECTRAL_ROTATIONS);
        }
    }
}

const struct uvea_spectral_kernel uvea_spectral_kernel_portable = {
    .name = "portable",
    .supported = uvea_cpu_has_base,
    .tile_records = 1,
    .tile_bytes = sizeof(struct tile),
    .query_bytes = sizeof(struct query),
    .tile_put = tile_put,
    .query_put = query_put,
    .scores = scores_of,
};
