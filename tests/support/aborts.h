// Programmer errors end the process: seen from a child process, whose message is discarded.
#ifndef UVEA_TESTS_SUPPORT_ABORTS_H
#define UVEA_TESTS_SUPPORT_ABORTS_H

#include "tests/support/cmocka.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

// True when action ends its process by SIGABRT.
static inline bool uvea_test_aborts(void (*action)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)freopen("/dev/null", "w", stderr);
        action();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

#endif
