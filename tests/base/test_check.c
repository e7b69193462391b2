#include "core/base/check.h"
#include "tests/support/aborts.h"
#include "tests/support/cmocka.h"

static void check_what_is_false(void)
{
    UVEA_CHECK(1 + 1 == 3);
}

static void check_what_is_true(void)
{
    UVEA_CHECK(1 + 1 == 2);
}

static void a_failed_check_ends_the_process(void **state)
{
    (void)state;
    assert_true(uvea_test_aborts(check_what_is_false));
    assert_false(uvea_test_aborts(check_what_is_true));
}

static void the_condition_is_evaluated_once(void **state)
{
    (void)state;
    int count = 0;
    UVEA_CHECK(++count == 1);
    assert_int_equal(count, 1);
    int numbers[7];
    assert_int_equal(UVEA_COUNT_OF(numbers), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_check_ends_the_process),
        cmocka_unit_test(the_condition_is_evaluated_once),
    };
    return cmocka_run_group_tests_name("base_check", tests, NULL, NULL);
}
