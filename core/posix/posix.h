// The runtime on a real machine: tasks are threads, streams are TCP sockets under TLS, HTTP is
// libcurl and libmicrohttpd. The only code that knows the operating system, with uvead's main.
#ifndef UVEA_CORE_POSIX_POSIX_H
#define UVEA_CORE_POSIX_POSIX_H

#include "core/base/error.h"
#include "core/rt/rt.h"
#include "core/tls/tls.h"

#include <stddef.h>
#include <stdint.h>

// Told of each HTTP connection that was turned away, with its address and why; and when none can be
// taken, as no descriptor is left, once until one can again. From any thread.
typedef void uvea_posix_refused_fn(void *arg, const struct uvea_error_context *why);

// Told of each named point that is passed. From any thread.
typedef void uvea_posix_point_fn(void *arg, enum uvea_point point);

enum {
    UVEA_POSIX_CPUS_MAX = 1024,
    UVEA_POSIX_STACK_BYTES = 512 << 10, // of a task
    // Descriptors of a stream, and of a connection to the HTTP server.
    UVEA_POSIX_STREAM_DESCRIPTORS = 2,
    UVEA_POSIX_HTTP_DESCRIPTORS = 4,
};

struct uvea_posix_config {
    struct uvea_tls *tls; // borrowed; NULL: everything in the clear, for tests and measurements
    // Tasks whose name begins with "scan" are pinned to these processors, in turn. None: not
    // pinned.
    const unsigned *cpus;
    size_t cpu_count;
    uint32_t http_connections_max;  // at once; one more ends the oldest that has not proved itself
    uint64_t http_handshake_ns_max; // from accept to the end of the TLS handshake
    uint64_t http_idle_ns_max;      // without a complete request, and for an answer to be taken
    size_t http_body_bytes_max;     // of a request, at most UVEA_HTTP_BODY_BYTES_MAX
    uint64_t drain_ns_max;          // how long a stream that is shut may take to send its rest
    uvea_posix_refused_fn *refused; // NULL allowed, as below
    uvea_posix_point_fn *point;
    void *arg; // of both
};

// No TLS, no pinning, 64 connections, 5 s, 60 s, 64 MiB, 5 s, nobody told.
struct uvea_posix_config uvea_posix_config_default(void);

// From here on the process ignores SIGPIPE and may open as many files as its hard limit allows.
// USAGE: a processor that the process may not use; MEMORY, IO.
UVEA_MUST_USE enum uvea_error uvea_posix_open(const struct uvea_posix_config *config,
                                              struct uvea_rt **rt,
                                              struct uvea_error_context *context);

// Wakes every sleeping task with CLOSED; sleeps fail at once from now on. From any thread.
void uvea_posix_stop(struct uvea_rt *rt);

// Every task is joined and everything closed. NULL is allowed.
void uvea_posix_close(struct uvea_rt *rt);

// The port of a listener made by this runtime; what port 0 in its address became.
uint16_t uvea_posix_port(const struct uvea_listener *listener);

// What the runtime has carried so far, under TLS and above it. From any thread.
struct uvea_posix_counters {
    uint64_t stream_bytes_sent; // what callers of uvea_rt_write gave
    uint64_t stream_bytes_received;
    uint64_t http_requests_served;
    uint64_t http_requests_made;
    uint64_t http_refused;
    uint64_t charged[UVEA_CHARGE_COUNT]; // units
    uint64_t points[UVEA_POINT_COUNT];
};
struct uvea_posix_counters uvea_posix_counters(const struct uvea_rt *rt);

#endif
