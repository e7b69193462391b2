// The commands and stores that a cluster file names.
#include "sim/cmd/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMPLAINT_CHARS = 200 };

static const char *command_of(const struct uvea_cluster_party *party, enum uvea_replay_act act)
{
    switch (act) {
    case UVEA_REPLAY_START:
        return party->start;
    case UVEA_REPLAY_STOP:
        return party->stop;
    default:
        return party->kill;
    }
}

// In the child, in a process group of its own: a Ctrl-C is for us, not for what we have begun. What
// is started may live on, so that it must not hold our output open.
static void become(const char *folder, const char *command, int complaints)
{
    const int nothing = open("/dev/null", O_RDWR);
    if (setpgid(0, 0) == 0 && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
        dup2(nothing, STDOUT_FILENO) >= 0 && dup2(complaints, STDERR_FILENO) >= 0 &&
        chdir(folder) == 0) {
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    }
    _exit(127);
}

// Its first line of complaints. What lives on can write no more of them.
static void read_complaints(int complaints, char line[COMPLAINT_CHARS])
{
    const ssize_t bytes = pread(complaints, line, COMPLAINT_CHARS - 1, 0);
    line[bytes > 0 ? bytes : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    (void)fcntl(complaints, F_ADD_SEALS, F_SEAL_GROW);
}

static enum uvea_error run_child(const char *folder, const char *command, int complaints,
                                 struct uvea_error_context *context)
{
    int status = 0;
    pid_t ended;
    char line[COMPLAINT_CHARS];
    const pid_t child = fork();
    if (child < 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", command, strerror(errno));
    }
    if (child == 0) {
        become(folder, command, complaints);
    }
    do {
        ended = waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
    read_complaints(complaints, line);
    if (ended != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "'%.200s' failed with status %d%s%s", command,
                              WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                              line[0] == '\0' ? "" : ": ", line);
    }
    return UVEA_OK;
}

static enum uvea_error run(const char *folder, const char *command,
                           struct uvea_error_context *context)
{
    const int complaints = memfd_create("complaints", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (complaints < 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", command, strerror(errno));
    }
    const enum uvea_error error = run_child(folder, command, complaints, context);
    (void)close(complaints);
    return error;
}

static enum uvea_error act(void *arg, unsigned party, enum uvea_replay_act act,
                           struct uvea_error_context *context)
{
    const struct uvea_target *target = arg;
    return run(target->cluster.folder, command_of(&target->cluster.parties[party], act), context);
}

static enum uvea_error open_store(void *arg, unsigned party, struct uvea_store **store,
                                  struct uvea_error_context *context)
{
    const struct uvea_target *target = arg;
    const struct uvea_cluster_party *of = &target->cluster.parties[party];
    if (of->schema != NULL) {
        return uvea_store_open_postgres(target->rt, of->store, of->schema, store, context);
    }
    if (access(of->store, F_OK) != 0) { // opening would make an empty one
        return uvea_error_set(context, UVEA_ERR_NOT_FOUND, "%s: %s", of->store, strerror(errno));
    }
    return uvea_store_open_sqlite(target->rt, of->store, NULL, store, context);
}

struct uvea_replay_control uvea_target_control(struct uvea_target *target)
{
    struct uvea_replay_control control = {.arg = target, .act = act, .open_store = open_store};
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_cluster_party *of = &target->cluster.parties[party];
        for (unsigned which = 0; which < UVEA_REPLAY_ACTS; which++) {
            control.can[party] |=
                command_of(of, (enum uvea_replay_act)which) != NULL ? 1u << which : 0;
        }
        control.logs[party] = of->log;
        if (of->store == NULL) {
            control.open_store = NULL;
        }
    }
    return control;
}
