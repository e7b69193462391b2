#include "core/base/error.h"
#include "tests/support/cmocka.h"

#include <string.h>

static void every_error_has_a_name_and_a_text_of_its_own(void **state)
{
    (void)state;
    for (int a = UVEA_OK; a <= UVEA_ERR_DENIED; a++) {
        assert_string_not_equal(uvea_error_name((enum uvea_error)a), "UNKNOWN");
        assert_string_not_equal(uvea_error_text((enum uvea_error)a), "unknown error");
        for (int b = UVEA_OK; b < a; b++) {
            assert_string_not_equal(uvea_error_name((enum uvea_error)a),
                                    uvea_error_name((enum uvea_error)b));
            assert_string_not_equal(uvea_error_text((enum uvea_error)a),
                                    uvea_error_text((enum uvea_error)b));
        }
    }
    assert_string_equal(uvea_error_name(UVEA_ERR_FORMAT), "FORMAT");
    assert_string_equal(uvea_error_text(UVEA_ERR_FORMAT), "malformed input");
    assert_string_equal(uvea_error_name((enum uvea_error)(UVEA_ERR_DENIED + 1)), "UNKNOWN");
    assert_string_equal(uvea_error_text((enum uvea_error)1000), "unknown error");
}

static void set_writes_the_sentence_and_returns_the_error(void **state)
{
    (void)state;
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_error_set(&context, UVEA_ERR_LIMIT, "line %d of %s", 7, "a.yaml"),
                     UVEA_ERR_LIMIT);
    assert_string_equal(context.text, "line 7 of a.yaml");
    assert_int_equal(uvea_error_set(NULL, UVEA_ERR_PEER, "nobody reads %s", "this"), UVEA_ERR_PEER);
}

static void set_cuts_a_long_sentence(void **state)
{
    (void)state;
    struct uvea_error_context context;
    char words[2 * sizeof(context.text)];
    memset(words, 'w', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    assert_int_equal(uvea_error_set(&context, UVEA_ERR_FORMAT, "%s", words), UVEA_ERR_FORMAT);
    assert_int_equal(strlen(context.text), sizeof(context.text) - 1);
}

static enum uvea_error try_then_succeed(enum uvea_error first)
{
    UVEA_TRY(first);
    return UVEA_OK;
}

static enum uvea_error try_cleanup(enum uvea_error first, int *cleanups)
{
    enum uvea_error error;
    UVEA_TRY_CLEANUP(first);
    *cleanups += 10;
cleanup:
    *cleanups += 1;
    return error;
}

static void try_macros_pass_the_error_on(void **state)
{
    (void)state;
    assert_int_equal(try_then_succeed(UVEA_OK), UVEA_OK);
    assert_int_equal(try_then_succeed(UVEA_ERR_RESET), UVEA_ERR_RESET);
    int cleanups = 0;
    assert_int_equal(try_cleanup(UVEA_ERR_IO, &cleanups), UVEA_ERR_IO);
    assert_int_equal(cleanups, 1);
    assert_int_equal(try_cleanup(UVEA_OK, &cleanups), UVEA_OK);
    assert_int_equal(cleanups, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_a_name_and_a_text_of_its_own),
        cmocka_unit_test(set_writes_the_sentence_and_returns_the_error),
        cmocka_unit_test(set_cuts_a_long_sentence),
        cmocka_unit_test(try_macros_pass_the_error_on),
    };
    return cmocka_run_group_tests_name("base_error", tests, NULL, NULL);
}
