// Runs the built command as a user does, through a shell, in a directory of the test's own.
// The shell sees $UVEA (the command) and $DATA (the published templates).
#ifndef UVEA_TESTS_INTEGRATION_SHELL_H
#define UVEA_TESTS_INTEGRATION_SHELL_H

#include "core/base/error.h"

#include <stddef.h>

struct shell_result {
    int status; // exit status; 128 + n after signal n
    char out[1 << 20];
    char err[1 << 16];
};

// Makes an empty directory and enters it; leave removes it with its contents.
void shell_enter(void);
void shell_leave(void);

// The same, as fixtures of a cmocka group.
int shell_set_up(void **state);
int shell_tear_down(void **state);

// The line's standard output and error. The result is overwritten by the next call.
UVEA_PRINTF(1, 2) const struct shell_result *shell(const char *format, ...);

// Runs a line of which all that it says is known.
void shell_expect(const char *line, int status, const char *out, const char *err);

#endif
