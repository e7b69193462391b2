// Spectra of queries and records: that their products give g_rho, in the clear and over shares, and
// that mirroring is what it is on coordinates.
#include "core/base/mem.h"
#include "core/field/share.h"
#include "core/field/spectrum.h"
#include "tests/field/field_sample.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum { P = 52201 };

// One pair of eyes and everything made of it.
struct pair {
    struct uvea_field_eye query;
    struct uvea_field_eye record;
    struct uvea_field_eye query_share[UVEA_PARTY_COUNT];
    struct uvea_field_eye record_share[UVEA_PARTY_COUNT];
    struct uvea_spectrum query_spectrum;
    struct uvea_spectrum record_spectrum;
};

// This party's contributions to the 31 scores.
static void contributions(struct pair *pair, struct uvea_party party,
                          const struct uvea_field_eye *query, const struct uvea_field_eye *record,
                          uint16_t out[UVEA_TRANSFORM_ROTATIONS])
{
    uint16_t products[UVEA_TRANSFORM_POINTS];
    uvea_spectrum_of_query(party, query, &pair->query_spectrum);
    uvea_spectrum_of_record(record, &pair->record_spectrum);
    for (unsigned k = 0; k < UVEA_TRANSFORM_POINTS; k++) {
        uint64_t sum = 0;
        for (unsigned channel = 0; channel < 96; channel++) {
            sum += (uint64_t)pair->query_spectrum.values[96 * k + channel] *
                   pair->record_spectrum.values[96 * k + channel];
        }
        products[k] = (uint16_t)(sum % P);
    }
    uvea_transform_selected_inverse(products, out);
}

static void check_scores(const struct pair *pair, const uint32_t sums[UVEA_TRANSFORM_ROTATIONS])
{
    for (int rotation = -15; rotation <= 15; rotation++) {
        int32_t want = field_sample_score(&pair->query, &pair->record, rotation);
        assert_int_equal(sums[rotation + 15] % P, (uint32_t)(want + 2 * P) % P);
    }
}

static void check_pair(struct uvea_chacha *rng, struct pair *pair)
{
    uint16_t scores[UVEA_TRANSFORM_ROTATIONS];
    uint32_t sums[UVEA_TRANSFORM_ROTATIONS] = {0};
    // In the clear every party's point gives the same, so that its weight comes back out.
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uint16_t weight = uvea_field_weight_three(uvea_party_at(p));
        uint64_t undo = uvea_field_inverse(weight);
        contributions(pair, uvea_party_at(p), &pair->query, &pair->record, scores);
        for (unsigned r = 0; r < UVEA_TRANSFORM_ROTATIONS; r++) {
            sums[r] = (uint32_t)(scores[r] * undo % P);
        }
        check_scores(pair, sums);
    }
    memset(sums, 0, sizeof(sums));
    field_sample_split(rng, &pair->query, pair->query_share);
    field_sample_split(rng, &pair->record, pair->record_share);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        contributions(pair, uvea_party_at(p), &pair->query_share[p], &pair->record_share[p],
                      scores);
        for (unsigned r = 0; r < UVEA_TRANSFORM_ROTATIONS; r++) {
            sums[r] += scores[r];
        }
    }
    check_scores(pair, sums);
}

static void products_give_scores(void **state)
{
    (void)state;
    struct pair *pair = field_sample_alloc(1, sizeof(*pair));
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 1);
    for (unsigned i = 0; i < 6; i++) {
        field_sample_eye(&rng, &pair->query);
        field_sample_eye(&rng, &pair->record);
        check_pair(&rng, pair);
    }
    pair->record = pair->query;
    check_pair(&rng, pair);
    uvea_mem_free(pair);
}

static void fill_eye(struct uvea_field_eye *eye, uint16_t code, uint16_t mask)
{
    for (size_t i = 0; i < UVEA_FIELD_EYE_VALUES; i++) {
        eye->values[i] = i < UVEA_FIELD_CODE_VALUES ? code : mask;
    }
}

// The largest and the smallest score there is, and nothing to compare.
static void scores_at_their_ends(void **state)
{
    (void)state;
    struct pair *pair = field_sample_alloc(1, sizeof(*pair));
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 2);
    fill_eye(&pair->query, 1, 1);
    fill_eye(&pair->record, 1, 1);
    assert_int_equal(field_sample_score(&pair->query, &pair->record, 0), 19200);
    check_pair(&rng, pair);
    fill_eye(&pair->record, P - 1, 1);
    assert_int_equal(field_sample_score(&pair->query, &pair->record, 0), -32000);
    check_pair(&rng, pair);
    fill_eye(&pair->record, 0, 0);
    check_pair(&rng, pair);
    uvea_mem_free(pair);
}

// Index of a value, from its place in a template as service.md 5.5 numbers it.
static size_t index_of(size_t part, size_t wavelet, size_t row, size_t column)
{
    return 6400 * part + 3200 * wavelet + 800 * (row % 4) + 4 * column + row / 4;
}

static void check_mirrored(const struct uvea_field_eye *before, const struct uvea_field_eye *after,
                           size_t row, size_t column)
{
    size_t from = column < 100 ? 99 - column : 299 - column;
    for (size_t wavelet = 0; wavelet < 2; wavelet++) {
        size_t real = index_of(0, wavelet, row, column);
        size_t imaginary = index_of(1, wavelet, row, column);
        assert_int_equal(after->values[real], before->values[index_of(0, wavelet, row, from)]);
        assert_int_equal(after->values[imaginary],
                         (P - before->values[index_of(1, wavelet, row, from)]) % P);
        assert_int_equal(after->values[12800 + real],
                         before->values[12800 + index_of(0, wavelet, row, from)]);
    }
}

static void mirror_is_that_of_coordinates(void **state)
{
    (void)state;
    struct uvea_field_eye *eyes = field_sample_alloc(3, sizeof(*eyes));
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 3);
    field_sample_fill(&rng, eyes[0].values, UVEA_FIELD_EYE_VALUES);
    eyes[1] = eyes[0];
    uvea_field_eye_mirror(&eyes[1]);
    for (size_t row = 0; row < 16; row++) {
        for (size_t column = 0; column < 200; column++) {
            check_mirrored(&eyes[0], &eyes[1], row, column);
        }
    }
    eyes[2] = eyes[1];
    uvea_field_eye_mirror(&eyes[2]);
    assert_memory_equal(&eyes[2], &eyes[0], sizeof(eyes[0]));
    uvea_mem_free(eyes);
}

// Mirroring both eyes turns rotation rho into -rho, so mirroring is right for scores as well.
static void mirrored_pairs_have_mirrored_scores(void **state)
{
    (void)state;
    struct pair *pair = field_sample_alloc(1, sizeof(*pair));
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 4);
    field_sample_eye(&rng, &pair->query);
    field_sample_eye(&rng, &pair->record);
    int32_t straight = field_sample_score(&pair->query, &pair->record, 0);
    uvea_field_eye_mirror(&pair->query);
    check_pair(&rng, pair);
    uvea_field_eye_mirror(&pair->record);
    check_pair(&rng, pair);
    assert_int_equal(field_sample_score(&pair->query, &pair->record, 0), straight);
    uvea_mem_free(pair);
}

// Which value feeds which channel, and where a frequency stands.
static void layout(void **state)
{
    (void)state;
    struct uvea_field_eye *eye = field_sample_alloc(1, sizeof(*eye));
    struct uvea_spectrum *spectrum = field_sample_alloc(1, sizeof(*spectrum));
    for (size_t i = 0; i < UVEA_FIELD_EYE_VALUES; i += 37) {
        eye->values[i] = 1;
        uvea_spectrum_of_record(eye, spectrum);
        eye->values[i] = 0;
        size_t channel = 4 * (i / 800) + i % 4;
        int column = (int)(i % 800 / 4);
        for (size_t at = 0; at < UVEA_SPECTRUM_VALUES; at++) {
            int k = (int)(at / 96);
            uint32_t want = at % 96 == channel && k < 3 ? field_sample_root(k * column) : 0;
            if (at % 96 != channel || k < 3) {
                assert_int_equal(spectrum->values[at], want);
            }
        }
    }
    uvea_mem_free(eye);
    uvea_mem_free(spectrum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_give_scores),
        cmocka_unit_test(scores_at_their_ends),
        cmocka_unit_test(mirror_is_that_of_coordinates),
        cmocka_unit_test(mirrored_pairs_have_mirrored_scores),
        cmocka_unit_test(layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
