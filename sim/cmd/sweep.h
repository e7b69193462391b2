// Private to `uvea sweep`: many scenario files times many seeds, each pair a run in a process of
// its own, and what they come to together.
#ifndef UVEA_SIM_CMD_SWEEP_H
#define UVEA_SIM_CMD_SWEEP_H

#include "core/base/error.h"
#include "core/rt/point.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/run.h"
#include "sim/cmd/sweep_db.h"
#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_SWEEP_RUNS_MAX = 10000000,
    UVEA_SWEEP_JOBS_MAX = 1024,
    UVEA_SWEEP_SLOWEST = 5,
    UVEA_SWEEP_FAILURES_MAX = 1000, // kept; more are counted only
    UVEA_SWEEP_SKIPPED_PERCENT_MAX = 1,
    UVEA_SWEEP_STEP_CHARS = 48,
    UVEA_SWEEP_MARK_COUNT = UVEA_POINT_COUNT + UVEA_MARK_COUNT,
};

struct uvea_sweep_arguments {
    const char **files;
    size_t file_count;
    struct uvea_arg_list overrides;
    struct uvea_arg_list allow_cold; // names of marks, or "all"
    uint64_t first_seed;
    uint64_t last_seed;
    uint64_t jobs;
    uint64_t shard; // seeds s with s mod shard_count == shard
    uint64_t shard_count;
    uint64_t twice_percent;
    uint64_t limit_s;  // of real time, for one run; 0: none
    unsigned steps_of; // party that dies at each of its steps; UVEA_PARTY_COUNT: none
    uint64_t stride;   // of those steps
    const char *junit;
    const char *db;
    const char *plant; // alarm build only
};

// What is kept of every run.
struct uvea_sweep_slot {
    uint32_t wall_ms;
    bool done;
    uint8_t verdict;
};

struct uvea_sweep_file {
    const char *path;
    struct uvea_scenario scenario;
    bool loaded;
    char content[UVEA_SWEEP_CONTENT_CHARS +
                 1];               // hash of the file and of the template files it names
    struct uvea_sweep_slot *slots; // one for each seed of the shard, ascending
    uint64_t skipped;
    char why_skipped[512]; // of the first
};

struct uvea_sweep_failure {
    size_t file;
    uint64_t seed;
    uint64_t step; // 0: none
    enum uvea_verdict verdict;
    char reason[512];
};

struct uvea_sweep_tally {
    uint64_t verdicts[UVEA_VERDICT_DIFFERS + 1];
    uint64_t runs;
    uint64_t known; // of those, recorded by an earlier sweep
    uint64_t twice;
    uint64_t hostile;
    uint64_t requests;
    uint64_t responses;
    uint64_t restarts;
    uint64_t batches;
    uint64_t errors;
    uint64_t faults[UVEA_FAMILY_COUNT][UVEA_PHASE_COUNT];
    uint64_t marks[UVEA_SWEEP_MARK_COUNT]; // points, then marks
    uint64_t sim_ns;
    uint64_t wall_ms;
    struct uvea_sweep_failure *failures;
    size_t failure_count;
    size_t failure_capacity;
};

struct uvea_sweep {
    struct uvea_sweep_arguments arguments;
    struct uvea_sweep_file *files;
    uint64_t first_seed; // of the shard
    uint64_t slot_count; // seeds of the shard, or steps
    struct uvea_sweep_db *db;
    struct uvea_sweep_tally tally;
    uint64_t started_ns; // real time
    uint64_t ended_ns;
    char stopped[512]; // what kept it from doing all its runs; empty: nothing
};

uint64_t uvea_sweep_now_ns(void);
uint64_t uvea_sweep_seed(const struct uvea_sweep *sweep, uint64_t slot);
// "overrides" of a key: one to a line.
UVEA_MUST_USE enum uvea_error uvea_sweep_key(const struct uvea_sweep *sweep, size_t file,
                                             struct uvea_sweep_key *key,
                                             struct uvea_error_context *context);
// A point's or mark's name.
const char *uvea_sweep_mark_text(size_t mark);
bool uvea_sweep_mark_cold(const struct uvea_sweep *sweep, size_t mark);
bool uvea_sweep_cold_allowed(const struct uvea_sweep *sweep, size_t mark);
// The arguments of `uvea run` for one of the files.
struct uvea_run_arguments uvea_sweep_run_arguments(const struct uvea_sweep *sweep, size_t file);

// ---- crashes at each step

// Reads "p0" to "p2" or NULL, and whether it goes with the other arguments. USAGE.
UVEA_MUST_USE enum uvea_error uvea_sweep_check_steps(struct uvea_sweep_arguments *arguments,
                                                     const char *party,
                                                     struct uvea_error_context *context);
bool uvea_sweep_by_steps(const struct uvea_sweep *sweep);
// The step of a slot, from 1; 0 in other sweeps.
uint64_t uvea_sweep_step(const struct uvea_sweep *sweep, uint64_t slot);
// Makes the file's scenario that of the slot.
void uvea_sweep_set_step(struct uvea_sweep *sweep, size_t file, uint64_t slot);
// Adds the override that gives the step; text holds it.
void uvea_sweep_add_step(const struct uvea_sweep *sweep, uint64_t step,
                         struct uvea_run_arguments *arguments, char text[UVEA_SWEEP_STEP_CHARS]);
// Runs the scenario once without a crash and makes a slot for each step.
UVEA_MUST_USE enum uvea_error uvea_sweep_plan_steps(struct uvea_sweep *sweep,
                                                    struct uvea_error_context *context);

// Runs what is not done; every result is recorded and counted. An error ends the sweep, after the
// runs under way; SIGINT and SIGTERM end those too, and they count for nothing.
UVEA_MUST_USE enum uvea_error uvea_sweep_run(struct uvea_sweep *sweep,
                                             struct uvea_error_context *context);
// Whether this seed belongs to those that are run twice.
bool uvea_sweep_twice(const struct uvea_sweep *sweep, size_t file, uint64_t seed);

// Counts a run. MEMORY or nothing.
UVEA_MUST_USE enum uvea_error uvea_sweep_count(struct uvea_sweep *sweep, size_t file, uint64_t slot,
                                               const struct uvea_sweep_run *run, bool known);
uint64_t uvea_sweep_failed(const struct uvea_sweep_tally *tally);
bool uvea_sweep_skipped_too_many(const struct uvea_sweep_tally *tally);
// Of all files.
uint64_t uvea_sweep_planned(const struct uvea_sweep *sweep);
// The worst verdict's, UVEA_EXIT_COLD, or that of too many skipped; 128 and the signal's number
// when one has ended the sweep.
int uvea_sweep_status(const struct uvea_sweep *sweep);

// A line on a terminal; final: wipes it.
void uvea_sweep_print_progress(const struct uvea_sweep *sweep, size_t running, bool final);
UVEA_MUST_USE enum uvea_error uvea_sweep_print_summary(const struct uvea_sweep *sweep);
UVEA_MUST_USE enum uvea_error uvea_sweep_write_junit(const struct uvea_sweep *sweep,
                                                     struct uvea_error_context *context);

#endif
