// The body of /startup-sync, the comparison of configurations, the readdressing of results.
#include "core/coord/sync.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <string.h>

#define TAIL "\"common_config\":{}}"

static enum uvea_error decode(const char *text, struct uvea_sync_state *state,
                              struct uvea_error_context *context)
{
    return uvea_sync_state_decode((const uint8_t *)text, strlen(text), state, context);
}

static const char golden[] =
    "{\"db_len\":2,\"modifications\":[{\"id\":7,\"serial_id\":2,\"request_type\":\"uniqueness\","
    "\"s3_url\":\"key/a\",\"status\":\"COMPLETED\",\"persisted\":true,"
    "\"result_message_body\":\"{\\\"node_id\\\":1}\",\"graph_mutation\":null},"
    "{\"id\":8,\"serial_id\":null,\"request_type\":\"reset_check\",\"s3_url\":null,"
    "\"status\":\"IN_PROGRESS\",\"persisted\":false,\"result_message_body\":null,"
    "\"graph_mutation\":null}],\"next_sns_sequence_num\":18446744073709551615,"
    "\"common_config\":{\"b\":1,\"a\":[true]},\"graph_mutation_bytes\":[],"
    "\"max_persisted_sequence_number\":\"0000000000000000000000000000000000000012\","
    "\"dh_nonce\":null}";

static void a_state_comes_back(void **state)
{
    static const struct uvea_modification rows[] = {
        {.id = 7,
         .sequence = 11,
         .serial = 2,
         .type = "uniqueness",
         .s3_url = "key/a",
         .completed = true,
         .persisted = true,
         .result = "{\"node_id\":1}",
         .attributes = "{}"},
        {.id = 8, .sequence = 12, .type = "reset_check"},
    };
    struct uvea_sync_state made = {.db_len = 2,
                                   .has_next_sequence = true,
                                   .next_sequence = UINT64_MAX,
                                   .has_max_persisted = true,
                                   .max_persisted = 12};
    struct uvea_sync_state found = {0};
    struct uvea_buf json = {0};
    (void)state;
    made.common_config = json_pack("{s:i,s:[b]}", "b", 1, "a", 1);
    assert_int_equal(uvea_sync_state_add(&made, &rows[0]), UVEA_OK);
    assert_int_equal(uvea_sync_state_add(&made, &rows[1]), UVEA_OK);
    assert_int_equal(made.modifications[0].sequence, 11);
    assert_string_equal(made.modifications[0].attributes, "{}");
    assert_int_equal(uvea_sync_state_encode(&made, &json), UVEA_OK);
    assert_int_equal(json.len, sizeof(golden) - 1);
    assert_memory_equal(json.data, golden, json.len);

    assert_int_equal(uvea_sync_state_decode(json.data, json.len, &found, NULL), UVEA_OK);
    assert_int_equal(found.modification_count, 2);
    assert_int_equal(found.modifications[0].sequence, 0); // is not told
    assert_null(found.modifications[0].attributes);
    assert_string_equal(found.modifications[0].result, "{\"node_id\":1}");
    assert_true(found.modifications[0].completed && found.modifications[0].persisted);
    assert_null(found.modifications[1].s3_url);
    assert_int_equal(found.next_sequence, UINT64_MAX);
    assert_int_equal(found.max_persisted, 12);
    struct uvea_buf again = {0};
    assert_int_equal(uvea_sync_state_encode(&found, &again), UVEA_OK);
    assert_int_equal(again.len, json.len);
    assert_memory_equal(again.data, json.data, json.len);
    uvea_buf_deinit(&again);
    uvea_buf_deinit(&json);
    uvea_sync_state_deinit(&made);
    uvea_sync_state_deinit(&found);
}

static void absent_optionals_are_null(void **state)
{
    struct uvea_sync_state found = {0};
    (void)state;
    assert_int_equal(decode("{\"db_len\":0,\"modifications\":[]," TAIL, &found, NULL), UVEA_OK);
    assert_false(found.has_next_sequence);
    assert_false(found.has_max_persisted);
    uvea_sync_state_deinit(&found);
    assert_int_equal(decode("{\"db_len\":0,\"modifications\":[],\"max_persisted_sequence_number\":"
                            "\"0000000000000000000000000000000000000000\"," TAIL,
                            &found, NULL),
                     UVEA_OK);
    assert_true(found.has_max_persisted);
    assert_int_equal(found.max_persisted, 0);
    uvea_sync_state_deinit(&found);
}

#define ROW(members) "{\"db_len\":0,\"modifications\":[{" members "}]," TAIL
#define ROW_END "\"status\":\"COMPLETED\",\"persisted\":true"

static const struct {
    const char *body;
    enum uvea_error error;
    const char *says;
} bad_states[] = {
    {"", UVEA_ERR_FORMAT, "JSON"},
    {"{\"db_len\":0,\"modifications\":[]}", UVEA_ERR_FORMAT, "common_config"},
    {"{\"db_len\":0,\"modifications\":[],\"common_config\":[]}", UVEA_ERR_FORMAT, "common_config"},
    {"{\"modifications\":[]," TAIL, UVEA_ERR_FORMAT, "db_len is missing"},
    {"{\"db_len\":true,\"modifications\":[]," TAIL, UVEA_ERR_FORMAT, "db_len"},
    {"{\"db_len\":0," TAIL, UVEA_ERR_FORMAT, "modifications is missing"},
    {"{\"db_len\":0,\"modifications\":[1]," TAIL, UVEA_ERR_FORMAT, "entry 0: not an object"},
    {"{\"db_len\":0,\"modifications\":[],\"next_sns_sequence_num\":"
     "340282366920938463463374607431768211455," TAIL,
     UVEA_ERR_LIMIT, "next_sns_sequence_num"},
    {"{\"db_len\":0,\"modifications\":[],\"max_persisted_sequence_number\":\"1a\"," TAIL,
     UVEA_ERR_FORMAT, "max_persisted_sequence_number"},
    {"{\"db_len\":0,\"modifications\":[],\"max_persisted_sequence_number\":\"\"," TAIL,
     UVEA_ERR_FORMAT, "max_persisted_sequence_number"},
    {"{\"db_len\":0,\"modifications\":[],\"max_persisted_sequence_number\":"
     "\"0000000000000000000018446744073709551616\"," TAIL,
     UVEA_ERR_LIMIT, "max_persisted_sequence_number is more"},
    {"{\"db_len\":0,\"modifications\":[],\"max_persisted_sequence_number\":"
     "\"00000000000000000000000000000000000000001\"," TAIL,
     UVEA_ERR_LIMIT, "max_persisted_sequence_number is longer"},
    {ROW("\"id\":0,\"request_type\":\"x\"," ROW_END), UVEA_ERR_FORMAT, "id is 0"},
    {ROW("\"id\":1,\"serial_id\":0,\"request_type\":\"x\"," ROW_END), UVEA_ERR_FORMAT,
     "serial_id is 0"},
    {ROW("\"id\":1,\"serial_id\":4294967296,\"request_type\":\"x\"," ROW_END), UVEA_ERR_LIMIT,
     "entry 0: member serial_id"},
    {ROW("\"id\":9223372036854775808,\"request_type\":\"x\"," ROW_END), UVEA_ERR_LIMIT,
     "member id"},
    {ROW("\"id\":1," ROW_END), UVEA_ERR_FORMAT, "request_type is missing"},
    {ROW("\"id\":1,\"request_type\":\"12345678901234567890123456789012\"," ROW_END), UVEA_ERR_LIMIT,
     "request_type is longer"},
    {ROW("\"id\":1,\"request_type\":\"x\",\"status\":\"DONE\",\"persisted\":true"), UVEA_ERR_FORMAT,
     "status is not"},
    {ROW("\"id\":1,\"request_type\":\"x\",\"status\":\"COMPLETED\""), UVEA_ERR_FORMAT,
     "persisted is missing"},
    {ROW("\"id\":1,\"request_type\":\"x\",\"s3_url\":5," ROW_END), UVEA_ERR_FORMAT, "s3_url"},
    {ROW("\"id\":1,\"request_type\":\"x\",\"result_message_body\":{}," ROW_END), UVEA_ERR_FORMAT,
     "result_message_body"},
    {ROW("\"id\":1,\"request_type\":\"x\\u0000\"," ROW_END), UVEA_ERR_FORMAT, "JSON"},
    {ROW("\"id\":1,\"request_type\":\"\xff\"," ROW_END), UVEA_ERR_FORMAT, "JSON"},
    {ROW("\"id\":1,\"id\":1,\"request_type\":\"x\"," ROW_END), UVEA_ERR_FORMAT, "twice"},
    {ROW("\"id\":2,\"request_type\":\"x\"," ROW_END "},{\"id\":2,\"request_type\":\"x\"," ROW_END),
     UVEA_ERR_FORMAT, "entry 1: member id is not more"},
};

static void bad_states_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_states) / sizeof(bad_states[0]); i++) {
        struct uvea_error_context context = {{0}};
        struct uvea_sync_state found = {0};
        const struct uvea_sync_state nothing = {0};
        const enum uvea_error error = decode(bad_states[i].body, &found, &context);
        if (error != bad_states[i].error || strstr(context.text, bad_states[i].says) == NULL) {
            fail_msg("%s: %s, says '%s'", bad_states[i].body, uvea_error_name(error), context.text);
        }
        assert_memory_equal(&found, &nothing, sizeof(found));
    }
}

static void modifications_are_bounded(void **state)
{
    struct uvea_sync_state made = {0};
    struct uvea_sync_state found = {0};
    struct uvea_error_context context = {{0}};
    struct uvea_buf json = {0};
    struct uvea_modification row = {.type = "reset_check"};
    (void)state;
    made.common_config = json_object();
    for (row.id = 1; row.id <= UVEA_SYNC_MODIFICATIONS_MAX; row.id++) {
        assert_int_equal(uvea_sync_state_add(&made, &row), UVEA_OK);
    }
    assert_int_equal(uvea_sync_state_add(&made, &row), UVEA_ERR_LIMIT);
    assert_int_equal(uvea_sync_state_encode(&made, &json), UVEA_OK);
    assert_int_equal(uvea_sync_state_decode(json.data, json.len, &found, NULL), UVEA_OK);
    assert_int_equal(found.modification_count, UVEA_SYNC_MODIFICATIONS_MAX);
    assert_int_equal(found.modifications[4095].id, 4096);
    uvea_sync_state_deinit(&found);

    // One row more: the list is cut open behind the last one.
    struct uvea_buf more = {0};
    const char extra[] = ",{\"id\":5000,\"request_type\":\"x\",\"status\":\"COMPLETED\","
                         "\"persisted\":false}";
    const char *end = memmem(json.data, json.len, "],\"next", 7);
    const size_t head = (size_t)(end - (const char *)json.data);
    assert_int_equal(uvea_buf_append(&more, json.data, head), UVEA_OK);
    assert_int_equal(uvea_buf_append(&more, extra, sizeof(extra) - 1), UVEA_OK);
    assert_int_equal(uvea_buf_append(&more, end, json.len - head), UVEA_OK);
    assert_int_equal(uvea_sync_state_decode(more.data, more.len, &found, &context), UVEA_ERR_LIMIT);
    assert_non_null(strstr(context.text, "modifications has more than 4096"));
    uvea_buf_deinit(&more);
    uvea_buf_deinit(&json);
    uvea_sync_state_deinit(&made);
}

// ---- configurations

static void expect_config(const char *zero, const char *one, const char *two, const char *says)
{
    const char *texts[UVEA_PARTY_COUNT] = {zero, one, two};
    struct uvea_sync_state states[UVEA_PARTY_COUNT] = {0};
    struct uvea_error_context context = {{0}};
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        states[p].common_config = json_loads(texts[p], 0, NULL);
        assert_non_null(states[p].common_config);
    }
    const enum uvea_error error = uvea_sync_check_config(states, &context);
    assert_int_equal(error, says == NULL ? UVEA_OK : UVEA_ERR_STATE);
    assert_string_equal(context.text, says == NULL ? "" : says);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        uvea_sync_state_deinit(&states[p]);
    }
}

static void differing_configurations_are_named(void **state)
{
    (void)state;
    expect_config("{\"a\":1,\"b\":{\"c\":[1]}}", "{\"b\":{\"c\":[1]},\"a\":1}",
                  "{\"a\":1,\"b\":{\"c\":[1]}}", NULL);
    expect_config("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}", "{\"a\":1,\"b\":2}",
                  "configurations differ in b: party 0 has 2, party 1 has 3");
    expect_config("{\"a\":1}", "{\"a\":1}", "{\"a\":\"1\"}",
                  "configurations differ in a: party 0 has 1, party 2 has \"1\"");
    expect_config("{\"a\":{\"x\":{\"y\":true}}}", "{\"a\":{\"x\":{}}}", "{}",
                  "configurations differ in a.x.y: party 0 has true, party 1 has nothing");
    expect_config("{\"a\":{}}", "{\"a\":{}}", "{\"a\":{\"z\":null}}",
                  "configurations differ in a.z: party 0 has nothing, party 2 has null");
    expect_config(
        "{\"s\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaa\"}",
        "{\"s\":[]}", "{}",
        "configurations differ in s: party 0 has \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..., party 1 has []");
}

// ---- results

static void expect_readdress(const char *result, const char *expected)
{
    struct uvea_buf out = {0};
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_buf_append(&out, "<", 1), UVEA_OK);
    const enum uvea_error error = uvea_sync_readdress(result, uvea_party_at(2), &out, &context);
    if (expected == NULL) {
        assert_int_equal(error, UVEA_ERR_FORMAT);
        assert_int_equal(out.len, 1);
        assert_string_not_equal(context.text, "");
    } else {
        assert_int_equal(error, UVEA_OK);
        assert_string_equal((const char *)out.data + 1, expected);
        assert_int_equal(out.len, strlen(expected) + 1);
    }
    uvea_buf_deinit(&out);
}

static void a_result_is_readdressed(void **state)
{
    (void)state;
    expect_readdress("{\"node_id\":0,\"a\":[1,2.50,{\"node_id\":0}]}",
                     "{\"node_id\":2,\"a\":[1,2.50,{\"node_id\":0}]}");
    expect_readdress(" {\"signup_id\":\"\\\"node_id\\\":7 }{\", \"node_id\" :\t0 , \"x\":null}",
                     " {\"signup_id\":\"\\\"node_id\\\":7 }{\", \"node_id\" :\t2 , \"x\":null}");
    expect_readdress("{\"a\":\"node_id\",\"b\":{\"node_id\":5},\"node_id\":12}",
                     "{\"a\":\"node_id\",\"b\":{\"node_id\":5},\"node_id\":2}");
    expect_readdress("{\"node_id\":\"0\"}", NULL);
    expect_readdress("{\"node_id\":0.5}", NULL);
    expect_readdress("{\"node\\u005fid\":0}", NULL);
    expect_readdress("{\"a\":{\"node_id\":0}}", NULL);
    expect_readdress("[{\"node_id\":0}]", NULL);
    expect_readdress("{\"node_id\":0", NULL);
    expect_readdress("", NULL);
    expect_readdress("{\"node_id\":0,\"node_id\":1}", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_comes_back),
        cmocka_unit_test(absent_optionals_are_null),
        cmocka_unit_test(bad_states_are_refused),
        cmocka_unit_test(modifications_are_bounded),
        cmocka_unit_test(differing_configurations_are_named),
        cmocka_unit_test(a_result_is_readdressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
