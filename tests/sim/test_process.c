// The life of a process: start, end, restart, pause, speed, what it leaves behind, the world's
// timers.
#include "core/base/mem.h"
#include "sim/runtime/process.h"
#include "tests/sim/harness.h"

struct program {
    struct uvea_sim *sim;
    unsigned node;
    void (*act)(struct program *program);
    struct uvea_rt *rt;
    unsigned begun;
    unsigned died;
    unsigned ended;
    unsigned crashed;
    unsigned restarts; // how often `ended` starts it again
    uint64_t restart_delay_ns;
    uint64_t drawn[4]; // entropy of each incarnation
    uint64_t at_ns[8]; // whatever a test wants to know
    struct uvea_stream *stream;
    struct uvea_channel *channel;
    enum uvea_error error;
};

static void program_main(void *arg)
{
    struct program *program = arg;
    program->begun++;
    program->act(program);
}

static void program_died(void *arg)
{
    struct program *program = arg;
    EXPECT(!uvea_sim_process_running(program->sim, program->node));
    uvea_sim_process_crash(program->sim, program->node); // once is enough
    EXPECT(uvea_sim_process_start(program->sim, program->node, 0) != UVEA_OK);
    program->died++;
}

static void program_ended(void *arg, bool crashed)
{
    struct program *program = arg;
    program->ended++;
    program->crashed += crashed;
    EXPECT(!uvea_sim_process_running(program->sim, program->node));
    EXPECT(program->died == program->crashed);
    if (program->restarts > 0) {
        program->restarts--;
        EXPECT(uvea_sim_process_start(program->sim, program->node, program->restart_delay_ns) ==
               UVEA_OK);
    }
}

// Gives the node its program and starts it at once.
static void run_on(struct uvea_sim *sim, unsigned node, struct program *program,
                   void (*act)(struct program *))
{
    program->sim = sim;
    program->node = node;
    program->act = act;
    program->rt = uvea_sim_rt(sim, node);
    struct uvea_sim_process process = {program_main, program, program_died, program_ended};
    uvea_sim_process_set(sim, node, &process);
    assert_int_equal(uvea_sim_process_incarnation(sim, node), 0);
    assert_int_equal(uvea_sim_process_start(sim, node, 0), UVEA_OK);
    assert_int_equal(uvea_sim_process_start(sim, node, 0), UVEA_ERR_USAGE);
    assert_false(uvea_sim_process_running(sim, node));
}

static struct uvea_sim_outcome finish(struct uvea_sim *sim)
{
    struct uvea_sim_outcome outcome = run_clean(sim);
    assert_int_equal(outcome.dropped_tasks, 0);
    assert_int_equal(outcome.left_behind, 0);
    return outcome;
}

static uint64_t sim_ns(const struct program *program)
{
    return uvea_sim_now_ns(program->sim);
}

static void sleep_long(struct program *program)
{
    program->error = uvea_rt_sleep_ns(program->rt, 1000 * UVEA_SECOND);
}

// ---- starting and ending

static void draw(struct program *program)
{
    unsigned incarnation = uvea_sim_process_incarnation(program->sim, program->node);
    uint8_t *at = (uint8_t *)&program->drawn[(incarnation - 1) % 4];
    EXPECT(uvea_sim_process_running(program->sim, program->node));
    EXPECT(incarnation == program->begun);
    EXPECT(uvea_rt_entropy(program->rt, at, 8) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(program->rt, UVEA_SECOND) == UVEA_OK);
    EXPECT(uvea_sim_process_steps(program->sim, program->node) == 2);
}

static struct program run_thrice(uint64_t seed, struct uvea_sim_outcome *outcome)
{
    struct uvea_sim_config config = plain_config();
    config.seed = seed;
    struct program program = {.restarts = 2, .restart_delay_ns = 10 * UVEA_SECOND};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, draw);
    *outcome = finish(sim);
    assert_int_equal(program.begun, 3);
    assert_int_equal(program.ended, 3);
    assert_int_equal(program.crashed, 0);
    assert_int_equal(outcome->time_ns, 23 * UVEA_SECOND);
    return program;
}

static void test_incarnations(void **state)
{
    (void)state;
    struct uvea_sim_outcome outcomes[3];
    struct program first = run_thrice(1, &outcomes[0]);
    struct program again = run_thrice(1, &outcomes[1]);
    struct program other = run_thrice(2, &outcomes[2]);
    assert_true(first.drawn[0] != first.drawn[1] && first.drawn[1] != first.drawn[2]);
    assert_memory_equal(first.drawn, again.drawn, sizeof(first.drawn));
    assert_true(first.drawn[0] != other.drawn[0]);
    assert_memory_equal(outcomes[0].hash, outcomes[1].hash, UVEA_SIM_HASH_BYTES);
    assert_int_equal(outcomes[0].events, 15); // start, spawn, sleep, exit, ended
}

static void linger(void *arg)
{
    struct program *program = arg;
    EXPECT(uvea_rt_sleep_ns(program->rt, 5 * UVEA_SECOND) == UVEA_OK);
    EXPECT(program->ended == 0);
}

static void leave_everything(struct program *program)
{
    struct uvea_task *task;
    struct uvea_channel *channel;
    struct uvea_listener *listener;
    struct uvea_lock *lock;
    struct uvea_stream *stream;
    EXPECT(uvea_rt_spawn(program->rt, "lingers", linger, program, &task) == UVEA_OK);
    EXPECT(uvea_rt_channel_open(program->rt, 1, &channel) == UVEA_OK);
    EXPECT(uvea_rt_lock_open(program->rt, &lock) == UVEA_OK);
    EXPECT(uvea_rt_listen(program->rt, "p1:1", &listener) == UVEA_OK);
    EXPECT(uvea_rt_dial(program->rt, "p1:1", &stream, UVEA_NEVER) == UVEA_OK);
}

// An incarnation ends when its last task has; what it did not release is counted, but gone.
static void test_left_behind(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {0};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, leave_everything);
    struct uvea_sim_outcome outcome = run_clean(sim); // nothing is open any more
    assert_int_equal(outcome.time_ns, 5 * UVEA_SECOND);
    assert_int_equal(program.ended, 1);
    assert_int_equal(outcome.left_behind, 5); // the stream nobody accepted went with its listener
}

// What a crash leaves is nobody's fault.
static void ignore_sleep(void *arg)
{
    struct program *program = arg;
    (void)!uvea_rt_sleep_ns(program->rt, 5 * UVEA_SECOND);
}

static void crash_oneself(struct program *program)
{
    struct uvea_task *task;
    struct uvea_channel *channel;
    EXPECT(uvea_rt_spawn(program->rt, "lingers", ignore_sleep, program, &task) == UVEA_OK);
    EXPECT(uvea_rt_channel_open(program->rt, 1, &channel) == UVEA_OK);
    uvea_sim_process_crash(program->sim, program->node);
    EXPECT(!uvea_sim_process_running(program->sim, program->node));
    EXPECT(uvea_rt_point(program->rt, UVEA_POINT_READY) == UVEA_ERR_CLOSED);
    EXPECT(uvea_rt_sleep_ns(program->rt, 1) == UVEA_ERR_CLOSED);
}

static void test_crash_of_oneself(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {0};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, crash_oneself);
    struct uvea_sim_outcome outcome = finish(sim);
    assert_int_equal(outcome.time_ns, 0);
    assert_int_equal(program.crashed, 1);
}

static void crash_and_return(struct program *program)
{
    uvea_sim_process_crash(program->sim, program->node);
}

static void test_crash_and_return(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {.restarts = 2};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, crash_and_return);
    (void)finish(sim);
    assert_int_equal(program.crashed, 3);
}

// ---- crashes by others

static void crash_node_1(void *arg)
{
    struct program *program = arg;
    EXPECT(uvea_rt_sleep_ns(uvea_sim_rt(program->sim, 0), UVEA_SECOND) == UVEA_OK);
    uvea_sim_process_crash(program->sim, 1);
    EXPECT(!uvea_sim_process_running(program->sim, 1));
    EXPECT(program->ended == 0); // it goes before the next step
    uvea_sim_process_crash(program->sim, 1);
    uvea_sim_process_crash(program->sim, 2); // has no program
}

static void test_crash_by_a_task(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {0};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, sleep_long);
    start(sim, 0, "killer", crash_node_1, &program);
    struct uvea_sim_outcome outcome = finish(sim);
    assert_int_equal(outcome.time_ns, UVEA_SECOND);
    assert_int_equal(program.crashed, 1);
    assert_int_equal(program.error, UVEA_ERR_CLOSED);
}

static void crash_now(struct uvea_sim *sim, void *arg)
{
    struct program *program = arg;
    EXPECT(uvea_sim_process_running(sim, program->node));
    uvea_sim_process_crash(sim, program->node);
    EXPECT(!uvea_sim_process_running(sim, program->node) && program->ended == program->crashed);
}

static void test_crash_by_a_timer(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {.restarts = 1, .restart_delay_ns = 10 * UVEA_SECOND};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, sleep_long);
    assert_int_equal(uvea_sim_at(sim, 3 * UVEA_SECOND, crash_now, &program), UVEA_OK);
    struct uvea_sim_outcome outcome = finish(sim);
    assert_int_equal(outcome.time_ns, 1013 * UVEA_SECOND);
    assert_int_equal(program.begun, 2);
    assert_int_equal(program.crashed, 1);
    assert_int_equal(program.error, UVEA_OK);
}

static void test_crash_at_first_step(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {.restarts = 1};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, sleep_long);
    uvea_sim_process_crash_at_step(sim, 1, 1);
    (void)finish(sim);
    assert_int_equal(program.begun, 1); // the first never came to its program
    assert_int_equal(program.crashed, 1);
    assert_int_equal(program.ended, 2);
}

// ---- closing

static void test_close_kills(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.time_budget_ns = UVEA_SECOND;
    struct program running = {0};
    struct program starting = {0};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &running, sleep_long);
    starting.sim = sim;
    struct uvea_sim_process process = {program_main, &starting, NULL, NULL};
    uvea_sim_process_set(sim, 2, &process);
    assert_int_equal(uvea_sim_process_start(sim, 2, 5 * UVEA_SECOND), UVEA_OK);
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_TIME_LIMIT);
    assert_non_null(strstr(outcome.blocked, "p2 task 'main' is not started yet, until 5.000000 s"));
    assert_int_equal(running.ended, 0);
    uvea_sim_close(sim);
    assert_no_failure();
    assert_int_equal(running.crashed, 1);
    assert_int_equal(running.error, UVEA_ERR_CLOSED);
    assert_int_equal(starting.begun, 0);
}

static void restart_at_close(void *arg, bool crashed)
{
    struct program *program = arg;
    EXPECT(crashed);
    EXPECT(uvea_sim_process_start(program->sim, 1, 0) == UVEA_ERR_CLOSED);
    EXPECT(uvea_sim_at(program->sim, 0, crash_now, program) == UVEA_ERR_CLOSED);
    program->ended++;
}

static void test_close_refuses_restarts(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.time_budget_ns = UVEA_SECOND;
    struct program program = {.act = sleep_long};
    struct uvea_sim *sim = open_sim(&config);
    program.sim = sim;
    program.rt = uvea_sim_rt(sim, 1);
    struct uvea_sim_process process = {program_main, &program, NULL, restart_at_close};
    uvea_sim_process_set(sim, 1, &process);
    assert_int_equal(uvea_sim_process_start(sim, 1, 0), UVEA_OK);
    (void)run_to(sim, UVEA_SIM_TIME_LIMIT);
    uvea_sim_close(sim);
    assert_no_failure();
    assert_int_equal(program.ended, 1);
}

// ---- pauses

static void count_seconds(struct program *program)
{
    for (int i = 0; i < 4; i++) {
        EXPECT(uvea_rt_sleep_ns(program->rt, UVEA_SECOND) == UVEA_OK);
        program->at_ns[i] = sim_ns(program);
    }
}

static void pause_now(struct uvea_sim *sim, void *arg)
{
    struct program *program = arg;
    uvea_sim_process_pause(sim, program->node, 5 * UVEA_SECOND);
    uvea_sim_process_pause(sim, program->node, UVEA_SECOND); // the longer one counts
}

static void test_pause_holds_timers(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {0};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, count_seconds);
    assert_int_equal(uvea_sim_at(sim, 3 * UVEA_SECOND / 2, pause_now, &program), UVEA_OK);
    (void)finish(sim);
    assert_int_equal(program.at_ns[0], UVEA_SECOND);
    assert_int_equal(program.at_ns[1], 13 * UVEA_SECOND / 2); // due at 2 s
    assert_int_equal(program.at_ns[2], 15 * UVEA_SECOND / 2);
}

static void test_crash_ends_a_pause(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {.restarts = 1};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, sleep_long);
    assert_int_equal(uvea_sim_at(sim, UVEA_SECOND, pause_now, &program), UVEA_OK);
    assert_int_equal(uvea_sim_at(sim, 2 * UVEA_SECOND, crash_now, &program), UVEA_OK);
    struct uvea_sim_outcome outcome = finish(sim);
    assert_int_equal(outcome.time_ns, 1002 * UVEA_SECOND);
}

static void pause_oneself(struct program *program)
{
    uvea_sim_process_pause(program->sim, program->node, UVEA_SECOND);
    EXPECT(sim_ns(program) == 0); // not before it waits
    EXPECT(uvea_rt_sleep_ns(program->rt, UVEA_MS) == UVEA_OK);
    EXPECT(sim_ns(program) == UVEA_SECOND);
    uvea_sim_process_pause(program->sim, program->node, UVEA_NEVER);
    EXPECT(uvea_rt_sleep_ns(program->rt, UVEA_MS) == UVEA_ERR_CLOSED);
}

static void test_pause_for_ever(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {0};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, pause_oneself);
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_NO_PROGRESS);
    assert_non_null(strstr(outcome.blocked, "is ready to run when the pause ends"));
    uvea_sim_close(sim);
    assert_no_failure();
    assert_int_equal(program.crashed, 1);
}

// Bytes arrive at a paused node, and a dial is answered.
static void read_late(struct program *program)
{
    struct uvea_listener *listener;
    uint8_t bytes[8];
    size_t got;
    EXPECT(uvea_rt_listen(program->rt, "p1:1", &listener) == UVEA_OK);
    uvea_sim_process_pause(program->sim, program->node, 10 * UVEA_SECOND);
    EXPECT(uvea_rt_accept(program->rt, listener, &program->stream, UVEA_NEVER) == UVEA_OK);
    EXPECT(sim_ns(program) == 10 * UVEA_SECOND);
    EXPECT(uvea_rt_read(program->rt, program->stream, bytes, 8, &got, 0) == UVEA_OK && got == 3);
    EXPECT(uvea_rt_read(program->rt, program->stream, bytes, 8, &got, 0) == UVEA_OK && got == 0);
    uvea_rt_stream_close(program->rt, program->stream);
    uvea_rt_listener_close(program->rt, listener);
}

static void write_early(struct program *program)
{
    struct uvea_stream *stream;
    EXPECT(uvea_rt_sleep_ns(program->rt, UVEA_MS) == UVEA_OK);
    EXPECT(uvea_rt_dial(program->rt, "p1:1", &stream, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_write(program->rt, stream, (const uint8_t *)"abc", 3, UVEA_NEVER) == UVEA_OK);
    uvea_rt_stream_close(program->rt, stream);
    EXPECT(sim_ns(program) < UVEA_SECOND);
}

static void test_bytes_arrive_in_a_pause(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program programs[2] = {0};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &programs[1], read_late);
    run_on(sim, 0, &programs[0], write_early);
    (void)finish(sim);
}

// ---- speed

static void compute(struct program *program)
{
    for (int i = 0; i < 3; i++) {
        uint64_t start_ns = sim_ns(program);
        uvea_sim_process_slow(program->sim, program->node, i == 0 ? 250 : i == 1 ? 100 : 0);
        uvea_rt_charge(program->rt, UVEA_CHARGE_MPC_WORD, 1000);
        program->at_ns[i] = sim_ns(program) - start_ns;
    }
}

static void test_slow_node(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.cost_ns[UVEA_CHARGE_MPC_WORD] = 10;
    struct program program = {0};
    struct uvea_sim *sim = open_sim(&config);
    run_on(sim, 1, &program, compute);
    (void)finish(sim);
    assert_int_equal(program.at_ns[0], 25000);
    assert_int_equal(program.at_ns[1], 10000);
    assert_int_equal(program.at_ns[2], 0);
}

// ---- timers

struct ticks {
    struct uvea_sim *sim;
    unsigned count;
    uint64_t at_ns[8];
};

static void tick(struct uvea_sim *sim, void *arg)
{
    struct ticks *ticks = arg;
    ticks->at_ns[ticks->count++ % 8] = uvea_sim_now_ns(sim);
    if (ticks->count == 2) {
        EXPECT(uvea_sim_at(sim, UVEA_SECOND, tick, ticks) == UVEA_OK); // has passed
        EXPECT(uvea_sim_at(sim, 5 * UVEA_SECOND, tick, ticks) == UVEA_OK);
    }
}

static void test_timers(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct ticks ticks = {.sim = open_sim(&config)};
    assert_int_equal(uvea_sim_at(ticks.sim, 3 * UVEA_SECOND, tick, &ticks), UVEA_OK);
    assert_int_equal(uvea_sim_at(ticks.sim, 2 * UVEA_SECOND, tick, &ticks), UVEA_OK);
    struct uvea_sim_outcome outcome = finish(ticks.sim); // a run waits for its timers
    assert_int_equal(outcome.time_ns, 5 * UVEA_SECOND);
    assert_int_equal(ticks.count, 4);
    assert_int_equal(ticks.at_ns[0], 2 * UVEA_SECOND);
    assert_int_equal(ticks.at_ns[1], 3 * UVEA_SECOND);
    assert_int_equal(ticks.at_ns[2], 3 * UVEA_SECOND);
    assert_int_equal(ticks.at_ns[3], 5 * UVEA_SECOND);
}

static void test_timer_limit(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct ticks ticks = {.sim = open_sim(&config), .count = 2};
    for (unsigned i = 0; i < UVEA_SIM_TIMERS_MAX; i++) {
        assert_int_equal(uvea_sim_at(ticks.sim, i, tick, &ticks), UVEA_OK);
    }
    assert_int_equal(uvea_sim_at(ticks.sim, 0, tick, &ticks), UVEA_ERR_LIMIT);
    (void)finish(ticks.sim);
    assert_int_equal(ticks.count, 2 + UVEA_SIM_TIMERS_MAX);
}

// ---- the trace

static void live_and_pass(struct program *program)
{
    EXPECT(uvea_rt_point(program->rt, UVEA_POINT_COMMITTED) == UVEA_OK);
    EXPECT(uvea_rt_point(program->rt, UVEA_POINT_PUBLISHED) == UVEA_OK ||
           program->begun == 1); // killed here the first time
}

static char *read_all(FILE *file)
{
    static char text[8192];
    rewind(file);
    size_t bytes = fread(text, 1, sizeof(text) - 1, file);
    text[bytes] = '\0';
    (void)fclose(file);
    return text;
}

static void test_trace_shows_lives(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct program program = {.restarts = 1};
    FILE *json = tmpfile();
    FILE *lanes = tmpfile();
    struct uvea_sim *sim = open_sim(&config);
    uvea_sim_trace_write(uvea_sim_trace(sim), json);
    run_on(sim, 1, &program, live_and_pass);
    uvea_sim_process_crash_at_point(sim, 1, UVEA_POINT_PUBLISHED, 1);
    (void)run_to(sim, UVEA_SIM_FINISHED);
    uvea_sim_trace_lanes(uvea_sim_trace(sim), 2, 64, lanes);
    uvea_sim_close(sim);
    const char *text = read_all(json);
    assert_non_null(strstr(text, "\"node\":\"p1\",\"kind\":\"start\",\"amount\":1"));
    assert_non_null(strstr(text, "\"kind\":\"point\",\"amount\":1,\"digest\":"));
    assert_non_null(strstr(text, "\"label\":\"committed\""));
    assert_non_null(strstr(text, "\"kind\":\"death\",\"amount\":1,"));
    assert_non_null(strstr(text, "\"kind\":\"start\",\"amount\":2"));
    assert_non_null(strstr(text, "\"kind\":\"ended\",\"amount\":2"));
    text = read_all(lanes);
    assert_non_null(strstr(text, "| point 1 published"));
    assert_non_null(strstr(text, "| death 1 point"));
    assert_non_null(strstr(text, "| start 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_incarnations),
        cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_crash_of_oneself),
        cmocka_unit_test(test_crash_and_return),
        cmocka_unit_test(test_crash_by_a_task),
        cmocka_unit_test(test_crash_by_a_timer),
        cmocka_unit_test(test_crash_at_first_step),
        cmocka_unit_test(test_close_kills),
        cmocka_unit_test(test_close_refuses_restarts),
        cmocka_unit_test(test_pause_holds_timers),
        cmocka_unit_test(test_crash_ends_a_pause),
        cmocka_unit_test(test_pause_for_ever),
        cmocka_unit_test(test_bytes_arrive_in_a_pause),
        cmocka_unit_test(test_slow_node),
        cmocka_unit_test(test_timers),
        cmocka_unit_test(test_timer_limit),
        cmocka_unit_test(test_trace_shows_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
