// How many descriptors the pools of a configuration can take, and what is said when that is more
// than may be open.
#include "core/daemon/descriptors.h"
#include "tests/support/cmocka.h"

#include <sys/resource.h>

static struct uvea_settings settings_of(uint32_t http, uint32_t sessions, uint32_t connections)
{
    struct uvea_settings settings = {.posix = {.http_connections_max = http}};

    settings.node.mesh.session_count = sessions;
    settings.node.mesh.connection_count = connections;
    return settings;
}

static uint64_t need_of(uint32_t http, uint32_t sessions, uint32_t connections)
{
    const struct uvea_settings settings = settings_of(http, sessions, connections);

    return uvea_descriptors_need(&settings);
}

static void test_need(void **state)
{
    (void)state;
    assert_int_equal(need_of(64, 24, 16), 64 * 4 + (2 * 16 + 512) * 2 + 256 + 256);
    assert_int_equal(need_of(65, 24, 16) - need_of(64, 24, 16), 4);
    assert_int_equal(need_of(64, 24, 17) - need_of(64, 24, 16), 4); // to two peers
    assert_int_equal(need_of(64, 24, 1000), need_of(64, 24, 24)); // no more than sessions are made
    assert_true(need_of(65536, 65536, 1024) > UINT64_C(65536) * 4);
}

static void test_check(void **state)
{
    struct uvea_error_context context;

    (void)state;
    assert_int_equal(uvea_descriptors_check(1856, 1856, &context), UVEA_OK);
    assert_int_equal(uvea_descriptors_check(1856, UINT64_MAX, &context), UVEA_OK);
    assert_int_equal(uvea_descriptors_check(1856, 1855, &context), UVEA_ERR_LIMIT);
    assert_string_equal(context.text, "1856 descriptors may be in use at once, and the hard limit "
                                      "on open files is 1855");
}

// Opening the runtime raises what may be open.
static void test_limit(void **state)
{
    const struct uvea_posix_config config = uvea_posix_config_default();
    struct uvea_error_context context;
    struct rlimit limit;
    struct uvea_rt *rt;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit lower = {.rlim_cur = 100, .rlim_max = 500};
    assert_true(limit.rlim_max >= lower.rlim_max);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &lower), 0);
    assert_int_equal(uvea_descriptors_limit(), 100);
    assert_int_equal(uvea_posix_open(&config, &rt, &context), UVEA_OK);
    assert_int_equal(uvea_descriptors_limit(), 500);
    uvea_posix_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_need),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
