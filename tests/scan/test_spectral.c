#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/field/spectrum.h"
#include "core/scan/spectral.h"
#include "tests/scan/cluster.h"
#include "tests/scan/fixture.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum { PRIME = 52201, HALF = 26101 };

static const struct uvea_spectral_kernel *const kernel = &uvea_spectral_kernel_portable;

// ---- records

static struct uvea_spectrum *some_spectra(size_t count)
{
    struct uvea_spectrum *spectra = uvea_mem_alloc(count, sizeof(*spectra));

    assert_non_null(spectra);
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
            spectra[s].values[i] = (uint16_t)((s * 7919 + i * 13) % PRIME);
        }
    }
    return spectra;
}

static void assert_equal(const struct uvea_spectral *one, const struct uvea_spectral *other)
{
    const size_t tiles = (one->count + kernel->tile_records - 1) / kernel->tile_records;

    assert_int_equal(one->count, other->count);
    for (size_t i = 0; i < tiles; i++) {
        assert_memory_equal(one->tiles[i], other->tiles[i], kernel->tile_bytes);
    }
}

static void records_may_come_in_any_order(void **state)
{
    const size_t count = 2 * kernel->tile_records + 3;
    struct uvea_spectrum *spectra = some_spectra(count);
    struct uvea_spectral appended;
    struct uvea_spectral placed;

    (void)state;
    assert_int_equal(uvea_spectral_init(&appended, kernel, count), UVEA_OK);
    assert_int_equal(uvea_spectral_init(&placed, kernel, count), UVEA_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(uvea_spectral_grow(&appended, i + 1), UVEA_OK);
        uvea_spectral_set(&appended, i, &spectra[i]);
    }
    assert_int_equal(uvea_spectral_grow(&placed, 2), UVEA_OK);
    uvea_spectral_set(&placed, 1, &spectra[0]);
    assert_int_equal(uvea_spectral_grow(&placed, count), UVEA_OK);
    assert_int_equal(uvea_spectral_grow(&placed, 1), UVEA_OK); // never shrinks
    for (size_t i = count; i-- > 0;) {
        uvea_spectral_set(&placed, i, &spectra[i]);
    }
    assert_equal(&appended, &placed);
    // Another one in the middle and back.
    uvea_spectral_set(&placed, 2, &spectra[0]);
    assert_memory_not_equal(appended.tiles[2 / kernel->tile_records],
                            placed.tiles[2 / kernel->tile_records], kernel->tile_bytes);
    uvea_spectral_set(&placed, 2, &spectra[2]);
    assert_equal(&appended, &placed);
    uvea_spectral_deinit(&appended);
    uvea_spectral_deinit(&placed);
    uvea_mem_free(spectra);
}

static void more_than_the_bound_is_refused(void **state)
{
    struct uvea_spectral spectral;

    (void)state;
    assert_int_equal(uvea_spectral_init(&spectral, kernel, kernel->tile_records), UVEA_OK);
    assert_int_equal(uvea_spectral_grow(&spectral, kernel->tile_records + 1), UVEA_ERR_LIMIT);
    assert_int_equal(spectral.count, 0);
    assert_int_equal(uvea_spectral_grow(&spectral, kernel->tile_records), UVEA_OK);
    assert_int_equal(uvea_spectral_grow(&spectral, kernel->tile_records + 1), UVEA_ERR_LIMIT);
    assert_int_equal(spectral.count, kernel->tile_records);
    uvea_spectral_deinit(&spectral);
}

// ---- conversion

static void the_deletion_dummy_is_the_spectrum_of_ones(void **state)
{
    struct uvea_field_eye *ones = uvea_mem_alloc(1, sizeof(*ones));
    struct uvea_spectrum *spectra = some_spectra(2);

    (void)state;
    assert_non_null(ones);
    for (size_t i = 0; i < UVEA_FIELD_EYE_VALUES; i++) {
        ones->values[i] = 1;
    }
    uvea_spectrum_of_record(ones, &spectra[0]);
    uvea_spectral_deletion_dummy(&spectra[1]);
    assert_memory_equal(&spectra[0], &spectra[1], sizeof(spectra[0]));
    uvea_mem_free(ones);
    uvea_mem_free(spectra);
}

enum { EYES = 6 }; // more than one exchange

struct eyes {
    uint16_t eye[UVEA_PARTY_COUNT][EYES][UVEA_RECORD_COEFFICIENTS];
    struct uvea_spectrum out[UVEA_PARTY_COUNT][EYES];
    size_t count;
};

static enum uvea_error convert(struct cluster *cluster, unsigned party, void *arg,
                               struct uvea_error_context *context)
{
    struct eyes *eyes = arg;
    const uint16_t *at[EYES];

    (void)context;
    for (size_t i = 0; i < EYES; i++) {
        at[i] = eyes->eye[party][i];
    }
    return uvea_spectral_convert(cluster->at[party][0], at, eyes->count, eyes->out[party]);
}

// Shares of degree one at 1, 2, 3.
static uint16_t open_value(uint16_t first, uint16_t second)
{
    return (uint16_t)((2 * (uint32_t)first + PRIME - second) % PRIME);
}

// The sum of all coordinates of a channel is its frequency 0: for a deleted identity it is known,
// and a stranger's is in bounds.
static void converted_eyes_open_to_their_templates(void **state)
{
    struct eyes *eyes = uvea_mem_alloc(1, sizeof(*eyes));
    struct uvea_iris_upload *uploads = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*uploads));
    struct uvea_spectrum *dummy = uvea_mem_alloc(1, sizeof(*dummy));
    struct cluster cluster;
    struct uvea_chacha rng;
    struct uvea_template_pair pair;

    (void)state;
    assert_non_null(eyes);
    assert_non_null(uploads);
    assert_non_null(dummy);
    uvea_chacha_init_seeded(&rng, 8);
    for (size_t i = 0; i < EYES; i++) {
        fixture_pair(&rng, &pair);
        fixture_split(&rng, &pair, uploads);
        for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
            if (i % 2 == 1) {
                uvea_iris_deletion_dummy(uvea_party_at(p), &uploads[p].eye[0]);
            }
            uvea_scan_record_of_share(&uploads[p].eye[0], eyes->eye[p][i]);
        }
    }
    uvea_spectral_deletion_dummy(dummy);
    cluster_open(&cluster, 8, 1, UVEA_PRF_AES128);
    eyes->count = 0;
    cluster_run(&cluster, convert, eyes);
    assert_int_equal(cluster.at[0][0]->traffic.messages, 0);
    eyes->count = EYES;
    cluster_run(&cluster, convert, eyes);
    for (size_t i = 0; i < EYES; i++) {
        unsigned same = 0;
        for (size_t v = 0; v < UVEA_SPECTRUM_VALUES; v++) {
            const uint16_t one = eyes->out[0][i].values[v];
            const uint16_t two = eyes->out[1][i].values[v];
            const uint16_t three = eyes->out[2][i].values[v];
            const uint16_t opened = open_value(one, two);
            assert_int_equal(opened, (UINT64_C(3) * one + PRIME - three) * HALF % PRIME);
            same += opened == dummy->values[v];
        }
        assert_int_equal(same == UVEA_SPECTRUM_VALUES, i % 2 == 1);
    }
    cluster_close(&cluster);
    uvea_mem_free(dummy);
    uvea_mem_free(uploads);
    uvea_mem_free(eyes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_may_come_in_any_order),
        cmocka_unit_test(more_than_the_bound_is_refused),
        cmocka_unit_test(the_deletion_dummy_is_the_spectrum_of_ones),
        cmocka_unit_test(converted_eyes_open_to_their_templates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
