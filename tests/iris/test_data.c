// The public templates of the test data: distances, mirror and rotations that were computed
// elsewhere.
#include "tests/iris/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SKIPPED = 77 };

static void test_known_distance(void **unused)
{
    (void)unused;
    struct uvea_template pair[2];
    if (!sample_load("known-distance.ndjson", pair, 2)) {
        skip();
    }
    unsigned different;
    unsigned common;
    sample_distance(&pair[0], &pair[1], &different, &common);
    assert_int_equal(different, 1648);
    assert_int_equal(common, 3212);

    int best = 0;
    unsigned best_different = 1;
    unsigned best_common = 1;
    for (int columns = -15; columns <= 15; columns++) {
        struct uvea_template turned;
        uvea_iris_rotate(&pair[1], columns, &turned);
        sample_distance(&pair[0], &turned, &different, &common);
        if (different * best_common < best_different * common) {
            best = columns;
            best_different = different;
            best_common = common;
        }
    }
    assert_int_equal(best, -9);
    assert_int_equal(best_different, 1577);
    assert_int_equal(best_common, 3278);
}

static void test_mirror_pair(void **unused)
{
    (void)unused;
    struct uvea_template pair[2];
    if (!sample_load("mirror.ndjson", pair, 2)) {
        skip();
    }
    unsigned different;
    unsigned common;
    sample_distance(&pair[0], &pair[1], &different, &common);
    assert_int_equal(different, 1636);
    assert_int_equal(common, 3292);
    struct uvea_template mirrored;
    uvea_iris_mirror(&pair[1], &mirrored);
    assert_memory_equal(&mirrored, &pair[0], sizeof(mirrored));
    sample_distance(&pair[0], &mirrored, &different, &common);
    assert_int_equal(different, 0);
    assert_int_equal(common, 6488);
}

// One line "k: bits", the bits in 200 groups of 64.
static void check_rotation_line(const char *line, const struct uvea_template *unrotated, int want)
{
    char *bits = NULL;
    assert_int_equal(strtol(line, &bits, 10), want);
    assert_int_equal(*bits++, ':');
    struct uvea_template turned;
    uvea_iris_rotate(unrotated, want, &turned);
    for (size_t i = 0; i < UVEA_IRIS_BITS; i++) {
        bits += strspn(bits, " ");
        assert_int_equal(*bits++ - '0', turned.code[i / 64] >> i % 64 & 1);
    }
    bits += strspn(bits, " \n");
    assert_int_equal(*bits, '\0');
}

static void test_all_rotations(void **unused)
{
    (void)unused;
    FILE *file = sample_open("all-rotations.txt");
    if (file == NULL) {
        print_message("all-rotations.txt is absent\n");
        skip();
    }
    char *line = NULL;
    size_t room = 0;
    struct uvea_template template = {{0}, {0}};
    ssize_t len = getline(&line, &room, file);
    assert_int_equal(len, UVEA_IRIS_BASE64_CHARS + 1);
    assert_int_equal(uvea_iris_decode_plane(line, UVEA_IRIS_BASE64_CHARS, template.code, NULL),
                     UVEA_OK);
    int rotation = -UVEA_ROTATION_MAX;
    while (getline(&line, &room, file) > 0) {
        if (strchr(line, ':') != NULL) {
            check_rotation_line(line, &template, rotation++);
        }
    }
    assert_int_equal(rotation, UVEA_ROTATION_MAX + 1);
    free(line);
    (void)fclose(file);
}

static void check_text_round_trip(const char *name, size_t count)
{
    struct uvea_template templates[10];
    if (!sample_load(name, templates, count)) {
        skip();
    }
    for (size_t i = 0; i < count; i++) {
        char text[UVEA_IRIS_BASE64_CHARS + 1];
        uint64_t plane[UVEA_IRIS_WORDS];
        uvea_iris_encode_plane(templates[i].mask, text);
        assert_int_equal(uvea_iris_decode_plane(text, strlen(text), plane, NULL), UVEA_OK);
        assert_memory_equal(plane, templates[i].mask, sizeof(plane));
        // The retained half of a mask must say everything about it.
        for (size_t word = 0; word < UVEA_IRIS_WORDS; word++) {
            assert_true(((plane[word] ^ plane[word] >> 1) & UINT64_C(0x5555555555555555)) == 0);
        }
    }
}

static void test_published_pair(void **unused)
{
    (void)unused;
    check_text_round_trip("published-pair.ndjson", 2);
}

static void test_synthetic(void **unused)
{
    (void)unused;
    check_text_round_trip("synthetic-10.ndjson", 10);
}

int main(void)
{
    FILE *file = sample_open("known-distance.ndjson");
    if (file == NULL) {
        print_message("the test data is absent: iris_data is skipped\n");
        return SKIPPED;
    }
    (void)fclose(file);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_distance), cmocka_unit_test(test_mirror_pair),
        cmocka_unit_test(test_all_rotations),  cmocka_unit_test(test_published_pair),
        cmocka_unit_test(test_synthetic),
    };
    return cmocka_run_group_tests_name("iris_data", tests, NULL, NULL);
}
