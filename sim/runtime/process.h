// Processes of a simulation: a node's program can die at any step and be started again, as a new
// incarnation, while everything else goes on.
//
// A death is sudden. At that moment the node's listeners and servers are gone and its connections
// break: what it had written may still arrive, then peers get RESET, over links as slow or stuck as
// they are. Its callback `died` is called. Then its tasks are made to return, as at the end of a
// run, before anything else happens: every call of theirs that would wait, reach another node or
// make something gives UVEA_ERR_CLOSED, takes no time and leaves no trace; what works between tasks
// of one program (channels that need not wait, locks, joins) and everything that releases still
// works. So memory is given back by the program's own clean-up, and nothing that happens in it can
// be seen by anyone. What the program stores must be protected by its disk (sim/disk/disk.h), which
// is dead from the moment of the crash. What is left when all tasks have returned is released here.
//
// A new incarnation draws its entropy from a stream of its own, "entropy/<node>#<incarnation>".
// Everything here is called between steps (also from the callbacks) or by tasks of any node. A
// crash asked for by a task takes effect before the next step; that of its own node also when it
// passes a point. Tasks begun by uvea_sim_start on the node live and die with the incarnation that
// runs.
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
    // what the program used and to plan a restart (which is refused while uvea_sim_close kills it).
    // crashed: it was killed. May be NULL.
    void (*ended)(void *arg, bool crashed);
};

// What node `node` runs; once, before its first start.
void uvea_sim_process_set(struct uvea_sim *sim, unsigned node,
                          const struct uvea_sim_process *process);

// Starts the next incarnation after delay_ns. USAGE when the node is running or about to, MEMORY,
// CLOSED when the simulator is being closed.
UVEA_MUST_USE enum uvea_error uvea_sim_process_start(struct uvea_sim *sim, unsigned node,
                                                     uint64_t delay_ns);

bool uvea_sim_process_running(const struct uvea_sim *sim, unsigned node);
// 0 before the first start.
unsigned uvea_sim_process_incarnation(const struct uvea_sim *sim, unsigned node);

// Kills it. Nothing happens when it is not running. A program that has not taken its first step is
// not made to return: it has not begun.
void uvea_sim_process_crash(struct uvea_sim *sim, unsigned node);

// Kills it instead of its step number `step` (resumes of its tasks, counted from its start, from
// 1), or when it passes `point` for the nth time in this incarnation (from 1). One of each may be
// armed, also while it is not running yet, 0 for none; both are forgotten when the incarnation is
// over.
void uvea_sim_process_crash_at_step(struct uvea_sim *sim, unsigned node, uint64_t step);
void uvea_sim_process_crash_at_point(struct uvea_sim *sim, unsigned node, enum uvea_point point,
                                     uint64_t nth);

// Steps its tasks have taken since it was started.
uint64_t uvea_sim_process_steps(const struct uvea_sim *sim, unsigned node);

// No task of it runs for so long; the world goes on (a stopped process, a machine that swaps): its
// timers pass and bytes arrive meanwhile. The longer of two pauses counts; death ends it.
void uvea_sim_process_pause(struct uvea_sim *sim, unsigned node, uint64_t for_ns);

// Its charges cost percent/100 as much, from now on; 100 is the usual speed.
void uvea_sim_process_slow(struct uvea_sim *sim, unsigned node, uint32_t percent);

// Lets its nth call of uvea_mem_alloc from now fail (from 1; onward: and all after it), until the
// incarnation is over. 0 for none. What the runtime needs for this node's own calls is counted too.
// uvea_sim_process_allocations: how many there were since.
void uvea_sim_process_fail_allocation(struct uvea_sim *sim, unsigned node, uint64_t nth,
                                      bool onward);
uint64_t uvea_sim_process_allocations(const struct uvea_sim *sim, unsigned node);

// While an onlooker works in a task of the node (a judge that is called back), its allocations are
// nobody's. Not nested.
void uvea_sim_onlooker(struct uvea_sim *sim, bool at_work);

// How often each point was passed in the whole run, over all nodes.
uint64_t uvea_sim_point_count(const struct uvea_sim *sim, enum uvea_point point);

// The point it passed last in this incarnation; UVEA_POINT_COUNT when it has passed none.
unsigned uvea_sim_process_phase(const struct uvea_sim *sim, unsigned node);

// ---- clocks

// The node's wall clock steps by so much; the monotonic clock does not notice.
void uvea_sim_wall_step(struct uvea_sim *sim, unsigned node, int64_t by_ns);
// Sets the wall clock (nanoseconds since 1970).
void uvea_sim_wall_set(struct uvea_sim *sim, unsigned node, uint64_t wall_ns);

// ---- the world's own plans

// Calls fn between two steps, at simulated time at_ns or at once when that has passed. Up to
// UVEA_SIM_TIMERS_MAX at a time, else LIMIT. CLOSED when the simulator is being closed.
enum { UVEA_SIM_TIMERS_MAX = 1024 };
typedef void uvea_sim_timer_fn(struct uvea_sim *sim, void *arg);
UVEA_MUST_USE enum uvea_error uvea_sim_at(struct uvea_sim *sim, uint64_t at_ns,
                                          uvea_sim_timer_fn *fn, void *arg);

#endif
