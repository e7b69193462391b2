// Starts another program.
#ifndef UVEA_SIM_CMD_SPAWN_H
#define UVEA_SIM_CMD_SPAWN_H

#include "core/base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct uvea_spawn {
    const char *program;
    const char *const *arguments; // the program's name first, NULL last
    int output;                   // a file: standard output and error
    bool dies_with_us; // killed when the calling thread ends, however it does; else it lives on
};

// Runs it in a session of its own, where no key typed at our terminal reaches it, with nothing to
// read. Has become the program when this returns. IO: the sentence names the program.
UVEA_MUST_USE enum uvea_error uvea_spawn(const struct uvea_spawn *plan, pid_t *pid,
                                         struct uvea_error_context *context);

#endif
