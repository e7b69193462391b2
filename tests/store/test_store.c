// Linked once with each back end.
#include "tests/store/fixture.h"
#include "tests/store/suite.h"

int main(void)
{
    if (backend_start() != 0) {
        backend_stop();
        return 1;
    }
#define SUITE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close),
    const struct CMUnitTest tests[] = {SUITE(SUITE_TEST)};
#undef SUITE_TEST
    int failures = cmocka_run_group_tests_name(backend.name, tests, NULL, NULL);
    backend_stop();
    return failures;
}
