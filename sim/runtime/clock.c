// Wall clocks, and the timers of the world itself.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

// ---- wall clocks

static uint64_t add_clamped(uint64_t time_ns, int64_t by_ns)
{
    __int128 sum = (__int128)time_ns + by_ns;
    return sum < 0 ? 0 : sum > (__int128)UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

// It runs with the node's own clock, drift included.
uint64_t uvea_sim_op_wall_ns(struct uvea_rt *rt)
{
    const struct uvea_sim_node *node = uvea_sim_node_of(rt);
    uint64_t run_ns = uvea_sim_op_now_ns(rt) - UVEA_SIM_CLOCK_START_NS; // may wrap, and back
    return add_clamped(UVEA_SIM_WALL_START_NS + run_ns, node->wall_shift_ns);
}

void uvea_sim_wall_step(struct uvea_sim *sim, unsigned node, int64_t by_ns)
{
    UVEA_CHECK(node < sim->config.node_count);
    struct uvea_sim_node *of = &sim->nodes[node];
    if (__builtin_add_overflow(of->wall_shift_ns, by_ns, &of->wall_shift_ns)) {
        of->wall_shift_ns = by_ns < 0 ? INT64_MIN : INT64_MAX;
    }
    uvea_sim_record(of, UVEA_SIM_EVENT_WALL, UVEA_SIM_NO_PEER, (uint64_t)by_ns, NULL);
}

void uvea_sim_wall_set(struct uvea_sim *sim, unsigned node, uint64_t wall_ns)
{
    UVEA_CHECK(node < sim->config.node_count);
    struct uvea_sim_node *of = &sim->nodes[node];
    uint64_t run_ns = uvea_sim_clock_ns(of) - UVEA_SIM_CLOCK_START_NS;
    int64_t shift_ns = (int64_t)(wall_ns - (UVEA_SIM_WALL_START_NS + run_ns));
    int64_t by_ns;
    if (__builtin_sub_overflow(shift_ns, of->wall_shift_ns, &by_ns)) {
        by_ns = shift_ns < 0 ? INT64_MIN : INT64_MAX;
    }
    of->wall_shift_ns = shift_ns;
    uvea_sim_record(of, UVEA_SIM_EVENT_WALL, UVEA_SIM_NO_PEER, (uint64_t)by_ns, NULL);
}

// ---- timers

static enum uvea_error timers_make(struct uvea_sim *sim)
{
    struct uvea_sim_timer *timers = uvea_mem_alloc(UVEA_SIM_TIMERS_MAX, sizeof(*timers));
    if (timers == NULL) {
        return UVEA_ERR_MEMORY;
    }
    enum uvea_error error = uvea_sim_queue_reserve(&sim->queue, UVEA_SIM_TIMERS_MAX);
    if (error != UVEA_OK) {
        uvea_mem_free(timers);
        return error;
    }
    for (unsigned i = UVEA_SIM_TIMERS_MAX; i-- > 0;) {
        timers[i].next_free = sim->free_timer;
        sim->free_timer = &timers[i];
    }
    sim->timers = timers;
    return UVEA_OK;
}

static void timer_fire(struct uvea_sim *sim, struct uvea_sim_event *event)
{
    struct uvea_sim_timer *timer = (struct uvea_sim_timer *)event;
    uvea_sim_timer_fn *fn = timer->fn;
    void *arg = timer->arg;
    timer->next_free = sim->free_timer;
    sim->free_timer = timer;
    sim->timer_count--;
    fn(sim, arg);
}

enum uvea_error uvea_sim_at(struct uvea_sim *sim, uint64_t at_ns, uvea_sim_timer_fn *fn, void *arg)
{
    if (sim->closing) {
        return UVEA_ERR_CLOSED;
    }
    if (sim->timers == NULL) {
        UVEA_TRY(timers_make(sim));
    }
    struct uvea_sim_timer *timer = sim->free_timer;
    if (timer == NULL) {
        return UVEA_ERR_LIMIT;
    }
    sim->free_timer = timer->next_free;
    sim->timer_count++;
    *timer = (struct uvea_sim_timer){.event.fire = timer_fire, .fn = fn, .arg = arg};
    uvea_sim_queue_schedule(&sim->queue, &timer->event, at_ns > sim->now_ns ? at_ns : sim->now_ns);
    return UVEA_OK;
}
