#include "core/base/nearest.h"
#include "tests/support/cmocka.h"

#include <stddef.h>
#include <string.h>

static const char *nearest_of(const char *name, const char *const *candidates, size_t count)
{
    struct uvea_nearest nearest = {.name = name};
    const char *best = "";
    for (size_t i = 0; i < count; i++) {
        best = uvea_nearest_try(&nearest, candidates[i]) ? candidates[i] : best;
    }
    return best;
}

static void the_nearest_is_found(void **state)
{
    static const char *const words[] = {"mesh", "http", "log", "mesh.listen",
                                        "coordination.lag_ms"};
    static const struct {
        const char *name;
        const char *meant;
    } cases[] = {
        {"mseh", "mesh"},
        {"mes", "mesh"},
        {"meshes", "mesh"},
        {"mesh", "mesh"},
        {"htp", "http"},
        {"mesh.listn", "mesh.listen"},
        {"mesh.litsen", "mesh.listen"},
        {"mesh.lsitne", ""}, // four edits
        {"coordinator.lags_ms", "coordination.lag_ms"},
        {"lig", "log"},
        {"lib", ""}, // two edits of a word of three
        {"", ""},
        {"store", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = nearest_of(cases[i].name, words, sizeof(words) / sizeof(words[0]));
        if (strcmp(found, cases[i].meant) != 0) {
            fail_msg("%s: %s, wanted %s", cases[i].name, found, cases[i].meant);
        }
    }
}

static void the_first_of_equals_stays(void **state)
{
    static const char *const words[] = {"abcd", "abce"};
    (void)state;
    assert_string_equal(nearest_of("abcf", words, 2), "abcd");
}

static void long_names_are_near_to_nothing(void **state)
{
    char name[UVEA_NEAREST_CHARS_MAX + 1];
    const char *candidate = name;
    (void)state;
    memset(name, 'a', sizeof(name));
    name[UVEA_NEAREST_CHARS_MAX] = '\0';
    assert_string_equal(nearest_of(name, &candidate, 1), "");
    assert_string_equal(nearest_of("a", &candidate, 1), "");
    name[UVEA_NEAREST_CHARS_MAX - 1] = '\0';
    assert_string_equal(nearest_of(name, &candidate, 1), name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_is_found),
        cmocka_unit_test(the_first_of_equals_stays),
        cmocka_unit_test(long_names_are_near_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
