#include "sim/cmd/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// In the child. A parent that ended before the kernel was asked would never be told of.
static bool tie_to(pid_t parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

// In the child. What fails is told through `tell`, which a good exec closes.
static _Noreturn void become(const struct uvea_spawn *plan, pid_t parent, int tell)
{
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    errno = 0;
    if ((!plan->dies_with_us || tie_to(parent)) && null >= 0 && setsid() >= 0 &&
        dup2(null, STDIN_FILENO) >= 0 && dup2(plan->output, STDOUT_FILENO) >= 0 &&
        dup2(plan->output, STDERR_FILENO) >= 0) {
        (void)signal(SIGPIPE, SIG_DFL);
        (void)signal(SIGXFSZ, SIG_DFL);
        (void)execv(plan->program, (char *const *)plan->arguments);
    }
    const int failure = errno;
    (void)!write(tell, &failure, sizeof(failure));
    _exit(127);
}

// Waits until the child has become the program, or says why it has not.
static enum uvea_error hear(int heard, const char *program, pid_t pid,
                            struct uvea_error_context *context)
{
    int failure = 0;
    ssize_t got;
    do {
        got = read(heard, &failure, sizeof(failure));
    } while (got < 0 && errno == EINTR);
    if (got == 0) {
        return UVEA_OK;
    }
    (void)waitpid(pid, NULL, 0);
    return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", program,
                          strerror(got > 0 ? failure : errno));
}

enum uvea_error uvea_spawn(const struct uvea_spawn *plan, pid_t *pid,
                           struct uvea_error_context *context)
{
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", plan->program, strerror(errno));
    }
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        become(plan, parent, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    enum uvea_error error =
        child > 0 ? hear(pipe_ends[0], plan->program, child, context)
                  : uvea_error_set(context, UVEA_ERR_IO, "%s: %s", plan->program, strerror(errno));
    close(pipe_ends[0]);
    if (error == UVEA_OK) {
        *pid = child;
    }
    return error;
}
