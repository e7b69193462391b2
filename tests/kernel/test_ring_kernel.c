// The three parties' scores against dot products of templates, and the kernel against a plain loop.
#include "core/base/mem.h"
#include "tests/kernel/ring_check.h"
#include "tests/kernel/ring_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void assert_scores(const struct uvea_template *query, const struct uvea_template *record)
{
    uint16_t sums[UVEA_SCORES_PER_RECORD];
    ring_sample_sums(query, record, sums);
    for (int rotation = -UVEA_ROTATION_MAX; rotation <= UVEA_ROTATION_MAX; rotation++) {
        int code;
        int mask;
        sample_scores(query, record, rotation, &code, &mask);
        assert_int_equal((int16_t)sums[ring_sample_code_at(rotation)], code);
        assert_int_equal(sums[ring_sample_mask_at(rotation)], mask);
    }
}

static void set_mask(struct uvea_template *template, uint64_t word)
{
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        template->mask[i] = word;
    }
}

static void test_strangers(void **unused)
{
    (void)unused;
    struct sample_rng rng = {1};
    for (unsigned i = 0; i < 3; i++) {
        struct uvea_template query;
        struct uvea_template record;
        sample_template(&rng, &query);
        sample_template(&rng, &record);
        assert_scores(&query, &record);
    }
}

static void test_self(void **unused)
{
    (void)unused;
    struct sample_rng rng = {2};
    struct uvea_template query;
    sample_template(&rng, &query);
    assert_scores(&query, &query);
    // With full masks both products reach their largest values.
    set_mask(&query, UINT64_MAX);
    assert_scores(&query, &query);
    uint16_t sums[UVEA_SCORES_PER_RECORD];
    ring_sample_sums(&query, &query, sums);
    assert_int_equal(sums[ring_sample_code_at(0)], 12800);
    assert_int_equal(sums[ring_sample_mask_at(0)], 6400);
}

static void test_opposite(void **unused)
{
    (void)unused;
    struct sample_rng rng = {3};
    struct uvea_template query;
    sample_template(&rng, &query);
    set_mask(&query, UINT64_MAX);
    struct uvea_template record = query;
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        record.code[i] = ~record.code[i];
    }
    assert_scores(&query, &record);
    uint16_t sums[UVEA_SCORES_PER_RECORD];
    ring_sample_sums(&query, &record, sums);
    assert_int_equal((int16_t)sums[ring_sample_code_at(0)], -12800);
}

static void test_no_overlap(void **unused)
{
    (void)unused;
    struct sample_rng rng = {4};
    struct uvea_template query;
    struct uvea_template record;
    sample_template(&rng, &query);
    sample_template(&rng, &record);
    struct uvea_template empty = query;
    set_mask(&empty, 0);
    assert_scores(&empty, &record);
    assert_scores(&record, &empty);
    assert_scores(&empty, &empty);
    // Wavelet 0 against wavelet 1: disjoint at every rotation.
    set_mask(&query, UINT64_C(0x3333333333333333));
    set_mask(&record, UINT64_C(0xCCCCCCCCCCCCCCCC));
    assert_scores(&query, &record);
}

// The retained half of the mask decides m; C is exact all the same.
static void test_unequal_mask_halves(void **unused)
{
    (void)unused;
    struct sample_rng rng = {5};
    struct uvea_template query;
    struct uvea_template record;
    sample_template(&rng, &query);
    sample_template(&rng, &record);
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        query.mask[i] = sample_next(&rng);
        record.mask[i] = sample_next(&rng);
    }
    assert_scores(&query, &record);
}

// Rotation k of the scores is the query rotated by k columns to the right.
static void test_rotation_of_the_query(void **unused)
{
    (void)unused;
    struct sample_rng rng = {6};
    struct uvea_template record;
    struct uvea_template query;
    sample_template(&rng, &record);
    uvea_iris_rotate(&record, -15, &query); // needs 15 to the right to be the record again
    uint16_t sums[UVEA_SCORES_PER_RECORD];
    unsigned different;
    unsigned common;
    sample_distance(&record, &record, &different, &common);
    ring_sample_sums(&query, &record, sums);
    assert_int_equal(sums[ring_sample_code_at(15)], common);
    assert_int_equal(2 * sums[ring_sample_mask_at(15)], common);
    uvea_iris_rotate(&record, 4, &query);
    ring_sample_sums(&query, &record, sums);
    assert_int_equal(sums[ring_sample_code_at(-4)], common);
    assert_int_equal(2 * sums[ring_sample_mask_at(-4)], common);
}

static void test_mirrored_query(void **unused)
{
    (void)unused;
    struct sample_rng rng = {7};
    struct uvea_template plain;
    struct uvea_template mirrored;
    sample_template(&rng, &plain);
    uvea_iris_mirror(&plain, &mirrored);
    assert_scores(&mirrored, &plain);
    assert_scores(&mirrored, &mirrored);
}

static void test_prepared_query(void **unused)
{
    (void)unused;
    static const uint16_t golden[UVEA_PARTY_COUNT][4] = {
        {51321, 1480, 63513, 47483}, {14215, 64056, 2023, 18053}, {13545, 2150, 59883, 55159}};
    static const uint16_t element[4] = {1, 2, 3, 4};
    uint16_t *share = uvea_mem_alloc(UVEA_SHARE_COEFFICIENTS, sizeof(*share));
    struct uvea_ring_query *query = uvea_mem_alloc(1, sizeof(*query));
    assert_non_null(share);
    assert_non_null(query);
    memcpy(share + 2392, element, sizeof(element)); // row 2, column 198
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        memset(query, 0x5A, sizeof(*query));
        uvea_ring_query_prepare(uvea_party_at(party), share, share, query);
        for (size_t i = 0; i < RING_SAMPLE_CODE; i++) {
            // Once in the middle of the row and once 800 before it, in the left end.
            bool here = i / 920 == 2 && (i % 920 / 4 == 213 || i % 920 / 4 == 13);
            assert_int_equal(query->code[i], here ? golden[party][i % 4] : 0);
            if (i < RING_SAMPLE_MASK) {
                assert_int_equal(query->mask[i], query->code[i]);
            }
        }
    }
    uvea_mem_free(query);
    uvea_mem_free(share);
}

static void test_kernel(void **state)
{
    const struct uvea_ring_kernel *kernel = *state;
    const struct uvea_cpu cpu = uvea_cpu_detect();
    if (!kernel->supported(&cpu)) {
        skip();
    }
    struct ring_check *check = uvea_mem_alloc(1, sizeof(*check));
    assert_non_null(check);
    ring_check_init(check);
    for (size_t i = 0; i < ring_check_count_count; i++) {
        assert_true(ring_check_run(check, kernel, ring_check_counts[i]));
    }
    uvea_mem_free(check);
}

static void test_registry(void **unused)
{
    (void)unused;
    const struct uvea_cpu none = {0};
    const struct uvea_cpu cpu = uvea_cpu_detect();
    assert_ptr_equal(uvea_ring_kernels[0], &uvea_ring_kernel_portable);
    assert_ptr_equal(uvea_ring_kernel_best(&none), &uvea_ring_kernel_portable);
    const struct uvea_ring_kernel *last = NULL;
    for (size_t i = 0; uvea_ring_kernels[i] != NULL; i++) {
        const struct uvea_ring_kernel *kernel = uvea_ring_kernels[i];
        bool supported = kernel->supported(&cpu);
        last = supported ? kernel : last;
        assert_ptr_equal(uvea_ring_kernel_named(kernel->name, &cpu), supported ? kernel : NULL);
        assert_int_equal(kernel->supported(&none), kernel == &uvea_ring_kernel_portable);
    }
    assert_ptr_equal(uvea_ring_kernel_best(&cpu), last);
    assert_null(uvea_ring_kernel_named("none such", &cpu));
}

static void test_public_pair(void **unused)
{
    (void)unused;
    struct uvea_template pair[2];
    if (!sample_load("known-distance.ndjson", pair, 2)) {
        skip();
    }
    assert_scores(&pair[0], &pair[1]);
    assert_scores(&pair[1], &pair[0]);
    // 1577 of 3278 differ when the second record is rotated left by 9.
    uint16_t sums[UVEA_SCORES_PER_RECORD];
    ring_sample_sums(&pair[1], &pair[0], sums);
    assert_int_equal((int16_t)sums[ring_sample_code_at(-9)], 3278 - 2 * 1577);
    assert_int_equal(sums[ring_sample_mask_at(-9)], 3278 / 2);
}

enum { FIXED_TESTS = 10, KERNELS_MAX = 8 };

int main(void)
{
    struct CMUnitTest tests[FIXED_TESTS + KERNELS_MAX] = {
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_self),
        cmocka_unit_test(test_opposite),
        cmocka_unit_test(test_no_overlap),
        cmocka_unit_test(test_unequal_mask_halves),
        cmocka_unit_test(test_rotation_of_the_query),
        cmocka_unit_test(test_mirrored_query),
        cmocka_unit_test(test_prepared_query),
        cmocka_unit_test(test_public_pair),
        cmocka_unit_test(test_registry),
    };
    size_t count = FIXED_TESTS;
    for (size_t i = 0; uvea_ring_kernels[i] != NULL && i < KERNELS_MAX; i++) {
        tests[count++] = (struct CMUnitTest){
            .name = uvea_ring_kernels[i]->name,
            .test_func = test_kernel,
            .initial_state = (void *)uvea_ring_kernels[i],
        };
    }
    return _cmocka_run_group_tests("kernel_ring", tests, count, NULL, NULL);
}
