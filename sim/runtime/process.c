#include "sim/runtime/process.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

#include <stdio.h>

enum { PERCENT = 100 };

static struct uvea_sim_node *node_at(struct uvea_sim *sim, unsigned node)
{
    UVEA_CHECK(node < sim->config.node_count);
    return &sim->nodes[node];
}

static const struct uvea_sim_life *life_of(const struct uvea_sim *sim, unsigned node)
{
    UVEA_CHECK(node < sim->config.node_count);
    return &sim->nodes[node].life;
}

// ---- pauses

static void pause_end(struct uvea_sim_node *node)
{
    struct uvea_sim *sim = node->sim;
    uvea_sim_queue_cancel(&sim->queue, &node->life.resume);
    node->life.paused = false;
    node->life.paused_until_ns = 0;
    uvea_sim_ready_move(&node->life.held, node, &sim->ready);
}

static void resume_fire(struct uvea_sim *sim, struct uvea_sim_event *event)
{
    for (unsigned i = 0; i < sim->config.node_count; i++) {
        if (&sim->nodes[i].life.resume == event) {
            uvea_sim_record(&sim->nodes[i], UVEA_SIM_EVENT_RESUME, UVEA_SIM_NO_PEER, 0, NULL);
            pause_end(&sim->nodes[i]);
        }
    }
}

void uvea_sim_process_pause(struct uvea_sim *sim, unsigned node, uint64_t for_ns)
{
    struct uvea_sim_node *at = node_at(sim, node);
    struct uvea_sim_life *life = &at->life;
    uint64_t until_ns;
    if (__builtin_add_overflow(sim->now_ns, for_ns, &until_ns)) {
        until_ns = UVEA_NEVER;
    }
    if (for_ns == 0 || (life->process.main != NULL && !life->running) ||
        until_ns <= life->paused_until_ns) {
        return;
    }
    uvea_sim_record(at, UVEA_SIM_EVENT_PAUSE, UVEA_SIM_NO_PEER, for_ns, NULL);
    life->paused = true;
    life->paused_until_ns = until_ns;
    uvea_sim_ready_move(&sim->ready, at, &life->held);
    uvea_sim_queue_cancel(&sim->queue, &life->resume);
    if (until_ns != UVEA_NEVER) {
        uvea_sim_queue_schedule(&sim->queue, &life->resume, until_ns);
    }
}

// ---- speed

uint64_t uvea_sim_slowed_ns(const struct uvea_sim_node *node, uint64_t cost_ns)
{
    uint32_t percent = node->life.slow_percent;
    if (percent == PERCENT || cost_ns == UVEA_NEVER) {
        return cost_ns;
    }
    unsigned __int128 slowed_ns = (unsigned __int128)cost_ns * percent / PERCENT;
    return slowed_ns > UVEA_NEVER ? UVEA_NEVER : (uint64_t)slowed_ns;
}

void uvea_sim_process_slow(struct uvea_sim *sim, unsigned node, uint32_t percent)
{
    node_at(sim, node)->life.slow_percent = percent;
    uvea_sim_record(node_at(sim, node), UVEA_SIM_EVENT_SLOW, UVEA_SIM_NO_PEER, percent, NULL);
}

// ---- the end of an incarnation

static void incarnation_end(struct uvea_sim_node *node, bool crashed)
{
    struct uvea_sim *sim = node->sim;
    struct uvea_sim_life *life = &node->life;
    unsigned left = uvea_sim_tasks_drop(sim, node);
    uvea_sim_tasks_unwound(sim, node);
    left += uvea_sim_http_servers_drop(sim, node);
    left += uvea_sim_listeners_drop(sim, node); // and what waits there to be accepted
    left += uvea_sim_streams_drop(node);
    left += uvea_sim_channels_drop(sim, node);
    left += uvea_sim_locks_drop(sim, node);
    sim->left_behind += crashed ? 0 : left;
    node->http.idle_count = 0;
    pause_end(node);
    sim->kill_count -= life->kill_why != NULL;
    life->kill_why = NULL;
    life->running = false;
    life->kill_at_step = 0;
    life->kill_at_pass = 0;
    life->allocation_fails = 0;
    if (life->process.ended != NULL) {
        life->process.ended(life->process.arg, crashed);
    }
}

// Not on a fiber. To those who ask, it is not running any more.
static void kill(struct uvea_sim_node *node)
{
    struct uvea_sim *sim = node->sim;
    struct uvea_sim_life *life = &node->life;
    uvea_sim_record_words(node, UVEA_SIM_EVENT_DEATH, UVEA_SIM_NO_PEER, life->incarnation,
                          life->kill_why, NULL);
    uvea_sim_connections_sever(node);
    if (life->process.died != NULL) {
        life->process.died(life->process.arg);
    }
    uvea_sim_tasks_unwind(sim, node);
    incarnation_end(node, true);
}

static void kill_soon(struct uvea_sim_node *node, const char *why)
{
    if (node->life.running && node->life.kill_why == NULL) {
        node->life.kill_why = why;
        node->sim->kill_count++;
    }
}

void uvea_sim_incarnation_emptied(struct uvea_sim_node *node)
{
    if (node->life.running && node->life.kill_why == NULL) {
        uvea_sim_record(node, UVEA_SIM_EVENT_ENDED, UVEA_SIM_NO_PEER, node->life.incarnation, NULL);
        incarnation_end(node, false);
    }
}

void uvea_sim_process_crash(struct uvea_sim *sim, unsigned node)
{
    struct uvea_sim_node *at = node_at(sim, node);
    if (!uvea_sim_process_running(sim, node)) {
        return;
    }
    kill_soon(at, "crash");
    if (!uvea_sim_fiber_running(sim->fibers)) {
        kill(at);
    }
}

void uvea_sim_kill_those_due(struct uvea_sim *sim)
{
    for (unsigned i = 0; i < sim->config.node_count; i++) {
        if (sim->nodes[i].life.kill_why != NULL) {
            kill(&sim->nodes[i]);
        }
    }
}

bool uvea_sim_may_step(struct uvea_sim_node *node)
{
    if (node->life.running && node->life.steps + 1 == node->life.kill_at_step) {
        kill_soon(node, "step");
        return false;
    }
    node->life.steps++;
    return true;
}

void uvea_sim_process_crash_at_step(struct uvea_sim *sim, unsigned node, uint64_t step)
{
    node_at(sim, node)->life.kill_at_step = step;
}

void uvea_sim_process_crash_at_point(struct uvea_sim *sim, unsigned node, enum uvea_point point,
                                     uint64_t nth)
{
    UVEA_CHECK((unsigned)point < UVEA_POINT_COUNT);
    node_at(sim, node)->life.kill_point = point;
    node_at(sim, node)->life.kill_at_pass = nth;
}

// ---- starting

void uvea_sim_process_set(struct uvea_sim *sim, unsigned node,
                          const struct uvea_sim_process *process)
{
    struct uvea_sim_life *life = &node_at(sim, node)->life;
    UVEA_CHECK(process->main != NULL && life->process.main == NULL);
    life->process = *process;
}

enum uvea_error uvea_sim_process_start(struct uvea_sim *sim, unsigned node, uint64_t delay_ns)
{
    struct uvea_sim_node *at = node_at(sim, node);
    struct uvea_sim_life *life = &at->life;
    UVEA_CHECK(life->process.main != NULL);
    if (sim->closing) {
        return UVEA_ERR_CLOSED;
    }
    if (life->running || life->starting) {
        return UVEA_ERR_USAGE;
    }
    uint64_t at_ns;
    if (__builtin_add_overflow(sim->now_ns, delay_ns, &at_ns)) {
        at_ns = UVEA_NEVER;
    }
    UVEA_TRY(uvea_sim_start_at(at, at_ns, life->process.main, life->process.arg));
    life->starting = true;
    return UVEA_OK;
}

void uvea_sim_incarnation_begin(struct uvea_sim_node *node)
{
    struct uvea_sim_life *life = &node->life;
    char name[UVEA_SIM_ADDRESS_BYTES + 32];
    life->starting = false;
    life->running = true;
    life->incarnation++;
    life->steps = 0;
    node->stopped = false;
    for (unsigned i = 0; i < UVEA_POINT_COUNT; i++) {
        node->point_counts[i] = 0;
    }
    node->last_point = UVEA_POINT_COUNT;
    (void)snprintf(name, sizeof(name), "entropy/%s#%u", node->name, life->incarnation);
    uvea_sim_random_init(&node->entropy, node->sim->config.seed, name);
    uvea_sim_record(node, UVEA_SIM_EVENT_START, UVEA_SIM_NO_PEER, life->incarnation, NULL);
}

bool uvea_sim_process_running(const struct uvea_sim *sim, unsigned node)
{
    return life_of(sim, node)->running && life_of(sim, node)->kill_why == NULL;
}

unsigned uvea_sim_process_incarnation(const struct uvea_sim *sim, unsigned node)
{
    return life_of(sim, node)->incarnation;
}

uint64_t uvea_sim_process_steps(const struct uvea_sim *sim, unsigned node)
{
    return life_of(sim, node)->steps;
}

unsigned uvea_sim_process_phase(const struct uvea_sim *sim, unsigned node)
{
    UVEA_CHECK(node < sim->config.node_count);
    return life_of(sim, node)->running ? sim->nodes[node].last_point : UVEA_POINT_COUNT;
}

// ---- points

enum uvea_error uvea_sim_op_point(struct uvea_rt *rt, enum uvea_point point)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_sim *sim = node->sim;
    UVEA_CHECK((unsigned)point < UVEA_POINT_COUNT);
    if (uvea_sim_refuses(node)) {
        return UVEA_ERR_CLOSED;
    }
    sim->point_counts[point]++;
    uint64_t passed = ++node->point_counts[point];
    node->last_point = (unsigned)point;
    uvea_sim_record_words(node, UVEA_SIM_EVENT_POINT, UVEA_SIM_NO_PEER, passed,
                          uvea_point_text(point), NULL);
    if (node->life.kill_point == point && node->life.kill_at_pass == passed) {
        kill_soon(node, "point");
    }
    if (node->life.kill_why == NULL || sim->running == NULL) {
        return UVEA_OK;
    }
    uvea_sim_yield(sim); // and is killed
    return UVEA_ERR_CLOSED;
}

uint64_t uvea_sim_point_count(const struct uvea_sim *sim, enum uvea_point point)
{
    UVEA_CHECK((unsigned)point < UVEA_POINT_COUNT);
    return sim->point_counts[point];
}

// ---- allocations

static bool may_allocate(void *arg)
{
    struct uvea_sim *sim = arg;
    if (sim->running == NULL || sim->silent) {
        return true;
    }
    struct uvea_sim_node *node = sim->running->node;
    struct uvea_sim_life *life = &node->life;
    if (life->allocation_fails == 0) {
        return true;
    }
    uint64_t count = ++life->allocations;
    if (count < life->allocation_fails ||
        (count > life->allocation_fails && !life->allocation_onward)) {
        return true;
    }
    uvea_sim_record(node, UVEA_SIM_EVENT_MEMORY, UVEA_SIM_NO_PEER, count, NULL);
    return false;
}

void uvea_sim_process_fail_allocation(struct uvea_sim *sim, unsigned node, uint64_t nth,
                                      bool onward)
{
    struct uvea_sim_life *life = &node_at(sim, node)->life;
    life->allocations = 0;
    life->allocation_fails = nth;
    life->allocation_onward = onward;
    sim->hooked = true;
    uvea_mem_set_hook(may_allocate, sim);
}

uint64_t uvea_sim_process_allocations(const struct uvea_sim *sim, unsigned node)
{
    return life_of(sim, node)->allocations;
}

void uvea_sim_onlooker(struct uvea_sim *sim, bool at_work)
{
    sim->silent = at_work;
}

// ---- all of them

enum uvea_error uvea_sim_processes_open(struct uvea_sim *sim)
{
    for (unsigned i = 0; i < sim->config.node_count; i++) {
        sim->nodes[i].life.slow_percent = PERCENT;
        sim->nodes[i].life.resume.fire = resume_fire;
    }
    return uvea_sim_queue_reserve(&sim->queue, sim->config.node_count);
}

void uvea_sim_processes_close(struct uvea_sim *sim)
{
    for (unsigned i = 0; i < sim->config.node_count; i++) {
        kill_soon(&sim->nodes[i], "close");
    }
    uvea_sim_kill_those_due(sim);
    if (sim->hooked) {
        uvea_mem_set_hook(NULL, NULL);
    }
    uvea_mem_free(sim->timers);
}
