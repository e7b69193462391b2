// The deterministic simulator: several nodes, each with its own struct uvea_rt, run as fibers on
// one thread in virtual time. One seed and one configuration give one history, on every compiler,
// optimisation level and run; the trace hash shows it.
//
// How to use it: open; start the root tasks of each node; run; look at the outcome and the trace;
// close. What the tasks point to must live until close, which lets unfinished tasks unwind.
//
// Order: events fire by (time, order of scheduling). A task runs until it waits; nothing else runs
// meanwhile. A step is one resume of a task.
#ifndef UVEA_SIM_RUNTIME_SIM_H
#define UVEA_SIM_RUNTIME_SIM_H

#include "core/base/error.h"
#include "core/rt/rt.h"
#include "sim/runtime/network.h"
#include "sim/runtime/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The clock of a node reads 1000 s + offset + t + t * drift / 10^6 at simulated time t.
#define UVEA_SIM_CLOCK_START_NS (1000 * UVEA_SECOND)

// The wall clock of a node without offset, drift and steps, at simulated time 0: the first instant
// of 2025, UTC.
#define UVEA_SIM_WALL_START_NS (UINT64_C(1735689600) * UVEA_SECOND)

struct uvea_sim_node_config {
    const char *name;        // unique, also the host part of the node's addresses; not copied
    int64_t clock_offset_ns; // -1000 s .. 1000 s
    int32_t clock_drift_ppm; // -100000 .. 100000
};

// Default costs, in nanoseconds per unit of enum uvea_charge.
enum {
    // 31 rotations of 12,800 code and 6,400 mask elements: 0.6 million 16-bit multiply-adds, at
    // about 30 per nanosecond on one AVX2 core.
    UVEA_SIM_COST_RING_SCORE_NS = 20000,
    // 38,400 bytes of spectra at about 20 GB/s: the kernel is bound by memory.
    UVEA_SIM_COST_SPECTRAL_SCORE_NS = 2000,
    // Two AES-128 streams of 8 bytes each at about 5 GB/s, and the combining pass.
    UVEA_SIM_COST_MPC_WORD_NS = 4,
    // Base64 and JSON at about 200 MB/s.
    UVEA_SIM_COST_SHARE_BYTE_NS = 5,
};

struct uvea_sim_config {
    uint64_t seed;
    unsigned node_count; // 1 .. UVEA_SIM_NODES_MAX
    struct uvea_sim_node_config nodes[UVEA_SIM_NODES_MAX];
    struct uvea_sim_network_config network;
    uint64_t cost_ns[UVEA_CHARGE_COUNT]; // charging sleeps the task for cost times units
    uint64_t step_budget;
    uint64_t time_budget_ns; // simulated
    uint64_t watchdog_ns;    // longest simulated time without uvea_sim_progress; 0 for no watchdog
    size_t stack_bytes;      // 0: UVEA_SIM_FIBER_STACK_BYTES
};

// Three parties p0, p1, p2 and the node `client`, true clocks, links of 500 us plus 100 us jitter,
// 1 Gbit/s, 1 MiB windows, pieces up to 16 KiB, no faults, the costs above, 10^8 steps, one hour,
// no watchdog.
void uvea_sim_config_init(struct uvea_sim_config *config);

enum uvea_sim_end {
    UVEA_SIM_FINISHED,    // every task has returned, no start and no timer is planned
    UVEA_SIM_DONE,        // a task called uvea_sim_done
    UVEA_SIM_NO_PROGRESS, // every task waits for something that cannot happen any more
    UVEA_SIM_WATCHDOG,    // no progress for watchdog_ns
    UVEA_SIM_STEP_LIMIT,  // step_budget used up
    UVEA_SIM_TIME_LIMIT,  // the next event lies behind time_budget_ns
};

enum { UVEA_SIM_BLOCKED_BYTES = 4096 };

struct uvea_sim_outcome {
    enum uvea_sim_end end;
    uint64_t time_ns;
    uint64_t steps;
    uint64_t events;
    uint8_t hash[UVEA_SIM_HASH_BYTES];
    unsigned live_tasks;     // not returned
    unsigned unjoined_tasks; // returned, but nobody has joined them
    unsigned dropped_tasks;  // of dead processes, that did not return when they were made to
    unsigned left_behind;    // objects not released by processes that ended by themselves
    unsigned open_streams;   // not closed, with those nobody has accepted
    unsigned open_channels;
    unsigned open_listeners;
    unsigned open_locks;
    size_t stack_depth_bytes; // of the deepest task, in whole pages
    // One line per live task: node, task, what it waits for, and until when. Ends with a count when
    // there are more than fit.
    char blocked[UVEA_SIM_BLOCKED_BYTES];
};

struct uvea_sim;

// USAGE when the configuration breaks a bound stated above; context then names it.
UVEA_MUST_USE enum uvea_error uvea_sim_open(const struct uvea_sim_config *config,
                                            struct uvea_sim **sim,
                                            struct uvea_error_context *context);

// Processes that still run die (sim/runtime/process.h), and are told so. Other unfinished tasks are
// resumed with UVEA_ERR_CLOSED from every wait, outside the trace and without virtual time, until
// they return (or, after 100,000 steps, are dropped where they stand). Then releases everything,
// also streams, channels, listeners and locks that nobody closed. NULL is allowed.
void uvea_sim_close(struct uvea_sim *sim);

// The handle that node `node` gives to its code; lives as long as sim.
struct uvea_rt *uvea_sim_rt(struct uvea_sim *sim, unsigned node);

// Starts a task that nobody joins. name: a string literal.
UVEA_MUST_USE enum uvea_error uvea_sim_start(struct uvea_sim *sim, unsigned node, const char *name,
                                             uvea_task_fn *fn, void *arg);

// Runs until one of the ends above. Call it once.
void uvea_sim_run(struct uvea_sim *sim, struct uvea_sim_outcome *outcome);

const char *uvea_sim_end_text(enum uvea_sim_end end);

// Simulated time, the same for all nodes.
uint64_t uvea_sim_now_ns(const struct uvea_sim *sim);

struct uvea_sim_trace *uvea_sim_trace(struct uvea_sim *sim);

// ---- from a task, by the handle of its node

struct uvea_sim *uvea_sim_of(struct uvea_rt *rt);

// The run ends before the next step.
void uvea_sim_done(struct uvea_rt *rt);

// Feeds the watchdog: something that counts was achieved, for example a response arrived.
void uvea_sim_progress(struct uvea_rt *rt);

// Stops the node: its sleeping tasks wake with UVEA_ERR_CLOSED and later sleeps fail at once.
void uvea_sim_stop(struct uvea_rt *rt);

// Puts a line into the trace and its hash. kind: a string literal.
void uvea_sim_note(struct uvea_rt *rt, const char *kind, const char *text);

#endif
