// The store on the simulated disk: whatever was acknowledged is there after any crash, error or
// want of space, and what a disk spoiled is refused instead of being believed.
#include "sim/disk/disk.h"
#include "tests/store/life.h"

#include <string.h>

static struct uvea_sim_disk *disk;

static uint64_t wall_ns(void *arg)
{
    (void)arg;
    return UINT64_C(1700000000) * UVEA_SECOND;
}

static void no_place(struct fixture *fixture)
{
    (void)fixture;
}

static enum uvea_error open_on_disk(struct fixture *fixture)
{
    return uvea_store_open_sqlite(uvea_test_rt(), "party.db", uvea_sim_disk_vfs(disk),
                                  &fixture->store, &fixture->context);
}

const struct backend backend = {.name = "disk", .place = no_place, .open = open_on_disk};

static void start(struct fixture *fixture, uint64_t seed)
{
    *fixture = (struct fixture){.backend = &backend};
    assert_int_equal(uvea_sim_disk_open("store", seed, wall_ns, NULL, &disk), UVEA_OK);
}

static void end(struct fixture *fixture)
{
    fixture_stop(fixture);
    uvea_sim_disk_close(disk);
}

// Opens and lives until `steps` are done or something fails; how many steps are acknowledged.
static uint64_t live(struct fixture *fixture, uint64_t from, uint64_t steps, enum uvea_error *error)
{
    *error = open_on_disk(fixture);
    uint64_t step = from;
    while (*error == UVEA_OK && step < steps) {
        *error = life_step(fixture, step);
        step += *error == UVEA_OK ? 1 : 0;
    }
    return step;
}

// After a failure: everything acknowledged is there, at most one step more; the life goes on.
static void check_whole(struct fixture *fixture, uint64_t acknowledged)
{
    SUCCEED(fixture, open_on_disk(fixture));
    struct life_progress progress;
    SUCCEED(fixture, life_look(fixture, &progress));
    uint64_t found = life_steps(&progress);
    assert_true(found == acknowledged || found == acknowledged + 1);
    for (uint64_t step = found; step < found + LIFE_CALLS; step++) {
        SUCCEED(fixture, life_step(fixture, step));
    }
    fixture_again(fixture);
    SUCCEED(fixture, life_look(fixture, &progress));
    assert_int_equal(life_steps(&progress), found + LIFE_CALLS);
}

enum { STEPS = 2 * LIFE_CALLS + 3, TRIES_MAX = 5000 };

static void test_crash_at_every_write(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth < TRIES_MAX; nth++) {
        struct fixture fixture;
        start(&fixture, nth);
        uvea_sim_disk_faults_set(disk, &(struct uvea_sim_disk_faults){.crash_at_write = nth});
        enum uvea_error error;
        uint64_t acknowledged = live(&fixture, 0, STEPS, &error);
        fixture_stop(&fixture);
        uvea_sim_disk_crash(disk);
        uvea_sim_disk_restart(disk);
        uvea_sim_disk_faults_set(disk, &(struct uvea_sim_disk_faults){0});
        check_whole(&fixture, acknowledged);
        assert_int_equal(uvea_sim_disk_stats(disk).order, 0);
        end(&fixture);
        if (error == UVEA_OK) {
            assert_true(nth > STEPS);
            return;
        }
    }
    fail();
}

// The process sees the error, and opens the file again.
static void test_every_call_fails_once(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth < TRIES_MAX; nth++) {
        struct fixture fixture;
        start(&fixture, nth);
        uvea_sim_disk_faults_set(disk, &(struct uvea_sim_disk_faults){.fail_nth = nth});
        enum uvea_error error;
        uint64_t acknowledged = live(&fixture, 0, STEPS, &error);
        bool struck = uvea_sim_disk_stats(disk).injected > 0;
        if (error != UVEA_OK && fixture.store != NULL) {
            assert_int_equal(error, UVEA_ERR_IO);
            assert_int_equal(life_step(&fixture, acknowledged), UVEA_ERR_IO);
        }
        fixture_stop(&fixture);
        check_whole(&fixture, acknowledged);
        // Power fails soon after: nothing may rest on what the failed sync left in memory.
        fixture_stop(&fixture);
        uvea_sim_disk_crash(disk);
        uvea_sim_disk_restart(disk);
        SUCCEED(&fixture, open_on_disk(&fixture));
        end(&fixture);
        if (!struck) {
            assert_int_equal(error, UVEA_OK);
            return;
        }
    }
    fail();
}

// Opening reads the whole file. A read that fails meanwhile is no damage, of which a person would
// be told to bring a copy back.
static void test_what_is_not_read_is_not_damaged(void **state)
{
    (void)state;
    struct fixture fixture;
    enum uvea_error error;
    start(&fixture, 1);
    assert_int_equal(live(&fixture, 0, STEPS, &error), STEPS);
    for (uint64_t nth = 1; nth < TRIES_MAX; nth++) {
        fixture_stop(&fixture);
        const uint64_t before = uvea_sim_disk_stats(disk).injected;
        uvea_sim_disk_faults_set(disk, &(struct uvea_sim_disk_faults){.fail_nth = nth});
        error = open_on_disk(&fixture);
        uvea_sim_disk_faults_set(disk, &(struct uvea_sim_disk_faults){0});
        if (uvea_sim_disk_stats(disk).injected == before) {
            assert_int_equal(error, UVEA_OK);
            assert_true(nth > 10);
            end(&fixture);
            return;
        }
        assert_true(error == UVEA_OK || error == UVEA_ERR_IO);
    }
    fail();
}

static void test_disk_is_full(void **state)
{
    (void)state;
    for (uint64_t kib = 1; kib < TRIES_MAX; kib += 5) {
        struct fixture fixture;
        start(&fixture, kib);
        uvea_sim_disk_faults_set(disk, &(struct uvea_sim_disk_faults){.space_bytes = kib << 10});
        enum uvea_error error;
        uint64_t acknowledged = live(&fixture, 0, STEPS, &error);
        assert_true(error == UVEA_OK || error == UVEA_ERR_IO);
        fixture_stop(&fixture);
        uvea_sim_disk_faults_set(disk, &(struct uvea_sim_disk_faults){0});
        check_whole(&fixture, acknowledged);
        end(&fixture);
        if (error == UVEA_OK) {
            return;
        }
    }
    fail();
}

// One bit anywhere in the files of a party that ended in good order, or did not.
static void test_rot_is_refused_or_harmless(void **state)
{
    (void)state;
    enum { ROTS = 600 };
    unsigned refused_opening = 0;
    unsigned refused_reading = 0;
    unsigned harmless = 0;
    struct fixture fixture;
    start(&fixture, 1);
    struct uvea_sim_disk *good;
    assert_int_equal(uvea_sim_disk_open("good", 2, wall_ns, NULL, &good), UVEA_OK);
    for (unsigned rot = 0; rot < ROTS; rot++) {
        bool crashed = rot / 100 % 2 != 0;
        if (rot % 100 == 0) {
            uvea_sim_disk_wipe(disk);
            enum uvea_error error;
            assert_int_equal(live(&fixture, 0, STEPS, &error), STEPS);
            if (crashed) {
                uvea_sim_disk_crash(disk);
            }
            fixture_stop(&fixture);
            uvea_sim_disk_restart(disk);
            assert_int_equal(uvea_sim_disk_copy(good, disk), UVEA_OK);
        }
        assert_int_equal(uvea_sim_disk_copy(disk, good), UVEA_OK);
        assert_int_equal(uvea_sim_disk_rot(disk), UVEA_OK);
        if (open_on_disk(&fixture) != UVEA_OK) {
            refused_opening++;
            continue;
        }
        struct life_progress progress;
        enum uvea_error error = life_look(&fixture, &progress);
        if (error != UVEA_OK) {
            assert_int_equal(error, UVEA_ERR_STATE);
            refused_reading++;
        } else {
            harmless++;
            // A log ends where it is spoiled, which only the other parties can tell; after a stop
            // in good order there is none.
            uint64_t steps = life_steps(&progress);
            assert_true(steps == STEPS || (crashed && steps < STEPS));
        }
        fixture_stop(&fixture);
    }
    print_message("rot: %u refused when opened, %u when read, %u harmless\n", refused_opening,
                  refused_reading, harmless);
    assert_true(refused_reading > ROTS / 4);
    uvea_sim_disk_close(good);
    end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crash_at_every_write),
        cmocka_unit_test(test_every_call_fails_once),
        cmocka_unit_test(test_what_is_not_read_is_not_damaged),
        cmocka_unit_test(test_disk_is_full),
        cmocka_unit_test(test_rot_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
