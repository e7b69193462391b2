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

static void test_stale_buffer(void **unused)
{
    (void)unused;
    enum { RECORDS = 2 };
    struct uvea_ring_query *query = uvea_mem_alloc(1, sizeof(*query));
    uint16_t *record = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*record));
    assert_non_null(query);
    assert_non_null(record);
    struct sample_rng rng = {2};
    ring_sample_fill(&rng, query->code, RING_SAMPLE_CODE);
    ring_sample_fill(&rng, query->mask, RING_SAMPLE_MASK);
    ring_sample_fill(&rng, record, UVEA_RECORD_COEFFICIENTS);
    const uint16_t *records[RECORDS] = {record, record};
    uint16_t scores[3][RECORDS * UVEA_SCORES_PER_RECORD];
    memset(scores, 0xA5, sizeof(scores));
    uvea_plant_set(UVEA_PLANT_STALE_BUFFER);
    for (size_t call = 0; call < 3; call++) {
        uvea_ring_kernel_portable.scores(query, records, RECORDS, scores[call]);
    }
    uvea_plant_set(UVEA_PLANT_NONE);
    const size_t one = sizeof(scores[0]) / RECORDS;
    assert_memory_equal(scores[0], scores[0] + UVEA_SCORES_PER_RECORD, one);
    for (size_t call = 1; call < 3; call++) {
        for (size_t i = 0; i < UVEA_SCORES_PER_RECORD; i++) {
            assert_int_equal(scores[call][i], 0xA5A5);
        }
        assert_memory_equal(scores[call] + UVEA_SCORES_PER_RECORD, scores[0], one);
    }
    uvea_mem_free(record);
    uvea_mem_free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotate_wrong_way),
        cmocka_unit_test(test_stale_buffer),
    };
    return cmocka_run_group_tests_name("kernel_alarm", tests, NULL, NULL);
}
