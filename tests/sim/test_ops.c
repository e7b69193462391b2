// Locks, wall clocks and named points.
#include "sim/runtime/process.h"
#include "tests/sim/harness.h"

#include <stdlib.h>

struct world {
    struct uvea_sim *sim;
    struct uvea_rt *rt;
    struct uvea_lock *lock;
    int holders;
    int taken;
};

// ---- locks

static void hold(void *arg)
{
    struct world *world = arg;
    uvea_rt_lock_take(world->rt, world->lock);
    EXPECT(world->holders++ == 0);
    world->taken++;
    // A holder may be held up, for example by the store's disk.
    EXPECT(uvea_rt_sleep_ns(world->rt, UVEA_MS) == UVEA_OK);
    world->holders--;
    uvea_rt_lock_release(world->rt, world->lock);
}

static void hold_thrice(void *arg)
{
    struct world *world = arg;
    struct uvea_task *tasks[3];
    EXPECT(uvea_rt_lock_open(world->rt, &world->lock) == UVEA_OK);
    for (int i = 0; i < 3; i++) {
        EXPECT(uvea_rt_spawn(world->rt, "holder", hold, world, &tasks[i]) == UVEA_OK);
    }
    for (int i = 0; i < 3; i++) {
        uvea_rt_join(world->rt, tasks[i]);
    }
    uvea_rt_lock_close(world->rt, world->lock);
    uvea_rt_lock_close(world->rt, NULL);
}

static void test_lock_excludes(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct world world = {.sim = open_sim(&config)};
    world.rt = uvea_sim_rt(world.sim, 0);
    start(world.sim, 0, "main", hold_thrice, &world);
    struct uvea_sim_outcome outcome = run_clean(world.sim);
    assert_int_equal(world.taken, 3);
    assert_int_equal(outcome.time_ns, 3 * UVEA_MS);
}

// A store may be opened and used before a run begins.
static void test_lock_outside_a_run(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    struct uvea_rt *rt = uvea_sim_rt(sim, 0);
    struct uvea_lock *lock;
    assert_int_equal(uvea_rt_lock_open(rt, &lock), UVEA_OK);
    uvea_rt_lock_take(rt, lock);
    uvea_rt_lock_release(rt, lock);
    uvea_rt_lock_close(rt, lock);
    (void)run_clean(sim);
}

static void hold_for_ever(void *arg)
{
    struct world *world = arg;
    uvea_rt_lock_take(world->rt, world->lock);
    (void)!uvea_rt_sleep_ns(world->rt, UVEA_NEVER);
    uvea_rt_lock_release(world->rt, world->lock);
}

static void test_lock_left_open(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct world world = {.sim = open_sim(&config)};
    world.rt = uvea_sim_rt(world.sim, 0);
    assert_int_equal(uvea_rt_lock_open(world.rt, &world.lock), UVEA_OK);
    start(world.sim, 0, "holder", hold_for_ever, &world);
    start(world.sim, 0, "taker", hold, &world);
    struct uvea_sim_outcome outcome = run_to(world.sim, UVEA_SIM_NO_PROGRESS);
    assert_int_equal(outcome.open_locks, 1);
    assert_non_null(strstr(outcome.blocked, "takes a lock that task 'holder' holds"));
    uvea_sim_close(world.sim); // both return: the holder gives the lock to the taker
    first_failure[0] = '\0';   // whose sleep then failed
    assert_int_equal(world.taken, 1);
    assert_int_equal(world.holders, 0);
}

// ---- wall clocks

static void step_wall(void *arg)
{
    struct world *world = arg;
    struct uvea_rt *rt = world->rt;
    uint64_t now_ns = uvea_rt_now_ns(rt);
    uint64_t wall_ns = uvea_rt_wall_ns(rt);
    EXPECT(wall_ns == UVEA_SIM_WALL_START_NS + 5 * UVEA_SECOND);
    uvea_sim_wall_step(world->sim, 0, 30 * (int64_t)UVEA_SECOND);
    EXPECT(uvea_rt_wall_ns(rt) == wall_ns + 30 * UVEA_SECOND);
    uvea_sim_wall_step(world->sim, 0, -90 * (int64_t)UVEA_SECOND);
    EXPECT(uvea_rt_wall_ns(rt) == wall_ns - 60 * UVEA_SECOND);
    EXPECT(uvea_rt_now_ns(rt) == now_ns);
    EXPECT(uvea_rt_sleep_ns(rt, UVEA_SECOND) == UVEA_OK);
    EXPECT(uvea_rt_now_ns(rt) == now_ns + UVEA_SECOND);
    EXPECT(uvea_rt_wall_ns(rt) == wall_ns - 59 * UVEA_SECOND);
    uint64_t end_of_32_bits_ns = UINT64_C(2147483648) * UVEA_SECOND;
    uvea_sim_wall_set(world->sim, 0, end_of_32_bits_ns);
    EXPECT(uvea_rt_wall_ns(rt) == end_of_32_bits_ns);
    uvea_sim_wall_step(world->sim, 0, INT64_MIN); // never before 1970
    EXPECT(uvea_rt_wall_ns(rt) == 0);
    EXPECT(uvea_rt_now_ns(rt) == now_ns + UVEA_SECOND);
}

static void test_wall_clock_steps(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.nodes[0].clock_offset_ns = 5 * (int64_t)UVEA_SECOND;
    struct world world = {.sim = open_sim(&config)};
    world.rt = uvea_sim_rt(world.sim, 0);
    start(world.sim, 0, "main", step_wall, &world);
    struct uvea_sim_outcome outcome = run_clean(world.sim);
    assert_int_equal(outcome.time_ns, UVEA_SECOND); // steps change nothing else
}

static void drift_wall(void *arg)
{
    struct world *world = arg;
    uint64_t wall_ns = uvea_rt_wall_ns(world->rt);
    EXPECT(uvea_rt_sleep_ns(world->rt, 1000 * UVEA_SECOND) == UVEA_OK);
    EXPECT(uvea_rt_wall_ns(world->rt) - wall_ns == 1000 * UVEA_SECOND);
}

static void test_wall_clock_drifts(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.nodes[0].clock_drift_ppm = 25000;
    config.nodes[0].clock_offset_ns = -1000 * (int64_t)UVEA_SECOND;
    struct world world = {.sim = open_sim(&config)};
    world.rt = uvea_sim_rt(world.sim, 0);
    assert_int_equal(uvea_rt_wall_ns(world.rt), UVEA_SIM_WALL_START_NS - 1000 * UVEA_SECOND);
    start(world.sim, 0, "main", drift_wall, &world);
    struct uvea_sim_outcome outcome = run_clean(world.sim);
    assert_in_range(outcome.time_ns, 975 * UVEA_SECOND, 976 * UVEA_SECOND);
}

// ---- points

static void pass_points(void *arg)
{
    struct world *world = arg;
    EXPECT(uvea_rt_point(world->rt, UVEA_POINT_COMMITTED) == UVEA_OK);
    EXPECT(uvea_rt_point(world->rt, UVEA_POINT_PUBLISHED) == UVEA_OK);
    EXPECT(uvea_rt_point(world->rt, UVEA_POINT_COMMITTED) == UVEA_OK);
}

static void test_points_are_counted(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct world world = {.sim = open_sim(&config)};
    struct uvea_sim_record_list list = {0};
    world.rt = uvea_sim_rt(world.sim, 2);
    uvea_sim_trace_keep(uvea_sim_trace(world.sim), &list);
    start(world.sim, 2, "main", pass_points, &world);
    (void)run_to(world.sim, UVEA_SIM_FINISHED);
    assert_int_equal(uvea_sim_point_count(world.sim, UVEA_POINT_COMMITTED), 2);
    assert_int_equal(uvea_sim_point_count(world.sim, UVEA_POINT_PUBLISHED), 1);
    assert_int_equal(uvea_sim_point_count(world.sim, UVEA_POINT_READY), 0);
    assert_int_equal(list.count, 5); // spawn, three points, exit
    assert_int_equal(list.records[3].kind, UVEA_SIM_EVENT_POINT);
    assert_int_equal(list.records[3].amount, 2);
    assert_string_equal(list.records[3].label, "committed");
    assert_true(list.records[1].digest != list.records[2].digest);
    uvea_sim_record_list_deinit(&list);
    uvea_sim_close(world.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_excludes),     cmocka_unit_test(test_lock_outside_a_run),
        cmocka_unit_test(test_lock_left_open),    cmocka_unit_test(test_wall_clock_steps),
        cmocka_unit_test(test_wall_clock_drifts), cmocka_unit_test(test_points_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
