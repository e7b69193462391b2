// The transform and its inverses against direct sums, then every kernel against direct sums with
// the residues that strain its sums most. Sources: ntt.md 2, 6.
#include "core/field/transform.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/gate/scores.h"

#include <stdbool.h>
#include <string.h>

enum {
    POINTS = UVEA_GATE_POINTS,
    ROTATIONS = UVEA_GATE_ROTATIONS,
    CHANNELS = UVEA_SPECTRUM_CHANNELS,
    VALUES = UVEA_SPECTRUM_VALUES,
    MIXED_VECTORS = 200,
    RANDOM_VECTORS = 400,
};

// Centred residues at which something is largest: the residue itself, its low byte (-128 and 127),
// its high byte (102 and -102), both at once, and none.
static const int32_t extremes[] = {26100, -26100, 25984, -25984, 25983, -25985,
                                   128,   -128,   127,   1,      -1,    0};

// ---- transforms

static uint32_t direct(const uint16_t in[POINTS], int64_t step)
{
    uint64_t sum = 0;
    for (int64_t t = 0; t < POINTS; t++) {
        sum += (uint64_t)in[t] * uvea_gate_root_power(step * t);
    }
    return (uint32_t)(sum % UVEA_GATE_PRIME);
}

static void expect(struct uvea_gate_run *run, const char *what, const char *input, int at,
                   uint32_t got, uint32_t want)
{
    if (got != want) {
        uvea_gate_wrong(run, "%s of %s: value %d is %u instead of %u", what, input, at, got, want);
    }
    uvea_gate_count_cases(run, 1);
}

static void check_vector(struct uvea_gate_run *run, const char *input, const uint16_t in[POINTS])
{
    uint16_t forward[POINTS];
    uint16_t inverse[POINTS];
    uint16_t selected[ROTATIONS];
    uint32_t part = uvea_gate_inverse(POINTS);
    uvea_transform_forward(in, forward);
    uvea_transform_inverse(in, inverse);
    uvea_transform_selected_inverse(in, selected);
    for (int k = 0; k < POINTS; k++) {
        uint32_t backward = direct(in, -k);
        expect(run, "the forward transform", input, k, forward[k], direct(in, k));
        expect(run, "the inverse transform", input, k, inverse[k],
               uvea_gate_mod((int64_t)backward * part));
        int rho = k <= UVEA_GATE_ROTATION_MAX ? k : k - POINTS;
        if (rho >= -UVEA_GATE_ROTATION_MAX) {
            expect(run, "the selected inverse", input, rho, selected[rho + UVEA_GATE_ROTATION_MAX],
                   backward);
        }
    }
    uvea_transform_inverse(forward, inverse);
    for (int t = 0; t < POINTS; t++) {
        expect(run, "the inverse of the transform", input, t, inverse[t], in[t]);
    }
}

static uint16_t draw_extreme(struct uvea_gate_run *run)
{
    size_t which = uvea_sim_random_below(&run->random, UVEA_COUNT_OF(extremes));
    return (uint16_t)uvea_gate_mod(extremes[which]);
}

static void check_transforms(struct uvea_gate_run *run)
{
    uint16_t in[POINTS];
    for (unsigned at = 0; at < POINTS; at++) {
        memset(in, 0, sizeof(in));
        in[at] = 1;
        check_vector(run, "an impulse of 1", in);
        in[at] = UVEA_GATE_PRIME - 1;
        check_vector(run, "an impulse of p - 1", in);
    }
    for (size_t one = 0; one < UVEA_COUNT_OF(extremes); one++) {
        for (size_t other = 0; other < UVEA_COUNT_OF(extremes); other++) {
            for (unsigned t = 0; t < POINTS; t++) {
                in[t] = (uint16_t)uvea_gate_mod(extremes[t % 2 == 0 ? one : other]);
            }
            check_vector(run, "two extreme values in turn", in);
        }
    }
    for (unsigned i = 0; i < MIXED_VECTORS; i++) {
        for (unsigned t = 0; t < POINTS; t++) {
            in[t] = draw_extreme(run);
        }
        check_vector(run, "a mix of extreme values", in);
    }
    for (unsigned i = 0; i < RANDOM_VECTORS; i++) {
        for (unsigned t = 0; t < POINTS; t++) {
            in[t] = uvea_gate_draw_residue(run);
        }
        check_vector(run, "random values", in);
    }
}

// ---- kernels

enum { QUERIES = UVEA_SPECTRAL_QUERIES_MAX, RECORDS = 20 };
_Static_assert(RECORDS % 16 != 0, "the last tile is not full");

// One batch: every query with every record. Too big for a stack.
struct batch {
    const char *what;
    struct uvea_spectrum queries[QUERIES];
    struct uvea_spectrum records[RECORDS];
    uint16_t want[QUERIES][RECORDS][ROTATIONS];
    uint16_t got[QUERIES * RECORDS * ROTATIONS];
};

static void fill_constant(struct uvea_spectrum *spectrum, int32_t value)
{
    for (size_t i = 0; i < VALUES; i++) {
        spectrum->values[i] = (uint16_t)uvea_gate_mod(value);
    }
}

static void fill_random(struct uvea_gate_run *run, struct uvea_spectrum *spectrum)
{
    for (size_t i = 0; i < VALUES; i++) {
        spectrum->values[i] = uvea_gate_draw_residue(run);
    }
}

static void fill_mixed(struct uvea_gate_run *run, struct uvea_spectrum *spectrum)
{
    for (size_t i = 0; i < VALUES; i++) {
        spectrum->values[i] = draw_extreme(run);
    }
}

// Sums over channels: each extreme everywhere against each extreme everywhere, so that all products
// of a sum have one sign.
static void fill_channel_bounds(struct batch *batch, size_t first)
{
    batch->what = "extreme values throughout";
    for (size_t q = 0; q < QUERIES; q++) {
        fill_constant(&batch->queries[q], extremes[(first + q) % UVEA_COUNT_OF(extremes)]);
    }
    for (size_t r = 0; r < RECORDS; r++) {
        fill_constant(&batch->records[r], extremes[r % UVEA_COUNT_OF(extremes)]);
    }
}

// Sums of the paired inverse: records pass one channel on, so that the query is the spectrum to be
// inverted, and its sums T[k] + T[200-k] (or differences) are the extreme value with the sign of
// the coefficient they meet at rotation r.
static int32_t pair_sign(int r, int k, bool cosine)
{
    uint32_t minus = uvea_gate_root_power(-(int64_t)r * k);
    uint32_t plus = uvea_gate_root_power((int64_t)r * k);
    uint32_t half = (UVEA_GATE_PRIME + 1) / 2;
    int64_t sum = cosine ? (int64_t)minus + plus : (int64_t)minus - plus;
    uint32_t coefficient = uvea_gate_mod((int64_t)uvea_gate_mod(sum) * half);
    return coefficient > UVEA_GATE_PRIME / 2 ? -1 : 1;
}

static void fill_pairs(struct uvea_spectrum *query, int r, bool cosine, int32_t extreme)
{
    uint32_t half = (UVEA_GATE_PRIME + 1) / 2;
    memset(query, 0, sizeof(*query));
    for (int k = 1; k < POINTS / 2; k++) {
        int64_t value = (int64_t)pair_sign(r, k, cosine) * extreme * half;
        query->values[CHANNELS * k] = (uint16_t)uvea_gate_mod(value);
        query->values[CHANNELS * (POINTS - k)] = (uint16_t)uvea_gate_mod(cosine ? value : -value);
    }
    query->values[0] = (uint16_t)uvea_gate_mod(extreme);
    query->values[CHANNELS * (POINTS / 2)] = (uint16_t)uvea_gate_mod(extreme);
}

static void fill_inverse_bounds(struct batch *batch, int r)
{
    batch->what = "sums of the inverse at their bounds";
    for (size_t q = 0; q < QUERIES; q++) {
        fill_pairs(&batch->queries[q], r, q % 2 == 0, extremes[q / 2]);
    }
    for (size_t i = 0; i < RECORDS; i++) {
        memset(&batch->records[i], 0, sizeof(batch->records[i]));
        for (int k = 0; k < POINTS; k++) {
            batch->records[i].values[CHANNELS * k] =
                (uint16_t)(i % 2 == 0 ? 1 : UVEA_GATE_PRIME - 1);
        }
    }
}

static void fill_drawn(struct uvea_gate_run *run, struct batch *batch, bool mixed)
{
    batch->what = mixed ? "a mix of extreme values" : "random values";
    for (size_t q = 0; q < QUERIES; q++) {
        (mixed ? fill_mixed : fill_random)(run, &batch->queries[q]);
    }
    for (size_t r = 0; r < RECORDS; r++) {
        (mixed ? fill_mixed : fill_random)(run, &batch->records[r]);
    }
}

static void compare(struct uvea_gate_run *run, const struct batch *batch, const char *kernel,
                    size_t query_count)
{
    for (size_t q = 0; q < query_count; q++) {
        for (size_t r = 0; r < RECORDS; r++) {
            const uint16_t *got = batch->got + (q * RECORDS + r) * ROTATIONS;
            const uint16_t *want = batch->want[q][r];
            for (int i = 0; i < ROTATIONS; i++) {
                if (got[i] != want[i]) {
                    uvea_gate_wrong(run,
                                    "kernel %s, %s, query %zu of %zu, record %zu, rotation %d: "
                                    "%u instead of %u",
                                    kernel, batch->what, q + 1, query_count, r,
                                    i - UVEA_GATE_ROTATION_MAX, got[i], want[i]);
                }
            }
        }
    }
    uvea_gate_count_cases(run, (uint64_t)query_count * RECORDS * ROTATIONS);
}

static enum uvea_error check_kernel(struct uvea_gate_run *run, struct batch *batch,
                                    const struct uvea_spectral_kernel *kernel)
{
    struct uvea_gate_tiles tiles = {.memory = NULL};
    struct uvea_gate_queries queries = {.memory = NULL};
    enum uvea_error error;
    UVEA_TRY_CLEANUP(uvea_gate_tiles_init(&tiles, kernel, batch->records, RECORDS, RECORDS));
    UVEA_TRY_CLEANUP(uvea_gate_queries_init(&queries, kernel, batch->queries, QUERIES));
    for (size_t count = 1; count <= QUERIES; count++) {
        memset(batch->got, 0xff, sizeof(batch->got));
        kernel->scores(queries.at, count, tiles.at, RECORDS, batch->got);
        compare(run, batch, kernel->name, count);
    }
cleanup:
    uvea_gate_queries_deinit(&queries);
    uvea_gate_tiles_deinit(&tiles);
    return error;
}

static enum uvea_error check_batch(struct uvea_gate_run *run,
                                   const struct uvea_gate_kernels *kernels, struct batch *batch)
{
    for (size_t q = 0; q < QUERIES; q++) {
        for (size_t r = 0; r < RECORDS; r++) {
            uvea_gate_direct_scores(&batch->queries[q], &batch->records[r], batch->want[q][r]);
        }
    }
    for (size_t i = 0; i < kernels->spectral_count; i++) {
        UVEA_TRY(check_kernel(run, batch, kernels->spectral[i]));
    }
    return UVEA_OK;
}

static enum uvea_error check_kernels(struct uvea_gate_run *run,
                                     const struct uvea_gate_kernels *kernels, struct batch *batch)
{
    enum { DRAWN = 8, BATCHES = 2 + UVEA_GATE_ROTATION_MAX + DRAWN };
    uint64_t done = 0;
    for (size_t first = 0; first < UVEA_COUNT_OF(extremes); first += QUERIES) {
        fill_channel_bounds(batch, first);
        UVEA_TRY(check_batch(run, kernels, batch));
        uvea_gate_progress(run, ++done, BATCHES);
    }
    for (int r = 1; r <= UVEA_GATE_ROTATION_MAX; r++) {
        fill_inverse_bounds(batch, r);
        UVEA_TRY(check_batch(run, kernels, batch));
        uvea_gate_progress(run, ++done, BATCHES);
    }
    for (unsigned i = 0; i < DRAWN; i++) {
        fill_drawn(run, batch, i % 2 == 0);
        UVEA_TRY(check_batch(run, kernels, batch));
        uvea_gate_progress(run, ++done, BATCHES);
    }
    return UVEA_OK;
}

enum uvea_error uvea_gate_transform(struct uvea_gate_run *run)
{
    const struct uvea_gate_kernels kernels = uvea_gate_find_kernels(run);
    char names[128] = "";
    struct batch *batch = uvea_mem_alloc(1, sizeof(*batch));
    if (batch == NULL) {
        return UVEA_ERR_MEMORY;
    }
    check_transforms(run);
    enum uvea_error error = check_kernels(run, &kernels, batch);
    uvea_mem_free(batch);
    uvea_gate_kernel_names(&kernels, names);
    uvea_gate_covered(run,
                      "forward, inverse and selected inverse of all 200 impulses, extreme and "
                      "random vectors; kernels %s for 1 to 8 queries at the bounds of their sums "
                      "over channels and of the paired inverse",
                      names);
    return error;
}
