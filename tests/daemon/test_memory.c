// What a database takes, and what a machine or its cgroups leave.
#include "core/daemon/memory.h"
#include "tests/daemon/rig.h"
#include "tests/support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct uvea_node_config config_of(enum uvea_search_path path)
{
    struct uvea_node_config config = uvea_node_config_default(uvea_party_at(0));

    config.search.path = path;
    config.records_max = 1000000;
    assert_int_equal(uvea_search_take_kernels(&config.search, "portable"), UVEA_OK);
    return config;
}

static void test_need(void **state)
{
    const struct uvea_node_config ring = config_of(UVEA_SEARCH_RING);
    const struct uvea_node_config ntt = config_of(UVEA_SEARCH_NTT);
    const struct uvea_memory_need none = uvea_memory_need(&ring, 0);
    const struct uvea_memory_need some = uvea_memory_need(&ring, 65536);
    const struct uvea_memory_need both = uvea_memory_need(&ntt, 65536);

    (void)state;
    assert_int_equal(none.scanned_bytes, 0);
    assert_int_equal(none.cold_bytes, 0);
    assert_int_equal(some.scanned_bytes, UINT64_C(65536) * (38400 + 2));
    assert_int_equal(some.spectral_bytes, 0);
    assert_int_equal(some.cold_bytes, (UINT64_C(4096) + 501 + 4096) * 38400);
    assert_int_equal(both.scanned_bytes, some.scanned_bytes);
    assert_true(both.spectral_bytes >= UINT64_C(65536) * 2 * 12000);
    assert_true(both.total_bytes > some.total_bytes + both.spectral_bytes);
}

static void test_room(void **state)
{
    const struct uvea_node_config ntt = config_of(UVEA_SEARCH_NTT);
    const uint64_t bytes = uvea_memory_need(&ntt, 5000).total_bytes;

    (void)state;
    const uint64_t room = uvea_memory_records(&ntt, bytes);
    assert_true(room >= 5000);
    assert_true(uvea_memory_need(&ntt, room).total_bytes <= bytes);
    assert_true(uvea_memory_need(&ntt, room + 1).total_bytes > bytes);
    assert_int_equal(uvea_memory_records(&ntt, 0), 0);
    assert_int_equal(uvea_memory_records(&ntt, UINT64_MAX), ntt.records_max);
}

static void test_refusal(void **state)
{
    const struct uvea_memory_need need = {.records = 7, .total_bytes = 1000};
    struct uvea_error_context context;

    (void)state;
    assert_int_equal(uvea_memory_check(&need, 0, 1000, &context), UVEA_OK);
    assert_int_equal(uvea_memory_check(&need, 1000, UINT64_MAX, &context), UVEA_OK);
    assert_int_equal(uvea_memory_check(&need, 0, 999, &context), UVEA_ERR_LIMIT);
    assert_string_equal(context.text, "7 records take 1000 bytes of memory, and available are 999");
    assert_int_equal(uvea_memory_check(&need, 998, 999, &context), UVEA_ERR_LIMIT);
    assert_string_equal(context.text,
                        "7 records take 1000 bytes of memory, and scan.memory_bytes_max is 998");
    assert_int_equal(uvea_memory_check(&need, 5000, 999, &context), UVEA_ERR_LIMIT);
    assert_string_equal(context.text, "7 records take 1000 bytes of memory, and available are 999");
}

static void put(const struct rig *rig, const char *path, const char *text)
{
    rig_write(rig, path, text, strlen(text), 0600);
}

static void test_machine(void **state)
{
    struct rig *rig = *state;

    assert_int_equal(uvea_memory_available(rig->folder), UINT64_MAX);
    put(rig, "proc/meminfo", "MemTotal:  2000 kB\nMemFree:  1 kB\nMemAvailable:     1000 kB\n");
    assert_int_equal(uvea_memory_available(rig->folder), 1000 * 1024);
    put(rig, "proc/meminfo", "MemAvailable: many\n");
    assert_int_equal(uvea_memory_available(rig->folder), UINT64_MAX);
    assert_true(uvea_memory_available("") > 0);
}

// The tightest of the groups from the own one up counts; what is only cached is not used.
static void test_groups(void **state)
{
    struct rig *rig = *state;

    put(rig, "proc/meminfo", "MemAvailable: 1000 kB\n");
    put(rig, "proc/self/cgroup", "1:cpu:/x\n0::/a/b\n");
    put(rig, "sys/fs/cgroup/a/b/memory.max", "max\n");
    put(rig, "sys/fs/cgroup/a/b/memory.current", "5\n");
    assert_int_equal(uvea_memory_available(rig->folder), 1000 * 1024);
    put(rig, "sys/fs/cgroup/a/memory.max", "5000\n");
    put(rig, "sys/fs/cgroup/a/memory.current", "3000\n");
    assert_int_equal(uvea_memory_available(rig->folder), 2000);
    put(rig, "sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 500\n");
    assert_int_equal(uvea_memory_available(rig->folder), 2500);
    put(rig, "sys/fs/cgroup/a/memory.current", "9000\n");
    assert_int_equal(uvea_memory_available(rig->folder), 0);
}

static void test_groups_of_version_1(void **state)
{
    struct rig *rig = *state;

    put(rig, "proc/self/cgroup", "4:memory:/\n");
    put(rig, "sys/fs/cgroup/memory/memory.limit_in_bytes", "700\n");
    put(rig, "sys/fs/cgroup/memory/memory.usage_in_bytes", "100\n");
    put(rig, "sys/fs/cgroup/memory/memory.stat", "inactive_file 7\ntotal_inactive_file 50\n");
    assert_int_equal(uvea_memory_available(rig->folder), 650);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_need),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test_setup_teardown(test_machine, rig_open, rig_close),
        cmocka_unit_test_setup_teardown(test_groups, rig_open, rig_close),
        cmocka_unit_test_setup_teardown(test_groups_of_version_1, rig_open, rig_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
