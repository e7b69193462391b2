#include "core/daemon/daemon.h"
#include "core/posix/signals.h"
#include "uvea_build_id.h"

#include <errno.h>
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
    "             1 the party failed or lost a peer, start it again; or stdout took not all\n"
    "             2 command line, configuration, keys or certificates are no good\n"
    "             3 the database does not fit into memory\n"
    "             4 the store cannot be opened\n"
    "             128 + n ended by a second signal n\n";

// Before the libraries prepare themselves, which takes some ten milliseconds: a signal that comes
// meanwhile waits until there is somebody to take it.
__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = uvea_signals_block;

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

static void complain_of(const char *argument)
{
    if (strcmp(argument, "--config") == 0 || strcmp(argument, "--config=") == 0) {
        (void)fprintf(stderr, "uvead: --config: the name of a file is missing\n%s", help);
    } else {
        (void)fprintf(stderr, "uvead: what is to be made of '%s'?\n%s", argument, help);
    }
}

// What ends by itself, and by a signal as any command does.
static enum uvea_daemon_exit answer(enum action action, const struct uvea_daemon_options *options)
{
    enum uvea_daemon_exit status = UVEA_DAEMON_OK;

    uvea_signals_unblock();
    switch (action) {
    case CHECK:
        status = uvea_daemon_check(options);
        break;
    case PRINT:
        status = uvea_daemon_print(options);
        break;
    case VERSION:
        (void)printf("uvead %s (%s)\n", UVEA_VERSION, UVEA_BUILD_ID);
        break;
    default:
        (void)fputs(help, stdout);
        break;
    }
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        (void)fprintf(stderr, "uvead: standard output: %s\n",
                      errno != 0 ? strerror(errno) : "not all could be written");
        return UVEA_DAEMON_FAILED;
    }
    return status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.file = NULL, .action = RUN};

    for (int at = 1; at < argc; at++) {
        if (!take(&arguments, argv, &at)) {
            complain_of(argv[at]);
            return UVEA_DAEMON_CONFIGURATION;
        }
    }
    const struct uvea_daemon_options options = {
        .file = arguments.file,
        .environment = environ,
        .version = UVEA_VERSION,
        .build = UVEA_BUILD_ID,
    };
    return (int)(arguments.action == RUN ? uvea_daemon_run(&options)
                                         : answer(arguments.action, &options));
}
