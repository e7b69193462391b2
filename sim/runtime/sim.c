#include "sim/runtime/sim.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

#include <stdio.h>
#include <string.h>

#define CLOCK_OFFSET_NS_MAX ((int64_t)UVEA_SIM_CLOCK_START_NS)
enum { CLOCK_DRIFT_PPM_MAX = 100 * 1000 };

_Static_assert(UVEA_CHARGE_COUNT == 4, "every charge has a default cost below");

void uvea_sim_config_init(struct uvea_sim_config *config)
{
    *config = (struct uvea_sim_config){
        .seed = 1,
        .node_count = 4,
        .nodes = {{.name = "p0"}, {.name = "p1"}, {.name = "p2"}, {.name = "client"}},
        .network.link =
            {
                .latency_ns = 500 * UVEA_MS / 1000,
                .jitter_ns = 100 * UVEA_MS / 1000,
                .bandwidth_bits_s = UINT64_C(1000) * 1000 * 1000,
                .window_bytes = 1 << 20,
                .piece_bytes_max = UVEA_SIM_PIECE_BYTES_MAX,
            },
        .cost_ns = {[UVEA_CHARGE_RING_SCORE] = UVEA_SIM_COST_RING_SCORE_NS,
                    [UVEA_CHARGE_SPECTRAL_SCORE] = UVEA_SIM_COST_SPECTRAL_SCORE_NS,
                    [UVEA_CHARGE_MPC_WORD] = UVEA_SIM_COST_MPC_WORD_NS,
                    [UVEA_CHARGE_SHARE_BYTE] = UVEA_SIM_COST_SHARE_BYTE_NS},
        .step_budget = UINT64_C(100) * 1000 * 1000,
        .time_budget_ns = 3600 * UVEA_SECOND,
    };
}

static enum uvea_error entropy(struct uvea_rt *rt, uint8_t *out, size_t bytes)
{
    if (uvea_sim_refuses(uvea_sim_node_of(rt))) {
        return UVEA_ERR_CLOSED;
    }
    uvea_sim_random_fill(&uvea_sim_node_of(rt)->entropy, out, bytes);
    return UVEA_OK;
}

const struct uvea_rt_ops uvea_sim_ops = {
    .now_ns = uvea_sim_op_now_ns,
    .sleep_until = uvea_sim_op_sleep_until,
    .wall_ns = uvea_sim_op_wall_ns,
    .charge = uvea_sim_op_charge,
    .point = uvea_sim_op_point,
    .entropy = entropy,
    .spawn = uvea_sim_op_spawn,
    .join = uvea_sim_op_join,
    .channel_open = uvea_sim_op_channel_open,
    .channel_send = uvea_sim_op_channel_send,
    .channel_recv = uvea_sim_op_channel_recv,
    .channel_shut = uvea_sim_op_channel_shut,
    .channel_close = uvea_sim_op_channel_close,
    .lock_open = uvea_sim_op_lock_open,
    .lock_take = uvea_sim_op_lock_take,
    .lock_release = uvea_sim_op_lock_release,
    .lock_close = uvea_sim_op_lock_close,
    .listen = uvea_sim_op_listen,
    .accept = uvea_sim_op_accept,
    .listener_shut = uvea_sim_op_listener_shut,
    .listener_close = uvea_sim_op_listener_close,
    .dial = uvea_sim_op_dial,
    .stream_read = uvea_sim_op_stream_read,
    .stream_write = uvea_sim_op_stream_write,
    .stream_prove = uvea_sim_op_stream_prove,
    .stream_reason = uvea_sim_op_stream_reason,
    .stream_shut = uvea_sim_op_stream_shut,
    .stream_close = uvea_sim_op_stream_close,
    .http_serve = uvea_sim_op_http_serve,
    .http_close = uvea_sim_op_http_close,
    .http_call = uvea_sim_op_http_call,
};

// ---- opening

static enum uvea_error node_check(const struct uvea_sim_config *config, unsigned index,
                                  struct uvea_error_context *context)
{
    const struct uvea_sim_node_config *node = &config->nodes[index];
    if (node->name == NULL || node->name[0] == '\0' || strchr(node->name, ':') != NULL ||
        strlen(node->name) >= UVEA_SIM_ADDRESS_BYTES / 2) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "node %u needs a name of 1 to %d characters without ':'", index,
                              UVEA_SIM_ADDRESS_BYTES / 2 - 1);
    }
    for (unsigned i = 0; i < index; i++) {
        if (strcmp(config->nodes[i].name, node->name) == 0) {
            return uvea_error_set(context, UVEA_ERR_USAGE, "two nodes have the name '%s'",
                                  node->name);
        }
    }
    if (node->clock_offset_ns < -CLOCK_OFFSET_NS_MAX ||
        node->clock_offset_ns > CLOCK_OFFSET_NS_MAX ||
        node->clock_drift_ppm < -CLOCK_DRIFT_PPM_MAX ||
        node->clock_drift_ppm > CLOCK_DRIFT_PPM_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "clock of node '%s': offset beyond 1000 s or drift beyond %d ppm",
                              node->name, CLOCK_DRIFT_PPM_MAX);
    }
    return UVEA_OK;
}

static void node_init(struct uvea_sim *sim, unsigned index)
{
    const struct uvea_sim_node_config *config = &sim->config.nodes[index];
    struct uvea_sim_node *node = &sim->nodes[index];
    char name[UVEA_SIM_ADDRESS_BYTES + 16];
    node->rt.ops = &uvea_sim_ops;
    node->sim = sim;
    node->index = index;
    node->name = config->name;
    node->clock_base_ns = UVEA_SIM_CLOCK_START_NS + (uint64_t)config->clock_offset_ns;
    node->clock_rate = (uint64_t)(INT64_C(1000000) + config->clock_drift_ppm);
    (void)snprintf(name, sizeof(name), "entropy/%s", config->name);
    uvea_sim_random_init(&node->entropy, sim->config.seed, name);
    uvea_sim_http_init(node);
}

enum uvea_error uvea_sim_open(const struct uvea_sim_config *config, struct uvea_sim **sim,
                              struct uvea_error_context *context)
{
    const char *names[UVEA_SIM_NODES_MAX];
    if (config->node_count < 1 || config->node_count > UVEA_SIM_NODES_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%u nodes are outside 1 .. %d",
                              config->node_count, UVEA_SIM_NODES_MAX);
    }
    for (unsigned i = 0; i < config->node_count; i++) {
        UVEA_TRY(node_check(config, i, context));
        names[i] = config->nodes[i].name;
    }
    struct uvea_sim *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "no memory for the simulator");
    }
    made->config = *config;
    for (unsigned i = 0; i < config->node_count; i++) {
        node_init(made, i);
    }
    enum uvea_error error;
    UVEA_TRY_CLEANUP(uvea_sim_trace_open(names, config->node_count, &made->trace));
    UVEA_TRY_CLEANUP(uvea_sim_fiber_pool_open(config->stack_bytes, &made->fibers));
    UVEA_TRY_CLEANUP(uvea_sim_network_open(made, context));
    UVEA_TRY_CLEANUP(uvea_sim_processes_open(made));
    *sim = made;
    return UVEA_OK;
cleanup:
    uvea_sim_close(made);
    return error;
}

void uvea_sim_close(struct uvea_sim *sim)
{
    if (sim == NULL) {
        return;
    }
    sim->closing = true;
    uvea_sim_processes_close(sim);
    uvea_sim_tasks_unwind(sim, NULL);
    (void)uvea_sim_tasks_drop(sim, NULL);
    (void)uvea_sim_http_servers_drop(sim, NULL);
    for (unsigned i = 0; i < sim->config.node_count; i++) {
        uvea_sim_http_deinit(&sim->nodes[i]);
    }
    uvea_sim_connections_close(sim);
    (void)uvea_sim_channels_drop(sim, NULL);
    (void)uvea_sim_locks_drop(sim, NULL);
    uvea_sim_fiber_pool_close(sim->fibers);
    uvea_sim_trace_close(sim->trace);
    uvea_sim_queue_deinit(&sim->queue);
    uvea_mem_free(sim);
}

struct uvea_rt *uvea_sim_rt(struct uvea_sim *sim, unsigned node)
{
    UVEA_CHECK(node < sim->config.node_count);
    return &sim->nodes[node].rt;
}

// ---- running

// Goes to the next instant at which something happens and lets the first event fire. False when the
// run has to end, as *end says.
static bool advance(struct uvea_sim *sim, enum uvea_sim_end *end)
{
    uint64_t next_ns = uvea_sim_queue_next_ns(&sim->queue);
    uint64_t watchdog_ns = sim->config.watchdog_ns;
    if (next_ns == UVEA_NEVER) {
        *end = UVEA_SIM_NO_PROGRESS;
        return false;
    }
    if (next_ns > sim->config.time_budget_ns) {
        *end = UVEA_SIM_TIME_LIMIT;
        return false;
    }
    if (watchdog_ns != 0 && next_ns - sim->progress_ns > watchdog_ns) {
        *end = UVEA_SIM_WATCHDOG;
        return false;
    }
    sim->now_ns = next_ns;
    struct uvea_sim_event *event = uvea_sim_queue_pop(&sim->queue);
    event->fire(sim, event);
    return true;
}

static enum uvea_sim_end run(struct uvea_sim *sim)
{
    enum uvea_sim_end end = UVEA_SIM_FINISHED;
    for (;;) {
        if (sim->done) {
            return UVEA_SIM_DONE;
        }
        if (sim->kill_count > 0) {
            uvea_sim_kill_those_due(sim);
        } else if (sim->ready.first != NULL) {
            if (sim->steps == sim->config.step_budget) {
                return UVEA_SIM_STEP_LIMIT;
            }
            if (!uvea_sim_may_step(sim->ready.first->node)) {
                continue;
            }
            sim->steps++;
            uvea_sim_step(sim);
            if (sim->spinning) {
                return UVEA_SIM_STEP_LIMIT;
            }
        } else if (sim->live_tasks == 0 && sim->timer_count == 0) {
            return UVEA_SIM_FINISHED;
        } else if (!advance(sim, &end)) {
            return end;
        }
    }
}

static void count_left(const struct uvea_sim *sim, struct uvea_sim_outcome *outcome)
{
    outcome->live_tasks = sim->live_tasks;
    outcome->dropped_tasks = sim->dropped_tasks;
    outcome->left_behind = sim->left_behind;
    for (const struct uvea_task *task = sim->tasks; task != NULL; task = task->next) {
        outcome->unjoined_tasks += task->finished;
    }
    outcome->open_streams = uvea_sim_open_streams(sim);
    for (const struct uvea_channel *at = sim->channels; at != NULL; at = at->next) {
        outcome->open_channels++;
    }
    for (const struct uvea_listener *at = sim->listeners; at != NULL; at = at->next) {
        outcome->open_listeners++;
    }
    for (const struct uvea_lock *at = sim->locks; at != NULL; at = at->next) {
        outcome->open_locks++;
    }
}

void uvea_sim_run(struct uvea_sim *sim, struct uvea_sim_outcome *outcome)
{
    UVEA_CHECK(!sim->closing && sim->running == NULL);
    *outcome = (struct uvea_sim_outcome){0};
    outcome->end = run(sim);
    outcome->time_ns = sim->now_ns;
    outcome->steps = sim->steps;
    outcome->events = uvea_sim_trace_count(sim->trace);
    uvea_sim_trace_hash(sim->trace, outcome->hash);
    count_left(sim, outcome);
    outcome->stack_depth_bytes = uvea_sim_fiber_pool_depth_bytes(sim->fibers);
    uvea_sim_describe_blocked(sim, outcome->blocked, sizeof(outcome->blocked));
}

const char *uvea_sim_end_text(enum uvea_sim_end end)
{
    static const char *const texts[] = {
        [UVEA_SIM_FINISHED] = "every task returned",
        [UVEA_SIM_DONE] = "done",
        [UVEA_SIM_NO_PROGRESS] = "no progress: every task waits for what cannot happen any more",
        [UVEA_SIM_WATCHDOG] = "no progress within the watchdog's time",
        [UVEA_SIM_STEP_LIMIT] = "the step budget is used up",
        [UVEA_SIM_TIME_LIMIT] = "the simulated time budget is used up",
    };
    return (size_t)end < UVEA_COUNT_OF(texts) ? texts[end] : "unknown end";
}

uint64_t uvea_sim_now_ns(const struct uvea_sim *sim)
{
    return sim->now_ns;
}

struct uvea_sim_trace *uvea_sim_trace(struct uvea_sim *sim)
{
    return sim->trace;
}

// ---- from a task

struct uvea_sim *uvea_sim_of(struct uvea_rt *rt)
{
    return uvea_sim_node_of(rt)->sim;
}

void uvea_sim_done(struct uvea_rt *rt)
{
    if (!uvea_sim_node_of(rt)->dying) {
        uvea_sim_of(rt)->done = true;
    }
}

void uvea_sim_progress(struct uvea_rt *rt)
{
    if (!uvea_sim_node_of(rt)->dying) {
        uvea_sim_of(rt)->progress_ns = uvea_sim_of(rt)->now_ns;
    }
}

void uvea_sim_stop(struct uvea_rt *rt)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    node->stopped = true;
    uvea_sim_record(node, UVEA_SIM_EVENT_STOP, UVEA_SIM_NO_PEER, 0, NULL);
    for (struct uvea_task *task = node->sim->tasks; task != NULL; task = task->next) {
        if (task->node == node && task->wait_kind == UVEA_SIM_WAIT_SLEEP) {
            uvea_sim_wake(task, UVEA_ERR_CLOSED);
        }
    }
}

void uvea_sim_note(struct uvea_rt *rt, const char *kind, const char *text)
{
    uvea_sim_record_words(uvea_sim_node_of(rt), UVEA_SIM_EVENT_NOTE, UVEA_SIM_NO_PEER, 0, kind,
                          text);
}

// The trace may allocate, on no account of the running node.
void uvea_sim_record(struct uvea_sim_node *node, enum uvea_sim_event_kind kind, unsigned peer,
                     uint64_t amount, const char *label)
{
    struct uvea_sim *sim = node->sim;
    if (!node->dying && !sim->closing) {
        sim->silent = true;
        uvea_sim_trace_event(sim->trace, sim->now_ns, kind, node->index, peer, amount, label);
        sim->silent = false;
    }
}

void uvea_sim_record_words(struct uvea_sim_node *node, enum uvea_sim_event_kind kind, unsigned peer,
                           uint64_t amount, const char *label, const char *text)
{
    struct uvea_sim *sim = node->sim;
    if (!node->dying && !sim->closing) {
        sim->silent = true;
        uvea_sim_trace_words(sim->trace, sim->now_ns, kind, node->index, peer, amount, label, text);
        sim->silent = false;
    }
}
