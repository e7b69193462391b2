// Scores of both paths against the oracle's, every rotation, in one orientation: the sum over the
// parties of what each kernel gives, for templates of every kind that the rules tell apart.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/gate/scores.h"
#include "sim/gate/subject.h"
#include "sim/gen/template.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    ROTATIONS = UVEA_GATE_ROTATIONS,
    QUERIES = UVEA_SPECTRAL_QUERIES_MAX,
    DISJOINT = 3,
    FULL_EDGES = 3 * ROTATIONS,    // one bit inside, at and one bit beyond the threshold
    PARTIAL_EDGES = 2 * ROTATIONS, // the last distance that passes and the first that does not
    RECORDS = QUERIES + DISJOINT + FULL_EDGES + PARTIAL_EDGES,
};

// What the queries are, by index.
enum {
    GENERATED,
    OTHER_GENERATED,
    FULL_MASK,
    EMPTY_MASK,
    RANDOM_BITS,
    ALL_ZERO, // with its own self and the next one the largest and the smallest score there is
    ALL_ONE,
    THIRD_GENERATED,
};
static const unsigned disjoint_of[DISJOINT] = {GENERATED, RANDOM_BITS, THIRD_GENERATED};

struct bench {
    bool mirror;
    struct uvea_gate_subject queries[QUERIES];
    struct uvea_gate_subject records[RECORDS];
    int32_t right[QUERIES][RECORDS][ROTATIONS]; // g, by the oracle
    // sums over the parties
    uint16_t code[QUERIES][RECORDS][ROTATIONS];
    uint16_t mask[QUERIES][RECORDS][ROTATIONS];
    uint16_t field[QUERIES][RECORDS][ROTATIONS];
    // one party's
    struct uvea_spectrum spectra[RECORDS];
    struct uvea_spectrum query_spectra[QUERIES];
    struct uvea_field_eye eye;
    struct uvea_iris_share share;
    struct uvea_ring_query ring_query;
    uint16_t ring_records[RECORDS][UVEA_RECORD_COEFFICIENTS];
    const uint16_t *ring_at[RECORDS];
    uint16_t ring_scores[2][RECORDS * UVEA_SCORES_PER_RECORD];
    uint16_t field_scores[2][QUERIES * RECORDS * ROTATIONS];
    struct uvea_oracle_query oracle_query;
    struct uvea_oracle_template oracle_record;
};

// ---- templates

static void make_queries(struct uvea_gate_run *run, struct bench *bench)
{
    for (unsigned q = 0; q < QUERIES; q++) {
        uvea_gen_template(&run->random, &bench->queries[q].iris);
    }
    uvea_gen_fill_mask(&bench->queries[FULL_MASK].iris, true);
    uvea_gen_fill_mask(&bench->queries[EMPTY_MASK].iris, false);
    struct uvea_template *random = &bench->queries[RANDOM_BITS].iris;
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        uint64_t real = uvea_sim_random_next_u64(&run->random) & UINT64_C(0x5555555555555555);
        random->code[i] = uvea_sim_random_next_u64(&run->random);
        random->mask[i] = real | real << 1;
    }
    memset(bench->queries[ALL_ZERO].iris.code, 0, sizeof(random->code));
    memset(bench->queries[ALL_ONE].iris.code, 0xff, sizeof(random->code));
    uvea_gen_fill_mask(&bench->queries[ALL_ZERO].iris, true);
    uvea_gen_fill_mask(&bench->queries[ALL_ONE].iris, true);
}

// A query as the records meet it.
static void seen(const struct bench *bench, unsigned query, struct uvea_template *out)
{
    if (bench->mirror) {
        uvea_iris_mirror(&bench->queries[query].iris, out);
    } else {
        *out = bench->queries[query].iris;
    }
}

static enum uvea_error make_edge(struct uvea_gate_run *run, const struct bench *bench,
                                 unsigned query, unsigned differing, int rotation,
                                 struct uvea_template *out)
{
    struct uvea_template as_seen;
    struct uvea_template flipped;
    seen(bench, query, &as_seen);
    UVEA_TRY(uvea_gen_flip(&run->random, &as_seen, differing, &flipped));
    uvea_iris_rotate(&flipped, rotation, out);
    return UVEA_OK;
}

static enum uvea_error make_records(struct uvea_gate_run *run, struct bench *bench)
{
    struct uvea_gate_subject *record = bench->records;
    for (unsigned q = 0; q < QUERIES; q++) {
        seen(bench, q, &record++->iris);
    }
    for (unsigned i = 0; i < DISJOINT; i++) {
        seen(bench, disjoint_of[i], &record->iris);
        for (size_t w = 0; w < UVEA_IRIS_WORDS; w++) {
            record->iris.mask[w] = ~record->iris.mask[w];
        }
        record++;
    }
    // 4C - M >= 0 for n common bits of which d differ: 8d <= 3n; with n = 12800, d <= 4800.
    const struct uvea_template *partial = &bench->queries[GENERATED].iris;
    unsigned last = 3 * uvea_gen_common_bits(partial, partial) / 8;
    for (int rho = -UVEA_GATE_ROTATION_MAX; rho <= UVEA_GATE_ROTATION_MAX; rho++) {
        for (unsigned d = 4799; d <= 4801; d++) {
            UVEA_TRY(make_edge(run, bench, FULL_MASK, d, rho, &record++->iris));
        }
        for (unsigned d = last; d <= last + 1; d++) {
            UVEA_TRY(make_edge(run, bench, GENERATED, d, rho, &record++->iris));
        }
    }
    UVEA_CHECK(record == bench->records + RECORDS);
    return UVEA_OK;
}

// ---- the oracle's scores

static enum uvea_error judge_right(struct uvea_gate_run *run, struct bench *bench)
{
    for (unsigned q = 0; q < QUERIES; q++) {
        struct uvea_oracle_template query;
        struct uvea_oracle_template turned;
        uvea_gate_to_oracle(&bench->queries[q].iris, &query);
        uvea_oracle_mirror(&query, &turned);
        uvea_oracle_query_prepare(bench->mirror ? &turned : &query, &bench->oracle_query);
        for (unsigned r = 0; r < RECORDS; r++) {
            uvea_gate_to_oracle(&bench->records[r].iris, &bench->oracle_record);
            for (unsigned i = 0; i < ROTATIONS; i++) {
                struct uvea_oracle_counts counts;
                struct uvea_oracle_verdict verdict;
                uvea_oracle_count(&bench->oracle_query.at[i], &bench->oracle_record, &counts);
                UVEA_TRY(uvea_oracle_judge(&counts, &verdict, &run->error));
                bench->right[q][r][i] = 2 * counts.code_dot - counts.mask_dot / 2;
                if (verdict.anonymous != (bench->right[q][r][i] >= 0)) {
                    uvea_gate_wrong(run, "the sign of %d is not the oracle's verdict",
                                    bench->right[q][r][i]);
                }
            }
        }
    }
    return UVEA_OK;
}

// The templates must reach what they are for: at each rotation the threshold itself and its two
// sides, and over all the largest and the smallest score.
static void check_reach(struct uvea_gate_run *run, const struct bench *bench)
{
    bool reached[ROTATIONS][3] = {{false}};
    bool largest = false;
    bool smallest = false;
    for (unsigned q = 0; q < QUERIES; q++) {
        for (unsigned r = 0; r < RECORDS; r++) {
            for (unsigned i = 0; i < ROTATIONS; i++) {
                int32_t score = bench->right[q][r][i];
                largest |= score == UVEA_GATE_SCORE_MAX;
                smallest |= score == UVEA_GATE_SCORE_MIN;
                if ((score == -4 || score == 0 || score == 4) && q == FULL_MASK) {
                    reached[i][score / 4 + 1] = true;
                }
            }
        }
    }
    for (unsigned i = 0; i < ROTATIONS; i++) {
        if (!reached[i][0] || !reached[i][1] || !reached[i][2]) {
            uvea_gate_wrong(run, "no template stands at the threshold of rotation %d",
                            (int)i - UVEA_GATE_ROTATION_MAX);
        }
    }
    if (!largest || !smallest) {
        uvea_gate_wrong(run, "no pair of templates has the %s score",
                        largest ? "smallest" : "largest");
    }
}

// ---- one party's scores

static void prepare_spectra(struct bench *bench, struct uvea_party party)
{
    for (unsigned r = 0; r < RECORDS; r++) {
        uvea_spectrum_of_record(&bench->records[r].field[party.index], &bench->spectra[r]);
    }
    for (unsigned q = 0; q < QUERIES; q++) {
        bench->eye = bench->queries[q].field[party.index];
        if (bench->mirror) {
            uvea_field_eye_mirror(&bench->eye);
        }
        uvea_spectrum_of_query(party, &bench->eye, &bench->query_spectra[q]);
    }
}

static enum uvea_error score_spectra(struct bench *bench, const struct uvea_spectral_kernel *kernel,
                                     uint16_t *scores)
{
    struct uvea_gate_tiles tiles = {.memory = NULL};
    struct uvea_gate_queries queries = {.memory = NULL};
    enum uvea_error error;
    UVEA_TRY_CLEANUP(uvea_gate_tiles_init(&tiles, kernel, bench->spectra, RECORDS, RECORDS));
    UVEA_TRY_CLEANUP(uvea_gate_queries_init(&queries, kernel, bench->query_spectra, QUERIES));
    kernel->scores(queries.at, QUERIES, tiles.at, RECORDS, scores);
cleanup:
    uvea_gate_queries_deinit(&queries);
    uvea_gate_tiles_deinit(&tiles);
    return error;
}

static void differ(struct uvea_gate_run *run, const char *kind, const char *kernel, unsigned party,
                   const uint16_t *got, const uint16_t *want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (got[i] != want[i]) {
            uvea_gate_wrong(run, "party %u: score %zu of %s kernel %s differs from portable's",
                            party, i, kind, kernel);
        }
    }
    uvea_gate_count_cases(run, count);
}

static enum uvea_error add_field(struct uvea_gate_run *run, struct bench *bench,
                                 const struct uvea_gate_kernels *kernels, struct uvea_party party)
{
    const size_t count = QUERIES * RECORDS * ROTATIONS;
    uint16_t *sums = &bench->field[0][0][0];
    prepare_spectra(bench, party);
    for (size_t k = 0; k < kernels->spectral_count; k++) {
        uint16_t *scores = bench->field_scores[k != 0];
        UVEA_TRY(score_spectra(bench, kernels->spectral[k], scores));
        if (k > 0) {
            differ(run, "spectral", kernels->spectral[k]->name, party.index, scores,
                   bench->field_scores[0], count);
        }
    }
    for (size_t i = 0; i < count; i++) {
        sums[i] = (uint16_t)((sums[i] + (uint32_t)bench->field_scores[0][i]) % UVEA_GATE_PRIME);
    }
    return UVEA_OK;
}

static void prepare_ring_records(struct bench *bench, struct uvea_party party)
{
    for (unsigned r = 0; r < RECORDS; r++) {
        const struct uvea_iris_share *share = &bench->records[r].shares[party.index];
        memcpy(bench->ring_records[r], share->code, sizeof(share->code));
        memcpy(bench->ring_records[r] + UVEA_SHARE_COEFFICIENTS, share->mask,
               UVEA_MASK_COEFFICIENTS * sizeof(*share->mask));
        bench->ring_at[r] = bench->ring_records[r];
    }
}

static void add_ring(struct uvea_gate_run *run, struct bench *bench,
                     const struct uvea_gate_kernels *kernels, struct uvea_party party)
{
    prepare_ring_records(bench, party);
    for (unsigned q = 0; q < QUERIES; q++) {
        bench->share = bench->queries[q].shares[party.index];
        if (bench->mirror) {
            uvea_iris_mirror_code(party, bench->share.code);
            uvea_iris_mirror_mask(bench->share.mask);
        }
        uvea_ring_query_prepare(party, bench->share.code, bench->share.mask, &bench->ring_query);
        for (size_t k = 0; k < kernels->ring_count; k++) {
            uint16_t *scores = bench->ring_scores[k != 0];
            kernels->ring[k]->scores(&bench->ring_query, bench->ring_at, RECORDS, scores);
            if (k > 0) {
                differ(run, "ring", kernels->ring[k]->name, party.index, scores,
                       bench->ring_scores[0], RECORDS * UVEA_SCORES_PER_RECORD);
            }
        }
        for (size_t i = 0; i < RECORDS * ROTATIONS; i++) {
            (&bench->code[q][0][0])[i] += bench->ring_scores[0][2 * i];
            (&bench->mask[q][0][0])[i] += bench->ring_scores[0][2 * i + 1];
        }
    }
}

// ---- the two paths against the oracle

static void compare(struct uvea_gate_run *run, const struct bench *bench)
{
    for (unsigned q = 0; q < QUERIES; q++) {
        for (unsigned r = 0; r < RECORDS; r++) {
            for (unsigned i = 0; i < ROTATIONS; i++) {
                int32_t want = bench->right[q][r][i];
                int32_t ring = 2 * (int16_t)bench->code[q][r][i] - (int16_t)bench->mask[q][r][i];
                uint32_t field = bench->field[q][r][i];
                if (ring != want || field != uvea_gate_mod(want)) {
                    uvea_gate_wrong(run,
                                    "query %u, record %u, rotation %d: the ring gives %d, the "
                                    "field %u, the oracle %d",
                                    q, r, (int)i - UVEA_GATE_ROTATION_MAX, ring, field, want);
                }
            }
        }
    }
    uvea_gate_count_cases(run, (uint64_t)2 * QUERIES * RECORDS * ROTATIONS);
}

static enum uvea_error check_bench(struct uvea_gate_run *run, struct bench *bench,
                                   const struct uvea_gate_kernels *kernels)
{
    enum { STEPS = 3 + UVEA_PARTY_COUNT };
    make_queries(run, bench);
    UVEA_TRY(make_records(run, bench));
    UVEA_TRY(judge_right(run, bench));
    check_reach(run, bench);
    uvea_gate_progress(run, 1, STEPS);
    UVEA_TRY(uvea_gate_subjects_share(run, bench->queries, QUERIES, 1));
    UVEA_TRY(uvea_gate_subjects_share(run, bench->records, RECORDS, 2));
    uvea_gate_progress(run, 2, STEPS);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY(add_field(run, bench, kernels, uvea_party_at(party)));
        add_ring(run, bench, kernels, uvea_party_at(party));
        uvea_gate_progress(run, 3 + party, STEPS);
    }
    compare(run, bench);
    uvea_gate_progress(run, STEPS, STEPS);
    return UVEA_OK;
}

static enum uvea_error check_orientation(struct uvea_gate_run *run, bool mirror)
{
    const struct uvea_gate_kernels kernels = uvea_gate_find_kernels(run);
    char names[128] = "";
    struct bench *bench = uvea_mem_alloc(1, sizeof(*bench));
    if (bench == NULL) {
        return UVEA_ERR_MEMORY;
    }
    bench->mirror = mirror;
    enum uvea_error error = check_bench(run, bench, &kernels);
    uvea_mem_free(bench);
    uvea_gate_kernel_names(&kernels, names);
    uvea_gate_covered(run,
                      "%d %squeries with %d records at all 31 rotations: generated, random, self, "
                      "empty, full and disjoint masks, the largest and the smallest score, one bit "
                      "inside, at and beyond the threshold at each rotation; field (kernels %s), "
                      "ring and oracle alike",
                      QUERIES, mirror ? "mirrored " : "", RECORDS, names);
    return error;
}

enum uvea_error uvea_gate_rotations(struct uvea_gate_run *run)
{
    return check_orientation(run, false);
}

enum uvea_error uvea_gate_mirror(struct uvea_gate_run *run)
{
    return check_orientation(run, true);
}
