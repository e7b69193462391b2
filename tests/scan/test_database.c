// Searches over a database in which the other eye comes from everywhere and records change.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/scan/search.h"
#include "tests/scan/world.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum {
    RECORDS = 24,
    FIRST_ID = 3,
    UNCOMMITTED = 8, // every such record is in the overlay only
    RECENT = 3,      // newest records in the window only
};

static const struct uvea_search_config ring_config = {
    .full_scan_eye = UVEA_EYE_LEFT,
    .form = UVEA_PREDICATE_DENSE,
    .kernel = &uvea_ring_kernel_portable,
    .chunk_records_max = 5,
};

static const struct uvea_search_config ntt_config = {
    .full_scan_eye = UVEA_EYE_RIGHT,
    .path = UVEA_SEARCH_NTT,
    .form = UVEA_PREDICATE_TWO_TERM,
    .field_form = UVEA_FIELD_PREDICATE_FULL,
    .kernel = &uvea_ring_kernel_portable,
    .spectral_kernel = &uvea_spectral_kernel_portable,
    .chunk_records_max = 7,
};

static void make_jobs(struct world *world, const uint32_t *known, size_t known_count,
                      uint32_t target, struct uvea_search_job jobs[UVEA_PARTY_COUNT])
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        jobs[i] = (struct uvea_search_job){
            .query = &world->prepared[i],
            .spectral_query = &world->spectral_query[i],
            .mirror = true,
            .known = known,
            .known_count = known_count,
            .target = target,
        };
    }
}

// Searches the databases as they are loaded.
static void search_and_compare(struct cluster *cluster, struct world *world,
                               const struct uvea_search_config *config, const uint32_t *known,
                               size_t known_count, uint32_t target)
{
    struct uvea_search_job jobs[UVEA_PARTY_COUNT];
    struct uvea_search_result results[UVEA_PARTY_COUNT];
    struct fixture_result want;

    make_jobs(world, known, known_count, target, jobs);
    world_search(world, cluster, config, jobs, results);
    fixture_search(world->records, world->count, &world->query, config->full_scan_eye, true, known,
                   known_count, target, &want);
    fixture_assert_equal(&want, results);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_search_result_deinit(&results[i]);
    }
    fixture_result_deinit(&want);
}

// ---- where the other eye comes from

static void forget_in_store(struct world *world, size_t index)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        world->store[i].version[index] = UINT16_MAX;
    }
}

// Puts some records where the store cannot be asked for them.
static void spread(struct world *world, size_t window)
{
    for (size_t index = 0; index < RECORDS; index++) {
        const bool recent = window > 0 && index + RECENT >= RECORDS;
        const bool uncommitted = index % UNCOMMITTED == 0;
        for (int i = 0; i < UVEA_PARTY_COUNT && (recent || uncommitted); i++) {
            const struct world_store *store = &world->store[i];
            assert_int_equal(uvea_cold_put(world->cold[i], (uint32_t)index + 1, 0,
                                           store->eye[store->cold][index]),
                             UVEA_OK);
            if (!uncommitted) {
                uvea_cold_acknowledge(world->cold[i], (uint32_t)index + 1, 0);
            }
        }
        if (recent || uncommitted) {
            forget_in_store(world, index);
        }
    }
}

// Every eye that is read is right, or the search would not agree with the plaintext; and an eye
// that the store lacks is read from elsewhere, or the search would fail.
static void sources_and_sizes_do_not_change_results(void **state)
{
    static const size_t caches[] = {0, 1, 5, UVEA_COLD_CACHE_RECORDS};
    static const size_t windows[] = {0, RECENT, 501};
    static const uint32_t known[] = {0, 3, 9, 10, RECORDS - 2, RECORDS - 1};
    struct world *world = world_related(RECORDS);
    struct cluster cluster;

    (void)state;
    cluster_open(&cluster, 16, FIRST_ID, UVEA_PRF_AES128);
    for (size_t c = 0; c < UVEA_COUNT_OF(caches); c++) {
        for (size_t w = 0; w < UVEA_COUNT_OF(windows); w++) {
            const struct uvea_cold_config config = {.cache_records = caches[c],
                                                    .window_records = windows[w]};
            for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
                memset(world->store[i].version, 0, sizeof(world->store[i].version));
            }
            world_load(world, &cluster, ring_config.full_scan_eye, &config);
            spread(world, windows[w]);
            for (uint32_t n = 0; n < 3; n++) {
                search_and_compare(&cluster, world, &ring_config, known + n,
                                   UVEA_COUNT_OF(known) - n, 11 + n);
            }
            for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
                const struct uvea_cold_stats stats = uvea_cold_stats(world->cold[i]);
                assert_true(stats.overlay > 0);
                assert_int_equal(stats.window > 0, windows[w] > 0);
                assert_true(stats.prefetched > 0);
                // What a small cache holds depends on which task comes first.
                assert_true(caches[c] == 0 ? stats.cached == 0
                                           : caches[c] < RECORDS || stats.cached > 0);
                assert_true(stats.stored > 0);
            }
        }
    }
    cluster_close(&cluster);
    world_free(world);
}

// Parties may have caches of different sizes.
static void parties_need_not_have_equal_caches(void **state)
{
    struct world *world = world_related(RECORDS);
    struct uvea_cold *small;
    struct cluster cluster;

    (void)state;
    cluster_open(&cluster, 8, FIRST_ID, UVEA_PRF_AES128);
    world_load(world, &cluster, ring_config.full_scan_eye,
               &(struct uvea_cold_config){.cache_records = 2});
    small = world->cold[0];
    world->cold[0] = NULL;
    uvea_cold_close(small);
    world->cold[0] = fixture_cold(&cluster.rt[0].rt);
    for (uint32_t index = 0; index < RECORDS; index++) {
        const struct world_store *store = &world->store[0];
        assert_int_equal(
            uvea_cold_put(world->cold[0], index + 1, 0, store->eye[store->cold][index]), UVEA_OK);
    }
    for (int n = 0; n < 3; n++) {
        search_and_compare(&cluster, world, &ring_config, NULL, 0, UVEA_SEARCH_NO_TARGET);
    }
    cluster_close(&cluster);
    world_free(world);
}

static void an_eye_that_cannot_be_read_fails_the_search(void **state)
{
    static const uint32_t known[] = {0, 14};
    struct world *world = world_related(RECORDS);
    struct uvea_search_job jobs[UVEA_PARTY_COUNT];
    struct uvea_search_result results[UVEA_PARTY_COUNT];
    struct cluster_outcome outcomes[UVEA_PARTY_COUNT];
    struct cluster cluster;
    const struct cluster_search search = {
        .config = &ring_config,
        .databases = world->resident,
        .colds = world->cold,
        .jobs = jobs,
        .results = results,
    };

    (void)state;
    cluster_open(&cluster, 8, FIRST_ID, UVEA_PRF_AES128);
    world_load(world, &cluster, ring_config.full_scan_eye, NULL);
    make_jobs(world, known, 2, UVEA_SEARCH_NO_TARGET, jobs);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        world->store[i].fails_at = 15;
    }
    cluster_try_search(&cluster, &search, outcomes);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(outcomes[i].error, UVEA_ERR_IO);
        assert_non_null(strstr(outcomes[i].context.text, "record 15 at version 0"));
        assert_non_null(strstr(outcomes[i].context.text, "the store is gone"));
        assert_null(results[i].eye[UVEA_ORIENTATION_NORMAL][UVEA_EYE_LEFT].candidates);
        assert_int_equal(results[i].comparisons, 0);
    }
    cluster_close(&cluster);
    world_free(world);
}

// ---- changes

static size_t full_matches(struct cluster *cluster, struct world *world,
                           const struct uvea_search_config *config, uint32_t index)
{
    struct uvea_search_job jobs[UVEA_PARTY_COUNT];
    struct uvea_search_result results[UVEA_PARTY_COUNT];
    size_t matches = 0;

    make_jobs(world, NULL, 0, UVEA_SEARCH_NO_TARGET, jobs);
    world_search(world, cluster, config, jobs, results);
    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        const struct uvea_eye_result *got = &results[0].eye[UVEA_ORIENTATION_NORMAL][eye];
        for (size_t i = 0; i < got->candidate_count; i++) {
            matches += got->candidates[i].index == index && got->candidates[i].strict != 0;
        }
    }
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_search_result_deinit(&results[i]);
    }
    return matches;
}

static void set_query(struct world *world, struct cluster *cluster, struct uvea_chacha *rng,
                      const struct uvea_search_config *config,
                      const struct uvea_template_pair *pair)
{
    world->query = *pair;
    world_share_query(world, rng);
    if (config->path == UVEA_SEARCH_NTT) {
        world_convert_query(world, cluster, config);
    }
}

// After each change the old pair no longer matches, the new one does, and the whole search agrees
// with the plaintext.
static void changes_change_what_matches(const struct uvea_search_config *config)
{
    static const size_t changed[] = {0, RECORDS - 1, 9, 9};
    const struct uvea_cold_config cold = {.cache_records = 3, .window_records = 4};
    struct world *world = world_related(RECORDS);
    struct uvea_template_pair empty = {0};
    struct uvea_chacha rng;
    struct cluster cluster;

    uvea_chacha_init_seeded(&rng, 99);
    cluster_open(&cluster, 8, FIRST_ID, UVEA_PRF_AES128);
    world_load(world, &cluster, config->full_scan_eye, &cold);
    if (config->path == UVEA_SEARCH_NTT) {
        world_convert(world, &cluster, config);
    }
    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        memset(empty.eye[eye].mask, 0xff, sizeof(empty.eye[eye].mask));
    }
    for (size_t n = 0; n < UVEA_COUNT_OF(changed); n++) {
        const uint32_t at = (uint32_t)changed[n];
        const struct uvea_template_pair before = world->records[at];
        set_query(world, &cluster, &rng, config, &before);
        assert_int_equal(full_matches(&cluster, world, config, at), 2);
        fixture_pair(&rng, &world->records[at]);
        world_update(world, &cluster, &rng, at, config);
        assert_int_equal(full_matches(&cluster, world, config, at), 0);
        search_and_compare(&cluster, world, config, &at, 1, at);
        set_query(world, &cluster, &rng, config, &world->records[at]);
        assert_int_equal(full_matches(&cluster, world, config, at), 2);
        world_delete(world, at, config);
        assert_int_equal(full_matches(&cluster, world, config, at), 0);
        search_and_compare(&cluster, world, config, &at, 1, at);
        // A deleted identity stays scannable: this is what it looks like.
        set_query(world, &cluster, &rng, config, &empty);
        assert_int_equal(full_matches(&cluster, world, config, at), 2);
        search_and_compare(&cluster, world, config, NULL, 0, UVEA_SEARCH_NO_TARGET);
    }
    cluster_close(&cluster);
    world_free(world);
}

static void changes_change_what_matches_on_the_ring_path(void **state)
{
    (void)state;
    changes_change_what_matches(&ring_config);
}

static void changes_change_what_matches_on_the_ntt_path(void **state)
{
    (void)state;
    changes_change_what_matches(&ntt_config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_and_sizes_do_not_change_results),
        cmocka_unit_test(parties_need_not_have_equal_caches),
        cmocka_unit_test(an_eye_that_cannot_be_read_fails_the_search),
        cmocka_unit_test(changes_change_what_matches_on_the_ring_path),
        cmocka_unit_test(changes_change_what_matches_on_the_ntt_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
