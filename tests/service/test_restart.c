// Parties that die at every named point of their life and come back: nothing is lost, nothing is
// done twice, and the three stay alike.
#include "tests/service/story.h"

// ---- one death

static void die_at(enum uvea_point point, unsigned party, uint64_t nth)
{
    struct story *story = story_open(100 + point * 3 + party);

    print_message("  %s, party %u\n", uvea_point_text(point), party);
    fleet_plan_death(&story->fleet, party, point, nth);
    story_tell(story);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(story->fleet.member[i].crashes, i == party ? 1 : 0);
        assert_true(i != party || story->fleet.member[i].starts > 1);
    }
    story_close(story);
}

static bool is_spectral(enum uvea_point point)
{
    return point == UVEA_POINT_SPECTRAL_STORED || point == UVEA_POINT_SPECTRAL_CONVERTED;
}

static bool is_at_the_topic(enum uvea_point point)
{
    return point == UVEA_POINT_REQUEST_SEQUENCED;
}

// Parties take turns; drawn faults meet the other pairs of point and party.
static void any_party_may_die_at_any_point(void **state)
{
    (void)state;
    for (int i = 0; i < UVEA_POINT_COUNT; i++) {
        const enum uvea_point point = (enum uvea_point)i;
        const unsigned turn = (unsigned)(i + i / UVEA_PARTY_COUNT) % UVEA_PARTY_COUNT;
        if (!is_spectral(point)) {
            die_at(point, is_at_the_topic(point) ? 0 : turn, 1);
        }
    }
}

// ---- deaths between a row of spectra and its record

static struct story *open_ntt_story(uint64_t seed)
{
    struct story *story = story_open(seed);

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        story->fleet.member[i].config.search.path = UVEA_SEARCH_NTT;
    }
    return story;
}

// The rows stored by requests 1 to 7 that change a record: 1, 2, 4, 5, 6, 7.
static void rows_without_their_record_are_put_right(void **state)
{
    (void)state;
    for (uint64_t row = 1; row <= 6; row += 2) {
        struct story *story = open_ntt_story(3000 + row);
        const unsigned party = row % UVEA_PARTY_COUNT;
        print_message("  row %u, party %u\n", (unsigned)row, party);
        fleet_plan_death(&story->fleet, party, UVEA_POINT_SPECTRAL_STORED, row);
        story_tell(story);
        assert_int_equal(story->fleet.member[party].crashes, 1);
        story_close(story);
    }
}

// The row of an update stands without its record, so the start converts, and is cut short as well.
static void a_conversion_may_be_cut_short(void **state)
{
    (void)state;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct story *story = open_ntt_story(3100 + party);
        print_message("  party %u\n", party);
        fleet_plan_death(&story->fleet, party, UVEA_POINT_SPECTRAL_STORED, 3);
        fleet_plan_death(&story->fleet, party, UVEA_POINT_SPECTRAL_CONVERTED, 1);
        story_tell(story);
        assert_int_equal(story->fleet.member[party].crashes, 2);
        story_close(story);
    }
}

static void whole_rows_are_not_made_again(void **state)
{
    struct story *story = open_ntt_story(3200);

    (void)state;
    fleet_plan_death(&story->fleet, 1, UVEA_POINT_PUBLISHED, 6);
    story_tell(story);
    assert_int_equal(story->fleet.member[1].crashes, 1);
    assert_int_equal(uvea_sim_point_count(story->fleet.sim, UVEA_POINT_SPECTRAL_CONVERTED), 0);
    story_close(story);
}

// ---- deaths in a commit: one party has the batch and another has not

static void die_in_commit(unsigned parties, uint64_t request, uint64_t write)
{
    struct story *story = story_open(1000 + request * 8 + parties);

    print_message("  request %u, write %u, parties %u\n", (unsigned)request, (unsigned)write,
                  parties);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if ((parties >> i & 1) != 0) {
            fleet_plan_death_in_commit(&story->fleet, i, request, write);
        }
    }
    story_tell(story);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(story->fleet.member[i].crashes, parties >> i & 1);
    }
    story_close(story);
}

static void who_dies_in_a_commit_is_rolled_forward(void **state)
{
    (void)state;
    for (uint64_t request = 1; request <= 8; request++) {
        const unsigned one = 1u << request % UVEA_PARTY_COUNT;
        if (request % 2 == 1) {
            die_in_commit(one, request, 1);
        } else {
            die_in_commit(7 ^ one, request, 2);
        }
    }
}

static void what_no_party_has_committed_is_done_again(void **state)
{
    (void)state;
    for (uint64_t request = 1; request <= 8; request += 2) {
        die_in_commit(7, request, 1);
    }
}

// ---- a batch of several, of which one party or none has committed

static uint64_t post(struct fleet *fleet, enum uvea_message_kind kind, uint32_t serial,
                     const struct uvea_template_pair *pair)
{
    struct uvea_message message = {
        .kind = kind,
        .id = "request",
        .serial_id = serial,
        .s3_key = pair == NULL ? NULL : fleet_share(fleet, pair, 0, 0),
    };

    return fleet_post(fleet, &message);
}

static void post_a_batch(struct fleet *fleet)
{
    const struct story *story = fleet->arg;
    const struct uvea_template_pair *people = story->people;
    uint64_t at[6];

    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[0]), "{\"serial_id\":1}");
    fleet_hold_topic(fleet, true);
    at[0] = post(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[0]); // alone: its count stands
    at[1] = post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[1]);
    at[2] = post(fleet, UVEA_MESSAGE_RESET_UPDATE, 1, &people[2]);
    at[3] = post(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[1]);
    at[4] = post(fleet, UVEA_MESSAGE_IDENTITY_DELETION, 9, NULL);
    at[5] = post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[1]);
    fleet_hold_topic(fleet, false);
    fleet_expect(fleet, at[0], "{\"matched_serial_ids\":[1]}");
    fleet_expect(fleet, at[1], "{\"serial_id\":2}");
    fleet_expect(fleet, at[2], "{\"serial_id\":1,\"error\":null}");
    fleet_expect(fleet, at[4], "{\"error_reason\":\"unknown serial_id\"}");
    fleet_expect(fleet, at[3], "{\"error\":null}"); // what it matches depends on the batch
    fleet_expect(fleet, at[5], "{\"is_match\":true,\"serial_id\":null}");
}

static void a_batch_of_several_happens_wholly_or_not_at_all(void **state)
{
    static const uint16_t versions[] = {1, 0};

    (void)state;
    for (unsigned parties = 1; parties <= 7; parties++) {
        struct story *story = story_open(4000 + parties);
        struct fleet *fleet = &story->fleet;
        print_message("  parties %u\n", parties);
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            fleet->member[i].config.batch_requests_max = 16;
            if ((parties >> i & 1) != 0) {
                fleet_plan_death_in_commit(fleet, i, 3, 1);
            }
        }
        fleet_run(fleet, post_a_batch, story);
        fleet_assert_orderly(fleet);
        fleet_assert_records(fleet, versions, 2);
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_int_equal(fleet->member[i].crashes, parties >> i & 1);
            assert_in_range(fleet->member[i].batch_entries_max, 3, 6);
        }
        story_close(story);
    }
}

static void who_is_rolled_forward_may_die_again_meanwhile(void **state)
{
    static const enum uvea_point points[] = {
        UVEA_POINT_SYNC_EXCHANGED,   UVEA_POINT_ROLLED_FORWARD, UVEA_POINT_REPLAYED,
        UVEA_POINT_INGEST_RECOVERED, UVEA_POINT_LOADED,         UVEA_POINT_READY,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        struct story *story = story_open(2000 + i);
        struct fleet *fleet = &story->fleet;
        print_message("  %s\n", uvea_point_text(points[i]));
        fleet_plan_death_in_commit(fleet, 1, 4, 1);
        fleet_plan_death(fleet, 1, UVEA_POINT_COUNT, 0);
        fleet_plan_death(fleet, 1, points[i], 1);
        fleet_plan_death(fleet, 1, points[i], 1);
        story_tell(story);
        assert_int_equal(fleet->member[1].crashes, 3);
        story_close(story);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_party_may_die_at_any_point),
        cmocka_unit_test(rows_without_their_record_are_put_right),
        cmocka_unit_test(a_conversion_may_be_cut_short),
        cmocka_unit_test(whole_rows_are_not_made_again),
        cmocka_unit_test(who_dies_in_a_commit_is_rolled_forward),
        cmocka_unit_test(what_no_party_has_committed_is_done_again),
        cmocka_unit_test(a_batch_of_several_happens_wholly_or_not_at_all),
        cmocka_unit_test(who_is_rolled_forward_may_die_again_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
