// Uniqueness requests on their own, one after the other.
#include "core/base/mem.h"
#include "oracle/service.h"
#include "tests/oracle/fixture.h"
#include "tests/support/cmocka.h"

enum decision {
    NO_MUTATION,
    INSERT_SKIPPED,
    INSERT,
};

// A model of `records` random identities, and room for one request and its ruling. Serial s holds
// random_pair(s).
struct bench {
    struct uvea_oracle_service model;
    struct uvea_oracle_pair query;
    struct uvea_oracle_order request;
    struct uvea_oracle_ruling answer;
    enum decision decision;
};

static const struct uvea_oracle_config config_default = {
    .full_scan_eye = UVEA_ORACLE_LEFT,
    .return_partial_results = true,
    .luc_enabled = true,
    .luc_serial_ids_from_request = true,
    .supermatch_limit = 4000,
};

static void insert(struct bench *b, const struct uvea_oracle_pair *pair)
{
    const uint32_t next = b->model.record_count + 1;
    uint32_t serial;
    assert_int_equal(uvea_oracle_service_seed(&b->model, pair, &serial), UVEA_OK);
    assert_int_equal(serial, next);
}

static struct bench *bench_open(struct uvea_oracle_config config, uint32_t records)
{
    static const struct uvea_oracle_gates gates = {false, false, false, false};
    struct bench *b = uvea_mem_alloc(1, sizeof(*b));
    assert_non_null(b);
    uvea_oracle_service_init(&b->model, &config, &gates);
    for (uint32_t s = 1; s <= records; s++) {
        struct uvea_oracle_pair pair = random_pair(s);
        insert(b, &pair);
    }
    b->query = random_pair(1000);
    b->request = (struct uvea_oracle_order){
        .kind = UVEA_ORACLE_UNIQUENESS,
        .id = "s-1",
        .pair = &b->query,
    };
    return b;
}

static void bench_close(struct bench *b)
{
    uvea_oracle_ruling_deinit(&b->answer);
    uvea_oracle_service_deinit(&b->model);
    uvea_mem_free(b);
}

static void ask_for_mirror(struct bench *b, bool mirror)
{
    b->request.has_mirror_flag = mirror;
    b->request.mirror_flag = mirror;
}

// What is ruled is carried out.
static void ask(struct bench *b)
{
    struct uvea_error_context context = {{0}};
    uvea_oracle_ruling_deinit(&b->answer);
    assert_int_equal(uvea_oracle_rule(&b->model, &b->request, 1, &b->answer, &context), UVEA_OK);
    assert_int_equal(uvea_oracle_apply(&b->model, &b->request, 1, &b->answer), UVEA_OK);
    assert_null(b->answer.error_reason);
    assert_false(b->answer.updates);
    assert_int_equal(b->answer.serial != 0, b->answer.inserts);
    b->decision = b->answer.matched ? NO_MUTATION : INSERT_SKIPPED;
    if (b->answer.inserts) {
        assert_false(b->answer.matched);
        b->decision = INSERT;
    }
}

static enum uvea_error write_json(const struct bench *b, unsigned node_id, struct uvea_buf *buf,
                                  struct uvea_error_context *context)
{
    return uvea_oracle_result(&b->model, &b->request, 1, &b->answer, 0, node_id, buf, context);
}

static void expect_json(const struct bench *b, unsigned node_id, const char *expected)
{
    struct uvea_buf buf = {0};
    struct uvea_error_context context;
    assert_int_equal(write_json(b, node_id, &buf, &context), UVEA_OK);
    assert_int_equal(uvea_buf_append(&buf, "", 1), UVEA_OK);
    assert_string_equal((char *)buf.data, expected);
    uvea_buf_deinit(&buf);
}

static void fresh_pair_is_inserted(void **state)
{
    (void)state;
    struct bench *b = bench_open(config_default, 0);
    ask(b);
    assert_int_equal(b->decision, INSERT);
    assert_int_equal(b->answer.serial, 1);
    assert_int_equal(b->model.record_count, 1);
    expect_json(b, 2,
                "{\"node_id\":2,\"serial_id\":1,\"is_match\":false,\"signup_id\":\"s-1\","
                "\"matched_serial_ids\":null,\"matched_serial_ids_left\":null,"
                "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
                "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
                "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[],"
                "\"full_face_mirror_attack_detected\":false,"
                "\"full_face_mirror_matched_serial_ids\":null,"
                "\"full_face_mirror_matched_serial_ids_left\":null,"
                "\"full_face_mirror_matched_serial_ids_right\":null,"
                "\"full_face_mirror_partial_matches_count_left\":0,"
                "\"full_face_mirror_partial_matches_count_right\":0,"
                "\"error\":null,\"error_reason\":null}");
    ask(b);
    assert_int_equal(b->decision, NO_MUTATION);
    assert_int_equal(b->model.record_count, 1);
    bench_close(b);
}

static void duplicate_lists_serials_and_rotations(void **state)
{
    (void)state;
    struct bench *b = bench_open(config_default, 3);
    struct uvea_oracle_pair target = random_pair(2);
    uvea_oracle_rotate(&target.eye[UVEA_ORACLE_LEFT], -4, &b->query.eye[UVEA_ORACLE_LEFT]);
    uvea_oracle_rotate(&target.eye[UVEA_ORACLE_RIGHT], 15, &b->query.eye[UVEA_ORACLE_RIGHT]);
    ask(b);
    expect_json(b, 0,
                "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"s-1\","
                "\"matched_serial_ids\":[2],\"matched_serial_ids_left\":[2],"
                "\"matched_serial_ids_right\":[2],\"partial_matches_count_right\":1,"
                "\"partial_matches_count_left\":1,\"partial_match_rotation_indices_left\":[[4]],"
                "\"partial_match_rotation_indices_right\":[[-15]],\"matched_batch_request_ids\":[],"
                "\"full_face_mirror_attack_detected\":false,"
                "\"full_face_mirror_matched_serial_ids\":null,"
                "\"full_face_mirror_matched_serial_ids_left\":null,"
                "\"full_face_mirror_matched_serial_ids_right\":null,"
                "\"full_face_mirror_partial_matches_count_left\":0,"
                "\"full_face_mirror_partial_matches_count_right\":0,"
                "\"error\":null,\"error_reason\":null}");
    assert_int_equal(b->answer.search[UVEA_ORACLE_NORMAL].pass_count, 2);
    const struct uvea_oracle_pass *pass = b->answer.search[UVEA_ORACLE_NORMAL].passes;
    assert_int_equal(pass[0].serial, 2);
    assert_int_equal(pass[0].eye, UVEA_ORACLE_LEFT);
    assert_int_equal(pass[0].rotation, 4);
    assert_int_equal(pass[0].code_dot, 12800);
    assert_int_equal(pass[0].mask_dot, 12800);
    assert_int_equal(pass[1].eye, UVEA_ORACLE_RIGHT);
    assert_int_equal(pass[1].rotation, -15);
    bench_close(b);
}

static void hidden_partial_results_leave_the_full_matches(void **state)
{
    (void)state;
    struct uvea_oracle_config config = config_default;
    config.return_partial_results = false;
    struct bench *b = bench_open(config, 2);
    b->query = random_pair(1);
    ask(b);
    expect_json(b, 1,
                "{\"node_id\":1,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"s-1\","
                "\"matched_serial_ids\":[1],\"matched_serial_ids_left\":null,"
                "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
                "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
                "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[],"
                "\"full_face_mirror_attack_detected\":false,"
                "\"full_face_mirror_matched_serial_ids\":null,"
                "\"full_face_mirror_matched_serial_ids_left\":null,"
                "\"full_face_mirror_matched_serial_ids_right\":null,"
                "\"full_face_mirror_partial_matches_count_left\":0,"
                "\"full_face_mirror_partial_matches_count_right\":0,"
                "\"error\":null,\"error_reason\":null}");
    bench_close(b);
}

static void skipped_insert_has_an_empty_list_and_leaves_the_database(void **state)
{
    (void)state;
    struct bench *b = bench_open(config_default, 1);
    b->request.skip_persistence = true;
    ask(b);
    assert_int_equal(b->decision, INSERT_SKIPPED);
    assert_int_equal(b->model.record_count, 1);
    expect_json(b, 0,
                "{\"node_id\":0,\"serial_id\":null,\"is_match\":false,\"signup_id\":\"s-1\","
                "\"matched_serial_ids\":[],\"matched_serial_ids_left\":null,"
                "\"matched_serial_ids_right\":null,\"partial_matches_count_right\":0,"
                "\"partial_matches_count_left\":0,\"partial_match_rotation_indices_left\":null,"
                "\"partial_match_rotation_indices_right\":null,\"matched_batch_request_ids\":[],"
                "\"full_face_mirror_attack_detected\":false,"
                "\"full_face_mirror_matched_serial_ids\":null,"
                "\"full_face_mirror_matched_serial_ids_left\":null,"
                "\"full_face_mirror_matched_serial_ids_right\":null,"
                "\"full_face_mirror_partial_matches_count_left\":0,"
                "\"full_face_mirror_partial_matches_count_right\":0,"
                "\"error\":null,\"error_reason\":null}");
    bench_close(b);
}

// A look-alike on the eye that is not fully scanned is seen only through a prefilter pass.
static void second_eye_is_looked_at_behind_the_first_only(void **state)
{
    (void)state;
    struct uvea_oracle_config config = config_default;
    struct bench *b = bench_open(config, 3);
    b->request.skip_persistence = true;
    b->query.eye[UVEA_ORACLE_RIGHT] = random_pair(2).eye[UVEA_ORACLE_RIGHT];
    ask(b);
    const struct uvea_oracle_search *normal = &b->answer.search[UVEA_ORACLE_NORMAL];
    assert_int_equal(normal->partial_count[UVEA_ORACLE_RIGHT], 0);
    assert_false(normal->records[1].prefiltered);
    assert_false(normal->records[1].second);
    assert_int_equal(normal->pass_count, 0);

    // Left passes the anonymous threshold, exactly, and not the strict one.
    b->query.eye[UVEA_ORACLE_LEFT] = flipped(random_pair(2).eye[UVEA_ORACLE_LEFT], 4800);
    ask(b);
    assert_true(normal->records[1].prefiltered);
    assert_true(normal->records[1].second);
    assert_int_equal(normal->records[1].anonymous[UVEA_ORACLE_LEFT], 1u << 15);
    assert_int_equal(normal->records[1].strict[UVEA_ORACLE_LEFT], 0);
    assert_int_equal(normal->partial_count[UVEA_ORACLE_LEFT], 0);
    assert_int_equal(normal->partial_count[UVEA_ORACLE_RIGHT], 1);
    assert_int_equal(normal->match_count, 0);
    assert_int_equal(normal->passes[0].code_dot, 3200);
    assert_int_equal(b->decision, INSERT_SKIPPED);

    b->query.eye[UVEA_ORACLE_LEFT] = flipped(random_pair(2).eye[UVEA_ORACLE_LEFT], 4801);
    ask(b);
    assert_int_equal(normal->partial_count[UVEA_ORACLE_RIGHT], 0);
    bench_close(b);

    // The same look-alike with the scan on the right eye is in the partial list.
    config.full_scan_eye = UVEA_ORACLE_RIGHT;
    b = bench_open(config, 3);
    b->query.eye[UVEA_ORACLE_RIGHT] = random_pair(2).eye[UVEA_ORACLE_RIGHT];
    ask(b);
    normal = &b->answer.search[UVEA_ORACLE_NORMAL];
    assert_int_equal(normal->partial_count[UVEA_ORACLE_RIGHT], 1);
    assert_int_equal(b->decision, INSERT);
    bench_close(b);
}

static void strict_limit_decides_the_request(void **state)
{
    (void)state;
    for (unsigned bits = 4415; bits <= 4418; bits++) {
        struct bench *b = bench_open(config_default, 2);
        b->query = random_pair(1);
        b->query.eye[UVEA_ORACLE_RIGHT] = flipped(b->query.eye[UVEA_ORACLE_RIGHT], bits);
        ask(b);
        assert_int_equal(b->decision, bits <= 4416 ? NO_MUTATION : INSERT);
        bench_close(b);
    }
}

static enum decision ask_or_rule(struct uvea_oracle_config config, const uint32_t *serials,
                                 size_t count)
{
    struct bench *b = bench_open(config, 5);
    b->query.eye[UVEA_ORACLE_RIGHT] = random_pair(3).eye[UVEA_ORACLE_RIGHT];
    b->request.or_rule_serials = serials;
    b->request.or_rule_count = count;
    ask(b);
    const enum decision decision = b->decision;
    const struct uvea_oracle_search *normal = &b->answer.search[UVEA_ORACLE_NORMAL];
    assert_int_equal(normal->match_count, decision == NO_MUTATION);
    assert_int_equal(normal->records[2].matched, decision == NO_MUTATION);
    bench_close(b);
    return decision;
}

static void or_rule_serials_match_on_either_eye(void **state)
{
    (void)state;
    const uint32_t target[] = {3};
    const uint32_t others[] = {0, 1, 2, 4, 5, 6, UINT32_MAX};
    const uint32_t noisy[] = {99, 3, 3, 0};
    struct uvea_oracle_config config = config_default;
    assert_int_equal(ask_or_rule(config, target, 1), NO_MUTATION);
    assert_int_equal(ask_or_rule(config, others, 7), INSERT);
    assert_int_equal(ask_or_rule(config, noisy, 4), NO_MUTATION);
    assert_int_equal(ask_or_rule(config, NULL, 0), INSERT);
    config.luc_serial_ids_from_request = false;
    assert_int_equal(ask_or_rule(config, target, 1), INSERT);
    config.luc_serial_ids_from_request = true;
    config.luc_enabled = false;
    assert_int_equal(ask_or_rule(config, target, 1), INSERT);
}

// Serial 3 of 5 is in a window of N + 1 newest records from N = 2 on.
static void look_back_window_is_inclusive(void **state)
{
    (void)state;
    struct uvea_oracle_config config = config_default;
    for (uint32_t n = 0; n <= 9; n++) {
        config.luc_lookback_records = n;
        assert_int_equal(ask_or_rule(config, NULL, 0), n >= 2 ? NO_MUTATION : INSERT);
    }
    config.luc_lookback_records = UINT32_MAX;
    assert_int_equal(ask_or_rule(config, NULL, 0), NO_MUTATION);
    config.luc_enabled = false;
    assert_int_equal(ask_or_rule(config, NULL, 0), INSERT);
}

// The window moves on with each insert, and is taken before the request's own.
static void look_back_window_is_taken_before_the_insert(void **state)
{
    (void)state;
    struct uvea_oracle_config config = config_default;
    config.luc_lookback_records = 1;
    struct bench *b = bench_open(config, 3);
    ask(b);
    const struct uvea_oracle_search *normal = &b->answer.search[UVEA_ORACLE_NORMAL];
    assert_int_equal(b->answer.serial, 4);
    assert_int_equal(normal->record_count, 3);
    assert_false(normal->records[0].luc);
    assert_true(normal->records[1].luc && normal->records[1].second);
    assert_true(normal->records[2].luc && normal->records[2].second);

    b->query = random_pair(1001);
    ask(b);
    assert_int_equal(normal->record_count, 4);
    assert_false(normal->records[1].luc);
    assert_true(normal->records[2].luc);
    assert_true(normal->records[3].luc);
    bench_close(b);
}

static struct uvea_oracle_pair mirrored_pair(const struct uvea_oracle_pair *in)
{
    struct uvea_oracle_pair out;
    uvea_oracle_mirror(&in->eye[UVEA_ORACLE_RIGHT], &out.eye[UVEA_ORACLE_LEFT]);
    uvea_oracle_mirror(&in->eye[UVEA_ORACLE_LEFT], &out.eye[UVEA_ORACLE_RIGHT]);
    return out;
}

static void mirrored_face_is_an_attack_when_the_pass_is_asked_for(void **state)
{
    (void)state;
    struct bench *b = bench_open(config_default, 3);
    struct uvea_oracle_pair target = random_pair(2);
    b->query = mirrored_pair(&target);
    ask_for_mirror(b, true);
    ask(b);
    assert_int_equal(b->decision, NO_MUTATION);
    assert_true(b->answer.mirror_attack);
    expect_json(b, 0,
                "{\"node_id\":0,\"serial_id\":null,\"is_match\":true,\"signup_id\":\"s-1\","
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
    ask_for_mirror(b, false);
    ask(b);
    assert_int_equal(b->decision, INSERT);
    assert_false(b->answer.mirror_attack);
    assert_false(b->answer.search[UVEA_ORACLE_MIRROR].run);
    bench_close(b);
}

// Record 1 matches the query, record 4 its mirror image: blocked, but no attack.
static void mirror_match_beside_a_normal_one_is_no_attack(void **state)
{
    (void)state;
    struct bench *b = bench_open(config_default, 3);
    b->query = random_pair(1);
    struct uvea_oracle_pair image = mirrored_pair(&b->query);
    insert(b, &image);
    ask_for_mirror(b, true);
    ask(b);
    assert_false(b->answer.mirror_attack);
    assert_int_equal(b->answer.search[UVEA_ORACLE_NORMAL].match_count, 1);
    assert_int_equal(b->answer.search[UVEA_ORACLE_MIRROR].match_count, 1);
    assert_true(b->answer.search[UVEA_ORACLE_MIRROR].records[3].matched);
    bench_close(b);
}

// The lists are named after the database's eye, and the LUC set counts in both orientations.
static void mirror_orientation_names_the_database_eye(void **state)
{
    (void)state;
    struct bench *b = bench_open(config_default, 3);
    struct uvea_oracle_pair target = random_pair(2);
    uvea_oracle_mirror(&target.eye[UVEA_ORACLE_RIGHT], &b->query.eye[UVEA_ORACLE_LEFT]);
    ask_for_mirror(b, true);
    b->request.skip_persistence = true;
    ask(b);
    const struct uvea_oracle_search *mirror = &b->answer.search[UVEA_ORACLE_MIRROR];
    assert_int_equal(mirror->partial_count[UVEA_ORACLE_RIGHT], 0);

    const uint32_t target_serial = 2;
    b->request.or_rule_serials = &target_serial;
    b->request.or_rule_count = 1;
    ask(b);
    assert_int_equal(mirror->partial_count[UVEA_ORACLE_LEFT], 0);
    assert_int_equal(mirror->partial_count[UVEA_ORACLE_RIGHT], 1);
    assert_true(mirror->records[1].matched);
    assert_true(b->answer.mirror_attack);
    bench_close(b);
}

// Three records share their left eye with the query. More than the limit blocks without an id.
static void supermatch_blocks_above_the_limit_only(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 3; n++) {
        struct uvea_oracle_config config = config_default;
        config.supermatch_limit = n == 0 ? 3 : 2;
        config.return_partial_results = n != 2;
        struct bench *b = bench_open(config, 1);
        for (uint32_t s = 2; s <= 4; s++) {
            struct uvea_oracle_pair pair = random_pair(s);
            pair.eye[UVEA_ORACLE_LEFT] = b->query.eye[UVEA_ORACLE_LEFT];
            insert(b, &pair);
        }
        ask(b);
        const struct uvea_oracle_search *normal = &b->answer.search[UVEA_ORACLE_NORMAL];
        assert_int_equal(normal->partial_count[UVEA_ORACLE_LEFT], 3);
        assert_int_equal(normal->match_count, 0);
        assert_int_equal(normal->saturated[UVEA_ORACLE_LEFT], n == 1);
        assert_int_equal(b->decision, n == 1 ? NO_MUTATION : INSERT);
        bench_close(b);
    }
}

// A query without a valid bit matches everything; lists stop at 2,048 ids, counts do not.
static void all_masked_query_matches_all_and_lists_are_capped(void **state)
{
    (void)state;
    struct bench *b = bench_open(config_default, 2050);
    memset(b->query.eye[UVEA_ORACLE_LEFT].mask, 0, sizeof(b->query.eye[0].mask));
    memset(b->query.eye[UVEA_ORACLE_RIGHT].mask, 0, sizeof(b->query.eye[0].mask));
    ask(b);
    assert_int_equal(b->decision, NO_MUTATION);
    const struct uvea_oracle_search *normal = &b->answer.search[UVEA_ORACLE_NORMAL];
    assert_int_equal(normal->match_count, 2050);
    assert_int_equal(normal->pass_count, 2050 * 31 * 2);

    struct uvea_buf buf = {0};
    struct uvea_error_context context;
    assert_int_equal(write_json(b, 0, &buf, &context), UVEA_OK);
    assert_int_equal(uvea_buf_append(&buf, "", 1), UVEA_OK);
    const char *json = (char *)buf.data;
    assert_non_null(strstr(json, "\"partial_matches_count_left\":2050"));
    assert_non_null(strstr(json, ",2047,2048],\"matched_serial_ids_left\""));
    assert_non_null(strstr(json, ",2047,2048],\"matched_serial_ids_right\""));
    assert_null(strstr(json, "2049"));
    unsigned lists = 0;
    for (const char *at = json; (at = strstr(at, "[-15,")) != NULL; at++) {
        lists++;
    }
    assert_int_equal(lists, 2 * 2048);
    uvea_buf_deinit(&buf);
    bench_close(b);
}

static void malformed_signup_id_is_refused(void **state)
{
    (void)state;
    struct bench *b = bench_open(config_default, 0);
    ask(b);
    b->request.id = "\xff";
    struct uvea_buf buf = {0};
    struct uvea_error_context context = {{0}};
    assert_int_equal(write_json(b, 0, &buf, &context), UVEA_ERR_FORMAT);
    assert_string_equal(context.text, "signup_id is not UTF-8");
    assert_int_equal(buf.len, 0);
    bench_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_pair_is_inserted),
        cmocka_unit_test(duplicate_lists_serials_and_rotations),
        cmocka_unit_test(hidden_partial_results_leave_the_full_matches),
        cmocka_unit_test(skipped_insert_has_an_empty_list_and_leaves_the_database),
        cmocka_unit_test(second_eye_is_looked_at_behind_the_first_only),
        cmocka_unit_test(strict_limit_decides_the_request),
        cmocka_unit_test(or_rule_serials_match_on_either_eye),
        cmocka_unit_test(look_back_window_is_inclusive),
        cmocka_unit_test(look_back_window_is_taken_before_the_insert),
        cmocka_unit_test(mirrored_face_is_an_attack_when_the_pass_is_asked_for),
        cmocka_unit_test(mirror_match_beside_a_normal_one_is_no_attack),
        cmocka_unit_test(mirror_orientation_names_the_database_eye),
        cmocka_unit_test(supermatch_blocks_above_the_limit_only),
        cmocka_unit_test(all_masked_query_matches_all_and_lists_are_capped),
        cmocka_unit_test(malformed_signup_id_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
