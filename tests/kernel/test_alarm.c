// The planted faults of the kernel must change its scores.
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "tests/kernel/ring_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_rotate_wrong_way(void **unused)
{
    (void)unused;
    struct sample_rng rng = {1};
    struct uvea_template query;
    struct uvea_template record;
    uint16_t good[UVEA_SCORES_PER_RECORD];
    uint16_t bad[UVEA_SCORES_PER_RECORD];
    sample_template(&rng, &query);
    sample_template(&rng, &record);
    ring_sample_sums(&query, &record, good);
    uvea_plant_set(UVEA_PLANT_ROTATE_WRONG_WAY);
    ring_sample_sums(&query, &record, bad);
    uvea_plant_set(UVEA_PLANT_NONE);
    for (size_t i = 0; i < UVEA_ROTATION_COUNT; i++) {
        assert_int_equal(bad[2 * i], good[2 * (30 - i)]);
        assert_int_equal(bad[2 * i + 1], good[2 * (30 - i) + 1]);
    }
    assert_memory_not_equal(bad, good, sizeof(bad));
}

static void assert_wrong_way(const struct uvea_ring_kernel *kernel,
                             const struct uvea_ring_query *query, const uint16_t *record)
{
    const uint16_t *records[1] = {record};
    uint16_t good[UVEA_SCORES_PER_RECORD];
    uint16_t bad[UVEA_SCORES_PER_RECORD];
    kernel->scores(query, records, 1, good);
    uvea_plant_set(UVEA_PLANT_ROTATE_WRONG_WAY);
    kernel->scores(query, records, 1, bad);
    uvea_plant_set(UVEA_PLANT_NONE);
    for (size_t i = 0; i < UVEA_SCORES_PER_RECORD; i++) {
        assert_int_equal(bad[i], good[2 * (30 - i / 2) + i % 2]);
    }
    assert_memory_not_equal(bad, good, sizeof(bad));
}

static void test_every_kernel(void **unused)
{
    (void)unused;
    const struct uvea_cpu cpu = uvea_cpu_detect();
    struct uvea_ring_query *query = uvea_mem_alloc(1, sizeof(*query));
    uint16_t *record = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*record));
    assert_non_null(query);
    assert_non_null(record);
    struct sample_rng rng = {2};
    ring_sample_fill(&rng, query->code, RING_SAMPLE_CODE);
    ring_sample_fill(&rng, query->mask, RING_SAMPLE_MASK);
    ring_sample_fill(&rng, record, UVEA_RECORD_COEFFICIENTS);
    for (size_t i = 0; uvea_ring_kernels[i] != NULL; i++) {
        if (uvea_ring_kernels[i]->supported(&cpu)) {
            assert_wrong_way(uvea_ring_kernels[i], query, record);
        }
    }
    uvea_mem_free(record);
    uvea_mem_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotate_wrong_way),
        cmocka_unit_test(test_every_kernel),
    };
    return cmocka_run_group_tests_name("kernel_alarm", tests, NULL, NULL);
}
