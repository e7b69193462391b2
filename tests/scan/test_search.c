#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/scan/search.h"
#include "tests/scan/cluster.h"
#include "tests/scan/fixture.h"
#include "tests/scan/world.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum {
    SMALL_CHUNK = 4, // many chunks and lanes from few records
    FIRST_ID = 5,    // session ids rotate roles: begin off zero
};

// ---- running

static void search_and_compare(struct cluster *cluster, struct world *world,
                               const struct uvea_search_config *config, bool mirror,
                               const uint32_t *known, size_t known_count, uint32_t target)
{
    struct uvea_search_job jobs[UVEA_PARTY_COUNT];
    struct uvea_search_result results[UVEA_PARTY_COUNT];
    struct fixture_result want;

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        jobs[i] = (struct uvea_search_job){
            .query = &world->prepared[i],
            .mirror = mirror,
            .known = known,
            .known_count = known_count,
            .target = target,
        };
        cluster->rt[i].scores = 0;
    }
    world_load(world, cluster, config->full_scan_eye, NULL);
    world_search(world, cluster, config, jobs, results);
    fixture_search(world->records, world->count, &world->query, config->full_scan_eye, mirror,
                   known, known_count, target, &want);
    fixture_assert_equal(&want, results);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(cluster->rt[i].scores, results[i].comparisons);
        uvea_search_result_deinit(&results[i]);
    }
    fixture_result_deinit(&want);
}

static struct uvea_search_config config_of(unsigned form, unsigned eye, size_t chunk)
{
    return (struct uvea_search_config){
        .full_scan_eye = eye == 0 ? UVEA_EYE_LEFT : UVEA_EYE_RIGHT,
        .form = form == 0 ? UVEA_PREDICATE_DENSE : UVEA_PREDICATE_TWO_TERM,
        .kernel = &uvea_ring_kernel_portable,
        .chunk_records_max = chunk,
    };
}

// Each size with both forms, both full-scan eyes and with and without mirror, over sessions that
// stay in use from one search to the next.
static void agrees_with_plaintext(size_t session_count)
{
    static const size_t sizes[] = {1, 130, 0, 33, 2, 5, 3};
    struct cluster cluster;

    cluster_open(&cluster, session_count, FIRST_ID, UVEA_PRF_AES128);
    for (size_t s = 0; s < UVEA_COUNT_OF(sizes); s++) {
        struct world *world = world_related(sizes[s]);
        // Each bit of the variant once set and once not is enough for the largest.
        for (unsigned variant = 0; variant < 4; variant += sizes[s] == WORLD_RECORDS_MAX ? 3 : 1) {
            const struct uvea_search_config config =
                config_of(variant % 2, variant / 2, SMALL_CHUNK);
            search_and_compare(&cluster, world, &config, variant != 1, NULL, 0,
                               UVEA_SEARCH_NO_TARGET);
        }
        world_free(world);
    }
    cluster_close(&cluster);
}

static void agrees_with_plaintext_on_8_sessions(void **state)
{
    (void)state;
    agrees_with_plaintext(8);
}

static void agrees_with_plaintext_on_24_sessions(void **state)
{
    (void)state;
    agrees_with_plaintext(24);
}

static void agrees_with_the_other_generator(void **state)
{
    const struct uvea_search_config config = config_of(0, 0, SMALL_CHUNK);
    struct world *world = world_related(13);
    struct cluster cluster;

    (void)state;
    cluster_open(&cluster, 8, UINT32_MAX - 8, UVEA_PRF_CHACHA8);
    search_and_compare(&cluster, world, &config, true, NULL, 0, UVEA_SEARCH_NO_TARGET);
    cluster_close(&cluster);
    world_free(world);
}

// Known candidates are looked at on the second eye whatever the first one says, and a list that is
// cut differently finds the same.
static void known_candidates_and_chunk_sizes_agree_with_plaintext(void **state)
{
    static const uint32_t known[] = {0, 1, 7, 8, 13, 15};
    static const size_t chunks[] = {1, 3, 15, 16, 17, UVEA_SEARCH_CHUNK_RECORDS};
    struct world *world = world_related(16);
    struct cluster cluster;

    (void)state;
    cluster_open(&cluster, 16, FIRST_ID, UVEA_PRF_AES128);
    for (size_t c = 0; c < UVEA_COUNT_OF(chunks); c++) {
        const struct uvea_search_config config = config_of(c % 2, c / 2 % 2, chunks[c]);
        search_and_compare(&cluster, world, &config, true, known, c, UVEA_SEARCH_NO_TARGET);
        search_and_compare(&cluster, world, &config, c % 2 == 0, known + c, 6 - c,
                           UVEA_SEARCH_NO_TARGET);
    }
    cluster_close(&cluster);
    world_free(world);
}

// First, middle and last record, among known candidates or not, found on eye S or not; never when
// seen in a mirror.
static void a_target_is_looked_at_in_the_normal_orientation(void **state)
{
    static const uint32_t known[] = {0, 1, 15};
    static const uint32_t targets[] = {0, 1, 5, 7, 14, 15, UVEA_SEARCH_NO_TARGET};
    struct world *world = world_related(16);
    struct cluster cluster;

    (void)state;
    cluster_open(&cluster, 8, FIRST_ID, UVEA_PRF_AES128);
    for (size_t t = 0; t < UVEA_COUNT_OF(targets); t++) {
        const struct uvea_search_config config = config_of(t % 2, t / 2 % 2, SMALL_CHUNK);
        search_and_compare(&cluster, world, &config, true, known, t % 4, targets[t]);
    }
    cluster_close(&cluster);
    world_free(world);
}

// More than fit into one piece of the other eye, in chunks of one piece and of several.
static void the_other_eye_is_read_in_pieces(void **state)
{
    static const size_t chunks[] = {31, 32, 33, 65, UVEA_SEARCH_CHUNK_RECORDS};
    struct world *world = world_related(WORLD_RECORDS_MAX);
    uint32_t known[WORLD_RECORDS_MAX];
    struct cluster cluster;

    (void)state;
    for (uint32_t i = 0; i < WORLD_RECORDS_MAX; i++) {
        known[i] = i;
    }
    cluster_open(&cluster, 16, FIRST_ID, UVEA_PRF_AES128);
    for (size_t c = 0; c < UVEA_COUNT_OF(chunks); c++) {
        const struct uvea_search_config config = config_of(c % 2, c / 2 % 2, chunks[c]);
        search_and_compare(&cluster, world, &config, false, known, WORLD_RECORDS_MAX - c,
                           UVEA_SEARCH_NO_TARGET);
    }
    cluster_close(&cluster);
    world_free(world);
}

// The only match is the last bit of the last word, also when the comparisons fill their words
// exactly (64 and 128 records).
static void finds_a_sole_match_in_the_last_lane(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 33, 64, 65, 128};
    struct cluster cluster;

    (void)state;
    cluster_open(&cluster, 8, FIRST_ID, UVEA_PRF_AES128);
    for (size_t s = 0; s < UVEA_COUNT_OF(sizes); s++) {
        struct world *world = world_alloc();
        struct uvea_search_result results[UVEA_PARTY_COUNT];
        struct uvea_search_job jobs[UVEA_PARTY_COUNT];
        struct uvea_chacha rng;
        const struct uvea_search_config config =
            config_of(s % 2, s / 2 % 2, UVEA_SEARCH_CHUNK_RECORDS);
        uvea_chacha_init_seeded(&rng, 2000 + s);
        world->count = sizes[s];
        for (size_t i = 0; i < world->count; i++) {
            fixture_pair(&rng, &world->records[i]);
        }
        world->query = world->records[world->count - 1];
        world_rotate_eye(&world->query, UVEA_EYE_LEFT, -UVEA_ROTATION_MAX);
        world_rotate_eye(&world->query, UVEA_EYE_RIGHT, -UVEA_ROTATION_MAX);
        world_share(world, &rng);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            jobs[i] = (struct uvea_search_job){.query = &world->prepared[i],
                                               .target = UVEA_SEARCH_NO_TARGET};
        }
        world_load(world, &cluster, config.full_scan_eye, NULL);
        world_search(world, &cluster, &config, jobs, results);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
                const struct uvea_eye_result *got = &results[i].eye[UVEA_ORIENTATION_NORMAL][eye];
                assert_int_equal(got->candidate_count, 1);
                assert_int_equal(got->candidates[0].index, sizes[s] - 1);
                assert_int_equal(got->candidates[0].anonymous, UINT32_C(1) << 30);
                assert_int_equal(got->candidates[0].strict, UINT32_C(1) << 30);
            }
            uvea_search_result_deinit(&results[i]);
        }
        world_free(world);
    }
    cluster_close(&cluster);
}

// ---- sessions

static void positions_split_eyes_and_quarters(void **state)
{
    bool used[24] = {0};

    (void)state;
    assert_int_equal(uvea_search_session_position(8, UVEA_EYE_LEFT, 0, 0), 0);
    assert_int_equal(uvea_search_session_position(8, UVEA_EYE_RIGHT, 3, 0), 7);
    assert_int_equal(uvea_search_session_position(24, UVEA_EYE_LEFT, 1, 0), 6);
    assert_int_equal(uvea_search_session_position(24, UVEA_EYE_RIGHT, 1, 2), 11);
    for (unsigned quarter = 0; quarter < 4; quarter++) {
        for (size_t lane = 0; lane < 3; lane++) {
            for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
                const size_t at =
                    uvea_search_session_position(24, (enum uvea_eye)eye, quarter, lane);
                assert_in_range(at, 0, 23);
                assert_false(used[at]);
                used[at] = true;
            }
        }
    }
}

static uint64_t messages_at(const struct cluster *cluster, enum uvea_eye eye, unsigned quarter,
                            size_t lane)
{
    return cluster->at[0][uvea_search_session_position(24, eye, quarter, lane)]->traffic.messages;
}

// Nine chunks on three lanes of the quarter that the list belongs to, and nothing anywhere else.
static uint64_t ring_messages(unsigned quarter, size_t lane)
{
    (void)lane;
    return quarter < 2 ? 3 * 19 : 0; // wire.md 6.14: 19 messages a chunk
}

// Nine chunks on the six lanes of both orientations' quarters, each for both orientations.
static uint64_t ntt_messages(unsigned quarter, size_t lane)
{
    const uint64_t chunks = 2 * lane + quarter < 9 % 6 ? 2 : 1;

    return quarter < 2 ? 20 * chunks : 0; // refresh, split, 17 layers, opening
}

static void run_nine_chunks(const struct uvea_search_config *config,
                            uint64_t (*messages)(unsigned quarter, size_t lane))
{
    struct world *world = world_alloc();
    struct uvea_search_job jobs[UVEA_PARTY_COUNT];
    struct uvea_search_result results[UVEA_PARTY_COUNT];
    struct uvea_chacha rng;
    struct cluster cluster;

    uvea_chacha_init_seeded(&rng, 3000);
    world->count = 9 * SMALL_CHUNK - 3;
    for (size_t i = 0; i < world->count; i++) {
        fixture_pair(&rng, &world->records[i]);
    }
    fixture_pair(&rng, &world->query);
    world_share(world, &rng);
    cluster_open(&cluster, 24, FIRST_ID, UVEA_PRF_AES128);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        jobs[i] = (struct uvea_search_job){.query = &world->prepared[i],
                                           .spectral_query = &world->spectral_query[i],
                                           .mirror = true,
                                           .target = UVEA_SEARCH_NO_TARGET};
    }
    world_load(world, &cluster, config->full_scan_eye, NULL);
    if (config->path == UVEA_SEARCH_NTT) {
        world_convert(world, &cluster, config);
        world_convert_query(world, &cluster, config);
    }
    for (size_t k = 0; k < cluster.session_count; k++) {
        cluster.at[0][k]->traffic = (struct uvea_traffic){0};
    }
    world_search(world, &cluster, config, jobs, results);
    for (size_t lane = 0; lane < 3; lane++) {
        for (unsigned quarter = 0; quarter < 4; quarter++) {
            assert_int_equal(messages_at(&cluster, UVEA_EYE_LEFT, quarter, lane), 0);
            assert_int_equal(messages_at(&cluster, UVEA_EYE_RIGHT, quarter, lane),
                             messages(quarter, lane));
        }
    }
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_stages *stages = &cluster.rt[i].stages;
        assert_true(stages->ns[UVEA_STAGE_SCORE] > 0);
        assert_true(stages->ns[UVEA_STAGE_PREDICATE] > 0);
        assert_int_equal(stages->ns[UVEA_STAGE_OTHER_EYE], 0); // nobody got that far
        assert_int_equal(stages->ns[UVEA_STAGE_EARLIER], 0);
        assert_int_equal(results[i].comparisons, 2 * world->count);
        uvea_search_result_deinit(&results[i]);
    }
    cluster_close(&cluster);
    world_free(world);
}

static void chunks_go_round_the_lanes_of_their_quarter(void **state)
{
    const struct uvea_search_config config = config_of(0, 1, SMALL_CHUNK);

    (void)state;
    run_nine_chunks(&config, ring_messages);
}

static void chunks_of_spectra_go_round_the_lanes_of_both_quarters(void **state)
{
    const struct uvea_search_config config = {
        .full_scan_eye = UVEA_EYE_RIGHT,
        .path = UVEA_SEARCH_NTT,
        .field_form = UVEA_FIELD_PREDICATE_FULL,
        .kernel = &uvea_ring_kernel_portable,
        .spectral_kernel = &uvea_spectral_kernel_portable,
        .chunk_records_max = SMALL_CHUNK,
    };

    (void)state;
    run_nine_chunks(&config, ntt_messages);
}

// ---- refusals

struct refusal {
    size_t sessions;
    size_t chunk;
    uint32_t known[3];
    uint32_t target; // plus one
    size_t known_count;
    const char *says;
    size_t earlier;
    bool no_cold;
};

static const struct refusal refusals[] = {
    {0, 4, {0}, 0, 0, "0 sessions", 0, false},
    {4, 4, {0}, 0, 0, "4 sessions", 0, false},
    {12, 4, {0}, 0, 0, "12 sessions", 0, false},
    {8, 0, {0}, 0, 0, "chunks of 0", 0, false},
    {8, 4097, {0}, 0, 0, "chunks of 4097", 0, false},
    {8, 4, {5}, 0, 1, "entry 0", 0, false},
    {8, 4, {1, 0}, 0, 2, "entry 1", 0, false},
    {8, 4, {0, 1, 1}, 0, 3, "entry 2", 0, false},
    {8, 4, {0}, 6, 0, "target 5 of 5", 0, false},
    {8, 4, {0}, 0, 0, "1025 earlier", UVEA_SEARCH_EARLIER_MAX + 1, false},
    {8, 4, {0}, 0, 0, "other eye", 0, true},
};

static void impossible_calls_are_refused_before_any_message(void **state)
{
    struct world *world = world_related(5);
    struct cluster cluster;

    (void)state;
    cluster_open(&cluster, 16, FIRST_ID, UVEA_PRF_AES128);
    world_load(world, &cluster, UVEA_EYE_LEFT, NULL);
    for (size_t i = 0; i < UVEA_COUNT_OF(refusals); i++) {
        const struct refusal *one = &refusals[i];
        const struct uvea_search_config config = config_of(0, 0, one->chunk);
        const struct uvea_search search = {
            .rt = &cluster.rt[0].rt,
            .config = &config,
            .resident = &world->resident[0],
            .cold = one->no_cold ? NULL : world->cold[0],
            .sessions = cluster.at[0],
            .session_count = one->sessions,
        };
        const struct uvea_search_job job = {
            .query = &world->prepared[0],
            .known = one->known,
            .known_count = one->known_count,
            .target = one->target - 1,
            .earlier_count = one->earlier,
        };
        struct uvea_search_result result;
        struct uvea_error_context context = {"old"};
        memset(&result, 0xff, sizeof(result));
        assert_int_equal(uvea_search_run(&search, &job, &result, &context), UVEA_ERR_USAGE);
        assert_non_null(strstr(context.text, one->says));
        assert_null(result.eye[0][0].candidates);
        assert_int_equal(result.comparisons, 0);
        for (size_t k = 0; k < 16; k++) {
            assert_int_equal(cluster.at[0][k]->traffic.messages, 0);
        }
    }
    cluster_close(&cluster);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_split_eyes_and_quarters),
        cmocka_unit_test(impossible_calls_are_refused_before_any_message),
        cmocka_unit_test(chunks_go_round_the_lanes_of_their_quarter),
        cmocka_unit_test(chunks_of_spectra_go_round_the_lanes_of_both_quarters),
        cmocka_unit_test(a_target_is_looked_at_in_the_normal_orientation),
        cmocka_unit_test(the_other_eye_is_read_in_pieces),
        cmocka_unit_test(finds_a_sole_match_in_the_last_lane),
        cmocka_unit_test(known_candidates_and_chunk_sizes_agree_with_plaintext),
        cmocka_unit_test(agrees_with_the_other_generator),
        cmocka_unit_test(agrees_with_plaintext_on_8_sessions),
        cmocka_unit_test(agrees_with_plaintext_on_24_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
