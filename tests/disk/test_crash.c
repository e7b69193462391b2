// SQLite on a disk that crashes: nothing acknowledged may be lost, and where it may be, it is.
#include "sim/runtime/random.h"
#include "tests/disk/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct outcome {
    unsigned trials;
    unsigned count[3]; // by enum rig_state
    uint64_t lost;     // sectors
    uint64_t spoiled;
    uint64_t order;
};

// The process dies at a random write, comes back, works on, and dies again.
static void trial(uint64_t seed, struct rig_mode mode, bool lying, struct outcome *outcome)
{
    struct rig rig;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, seed, "trial");
    rig_open(&rig, "crash", seed, mode);
    enum rig_state state = RIG_WHOLE;
    for (unsigned life = 0; life < 2 && state == RIG_WHOLE; life++) {
        rig_faults(&rig, (struct uvea_sim_disk_faults){
                             .crash_at_write = uvea_sim_random_range(&random, 1, 250),
                             .lying_sync = lying,
                         });
        if (rig.db != NULL || rig_start(&rig)) {
            rig_work(&rig, 40);
        }
        rig_restart(&rig);
        state = rig_judge(&rig);
        if (state == RIG_WHOLE) {
            rig_stop(&rig);
        }
    }
    struct uvea_sim_disk_stats stats = uvea_sim_disk_stats(rig.disk);
    outcome->trials++;
    outcome->count[state]++;
    outcome->lost += stats.lost;
    outcome->spoiled += stats.spoiled;
    outcome->order += stats.order;
    rig_close(&rig);
}

static struct outcome trials(const char *name, unsigned count, struct rig_mode mode, bool lying)
{
    struct outcome outcome = {0};
    for (unsigned i = 0; i < count; i++) {
        trial(i, mode, lying, &outcome);
    }
    print_message("%s: %u trials, %u whole, %u lost, %u corrupt; sectors: %llu lost, %llu spoiled; "
                  "%llu pages out of order\n",
                  name, outcome.trials, outcome.count[RIG_WHOLE], outcome.count[RIG_LOST],
                  outcome.count[RIG_CORRUPT], (unsigned long long)outcome.lost,
                  (unsigned long long)outcome.spoiled, (unsigned long long)outcome.order);
    return outcome;
}

static void expect_whole(const struct outcome *outcome)
{
    assert_int_equal(outcome->count[RIG_WHOLE], outcome->trials);
    assert_int_equal(outcome->order, 0);
    assert_true(outcome->lost > outcome->trials);
    assert_true(outcome->spoiled > outcome->trials);
}

static void test_wal_full_loses_nothing(void **state)
{
    (void)state;
    struct outcome outcome = trials("WAL, FULL", 3000, rig_wal_full, false);
    expect_whole(&outcome);
    outcome = trials("WAL, FULL, long WAL", 500, (struct rig_mode){"WAL", "FULL", 1000}, false);
    expect_whole(&outcome);
}

static void test_rollback_journal_loses_nothing(void **state)
{
    (void)state;
    struct outcome outcome =
        trials("DELETE, FULL", 500, (struct rig_mode){"DELETE", "FULL", 0}, false);
    expect_whole(&outcome);
}

// ---- canaries: they show that the trials can find something

static void test_wal_normal_loses_acknowledged_work(void **state)
{
    (void)state;
    struct outcome outcome =
        trials("WAL, NORMAL", 300, (struct rig_mode){"WAL", "NORMAL", 20}, false);
    assert_true(outcome.count[RIG_LOST] > 30);
    assert_int_equal(outcome.count[RIG_CORRUPT], 0);
    assert_int_equal(outcome.order, 0);
}

static void test_off_corrupts(void **state)
{
    (void)state;
    struct outcome outcome = trials("WAL, OFF", 300, (struct rig_mode){"WAL", "OFF", 20}, false);
    assert_true(outcome.count[RIG_LOST] > 30);
    assert_true(outcome.count[RIG_CORRUPT] > 30);
    assert_true(outcome.order > 0);
}

static void test_lying_sync_corrupts(void **state)
{
    (void)state;
    struct outcome outcome = trials("WAL, FULL, lying sync", 300, rig_wal_full, true);
    assert_true(outcome.count[RIG_LOST] > 30);
    assert_true(outcome.count[RIG_CORRUPT] > 30);
    assert_true(outcome.order > 0);
}

// ---- every write of a short life

static bool crash_at(uint64_t write, uint64_t seed)
{
    struct rig rig;
    rig_open(&rig, "each", seed, (struct rig_mode){"WAL", "FULL", 8});
    rig_faults(&rig, (struct uvea_sim_disk_faults){.crash_at_write = write});
    if (rig_start(&rig)) {
        rig_work(&rig, 6);
        (void)rig_checkpoint(&rig);
        rig_work(&rig, 2);
        rig_stop(&rig);
    }
    bool crashed = rig.crashed;
    rig_restart(&rig);
    if (rig_judge(&rig) != RIG_WHOLE) {
        fail_msg("write %llu, seed %llu", (unsigned long long)write, (unsigned long long)seed);
    }
    rig_stop(&rig);
    assert_true(rig_start(&rig)); // the table may be missing still
    rig_work(&rig, 3);
    assert_false(rig.failed);
    rig_restart(&rig);
    assert_int_equal(rig_judge(&rig), RIG_WHOLE);
    assert_int_equal(uvea_sim_disk_stats(rig.disk).order, 0);
    rig_close(&rig);
    return crashed;
}

static void test_crash_at_each_write(void **state)
{
    (void)state;
    uint64_t write = 0;
    bool crashed = true;
    while (crashed) {
        write++;
        for (uint64_t seed = 0; seed < 6; seed++) {
            crashed = crash_at(write, seed);
        }
    }
    print_message("%llu writes\n", (unsigned long long)write - 1);
    assert_true(write > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wal_full_loses_nothing),
        cmocka_unit_test(test_rollback_journal_loses_nothing),
        cmocka_unit_test(test_wal_normal_loses_acknowledged_work),
        cmocka_unit_test(test_off_corrupts),
        cmocka_unit_test(test_lying_sync_corrupts),
        cmocka_unit_test(test_crash_at_each_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
