// Helpers of the simulator's tests. cmocka's assertions jump, which must not happen on a fiber:
// there, EXPECT records the first failure, and run_to asserts it on the main stack.
#ifndef UVEA_TESTS_SIM_HARNESS_H
#define UVEA_TESTS_SIM_HARNESS_H

#include "core/base/check.h"
#include "core/rt/rt.h"
#include "sim/runtime/sim.h"
#include "tests/support/cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static char first_failure[256];

static inline void expect_at(bool holds, const char *file, int line, const char *condition)
{
    if (!holds && first_failure[0] == '\0') {
        (void)snprintf(first_failure, sizeof(first_failure), "%s:%d: %s", file, line, condition);
    }
}
#define EXPECT(condition) expect_at((condition), __FILE__, __LINE__, #condition)

static inline void assert_no_failure(void)
{
    char text[sizeof(first_failure)];
    memcpy(text, first_failure, sizeof(text));
    first_failure[0] = '\0';
    if (text[0] != '\0') {
        fail_msg("%s", text);
    }
}

// Four nodes, links of exactly 1 ms, no jitter, no bandwidth limit, no splitting, free computing.
static inline struct uvea_sim_config plain_config(void)
{
    struct uvea_sim_config config;
    uvea_sim_config_init(&config);
    config.network.link = (struct uvea_sim_link_config){
        .latency_ns = UVEA_MS, .window_bytes = 65536, .piece_bytes_max = 0};
    memset(config.cost_ns, 0, sizeof(config.cost_ns));
    return config;
}

static inline struct uvea_sim *open_sim(const struct uvea_sim_config *config)
{
    struct uvea_sim *sim = NULL;
    struct uvea_error_context context = {""};
    if (uvea_sim_open(config, &sim, &context) != UVEA_OK) {
        fail_msg("%s", context.text);
    }
    return sim;
}

static inline void start(struct uvea_sim *sim, unsigned node, const char *name, uvea_task_fn *fn,
                         void *arg)
{
    assert_int_equal(uvea_sim_start(sim, node, name, fn, arg), UVEA_OK);
}

static inline struct uvea_sim_outcome run_to(struct uvea_sim *sim, enum uvea_sim_end end)
{
    struct uvea_sim_outcome outcome;
    uvea_sim_run(sim, &outcome);
    assert_no_failure();
    if (outcome.end != end) {
        fail_msg("ended with '%s' instead of '%s'\n%s", uvea_sim_end_text(outcome.end),
                 uvea_sim_end_text(end), outcome.blocked);
    }
    return outcome;
}

// Runs to the end of all tasks and checks that everything was released.
static inline struct uvea_sim_outcome run_clean(struct uvea_sim *sim)
{
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_FINISHED);
    assert_int_equal(outcome.live_tasks, 0);
    assert_int_equal(outcome.unjoined_tasks, 0);
    assert_int_equal(outcome.open_streams, 0);
    assert_int_equal(outcome.open_channels, 0);
    assert_int_equal(outcome.open_listeners, 0);
    assert_int_equal(outcome.open_locks, 0);
    assert_string_equal(outcome.blocked, "");
    uvea_sim_close(sim);
    assert_no_failure();
    return outcome;
}

#endif
