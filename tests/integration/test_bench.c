// `uvea bench service` with a small database: that it measures at all; what it measures is not
// judged.
#include "tests/integration/shell.h"
#include "tests/support/cmocka.h"

#include <string.h>

static void the_service_is_measured_on_both_paths(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "\"path\": \"ntt\", \"tls\": true",
        "\"path\": \"ring\", \"tls\": true",
    };
    const struct shell_result *r =
        shell("\"$UVEA\" bench service --records 20 --requests 17 --tls on --port 28600 --json");
    assert_int_equal(r->status, 0);
    assert_non_null(strstr(r->err, "stores of 20 records filled"));
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        assert_non_null(strstr(r->out, runs[i]));
    }
    assert_non_null(strstr(r->out, "\"comparisons_per_s\": "));
    assert_non_null(strstr(r->out, "\"stage_ms\": {\"idle\": "));
}

static void wrong_arguments_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"--records 0", "--records 0: want 1 to 1048576"},
        {"--requests 16", "--requests 16: want 17 to 1000"},
        {"--sessions 12", "--sessions: want a multiple of 8"},
        {"--scan fast", "--scan fast: want ring or ntt"},
        {"--tls maybe", "--tls maybe: want on or off"},
        {"--directory /nowhere/at/all", "/nowhere/at/all: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct shell_result *r = shell("\"$UVEA\" bench service %s", wrong[i][0]);
        assert_int_not_equal(r->status, 0);
        assert_non_null(strstr(r->err, wrong[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused_by_name),
        cmocka_unit_test(the_service_is_measured_on_both_paths),
    };
    return cmocka_run_group_tests(tests, shell_set_up, shell_tear_down);
}
