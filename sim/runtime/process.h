// Processes of a simulation: a node's program can die at any step and be started again, as a new
// incarnation, while everything else goes on.
//
// A death is sudden. At that moment the node's connections break (peers get RESET), its listeners
// and servers are gone, and its callbacks below are called; then its tasks are made to return, as
// at the end of a run: every call of theirs on the runtime gives UVEA_ERR_CLOSED at once, has no
// effect, takes no time and leaves no trace. So memory is given back by the program's own clean-up,
// and nothing that happens in it can be seen by anyone. What the program stores must be protected
// by its disk (sim/disk/disk.h), which is dead from the moment of the crash.
//
// A new incarnation draws its entropy from a stream of its own, "entropy/<node>#<incarnation>".
// Everything here is called between steps or by tasks; what happens to the running task's own node
// takes effect when that task next waits or passes a point.
#ifndef UVEA_SIM_RUNTIME_PROCESS_H
#define UVEA_SIM_RUNTIME_PROCESS_H

#include "core/base/error.h"
#include "core/rt/point.h"
#include "core/rt/rt.h"

#include <stdbool.h>
#include <stdint.h>

struct uvea_sim;

struct uvea_sim_process {
    uvea_task_fn *main; // the program; returns when it ends by itself
    void *arg;
    // At the moment of death, before the tasks unwind. May be NULL.
    void (*died)(void *arg);
    // When no task of the incarnation is left, also after an end by itself: the place to release
    // what the program used and to plan a restart. crashed: it was killed. May be NULL.
    void (*ended)(void *arg, bool crashed);
};

// What node `node` runs; once, before its first start.
void uvea_sim_process_set(struct uvea_sim *sim, unsigned node,
                          const struct uvea_sim_process *process);

// Starts the next incarnation after delay_ns; the node is not running and not about to.
UVEA_MUST_USE enum uvea_error uvea_sim_process_start(struct uvea_sim *sim, unsigned node,
                                                     uint64_t delay_ns);

bool uvea_sim_process_running(const struct uvea_sim *sim, unsigned node);
// 0 before the first start.
unsigned uvea_sim_process_incarnation(const struct uvea_sim *sim, unsigned node);

// Kills it. Nothing happens when it is not running.
void uvea_sim_process_crash(struct uvea_sim *sim, unsigned node);

// Kills it when it takes its step number `step` (resumes of its tasks, counted from its start, from
// 1), or when it passes `point` for the nth time in this incarnation (from 1). One of each may be
// armed; the next incarnation starts with none.
void uvea_sim_process_crash_at_step(struct uvea_sim *sim, unsigned node, uint64_t step);
void uvea_sim_process_crash_at_point(struct uvea_sim *sim, unsigned node, enum uvea_point point,
                                     uint64_t nth);

// Steps its tasks have taken since it was started.
uint64_t uvea_sim_process_steps(const struct uvea_sim *sim, unsigned node);

// No task of it runs for so long; the world goes on (a stopped process, a machine that swaps).
void uvea_sim_process_pause(struct uvea_sim *sim, unsigned node, uint64_t for_ns);

// Its charges cost percent/100 as much, from now on; 100 is the usual speed.
void uvea_sim_process_slow(struct uvea_sim *sim, unsigned node, uint32_t percent);

// How often each point was passed in the whole run, over all nodes.
uint64_t uvea_sim_point_count(const struct uvea_sim *sim, enum uvea_point point);

// ---- clocks

// The node's wall clock steps by so much; the monotonic clock does not notice.
void uvea_sim_wall_step(struct uvea_sim *sim, unsigned node, int64_t by_ns);
// Sets the wall clock (nanoseconds since 1970).
void uvea_sim_wall_set(struct uvea_sim *sim, unsigned node, uint64_t wall_ns);

// ---- the world's own plans

// Calls fn between two steps, at simulated time at_ns or at once when that has passed. Up to
// UVEA_SIM_TIMERS_MAX at a time, else LIMIT.
enum { UVEA_SIM_TIMERS_MAX = 1024 };
typedef void uvea_sim_timer_fn(struct uvea_sim *sim, void *arg);
UVEA_MUST_USE enum uvea_error uvea_sim_at(struct uvea_sim *sim, uint64_t at_ns,
                                          uvea_sim_timer_fn *fn, void *arg);

#endif
