// Private to `uvea run`: its arguments, one run in a child process, and what is printed.
#ifndef UVEA_SIM_CMD_RUN_H
#define UVEA_SIM_CMD_RUN_H

#include "core/base/error.h"
#include "sim/cmd/args.h"
#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { UVEA_RUN_SEEDS_MAX = 10000000 };

struct uvea_run_arguments {
    const char *file;
    struct uvea_arg_list overrides; // "key=value"
    bool has_seed;
    bool has_seeds;
    uint64_t first_seed;
    uint64_t last_seed;
    bool twice;
    bool json;
    const char *trace;
    FILE *trace_stream; // instead of trace: open, line-buffered
    const char *plant;  // alarm build only
    enum uvea_world_judge judge;
    bool quiet; // no progress, no report of a failure
};

// What a run came to: an error (bad input, no memory) with its sentence, or a result.
struct uvea_run_report {
    enum uvea_error error;
    struct uvea_error_context context;
    struct uvea_world_result result;
};

// Runs the scenario with its seed in a child process; with arguments->twice a second time there and
// once more in a process of its own. A missing template file makes it skipped.
void uvea_run_seed(const struct uvea_run_arguments *arguments, const struct uvea_scenario *scenario,
                   struct uvea_run_report *report);

// One process alone, in two steps, so that several can be under way. fd becomes
// readable when the result is there or the process has died.
struct uvea_run_child {
    pid_t pid;
    int fd;
};
UVEA_MUST_USE enum uvea_error uvea_run_start(const struct uvea_run_arguments *arguments,
                                             const struct uvea_scenario *scenario,
                                             struct uvea_run_child *child,
                                             struct uvea_error_context *context);
// Waits for the end.
void uvea_run_finish(struct uvea_run_child *child, struct uvea_run_report *report);

// Before anything is run: what uvea_world_check finds, with file and line. A missing template file
// is no error: the run is then skipped.
UVEA_MUST_USE enum uvea_error uvea_run_check(const char *file, const struct uvea_scenario *scenario,
                                             struct uvea_error_context *context);

// The command that repeats a run, without a newline.
void uvea_run_print_command(FILE *out, const struct uvea_run_arguments *arguments, uint64_t seed);

// Seed, build id and every derived option.
void uvea_run_print_head(const struct uvea_run_arguments *arguments,
                         const struct uvea_scenario *scenario);
// One line of a range of seeds.
void uvea_run_print_seed(const struct uvea_run_arguments *arguments, uint64_t seed,
                         const struct uvea_world_result *result);
// On failure why, the first differing event, and the command that reproduces it; then the last
// line.
void uvea_run_print_verdict(const struct uvea_run_arguments *arguments, uint64_t seed,
                            const struct uvea_world_result *result);
// One JSON object on a line of its own. UVEA_ERR_MEMORY or nothing.
UVEA_MUST_USE enum uvea_error uvea_run_print_json(const struct uvea_run_arguments *arguments,
                                                  const struct uvea_scenario *scenario,
                                                  uint64_t seed,
                                                  const struct uvea_world_result *result);

#endif
