// Bodies of peers: what is written is read again; what is not one is refused by name and leaves the
// output alone.
#include "core/coord/body.h"
#include "core/coord/json.h"
#include "tests/support/cmocka.h"

#include <string.h>

#define ID "01234567-89ab-4cde-8f01-23456789abcd"
#define HEALTH_START "{\"image_name\":\"i\",\"uuid\":\"" ID "\",\"shutting_down\":false,"
#define SHA_31 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30"

static const struct {
    const char *body;
    enum uvea_error error;
    const char *says;
} bad_health[] = {
    {"", UVEA_ERR_FORMAT, "JSON"},
    {"[]", UVEA_ERR_FORMAT, "not an object"},
    {"{}", UVEA_ERR_FORMAT, "image_name is missing"},
    {"{\"image_name\":1}", UVEA_ERR_FORMAT, "image_name is not a string"},
    {HEALTH_START "\"is_ready\":true}", UVEA_ERR_FORMAT, "verified_peers is missing"},
    {HEALTH_START "\"is_ready\":1,\"verified_peers\":[]}", UVEA_ERR_FORMAT, "is_ready is not true"},
    {HEALTH_START "\"is_ready\":true,\"verified_peers\":{}}", UVEA_ERR_FORMAT, "not a list"},
    {HEALTH_START "\"is_ready\":true,\"verified_peers\":[\"x\"]}", UVEA_ERR_FORMAT, "not a UUID"},
    {HEALTH_START "\"is_ready\":true,\"verified_peers\":[7]}", UVEA_ERR_FORMAT, "not a UUID"},
    {HEALTH_START "\"is_ready\":true,\"verified_peers\":[]", UVEA_ERR_FORMAT, "ends early"},
    {HEALTH_START "\"is_ready\":true,\"verified_peers\":[],\"uuid\":\"" ID "\"}", UVEA_ERR_FORMAT,
     "twice"},
    {"{\"image_name\":\"i\",\"uuid\":\"01234567-89AB-4cde-8f01-23456789abcd\"}", UVEA_ERR_FORMAT,
     "uuid: not a UUID"},
    {"{\"image_name\":\"i\",\"uuid\":\"" ID "0\"}", UVEA_ERR_LIMIT, "uuid is longer"},
    {"{\"a\":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}", UVEA_ERR_LIMIT, "deep"},
    // What stands in strings nests nothing, wherever they end.
    {"{\"a\":\"[[[[[[[[[[[[[[[[[[\\\"[[\\\\\"}", UVEA_ERR_FORMAT, "image_name is missing"},
    {"{\"a\":\"\\\\\\\"[\\\\\",\"b\":[[[[[[[[[[[[[[[[[[", UVEA_ERR_LIMIT, "deep"},
    {"{\"a\":\"[[[[[[[[[[[[[[[[[[\\", UVEA_ERR_FORMAT, "JSON"},
    {"{\"a\":\"[[[[[[[[[[[[[[[[[[\\\"", UVEA_ERR_FORMAT, "JSON"},
};

static void bad_health_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_health) / sizeof(bad_health[0]); i++) {
        struct uvea_error_context context = {{0}};
        struct uvea_coord_health health;
        memset(&health, 0x5A, sizeof(health));
        const char *body = bad_health[i].body;
        assert_int_equal(
            uvea_coord_health_decode((const uint8_t *)body, strlen(body), &health, &context),
            bad_health[i].error);
        if (strstr(context.text, bad_health[i].says) == NULL) {
            fail_msg("%s: says '%s'", body, context.text);
        }
        for (size_t k = 0; k < sizeof(health); k++) {
            assert_int_equal(((const uint8_t *)&health)[k], 0x5A);
        }
    }
}

static void health_comes_back(void **state)
{
    struct uvea_coord_health health = {
        .image_name = "a \"quoted\" name\n", .boot = {ID}, .ready = true, .verified_count = 2};
    struct uvea_coord_health found = {0};
    struct uvea_buf json = {0};
    (void)state;
    memset(health.verified[0].text, 'a', UVEA_COORD_UUID_CHARS);
    memcpy(health.verified[0].text, ID, 24);
    memcpy(health.verified[1].text, ID, sizeof(ID));
    assert_int_equal(uvea_coord_health_encode(&health, &json), UVEA_OK);
    assert_int_equal(uvea_coord_health_decode(json.data, json.len, &found, NULL), UVEA_OK);
    found.image_name = health.image_name;
    assert_memory_equal(&found, &health, sizeof(found));
    assert_true(uvea_coord_health_lists(&found, ID));
    assert_false(uvea_coord_health_lists(&found, "01234567-89ab-4cde-8f01-23456789abce"));
    assert_int_equal(
        uvea_coord_health_decode(json.data, UVEA_COORD_BODY_BYTES_MAX + 1, &found, NULL),
        UVEA_ERR_LIMIT);
    uvea_buf_deinit(&json);
}

static void ids_are_judged(void **state)
{
    (void)state;
    assert_true(uvea_coord_id_valid(ID));
    assert_false(uvea_coord_id_valid(""));
    assert_false(uvea_coord_id_valid("01234567-89ab-4cde-8f01-23456789abc"));
    assert_false(uvea_coord_id_valid("01234567-89ab-4cde-8f01-23456789abcde"));
    assert_false(uvea_coord_id_valid("0123456789ab--4cde-8f01-23456789abcd"));
    assert_false(uvea_coord_id_valid("0123456g-89ab-4cde-8f01-23456789abcd"));
}

static enum uvea_error decode_size(const char *body, struct uvea_coord_size *size,
                                   struct uvea_error_context *context)
{
    return uvea_coord_size_decode((const uint8_t *)body, strlen(body), size, context);
}

static void sizes_come_back(void **state)
{
    const struct uvea_coord_size size = {.batch_id = UINT64_MAX, .count = UINT32_MAX};
    struct uvea_coord_size found = {0};
    struct uvea_buf json = {0};
    (void)state;
    assert_int_equal(uvea_coord_size_encode(&size, &json), UVEA_OK);
    assert_int_equal(uvea_coord_size_decode(json.data, json.len, &found, NULL), UVEA_OK);
    assert_int_equal(found.batch_id, UINT64_MAX);
    assert_int_equal(found.count, UINT32_MAX);
    uvea_buf_deinit(&json);
    assert_int_equal(
        decode_size("{\"other\":null, \"batch_id\" : 7,\n\"messages_to_poll\":0}", &found, NULL),
        UVEA_OK);
    assert_int_equal(found.batch_id, 7);
    assert_int_equal(found.count, 0);
}

static void bad_sizes_are_refused(void **state)
{
    static const struct {
        const char *body;
        enum uvea_error error;
        const char *says;
    } bad[] = {
        {"{\"messages_to_poll\":1}", UVEA_ERR_FORMAT, "batch_id is missing"},
        {"{\"messages_to_poll\":-1,\"batch_id\":1}", UVEA_ERR_FORMAT, "messages_to_poll is not"},
        {"{\"messages_to_poll\":1.0,\"batch_id\":1}", UVEA_ERR_FORMAT, "messages_to_poll is not"},
        {"{\"messages_to_poll\":4294967296,\"batch_id\":1}", UVEA_ERR_LIMIT, "messages_to_poll"},
        {"{\"messages_to_poll\":1,\"batch_id\":18446744073709551616}", UVEA_ERR_LIMIT, "batch_id"},
        {"{\"messages_to_poll\":1,\"batch_id\":000000000000000000001}", UVEA_ERR_FORMAT, "JSON"},
        {"{\"messages_to_poll\":1,\"batch_id\":-9999999999999999999}", UVEA_ERR_FORMAT, "JSON"},
        {"{\"messages_to_poll\":1,\"batch_id\":9999999999999999999.}", UVEA_ERR_FORMAT, "JSON"},
        {"{9999999999999999999:1}", UVEA_ERR_FORMAT, "JSON"},
        {"{\"messages_to_poll\":1,\"batch_id\":null}", UVEA_ERR_FORMAT, "batch_id is not"},
        {"{\"messages_to_poll\":1,\"batch_id\":\"1x\"}", UVEA_ERR_FORMAT, "batch_id is not"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct uvea_error_context context = {{0}};
        struct uvea_coord_size size = {.batch_id = 5, .count = 6};
        assert_int_equal(decode_size(bad[i].body, &size, &context), bad[i].error);
        if (strstr(context.text, bad[i].says) == NULL) {
            fail_msg("%s: says '%s'", bad[i].body, context.text);
        }
        assert_int_equal(size.batch_id, 5);
        assert_int_equal(size.count, 6);
    }
}

static void entries_come_back(void **state)
{
    struct uvea_coord_entries entries = {.count = UVEA_COORD_ENTRIES_MAX};
    struct uvea_coord_entries found = {0};
    struct uvea_buf json = {0};
    (void)state;
    for (size_t i = 0; i < UVEA_COORD_ENTRIES_MAX; i++) {
        entries.valid[i] = i % 3 == 0;
        entries.sha[i % UVEA_COORD_SHA_BYTES] = (uint8_t)(7 * i);
    }
    assert_int_equal(uvea_coord_entries_encode(&entries, &json), UVEA_OK);
    assert_int_equal(uvea_coord_entries_decode(json.data, json.len, &found, NULL), UVEA_OK);
    assert_memory_equal(&found, &entries, sizeof(found));
    uvea_buf_deinit(&json);
}

static void bad_entries_are_refused(void **state)
{
    static const struct {
        const char *body;
        enum uvea_error error;
        const char *says;
    } bad[] = {
        {"{\"valid_entries\":[]}", UVEA_ERR_FORMAT, "batch_sha is missing"},
        {"{\"valid_entries\":[],\"batch_sha\":[" SHA_31 "]}", UVEA_ERR_FORMAT, "31 entries"},
        {"{\"valid_entries\":[],\"batch_sha\":[" SHA_31 ",31,32]}", UVEA_ERR_LIMIT, "batch_sha"},
        {"{\"valid_entries\":[],\"batch_sha\":[" SHA_31 ",256]}", UVEA_ERR_FORMAT, "entry 31"},
        {"{\"valid_entries\":[],\"batch_sha\":[" SHA_31 ",-1]}", UVEA_ERR_FORMAT, "entry 31"},
        {"{\"valid_entries\":[],\"batch_sha\":[" SHA_31 ",\"1\"]}", UVEA_ERR_FORMAT, "entry 31"},
        {"{\"valid_entries\":[true,1],\"batch_sha\":[" SHA_31 ",31]}", UVEA_ERR_FORMAT, "entry 1"},
        {"{\"valid_entries\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],\"batch_sha\":[" SHA_31
         ",31]}",
         UVEA_ERR_LIMIT, "valid_entries has more than 64"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct uvea_error_context context = {{0}};
        struct uvea_coord_entries entries = {.count = 3};
        assert_int_equal(uvea_coord_entries_decode((const uint8_t *)bad[i].body,
                                                   strlen(bad[i].body), &entries, &context),
                         bad[i].error);
        if (strstr(context.text, bad[i].says) == NULL) {
            fail_msg("%s: says '%s'", bad[i].body, context.text);
        }
        assert_int_equal(entries.count, 3);
    }
}

static void digits_are_numbers(void **state)
{
    uint64_t value = 9;
    (void)state;
    assert_int_equal(uvea_coord_digits("", &value), UVEA_ERR_FORMAT);
    assert_int_equal(uvea_coord_digits("00", &value), UVEA_ERR_FORMAT);
    assert_int_equal(uvea_coord_digits("1 ", &value), UVEA_ERR_FORMAT);
    assert_int_equal(uvea_coord_digits("99999999999999999999999x", &value), UVEA_ERR_FORMAT);
    assert_int_equal(uvea_coord_digits("18446744073709551616", &value), UVEA_ERR_LIMIT);
    assert_int_equal(value, 9);
    assert_int_equal(uvea_coord_digits("18446744073709551615", &value), UVEA_OK);
    assert_int_equal(value, UINT64_MAX);
    assert_int_equal(uvea_coord_digits("0", &value), UVEA_OK);
    assert_int_equal(value, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_health_is_refused),   cmocka_unit_test(health_comes_back),
        cmocka_unit_test(ids_are_judged),          cmocka_unit_test(sizes_come_back),
        cmocka_unit_test(bad_sizes_are_refused),   cmocka_unit_test(entries_come_back),
        cmocka_unit_test(bad_entries_are_refused), cmocka_unit_test(digits_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
