// A fleet of three is killed at every step of each of its lives, at every point, and starved of
// memory; it comes to its goal all the same, and nothing leaks.
#include "sim/runtime/random.h"
#include "tests/sim/trio.h"

static struct uvea_sim_outcome run_trio(struct trio *trio, unsigned node, uint64_t step)
{
    struct uvea_sim_config config = trio_config();
    trio_start(trio, &config);
    uvea_sim_process_crash_at_step(trio->sim, node, step);
    return trio_finish(trio);
}

static void test_without_faults(void **state)
{
    (void)state;
    struct trio trio;
    (void)run_trio(&trio, 0, 0);
    for (unsigned i = 0; i < TRIO; i++) {
        assert_int_equal(trio.nodes[i].incarnations, 1);
        assert_int_equal(trio.nodes[i].ends, 1);
    }
}

static void test_killed_at_every_step(void **state)
{
    (void)state;
    for (unsigned node = 0; node < TRIO; node++) {
        struct trio trio;
        (void)run_trio(&trio, node, 0);
        uint64_t steps = trio.nodes[node].steps;
        assert_in_range(steps, 50, 5000);
        for (uint64_t step = 1; step <= steps; step++) {
            (void)run_trio(&trio, node, step);
            assert_int_equal(trio.nodes[node].crashes, 1);
            assert_int_equal(trio.nodes[(node + 1) % TRIO].crashes, 0);
        }
        (void)run_trio(&trio, node, steps + 1);
        assert_int_equal(trio.nodes[node].crashes, 0); // it had ended
    }
}

static void test_same_seed_same_history(void **state)
{
    (void)state;
    for (uint64_t step = 1; step < 60; step += 7) {
        struct trio trio;
        struct uvea_sim_outcome first = run_trio(&trio, 1, step);
        struct uvea_sim_outcome again = run_trio(&trio, 1, step);
        struct uvea_sim_outcome other = run_trio(&trio, 1, step + 1);
        assert_memory_equal(first.hash, again.hash, UVEA_SIM_HASH_BYTES);
        assert_memory_not_equal(first.hash, other.hash, UVEA_SIM_HASH_BYTES);
    }
}

static void test_killed_at_every_point(void **state)
{
    static const enum uvea_point points[] = {UVEA_POINT_READY, UVEA_POINT_DECIDED,
                                             UVEA_POINT_COMMITTED, UVEA_POINT_PUBLISHED};
    (void)state;
    for (unsigned i = 0; i < UVEA_COUNT_OF(points); i++) {
        uint64_t most = points[i] == UVEA_POINT_READY ? 1 : GOAL;
        for (uint64_t nth = 1; nth <= most; nth++) {
            struct uvea_sim_config config = trio_config();
            struct trio trio;
            trio_start(&trio, &config);
            uvea_sim_process_crash_at_point(trio.sim, 2, points[i], nth);
            (void)run_to(trio.sim, UVEA_SIM_FINISHED);
            assert_true(trio_done(&trio));
            assert_int_equal(trio.nodes[2].crashes, 1);
            // Who died before the commit decides again, who died behind it does not.
            uint64_t extra = points[i] == UVEA_POINT_DECIDED;
            assert_int_equal(uvea_sim_point_count(trio.sim, UVEA_POINT_DECIDED),
                             TRIO * GOAL + extra);
            assert_int_equal(uvea_sim_point_count(trio.sim, UVEA_POINT_READY), TRIO + 1);
            uvea_sim_close(trio.sim);
        }
    }
}

// Crash after crash, of one, two and all three, with pauses, partitions and faults of HTTP.
struct storm {
    struct trio trio;
    struct uvea_sim_random random;
    unsigned left;
};

static void strike(struct uvea_sim *sim, void *arg)
{
    struct storm *storm = arg;
    unsigned node = (unsigned)uvea_sim_random_below(&storm->random, TRIO);
    switch (uvea_sim_random_below(&storm->random, 5)) {
    case 0:
        uvea_sim_process_crash(sim, 0);
        uvea_sim_process_crash(sim, 1);
        uvea_sim_process_crash(sim, 2);
        break;
    case 1:
        uvea_sim_process_pause(sim, node, 100 * UVEA_MS);
        break;
    case 2: {
        struct uvea_sim_fault fault = {.kind = UVEA_SIM_FAULT_PARTITION,
                                       .from = node,
                                       .at_byte = UVEA_SIM_NO_BYTE,
                                       .for_ns = 80 * UVEA_MS};
        EXPECT(uvea_sim_inject(sim, &fault) == UVEA_OK);
        break;
    }
    default:
        uvea_sim_process_crash(sim, node);
        break;
    }
    if (--storm->left > 0) {
        uint64_t next_ns =
            uvea_sim_now_ns(sim) + uvea_sim_random_range(&storm->random, 1, 60 * UVEA_MS);
        EXPECT(uvea_sim_at(sim, next_ns, strike, storm) == UVEA_OK);
    } else {
        struct uvea_sim_http_faults none = {0};
        for (unsigned i = 0; i < TRIO; i++) {
            uvea_sim_http_faults_set(sim, i, &none);
        }
    }
}

static struct uvea_sim_outcome run_storm(uint64_t seed)
{
    struct uvea_sim_config config = trio_config();
    struct storm storm = {.left = 25};
    struct uvea_sim_http_faults faults = {.status_5xx = 50000,
                                          .no_answer = 20000,
                                          .lost_answer = 50000,
                                          .reset = 50000,
                                          .duplicate = 50000,
                                          .truncated = 50000,
                                          .empty = 50000,
                                          .slow = 20000};
    config.seed = seed;
    uvea_sim_random_init(&storm.random, seed, "storm");
    trio_start(&storm.trio, &config);
    for (unsigned i = 0; i < TRIO; i++) {
        uvea_sim_http_faults_set(storm.trio.sim, i, &faults);
    }
    assert_int_equal(uvea_sim_at(storm.trio.sim, UVEA_MS, strike, &storm), UVEA_OK);
    return trio_finish(&storm.trio);
}

static void test_storms(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct uvea_sim_outcome first = run_storm(seed);
        if (seed % 10 == 0) {
            struct uvea_sim_outcome again = run_storm(seed);
            assert_memory_equal(first.hash, again.hash, UVEA_SIM_HASH_BYTES);
        }
    }
}

// ---- memory

static uint64_t count_allocations(void)
{
    struct uvea_sim_config config = trio_config();
    struct trio trio;
    trio_start(&trio, &config);
    uvea_sim_process_fail_allocation(trio.sim, 1, UINT64_MAX, false);
    (void)run_to(trio.sim, UVEA_SIM_FINISHED);
    uint64_t count = uvea_sim_process_allocations(trio.sim, 1);
    uvea_sim_close(trio.sim);
    return count;
}

static unsigned count_memory(const struct uvea_sim_record_list *list)
{
    unsigned count = 0;
    for (size_t i = 0; i < list->count; i++) {
        count += list->records[i].kind == UVEA_SIM_EVENT_MEMORY;
    }
    return count;
}

static void crash_starved(struct uvea_sim *sim, void *arg)
{
    (void)arg;
    uvea_sim_process_crash(sim, 1);
}

// Once: the program copes or ends and is started again. From then on: it may only sit there, until
// it is killed.
static void test_every_allocation_fails(void **state)
{
    (void)state;
    uint64_t allocations = count_allocations();
    assert_in_range(allocations, 20, 5000);
    for (unsigned onward = 0; onward < 2; onward++) {
        for (uint64_t nth = 1; nth <= allocations; nth++) {
            struct uvea_sim_config config = trio_config();
            struct uvea_sim_record_list list = {0};
            struct trio trio;
            trio_start(&trio, &config);
            uvea_sim_trace_keep(uvea_sim_trace(trio.sim), &list);
            uvea_sim_process_fail_allocation(trio.sim, 1, nth, onward);
            assert_int_equal(uvea_sim_at(trio.sim, UVEA_SECOND, crash_starved, NULL), UVEA_OK);
            (void)trio_finish(&trio);
            assert_true(onward ? count_memory(&list) >= 1 : count_memory(&list) == 1);
            uvea_sim_record_list_deinit(&list);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_faults),
        cmocka_unit_test(test_killed_at_every_step),
        cmocka_unit_test(test_same_seed_same_history),
        cmocka_unit_test(test_killed_at_every_point),
        cmocka_unit_test(test_storms),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
