// Results: the exact text of every kind and form, and what readers make of texts.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/coord/sync.h"
#include "core/service/results.h"
#include "tests/support/cmocka.h"

#include <jansson.h>
#include <string.h>

// Rotations -15, 0 and 15.
#define EDGES_AND_MIDDLE (1u << 0 | 1u << 15 | 1u << 30)

static uint32_t serials[] = {3, 7, 9};
static uint32_t rotations[] = {EDGES_AND_MIDDLE, 1u << 16, 1u << 29};
static uint32_t first[] = {0};
static uint32_t both[] = {0, 2};

#define LIST(n)                                                                                    \
    {                                                                                              \
        serials, rotations, n, n                                                                   \
    }
#define LONG_LIST(n, all)                                                                          \
    {                                                                                              \
        serials, rotations, n, all                                                                 \
    }
#define MATCHES(full, left, right)                                                                 \
    {                                                                                              \
        LIST(full), {LIST(left), LIST(right)}, false                                               \
    }

// Entry 1 of each batch is answered; 0 and 2 are others that it may match.
struct result_case {
    const char *name;
    unsigned party;
    const char *reason;
    struct uvea_message message;
    struct uvea_outcome outcome;
    const char *want;
};

#define UNIQUENESS                                                                                 \
    {                                                                                              \
        .kind = UVEA_MESSAGE_UNIQUENESS, .id = "who"                                               \
    }
#define ALL_HIDDEN_MIRROR                                                                          \
    "\"full_face_mirror_attack_detected\":false,\"full_face_mirror_matched_serial_ids\":null,"     \
    "\"full_face_mirror_matched_serial_ids_left\":null,"                                           \
    "\"full_face_mirror_matched_serial_ids_right\":null,"                                          \
    "\"full_face_mirror_partial_matches_count_left\":0,"                                           \
    "\"full_face_mirror_partial_matches_count_right\":0,\"error\":null,\"error_reason\":null}"
#define NO_PARTIAL                                                                                 \
    "\"matched_serial_ids_left\":null,\"matched_serial_ids_right\":null,"                          \
    "\"partial_matches_count_right\":0,\"partial_matches_count_left\":0,"                          \
    "\"partial_match_rotation_indices_left\":null,\"partial_match_rotation_indices_right\":null,"

static const struct result_case uniqueness_cases[] = {
    {"inserted, hidden",
     0,
     NULL,
     UNIQUENESS,
     {.decision = UVEA_DECISION_UNIQUE_INSERT},
     "{\"node_id\":0,\"serial_id\":12,\"is_match\":false,\"signup_id\":\"who\","
     "\"matched_serial_ids\":null," NO_PARTIAL
     "\"matched_batch_request_ids\":[]," ALL_HIDDEN_MIRROR},
    {"inserted although one eye matched and an earlier request that was not inserted",
     1,
     NULL,
     UNIQUENESS,
     {.decision = UVEA_DECISION_UNIQUE_INSERT,
      .partial_results = true,
      .matches = {MATCHES(0, 1, 0)},
      .batch_matches = {{first, 1}}},
     "{\"node_id\":1,\"serial_id\":12,\"is_match\":false,\"signup_id\":\"who\","
     "\"matched_serial_ids\":null,\"matched_serial_ids_left\":[3],"
     "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
     "\"partial_matches_count_left\":1,\"partial_match_rotation_indices_left\":[[-15,0,15]],"
     "\"partial_match_rotation_indices_right\":null,"
     "\"matched_batch_request_ids\":[\"zero\"]," ALL_HIDDEN_MIRROR},
    {"skipped: an empty list, not null",
     2,
     NULL,
     UNIQUENESS,
     {.decision = UVEA_DECISION_UNIQUE_INSERT_SKIPPED, .partial_results = true},
     "{\"node_id\":2,\"serial_id\":null,\"is_match\":false,\"signup_id\":\"who\","
     "\"matched_serial_ids\":[]," NO_PARTIAL "\"matched_batch_request_ids\":[]," ALL_HIDDEN_MIRROR},
    {"matched, shown",
     0,
     NULL,
     UNIQUENESS,
     {.partial_results = true, .matches = {MATCHES(1, 2, 1)}},
     "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"who\","
     "\"matched_serial_ids\":[3],\"matched_serial_ids_left\":[3,7],"
     "\"matched_serial_ids_right\":[3],\"partial_matches_count_right\":1,"
     "\"partial_matches_count_left\":2,"
     "\"partial_match_rotation_indices_left\":[[-15,0,15],[1]],"
     "\"partial_match_rotation_indices_right\":[[-15,0,15]],"
     "\"matched_batch_request_ids\":[]," ALL_HIDDEN_MIRROR},
    {"matched in both orientations, hidden; earlier requests stand once per orientation",
     0,
     NULL,
     UNIQUENESS,
     {.matches = {MATCHES(2, 2, 2), MATCHES(1, 1, 2)}, .batch_matches = {{both, 2}, {first, 1}}},
     "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"who\","
     "\"matched_serial_ids\":[3,7]," NO_PARTIAL
     "\"matched_batch_request_ids\":[\"zero\",\"two\",\"zero\"],"
     "\"full_face_mirror_attack_detected\":false,\"full_face_mirror_matched_serial_ids\":[3],"
     "\"full_face_mirror_matched_serial_ids_left\":null,"
     "\"full_face_mirror_matched_serial_ids_right\":null,"
     "\"full_face_mirror_partial_matches_count_left\":0,"
     "\"full_face_mirror_partial_matches_count_right\":0,\"error\":null,\"error_reason\":null}"},
    {"mirrored face",
     0,
     NULL,
     UNIQUENESS,
     {.mirror_attack = true,
      .partial_results = true,
      .matches = {MATCHES(0, 0, 0), MATCHES(2, 2, 1)}},
     "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"who\","
     "\"matched_serial_ids\":[]," NO_PARTIAL "\"matched_batch_request_ids\":[],"
     "\"full_face_mirror_attack_detected\":true,\"full_face_mirror_matched_serial_ids\":[3,7],"
     "\"full_face_mirror_matched_serial_ids_left\":[3,7],"
     "\"full_face_mirror_matched_serial_ids_right\":[3],"
     "\"full_face_mirror_partial_matches_count_left\":2,"
     "\"full_face_mirror_partial_matches_count_right\":1,\"error\":null,\"error_reason\":null}"},
    {"pure supermatch: cut lists keep their counts",
     0,
     NULL,
     UNIQUENESS,
     {.partial_results = true,
      .matches = {{LIST(0), {LONG_LIST(2, 4001), LONG_LIST(1, 2049)}, true},
                  {LIST(0), {LONG_LIST(1, 5000), LIST(0)}, true}}},
     "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"who\","
     "\"matched_serial_ids\":[],\"matched_serial_ids_left\":[3,7],"
     "\"matched_serial_ids_right\":[3],\"partial_matches_count_right\":2049,"
     "\"partial_matches_count_left\":4001,"
     "\"partial_match_rotation_indices_left\":[[-15,0,15],[1]],"
     "\"partial_match_rotation_indices_right\":[[-15,0,15]],\"matched_batch_request_ids\":[],"
     "\"full_face_mirror_attack_detected\":false,\"full_face_mirror_matched_serial_ids\":null,"
     "\"full_face_mirror_matched_serial_ids_left\":[3],"
     "\"full_face_mirror_matched_serial_ids_right\":null,"
     "\"full_face_mirror_partial_matches_count_left\":5000,"
     "\"full_face_mirror_partial_matches_count_right\":0,\"error\":null,\"error_reason\":null}"},
    {"error form",
     1,
     UVEA_REASON_SHARES,
     UNIQUENESS,
     {0},
     "{\"node_id\":1,\"serial_id\":null,\"is_match\":false,\"signup_id\":\"who\","
     "\"matched_serial_ids\":null,\"matched_serial_ids_left\":null,"
     "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":null,"
     "\"partial_matches_count_left\":null,\"partial_match_rotation_indices_left\":null,"
     "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":null,"
     "\"full_face_mirror_attack_detected\":false,"
     "\"full_face_mirror_matched_serial_ids\":null,"
     "\"full_face_mirror_matched_serial_ids_left\":null,"
     "\"full_face_mirror_matched_serial_ids_right\":null,"
     "\"full_face_mirror_partial_matches_count_left\":null,"
     "\"full_face_mirror_partial_matches_count_right\":null,\"error\":true,"
     "\"error_reason\":\"failed_to_process_iris_shares\"}"},
};

#define REAUTH(serial, one_eye)                                                                    \
    {                                                                                              \
        .kind = UVEA_MESSAGE_REAUTH, .id = "again", .serial_id = serial, .use_or_rule = one_eye    \
    }
#define REAUTH_TEXT(serial, success, list, rule)                                                   \
    "{\"reauth_id\":\"again\",\"node_id\":2,\"serial_id\":" serial ",\"success\":" success         \
    ",\"matched_serial_ids\":[" list "],\"or_rule_used\":" rule                                    \
    ",\"error\":null,\"error_reason\":null}"
#define HELD .decision = UVEA_DECISION_REAUTH_UPDATE, .success = true

static const struct result_case reauth_cases[] = {
    {"the rule holds on both eyes",
     2,
     NULL,
     REAUTH(7, false),
     {HELD, .matches = {MATCHES(3, 3, 3)}},
     REAUTH_TEXT("7", "true", "3,7,9", "false")},
    {"one eye is enough; the target is no full match, and stands in its place",
     2,
     NULL,
     REAUTH(5, true),
     {HELD, .matches = {MATCHES(3, 3, 3)}},
     REAUTH_TEXT("5", "true", "3,5,7,9", "true")},
    {"before all",
     2,
     NULL,
     REAUTH(1, true),
     {HELD, .matches = {MATCHES(2, 2, 2)}},
     REAUTH_TEXT("1", "true", "1,3,7", "true")},
    {"behind all",
     2,
     NULL,
     REAUTH(4000000000, true),
     {HELD, .matches = {MATCHES(2, 2, 2)}},
     REAUTH_TEXT("4000000000", "true", "3,7,4000000000", "true")},
    {"alone", 2, NULL, REAUTH(3, true), {HELD}, REAUTH_TEXT("3", "true", "3", "true")},
    {"the rule fails", 2, NULL, REAUTH(5, false), {0}, REAUTH_TEXT("5", "false", "", "false")},
    {"the rule fails while others match",
     2,
     NULL,
     REAUTH(5, true),
     {.matches = {MATCHES(2, 2, 2)}},
     REAUTH_TEXT("5", "false", "3,7", "true")},
    {"error form",
     0,
     UVEA_REASON_UNKNOWN_SERIAL,
     REAUTH(4294967295, true),
     {0},
     "{\"reauth_id\":\"again\",\"node_id\":0,\"serial_id\":4294967295,\"success\":false,"
     "\"matched_serial_ids\":[],\"or_rule_used\":false,\"error\":true,"
     "\"error_reason\":\"unknown serial_id\"}"},
};

static const struct result_case other_cases[] = {
    {"check without matches, shown",
     1,
     NULL,
     {.kind = UVEA_MESSAGE_RESET_CHECK, .id = "r"},
     {.partial_results = true},
     "{\"request_id\":\"r\",\"node_id\":1,\"matched_serial_ids\":[],"
     "\"matched_serial_ids_left\":[],\"matched_serial_ids_right\":[],"
     "\"matched_batch_request_ids\":[],\"partial_matches_count_right\":0,"
     "\"partial_matches_count_left\":0,\"error\":null,\"error_reason\":null}"},
    {"check with matches, shown",
     1,
     NULL,
     {.kind = UVEA_MESSAGE_RECOVERY_CHECK, .id = "r"},
     {.partial_results = true,
      .matches = {{LIST(1), {LONG_LIST(2, 2050), LIST(1)}, false}},
      .batch_matches = {{both, 2}}},
     "{\"request_id\":\"r\",\"node_id\":1,\"matched_serial_ids\":[3],"
     "\"matched_serial_ids_left\":[3,7],\"matched_serial_ids_right\":[3],"
     "\"matched_batch_request_ids\":[\"zero\",\"two\"],\"partial_matches_count_right\":1,"
     "\"partial_matches_count_left\":2050,\"error\":null,\"error_reason\":null}"},
    {"check with matches, hidden",
     1,
     NULL,
     {.kind = UVEA_MESSAGE_RESET_CHECK, .id = "r"},
     {.matches = {MATCHES(1, 2, 1)}},
     "{\"request_id\":\"r\",\"node_id\":1,\"matched_serial_ids\":[3],"
     "\"matched_serial_ids_left\":null,\"matched_serial_ids_right\":null,"
     "\"matched_batch_request_ids\":[],\"partial_matches_count_right\":0,"
     "\"partial_matches_count_left\":0,\"error\":null,\"error_reason\":null}"},
    {"check, error form",
     1,
     UVEA_REASON_RECOVERY_CHECK,
     {.kind = UVEA_MESSAGE_RECOVERY_CHECK, .id = "r"},
     {0},
     "{\"request_id\":\"r\",\"node_id\":1,\"matched_serial_ids\":null,"
     "\"matched_serial_ids_left\":null,\"matched_serial_ids_right\":null,"
     "\"matched_batch_request_ids\":null,\"partial_matches_count_right\":null,"
     "\"partial_matches_count_left\":null,\"error\":true,"
     "\"error_reason\":\"recovery_check is disabled\"}"},
    {"update",
     0,
     NULL,
     {.kind = UVEA_MESSAGE_RESET_UPDATE, .id = "r", .serial_id = 5},
     {0},
     "{\"request_id\":\"r\",\"node_id\":0,\"serial_id\":5,\"error\":null,\"error_reason\":null}"},
    {"update, error form",
     2,
     UVEA_REASON_DUPLICATE_SERIAL,
     {.kind = UVEA_MESSAGE_RECOVERY_UPDATE, .id = "", .serial_id = 0},
     {0},
     "{\"request_id\":\"\",\"node_id\":2,\"serial_id\":0,\"error\":true,"
     "\"error_reason\":\"duplicate serial_id in batch\"}"},
    {"deletion",
     1,
     NULL,
     {.kind = UVEA_MESSAGE_IDENTITY_DELETION, .serial_id = 5},
     {0},
     "{\"node_id\":1,\"serial_id\":5,\"success\":true,\"error\":null,\"error_reason\":null}"},
    {"deletion, error form",
     1,
     UVEA_REASON_DELETION,
     {.kind = UVEA_MESSAGE_IDENTITY_DELETION, .serial_id = 5},
     {0},
     "{\"node_id\":1,\"serial_id\":5,\"success\":false,\"error\":true,"
     "\"error_reason\":\"Identity deletions are disabled\"}"},
    {"malformed",
     2,
     UVEA_REASON_MALFORMED,
     {.kind = UVEA_MESSAGE_MALFORMED, .malformed = "not told", .message_id = "m\"1"},
     {0},
     "{\"message_id\":\"m\\\"1\",\"node_id\":2,\"error\":true,"
     "\"error_reason\":\"malformed_request\"}"},
    {"malformed, nameless",
     0,
     NULL,
     {.kind = UVEA_MESSAGE_MALFORMED, .message_id = ""},
     {0},
     "{\"message_id\":\"\",\"node_id\":0,\"error\":true,\"error_reason\":\"malformed_request\"}"},
};

static void encode(const struct result_case *one, struct uvea_buf *buf)
{
    struct uvea_batch_entry entries[3] = {
        {.message = {.kind = UVEA_MESSAGE_UNIQUENESS, .id = "zero"}},
        {.message = one->message,
         .error_reason = one->reason,
         .outcome = one->outcome,
         .serial = 12},
        {.message = {.kind = UVEA_MESSAGE_REAUTH, .id = "two"}},
    };
    const struct uvea_batch batch = {.id = 1, .entries = entries, .count = 3, .record_count = 11};
    assert_int_equal(uvea_results_encode(uvea_party_at(one->party), &batch, 1, buf), UVEA_OK);
}

// The exact text; the same under another party's name; the same for a reader.
static void check_case(const struct result_case *one)
{
    struct uvea_buf buf = {0};
    struct uvea_buf other = {0};
    struct uvea_result_summary summary;
    print_message("%s\n", one->name);
    assert_int_equal(uvea_buf_append(&buf, "kept", 4), UVEA_OK);
    encode(one, &buf);
    assert_memory_equal(buf.data, "kept", 4);
    const char *text = (const char *)buf.data + 4;
    assert_string_equal(text, one->want);
    assert_int_equal(buf.len, 4 + strlen(one->want));
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        struct result_case moved = *one;
        struct uvea_buf want = {0};
        moved.party = p;
        encode(&moved, &want);
        uvea_buf_clear(&other);
        assert_int_equal(uvea_sync_readdress(text, uvea_party_at(p), &other, NULL), UVEA_OK);
        assert_string_equal((char *)other.data, (char *)want.data);
        assert_int_equal(other.len, want.len);
        assert_int_equal(uvea_results_read((char *)other.data, other.len, &summary, NULL), UVEA_OK);
        const bool malformed = one->message.kind == UVEA_MESSAGE_MALFORMED;
        const char *id = malformed ? one->message.message_id : one->message.id;
        assert_string_equal(summary.id, id != NULL ? id : "");
        assert_int_equal(summary.node_id, p);
        assert_int_equal(summary.error, one->reason != NULL || malformed);
        uvea_mem_free(summary.id);
        uvea_buf_deinit(&want);
    }
    uvea_buf_deinit(&other);
    uvea_buf_deinit(&buf);
}

static void uniqueness_texts_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(uniqueness_cases); i++) {
        check_case(&uniqueness_cases[i]);
    }
}

static void reauth_texts_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(reauth_cases); i++) {
        check_case(&reauth_cases[i]);
    }
}

static void other_texts_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(other_cases); i++) {
        check_case(&other_cases[i]);
    }
}

// A full list with a target to be put in: still 2,048 entries, the largest is dropped.
static void lists_stay_cut(void **state)
{
    static uint32_t many[UVEA_POLICY_IDS_MAX];
    const uint32_t last = 10 + 2 * (UVEA_POLICY_IDS_MAX - 1);
    const struct {
        uint32_t target, first, last;
    } cases[] = {{5, 5, last - 2},
                 {12, 10, last},
                 {last - 1, 10, last - 1},
                 {last, 10, last},
                 {last + 1, 10, last}};
    (void)state;
    for (uint32_t i = 0; i < UVEA_POLICY_IDS_MAX; i++) {
        many[i] = 10 + 2 * i;
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        struct result_case one = {.message = REAUTH(cases[i].target, true), .outcome = {HELD}};
        struct uvea_buf buf = {0};
        one.outcome.matches[UVEA_ORIENTATION_NORMAL].full =
            (struct uvea_match_list){many, NULL, UVEA_POLICY_IDS_MAX, 5000};
        encode(&one, &buf);
        json_t *object = json_loadb((char *)buf.data, buf.len, 0, NULL);
        const json_t *list = json_object_get(object, "matched_serial_ids");
        assert_int_equal(json_array_size(list), UVEA_POLICY_IDS_MAX);
        assert_int_equal(json_integer_value(json_array_get(list, 0)), cases[i].first);
        assert_int_equal(json_integer_value(json_array_get(list, UVEA_POLICY_IDS_MAX - 1)),
                         cases[i].last);
        for (size_t j = 1; j < UVEA_POLICY_IDS_MAX; j++) {
            assert_true(json_integer_value(json_array_get(list, j - 1)) <
                        json_integer_value(json_array_get(list, j)));
        }
        json_decref(object);
        uvea_buf_deinit(&buf);
    }
}

// Whatever a client calls itself comes back as it was.
static void ids_survive(void **state)
{
    static const char *const names[] = {"", "a\"b\\c/\n\t\x01",
                                        "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x91\x81", "{\"node_id\":9}"};
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(names); i++) {
        struct result_case one = other_cases[4];
        struct uvea_result_summary summary;
        struct uvea_buf buf = {0};
        struct uvea_buf back = {0};
        one.message.id = names[i];
        encode(&one, &buf);
        assert_int_equal(uvea_results_read((char *)buf.data, buf.len, &summary, NULL), UVEA_OK);
        assert_string_equal(summary.id, names[i]);
        assert_int_equal(
            uvea_sync_readdress((char *)buf.data, uvea_party_at(one.party), &back, NULL), UVEA_OK);
        assert_string_equal((char *)back.data, (char *)buf.data);
        uvea_mem_free(summary.id);
        uvea_buf_deinit(&back);
        uvea_buf_deinit(&buf);
    }
}

static void texts_that_are_no_results(void **state)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "JSON: there is no text, an object is wanted"},
        {"[1]", "JSON: the text is not an object"},
        {"{\"node_id\":1,\"node_id\":1}", "JSON: an object has a member twice (line 1, column 22)"},
        {"{\"a\":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}", "JSON: nested more than 16 deep"},
        {"{}", "no id, and no deletion either"},
        {"{\"node_id\":1,\"serial_id\":1,\"error\":null,\"error_reason\":null}",
         "no id, and no deletion either"},
        {"{\"request_id\":7,\"node_id\":1}", "member request_id is not a string"},
        {"{\"signup_id\":\"\",\"reauth_id\":\"\"}", "member reauth_id is one id too many"},
        {"{\"request_id\":\"r\"}", "member node_id is missing"},
        {"{\"request_id\":\"r\",\"node_id\":\"1\"}", "member node_id is no party"},
        {"{\"request_id\":\"r\",\"node_id\":1.0}", "member node_id is no party"},
        {"{\"request_id\":\"r\",\"node_id\":3}", "member node_id is no party"},
        {"{\"request_id\":\"r\",\"node_id\":-1}", "member node_id is no party"},
        {"{\"request_id\":\"r\",\"node_id\":1}", "member error is missing"},
        {"{\"request_id\":\"r\",\"node_id\":1,\"error\":null}", "member error_reason is missing"},
        {"{\"request_id\":\"r\",\"node_id\":1,\"error\":false,\"error_reason\":null}",
         "member error is neither true nor null"},
        {"{\"request_id\":\"r\",\"node_id\":1,\"error\":null,\"error_reason\":\"x\"}",
         "member error_reason does not go with error"},
        {"{\"request_id\":\"r\",\"node_id\":1,\"error\":true,\"error_reason\":null}",
         "member error_reason does not go with error"},
    };
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        struct uvea_error_context context = {{0}};
        struct uvea_result_summary summary = {.id = (char *)"x", .node_id = 9, .error = true};
        const enum uvea_error error =
            uvea_results_read(cases[i].text, strlen(cases[i].text), &summary, &context);
        assert_true(error == UVEA_ERR_FORMAT || error == UVEA_ERR_LIMIT);
        assert_string_equal(context.text, cases[i].sentence);
        assert_null(summary.id);
        assert_int_equal(summary.node_id, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniqueness_texts_are_exact),
        cmocka_unit_test(reauth_texts_are_exact),
        cmocka_unit_test(other_texts_are_exact),
        cmocka_unit_test(lists_stay_cut),
        cmocka_unit_test(ids_survive),
        cmocka_unit_test(texts_that_are_no_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
