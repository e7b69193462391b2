// Private to `uvea cluster`: its processes, and asking them how they are.
#ifndef UVEA_SIM_CMD_CLUSTER_H
#define UVEA_SIM_CMD_CLUSTER_H

#include "core/base/error.h"
#include "core/base/party.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What can be started: the three parties, then the proxy.
enum { UVEA_CLUSTER_PROXY = UVEA_PARTY_COUNT, UVEA_CLUSTER_PROCESSES };

struct uvea_cluster_process {
    char name[8];                 // "p0", "proxy"
    char configuration[PATH_MAX]; // its file, absolute
    char log[PATH_MAX];           // where its output goes
    char note[PATH_MAX];          // who it is: process id and when it began, by the kernel's clock
};

// Files below an absolute directory.
UVEA_MUST_USE enum uvea_error uvea_cluster_process_of(const char *directory, unsigned which,
                                                      struct uvea_cluster_process *process,
                                                      struct uvea_error_context *context);

// 0 when it does not run. A process id alone is not believed: the process must have begun when the
// note says, so that nobody else's is ever taken for ours.
pid_t uvea_cluster_process_pid(const struct uvea_cluster_process *process);

// Runs `program` with arguments `option` (NULL: none) and the configuration, in a session of its
// own, with its output at the end of the log. USAGE: it runs already; IO: it could not be run.
UVEA_MUST_USE enum uvea_error uvea_cluster_process_start(const struct uvea_cluster_process *process,
                                                         const char *program, const char *option,
                                                         struct uvea_error_context *context);

// Sends SIGTERM or SIGKILL and waits for the end. Good when it did not run. TIMEOUT.
UVEA_MUST_USE enum uvea_error uvea_cluster_process_end(const struct uvea_cluster_process *process,
                                                       int signal, uint64_t seconds_max,
                                                       struct uvea_error_context *context);

// What the commands but init are about.
struct uvea_cluster_target {
    char directory[PATH_MAX]; // absolute
    char cluster_file[PATH_MAX];
    bool chosen[UVEA_CLUSTER_PROCESSES];
    const char *uvead;
    uint64_t seconds;
};

// DIR, then a process when words_max is 2. seconds keeps its value when it is not given.
UVEA_MUST_USE enum uvea_error uvea_cluster_target_parse(int argc, char **argv, size_t words_max,
                                                        struct uvea_cluster_target *out,
                                                        struct uvea_error_context *context);

// Absolute names of programs: this one, and uvead, as given or beside this one.
UVEA_MUST_USE enum uvea_error uvea_cluster_own_program(char path[PATH_MAX],
                                                       struct uvea_error_context *context);
UVEA_MUST_USE enum uvea_error uvea_cluster_find_uvead(const char *given, char path[PATH_MAX],
                                                      struct uvea_error_context *context);

// Subcommands.
int uvea_cluster_start(int argc, char **argv);
int uvea_cluster_stop(int argc, char **argv);
int uvea_cluster_kill(int argc, char **argv);

#endif
