// Results as text, member by member in the order of service.md 4.
#include "oracle/service.h"
#include "tests/oracle/service_bench.h"

static struct service_bench *bench(uint32_t records)
{
    return service_open(&service_config, &service_gates, records);
}

static void uniqueness_with_matches_in_the_batch(void **state)
{
    (void)state;
    struct service_bench *b = bench(1);
    service_add(b, UVEA_ORACLE_UNIQUENESS, 0)->skip_persistence = true;
    struct uvea_oracle_order *order = service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    order->has_mirror_flag = true;
    order->mirror_flag = true;
    b->pairs[1] = service_mirrored(&b->pairs[0]);
    (void)service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    b->pairs[2] = b->pairs[0];
    (void)service_rule(b);
    service_expect_json(
        b, 1, 1,
        "{\"node_id\":1,\"serial_id\":2,\"is_match\":false,\"signup_id\":\"r-1\","
        "\"matched_serial_ids\":null,\"matched_serial_ids_left\":null,"
        "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
        "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
        "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[\"r-0\"],"
        "\"full_face_mirror_attack_detected\":true,"
        "\"full_face_mirror_matched_serial_ids\":null,"
        "\"full_face_mirror_matched_serial_ids_left\":null,"
        "\"full_face_mirror_matched_serial_ids_right\":null,"
        "\"full_face_mirror_partial_matches_count_left\":0,"
        "\"full_face_mirror_partial_matches_count_right\":0,"
        "\"error\":null,\"error_reason\":null}");
    // Normal orientation first: the skipped one; then mirror: the enrolled one.
    service_expect_json(
        b, 2, 2,
        "{\"node_id\":2,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"r-2\","
        "\"matched_serial_ids\":[],\"matched_serial_ids_left\":null,"
        "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
        "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
        "\"partial_match_rotation_indices_right\":null,"
        "\"matched_batch_request_ids\":[\"r-0\",\"r-1\"],"
        "\"full_face_mirror_attack_detected\":false,"
        "\"full_face_mirror_matched_serial_ids\":null,"
        "\"full_face_mirror_matched_serial_ids_left\":null,"
        "\"full_face_mirror_matched_serial_ids_right\":null,"
        "\"full_face_mirror_partial_matches_count_left\":0,"
        "\"full_face_mirror_partial_matches_count_right\":0,"
        "\"error\":null,\"error_reason\":null}");
    service_close(b);
}

static void uniqueness_against_the_database(void **state)
{
    (void)state;
    struct service_bench *b = bench(3);
    struct uvea_oracle_order *order = service_add(b, UVEA_ORACLE_UNIQUENESS, 0);
    order->has_mirror_flag = true;
    order->mirror_flag = true;
    *service_pair(b) = service_mirrored(&b->service.records[1].pair);
    (void)service_copy(b, UVEA_ORACLE_UNIQUENESS, 0, 3);
    (void)service_rule(b);
    service_expect_json(
        b, 0, 0,
        "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"r-0\","
        "\"matched_serial_ids\":[],\"matched_serial_ids_left\":null,"
        "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
        "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
        "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[],"
        "\"full_face_mirror_attack_detected\":true,"
        "\"full_face_mirror_matched_serial_ids\":[2],"
        "\"full_face_mirror_matched_serial_ids_left\":[2],"
        "\"full_face_mirror_matched_serial_ids_right\":[2],"
        "\"full_face_mirror_partial_matches_count_left\":1,"
        "\"full_face_mirror_partial_matches_count_right\":1,"
        "\"error\":null,\"error_reason\":null}");
    service_expect_json(
        b, 1, 0,
        "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"r-1\","
        "\"matched_serial_ids\":[3],\"matched_serial_ids_left\":[3],"
        "\"matched_serial_ids_right\":[3],\"partial_matches_count_right\":1,"
        "\"partial_matches_count_left\":1,\"partial_match_rotation_indices_left\":[[0]],"
        "\"partial_match_rotation_indices_right\":[[0]],\"matched_batch_request_ids\":[],"
        "\"full_face_mirror_attack_detected\":false,"
        "\"full_face_mirror_matched_serial_ids\":null,"
        "\"full_face_mirror_matched_serial_ids_left\":null,"
        "\"full_face_mirror_matched_serial_ids_right\":null,"
        "\"full_face_mirror_partial_matches_count_left\":0,"
        "\"full_face_mirror_partial_matches_count_right\":0,"
        "\"error\":null,\"error_reason\":null}");
    service_close(b);
}

static void reauth(void **state)
{
    (void)state;
    struct service_bench *b = bench(3);
    // Its left eye is serial 1's and its right eye serial 3's; only the target is in the LUC set.
    service_copy(b, UVEA_ORACLE_REAUTH, 3, 1)->use_or_rule = true;
    b->pairs[0].eye[UVEA_ORACLE_RIGHT] = b->service.records[2].pair.eye[UVEA_ORACLE_RIGHT];
    (void)service_copy(b, UVEA_ORACLE_REAUTH, 1, 2); // is serial 2, which is not asked about
    (void)service_add(b, UVEA_ORACLE_REAUTH, 2);
    (void)service_rule(b);
    service_expect_json(b, 0, 2,
                        "{\"reauth_id\":\"r-0\",\"node_id\":2,\"serial_id\":3,\"success\":true,"
                        "\"matched_serial_ids\":[3],\"or_rule_used\":true,\"error\":null,"
                        "\"error_reason\":null}");
    service_expect_json(b, 1, 0,
                        "{\"reauth_id\":\"r-1\",\"node_id\":0,\"serial_id\":1,\"success\":false,"
                        "\"matched_serial_ids\":[2],\"or_rule_used\":false,\"error\":null,"
                        "\"error_reason\":null}");
    service_expect_json(b, 2, 0,
                        "{\"reauth_id\":\"r-2\",\"node_id\":0,\"serial_id\":2,\"success\":false,"
                        "\"matched_serial_ids\":[],\"or_rule_used\":false,\"error\":null,"
                        "\"error_reason\":null}");
    service_close(b);
}

static void check(void **state)
{
    (void)state;
    for (unsigned hidden = 0; hidden < 2; hidden++) {
        struct uvea_oracle_config config = service_config;
        config.return_partial_results = hidden == 0;
        struct service_bench *b = service_open(&config, &service_gates, 2);
        (void)service_add(b, UVEA_ORACLE_RESET_CHECK, 0);
        (void)service_copy(b, UVEA_ORACLE_RECOVERY_CHECK, 0, 2);
        (void)service_add(b, UVEA_ORACLE_RESET_CHECK, 0);
        b->pairs[2] = b->pairs[0];
        (void)service_rule(b);
        service_expect_json(
            b, 1, 1,
            hidden == 1 ? "{\"request_id\":\"r-1\",\"node_id\":1,\"matched_serial_ids\":[2],"
                          "\"matched_serial_ids_left\":null,\"matched_serial_ids_right\":null,"
                          "\"matched_batch_request_ids\":[],\"partial_matches_count_right\":0,"
                          "\"partial_matches_count_left\":0,\"error\":null,\"error_reason\":null}"
                        : "{\"request_id\":\"r-1\",\"node_id\":1,\"matched_serial_ids\":[2],"
                          "\"matched_serial_ids_left\":[2],\"matched_serial_ids_right\":[2],"
                          "\"matched_batch_request_ids\":[],\"partial_matches_count_right\":1,"
                          "\"partial_matches_count_left\":1,\"error\":null,\"error_reason\":null}");
        service_expect_json(
            b, 2, 0,
            hidden == 1
                ? "{\"request_id\":\"r-2\",\"node_id\":0,\"matched_serial_ids\":[],"
                  "\"matched_serial_ids_left\":null,\"matched_serial_ids_right\":null,"
                  "\"matched_batch_request_ids\":[\"r-0\"],\"partial_matches_count_right\":0,"
                  "\"partial_matches_count_left\":0,\"error\":null,\"error_reason\":null}"
                : "{\"request_id\":\"r-2\",\"node_id\":0,\"matched_serial_ids\":[],"
                  "\"matched_serial_ids_left\":[],\"matched_serial_ids_right\":[],"
                  "\"matched_batch_request_ids\":[\"r-0\"],\"partial_matches_count_right\":0,"
                  "\"partial_matches_count_left\":0,\"error\":null,\"error_reason\":null}");
        service_close(b);
    }
}

static void acknowledgements(void **state)
{
    (void)state;
    struct service_bench *b = bench(3);
    (void)service_add(b, UVEA_ORACLE_RESET_UPDATE, 2);
    (void)service_add(b, UVEA_ORACLE_RECOVERY_UPDATE, 3);
    (void)service_add(b, UVEA_ORACLE_DELETION, 1);
    (void)service_rule(b);
    service_expect_json(b, 0, 0,
                        "{\"request_id\":\"r-0\",\"node_id\":0,\"serial_id\":2,\"error\":null,"
                        "\"error_reason\":null}");
    service_expect_json(b, 1, 1,
                        "{\"request_id\":\"r-1\",\"node_id\":1,\"serial_id\":3,\"error\":null,"
                        "\"error_reason\":null}");
    service_expect_json(b, 2, 2,
                        "{\"node_id\":2,\"serial_id\":1,\"success\":true,\"error\":null,"
                        "\"error_reason\":null}");
    service_close(b);
}

static void error_forms(void **state)
{
    (void)state;
    struct service_bench *b = bench(1);
    service_add(b, UVEA_ORACLE_UNIQUENESS, 0)->pair = NULL;
    service_add(b, UVEA_ORACLE_REAUTH, 0)->use_or_rule = true;
    (void)service_add(b, UVEA_ORACLE_DELETION, UINT32_MAX);
    service_add(b, UVEA_ORACLE_RECOVERY_CHECK, 0)->pair = NULL;
    (void)service_add(b, UVEA_ORACLE_RESET_UPDATE, 7);
    (void)service_add(b, UVEA_ORACLE_MALFORMED, 0);
    service_add(b, UVEA_ORACLE_MALFORMED, 0)->message_id = "";
    (void)service_rule(b);
    service_expect_json(
        b, 0, 1,
        "{\"node_id\":1,\"serial_id\":null,\"is_match\":false,\"signup_id\":\"r-0\","
        "\"matched_serial_ids\":null,\"matched_serial_ids_left\":null,"
        "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":null,"
        "\"partial_matches_count_left\":null,\"partial_match_rotation_indices_left\":null,"
        "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":null,"
        "\"full_face_mirror_attack_detected\":false,"
        "\"full_face_mirror_matched_serial_ids\":null,"
        "\"full_face_mirror_matched_serial_ids_left\":null,"
        "\"full_face_mirror_matched_serial_ids_right\":null,"
        "\"full_face_mirror_partial_matches_count_left\":null,"
        "\"full_face_mirror_partial_matches_count_right\":null,"
        "\"error\":true,\"error_reason\":\"failed_to_process_iris_shares\"}");
    service_expect_json(b, 1, 0,
                        "{\"reauth_id\":\"r-1\",\"node_id\":0,\"serial_id\":0,\"success\":false,"
                        "\"matched_serial_ids\":[],\"or_rule_used\":false,\"error\":true,"
                        "\"error_reason\":\"unknown serial_id\"}");
    service_expect_json(b, 2, 2,
                        "{\"node_id\":2,\"serial_id\":4294967295,\"success\":false,\"error\":true,"
                        "\"error_reason\":\"unknown serial_id\"}");
    service_expect_json(b, 3, 0,
                        "{\"request_id\":\"r-3\",\"node_id\":0,\"matched_serial_ids\":null,"
                        "\"matched_serial_ids_left\":null,\"matched_serial_ids_right\":null,"
                        "\"matched_batch_request_ids\":null,\"partial_matches_count_right\":null,"
                        "\"partial_matches_count_left\":null,\"error\":true,"
                        "\"error_reason\":\"failed_to_process_iris_shares\"}");
    service_expect_json(b, 4, 0,
                        "{\"request_id\":\"r-4\",\"node_id\":0,\"serial_id\":7,\"error\":true,"
                        "\"error_reason\":\"unknown serial_id\"}");
    service_expect_json(b, 5, 1,
                        "{\"message_id\":\"r-5\",\"node_id\":1,\"error\":true,"
                        "\"error_reason\":\"malformed_request\"}");
    service_expect_json(b, 6, 1,
                        "{\"message_id\":\"\",\"node_id\":1,\"error\":true,"
                        "\"error_reason\":\"malformed_request\"}");
    service_close(b);
}

static void what_is_not_text_is_refused_by_name(void **state)
{
    (void)state;
    struct service_bench *b = bench(1);
    service_copy(b, UVEA_ORACLE_REAUTH, 1, 1)->id = "\xff";
    (void)service_rule(b);
    struct uvea_buf buf = {0};
    struct uvea_error_context context;
    assert_int_equal(
        uvea_oracle_result(&b->service, b->orders, b->count, b->rulings, 0, 0, &buf, &context),
        UVEA_ERR_FORMAT);
    assert_string_equal(context.text, "reauth_id is not UTF-8");
    assert_int_equal(
        uvea_oracle_result(&b->service, b->orders, b->count, b->rulings, 1, 0, &buf, &context),
        UVEA_ERR_USAGE);
    assert_int_equal(buf.len, 0);
    uvea_buf_deinit(&buf);
    service_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniqueness_with_matches_in_the_batch),
        cmocka_unit_test(uniqueness_against_the_database),
        cmocka_unit_test(reauth),
        cmocka_unit_test(check),
        cmocka_unit_test(acknowledgements),
        cmocka_unit_test(error_forms),
        cmocka_unit_test(what_is_not_text_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
