// The `uvea` command: one table of subcommands, and the exit statuses they share.
#ifndef UVEA_SIM_CMD_CMD_H
#define UVEA_SIM_CMD_CMD_H

#include "core/base/error.h"

#include <stddef.h>

// Exit statuses, as documented by `uvea help`.
enum uvea_exit {
    UVEA_EXIT_PASS = 0,
    UVEA_EXIT_IO = 1,     // output could not be written, or the machine ran out of something
    UVEA_EXIT_USAGE = 2,  // usage or bad input
    UVEA_EXIT_WRONG = 10, // wrong answer or broken invariant
    UVEA_EXIT_STUCK = 11, // no progress
    UVEA_EXIT_CRASH = 12,
    UVEA_EXIT_LIMIT = 13, // resource limit
    UVEA_EXIT_SKIPPED = 14,
    UVEA_EXIT_DIFFER = 15,  // runs with one seed differ
    UVEA_EXIT_COLD = 16,    // a sweep is good, but a point or mark was never met
    UVEA_EXIT_SIGNAL = 128, // and the signal's number: it was interrupted
};

struct uvea_cmd {
    const char *name;
    const char *summary; // one line, without the name
    const char *usage;   // what `uvea help NAME` prints, with a final newline
    // argv[0] is the first argument behind the name; returns the exit status.
    int (*run)(int argc, char **argv);
};

extern const struct uvea_cmd uvea_cmd_run;
extern const struct uvea_cmd uvea_cmd_replay;
extern const struct uvea_cmd uvea_cmd_diff;
extern const struct uvea_cmd uvea_cmd_sweep;
extern const struct uvea_cmd uvea_cmd_shrink;
extern const struct uvea_cmd uvea_cmd_explain;
extern const struct uvea_cmd uvea_cmd_gate;
extern const struct uvea_cmd uvea_cmd_iris;
extern const struct uvea_cmd uvea_cmd_share;
extern const struct uvea_cmd uvea_cmd_certs;
extern const struct uvea_cmd uvea_cmd_keys;
extern const struct uvea_cmd uvea_cmd_cluster;
extern const struct uvea_cmd uvea_cmd_submit;
extern const struct uvea_cmd uvea_cmd_proxy;
extern const struct uvea_cmd uvea_cmd_bench;

// Prints "uvea WHERE: sentence" to standard error and returns the exit status for `error`: USAGE
// for bad usage and input, IO for what went wrong on this machine, STUCK for a party that was not
// reached or a time that was over, WRONG for a fault of the oracle.
// context may be empty; the error's own text is then the sentence.
int uvea_cmd_fail(const char *where, enum uvea_error error,
                  const struct uvea_error_context *context);

// Runs the row of `table` that argv[0] names, as `uvea GROUP NAME`. The rows' `usage` is unused.
int uvea_cmd_dispatch(const char *group, const struct uvea_cmd *table, size_t count, int argc,
                      char **argv);

#endif
