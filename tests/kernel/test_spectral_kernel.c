// Every spectral kernel this machine can run gives the scores of the definition, and the scores of
// three parties add up to those of the plaintext.
#include "core/base/mem.h"
#include "tests/iris/sample.h"
#include "tests/kernel/spectral_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct spectral_check *check;
static struct uvea_cpu cpu;

static int prepare(void **unused)
{
    (void)unused;
    cpu = uvea_cpu_detect();
    check = uvea_mem_alloc(1, sizeof(*check));
    if (check != NULL) {
        spectral_check_init(check);
    }
    return check == NULL;
}

static int release(void **unused)
{
    (void)unused;
    uvea_mem_free(check);
    return 0;
}

static void test_kernel(void **state)
{
    const struct uvea_spectral_kernel *kernel = *state;
    if (!kernel->supported(&cpu)) {
        skip();
    }
    for (size_t i = 0; i < spectral_check_count_count; i++) {
        for (size_t queries = 1; queries <= UVEA_SPECTRAL_QUERIES_MAX; queries++) {
            assert_true(spectral_check_run(check, kernel, spectral_check_counts[i], queries));
        }
    }
}

static void test_registry(void **unused)
{
    (void)unused;
    const struct uvea_cpu none = {0};
    assert_ptr_equal(uvea_spectral_kernels[0], &uvea_spectral_kernel_portable);
    assert_ptr_equal(uvea_spectral_kernel_best(&none), &uvea_spectral_kernel_portable);
    const struct uvea_spectral_kernel *last = NULL;
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        const struct uvea_spectral_kernel *kernel = uvea_spectral_kernels[i];
        bool supported = kernel->supported(&cpu);
        last = supported ? kernel : last;
        assert_ptr_equal(uvea_spectral_kernel_named(kernel->name, &cpu), supported ? kernel : NULL);
        assert_int_equal(kernel->supported(&none), kernel == &uvea_spectral_kernel_portable);
        assert_true(kernel->tile_records <= 64);
        assert_int_equal(kernel->tile_records & (kernel->tile_records - 1), 0);
        assert_int_equal(kernel->tile_bytes % 64, 0);
        assert_int_equal(kernel->query_bytes % 64, 0);
    }
    assert_ptr_equal(uvea_spectral_kernel_best(&cpu), last);
    assert_null(uvea_spectral_kernel_named("none such", &cpu));
    assert_null(uvea_spectral_kernel_named("avx2", &none));
}

// ---- three parties

// The field coordinates of a template, each from its own place in the share order.
static void coordinates(const struct uvea_template *from, struct uvea_field_eye *out)
{
    for (size_t i = 0; i < UVEA_FIELD_CODE_VALUES; i++) {
        size_t part = i / 6400;
        size_t wavelet = i % 6400 / 3200;
        size_t column = i % 800 / 4;
        size_t row = 4 * (i % 4) + i % 3200 / 800;
        unsigned mask = sample_bit(from->mask, row, column, wavelet, part);
        unsigned code = sample_bit(from->code, row, column, wavelet, part);
        out->values[i] = (uint16_t)(mask == 0 ? 0 : code == 0 ? 1 : UVEA_FIELD_PRIME - 1);
        if (part == 0) {
            out->values[UVEA_FIELD_CODE_VALUES + i] = (uint16_t)mask;
        }
    }
}

// Degree one, at the points 1, 2, 3.
static void share(struct sample_rng *rng, const struct uvea_field_eye *plain,
                  struct uvea_field_eye out[UVEA_PARTY_COUNT])
{
    for (size_t i = 0; i < UVEA_FIELD_EYE_VALUES; i++) {
        uint64_t slope = sample_next(rng) % UVEA_FIELD_PRIME;
        for (size_t party = 0; party < UVEA_PARTY_COUNT; party++) {
            out[party].values[i] =
                (uint16_t)((plain->values[i] + slope * (party + 1)) % UVEA_FIELD_PRIME);
        }
    }
}

struct trio {
    struct uvea_field_eye plain;
    struct uvea_field_eye query[UVEA_PARTY_COUNT];
    struct uvea_field_eye record[UVEA_PARTY_COUNT];
    struct uvea_spectrum spectrum;
};

static void add_party(const struct uvea_spectral_kernel *kernel, unsigned party, struct trio *trio,
                      uint16_t sums[UVEA_SPECTRAL_ROTATIONS])
{
    uint8_t *query = uvea_mem_alloc(1, kernel->query_bytes);
    uint8_t *tile = uvea_mem_alloc(1, kernel->tile_bytes);
    assert_non_null(query);
    assert_non_null(tile);
    uvea_spectrum_of_query(uvea_party_at(party), &trio->query[party], &trio->spectrum);
    kernel->query_put(query, &trio->spectrum);
    uvea_spectrum_of_record(&trio->record[party], &trio->spectrum);
    kernel->tile_put(tile, 0, &trio->spectrum);
    const void *queries[1] = {query};
    const void *tiles[1] = {tile};
    uint16_t scores[UVEA_SPECTRAL_ROTATIONS];
    kernel->scores(queries, 1, tiles, 1, scores);
    for (size_t i = 0; i < UVEA_SPECTRAL_ROTATIONS; i++) {
        assert_true(uvea_field_is_canonical(scores[i]));
        sums[i] = (uint16_t)((sums[i] + (uint32_t)scores[i]) % UVEA_FIELD_PRIME);
    }
    uvea_mem_free(query);
    uvea_mem_free(tile);
}

static void assert_plain_scores(const struct uvea_spectral_kernel *kernel,
                                const struct uvea_template *query,
                                const struct uvea_template *record)
{
    struct sample_rng rng = {11};
    struct trio *trio = uvea_mem_alloc(1, sizeof(*trio));
    assert_non_null(trio);
    coordinates(query, &trio->plain);
    share(&rng, &trio->plain, trio->query);
    coordinates(record, &trio->plain);
    share(&rng, &trio->plain, trio->record);
    uint16_t sums[UVEA_SPECTRAL_ROTATIONS] = {0};
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        add_party(kernel, party, trio, sums);
    }
    for (int rotation = -15; rotation <= 15; rotation++) {
        int code;
        int mask;
        sample_scores(query, record, rotation, &code, &mask);
        int score = 2 * code - mask;
        assert_int_equal(sums[rotation + 15], score < 0 ? score + UVEA_FIELD_PRIME : score);
    }
    uvea_mem_free(trio);
}

static void test_three_parties(void **unused)
{
    (void)unused;
    struct sample_rng rng = {12};
    struct uvea_template query;
    struct uvea_template record;
    struct uvea_template turned;
    sample_template(&rng, &query);
    sample_template(&rng, &record);
    uvea_iris_rotate(&record, 7, &turned);
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        if (uvea_spectral_kernels[i]->supported(&cpu)) {
            assert_plain_scores(uvea_spectral_kernels[i], &query, &record);
            assert_plain_scores(uvea_spectral_kernels[i], &turned, &record);
        }
    }
}

enum { FIXED_TESTS = 2, KERNELS_MAX = 8 };

int main(void)
{
    struct CMUnitTest tests[FIXED_TESTS + KERNELS_MAX] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_three_parties),
    };
    size_t count = FIXED_TESTS;
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL && i < KERNELS_MAX; i++) {
        tests[count++] = (struct CMUnitTest){
            .name = uvea_spectral_kernels[i]->name,
            .test_func = test_kernel,
            .initial_state = (void *)uvea_spectral_kernels[i],
        };
    }
    return _cmocka_run_group_tests("kernel_spectral", tests, count, prepare, release);
}
