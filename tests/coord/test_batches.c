// Agreements on batches among three parties: lag, storms of 409, hung answers, parties that are
// slow or have nothing, links that break on one side.
#include "tests/coord/fleet.h"

static void expect_one_life(struct fleet *fleet)
{
    fleet_run(fleet);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        fleet_expect_end(fleet, p, 0, UVEA_OK, "");
        assert_int_equal(fleet->parties[p].lives, 1);
        assert_int_equal(fleet->parties[p].batches, fleet->batches);
    }
}

static void agreements_are_prompt(void **state)
{
    struct fleet fleet;
    (void)state;
    fleet_init(&fleet, 1);
    fleet.batches = 100;
    expect_one_life(&fleet);
    // Links of half a millisecond: a few round trips and first pauses for each of 100 batches.
    assert_in_range(fleet.end_ns, 0, 5 * UVEA_SECOND);
}

// ---- parties of different speed

static uint64_t stalled_disk(unsigned party, uint64_t batch)
{
    static const uint64_t stalls_s[] = {0, 5, 30, 59};
    return party == batch % 3 ? stalls_s[batch % 4] * UVEA_SECOND : 0;
}

static void a_stalled_commit_is_waited_for(void **state)
{
    struct fleet fleet;
    (void)state;
    fleet_init(&fleet, 2);
    fleet.batches = 12;
    fleet.work_ns = stalled_disk;
    expect_one_life(&fleet);
}

static uint64_t uneven(unsigned party, uint64_t batch)
{
    return (party * 7919 + batch * 104729) % 400 * UVEA_MS;
}

static void a_fast_party_leaves_nobody_behind(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct fleet fleet;
        fleet_init(&fleet, seed);
        fleet.batches = 50;
        fleet.work_ns = uneven;
        fleet.sim_config.network.link.latency_ns = seed * 20 * UVEA_MS;
        fleet.sim_config.network.link.jitter_ns = seed * 5 * UVEA_MS;
        expect_one_life(&fleet);
    }
}

// ---- nothing to do

static uint32_t in_drops(unsigned party, uint64_t batch, unsigned asked)
{
    return asked < (party + batch) % 3 * 20 ? 0 : party + 1;
}

static void a_batch_waits_until_all_have_something(void **state)
{
    struct fleet fleet;
    (void)state;
    fleet_init(&fleet, 3);
    fleet.batches = 10;
    fleet.available = in_drops;
    expect_one_life(&fleet);
}

// ---- faults of HTTP

static struct uvea_sim_http_faults faults;

static void set_faults(struct fleet *fleet, struct uvea_sim *sim)
{
    (void)fleet;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_sim_http_faults_set(sim, p, &faults);
    }
}

static void batches_get_through_faults_of_http(void **state)
{
    static const struct uvea_sim_http_faults each[] = {
        {.status_409 = 200000, .run_max = 50},
        {.status_5xx = 300000},
        {.no_answer = 50000},
        {.lost_answer = 300000},
        {.reset = 300000},
        {.duplicate = 500000},
        {.truncated = 300000},
        {.empty = 300000},
        {.wrong_type = 300000},
        {.stale = 500000},
        {.slow = 100000},
        {.status_409 = 50000,
         .status_5xx = 50000,
         .no_answer = 10000,
         .lost_answer = 50000,
         .reset = 50000,
         .truncated = 50000,
         .empty = 50000,
         .wrong_type = 50000,
         .stale = 50000,
         .slow = 20000,
         .run_max = 20},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct fleet fleet;
            faults = each[i];
            faults.path_prefix = "/batch-sync";
            fleet_init(&fleet, seed);
            fleet.prepare = set_faults;
            fleet.batches = 20;
            expect_one_life(&fleet);
        }
    }
}

// ---- a time in which nothing works

static struct uvea_sim_http_faults outage;
static uint64_t outage_ns;

static void outage_task(void *arg)
{
    struct fleet *fleet = arg;
    struct uvea_rt *rt = uvea_sim_rt(fleet->sim, UVEA_PARTY_COUNT);
    (void)!uvea_rt_sleep_ns(rt, 500 * UVEA_MS);
    uvea_sim_http_faults_set(fleet->sim, 1, &outage);
    (void)!uvea_rt_sleep_ns(rt, outage_ns);
    outage = (struct uvea_sim_http_faults){0};
    uvea_sim_http_faults_set(fleet->sim, 1, &outage);
}

static void plan_outage(struct fleet *fleet, struct uvea_sim *sim)
{
    start(sim, UVEA_PARTY_COUNT, "outage", outage_task, fleet);
}

static uint64_t steady(unsigned party, uint64_t batch)
{
    (void)party;
    (void)batch;
    return 100 * UVEA_MS;
}

static void bad_seconds_are_survived(void **state)
{
    static const struct uvea_sim_http_faults kinds[] = {
        {.status_5xx = 1000000, .path_prefix = "/"},
        {.status_409 = 1000000, .path_prefix = "/", .run_max = 1},
        {.truncated = 1000000, .path_prefix = "/"},
        {.status_5xx = 1000000},
        {.status_409 = 1000000, .run_max = 1},
        {.no_answer = 1000000},
        {.reset = 1000000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        for (uint64_t seconds = 10; seconds <= 40; seconds += 15) {
            struct fleet fleet;
            outage = kinds[i];
            if (outage.path_prefix == NULL) {
                outage.path_prefix = "/batch-sync";
            }
            outage_ns = seconds * UVEA_SECOND;
            fleet_init(&fleet, i);
            fleet.prepare = plan_outage;
            fleet.batches = 20;
            fleet.work_ns = steady;
            expect_one_life(&fleet);
            assert_in_range(fleet.end_ns, outage_ns, outage_ns + 25 * UVEA_SECOND);
        }
    }
}

static void a_longer_silence_is_named(void **state)
{
    struct fleet fleet;
    (void)state;
    outage = (struct uvea_sim_http_faults){.no_answer = 1000000, .path_prefix = "/batch-sync"};
    outage_ns = 200 * UVEA_SECOND;
    fleet_init(&fleet, 1);
    fleet.prepare = plan_outage;
    fleet.batches = 20;
    fleet.work_ns = steady;
    fleet_run(&fleet);
    unsigned named = 0;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p += 2) {
        const char *text = fleet.parties[p].ended[0].context.text;
        named += strstr(text, "no usable answer for 60 s") != NULL &&
                 strstr(text, "of party 1: the deadline passed") != NULL;
    }
    assert_true(named >= 1);
}

// ---- heartbeats

static void a_dead_peer_stops_the_others(void **state)
{
    struct fleet fleet;
    (void)state;
    outage = (struct uvea_sim_http_faults){.reset = 1000000, .path_prefix = ""};
    outage_ns = 60 * UVEA_SECOND;
    fleet_init(&fleet, 1);
    fleet.prepare = plan_outage;
    fleet.batches = 1000;
    fleet.work_ns = steady;
    fleet_run(&fleet);
    unsigned named = 0;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p += 2) {
        assert_int_equal(fleet.parties[p].ended[0].error, UVEA_ERR_CLOSED);
        named +=
            strstr(fleet.parties[p].ended[0].context.text, "party 1 is gone: 3 heartbeats") != NULL;
    }
    assert_true(named >= 1);
    // What is left alone ends too, when it finds nobody.
    assert_int_not_equal(fleet.parties[1].ended[0].error, UVEA_OK);
}

static void a_peer_that_only_babbles_is_given_up(void **state)
{
    struct fleet fleet;
    (void)state;
    outage = (struct uvea_sim_http_faults){.truncated = 1000000, .path_prefix = "/health"};
    outage_ns = 200 * UVEA_SECOND;
    fleet_init(&fleet, 1);
    fleet.prepare = plan_outage;
    fleet.batches = 2000;
    fleet.work_ns = steady;
    fleet_run(&fleet);
    unsigned named = 0;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p += 2) {
        assert_int_equal(fleet.parties[p].ended[0].error, UVEA_ERR_CLOSED);
        named += strstr(fleet.parties[p].ended[0].context.text,
                        "party 1 is not well: no usable heartbeat for 60 s") != NULL;
    }
    assert_true(named >= 1);
}

static void break_one_link(struct fleet *fleet, struct uvea_sim *sim)
{
    const struct uvea_sim_fault stall = {.kind = UVEA_SIM_FAULT_STALL,
                                         .from = 0,
                                         .to = 1,
                                         .at_byte = UVEA_SIM_NO_BYTE,
                                         .at_ns = 2 * UVEA_SECOND,
                                         .for_ns = 300 * UVEA_SECOND};
    (void)fleet;
    assert_int_equal(uvea_sim_inject(sim, &stall), UVEA_OK);
}

static void one_broken_link_stops_all_three(void **state)
{
    struct fleet fleet;
    (void)state;
    fleet_init(&fleet, 1);
    fleet.prepare = break_one_link;
    fleet.batches = 1000;
    fleet.work_ns = steady;
    fleet_run(&fleet);
    unsigned named = 0;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_int_equal(fleet.parties[p].ended[0].error, UVEA_ERR_CLOSED);
        named += strstr(fleet.parties[p].ended[0].context.text, "3 heartbeats") != NULL;
    }
    assert_true(named >= 1);
    assert_in_range(fleet.end_ns, 2 * UVEA_SECOND, 120 * UVEA_SECOND);
}

static void a_run_can_be_repeated(void **state)
{
    uint64_t ends[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct fleet fleet;
        faults = (struct uvea_sim_http_faults){.status_409 = 200000, .stale = 100000, .run_max = 9};
        fleet_init(&fleet, 77);
        fleet.prepare = set_faults;
        fleet.batches = 30;
        fleet.lives_max = 20;
        fleet_run(&fleet);
        ends[i] = fleet.end_ns;
    }
    assert_int_equal(ends[0], ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agreements_are_prompt),
        cmocka_unit_test(a_stalled_commit_is_waited_for),
        cmocka_unit_test(a_fast_party_leaves_nobody_behind),
        cmocka_unit_test(a_batch_waits_until_all_have_something),
        cmocka_unit_test(batches_get_through_faults_of_http),
        cmocka_unit_test(bad_seconds_are_survived),
        cmocka_unit_test(a_longer_silence_is_named),
        cmocka_unit_test(a_dead_peer_stops_the_others),
        cmocka_unit_test(a_peer_that_only_babbles_is_given_up),
        cmocka_unit_test(one_broken_link_stops_all_three),
        cmocka_unit_test(a_run_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
