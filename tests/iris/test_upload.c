// Share files: golden form, round trip, and a sentence for every way to be wrong.
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "core/iris/share.h"
#include "tests/iris/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    STRING = 34144, // characters of one share string
    HEAD = 49,      // up to and with the second version
};

static const char head[] = "{\"IRIS_version\":\"1.0\",\"IRIS_shares_version\":\"1.3\",";
static const char *const names[] = {"left_iris_code_shares", "right_iris_code_shares",
                                    "left_mask_code_shares", "right_mask_code_shares"};

struct fixture {
    struct uvea_iris_upload upload;
    struct uvea_iris_upload found;
    struct uvea_iris_upload before;
    struct uvea_buf json; // of party 1
};

static int setup(void **state)
{
    struct fixture *fixture = uvea_mem_alloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    struct sample_rng rng = {9};
    uint16_t *value = (uint16_t *)&fixture->upload;
    for (size_t i = 0; i < sizeof(fixture->upload) / sizeof(*value); i++) {
        value[i] = sample_draw(&rng);
    }
    memset(&fixture->found, 0x5A, sizeof(fixture->found));
    memset(&fixture->before, 0x5A, sizeof(fixture->before));
    assert_int_equal(uvea_iris_encode_upload(uvea_party_at(1), &fixture->upload, &fixture->json),
                     UVEA_OK);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    uvea_buf_deinit(&fixture->json);
    uvea_mem_free(fixture);
    return 0;
}

// Where the characters of share string i start.
static char *share_text(struct fixture *fixture, size_t i)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "\"%s\":\"", names[i]);
    char *found = memmem(fixture->json.data, fixture->json.len, name, strlen(name));
    assert_non_null(found);
    return found + strlen(name);
}

static void assert_refused(struct fixture *fixture, unsigned party, const char *sentence)
{
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_iris_decode_upload(uvea_party_at(party), fixture->json.data,
                                             fixture->json.len, &fixture->found, &context),
                     UVEA_ERR_FORMAT);
    assert_string_equal(context.text, sentence);
    assert_memory_equal(&fixture->found, &fixture->before, sizeof(fixture->found));
}

static void test_golden_form(void **state)
{
    struct fixture *fixture = *state;
    char *at = (char *)fixture->json.data;
    assert_memory_equal(at, head, sizeof(head) - 1);
    at += sizeof(head) - 1;
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        int len = snprintf(name, sizeof(name), "%s\"%s\":\"", i == 0 ? "" : ",", names[i]);
        assert_memory_equal(at, name, (size_t)len);
        at += len;
        const struct uvea_iris_share *eye = &fixture->upload.eye[i % 2];
        uint8_t bytes[UVEA_SHARE_BYTES] = {2};
        for (size_t j = 0; j < UVEA_SHARE_COEFFICIENTS; j++) {
            uvea_store_le16(bytes + 8 + 2 * j, (i < 2 ? eye->code : eye->mask)[j]);
        }
        char text[STRING + 1];
        uvea_iris_encode_base64(bytes, sizeof(bytes), text);
        assert_memory_equal(at, text, STRING);
        at += STRING;
        assert_int_equal(*at++, '"');
    }
    assert_int_equal(*at++, '}');
    assert_int_equal(at - (char *)fixture->json.data, fixture->json.len);
}

static void test_round_trip(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(uvea_iris_decode_upload(uvea_party_at(1), fixture->json.data,
                                             fixture->json.len, &fixture->found, NULL),
                     UVEA_OK);
    assert_memory_equal(&fixture->found, &fixture->upload, sizeof(fixture->found));
}

// Encoding appends.
static void test_encode_appends(void **state)
{
    struct fixture *fixture = *state;
    struct uvea_buf buf = {0};
    assert_int_equal(uvea_buf_append(&buf, "ab", 2), UVEA_OK);
    assert_int_equal(uvea_iris_encode_upload(uvea_party_at(1), &fixture->upload, &buf), UVEA_OK);
    assert_int_equal(buf.len, fixture->json.len + 2);
    assert_memory_equal(buf.data, "ab", 2);
    assert_memory_equal(buf.data + 2, fixture->json.data, fixture->json.len);
    uvea_buf_deinit(&buf);
}

static void test_other_partys_share(void **state)
{
    struct fixture *fixture = *state;
    assert_refused(fixture, 0, "member left_iris_code_shares: share id 2, party 0 wants 1");
    assert_refused(fixture, 2, "member left_iris_code_shares: share id 2, party 2 wants 3");
}

// Replaces the id of a share string: the first 11 characters, with two bits of the coefficients.
static void set_id(char *text, uint64_t id)
{
    uint8_t bytes[9];
    char nine[13];
    uvea_store_le64(bytes, id);
    bytes[8] = 0;
    uvea_iris_encode_base64(bytes, sizeof(bytes), nine);
    memcpy(text, nine, 11);
}

static void test_wrong_ids(void **state)
{
    struct fixture *fixture = *state;
    set_id(share_text(fixture, 3), 3);
    assert_refused(fixture, 1, "member right_mask_code_shares: share id 3, party 1 wants 2");
    set_id(share_text(fixture, 3), 0);
    assert_refused(fixture, 1, "member right_mask_code_shares: share id 0, valid are 1 to 3");
    set_id(share_text(fixture, 3), 4);
    assert_refused(fixture, 1, "member right_mask_code_shares: share id 4, valid are 1 to 3");
    set_id(share_text(fixture, 3), UINT64_C(1) << 31);
    assert_refused(fixture, 1,
                   "member right_mask_code_shares: share id 2147483648, valid are 1 to 3");
    set_id(share_text(fixture, 3), (UINT64_C(1) << 32) + 2);
    assert_refused(fixture, 1,
                   "member right_mask_code_shares: share id 4294967298, valid are 1 to 3");
    set_id(share_text(fixture, 3), UINT64_MAX);
    assert_refused(
        fixture, 1,
        "member right_mask_code_shares: share id 18446744073709551615, valid are 1 to 3");
}

static void test_bad_base64(void **state)
{
    struct fixture *fixture = *state;
    share_text(fixture, 1)[99] = '-';
    assert_refused(fixture, 1,
                   "member right_iris_code_shares: base64: character 100 is not in the alphabet");
    share_text(fixture, 1)[99] = 'A';
    memcpy(share_text(fixture, 1) + STRING - 2, "==", 2);
    assert_refused(fixture, 1,
                   "member right_iris_code_shares: base64: holds 25606 bytes, 25608 are wanted");
}

// Replaces `cut` bytes at `at` by text.
static void splice(struct fixture *fixture, char *at, size_t cut, const char *text)
{
    struct uvea_buf out = {0};
    size_t before = (size_t)(at - (char *)fixture->json.data);
    assert_int_equal(uvea_buf_append(&out, fixture->json.data, before), UVEA_OK);
    assert_int_equal(uvea_buf_append(&out, text, strlen(text)), UVEA_OK);
    assert_int_equal(
        uvea_buf_append(&out, fixture->json.data + before + cut, fixture->json.len - before - cut),
        UVEA_OK);
    uvea_buf_deinit(&fixture->json);
    fixture->json = out;
}

static void test_wrong_length(void **state)
{
    struct fixture *fixture = *state;
    splice(fixture, share_text(fixture, 2) + 100, 0, "AAAA");
    assert_refused(fixture, 1,
                   "member left_mask_code_shares: base64: holds 25611 bytes, 25608 are wanted");
    splice(fixture, share_text(fixture, 2) + 100, 8, "");
    assert_refused(fixture, 1,
                   "member left_mask_code_shares: base64: holds 25605 bytes, 25608 are wanted");
    splice(fixture, share_text(fixture, 2) + 100, 1, "");
    assert_refused(
        fixture, 1,
        "member left_mask_code_shares: base64: 34139 characters are not a multiple of 4");
    splice(fixture, share_text(fixture, 2), 34139, "");
    assert_refused(fixture, 1,
                   "member left_mask_code_shares: base64: holds 0 bytes, 25608 are wanted");
}

static void test_missing_members(void **state)
{
    struct fixture *fixture = *state;
    share_text(fixture, 3)[-4] = 'X';
    assert_refused(fixture, 1, "member right_mask_code_shares is missing");
    ((char *)fixture->json.data)[2] = 'X';
    assert_refused(fixture, 1, "member IRIS_version is missing");
}

static void test_not_strings(void **state)
{
    struct fixture *fixture = *state;
    splice(fixture, share_text(fixture, 0) - 1, STRING + 2, "[1,2]");
    assert_refused(fixture, 1, "member left_iris_code_shares is not a string");
    splice(fixture, (char *)fixture->json.data + 16, 5, "1.0");
    assert_refused(fixture, 1, "member IRIS_version is not a string");
}

static void test_duplicate_member(void **state)
{
    struct fixture *fixture = *state;
    splice(fixture, (char *)fixture->json.data + 1, 0, "\"IRIS_version\":\"1.0\",");
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_iris_decode_upload(uvea_party_at(1), fixture->json.data,
                                             fixture->json.len, &fixture->found, &context),
                     UVEA_ERR_FORMAT);
    assert_memory_equal(context.text, "JSON: an object has a member twice (line 1,", 43);
}

// Versions are not compared and other members are of no concern, as in the reference.
static void test_accepts_versions_and_strangers(void **state)
{
    struct fixture *fixture = *state;
    splice(fixture, (char *)fixture->json.data + 1, 0, "\"note\":{\"IRIS_version\":7},\n");
    splice(fixture, memmem(fixture->json.data, fixture->json.len, "1.3", 3), 3, "");
    assert_int_equal(uvea_iris_decode_upload(uvea_party_at(1), fixture->json.data,
                                             fixture->json.len, &fixture->found, NULL),
                     UVEA_OK);
    assert_memory_equal(&fixture->found, &fixture->upload, sizeof(fixture->found));
}

static void test_truncation(void **state)
{
    struct fixture *fixture = *state;
    size_t full = fixture->json.len;
    for (size_t step = 0; step < 40; step++) {
        size_t len = step < 20 ? step : full - (step - 19);
        struct uvea_error_context context = {{0}};
        assert_int_equal(uvea_iris_decode_upload(uvea_party_at(1), fixture->json.data, len,
                                                 &fixture->found, &context),
                         UVEA_ERR_FORMAT);
        assert_memory_equal(context.text, "JSON: ", 6);
        assert_memory_equal(&fixture->found, &fixture->before, sizeof(fixture->found));
    }
}

// A sentence must not quote what was read: it could be a share.
static void test_sentences_quote_nothing(void **state)
{
    struct fixture *fixture = *state;
    splice(fixture, (char *)fixture->json.data + HEAD + 1, 0, "SECRET");
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_iris_decode_upload(uvea_party_at(1), fixture->json.data,
                                             fixture->json.len, &fixture->found, &context),
                     UVEA_ERR_FORMAT);
    assert_null(strstr(context.text, "SECRET"));
    assert_memory_equal(context.text, "JSON: syntax error (line 1, column ", 35);
}

static void test_share_string(void **state)
{
    struct fixture *fixture = *state;
    uint64_t id = 77;
    uint16_t *out = fixture->found.eye[0].code;
    assert_int_equal(uvea_iris_decode_share(share_text(fixture, 1), STRING, &id, out, NULL),
                     UVEA_OK);
    assert_true(id == 2);
    assert_memory_equal(out, fixture->upload.eye[1].code, sizeof(fixture->upload.eye[1].code));
    set_id(share_text(fixture, 1), 9);
    memset(out, 0x5A, sizeof(fixture->upload.eye[1].code));
    assert_int_equal(uvea_iris_decode_share(share_text(fixture, 1), STRING, &id, out, NULL),
                     UVEA_ERR_FORMAT);
    assert_true(id == 2);
    assert_memory_equal(out, fixture->before.eye[0].code, sizeof(fixture->before.eye[0].code));
}

#define UPLOAD_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UPLOAD_TEST(test_golden_form),
        UPLOAD_TEST(test_round_trip),
        UPLOAD_TEST(test_encode_appends),
        UPLOAD_TEST(test_other_partys_share),
        UPLOAD_TEST(test_wrong_ids),
        UPLOAD_TEST(test_bad_base64),
        UPLOAD_TEST(test_wrong_length),
        UPLOAD_TEST(test_missing_members),
        UPLOAD_TEST(test_not_strings),
        UPLOAD_TEST(test_duplicate_member),
        UPLOAD_TEST(test_accepts_versions_and_strangers),
        UPLOAD_TEST(test_truncation),
        UPLOAD_TEST(test_sentences_quote_nothing),
        UPLOAD_TEST(test_share_string),
    };
    return cmocka_run_group_tests_name("iris_upload", tests, NULL, NULL);
}
