#include "core/daemon/daemon.h"
#include "uvea_build_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: uvead [--config FILE] [--check-config | --print-config]\n"
    "       uvead --version | --help\n"
    "\n"
    "One party of the service. Without --check-config or --print-config it runs until SIGTERM or\n"
    "SIGINT, finishes the batch in work and ends; a second signal ends it at once. SIGHUP reads\n"
    "certificates and roots anew. Keys can also be given as UVEA__SECTION__KEY in the "
    "environment.\n"
    "\n"
    "exit status: 0 good, or ended as asked\n"
    "             1 the party failed or lost a peer; start it again\n"
    "             2 command line, configuration, keys or certificates are no good\n"
    "             3 the database does not fit into memory\n"
    "             4 the store cannot be opened\n"
    "             128 + n ended by a second signal n\n";

enum action { RUN, CHECK, PRINT, VERSION, HELP };

struct arguments {
    const char *file;
    enum action action;
};

// The argument at *at, and the one behind it where it takes one.
static bool take(struct arguments *arguments, char **argv, int *at)
{
    static const char *const names[] = {[CHECK] = "--check-config",
                                        [PRINT] = "--print-config",
                                        [VERSION] = "--version",
                                        [HELP] = "--help"};
    const char *argument = argv[*at];

    if (strcmp(argument, "--config") == 0 && argv[*at + 1] != NULL) {
        arguments->file = argv[++*at];
        return true;
    }
    if (strncmp(argument, "--config=", 9) == 0 && argument[9] != '\0') {
        arguments->file = argument + 9;
        return true;
    }
    for (unsigned action = CHECK; action <= HELP; action++) {
        if (strcmp(argument, names[action]) == 0 && arguments->action == RUN) {
            arguments->action = (enum action)action;
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.file = NULL, .action = RUN};

    for (int at = 1; at < argc; at++) {
        if (!take(&arguments, argv, &at)) {
            (void)fprintf(stderr, "uvead: what is to be made of '%s'?\n%s", argv[at], help);
            return UVEA_DAEMON_CONFIGURATION;
        }
    }
    const struct uvea_daemon_options options = {
        .file = arguments.file,
        .environment = environ,
        .version = UVEA_VERSION,
        .build = UVEA_BUILD_ID,
    };
    switch (arguments.action) {
    case CHECK:
        return (int)uvea_daemon_check(&options);
    case PRINT:
        return (int)uvea_daemon_print(&options);
    case VERSION:
        (void)printf("uvead %s (%s)\n", UVEA_VERSION, UVEA_BUILD_ID);
        return UVEA_DAEMON_OK;
    case HELP:
        (void)fputs(help, stdout);
        return UVEA_DAEMON_OK;
    default:
        return (int)uvea_daemon_run(&options);
    }
}
