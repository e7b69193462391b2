// What the files of the HTTP server share. Private to core/posix/http_*.c.
//
// libmicrohttpd sees one end of a socket pair for each connection and knows nothing of TLS: two
// threads carry bytes between the other end and the stream, so that HTTP has the same TLS and the
// same policy as every other stream. A third one of libmicrohttpd's reads requests and runs the
// handler. The server's own thread takes connections and ends those that are late.
//
//     peer -- socket [ -- TLS ] -- requests() --> pair --> libmicrohttpd --> handler
//                              <-- answers() <--      <--
#ifndef UVEA_CORE_POSIX_HTTP_STATE_H
#define UVEA_CORE_POSIX_HTTP_STATE_H

#include "core/base/error.h"
#include "core/posix/state.h"
#include "core/rt/rt.h"
#include "core/tls/stream.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    // Of the bodies that requests under way have announced, in one server.
    UVEA_POSIX_HTTP_BODIES_BYTES_MAX = 4 * UVEA_HTTP_BODY_BYTES_MAX,
    // Shorter ones do not count: what parties say to each other is never kept out by long ones.
    UVEA_POSIX_HTTP_SMALL_BYTES_MAX = 64 << 10,
    UVEA_POSIX_HTTP_HEAD_BYTES_MAX = 32 << 10,
    UVEA_POSIX_HTTP_TARGET_BYTES_MAX = 4095,
};

struct uvea_posix_connection {
    struct uvea_http_server *server;
    struct uvea_tls_stream *stream; // over the socket; NULL without TLS
    pthread_t thread;
    uint64_t number; // libmicrohttpd gives it back with each request
    char peer[UVEA_POSIX_ADDRESS_BYTES];
    uint64_t generation; // of the TLS files it was proved by

    // under the server's lock
    struct uvea_posix_connection *next; // a younger one
    struct uvea_posix_socket *socket;   // NULL once it is closed
    int pair_fd;                        // our end; -1 before and after
    uint64_t since_ns;                  // when it began to wait, to ask or to be answered
    uint64_t ended_ns;                  // when it was ended gently; 0: not, or cut since
    unsigned exchanges;                 // of libmicrohttpd's that still point here
    bool proved;                        // by TLS; without it: by a whole request
    bool of_party;                      // not a client's; without TLS nobody is one
    bool told;                          // the one line about it
    bool begun;                         // bytes have come since the last answer
    bool in_work;                       // from a whole request until its answer is made
    bool answering;                     // from then until libmicrohttpd has written it
    bool ending;                        // somebody has ended it
    bool finished;                      // its thread touches nothing any more
};

struct uvea_http_server {
    struct uvea_posix *posix;
    uvea_http_handler_fn *handler;
    void *arg;
    struct uvea_posix_listener *listener;
    struct MHD_Daemon *daemon;
    pthread_t thread;

    pthread_mutex_t lock;   // of what follows
    pthread_cond_t changed; // a connection has finished, an answer went out
    bool closing;
    uint64_t taken;    // connections so far
    size_t body_bytes; // announced by requests under way
    struct uvea_posix_connection *oldest;
};

// ---- http_connection.c

// Starts the thread that proves and serves it; the socket is taken over, on failure too. Called
// without the lock; the caller puts it into the list.
UVEA_MUST_USE enum uvea_error uvea_posix_connection_start(struct uvea_posix_connection *connection);

// Counts it as refused and tells why, once per connection. Without the lock.
UVEA_PRINTF(2, 3)
void uvea_posix_connection_refuse(struct uvea_posix_connection *connection, const char *format,
                                  ...);

// The same: what has not happened within http_idle_ns_max.
void uvea_posix_connection_refuse_late(struct uvea_posix_connection *connection, const char *what);

// With the lock. Everything that waits for it fails at once; what was written still arrives.
void uvea_posix_connection_cut(struct uvea_posix_connection *connection);
// With the lock, once. No further request is read; an answer still goes out, until somebody cuts
// it.
void uvea_posix_connection_end(struct uvea_posix_connection *connection);

UVEA_MUST_USE enum uvea_error uvea_posix_thread_start(pthread_t *thread, void *(*run)(void *),
                                                      void *arg);

// ---- http_request.c

// libmicrohttpd, for requests of this server. NULL when it cannot be started.
struct MHD_Daemon *uvea_posix_http_daemon(struct uvea_http_server *server);

#endif
