// A party's machine: its disk, its process and what supervises it. The process is uvea_node_run
// over a store on the simulated disk; when it ends for whatever reason it is started again, a
// little later each time it does not last.
#ifndef UVEA_SIM_WORLD_MACHINE_H
#define UVEA_SIM_WORLD_MACHINE_H

#include "core/base/error.h"
#include "core/rt/rt.h"
#include "core/service/node.h"
#include "core/store/store.h"
#include "sim/disk/disk.h"
#include "sim/runtime/sim.h"
#include "sim/world/ledger.h"

#include <stdbool.h>
#include <stdint.h>

// What befalls the disk while the process is down, once.
enum uvea_machine_damage {
    UVEA_MACHINE_UNHARMED,
    UVEA_MACHINE_WIPED,
    UVEA_MACHINE_FOREIGN, // a copy of another machine's disk
    UVEA_MACHINE_STALE,   // the copy kept earlier
    UVEA_MACHINE_ROTTEN,
};

// An end that a process came to by itself. OK and empty: none.
struct uvea_machine_end {
    enum uvea_error error;
    struct uvea_error_context reason;
};

struct uvea_machine {
    // given
    struct uvea_sim *sim;
    unsigned index;
    struct uvea_node_config config;
    struct uvea_ledger *ledger;
    const struct uvea_machine *neighbour; // whose disk a FOREIGN one is a copy of
    bool unsupervised;                    // nobody starts its process again, nor waits to do so
    // its own
    struct uvea_rt *rt;
    struct uvea_sim_disk *disk;
    struct uvea_sim_disk *backup; // NULL until one was kept
    enum uvea_machine_damage damage;
    bool retired; // not to be started again
    bool armed;   // the next process dies when it passes `point` for the nth time
    enum uvea_point point;
    uint64_t nth;
    uint64_t planned_step; // of the first process, instead of which it dies; 0: none
    bool died_as_planned;
    unsigned planned_phase; // behind which point
    struct uvea_store *store;
    struct uvea_node *node; // NULL while the process does not run
    unsigned starts;
    unsigned hurry; // ends that came soon after their start, in a row
    uint64_t started_ns;
    struct uvea_machine_end last;       // none when it was killed or stopped in order
    struct uvea_machine_end failed;     // the first of all its processes'
    struct uvea_machine_end impossible; // the first that found its own state, or a peer's, so
    // what its processes did in all
    uint64_t comparisons;
};

// The file of the store on the disk.
#define UVEA_MACHINE_STORE "uvea.db"

// The given members are set, the others all zero. seed: of the run.
UVEA_MUST_USE enum uvea_error uvea_machine_open(struct uvea_machine *machine, uint64_t seed);
// The process does not run.
void uvea_machine_close(struct uvea_machine *machine);

UVEA_MUST_USE enum uvea_error uvea_machine_start(struct uvea_machine *machine);
// Lets the first process, which has been started, die instead of its step number `step`; 0: not.
void uvea_machine_plan_death(struct uvea_machine *machine, uint64_t step);
// Asks the process to stop; it is not started again when `retire` is set.
void uvea_machine_stop(struct uvea_machine *machine, bool retire, const char *reason);
// Kills it, with damage to the disk while it is down.
void uvea_machine_kill(struct uvea_machine *machine, enum uvea_machine_damage damage);
// Kills it and lets the process after it die at a point of its start-up.
void uvea_machine_kill_twice(struct uvea_machine *machine, enum uvea_point point, uint64_t nth);
// Keeps a copy of the disk's files for UVEA_MACHINE_STALE. Only what is durable counts.
UVEA_MUST_USE enum uvea_error uvea_machine_keep_backup(struct uvea_machine *machine);

#endif
