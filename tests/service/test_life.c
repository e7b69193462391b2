// How a party's life begins and ends: what keeps it from starting, orderly stops, limits of time.
#include "core/base/mem.h"
#include "tests/service/fleet.h"

#include <stdio.h>
#include <string.h>

enum { PEOPLE = 4 };

struct stage {
    struct fleet fleet;
    struct uvea_template_pair people[PEOPLE];
};

static int set_up(void **state)
{
    struct stage *stage = uvea_mem_alloc(1, sizeof(*stage));
    struct uvea_chacha rng;

    assert_non_null(stage);
    fleet_open(&stage->fleet, 31);
    uvea_chacha_init_seeded(&rng, 12);
    for (int i = 0; i < PEOPLE; i++) {
        fixture_pair(&rng, &stage->people[i]);
    }
    *state = stage;
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;

    fleet_close(&stage->fleet);
    uvea_mem_free(stage);
    return 0;
}

static uint64_t post_uniqueness(struct fleet *fleet, const struct uvea_template_pair *pair)
{
    struct uvea_message message = {
        .kind = UVEA_MESSAGE_UNIQUENESS,
        .id = "signup",
        .s3_key = fleet_share(fleet, pair, 0, 0),
    };

    return fleet_post(fleet, &message);
}

static void rest(struct fleet *fleet, uint64_t ns)
{
    assert_int_equal(uvea_rt_sleep_ns(fleet->rt, ns), UVEA_OK);
}

// ---- what keeps a party from starting

static void assert_refused(struct uvea_node_config *config, const char *says)
{
    struct uvea_error_context context = {{0}};
    struct uvea_node *node;

    assert_int_equal(uvea_node_open(NULL, config, NULL, &node, &context), UVEA_ERR_USAGE);
    if (strncmp(context.text, says, strlen(says)) != 0) {
        fail_msg("%s", context.text);
    }
}

#define REFUSED(change, says)                                                                      \
    do {                                                                                           \
        struct uvea_node_config config = stage->fleet.member[1].config;                            \
        config.change;                                                                             \
        assert_refused(&config, says);                                                             \
    } while (0)

static void impossible_configurations_are_named(void **state)
{
    const struct stage *stage = *state;

    REFUSED(party.index = 3, "party is 3");
    REFUSED(party.index = 2, "party 2 was given the mesh of party 1");
    REFUSED(environment = NULL, "environment is missing");
    REFUSED(image_name = NULL, "image_name is missing");
    REFUSED(http_address = NULL, "http_address is missing");
    REFUSED(peer_http_addresses[0] = NULL, "peer_http_addresses is missing");
    REFUSED(mesh.session_count = 0, "mesh.session_count is 0");
    REFUSED(mesh.session_count = 12, "mesh.session_count is 12");
    REFUSED(search.kernel = NULL, "search.kernel is missing");
    REFUSED(search.chunk_records_max = 0, "search.chunk_records_max is 0");
    REFUSED(batch_requests_max = 0, "batch_requests_max is 0");
    REFUSED(batch_requests_max = 65, "batch_requests_max is 65");
    REFUSED(records_max = 0, "records_max is 0");
    REFUSED(modifications_lookback = 0, "modifications_lookback is 0");
    REFUSED(modifications_lookback = 4097, "modifications_lookback is 4097");
    REFUSED(cold_cache_records = SIZE_MAX, "cold_cache_records is ");
    REFUSED(processing_ns_max = 0, "processing_ns_max is 0");
    REFUSED(ingest_ns = 0, "ingest_ns is 0");
    REFUSED(ingest_backoff_ns_min = 6 * UVEA_SECOND, "ingest_backoff_ns_min is ");
}

static void wait_a_while(struct fleet *fleet)
{
    rest(fleet, 400 * UVEA_SECOND);
}

static void assert_all_failed(const struct fleet *fleet, enum uvea_error error, const char *says)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct fleet_member *member = &fleet->member[i];
        if (member->error != error || strstr(member->context.text, says) == NULL) {
            fail_msg("party %d: %s: %s", i, uvea_error_name(member->error), member->context.text);
        }
    }
}

static void parties_that_are_configured_differently_do_not_start(void **state)
{
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;

    fleet->no_restart = true;
    fleet->member[2].config.policy.luc_lookback_records = 7;
    fleet_run(fleet, wait_a_while, NULL);
    assert_all_failed(fleet, UVEA_ERR_STATE, "luc_lookback_records");
}

static void databases_that_differ_do_not_start(void **state)
{
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;

    fleet->no_restart = true;
    fleet_seed(fleet, stage->people, 2);
    fleet->seed_only = 1u << 1;
    fleet_seed(fleet, &stage->people[2], 1);
    fleet_run(fleet, wait_a_while, NULL);
    assert_all_failed(fleet, UVEA_ERR_STATE, "record");
}

static void a_database_that_is_too_large_is_refused(void **state)
{
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;

    fleet->no_restart = true;
    fleet_seed(fleet, stage->people, 3);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        fleet->member[i].config.records_max = 2;
    }
    fleet_run(fleet, wait_a_while, NULL);
    assert_all_failed(fleet, UVEA_ERR_LIMIT, "3 records, at most 2");
}

static void enrol_until_full(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;

    fleet_expect(fleet, post_uniqueness(fleet, &stage->people[1]), "{\"serial_id\":2}");
    fleet->no_restart = true;
    (void)post_uniqueness(fleet, &stage->people[2]);
    rest(fleet, 20 * UVEA_SECOND);
}

static void a_full_database_stops_all_three_by_name(void **state)
{
    static const uint16_t versions[] = {0, 0};
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;

    fleet_seed(fleet, stage->people, 1);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        fleet->member[i].config.records_max = 2;
    }
    fleet_run(fleet, enrol_until_full, stage);
    assert_all_failed(fleet, UVEA_ERR_LIMIT, "the database holds 2 at most");
    fleet_assert_records(fleet, versions, 2);
}

// ---- stops

static void stop_one(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;

    fleet_expect(fleet, post_uniqueness(fleet, &stage->people[0]), "{\"serial_id\":1}");
    fleet->no_restart = true;
    uvea_node_stop(fleet->member[1].node, "enough");
    rest(fleet, 60 * UVEA_SECOND);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_null(fleet->member[i].node);
    }
}

static void when_one_party_is_asked_to_stop_all_leave_in_good_order(void **state)
{
    struct stage *stage = *state;

    fleet_run(&stage->fleet, stop_one, stage);
    fleet_assert_orderly(&stage->fleet);
}

// The stop comes while the batch is in work; it is finished and published all the same.
static void stop_within_a_batch(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;

    fleet->stop_when_processed = true;
    (void)post_uniqueness(fleet, &stage->people[0]);
    fleet->no_restart = true;
    rest(fleet, 60 * UVEA_SECOND);
}

static void a_batch_in_work_is_finished(void **state)
{
    static const uint16_t versions[] = {0};
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;

    fleet_run(fleet, stop_within_a_batch, stage);
    fleet_assert_orderly(fleet);
    fleet_assert_records(fleet, versions, 1);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(fleet->member[i].published, 1);
    }
}

static void stop_before_the_start(struct fleet *fleet)
{
    rest(fleet, 20 * UVEA_MS); // parties are about to meet
    fleet->no_restart = true;
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_non_null(fleet->member[i].node);
        uvea_node_stop(fleet->member[i].node, "never mind");
    }
}

static void a_party_may_be_stopped_while_it_starts(void **state)
{
    struct stage *stage = *state;

    stage->fleet.member[2].config.mesh.start_jitter_ns_max = 50 * UVEA_SECOND;
    fleet_run(&stage->fleet, stop_before_the_start, stage);
    fleet_assert_orderly(&stage->fleet);
}

// ---- limits of time

static void search_for_ever(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;

    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_sim_process_slow(fleet->sim, i, 1000 * 1000); // 0.2 s for each comparison
    }
    fleet->no_restart = true;
    (void)post_uniqueness(fleet, &stage->people[0]);
    rest(fleet, 60 * UVEA_SECOND);
}

static void a_batch_that_takes_too_long_ends_all_three(void **state)
{
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;
    unsigned named = 0;

    fleet_seed(fleet, stage->people, 4);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        fleet->member[i].config.processing_ns_max = 500 * UVEA_MS;
    }
    fleet_run(fleet, search_for_ever, stage);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct fleet_member *member = &fleet->member[i];
        assert_int_not_equal(member->error, UVEA_OK);
        assert_int_equal(member->committed, 0);
        named += member->error == UVEA_ERR_TIMEOUT &&
                 strcmp(member->context.text, "a batch takes too long") == 0;
    }
    assert_true(named > 0); // whose connections broke first cannot know
}

// A party that stands still for longer than heartbeats allow is left, and comes back.
static void pause_one(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;

    fleet_expect(fleet, post_uniqueness(fleet, &stage->people[0]), "{\"serial_id\":1}");
    uvea_sim_process_pause(fleet->sim, 2, 40 * UVEA_SECOND);
    fleet_expect(fleet, post_uniqueness(fleet, &stage->people[0]), "{\"is_match\":true}");
    fleet_expect(fleet, post_uniqueness(fleet, &stage->people[1]), "{\"serial_id\":2}");
}

static void a_party_that_stands_still_is_waited_for_or_left(void **state)
{
    static const uint16_t versions[] = {0, 0};
    struct stage *stage = *state;

    fleet_run(&stage->fleet, pause_one, stage);
    fleet_assert_orderly(&stage->fleet);
    fleet_assert_records(&stage->fleet, versions, 2);
}

// ---- HTTP at its worst

static void bad_http(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;
    const struct uvea_sim_http_faults faults = {
        .status_409 = 20000,
        .status_5xx = 20000,
        .lost_answer = 20000,
        .reset = 20000,
        .duplicate = 20000,
        .truncated = 20000,
        .empty = 20000,
        .wrong_type = 20000,
        .stale = 20000,
        .run_max = 3,
    };

    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_sim_http_faults coordination = faults;
        coordination.path_prefix = "/batch-sync";
        uvea_sim_http_faults_set(fleet->sim, i, &coordination);
    }
    for (int i = 0; i < PEOPLE; i++) {
        char want[32];
        (void)snprintf(want, sizeof(want), "{\"serial_id\":%d}", i + 1);
        fleet_expect(fleet, post_uniqueness(fleet, &stage->people[i]), want);
    }
}

static void agreements_survive_bad_http(void **state)
{
    struct stage *stage = *state;

    fleet_run(&stage->fleet, bad_http, stage);
    fleet_assert_orderly(&stage->fleet);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(stage->fleet.member[i].starts, 1);
    }
}

#define STAGE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(impossible_configurations_are_named),
        STAGE_TEST(parties_that_are_configured_differently_do_not_start),
        STAGE_TEST(databases_that_differ_do_not_start),
        STAGE_TEST(a_database_that_is_too_large_is_refused),
        STAGE_TEST(a_full_database_stops_all_three_by_name),
        STAGE_TEST(when_one_party_is_asked_to_stop_all_leave_in_good_order),
        STAGE_TEST(a_batch_in_work_is_finished),
        STAGE_TEST(a_party_may_be_stopped_while_it_starts),
        STAGE_TEST(a_batch_that_takes_too_long_ends_all_three),
        STAGE_TEST(a_party_that_stands_still_is_waited_for_or_left),
        STAGE_TEST(agreements_survive_bad_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
