// SQLite on a disk that fails calls: every error reaches the caller or did no harm.
#include "tests/disk/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// What one life under faults came to.
struct life {
    uint64_t injected;
    bool reported; // SQLite reported an error
    unsigned done; // transactions acknowledged
};

// Works on a database that has a few rows, with these faults; then the disk is good again and
// everything acknowledged must be there.
static struct life live(uint64_t seed, struct uvea_sim_disk_faults faults, bool crash)
{
    struct rig rig;
    rig_open(&rig, "errors", seed, (struct rig_mode){"WAL", "FULL", 8});
    assert_true(rig_start(&rig));
    rig_work(&rig, 5);
    assert_false(rig.failed);
    rig_stop(&rig);
    uint64_t before = uvea_sim_disk_stats(rig.disk).injected;
    rig_faults(&rig, faults);
    bool started = rig_start(&rig);
    bool checkpointed = false;
    if (started) {
        rig_work(&rig, 4);
        checkpointed = rig_checkpoint(&rig);
        rig_work(&rig, 2);
    }
    struct life life = {
        .injected = uvea_sim_disk_stats(rig.disk).injected - before,
        .reported = !started || !checkpointed || rig.failed,
        .done = rig.acknowledged,
    };
    if (crash) {
        rig_restart(&rig);
    } else {
        rig_stop(&rig);
        rig_faults(&rig, (struct uvea_sim_disk_faults){0});
    }
    if (rig_judge(&rig) != RIG_WHOLE) {
        fail_msg("seed %llu, call %llu, space %llu: acknowledged work is gone",
                 (unsigned long long)seed, (unsigned long long)faults.fail_nth,
                 (unsigned long long)faults.space_bytes);
    }
    rig.failed = false;
    rig_work(&rig, 2);
    assert_false(rig.failed);
    assert_int_equal(uvea_sim_disk_stats(rig.disk).order, 0);
    rig_close(&rig);
    return life;
}

static void test_fail_each_call(void **state)
{
    (void)state;
    unsigned injected = 0;
    unsigned reported = 0;
    for (unsigned crash = 0; crash < 2; crash++) {
        for (uint64_t call = 1;; call++) {
            struct life life = live(7, (struct uvea_sim_disk_faults){.fail_nth = call}, crash == 1);
            if (life.injected == 0) {
                assert_false(life.reported);
                break;
            }
            injected++;
            reported += life.reported;
        }
    }
    // A checkpoint that SQLite starts by itself fails quietly: the WAL still has everything.
    print_message("%u calls failed, %u reported\n", injected, reported);
    assert_true(injected > 100);
    assert_true(reported > injected / 2);
}

static void test_disk_full_at_each_sector(void **state)
{
    (void)state;
    unsigned reported = 0;
    unsigned whole = 0;
    for (uint64_t space = 4096; whole < 3; space += 509) {
        struct life life = live(8, (struct uvea_sim_disk_faults){.space_bytes = space}, false);
        assert_true(life.injected > 0 || !life.reported);
        reported += life.reported;
        whole += life.injected == 0;
    }
    print_message("full at %u sizes\n", reported);
    assert_true(reported > 50);
}

static void test_chances(void **state)
{
    (void)state;
    static const struct uvea_sim_disk_faults kinds[] = {
        {.eio_read = 50000},
        {.eio_write = 50000},
        {.eio_sync = 100000},
        {.short_read = 50000},
        {.eio_read = 1000000},
        {.eio_write = 1000000},
        {.eio_sync = 1000000},
        {.short_read = 1000000},
        {.eio_read = 20000, .eio_write = 20000, .eio_sync = 20000, .short_read = 20000},
    };
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        uint64_t injected = 0;
        unsigned reported = 0;
        for (uint64_t seed = 0; seed < 60; seed++) {
            struct life life = live(100 + seed, kinds[kind], seed % 2 == 1);
            injected += life.injected;
            reported += life.reported;
        }
        assert_true(injected > 10);
        assert_true(reported > 10);
    }
}

// ---- syncs that take their time

static uint64_t waited_ns;

static void wait(void *arg, uint64_t ns)
{
    waited_ns += ns;
    if (arg != NULL) { // the process dies meanwhile
        uvea_sim_disk_crash(arg);
    }
}

static void test_stalls(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, "stalls", 1, rig_wal_full);
    assert_true(rig_start(&rig));
    uvea_sim_disk_on_stall(rig.disk, wait, NULL);
    rig_work(&rig, 2);
    assert_int_equal(uvea_sim_disk_stats(rig.disk).stalled, 0);
    rig_faults(&rig, (struct uvea_sim_disk_faults){.stall_ns = 7});
    rig_work(&rig, 3);
    assert_false(rig.failed);
    assert_true(uvea_sim_disk_stats(rig.disk).stalled >= 3);
    assert_int_equal(waited_ns, 7 * uvea_sim_disk_stats(rig.disk).stalled);
    uvea_sim_disk_on_stall(rig.disk, wait, rig.disk);
    rig_work(&rig, 1);
    assert_true(rig.failed);
    uvea_sim_disk_on_stall(rig.disk, NULL, NULL);
    rig_restart(&rig);
    assert_int_equal(rig_judge(&rig), RIG_WHOLE);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_each_call),
        cmocka_unit_test(test_disk_full_at_each_sector),
        cmocka_unit_test(test_chances),
        cmocka_unit_test(test_stalls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
