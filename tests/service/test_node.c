// Whole parties, three of them, over simulated network and HTTP, with databases that outlive them.
#include "core/base/mem.h"
#include "tests/service/fleet.h"

#include <stdio.h>
#include <string.h>

enum { PEOPLE = 12 };

struct stage {
    struct fleet fleet;
    struct uvea_template_pair people[PEOPLE];
};

static int set_up(void **state)
{
    struct stage *stage = uvea_mem_alloc(1, sizeof(*stage));
    struct uvea_chacha rng;

    assert_non_null(stage);
    fleet_open(&stage->fleet, 11);
    uvea_chacha_init_seeded(&rng, 12);
    for (int i = 0; i < PEOPLE; i++) {
        fixture_pair(&rng, &stage->people[i]);
    }
    stage->fleet.arg = stage;
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

// ---- requests

static uint64_t post_uniqueness(struct fleet *fleet, const struct uvea_template_pair *pair,
                                bool mirror, bool skip)
{
    struct uvea_message message = {
        .kind = UVEA_MESSAGE_UNIQUENESS,
        .id = "signup",
        .s3_key = fleet_share(fleet, pair, 0, 0),
        .has_mirror_flag = mirror,
        .mirror_flag = mirror,
        .skip_persistence = skip,
    };

    return fleet_post(fleet, &message);
}

static uint64_t post_named(struct fleet *fleet, enum uvea_message_kind kind, uint32_t serial,
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

// One of each kind, and what comes of it, one after the other.
static void every_kind(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;
    const struct uvea_template_pair *people = stage->people;
    struct uvea_template_pair mirrored;

    fleet_expect(fleet, post_uniqueness(fleet, &people[0], false, false),
                 "{\"is_match\":false,\"serial_id\":1,\"matched_serial_ids\":null,\"error\":null}");
    fleet_expect(fleet, post_uniqueness(fleet, &people[1], true, false),
                 "{\"is_match\":false,\"serial_id\":2}");
    fleet_expect(fleet, post_uniqueness(fleet, &people[0], false, false),
                 "{\"is_match\":true,\"serial_id\":null,\"matched_serial_ids\":[1],"
                 "\"matched_serial_ids_left\":[1],\"matched_serial_ids_right\":[1]}");
    fleet_expect(fleet, post_uniqueness(fleet, &people[2], false, true),
                 "{\"is_match\":false,\"serial_id\":null,\"matched_serial_ids\":[]}");
    fixture_mirror_pair(&people[1], &mirrored);
    fleet_expect(fleet, post_uniqueness(fleet, &mirrored, true, false),
                 "{\"is_match\":true,\"full_face_mirror_attack_detected\":true,"
                 "\"full_face_mirror_matched_serial_ids\":[2]}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_REAUTH, 1, &people[0]),
                 "{\"success\":true,\"serial_id\":1,\"matched_serial_ids\":[1]}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_REAUTH, 1, &people[3]),
                 "{\"success\":false,\"matched_serial_ids\":[]}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[1]),
                 "{\"matched_serial_ids\":[2]}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_RECOVERY_CHECK, 0, &people[4]),
                 "{\"matched_serial_ids\":[]}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_RESET_UPDATE, 1, &people[5]),
                 "{\"serial_id\":1,\"error\":null}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_RECOVERY_UPDATE, 2, &people[6]),
                 "{\"serial_id\":2,\"error\":null}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[0]),
                 "{\"matched_serial_ids\":[]}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[6]),
                 "{\"matched_serial_ids\":[2]}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_IDENTITY_DELETION, 1, NULL),
                 "{\"serial_id\":1,\"success\":true}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_IDENTITY_DELETION, 1, NULL),
                 "{\"serial_id\":1,\"success\":true}");
    fleet_expect(fleet, post_uniqueness(fleet, &people[5], false, false),
                 "{\"is_match\":false,\"serial_id\":3}");
}

static const uint16_t every_kind_versions[] = {4, 1, 0};

static void serves_every_kind_of_request(void **state)
{
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;

    fleet_run(fleet, every_kind, stage);
    fleet_assert_orderly(fleet);
    fleet_assert_records(fleet, every_kind_versions, 3);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(fleet->member[i].starts, 1);
        assert_int_equal(fleet->member[i].processed, 16);
        assert_int_equal(fleet->member[i].committed, 16);
        assert_int_equal(fleet->member[i].published, 16);
    }
}

static void the_ntt_path_serves_the_same(void **state)
{
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_search_config *search = &fleet->member[i].config.search;
        search->path = UVEA_SEARCH_NTT;
        search->full_scan_eye = UVEA_EYE_RIGHT;
        search->form = UVEA_PREDICATE_TWO_TERM;
    }
    fleet_run(fleet, every_kind, stage);
    fleet_assert_orderly(fleet);
    fleet_assert_records(fleet, every_kind_versions, 3);
}

// ---- what is refused

static void refusals(struct fleet *fleet)
{
    static const char unknown_kind[] =
        "{\"Type\":\"Notification\",\"MessageId\":\"odd\",\"SequenceNumber\":\"1\","
        "\"TopicArn\":\"t\",\"Message\":\"{}\",\"Timestamp\":\"t\",\"UnsubscribeURL\":\"u\","
        "\"MessageAttributes\":{\"message_type\":{\"Type\":\"String\",\"Value\":\"riddle\"}}}";
    const struct stage *stage = fleet->arg;
    const struct uvea_template_pair *people = stage->people;
    struct uvea_message message = {.kind = UVEA_MESSAGE_UNIQUENESS, .id = "signup"};
    struct uvea_buf body = {.data = (uint8_t *)"[]", .len = 2};

    fleet_expect(fleet, post_uniqueness(fleet, &people[0], false, false), "{\"serial_id\":1}");
    message.s3_key = fleet_share(fleet, &people[1], 1 << 1, 0);
    fleet_expect(fleet, fleet_post(fleet, &message),
                 "{\"error\":true,\"error_reason\":\"failed_to_process_iris_shares\","
                 "\"serial_id\":null,\"signup_id\":\"signup\"}");
    message.s3_key = fleet_share(fleet, &people[1], 0, 1 << 2);
    fleet_expect(fleet, fleet_post(fleet, &message),
                 "{\"error\":true,\"error_reason\":\"failed_to_process_iris_shares\"}");
    message.s3_key = "";
    fleet_expect(fleet, fleet_post(fleet, &message),
                 "{\"error\":true,\"error_reason\":\"failed_to_process_iris_shares\"}");
    message.kind = UVEA_MESSAGE_RESET_UPDATE;
    message.serial_id = 1;
    message.s3_key = fleet_share(fleet, &people[1], 1 << 0, 0);
    fleet_expect(fleet, fleet_post(fleet, &message),
                 "{\"error\":true,\"error_reason\":\"failed_to_process_iris_shares\","
                 "\"serial_id\":1}");
    fleet_expect(fleet, fleet_post_text(fleet, unknown_kind),
                 "{\"error\":true,\"error_reason\":\"malformed_request\"}");
    fleet_expect(fleet, fleet_post_text(fleet, "{\"MessageId\":\"7\"}"),
                 "{\"error\":true,\"error_reason\":\"malformed_request\"}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_IDENTITY_DELETION, 0, NULL),
                 "{\"error\":true,\"error_reason\":\"unknown serial_id\"}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_REAUTH, 2, &people[0]),
                 "{\"error\":true,\"error_reason\":\"unknown serial_id\",\"success\":false}");
    assert_int_equal(fleet_call(fleet, 0, "POST", "/v1/requests", &body, NULL), 400);
    assert_int_equal(fleet_call(fleet, 1, "POST", "/v1/requests", &body, NULL), 404);
    assert_int_equal(fleet_post_text(fleet, unknown_kind), 6); // the same message again
    fleet_expect(fleet, post_uniqueness(fleet, &people[1], false, false), "{\"serial_id\":2}");
}

static void refuses_with_the_same_error_on_all_three(void **state)
{
    static const uint16_t versions[] = {0, 0};
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;

    fleet_run(fleet, refusals, stage);
    fleet_assert_orderly(fleet);
    fleet_assert_records(fleet, versions, 2);
}

static void shut_gates(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;
    const struct uvea_template_pair *people = stage->people;
    struct uvea_message message = {
        .kind = UVEA_MESSAGE_REAUTH,
        .id = "reauth",
        .serial_id = 1,
        .use_or_rule = true,
        .s3_key = "nowhere",
    };

    fleet_expect(fleet, post_uniqueness(fleet, &people[0], false, false), "{\"serial_id\":1}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_IDENTITY_DELETION, 1, NULL),
                 "{\"error_reason\":\"Identity deletions are disabled\"}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[0]),
                 "{\"error_reason\":\"reset_check is disabled\"}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_RECOVERY_UPDATE, 1, &people[0]),
                 "{\"error_reason\":\"recovery_update is disabled\"}");
    fleet_expect(fleet, fleet_post(fleet, &message),
                 "{\"error_reason\":\"LUC is not enabled for use_or_rule\"}");
}

static void shut_gates_answer_with_an_error(void **state)
{
    static const uint16_t versions[] = {0};
    struct stage *stage = *state;
    struct fleet *fleet = &stage->fleet;

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        fleet->member[i].config.gates = (struct uvea_gates){.enable_reauth = true};
        fleet->member[i].config.policy.luc_serial_ids_from_request = false;
    }
    fleet_run(fleet, shut_gates, stage);
    fleet_assert_orderly(fleet);
    fleet_assert_records(fleet, versions, 1);
}

// ---- batches of several

static void one_batch(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;
    const struct uvea_template_pair *people = stage->people;
    uint64_t at[10];

    fleet_expect(fleet, post_uniqueness(fleet, &people[0], false, false), "{\"serial_id\":1}");
    fleet_expect(fleet, post_uniqueness(fleet, &people[1], false, false), "{\"serial_id\":2}");
    // What party 0 publishes first for a batch stands: one message, which the others wait for.
    fleet_hold_topic(fleet, true);
    (void)post_named(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[11]);
    at[0] = post_uniqueness(fleet, &people[2], false, false);
    at[1] = post_named(fleet, UVEA_MESSAGE_RESET_UPDATE, 2, &people[3]);
    at[2] = post_uniqueness(fleet, &people[2], false, false);
    at[3] = fleet_post_text(fleet, "{\"MessageId\":\"no more\"}");
    at[4] = post_named(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[2]);
    at[5] = post_named(fleet, UVEA_MESSAGE_IDENTITY_DELETION, 1, NULL);
    at[6] = post_named(fleet, UVEA_MESSAGE_REAUTH, 2, &people[1]);
    at[7] = post_uniqueness(fleet, &people[0], true, false);
    at[8] = post_named(fleet, UVEA_MESSAGE_RECOVERY_CHECK, 0, &people[1]);
    at[9] = post_named(fleet, UVEA_MESSAGE_IDENTITY_DELETION, 3, NULL);
    fleet_hold_topic(fleet, false);
    fleet_expect(fleet, at[0],
                 "{\"is_match\":false,\"serial_id\":3,\"matched_batch_request_ids\":[]}");
    fleet_expect(fleet, at[1], "{\"serial_id\":2,\"error\":null}");
    fleet_expect(fleet, at[2],
                 "{\"is_match\":true,\"serial_id\":null,\"matched_serial_ids\":[],"
                 "\"matched_batch_request_ids\":[\"signup\"]}");
    fleet_expect(fleet, at[3], "{\"error_reason\":\"malformed_request\"}");
    fleet_expect(fleet, at[4],
                 "{\"matched_serial_ids\":[],"
                 "\"matched_batch_request_ids\":[\"signup\",\"signup\"]}");
    fleet_expect(fleet, at[5], "{\"success\":true}");
    fleet_expect(fleet, at[6], "{\"error_reason\":\"duplicate serial_id in batch\"}");
    fleet_expect(fleet, at[7], "{\"is_match\":false,\"serial_id\":4}");
    fleet_expect(fleet, at[8], "{\"matched_serial_ids\":[2]}");
    fleet_expect(fleet, at[9], "{\"error_reason\":\"unknown serial_id\"}");
    fleet_expect(fleet, post_named(fleet, UVEA_MESSAGE_RESET_CHECK, 0, &people[3]),
                 "{\"matched_serial_ids\":[2]}");
}

static void run_one_batch(struct stage *stage)
{
    static const uint16_t versions[] = {1, 1, 0, 0};
    struct fleet *fleet = &stage->fleet;

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        fleet->member[i].config.batch_requests_max = 32;
    }
    fleet_run(fleet, one_batch, stage);
    fleet_assert_orderly(fleet);
    fleet_assert_records(fleet, versions, 4);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(fleet->member[i].batch_entries_max, 10);
    }
}

static void a_batch_sees_its_own_deletions_and_none_of_its_insertions(void **state)
{
    run_one_batch(*state);
}

static void the_ntt_path_takes_batches_too(void **state)
{
    struct stage *stage = *state;

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        stage->fleet.member[i].config.search.path = UVEA_SEARCH_NTT;
    }
    run_one_batch(stage);
}

#define STAGE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(serves_every_kind_of_request),
        STAGE_TEST(the_ntt_path_serves_the_same),
        STAGE_TEST(refuses_with_the_same_error_on_all_three),
        STAGE_TEST(shut_gates_answer_with_an_error),
        STAGE_TEST(a_batch_sees_its_own_deletions_and_none_of_its_insertions),
        STAGE_TEST(the_ntt_path_takes_batches_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
