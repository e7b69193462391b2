#include "sim/runtime/process.h"

#include "core/base/check.h"
#include "sim/runtime/state.h"

// ---- points

enum uvea_error uvea_sim_op_point(struct uvea_rt *rt, enum uvea_point point)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK((unsigned)point < UVEA_POINT_COUNT);
    if (uvea_sim_dying(node)) {
        return UVEA_ERR_CLOSED;
    }
    node->sim->point_counts[point]++;
    uvea_sim_record_words(node, UVEA_SIM_EVENT_POINT, UVEA_SIM_NO_PEER, ++node->point_counts[point],
                          uvea_point_text(point), NULL);
    return UVEA_OK;
}

uint64_t uvea_sim_point_count(const struct uvea_sim *sim, enum uvea_point point)
{
    UVEA_CHECK((unsigned)point < UVEA_POINT_COUNT);
    return sim->point_counts[point];
}

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
