// Processes that outlive the command that started them, and are known again by the next one.
#include "core/base/check.h"
#include "sim/cmd/cluster.h"
#include "sim/cmd/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 20 };

enum uvea_error uvea_cluster_process_of(const char *directory, unsigned which,
                                        struct uvea_cluster_process *process,
                                        struct uvea_error_context *context)
{
    const bool party = which < UVEA_PARTY_COUNT;
    UVEA_CHECK(which < UVEA_CLUSTER_PROCESSES);
    (void)snprintf(process->name, sizeof(process->name), party ? "p%u" : "proxy", which);
    const struct {
        char *to;
        const char *party;
        const char *proxy;
    } files[] = {
        {process->configuration, "uvead.yaml", "proxy.yaml"},
        {process->log, "uvead.log", "proxy.log"},
        {process->note, "uvead.pid", "proxy.pid"},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(files); i++) {
        const int len =
            snprintf(files[i].to, PATH_MAX, "%s/%s%s%s", directory, party ? process->name : "",
                     party ? "/" : "", party ? files[i].party : files[i].proxy);
        if (len < 0 || len >= PATH_MAX) {
            return uvea_error_set(context, UVEA_ERR_USAGE, "the directory's name is too long");
        }
    }
    return UVEA_OK;
}

// ---- who runs

// State and start of a process, in clock ticks since boot; false when there is none.
static bool look_at(pid_t pid, char *state, unsigned long long *began)
{
    char path[64];
    char text[1024];
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    const ssize_t len = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[len > 0 ? len : 0] = '\0';
    // The name in parentheses may hold anything, also parentheses.
    const char *rest = strrchr(text, ')');
    return rest != NULL && sscanf(rest,
                                  ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
                                  "%*d %*d %*d %*d %*d %llu",
                                  state, began) == 2;
}

static bool read_note(const struct uvea_cluster_process *process, pid_t *pid,
                      unsigned long long *began)
{
    long long number = 0;
    FILE *file = fopen(process->note, "re");
    if (file == NULL) {
        return false;
    }
    const int found = fscanf(file, "%lld %llu", &number, began);
    (void)fclose(file);
    *pid = (pid_t)number;
    return found == 2 && *pid > 1;
}

pid_t uvea_cluster_process_pid(const struct uvea_cluster_process *process)
{
    pid_t pid;
    unsigned long long noted;
    unsigned long long began;
    char state;
    if (!read_note(process, &pid, &noted) || !look_at(pid, &state, &began) || began != noted ||
        state == 'Z' || state == 'X') {
        return 0;
    }
    return pid;
}

// ---- start

static enum uvea_error write_note(int note, pid_t pid)
{
    char line[64];
    char state;
    unsigned long long began;
    if (!look_at(pid, &state, &began)) {
        return UVEA_ERR_IO;
    }
    const int len = snprintf(line, sizeof(line), "%d %llu\n", (int)pid, began);
    return ftruncate(note, 0) == 0 && pwrite(note, line, (size_t)len, 0) == len ? UVEA_OK
                                                                                : UVEA_ERR_IO;
}

static enum uvea_error launch(const struct uvea_cluster_process *process, const char *program,
                              const char *option, int log, int note,
                              struct uvea_error_context *context)
{
    const char *const arguments[] = {program, option, process->configuration, NULL};
    const struct uvea_spawn plan = {.program = program, .arguments = arguments, .output = log};
    pid_t pid;
    UVEA_TRY(uvea_spawn(&plan, &pid, context));
    if (write_note(note, pid) != UVEA_OK) {
        (void)kill(pid, SIGKILL); // nobody could ever end it
        (void)waitpid(pid, NULL, 0);
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", process->note, strerror(errno));
    }
    return UVEA_OK;
}

// The note is locked meanwhile: of two commands at once, the second finds the first one's process.
enum uvea_error uvea_cluster_process_start(const struct uvea_cluster_process *process,
                                           const char *program, const char *option,
                                           struct uvea_error_context *context)
{
    enum uvea_error error;
    const int note = open(process->note, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    const int log = open(process->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (note < 0 || log < 0 || flock(note, LOCK_EX) != 0) {
        error =
            uvea_error_set(context, UVEA_ERR_IO, "%s: %s",
                           note >= 0 && log < 0 ? process->log : process->note, strerror(errno));
    } else if (uvea_cluster_process_pid(process) != 0) {
        error = uvea_error_set(context, UVEA_ERR_USAGE, "%s: runs already, process %d",
                               process->name, (int)uvea_cluster_process_pid(process));
    } else {
        error = launch(process, program, option, log, note, context);
    }
    if (note >= 0) {
        close(note);
    }
    if (log >= 0) {
        close(log);
    }
    return error;
}

// ---- end

enum uvea_error uvea_cluster_process_signal(const struct uvea_cluster_process *process, int signal,
                                            struct uvea_error_context *context)
{
    const pid_t pid = uvea_cluster_process_pid(process);
    if (pid != 0 && kill(pid, signal) != 0 && errno != ESRCH) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: process %d: %s", process->name, (int)pid,
                              strerror(errno));
    }
    return UVEA_OK;
}

enum uvea_error uvea_cluster_process_await(const struct uvea_cluster_process *process,
                                           uint64_t seconds_max, struct uvea_error_context *context)
{
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    pid_t pid = uvea_cluster_process_pid(process);
    for (uint64_t polls = seconds_max * 1000 / POLL_MS; polls > 0 && pid != 0; polls--) {
        (void)nanosleep(&pause, NULL);
        pid = uvea_cluster_process_pid(process);
    }
    return pid == 0 ? UVEA_OK
                    : uvea_error_set(context, UVEA_ERR_TIMEOUT,
                                     "%s: process %d still runs after %" PRIu64 " s", process->name,
                                     (int)pid, seconds_max);
}
