// Tasks, clocks, charges, entropy, and how a run ends.
#include "tests/sim/harness.h"
#include "tests/support/aborts.h"

#include <stdlib.h>

// Most tests have one task on node 0.
static struct uvea_sim *start_one(uvea_task_fn *fn)
{
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "main", fn, uvea_sim_rt(sim, 0));
    return sim;
}

// ---- tasks

struct worker {
    struct uvea_rt *rt;
    uint64_t delay_ns;
    unsigned *count;
    unsigned position; // in the order of finishing
};

static void work(void *arg)
{
    struct worker *worker = arg;
    EXPECT(uvea_rt_sleep_ns(worker->rt, worker->delay_ns) == UVEA_OK);
    worker->position = (*worker->count)++;
}

static void spawn_many(void *arg)
{
    enum { WORKERS = 500 };
    static struct worker workers[WORKERS];
    static struct uvea_task *tasks[WORKERS];
    struct uvea_rt *rt = arg;
    unsigned count = 0;
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){rt, (WORKERS - i) * UVEA_MS, &count, 0};
        EXPECT(uvea_rt_spawn(rt, "worker", work, &workers[i], &tasks[i]) == UVEA_OK);
    }
    EXPECT(count == 0); // a spawned task does not run before its parent waits
    for (unsigned i = 0; i < WORKERS; i++) {
        uvea_rt_join(rt, tasks[i]);
        EXPECT(workers[i].position == WORKERS - 1 - i);
    }
    EXPECT(count == WORKERS);
}

static void test_many_tasks_are_spawned_and_joined(void **state)
{
    (void)state;
    struct uvea_sim_outcome outcome = run_clean(start_one(spawn_many));
    assert_int_equal(outcome.time_ns, 500 * UVEA_MS);
    // Each worker is resumed twice; main at its start, for the first join, and never again.
    assert_int_equal(outcome.steps, 2 * 500 + 2);
}

static void join_late(void *arg)
{
    struct uvea_rt *rt = arg;
    unsigned count = 0;
    struct worker worker = {rt, UVEA_MS, &count, 9};
    struct uvea_task *task;
    EXPECT(uvea_rt_spawn(rt, "worker", work, &worker, &task) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(rt, 5 * UVEA_MS) == UVEA_OK);
    EXPECT(worker.position == 0);
    uint64_t before_ns = uvea_rt_now_ns(rt);
    uvea_rt_join(rt, task);
    EXPECT(uvea_rt_now_ns(rt) == before_ns);
}

static void test_a_finished_task_is_joined_at_once(void **state)
{
    (void)state;
    (void)run_clean(start_one(join_late));
}

static void forget_to_join(void *arg)
{
    static unsigned count;
    static struct worker worker;
    struct uvea_task *task;
    worker = (struct worker){arg, UVEA_MS, &count, 0};
    EXPECT(uvea_rt_spawn(arg, "worker", work, &worker, &task) == UVEA_OK);
}

static void test_unjoined_tasks_are_counted(void **state)
{
    (void)state;
    struct uvea_sim *sim = start_one(forget_to_join);
    assert_int_equal(run_to(sim, UVEA_SIM_FINISHED).unjoined_tasks, 1);
    uvea_sim_close(sim);
}

// ---- clocks and sleep

static void sleep_a_little(void *arg)
{
    struct uvea_rt *rt = arg;
    struct uvea_sim *sim = uvea_sim_of(rt);
    uint64_t before_ns = uvea_rt_now_ns(rt);
    EXPECT(before_ns == UVEA_SIM_CLOCK_START_NS);
    EXPECT(uvea_rt_sleep_ns(rt, 1234567) == UVEA_OK);
    EXPECT(uvea_rt_now_ns(rt) == before_ns + 1234567);
    EXPECT(uvea_sim_now_ns(sim) == 1234567);
    EXPECT(uvea_rt_sleep_ns(rt, 0) == UVEA_OK);
    EXPECT(uvea_sim_now_ns(sim) == 1234567);
    EXPECT(uvea_rt_deadline_ns(rt, UVEA_NEVER) == UVEA_NEVER);
}

static void test_sleep_takes_virtual_time(void **state)
{
    (void)state;
    (void)run_clean(start_one(sleep_a_little));
}

struct sleeper {
    struct uvea_rt *rt;
    uint64_t woken_ns; // simulated time
};

static void sleep_100_s(void *arg)
{
    struct sleeper *sleeper = arg;
    uint64_t before_ns = uvea_rt_now_ns(sleeper->rt);
    EXPECT(uvea_rt_sleep_ns(sleeper->rt, 100 * UVEA_SECOND) == UVEA_OK);
    EXPECT(uvea_rt_now_ns(sleeper->rt) >= before_ns + 100 * UVEA_SECOND);
    EXPECT(uvea_rt_now_ns(sleeper->rt) <= before_ns + 100 * UVEA_SECOND + 1);
    sleeper->woken_ns = uvea_sim_now_ns(uvea_sim_of(sleeper->rt));
}

static void test_clocks_have_offset_and_drift(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct sleeper sleepers[3];
    config.nodes[0].clock_offset_ns = 300;
    config.nodes[1].clock_drift_ppm = 200;
    config.nodes[2].clock_offset_ns = -3 * (int64_t)UVEA_SECOND;
    config.nodes[2].clock_drift_ppm = -200;
    struct uvea_sim *sim = open_sim(&config);
    for (unsigned i = 0; i < 3; i++) {
        sleepers[i].rt = uvea_sim_rt(sim, i);
        start(sim, i, "sleeper", sleep_100_s, &sleepers[i]);
    }
    assert_int_equal(uvea_rt_now_ns(sleepers[0].rt), UVEA_SIM_CLOCK_START_NS + 300);
    assert_int_equal(uvea_rt_now_ns(sleepers[1].rt), UVEA_SIM_CLOCK_START_NS);
    assert_int_equal(uvea_rt_now_ns(sleepers[2].rt), UVEA_SIM_CLOCK_START_NS - 3 * UVEA_SECOND);
    (void)run_clean(sim);
    assert_int_equal(sleepers[0].woken_ns, 100 * UVEA_SECOND);
    assert_int_equal(sleepers[1].woken_ns, 99980004000);  // 10^17 / 1000200, rounded up
    assert_int_equal(sleepers[2].woken_ns, 100020004001); // 10^17 / 999800, rounded up
}

static void charge_all(void *arg)
{
    struct uvea_rt *rt = arg;
    uint64_t start_ns = uvea_rt_now_ns(rt);
    uvea_rt_charge(rt, UVEA_CHARGE_RING_SCORE, 3);
    EXPECT(uvea_rt_now_ns(rt) == start_ns + 30);
    uvea_rt_charge(rt, UVEA_CHARGE_MPC_WORD, 1000);
    EXPECT(uvea_rt_now_ns(rt) == start_ns + 30);
    uvea_rt_charge(rt, UVEA_CHARGE_SHARE_BYTE, 2);
    uvea_rt_charge(rt, UVEA_CHARGE_SHARE_BYTE, 0);
    EXPECT(uvea_rt_now_ns(rt) == start_ns + 44);
}

static void test_charges_take_the_tables_time(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.cost_ns[UVEA_CHARGE_RING_SCORE] = 10;
    config.cost_ns[UVEA_CHARGE_SHARE_BYTE] = 7;
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "main", charge_all, uvea_sim_rt(sim, 0));
    (void)run_clean(sim);
}

static void sleep_until_stopped(void *arg)
{
    struct uvea_rt *rt = arg;
    EXPECT(uvea_rt_sleep_ns(rt, UVEA_NEVER) == UVEA_ERR_CLOSED);
    EXPECT(uvea_rt_sleep_ns(rt, UVEA_SECOND) == UVEA_ERR_CLOSED);
    EXPECT(uvea_sim_now_ns(uvea_sim_of(rt)) == 5 * UVEA_MS);
}

static void stop_after_5_ms(void *arg)
{
    EXPECT(uvea_rt_sleep_ns(arg, 5 * UVEA_MS) == UVEA_OK);
    uvea_sim_stop(arg);
}

static void sleep_10_ms(void *arg)
{
    EXPECT(uvea_rt_sleep_ns(arg, 10 * UVEA_MS) == UVEA_OK);
}

static void test_stopping_wakes_the_nodes_sleepers_only(void **state)
{
    (void)state;
    struct uvea_sim *sim = start_one(sleep_until_stopped);
    start(sim, 0, "stopper", stop_after_5_ms, uvea_sim_rt(sim, 0));
    start(sim, 1, "other", sleep_10_ms, uvea_sim_rt(sim, 1));
    assert_int_equal(run_clean(sim).time_ns, 10 * UVEA_MS);
}

// ---- entropy

static void draw_at_once(void *arg)
{
    struct worker *worker = arg;
    uint8_t bytes[8];
    EXPECT(uvea_rt_sleep_ns(worker->rt, worker->delay_ns) == UVEA_OK);
    EXPECT(uvea_rt_entropy(worker->rt, bytes, sizeof(bytes)) == UVEA_OK);
    memcpy(&worker->delay_ns, bytes, sizeof(bytes));
}

// What each of three nodes draws when they draw in the given order.
static void draw_in_order(uint64_t seed, const unsigned order[3], uint64_t drawn[3])
{
    struct uvea_sim_config config = plain_config();
    struct worker workers[3];
    config.seed = seed;
    struct uvea_sim *sim = open_sim(&config);
    for (unsigned i = 0; i < 3; i++) {
        unsigned node = order[i];
        workers[node] = (struct worker){uvea_sim_rt(sim, node), i * UVEA_MS, NULL, 0};
        start(sim, node, "drawer", draw_at_once, &workers[node]);
    }
    (void)run_clean(sim);
    for (unsigned i = 0; i < 3; i++) {
        drawn[i] = workers[i].delay_ns;
    }
}

static void test_entropy_depends_on_seed_and_name_only(void **state)
{
    (void)state;
    uint64_t a[3];
    uint64_t b[3];
    draw_in_order(5, (const unsigned[]){0, 1, 2}, a);
    draw_in_order(5, (const unsigned[]){2, 0, 1}, b);
    assert_memory_equal(a, b, sizeof(a));
    assert_int_not_equal(a[0], a[1]);
    assert_int_not_equal(a[1], a[2]);
    draw_in_order(6, (const unsigned[]){0, 1, 2}, b);
    assert_int_not_equal(a[0], b[0]);
}

// ---- ends

static void sleep_for_ever(void *arg)
{
    EXPECT(uvea_rt_sleep_ns(arg, UVEA_NEVER) == UVEA_ERR_CLOSED);
}

static void receive_for_ever(void *arg)
{
    struct uvea_channel *channel;
    void *item;
    EXPECT(uvea_rt_channel_open(arg, 7, &channel) == UVEA_OK);
    EXPECT(uvea_rt_channel_recv(arg, channel, &item, UVEA_NEVER) == UVEA_ERR_CLOSED);
    uvea_rt_channel_close(arg, channel);
}

static void join_for_ever(void *arg)
{
    struct uvea_task *task;
    EXPECT(uvea_rt_spawn(arg, "receiver", receive_for_ever, arg, &task) == UVEA_OK);
    uvea_rt_join(arg, task);
}

static void accept_for_ever(void *arg)
{
    struct uvea_listener *listener;
    struct uvea_stream *stream;
    EXPECT(uvea_rt_listen(arg, "p2:80", &listener) == UVEA_OK);
    EXPECT(uvea_rt_accept(arg, listener, &stream, UVEA_NEVER) == UVEA_ERR_CLOSED);
    uvea_rt_listener_close(arg, listener);
}

static void test_no_progress_names_every_task(void **state)
{
    (void)state;
    struct uvea_sim *sim = start_one(join_for_ever);
    start(sim, 1, "sleeper", sleep_for_ever, uvea_sim_rt(sim, 1));
    start(sim, 2, "acceptor", accept_for_ever, uvea_sim_rt(sim, 2));
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_NO_PROGRESS);
    assert_int_equal(outcome.live_tasks, 4);
    assert_int_equal(outcome.open_listeners, 1);
    assert_int_equal(outcome.open_channels, 1);
    assert_string_equal(outcome.blocked,
                        "p0 task 'main' joins task 'receiver'\n"
                        "p1 task 'sleeper' sleeps\n"
                        "p2 task 'acceptor' accepts at p2:80\n"
                        "p0 task 'receiver' receives from an empty channel of 7\n");
    uvea_sim_close(sim); // lets every task return: the EXPECTs after the waits ran
    assert_no_failure();
}

static void test_a_long_list_of_tasks_is_cut(void **state)
{
    (void)state;
    struct uvea_sim *sim = start_one(sleep_for_ever);
    for (unsigned i = 0; i < 999; i++) {
        start(sim, 1, "sleeper", sleep_for_ever, uvea_sim_rt(sim, 1));
    }
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_NO_PROGRESS);
    unsigned lines = 0;
    for (const char *at = outcome.blocked; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    const char *rest = strstr(outcome.blocked, "and ");
    assert_non_null(rest);
    assert_int_equal(strtoul(rest + 4, NULL, 10) + lines - 1, 1000);
    uvea_sim_close(sim);
    assert_no_failure();
}

static void tick_for_ever(void *arg)
{
    while (uvea_rt_sleep_ns(arg, UVEA_SECOND) == UVEA_OK) {
    }
}

static void finish_after_10_s(void *arg)
{
    EXPECT(uvea_rt_sleep_ns(arg, 10 * UVEA_SECOND) == UVEA_OK);
    uvea_sim_done(arg);
    EXPECT(uvea_rt_sleep_ns(arg, UVEA_SECOND) == UVEA_ERR_CLOSED);
}

static void test_done_ends_the_run(void **state)
{
    (void)state;
    struct uvea_sim *sim = start_one(tick_for_ever);
    start(sim, 3, "client", finish_after_10_s, uvea_sim_rt(sim, 3));
    assert_int_equal(run_to(sim, UVEA_SIM_DONE).time_ns, 10 * UVEA_SECOND);
    uvea_sim_close(sim);
    assert_no_failure();
}

static void test_budgets_end_the_run(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.step_budget = 50;
    config.time_budget_ns = 100 * UVEA_SECOND;
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "main", tick_for_ever, uvea_sim_rt(sim, 0));
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_STEP_LIMIT);
    assert_int_equal(outcome.steps, 50);
    uvea_sim_close(sim);

    config.step_budget = 1000;
    sim = open_sim(&config);
    start(sim, 0, "main", tick_for_ever, uvea_sim_rt(sim, 0));
    outcome = run_to(sim, UVEA_SIM_TIME_LIMIT);
    assert_int_equal(outcome.time_ns, 100 * UVEA_SECOND);
    uvea_sim_close(sim);
    assert_no_failure();
}

static void progress_until_7_s(void *arg)
{
    for (unsigned i = 0; i < 7; i++) {
        EXPECT(uvea_rt_sleep_ns(arg, UVEA_SECOND) == UVEA_OK);
        uvea_sim_progress(arg);
    }
}

static void test_watchdog_ends_the_run(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.watchdog_ns = 3 * UVEA_SECOND;
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "ticker", tick_for_ever, uvea_sim_rt(sim, 0));
    start(sim, 1, "worker", progress_until_7_s, uvea_sim_rt(sim, 1));
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_WATCHDOG);
    assert_int_equal(outcome.time_ns, 10 * UVEA_SECOND);
    assert_string_equal(outcome.blocked, "p0 task 'ticker' sleeps, until 11.000000 s\n");
    uvea_sim_close(sim);
    assert_no_failure();
}

static void poll_a_channel(void *arg)
{
    struct uvea_channel *channel;
    void *item;
    EXPECT(uvea_rt_channel_open(arg, 1, &channel) == UVEA_OK);
    while (uvea_rt_channel_recv(arg, channel, &item, 0) == UVEA_ERR_TIMEOUT) {
    }
    uvea_rt_channel_close(arg, channel);
}

static void test_polling_uses_up_steps(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.step_budget = 1000;
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "poller", poll_a_channel, uvea_sim_rt(sim, 0));
    assert_int_equal(run_to(sim, UVEA_SIM_STEP_LIMIT).time_ns, 0);
    uvea_sim_close(sim);
    assert_no_failure();
}

static void poll_the_clock(void *arg)
{
    uint64_t end_ns = uvea_rt_deadline_ns(arg, UVEA_SECOND);
    while (uvea_rt_now_ns(arg) < end_ns) {
    }
    EXPECT(!"the clock moved by itself");
}

static void test_polling_the_clock_is_noticed(void **state)
{
    (void)state;
    struct uvea_sim *sim = start_one(poll_the_clock);
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_STEP_LIMIT);
    assert_string_equal(outcome.blocked, "p0 task 'main' runs without ever waiting\n");
    uvea_sim_close(sim);
    assert_no_failure();
}

static void never_give_up(void *arg)
{
    for (;;) {
        (void)!uvea_rt_sleep_ns(arg, UVEA_SECOND);
    }
}

static void test_stubborn_tasks_are_dropped_at_close(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.step_budget = 10;
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "main", never_give_up, uvea_sim_rt(sim, 0));
    (void)run_to(sim, UVEA_SIM_STEP_LIMIT);
    uvea_sim_close(sim);
}

static void test_idle_time_is_jumped_over(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.time_budget_ns = 100000 * UVEA_SECOND;
    config.step_budget = UINT64_MAX;
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "main", tick_for_ever, uvea_sim_rt(sim, 0));
    // One step per simulated second; without jumping, this would take a day.
    assert_int_equal(run_to(sim, UVEA_SIM_TIME_LIMIT).steps, 100000 + 1);
    uvea_sim_close(sim);
}

// ---- misuse

static void test_bad_configurations_are_refused(void **state)
{
    (void)state;
    struct uvea_sim *sim = NULL;
    struct uvea_error_context context;
    struct uvea_sim_config config = plain_config();
#define REFUSED(change, word)                                                                      \
    do {                                                                                           \
        config = plain_config();                                                                   \
        change;                                                                                    \
        assert_int_equal(uvea_sim_open(&config, &sim, &context), UVEA_ERR_USAGE);                  \
        assert_null(sim);                                                                          \
        assert_non_null(strstr(context.text, word));                                               \
    } while (0)
    REFUSED(config.node_count = 0, "0 nodes");
    REFUSED(config.node_count = UVEA_SIM_NODES_MAX + 1, "9 nodes");
    REFUSED(config.nodes[1].name = "p0", "'p0'");
    REFUSED(config.nodes[1].name = "p:1", "node 1");
    REFUSED(config.nodes[2].name = NULL, "node 2");
    REFUSED(config.nodes[2].clock_drift_ppm = 100001, "'p2'");
    REFUSED(config.nodes[2].clock_offset_ns = -1001 * (int64_t)UVEA_SECOND, "'p2'");
    REFUSED(config.network.link.window_bytes = 0, "window");
    REFUSED(config.network.link.window_bytes = ((size_t)1 << 30) + 1, "window");
    REFUSED(config.network.link.piece_bytes_max = UVEA_SIM_PIECE_BYTES_MAX + 1, "pieces");
    REFUSED(config.network.link_count = UVEA_SIM_LINKS_MAX + 1, "links");
    REFUSED(config.network.link_count = 1, "window"); // link 0 is all zero
    REFUSED((config.network.links[0].link = config.network.link, config.network.links[0].to = 4,
             config.network.link_count = 1),
            "link 0");
    REFUSED(config.network.fault_count = UVEA_SIM_FAULTS_MAX + 1, "faults");
    REFUSED((config.network.faults[0].from = 4, config.network.fault_count = 1), "fault 0");
#undef REFUSED
}

static void wait_off_the_fibers(void)
{
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = NULL;
    if (uvea_sim_open(&config, &sim, NULL) == UVEA_OK) {
        (void)!uvea_rt_sleep_ns(uvea_sim_rt(sim, 0), 1);
    }
}

static void wait_with_anothers_handle(void *arg)
{
    (void)!uvea_rt_sleep_ns(uvea_sim_rt(uvea_sim_of(arg), 1), 1);
}

static void run_with_anothers_handle(void)
{
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = NULL;
    struct uvea_sim_outcome outcome;
    if (uvea_sim_open(&config, &sim, NULL) == UVEA_OK &&
        uvea_sim_start(sim, 0, "main", wait_with_anothers_handle, uvea_sim_rt(sim, 0)) == UVEA_OK) {
        uvea_sim_run(sim, &outcome);
    }
}

static void test_waiting_in_the_wrong_place_aborts(void **state)
{
    (void)state;
    assert_true(uvea_test_aborts(wait_off_the_fibers));
    assert_true(uvea_test_aborts(run_with_anothers_handle));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_tasks_are_spawned_and_joined),
        cmocka_unit_test(test_a_finished_task_is_joined_at_once),
        cmocka_unit_test(test_unjoined_tasks_are_counted),
        cmocka_unit_test(test_sleep_takes_virtual_time),
        cmocka_unit_test(test_clocks_have_offset_and_drift),
        cmocka_unit_test(test_charges_take_the_tables_time),
        cmocka_unit_test(test_stopping_wakes_the_nodes_sleepers_only),
        cmocka_unit_test(test_entropy_depends_on_seed_and_name_only),
        cmocka_unit_test(test_no_progress_names_every_task),
        cmocka_unit_test(test_a_long_list_of_tasks_is_cut),
        cmocka_unit_test(test_done_ends_the_run),
        cmocka_unit_test(test_budgets_end_the_run),
        cmocka_unit_test(test_watchdog_ends_the_run),
        cmocka_unit_test(test_polling_uses_up_steps),
        cmocka_unit_test(test_polling_the_clock_is_noticed),
        cmocka_unit_test(test_stubborn_tasks_are_dropped_at_close),
        cmocka_unit_test(test_idle_time_is_jumped_over),
        cmocka_unit_test(test_bad_configurations_are_refused),
        cmocka_unit_test(test_waiting_in_the_wrong_place_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
