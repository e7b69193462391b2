// Parties that die at every named point of their life and come back: nothing is lost, nothing is
// done twice, and the three stay alike.
#include "core/base/mem.h"
#include "tests/service/fleet.h"

#include <stdio.h>

enum { PEOPLE = 6 };

struct stage {
    struct fleet fleet;
    struct uvea_template_pair people[PEOPLE];
};

static struct stage *open_stage(uint64_t seed)
{
    struct stage *stage = uvea_mem_alloc(1, sizeof(*stage));
    struct uvea_chacha rng;

    assert_non_null(stage);
    fleet_open(&stage->fleet, seed);
    uvea_chacha_init_seeded(&rng, 12);
    for (int i = 0; i < PEOPLE; i++) {
        fixture_pair(&rng, &stage->people[i]);
    }
    return stage;
}

static void close_stage(struct stage *stage)
{
    fleet_close(&stage->fleet);
    uvea_mem_free(stage);
}

// ---- the story that is told whatever happens

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

static void story(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;
    const struct uvea_template_pair *people = stage->people;

    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[0]),
                 "{\"is_match\":false,\"serial_id\":1}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[1]),
                 "{\"is_match\":false,\"serial_id\":2}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[1]),
                 "{\"is_match\":true,\"matched_serial_ids\":[2]}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_RESET_UPDATE, 1, &people[2]),
                 "{\"serial_id\":1,\"error\":null}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_REAUTH, 1, &people[2]),
                 "{\"success\":true,\"serial_id\":1}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_IDENTITY_DELETION, 2, NULL), "{\"success\":true}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_UNIQUENESS, 0, &people[1]),
                 "{\"is_match\":false,\"serial_id\":3}");
    fleet_expect(fleet, post(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[2]),
                 "{\"matched_serial_ids\":[1]}");
}

static void tell(struct stage *stage)
{
    static const uint16_t versions[] = {2, 1, 0};
    struct fleet *fleet = &stage->fleet;

    fleet_run(fleet, story, stage);
    fleet_assert_orderly(fleet);
    fleet_assert_records(fleet, versions, 3);
}

// ---- one death

static void die_at(enum uvea_point point, unsigned party, uint64_t nth)
{
    struct stage *stage = open_stage(100 + point * 3 + party);

    print_message("  %s, party %u\n", uvea_point_text(point), party);
    fleet_plan_death(&stage->fleet, party, point, nth);
    tell(stage);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(stage->fleet.member[i].crashes, i == party ? 1 : 0);
        assert_true(i != party || stage->fleet.member[i].starts > 1);
    }
    close_stage(stage);
}

static bool is_spectral(enum uvea_point point)
{
    return point == UVEA_POINT_SPECTRAL_STORED || point == UVEA_POINT_SPECTRAL_CONVERTED;
}

static bool is_at_the_topic(enum uvea_point point)
{
    return point == UVEA_POINT_REQUEST_SEQUENCED;
}

static void any_party_may_die_at_any_point(void **state)
{
    (void)state;
    for (int i = 0; i < UVEA_POINT_COUNT; i++) {
        const enum uvea_point point = (enum uvea_point)i;
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            if (!is_spectral(point) && (party == 0 || !is_at_the_topic(point))) {
                die_at(point, party, 1);
            }
        }
    }
}

// ---- deaths between a row of spectra and its record

static struct stage *open_ntt_stage(uint64_t seed)
{
    struct stage *stage = open_stage(seed);

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        stage->fleet.member[i].config.search.path = UVEA_SEARCH_NTT;
    }
    return stage;
}

// The rows stored by requests 1 to 7 that change a record: 1, 2, 4, 5, 6, 7.
static void rows_without_their_record_are_put_right(void **state)
{
    (void)state;
    for (uint64_t row = 1; row <= 6; row++) {
        struct stage *stage = open_ntt_stage(3000 + row);
        const unsigned party = row % UVEA_PARTY_COUNT;
        print_message("  row %u, party %u\n", (unsigned)row, party);
        fleet_plan_death(&stage->fleet, party, UVEA_POINT_SPECTRAL_STORED, row);
        tell(stage);
        assert_int_equal(stage->fleet.member[party].crashes, 1);
        close_stage(stage);
    }
}

// The row of an update stands without its record, so the start converts, and is cut short as well.
static void a_conversion_may_be_cut_short(void **state)
{
    (void)state;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct stage *stage = open_ntt_stage(3100 + party);
        print_message("  party %u\n", party);
        fleet_plan_death(&stage->fleet, party, UVEA_POINT_SPECTRAL_STORED, 3);
        fleet_plan_death(&stage->fleet, party, UVEA_POINT_SPECTRAL_CONVERTED, 1);
        tell(stage);
        assert_int_equal(stage->fleet.member[party].crashes, 2);
        close_stage(stage);
    }
}

static void whole_rows_are_not_made_again(void **state)
{
    struct stage *stage = open_ntt_stage(3200);

    (void)state;
    fleet_plan_death(&stage->fleet, 1, UVEA_POINT_PUBLISHED, 6);
    tell(stage);
    assert_int_equal(stage->fleet.member[1].crashes, 1);
    assert_int_equal(uvea_sim_point_count(stage->fleet.sim, UVEA_POINT_SPECTRAL_CONVERTED), 0);
    close_stage(stage);
}

// ---- deaths in a commit: one party has the batch and another has not

static void die_in_commit(unsigned parties, uint64_t request, uint64_t write)
{
    struct stage *stage = open_stage(1000 + request * 8 + parties);

    print_message("  request %u, write %u, parties %u\n", (unsigned)request, (unsigned)write,
                  parties);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if ((parties >> i & 1) != 0) {
            fleet_plan_death_in_commit(&stage->fleet, i, request, write);
        }
    }
    tell(stage);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(stage->fleet.member[i].crashes, parties >> i & 1);
    }
    close_stage(stage);
}

static void who_dies_in_a_commit_is_rolled_forward(void **state)
{
    (void)state;
    for (uint64_t request = 1; request <= 8; request++) {
        die_in_commit(1u << request % UVEA_PARTY_COUNT, request, 1);
        die_in_commit(7 ^ 1u << request % UVEA_PARTY_COUNT, request, 2);
    }
}

static void what_no_party_has_committed_is_done_again(void **state)
{
    (void)state;
    for (uint64_t request = 1; request <= 8; request++) {
        die_in_commit(7, request, 1);
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
        struct stage *stage = open_stage(2000 + i);
        struct fleet *fleet = &stage->fleet;
        print_message("  %s\n", uvea_point_text(points[i]));
        fleet_plan_death_in_commit(fleet, 1, 4, 1);
        fleet_plan_death(fleet, 1, UVEA_POINT_COUNT, 0);
        fleet_plan_death(fleet, 1, points[i], 1);
        fleet_plan_death(fleet, 1, points[i], 1);
        tell(stage);
        assert_int_equal(fleet->member[1].crashes, 3);
        close_stage(stage);
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
        cmocka_unit_test(who_is_rolled_forward_may_die_again_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
