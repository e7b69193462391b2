// An HTTP server and a client, each on a runtime of its own, and raw sockets for both ends: what
// the tests of HTTP over real sockets need. Everything waits for conditions, nothing for time.
#ifndef UVEA_TESTS_POSIX_WEB_H
#define UVEA_TESTS_POSIX_WEB_H

#include "core/posix/posix.h"
#include "core/rt/rt.h"
#include "tests/support/cmocka.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WEB_ADDRESS_BYTES = 32, WEB_LINES_MAX = 2048 };

// What refused connections left: at most WEB_LINES_MAX lines, which stay where they are.
struct web_lines {
    pthread_mutex_t lock;
    pthread_cond_t more;
    unsigned count;
    char text[WEB_LINES_MAX][160];
};

void web_lines_init(struct web_lines *lines);
void web_lines_deinit(struct web_lines *lines);
void web_lines_add(struct web_lines *lines, const struct uvea_error_context *why);
// Waits for so many.
void web_lines_wait(struct web_lines *lines, unsigned count);
unsigned web_lines_count(struct web_lines *lines);

struct web {
    struct uvea_rt *rt; // the client's
    struct uvea_rt *server_rt;
    struct uvea_http_server *server;
    char address[WEB_ADDRESS_BYTES];
    struct web_lines lines;

    pthread_mutex_t lock; // of what follows
    pthread_cond_t changed;
    unsigned asked;
    unsigned in_work;
    unsigned hold_until; // handlers return only once so many have been asked
};

// A port of the loopback interface that nobody listens on.
void web_free_address(char address[WEB_ADDRESS_BYTES]);

// The handler echoes: "METHOD TARGET\n" and the body. Paths "/status/NNN" have that status; "/held"
// waits for hold_until.
void web_open(struct web *web, const struct uvea_posix_config *config,
              const struct uvea_posix_config *client_config);
void web_close(struct web *web);
// The configuration that open is given, telling its refusals to web->lines.
struct uvea_posix_config web_config(struct web *web);

// Waits until so many have been asked or are in work.
void web_wait_asked(struct web *web, unsigned count);
void web_release(struct web *web);

// One call of the client, within a minute.
enum uvea_error web_call(struct web *web, const char *address, const char *method,
                         const char *target, const char *body, struct uvea_http_response *response);

// While the server is open; afterwards the members can be read.
unsigned web_asked(struct web *web);

// ---- raw sockets

int web_dial(const char *address);
void web_send(int fd, const void *bytes, size_t len);
void web_say(int fd, const char *text);
// Reads to the end, or to the reset; gives how many bytes fit into out, which ends with NUL.
size_t web_read_all(int fd, char *out, size_t capacity);
// The status of the first answer, 0 when there is none.
unsigned web_status_of(const char *text);

#endif
