// The planted faults of this module must show in the results, or the alarm tests prove nothing.
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "tests/scan/cluster.h"
#include "tests/scan/fixture.h"
#include "tests/support/cmocka.h"

enum { RECORDS = 3 };

struct pool {
    struct uvea_template_pair records[RECORDS];
    struct uvea_resident resident[UVEA_PARTY_COUNT];
    struct uvea_cold *cold[UVEA_PARTY_COUNT];
    struct uvea_iris_upload upload[UVEA_PARTY_COUNT];
    struct uvea_scan_query query[UVEA_PARTY_COUNT];
    struct uvea_search_job jobs[UVEA_PARTY_COUNT];
    struct uvea_search_result results[UVEA_PARTY_COUNT];
};

// Searches for the second record among three.
static void search_second(struct pool *pool)
{
    const struct uvea_search_config config = {
        .kernel = &uvea_ring_kernel_portable,
        .chunk_records_max = RECORDS,
    };
    struct uvea_chacha rng;
    struct cluster cluster;

    cluster_open(&cluster, 8, 0, UVEA_PRF_AES128);
    uvea_chacha_init_seeded(&rng, 5);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(uvea_resident_init(&pool->resident[i], RECORDS), UVEA_OK);
        pool->cold[i] = fixture_cold(&cluster.rt[i].rt);
    }
    for (int r = 0; r < RECORDS; r++) {
        fixture_pair(&rng, &pool->records[r]);
        fixture_split(&rng, &pool->records[r], pool->upload);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            fixture_insert(&pool->resident[i], pool->cold[i], UVEA_EYE_LEFT, &pool->upload[i]);
        }
    }
    fixture_split(&rng, &pool->records[1], pool->upload);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(
            uvea_scan_query_prepare(uvea_party_at(i), &pool->upload[i], false, &pool->query[i]),
            UVEA_OK);
        pool->jobs[i] =
            (struct uvea_search_job){.query = &pool->query[i], .target = UVEA_SEARCH_NO_TARGET};
    }
    cluster_search(&cluster, &(struct cluster_search){.config = &config,
                                                      .databases = pool->resident,
                                                      .colds = pool->cold,
                                                      .jobs = pool->jobs,
                                                      .results = pool->results});
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_cold_close(pool->cold[i]);
    }
    cluster_close(&cluster);
}

static void assert_found(enum uvea_plant plant, size_t count, uint32_t first)
{
    struct pool *pool = uvea_mem_alloc(1, sizeof(*pool));

    assert_non_null(pool);
    uvea_plant_set(plant);
    search_second(pool);
    uvea_plant_set(UVEA_PLANT_NONE);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_eye_result *left =
            &pool->results[i].eye[UVEA_ORIENTATION_NORMAL][UVEA_EYE_LEFT];
        assert_int_equal(left->candidate_count, count);
        if (count > 0) {
            assert_int_equal(left->candidates[0].index, first);
        }
        uvea_search_result_deinit(&pool->results[i]);
        uvea_resident_deinit(&pool->resident[i]);
    }
    uvea_mem_free(pool);
}

static void no_fault_finds_the_record(void **state)
{
    (void)state;
    assert_found(UVEA_PLANT_NONE, 1, 1);
}

static void swapped_eyes_lose_the_record(void **state)
{
    (void)state;
    assert_found(UVEA_PLANT_SWAP_EYES, 0, 0);
}

// A first record that was never scored has C = M = 0, which passes.
static void stale_buffer_finds_the_first_record_too(void **state)
{
    (void)state;
    assert_found(UVEA_PLANT_STALE_BUFFER, 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_fault_finds_the_record),
        cmocka_unit_test(swapped_eyes_lose_the_record),
        cmocka_unit_test(stale_buffer_finds_the_first_record_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
