// The life of the uvead process, from its configuration to its exit status.
#ifndef UVEA_CORE_DAEMON_DAEMON_H
#define UVEA_CORE_DAEMON_DAEMON_H

// What a supervisor may conclude.
enum uvea_daemon_exit {
    // Stopped as asked, or because a peer stops: the batch in work was finished. Or: all good.
    UVEA_DAEMON_OK = 0,
    UVEA_DAEMON_FAILED = 1,        // the party failed or lost a peer: start it again
    UVEA_DAEMON_CONFIGURATION = 2, // nothing changes before the configuration does
    UVEA_DAEMON_MEMORY = 3,        // the database does not fit into memory
    UVEA_DAEMON_STORE = 4,         // the store could not be opened
    UVEA_DAEMON_SIGNAL = 128,      // and the number of the second signal, which ends at once
};

struct uvea_daemon_options {
    const char *file; // NULL: the environment alone
    char *const *environment;
    const char *version;
    const char *build;
};

// Reads everything and prints what is wrong to stderr, or to stdout that all is good.
enum uvea_daemon_exit uvea_daemon_check(const struct uvea_daemon_options *options);

// Prints the configuration to stdout.
enum uvea_daemon_exit uvea_daemon_print(const struct uvea_daemon_options *options);

// (blocks) Runs the party. Called before there are threads, with signals blocked
// (core/posix/signals.h). What it makes is its owner's alone, whatever the umask.
enum uvea_daemon_exit uvea_daemon_run(const struct uvea_daemon_options *options);

#endif
