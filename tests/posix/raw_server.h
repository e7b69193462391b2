// A server that says what it is told to, to see what a client makes of it. One connection at a
// time.
#ifndef UVEA_TESTS_POSIX_RAW_SERVER_H
#define UVEA_TESTS_POSIX_RAW_SERVER_H

#include "tests/posix/web.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum raw_then {
    RAW_KEEP,  // waits for the next request
    RAW_CLOSE, // ends in order
    RAW_RESET,
    RAW_FLOOD, // goes on with zeros until nobody reads them
};

struct raw_answer {
    const char *text;
    enum raw_then then;
};

struct raw_server {
    int fd;
    pthread_t thread;
    char address[WEB_ADDRESS_BYTES];
    const struct raw_answer *answers; // to the requests, in their order; then nothing
    size_t answer_count;

    pthread_mutex_t lock; // of what follows
    pthread_cond_t changed;
    int current_fd; // -1 for none
    bool closing;
    unsigned accepted;
    unsigned ended;
    unsigned requests;
};

void raw_open(struct raw_server *server, const struct raw_answer *answers, size_t answer_count);
// Waits until so many connections are over.
void raw_wait_ended(struct raw_server *server, unsigned count);
void raw_close(struct raw_server *server);

#endif
