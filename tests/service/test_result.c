#include "core/base/check.h"
#include "core/service/result.h"
#include "tests/support/cmocka.h"

#include <jansson.h>
#include <string.h>

// Rotations -15, 0 and 15.
#define EDGES_AND_MIDDLE (1u << 0 | 1u << 15 | 1u << 30)

static uint32_t serials[] = {3, 7};
static uint32_t rotations[] = {EDGES_AND_MIDDLE, 1u << 16};

#define FULL(n)                                                                                    \
    {                                                                                              \
        serials, NULL, n, n                                                                        \
    }
#define PARTIAL(n)                                                                                 \
    {                                                                                              \
        serials, rotations, n, n                                                                   \
    }
#define NO_MIRROR                                                                                  \
    {                                                                                              \
        FULL(0), {EMPTY, EMPTY}, false                                                             \
    }
#define EMPTY                                                                                      \
    {                                                                                              \
        serials, rotations, 0, 0                                                                   \
    }

struct result_case {
    const char *name;
    unsigned party;
    uint32_t serial;
    struct uvea_outcome outcome;
    const char *want;
};

static const struct result_case cases[] = {
    {"inserted, partial results hidden",
     0,
     12,
     {.decision = UVEA_DECISION_UNIQUE_INSERT,
      .mirror_attack = false,
      .partial_results = false,
      .matches = {{FULL(0), {EMPTY, EMPTY}, false}, NO_MIRROR}},
     "{\"node_id\":0,\"serial_id\":12,\"is_match\":false,\"signup_id\":\"who\","
     "\"matched_serial_ids\":null,\"matched_serial_ids_left\":null,"
     "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
     "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
     "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[],"
     "\"full_face_mirror_attack_detected\":false,\"full_face_mirror_matched_serial_ids\":null,"
     "\"full_face_mirror_matched_serial_ids_left\":null,"
     "\"full_face_mirror_matched_serial_ids_right\":null,"
     "\"full_face_mirror_partial_matches_count_left\":0,"
     "\"full_face_mirror_partial_matches_count_right\":0,\"error\":null,\"error_reason\":null}"},
    {"inserted although one eye matched",
     1,
     12,
     {.decision = UVEA_DECISION_UNIQUE_INSERT,
      .mirror_attack = false,
      .partial_results = true,
      .matches = {{FULL(0), {PARTIAL(1), EMPTY}, false}, NO_MIRROR}},
     "{\"node_id\":1,\"serial_id\":12,\"is_match\":false,\"signup_id\":\"who\","
     "\"matched_serial_ids\":null,\"matched_serial_ids_left\":[3],"
     "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
     "\"partial_matches_count_left\":1,\"partial_match_rotation_indices_left\":[[-15,0,15]],"
     "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[],"
     "\"full_face_mirror_attack_detected\":false,\"full_face_mirror_matched_serial_ids\":null,"
     "\"full_face_mirror_matched_serial_ids_left\":null,"
     "\"full_face_mirror_matched_serial_ids_right\":null,"
     "\"full_face_mirror_partial_matches_count_left\":0,"
     "\"full_face_mirror_partial_matches_count_right\":0,\"error\":null,\"error_reason\":null}"},
    {"skipped: an empty list, not null",
     2,
     12,
     {.decision = UVEA_DECISION_UNIQUE_INSERT_SKIPPED,
      .mirror_attack = false,
      .partial_results = true,
      .matches = {{FULL(0), {EMPTY, EMPTY}, false}, NO_MIRROR}},
     "{\"node_id\":2,\"serial_id\":null,\"is_match\":false,\"signup_id\":\"who\","
     "\"matched_serial_ids\":[],\"matched_serial_ids_left\":null,"
     "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
     "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
     "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[],"
     "\"full_face_mirror_attack_detected\":false,\"full_face_mirror_matched_serial_ids\":null,"
     "\"full_face_mirror_matched_serial_ids_left\":null,"
     "\"full_face_mirror_matched_serial_ids_right\":null,"
     "\"full_face_mirror_partial_matches_count_left\":0,"
     "\"full_face_mirror_partial_matches_count_right\":0,\"error\":null,\"error_reason\":null}"},
    {"matched, partial results shown",
     0,
     12,
     {.decision = UVEA_DECISION_NO_MUTATION,
      .mirror_attack = false,
      .partial_results = true,
      .matches = {{FULL(1), {PARTIAL(2), PARTIAL(1)}, false}, NO_MIRROR}},
     "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"who\","
     "\"matched_serial_ids\":[3],\"matched_serial_ids_left\":[3,7],"
     "\"matched_serial_ids_right\":[3],\"partial_matches_count_right\":1,"
     "\"partial_matches_count_left\":2,"
     "\"partial_match_rotation_indices_left\":[[-15,0,15],[1]],"
     "\"partial_match_rotation_indices_right\":[[-15,0,15]],\"matched_batch_request_ids\":[],"
     "\"full_face_mirror_attack_detected\":false,\"full_face_mirror_matched_serial_ids\":null,"
     "\"full_face_mirror_matched_serial_ids_left\":null,"
     "\"full_face_mirror_matched_serial_ids_right\":null,"
     "\"full_face_mirror_partial_matches_count_left\":0,"
     "\"full_face_mirror_partial_matches_count_right\":0,\"error\":null,\"error_reason\":null}"},
    {"matched, partial results hidden in both orientations",
     0,
     12,
     {.decision = UVEA_DECISION_NO_MUTATION,
      .mirror_attack = false,
      .partial_results = false,
      .matches = {{FULL(2), {PARTIAL(2), PARTIAL(2)}, false},
                  {FULL(1), {PARTIAL(1), PARTIAL(2)}, false}}},
     "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"who\","
     "\"matched_serial_ids\":[3,7],\"matched_serial_ids_left\":null,"
     "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
     "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
     "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[],"
     "\"full_face_mirror_attack_detected\":false,\"full_face_mirror_matched_serial_ids\":[3],"
     "\"full_face_mirror_matched_serial_ids_left\":null,"
     "\"full_face_mirror_matched_serial_ids_right\":null,"
     "\"full_face_mirror_partial_matches_count_left\":0,"
     "\"full_face_mirror_partial_matches_count_right\":0,\"error\":null,\"error_reason\":null}"},
    {"mirrored face",
     0,
     12,
     {.decision = UVEA_DECISION_NO_MUTATION,
      .mirror_attack = true,
      .partial_results = true,
      .matches = {{FULL(0), {EMPTY, EMPTY}, false}, {FULL(2), {PARTIAL(2), PARTIAL(1)}, false}}},
     "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"who\","
     "\"matched_serial_ids\":[],\"matched_serial_ids_left\":null,"
     "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
     "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
     "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[],"
     "\"full_face_mirror_attack_detected\":true,\"full_face_mirror_matched_serial_ids\":[3,7],"
     "\"full_face_mirror_matched_serial_ids_left\":[3,7],"
     "\"full_face_mirror_matched_serial_ids_right\":[3],"
     "\"full_face_mirror_partial_matches_count_left\":2,"
     "\"full_face_mirror_partial_matches_count_right\":1,\"error\":null,\"error_reason\":null}"},
    {"cut lists keep their counts",
     0,
     12,
     {.decision = UVEA_DECISION_NO_MUTATION,
      .mirror_attack = false,
      .partial_results = true,
      .matches = {{{serials, NULL, 0, 0},
                   {{serials, rotations, 2, 4001}, {serials, rotations, 1, 2049}},
                   true},
                  {{serials, NULL, 0, 0},
                   {{serials, rotations, 1, 5000}, {serials, rotations, 0, 0}},
                   true}}},
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
};

static void texts_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        const struct result_case *one = &cases[i];
        struct uvea_buf buf = {0};
        print_message("%s\n", one->name);
        assert_int_equal(uvea_result_encode_uniqueness(uvea_party_at(one->party), "who",
                                                       one->serial, &one->outcome, &buf),
                         UVEA_OK);
        assert_string_equal((char *)buf.data, one->want);
        assert_int_equal(buf.len, strlen(one->want));
        uvea_buf_deinit(&buf);
    }
}

static void error_form_is_exact(void **state)
{
    struct uvea_buf buf = {0};

    (void)state;
    assert_int_equal(
        uvea_result_encode_uniqueness_error(uvea_party_at(1), "who", UVEA_REASON_SHARES, &buf),
        UVEA_OK);
    assert_string_equal(
        (char *)buf.data,
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
        "\"error_reason\":\"failed_to_process_iris_shares\"}");
    uvea_buf_deinit(&buf);
}

// Whatever a client calls itself comes back as it was.
static void ids_survive_as_json(void **state)
{
    static const char *const ids[] = {"", "a\"b\\c/\n\t\x01",
                                      "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x91\x81", "{\"node_id\":9}"};

    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(ids); i++) {
        struct uvea_buf buf = {0};
        json_error_t why;
        json_t *object;
        assert_true(uvea_result_text_valid(ids[i]));
        assert_int_equal(
            uvea_result_encode_uniqueness(uvea_party_at(0), ids[i], 1, &cases[0].outcome, &buf),
            UVEA_OK);
        object = json_loadb((char *)buf.data, buf.len, JSON_REJECT_DUPLICATES, &why);
        assert_non_null(object);
        assert_string_equal(json_string_value(json_object_get(object, "signup_id")), ids[i]);
        json_decref(object);
        uvea_buf_deinit(&buf);
    }
}

static void bad_text_is_refused_and_nothing_appended(void **state)
{
    static const char *const ids[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\xaf"};
    struct uvea_buf buf = {0};

    (void)state;
    assert_int_equal(uvea_buf_append(&buf, "kept", 4), UVEA_OK);
    for (size_t i = 0; i < UVEA_COUNT_OF(ids); i++) {
        assert_false(uvea_result_text_valid(ids[i]));
        assert_int_equal(
            uvea_result_encode_uniqueness(uvea_party_at(0), ids[i], 1, &cases[0].outcome, &buf),
            UVEA_ERR_FORMAT);
        assert_int_equal(
            uvea_result_encode_uniqueness_error(uvea_party_at(0), ids[i], UVEA_REASON_SHARES, &buf),
            UVEA_ERR_FORMAT);
        assert_int_equal(buf.len, 4);
    }
    assert_int_equal(
        uvea_result_encode_uniqueness(uvea_party_at(0), "who", 1, &cases[0].outcome, &buf),
        UVEA_OK);
    assert_memory_equal(buf.data, "kept{\"node_id\":0", 16);
    uvea_buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_exact),
        cmocka_unit_test(error_form_is_exact),
        cmocka_unit_test(ids_survive_as_json),
        cmocka_unit_test(bad_text_is_refused_and_nothing_appended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
