// A toy fleet: three programs, each with a durable counter, count to GOAL together over HTTP and a
// stream. A program raises its counter when both others have come as far, so counters never lie
// more than one apart, whatever dies when. What is not on the disk is forgotten by a crash.
#ifndef UVEA_TESTS_SIM_TRIO_H
#define UVEA_TESTS_SIM_TRIO_H

#include "core/base/mem.h"
#include "sim/runtime/http.h"
#include "sim/runtime/process.h"
#include "tests/sim/harness.h"

#include <stdlib.h>

enum { TRIO = 3, GOAL = 3 };

struct trio;

struct trio_node {
    struct trio *trio;
    unsigned index;
    struct uvea_rt *rt;
    unsigned counter; // the disk
    bool disk_alive;
    unsigned incarnations;
    unsigned crashes;
    unsigned ends;
    uint64_t steps; // of the last incarnation
};

struct trio {
    struct uvea_sim *sim;
    struct trio_node nodes[TRIO];
};

// What a program holds in memory.
struct trio_run {
    struct trio_node *node;
    struct uvea_lock *lock;
    struct uvea_http_server *server;
    struct uvea_channel *stop;
    struct uvea_task *heart;
    unsigned *shown; // the counter that peers may see
    unsigned beats;
};

static inline bool trio_done(const struct trio *trio)
{
    return trio->nodes[0].counter == GOAL && trio->nodes[1].counter == GOAL &&
           trio->nodes[2].counter == GOAL;
}

static void trio_answer(void *arg, const struct uvea_http_request *request,
                        struct uvea_http_response *response)
{
    struct trio_run *run = arg;
    char text[16];
    uvea_rt_lock_take(run->node->rt, run->lock);
    int bytes = snprintf(text, sizeof(text), "%u", *run->shown);
    uvea_rt_lock_release(run->node->rt, run->lock);
    response->status = strcmp(request->target, "/counter") == 0 ? 200 : 404;
    if (uvea_buf_append(&response->body, text, (size_t)bytes) != UVEA_OK) {
        response->status = 500;
    }
}

static void trio_beat(void *arg)
{
    struct trio_run *run = arg;
    void *item;
    while (uvea_rt_channel_recv(run->node->rt, run->stop, &item,
                                uvea_rt_deadline_ns(run->node->rt, 7 * UVEA_MS)) ==
           UVEA_ERR_TIMEOUT) {
        run->beats++;
    }
}

static inline enum uvea_error trio_peer_counter(struct trio_run *run, unsigned peer,
                                                unsigned *counter)
{
    static const char *const addresses[TRIO] = {"p0:80", "p1:80", "p2:80"};
    struct uvea_http_request request = {.method = "GET", .target = "/counter"};
    struct uvea_http_response response = {0};
    struct uvea_rt *rt = run->node->rt;
    UVEA_TRY(uvea_rt_http_call(rt, addresses[peer], &request, &response,
                               uvea_rt_deadline_ns(rt, 50 * UVEA_MS)));
    bool good = response.status == 200 && response.body.len == 1;
    if (good) {
        *counter = (unsigned)(response.body.data[0] - '0');
    }
    uvea_http_response_deinit(&response);
    return good ? UVEA_OK : UVEA_ERR_FORMAT;
}

// Raises the counter: first on the disk, then for peers to see.
static inline enum uvea_error trio_raise(struct trio_run *run)
{
    struct trio_node *node = run->node;
    UVEA_TRY(uvea_rt_point(node->rt, UVEA_POINT_DECIDED));
    uint8_t random[8];
    UVEA_TRY(uvea_rt_entropy(node->rt, random, sizeof(random)));
    uvea_rt_charge(node->rt, UVEA_CHARGE_MPC_WORD, 1);
    if (!node->disk_alive) {
        return UVEA_ERR_IO;
    }
    node->counter++;
    UVEA_TRY(uvea_rt_point(node->rt, UVEA_POINT_COMMITTED));
    uvea_rt_lock_take(node->rt, run->lock);
    *run->shown = node->counter;
    uvea_rt_lock_release(node->rt, run->lock);
    return uvea_rt_point(node->rt, UVEA_POINT_PUBLISHED);
}

static inline enum uvea_error trio_work(struct trio_run *run)
{
    struct trio_node *node = run->node;
    while (!trio_done(node->trio)) {
        bool far = node->counter < GOAL;
        for (unsigned peer = 0; peer < TRIO && far; peer++) {
            unsigned counter;
            far = peer == node->index ||
                  (trio_peer_counter(run, peer, &counter) == UVEA_OK && counter >= node->counter);
        }
        if (far) {
            UVEA_TRY(trio_raise(run));
        } else {
            UVEA_TRY(uvea_rt_sleep_ns(node->rt, 5 * UVEA_MS));
        }
    }
    return UVEA_OK;
}

static inline enum uvea_error trio_open(struct trio_run *run)
{
    static const char *const addresses[TRIO] = {"p0:80", "p1:80", "p2:80"};
    struct trio_node *node = run->node;
    struct uvea_rt *rt = node->rt;
    run->shown = uvea_mem_alloc(1, sizeof(*run->shown));
    if (run->shown == NULL) {
        return UVEA_ERR_MEMORY;
    }
    *run->shown = node->counter;
    UVEA_TRY(uvea_rt_lock_open(rt, &run->lock));
    UVEA_TRY(uvea_rt_channel_open(rt, 1, &run->stop));
    UVEA_TRY(uvea_rt_http_serve(rt, addresses[node->index], trio_answer, run, &run->server));
    UVEA_TRY(uvea_rt_spawn(rt, "heart", trio_beat, run, &run->heart));
    return uvea_rt_point(rt, UVEA_POINT_READY);
}

static inline void trio_close(struct trio_run *run)
{
    struct uvea_rt *rt = run->node->rt;
    if (run->stop != NULL) {
        uvea_rt_channel_shut(rt, run->stop);
    }
    if (run->heart != NULL) {
        uvea_rt_join(rt, run->heart);
    }
    uvea_rt_http_close(rt, run->server);
    uvea_rt_channel_close(rt, run->stop);
    uvea_rt_lock_close(rt, run->lock);
    uvea_mem_free(run->shown);
}

static void trio_main(void *arg)
{
    struct trio_node *node = arg;
    struct trio_run run = {.node = node};
    node->disk_alive = true;
    if (trio_open(&run) == UVEA_OK) {
        (void)!trio_work(&run);
    }
    trio_close(&run);
}

static void trio_died(void *arg)
{
    struct trio_node *node = arg;
    node->disk_alive = false;
    node->crashes++;
}

// Starts it again until all have come to the goal.
static void trio_ended(void *arg, bool crashed)
{
    struct trio_node *node = arg;
    node->ends += !crashed;
    node->incarnations++;
    node->steps = uvea_sim_process_steps(node->trio->sim, node->index);
    if (!trio_done(node->trio)) {
        (void)!uvea_sim_process_start(node->trio->sim, node->index, 20 * UVEA_MS);
    }
}

static inline void trio_start(struct trio *trio, const struct uvea_sim_config *config)
{
    *trio = (struct trio){.sim = open_sim(config)};
    for (unsigned i = 0; i < TRIO; i++) {
        trio->nodes[i] =
            (struct trio_node){.trio = trio, .index = i, .rt = uvea_sim_rt(trio->sim, i)};
        struct uvea_sim_process process = {trio_main, &trio->nodes[i], trio_died, trio_ended};
        uvea_sim_process_set(trio->sim, i, &process);
        assert_int_equal(uvea_sim_process_start(trio->sim, i, i * UVEA_MS), UVEA_OK);
    }
}

// Runs to the end; all have counted to the goal and given everything back.
static inline struct uvea_sim_outcome trio_finish(struct trio *trio)
{
    struct uvea_sim_outcome outcome = run_clean(trio->sim);
    assert_int_equal(outcome.dropped_tasks, 0);
    assert_int_equal(outcome.left_behind, 0);
    assert_true(trio_done(trio));
    return outcome;
}

static inline struct uvea_sim_config trio_config(void)
{
    struct uvea_sim_config config = plain_config();
    config.network.link.jitter_ns = 200 * UVEA_MS / 1000;
    config.network.link.piece_bytes_max = 16;
    config.cost_ns[UVEA_CHARGE_MPC_WORD] = 1000;
    config.time_budget_ns = 60 * UVEA_SECOND;
    return config;
}

#endif
