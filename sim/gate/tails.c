// Counts at and around every boundary: records in a tile and in a chunk for each kernel, bits in a
// byte and in a word for each predicate.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/gate/judge.h"
#include "sim/gate/scores.h"

#include <string.h>

enum {
    ROTATIONS = UVEA_GATE_ROTATIONS,
    SMALL = 130,  // record counts 0..SMALL: two tiles of 64 and a little
    CHUNK = 4096, // records of the scan's chunk
    PERIOD = 128, // different records; a multiple of every tile
    QUERIES = UVEA_SPECTRAL_QUERIES_MAX,
    GUARD = 64,
    GUARD_VALUE = 0xa5a5,
};

// One query, both orientations, and as many as there may be.
static const size_t query_counts[] = {1, 2, QUERIES};

// ---- spectral kernels

struct spectral_bench {
    struct uvea_spectrum records[PERIOD];
    struct uvea_spectrum queries[QUERIES];
    uint16_t want[QUERIES][PERIOD][ROTATIONS];
    uint16_t got[2 * (CHUNK + 1) * ROTATIONS + GUARD];
};
_Static_assert(2 * (CHUNK + 1) >= QUERIES * (SMALL + 1), "got holds every call's scores");

static void fill_spectrum(struct uvea_gate_run *run, struct uvea_spectrum *spectrum)
{
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        spectrum->values[i] = uvea_gate_draw_residue(run);
    }
}

static void fill_spectral(struct uvea_gate_run *run, struct spectral_bench *bench)
{
    for (size_t r = 0; r < PERIOD; r++) {
        fill_spectrum(run, &bench->records[r]);
    }
    for (size_t q = 0; q < QUERIES; q++) {
        fill_spectrum(run, &bench->queries[q]);
        for (size_t r = 0; r < PERIOD; r++) {
            uvea_gate_direct_scores(&bench->queries[q], &bench->records[r], bench->want[q][r]);
        }
    }
}

static void fill_guard(uint16_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = GUARD_VALUE;
    }
}

static void check_guard(struct uvea_gate_run *run, const char *kernel, const uint16_t *guard,
                        size_t count)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (guard[i] != GUARD_VALUE) {
            uvea_gate_wrong(run, "kernel %s wrote behind the scores of %zu records", kernel, count);
            return;
        }
    }
}

static enum uvea_error check_spectral_count(struct uvea_gate_run *run, struct spectral_bench *bench,
                                            const struct uvea_spectral_kernel *kernel,
                                            const struct uvea_gate_queries *queries,
                                            size_t query_count, size_t count)
{
    struct uvea_gate_tiles tiles;
    const size_t scores = query_count * count * ROTATIONS;
    UVEA_TRY(uvea_gate_tiles_init(&tiles, kernel, bench->records, PERIOD, count));
    fill_guard(bench->got, scores + GUARD);
    kernel->scores(queries->at, query_count, tiles.at, count, bench->got);
    uvea_gate_tiles_deinit(&tiles);
    for (size_t q = 0; q < query_count; q++) {
        for (size_t r = 0; r < count; r++) {
            const uint16_t *got = bench->got + (q * count + r) * ROTATIONS;
            if (memcmp(got, bench->want[q][r % PERIOD], ROTATIONS * sizeof(*got)) != 0) {
                uvea_gate_wrong(run,
                                "spectral kernel %s: record %zu of %zu, query %zu of %zu, has "
                                "wrong scores",
                                kernel->name, r, count, q + 1, query_count);
            }
        }
    }
    check_guard(run, kernel->name, bench->got + scores, count);
    uvea_gate_count_cases(run, query_count * count + 1);
    return UVEA_OK;
}

static enum uvea_error check_spectral(struct uvea_gate_run *run, struct spectral_bench *bench,
                                      const struct uvea_spectral_kernel *kernel)
{
    struct uvea_gate_queries queries;
    enum uvea_error error;
    UVEA_TRY(uvea_gate_queries_init(&queries, kernel, bench->queries, QUERIES));
    for (size_t count = 0; count <= SMALL; count++) {
        for (size_t i = 0; i < UVEA_COUNT_OF(query_counts); i++) {
            UVEA_TRY_CLEANUP(
                check_spectral_count(run, bench, kernel, &queries, query_counts[i], count));
        }
    }
    for (size_t count = CHUNK - 1; count <= CHUNK + 1; count++) {
        UVEA_TRY_CLEANUP(check_spectral_count(run, bench, kernel, &queries, 1, count));
        UVEA_TRY_CLEANUP(check_spectral_count(run, bench, kernel, &queries, 2, count));
    }
cleanup:
    uvea_gate_queries_deinit(&queries);
    return error;
}

// ---- ring kernels

struct ring_bench {
    uint16_t records[PERIOD][UVEA_RECORD_COEFFICIENTS];
    const uint16_t *at[CHUNK + 1];
    struct uvea_ring_query query;
    uint16_t want[PERIOD][UVEA_SCORES_PER_RECORD]; // the portable kernel's, one at a time
    uint16_t got[(CHUNK + 1) * UVEA_SCORES_PER_RECORD + GUARD];
};

static void fill_words(struct uvea_gate_run *run, uint16_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        words[i] = (uint16_t)uvea_sim_random_next_u64(&run->random);
    }
}

static void fill_ring(struct uvea_gate_run *run, struct ring_bench *bench,
                      const struct uvea_ring_kernel *portable)
{
    fill_words(run, bench->records[0], sizeof(bench->records) / sizeof(bench->records[0][0]));
    uvea_ring_query_prepare(uvea_party_at(0), bench->records[0],
                            bench->records[0] + UVEA_SHARE_COEFFICIENTS, &bench->query);
    for (size_t i = 0; i < UVEA_COUNT_OF(bench->at); i++) {
        bench->at[i] = bench->records[i % PERIOD];
    }
    for (size_t r = 0; r < PERIOD; r++) {
        portable->scores(&bench->query, &bench->at[r], 1, bench->want[r]);
    }
}

static void check_ring_count(struct uvea_gate_run *run, struct ring_bench *bench,
                             const struct uvea_ring_kernel *kernel, size_t count)
{
    const size_t scores = count * UVEA_SCORES_PER_RECORD;
    fill_guard(bench->got, scores + GUARD);
    kernel->scores(&bench->query, bench->at, count, bench->got);
    for (size_t r = 0; r < count; r++) {
        if (memcmp(bench->got + r * UVEA_SCORES_PER_RECORD, bench->want[r % PERIOD],
                   sizeof(bench->want[0])) != 0) {
            uvea_gate_wrong(run, "ring kernel %s: record %zu of %zu has wrong scores", kernel->name,
                            r, count);
        }
    }
    check_guard(run, kernel->name, bench->got + scores, count);
    uvea_gate_count_cases(run, count + 1);
}

static void check_ring(struct uvea_gate_run *run, struct ring_bench *bench,
                       const struct uvea_ring_kernel *kernel)
{
    for (size_t count = 0; count <= SMALL; count++) {
        check_ring_count(run, bench, kernel, count);
    }
    for (size_t count = CHUNK - 1; count <= CHUNK + 1; count++) {
        check_ring_count(run, bench, kernel, count);
    }
}

static enum uvea_error check_kernels(struct uvea_gate_run *run,
                                     const struct uvea_gate_kernels *kernels)
{
    struct spectral_bench *spectral = uvea_mem_alloc(1, sizeof(*spectral));
    struct ring_bench *ring = uvea_mem_alloc(1, sizeof(*ring));
    enum uvea_error error = spectral == NULL || ring == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
    if (error == UVEA_OK) {
        fill_spectral(run, spectral);
        fill_ring(run, ring, kernels->ring[0]);
    }
    for (size_t i = 0; error == UVEA_OK && i < kernels->spectral_count; i++) {
        error = check_spectral(run, spectral, kernels->spectral[i]);
    }
    for (size_t i = 0; error == UVEA_OK && i < kernels->ring_count; i++) {
        check_ring(run, ring, kernels->ring[i]);
    }
    uvea_mem_free(spectral);
    uvea_mem_free(ring);
    return error;
}

// ---- packed bits

enum {
    COMPARISONS_MAX = (CHUNK + 1) * ROTATIONS,
    BYTES_MAX = 512, // 8 times this is where dense lengths end: one more than 64 words
    LENGTHS = 3 * (BYTES_MAX + 1) + SMALL + 1 + 6,
};

struct lengths {
    size_t at[LENGTHS];
    size_t count;
};

static void add_around(struct lengths *lengths, size_t length)
{
    for (size_t one = length == 0 ? 0 : length - 1; one <= length + 1; one++) {
        lengths->at[lengths->count++] = one;
    }
}

static void fill_lengths(struct lengths *lengths)
{
    lengths->count = 0;
    for (size_t bytes = 0; bytes <= BYTES_MAX; bytes++) {
        add_around(lengths, 8 * bytes);
    }
    for (size_t records = 0; records <= SMALL; records++) {
        lengths->at[lengths->count++] = records * ROTATIONS;
    }
    for (size_t records = CHUNK - 1; records <= CHUNK + 1; records++) {
        lengths->at[lengths->count++] = records * ROTATIONS;
    }
    add_around(lengths, CHUNK * ROTATIONS);
    UVEA_CHECK(lengths->count <= LENGTHS);
}

// Half of the scores stand around the threshold.
static int32_t draw_score(void *arg, size_t i)
{
    struct uvea_gate_run *run = arg;
    if (i % 2 == 0) {
        return (int32_t)uvea_sim_random_below(&run->random, 17) - 8;
    }
    uint64_t span = UVEA_GATE_SCORE_MAX - UVEA_GATE_SCORE_MIN + 1;
    return UVEA_GATE_SCORE_MIN + (int32_t)uvea_sim_random_below(&run->random, span);
}

static enum uvea_error check_bits(struct uvea_gate_run *run, enum uvea_gate_form form,
                                  const struct lengths *lengths)
{
    struct uvea_gate_scores scores;
    enum uvea_error error = UVEA_OK;
    UVEA_TRY(uvea_gate_scores_init(run, &scores, form, COMPARISONS_MAX, draw_score, run));
    for (size_t i = 0; i < lengths->count; i++) {
        size_t length = lengths->at[i];
        size_t chunk = length == 0 ? 1 : length;
        UVEA_TRY_CLEANUP(uvea_gate_judge(run, &scores, length, chunk, (uint32_t)(i % 3), NULL));
        if (i % 64 == 0) {
            uvea_gate_progress(run, form * lengths->count + i,
                               UVEA_GATE_FORM_COUNT * lengths->count);
        }
    }
cleanup:
    uvea_gate_scores_deinit(&scores);
    return error;
}

enum uvea_error uvea_gate_tails(struct uvea_gate_run *run)
{
    const struct uvea_gate_kernels kernels = uvea_gate_find_kernels(run);
    char names[128] = "";
    struct lengths lengths;
    UVEA_TRY(check_kernels(run, &kernels));
    fill_lengths(&lengths);
    for (unsigned form = 0; form < UVEA_GATE_FORM_COUNT; form++) {
        UVEA_TRY(check_bits(run, (enum uvea_gate_form)form, &lengths));
    }
    uvea_gate_kernel_names(&kernels, names);
    uvea_gate_covered(run,
                      "0 to %d records and %d to %d, for 1, 2 and 8 queries (kernels %s) and in "
                      "the ring; all four predicates on %zu lengths: around every multiple of 8 up "
                      "to %d and 31 times these record counts, padding zero",
                      SMALL, CHUNK - 1, CHUNK + 1, names, lengths.count, 8 * BYTES_MAX);
    return UVEA_OK;
}
