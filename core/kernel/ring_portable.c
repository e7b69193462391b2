#include "core/base/plant.h"
#include "core/kernel/ring_kernel.h"

#include <stdbool.h>
#include <string.h>

// Offsets are scored eight at a time, as many sums as fit the smallest vector register file next to
// their operands. 31 is not a multiple of 8, so the last two groups share one offset.
enum { GROUP = 8, GROUP_COUNT = 4, OFFSET_STEP = 4 };
static const size_t group_start[GROUP_COUNT] = {0, 8, 16, UVEA_ROTATION_COUNT - GROUP};
_Static_assert((UVEA_ROTATION_COUNT - 1) * OFFSET_STEP == 2 * UVEA_PAD_COEFFICIENTS,
               "the last offset ends with the padded row");

struct sums {
    uint16_t group[GROUP_COUNT][GROUP];
};

// Adds one row's products at eight consecutive offsets. This loop is what the compiler vectorises:
// constant counts, no aliasing, and every product narrowed to 16 bits.
static void add_products(const uint16_t *restrict query, const uint16_t *restrict row,
                         uint16_t *restrict out)
{
    uint16_t sum[GROUP] = {0};
    for (size_t i = 0; i < UVEA_CHUNK_COEFFICIENTS; i++) {
        for (size_t k = 0; k < GROUP; k++) {
            uint16_t product = (uint16_t)((uint32_t)query[i + OFFSET_STEP * k] * row[i]);
            sum[k] = (uint16_t)(sum[k] + product);
        }
    }
    for (size_t k = 0; k < GROUP; k++) {
        out[k] = (uint16_t)(out[k] + sum[k]);
    }
}

// All offsets of one row before the next, so that a record is read from memory once.
static void score_plane(const uint16_t *query, const uint16_t *record, size_t chunks,
                        struct sums *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < chunks; i++) {
        for (size_t j = 0; j < GROUP_COUNT; j++) {
            add_products(query + i * UVEA_PADDED_CHUNK + OFFSET_STEP * group_start[j],
                         record + i * UVEA_CHUNK_COEFFICIENTS, out->group[j]);
        }
    }
}

// The larger the offset into the padded query, the further left the query is rotated.
static void store(const struct sums *sums, uint16_t *scores)
{
    for (size_t j = 0; j < GROUP_COUNT; j++) {
        for (size_t k = 0; k < GROUP; k++) {
            size_t rotation = UVEA_ROTATION_COUNT - 1 - (group_start[j] + k);
            if (uvea_plant_active(UVEA_PLANT_ROTATE_WRONG_WAY)) {
                rotation = UVEA_ROTATION_COUNT - 1 - rotation;
            }
            scores[2 * rotation] = sums->group[j][k];
        }
    }
}

// Whether the first record is left out: the planted fault, from the second call in the process on.
static bool leaves_stale(void)
{
    static bool called;
    if (!uvea_plant_active(UVEA_PLANT_STALE_BUFFER)) {
        return false;
    }
    bool stale = called;
    called = true;
    return stale;
}

static void portable_scores(const struct uvea_ring_query *query, const uint16_t *const *records,
                            size_t count, uint16_t *scores)
{
    for (size_t i = leaves_stale() ? 1 : 0; i < count; i++) {
        struct sums sums;
        score_plane(query->code, records[i], UVEA_CODE_CHUNKS, &sums);
        store(&sums, scores + i * UVEA_SCORES_PER_RECORD);
        score_plane(query->mask, records[i] + UVEA_SHARE_COEFFICIENTS, UVEA_MASK_CHUNKS, &sums);
        store(&sums, scores + i * UVEA_SCORES_PER_RECORD + 1);
    }
}

const struct uvea_ring_kernel uvea_ring_kernel_portable = {
    .name = "portable",
    .scores = portable_scores,
};
