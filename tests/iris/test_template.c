// Templates in the clear: text forms, rotation and mirroring against their definitions.
#include "core/base/buf.h"
#include "core/iris/template.h"
#include "tests/iris/sample.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// A valid plane: zero bytes, so 2,134 times A and two padding characters.
static void zero_text(char text[UVEA_IRIS_BASE64_CHARS + 1])
{
    memset(text, 'A', UVEA_IRIS_BASE64_CHARS - 2);
    memcpy(text + UVEA_IRIS_BASE64_CHARS - 2, "==", 3);
}

static void assert_plane_fails(const char *text, size_t len, const char *sentence)
{
    uint64_t plane[UVEA_IRIS_WORDS];
    uint64_t before[UVEA_IRIS_WORDS];
    memset(plane, 0x5A, sizeof(plane));
    memcpy(before, plane, sizeof(plane));
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_iris_decode_plane(text, len, plane, &context), UVEA_ERR_FORMAT);
    assert_string_equal(context.text, sentence);
    assert_memory_equal(plane, before, sizeof(plane));
}

static void test_golden_word(void **unused)
{
    (void)unused;
    char text[UVEA_IRIS_BASE64_CHARS + 1];
    static const char golden[11] = "2om6m4m6gBM"; // da 89 ba 9b 89 ba 80 13
    zero_text(text);
    memcpy(text, golden, sizeof(golden));
    uint64_t plane[UVEA_IRIS_WORDS];
    assert_int_equal(uvea_iris_decode_plane(text, strlen(text), plane, NULL), UVEA_OK);
    assert_true(plane[0] == UINT64_C(0xc8015d91d95d915b));
    for (size_t i = 1; i < UVEA_IRIS_WORDS; i++) {
        assert_true(plane[i] == 0);
    }
    char again[UVEA_IRIS_BASE64_CHARS + 1];
    uvea_iris_encode_plane(plane, again);
    assert_string_equal(again, text);
}

static void test_first_and_last_bit(void **unused)
{
    (void)unused;
    uint64_t plane[UVEA_IRIS_WORDS] = {0};
    plane[0] = 1;
    plane[199] = UINT64_C(1) << 63;
    char text[UVEA_IRIS_BASE64_CHARS + 1];
    uvea_iris_encode_plane(plane, text);
    assert_int_equal(strlen(text), UVEA_IRIS_BASE64_CHARS);
    assert_memory_equal(text, "gAAA", 4);                           // first byte 80
    assert_string_equal(text + UVEA_IRIS_BASE64_CHARS - 4, "AQ=="); // last byte 01
}

static void test_text_round_trip(void **unused)
{
    (void)unused;
    struct sample_rng rng = {1};
    for (unsigned i = 0; i < 20; i++) {
        struct uvea_template template;
        sample_template(&rng, &template);
        char text[UVEA_IRIS_BASE64_CHARS + 1];
        uvea_iris_encode_plane(template.code, text);
        uint64_t plane[UVEA_IRIS_WORDS];
        assert_int_equal(uvea_iris_decode_plane(text, strlen(text), plane, NULL), UVEA_OK);
        assert_memory_equal(plane, template.code, sizeof(plane));
    }
}

static void test_refuses_other_sizes(void **unused)
{
    (void)unused;
    char large[2732];
    memset(large, 'A', sizeof(large));
    large[2731] = '=';
    assert_plane_fails(large, sizeof(large),
                       "2732 base64 characters (2048 bytes, as of a 16 x 256 template), but a "
                       "16 x 200 template has 2136 (1600 bytes)");
    assert_plane_fails(large, 0,
                       "0 base64 characters, but a 16 x 200 template has 2136 (1600 bytes)");
    assert_plane_fails(large, 2135,
                       "2135 base64 characters, but a 16 x 200 template has 2136 (1600 bytes)");
    assert_plane_fails(large, 2137,
                       "2137 base64 characters, but a 16 x 200 template has 2136 (1600 bytes)");
    // The right number of characters, for one and two bytes more.
    assert_plane_fails(large, 2136, "base64: holds 1602 bytes, 1600 are wanted");
    large[2135] = '=';
    assert_plane_fails(large, 2136, "base64: holds 1601 bytes, 1600 are wanted");
}

static void test_refuses_bad_characters(void **unused)
{
    (void)unused;
    static const char bad[] = {' ', '\n', '-', '_', '=', '\0', '\x80', '@', '[', '`', '{', ':'};
    static const size_t places[] = {0, 1, 1000, 2133};
    for (size_t i = 0; i < sizeof(bad); i++) {
        for (size_t j = 0; j < 4; j++) {
            char text[UVEA_IRIS_BASE64_CHARS + 1];
            zero_text(text);
            text[places[j]] = bad[i];
            char sentence[100];
            (void)snprintf(sentence, sizeof(sentence),
                           "base64: character %zu is not in the alphabet", places[j] + 1);
            assert_plane_fails(text, UVEA_IRIS_BASE64_CHARS, sentence);
        }
    }
}

static void test_refuses_second_spelling(void **unused)
{
    (void)unused;
    char text[UVEA_IRIS_BASE64_CHARS + 1];
    zero_text(text);
    text[2133] = 'B'; // its low four bits belong to no byte
    assert_plane_fails(text, UVEA_IRIS_BASE64_CHARS,
                       "base64: the unused bits of the last character are not zero");
}

static void test_json_round_trip(void **unused)
{
    (void)unused;
    struct sample_rng rng = {2};
    struct uvea_template template;
    sample_template(&rng, &template);
    struct uvea_buf buf = {0};
    assert_int_equal(uvea_buf_append(&buf, "x", 1), UVEA_OK);
    assert_int_equal(uvea_iris_encode_json(&template, &buf), UVEA_OK);
    assert_int_equal(buf.len, 1 + 15 + 2136 + 16 + 2136 + 3);
    assert_memory_equal(buf.data + 1, "{\"iris_codes\":\"", 15);
    assert_int_equal(buf.data[buf.len - 1], '\n');
    struct uvea_template again;
    assert_int_equal(uvea_iris_decode_json((const char *)buf.data + 1, buf.len - 1, &again, NULL),
                     UVEA_OK);
    assert_memory_equal(&again, &template, sizeof(again));
    uvea_buf_deinit(&buf);
}

// Other members, order and white space do not matter.
static void test_json_ignores_the_rest(void **unused)
{
    (void)unused;
    char text[UVEA_IRIS_BASE64_CHARS + 1];
    zero_text(text);
    char line[6000];
    int len = snprintf(line, sizeof(line),
                       " {\"mask_codes\" : \"%s\", \"version\": [{\"a\": null}], \"iris_codes\": "
                       "\"%s\" }\r\n",
                       text, text);
    struct uvea_template found;
    assert_int_equal(uvea_iris_decode_json(line, (size_t)len, &found, NULL), UVEA_OK);
}

static void assert_json_fails(const char *line, enum uvea_error error, const char *sentence)
{
    struct uvea_template found;
    struct uvea_template before;
    memset(&found, 0x5A, sizeof(found));
    before = found;
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_iris_decode_json(line, strlen(line), &found, &context), error);
    assert_string_equal(context.text, sentence);
    assert_memory_equal(&found, &before, sizeof(found));
}

static void test_json_refuses(void **unused)
{
    (void)unused;
    char text[UVEA_IRIS_BASE64_CHARS + 1];
    zero_text(text);
    char line[8000];
    assert_json_fails("", UVEA_ERR_FORMAT, "JSON: there is no text, an object is wanted");
    assert_json_fails("\xef\xbb\xbf{}", UVEA_ERR_FORMAT,
                      "JSON: the text begins with a byte order mark; it must not have one");
    assert_json_fails("[]", UVEA_ERR_FORMAT, "JSON: the text is not an object");
    assert_json_fails("{} {}", UVEA_ERR_FORMAT, "JSON: text follows the value (line 1, column 4)");
    assert_json_fails("{\"a\" 1}", UVEA_ERR_FORMAT, "JSON: syntax error (line 1, column 6)");
    assert_json_fails("{}", UVEA_ERR_FORMAT, "member iris_codes is missing");
    assert_json_fails("{\"iris_codes\":7}", UVEA_ERR_FORMAT, "member iris_codes is not a string");
    assert_json_fails("{\"iris_codes\":\"AAAA\"}", UVEA_ERR_FORMAT,
                      "member iris_codes: 4 base64 characters, but a 16 x 200 template has 2136 "
                      "(1600 bytes)");
    (void)snprintf(line, sizeof(line), "{\"iris_codes\":\"%s\"}", text);
    assert_json_fails(line, UVEA_ERR_FORMAT, "member mask_codes is missing");
    (void)snprintf(line, sizeof(line),
                   "{\"iris_codes\":\"%s\",\"mask_codes\":\"%s\",\"iris_codes\":\"%s\"}", text,
                   text, text);
    struct uvea_error_context context = {{0}};
    struct uvea_template found;
    assert_int_equal(uvea_iris_decode_json(line, strlen(line), &found, &context), UVEA_ERR_FORMAT);
    assert_non_null(strstr(context.text, "an object has a member twice"));
}

static void test_json_bounds_depth(void **unused)
{
    (void)unused;
    assert_json_fails("{\"a\":[[[[[[[[[[[[[[[\"]]]\\\"{{{\"]]]]]]]]]]]]]]]}", UVEA_ERR_FORMAT,
                      "member iris_codes is missing");
    assert_json_fails("{\"a\":[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}", UVEA_ERR_LIMIT,
                      "JSON: nested more than 16 deep");
}

static void test_rotation(void **unused)
{
    (void)unused;
    struct sample_rng rng = {3};
    struct uvea_template in;
    sample_template(&rng, &in);
    for (int columns = -201; columns <= 201; columns++) {
        struct uvea_template out;
        uvea_iris_rotate(&in, columns, &out);
        for (size_t i = 0; i < UVEA_IRIS_BITS; i++) {
            size_t row = i / 800;
            size_t to = (i / 4 % 200 + (size_t)(columns + 400)) % 200;
            size_t wavelet = i / 2 % 2;
            assert_true(sample_bit(out.code, row, to, wavelet, i % 2) ==
                        sample_bit(in.code, row, i / 4 % 200, wavelet, i % 2));
            assert_true(sample_bit(out.mask, row, to, wavelet, i % 2) ==
                        sample_bit(in.mask, row, i / 4 % 200, wavelet, i % 2));
        }
    }
}

static void test_rotation_by_extremes(void **unused)
{
    (void)unused;
    struct sample_rng rng = {4};
    struct uvea_template in;
    struct uvea_template found;
    struct uvea_template want;
    sample_template(&rng, &in);
    uvea_iris_rotate(&in, INT_MAX, &found);
    uvea_iris_rotate(&in, INT_MAX % 200, &want);
    assert_memory_equal(&found, &want, sizeof(want));
    uvea_iris_rotate(&in, INT_MIN, &found);
    uvea_iris_rotate(&in, INT_MIN % 200, &want);
    assert_memory_equal(&found, &want, sizeof(want));
}

static void test_mirror(void **unused)
{
    (void)unused;
    struct sample_rng rng = {5};
    struct uvea_template in;
    struct uvea_template out;
    struct uvea_template again;
    sample_template(&rng, &in);
    uvea_iris_mirror(&in, &out);
    for (size_t i = 0; i < UVEA_IRIS_BITS; i++) {
        size_t row = i / 800;
        size_t from = i / 4 % 200;
        size_t to = from < 100 ? 99 - from : 299 - from;
        size_t wavelet = i / 2 % 2;
        unsigned imaginary = i % 2;
        assert_true(sample_bit(out.code, row, to, wavelet, imaginary) ==
                    (sample_bit(in.code, row, from, wavelet, imaginary) ^ imaginary));
        assert_true(sample_bit(out.mask, row, to, wavelet, imaginary) ==
                    sample_bit(in.mask, row, from, wavelet, imaginary));
    }
    uvea_iris_mirror(&out, &again);
    assert_memory_equal(&again, &in, sizeof(in));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_word),
        cmocka_unit_test(test_first_and_last_bit),
        cmocka_unit_test(test_text_round_trip),
        cmocka_unit_test(test_refuses_other_sizes),
        cmocka_unit_test(test_refuses_bad_characters),
        cmocka_unit_test(test_refuses_second_spelling),
        cmocka_unit_test(test_json_round_trip),
        cmocka_unit_test(test_json_ignores_the_rest),
        cmocka_unit_test(test_json_refuses),
        cmocka_unit_test(test_json_bounds_depth),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_rotation_by_extremes),
        cmocka_unit_test(test_mirror),
    };
    return cmocka_run_group_tests_name("iris_template", tests, NULL, NULL);
}
