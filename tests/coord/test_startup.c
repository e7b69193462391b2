// Three parties that start in any order, are started anew at any point, or do not belong together.
#include "tests/coord/fleet.h"

static void expect_all_well(struct fleet *fleet)
{
    fleet_run(fleet);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        fleet_expect_end(fleet, p, fleet->parties[p].lives - 1, UVEA_OK, "");
    }
}

static void any_order_of_starts_will_do(void **state)
{
    static const uint64_t delays_s[] = {0, 1, 30, 120};
    (void)state;
    for (unsigned combination = 0; combination < 64; combination++) {
        struct fleet fleet;
        uint64_t latest = 0;
        fleet_init(&fleet, 1 + combination);
        for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
            fleet.delay_ns[p] = delays_s[combination >> 2 * p & 3] * UVEA_SECOND;
            latest = fleet.delay_ns[p] > latest ? fleet.delay_ns[p] : latest;
        }
        expect_all_well(&fleet);
        assert_in_range(fleet.end_ns, latest, latest + 5 * UVEA_SECOND);
    }
}

static void a_peer_that_never_comes_is_named(void **state)
{
    struct fleet fleet;
    (void)state;
    fleet_init(&fleet, 7);
    fleet.delay_ns[1] = 400 * UVEA_SECOND;
    fleet_run(&fleet);
    fleet_expect_end(&fleet, 0, 0, UVEA_ERR_TIMEOUT, "hearing from both peers: not so after 300 s");
    fleet_expect_end(&fleet, 0, 0, UVEA_ERR_TIMEOUT, "party 1");
    fleet_expect_end(&fleet, 2, 0, UVEA_ERR_TIMEOUT, "party 1");
    fleet_expect_end(&fleet, 1, 0, UVEA_ERR_TIMEOUT, "hearing from both peers");
}

// Whoever is started anew, and whenever: in the end all three run together, and whoever had to be
// started anew for that says why.
static void a_restart_in_any_phase_is_survived(void **state)
{
    (void)state;
    for (unsigned phase = FLEET_OPENED; phase < FLEET_PHASES; phase++) {
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            for (uint64_t seed = 1; seed <= 8; seed++) {
                struct fleet fleet;
                fleet_init(&fleet, seed);
                fleet.cut_party = party;
                fleet.cut_phase = (enum fleet_phase)phase;
                fleet.lives_max = 10;
                fleet.delay_ns[seed % 3] = seed * 300 * UVEA_MS;
                expect_all_well(&fleet);
                assert_true(fleet.parties[party].lives >= 2);
                fleet_expect_end(&fleet, party, 0, UVEA_ERR_IO, "cut short");
                assert_in_range(fleet.end_ns, 0, 60 * UVEA_SECOND);
                if (phase < FLEET_SEEN) {
                    // Nothing was agreed with it yet: the others just meet it again.
                    assert_int_equal(fleet.parties[(party + 1) % 3].lives, 1);
                    assert_int_equal(fleet.parties[(party + 2) % 3].lives, 1);
                }
            }
        }
    }
}

static void a_peer_started_anew_is_named(void **state)
{
    struct fleet fleet;
    (void)state;
    fleet_init(&fleet, 1);
    fleet.cut_party = 2;
    fleet.cut_phase = FLEET_ENTRIES_AGREED;
    fleet.lives_max = 5;
    fleet.batches = 20;
    expect_all_well(&fleet);
    for (unsigned p = 0; p < 2; p++) {
        const char *text = fleet.parties[p].ended[0].context.text;
        assert_true(strstr(text, "party 2 was started anew") != NULL ||
                    strstr(text, "is shutting down") != NULL);
    }
}

static void differing_configurations_stop_all_three(void **state)
{
    struct fleet fleet;
    (void)state;
    fleet_init(&fleet, 1);
    fleet.config[0] = fleet.config[2] = "{\"max_batch_size\":1,\"luc_enabled\":true}";
    fleet.config[1] = "{\"max_batch_size\":2,\"luc_enabled\":true}";
    fleet_run(&fleet);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        fleet_expect_end(&fleet, p, 0, UVEA_ERR_STATE,
                         "configurations differ in max_batch_size: party 0 has 1, party 1 has 2");
    }
}

static void an_emptied_database_stops_all_three(void **state)
{
    struct fleet fleet;
    (void)state;
    fleet_init(&fleet, 1);
    fleet.db_len[0] = fleet.db_len[1] = 1000;
    fleet_run(&fleet);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        fleet_expect_end(&fleet, p, 0, UVEA_ERR_STATE, "party 2 0");
    }
}

// ---- faults of HTTP while they start

static struct uvea_sim_http_faults faults;

static void set_faults(struct fleet *fleet, struct uvea_sim *sim)
{
    (void)fleet;
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_sim_http_faults_set(sim, p, &faults);
    }
}

static void start_up_gets_through_faults_of_http(void **state)
{
    static const struct uvea_sim_http_faults each[] = {
        {.status_409 = 200000, .run_max = 20},
        {.status_5xx = 300000},
        {.no_answer = 100000},
        {.lost_answer = 300000},
        {.reset = 300000},
        {.duplicate = 300000},
        {.truncated = 300000},
        {.empty = 300000},
        {.wrong_type = 300000},
        {.stale = 300000},
        {.slow = 300000},
        {.status_409 = 50000,
         .status_5xx = 50000,
         .no_answer = 20000,
         .lost_answer = 50000,
         .reset = 50000,
         .truncated = 50000,
         .empty = 50000,
         .wrong_type = 50000,
         .stale = 50000,
         .slow = 50000,
         .run_max = 10},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct fleet fleet;
            faults = each[i];
            fleet_init(&fleet, seed);
            fleet.prepare = set_faults;
            fleet.lives_max = 50; // heartbeats that get no answer may end a life
            expect_all_well(&fleet);
            if (each[i].no_answer == 0 && each[i].slow == 0 && each[i].reset == 0 &&
                each[i].lost_answer == 0 && each[i].stale == 0) {
                assert_int_equal(fleet.parties[0].lives, 1);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_of_starts_will_do),
        cmocka_unit_test(a_peer_that_never_comes_is_named),
        cmocka_unit_test(a_restart_in_any_phase_is_survived),
        cmocka_unit_test(a_peer_started_anew_is_named),
        cmocka_unit_test(differing_configurations_stop_all_three),
        cmocka_unit_test(an_emptied_database_stops_all_three),
        cmocka_unit_test(start_up_gets_through_faults_of_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
