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

// Runs `program` with arguments `option` and the configuration, in a session of its
// own, with its output at the end of the log. USAGE: it runs already; IO: it could not be run.
UVEA_MUST_USE enum uvea_error uvea_cluster_process_start(const struct uvea_cluster_process *process,
                                                         const char *program, const char *option,
                                                         struct uvea_error_context *context);

// Good when it does not run.
UVEA_MUST_USE enum uvea_error
uvea_cluster_process_signal(const struct uvea_cluster_process *process, int signal,
                            struct uvea_error_context *context);

// Until it has ended. TIMEOUT.
UVEA_MUST_USE enum uvea_error uvea_cluster_process_await(const struct uvea_cluster_process *process,
                                                         uint64_t seconds_max,
                                                         struct uvea_error_context *context);

// What the commands but init are about.
struct uvea_cluster_target {
    char directory[PATH_MAX]; // absolute
    char cluster_file[PATH_MAX];
    bool chosen[UVEA_CLUSTER_PROCESSES];
    bool named; // one, by the user
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

// Asks each party of a cluster file whether it is ready, over HTTP with the client's certificate;
// reason says of one that is not why. seconds_max: for each.
UVEA_MUST_USE enum uvea_error
uvea_cluster_ask_ready(const char *cluster_file, uint64_t seconds_max, bool ready[UVEA_PARTY_COUNT],
                       struct uvea_error_context reason[UVEA_PARTY_COUNT],
                       struct uvea_error_context *context);

// Subcommands.
int uvea_cluster_start(int argc, char **argv);
int uvea_cluster_stop(int argc, char **argv);
int uvea_cluster_kill(int argc, char **argv);
int uvea_cluster_status(int argc, char **argv);
int uvea_cluster_wait(int argc, char **argv);

#endif
