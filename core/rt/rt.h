// The runtime interface: everything a party may ask of the world it runs in. Straight-line code
// that may block is written against it once; the simulator (fibers, virtual time) and the posix
// runtime (threads, TLS) implement it. No file outside those two touches a clock, a thread or a
// socket.
//
// Time is nanoseconds since an arbitrary start, per party, monotonic. A deadline is an absolute
// time. Every wait takes a deadline; UVEA_NEVER means none. An object belongs to the runtime that
// made it and is used by that party's tasks only. Calls that can block are marked (blocks); all
// others return at once. Where an error is returned, outputs are unchanged.
#ifndef UVEA_CORE_RT_RT_H
#define UVEA_CORE_RT_RT_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/point.h"

#include <stddef.h>
#include <stdint.h>

#define UVEA_NEVER UINT64_MAX
#define UVEA_MS UINT64_C(1000000)
#define UVEA_SECOND UINT64_C(1000000000)

struct uvea_rt;
struct uvea_task;
struct uvea_channel;
struct uvea_listener;
struct uvea_stream;
struct uvea_http_server;
struct uvea_lock;

typedef void uvea_task_fn(void *arg);

// ---- HTTP messages, whole

// method and target (path, and query behind '?') end with NUL.
struct uvea_http_request {
    const char *method; // "GET", "POST", "PUT"
    const char *target;
    const uint8_t *body;
    size_t body_bytes; // at most UVEA_HTTP_BODY_BYTES_MAX
};

// All zero is an empty answer. The body is owned.
struct uvea_http_response {
    unsigned status; // 100..599
    struct uvea_buf body;
};

enum { UVEA_HTTP_BODY_BYTES_MAX = 64 << 20 };

// Fills response (all zero before). Several may run at once, on threads of the runtime's own; it
// must not wait for anything but a lock or the store.
typedef void uvea_http_handler_fn(void *arg, const struct uvea_http_request *request,
                                  struct uvea_http_response *response);

// What a computation is charged for: the simulator turns units into virtual time by a table.
enum uvea_charge {
    UVEA_CHARGE_RING_SCORE,     // unit: one record, one eye, one orientation, all 31 rotations
    UVEA_CHARGE_SPECTRAL_SCORE, // the same unit, by the transform
    UVEA_CHARGE_MPC_WORD,   // unit: one 64-bit word masked or combined by a replicated operation
    UVEA_CHARGE_SHARE_BYTE, // unit: one byte of a share file parsed or preprocessed
    UVEA_CHARGE_COUNT,
};

// One table per implementation. `rt` is the party's handle, of which struct uvea_rt is the first
// member.
struct uvea_rt_ops {
    uint64_t (*now_ns)(struct uvea_rt *rt);
    enum uvea_error (*sleep_until)(struct uvea_rt *rt, uint64_t deadline_ns);
    uint64_t (*wall_ns)(struct uvea_rt *rt);
    void (*charge)(struct uvea_rt *rt, enum uvea_charge what, uint64_t units);
    enum uvea_error (*point)(struct uvea_rt *rt, enum uvea_point point);
    enum uvea_error (*entropy)(struct uvea_rt *rt, uint8_t *out, size_t bytes);

    enum uvea_error (*spawn)(struct uvea_rt *rt, const char *name, uvea_task_fn *fn, void *arg,
                             struct uvea_task **task);
    void (*join)(struct uvea_rt *rt, struct uvea_task *task);

    enum uvea_error (*channel_open)(struct uvea_rt *rt, size_t capacity,
                                    struct uvea_channel **channel);
    enum uvea_error (*channel_send)(struct uvea_rt *rt, struct uvea_channel *channel, void *item,
                                    uint64_t deadline_ns);
    enum uvea_error (*channel_recv)(struct uvea_rt *rt, struct uvea_channel *channel, void **item,
                                    uint64_t deadline_ns);
    void (*channel_shut)(struct uvea_rt *rt, struct uvea_channel *channel);
    void (*channel_close)(struct uvea_rt *rt, struct uvea_channel *channel);

    enum uvea_error (*lock_open)(struct uvea_rt *rt, struct uvea_lock **lock);
    void (*lock_take)(struct uvea_rt *rt, struct uvea_lock *lock);
    void (*lock_release)(struct uvea_rt *rt, struct uvea_lock *lock);
    void (*lock_close)(struct uvea_rt *rt, struct uvea_lock *lock);

    enum uvea_error (*listen)(struct uvea_rt *rt, const char *address,
                              struct uvea_listener **listener);
    enum uvea_error (*accept)(struct uvea_rt *rt, struct uvea_listener *listener,
                              struct uvea_stream **stream, uint64_t deadline_ns);
    void (*listener_shut)(struct uvea_rt *rt, struct uvea_listener *listener);
    void (*listener_close)(struct uvea_rt *rt, struct uvea_listener *listener);
    enum uvea_error (*dial)(struct uvea_rt *rt, const char *address, struct uvea_stream **stream,
                            uint64_t deadline_ns);
    enum uvea_error (*stream_read)(struct uvea_rt *rt, struct uvea_stream *stream, uint8_t *out,
                                   size_t capacity, size_t *got, uint64_t deadline_ns);
    enum uvea_error (*stream_write)(struct uvea_rt *rt, struct uvea_stream *stream,
                                    const uint8_t *bytes, size_t len, uint64_t deadline_ns);
    enum uvea_error (*stream_prove)(struct uvea_rt *rt, struct uvea_stream *stream,
                                    struct uvea_party party);
    void (*stream_reason)(struct uvea_rt *rt, struct uvea_stream *stream,
                          struct uvea_error_context *reason);
    void (*stream_shut)(struct uvea_rt *rt, struct uvea_stream *stream);
    void (*stream_close)(struct uvea_rt *rt, struct uvea_stream *stream);

    enum uvea_error (*http_serve)(struct uvea_rt *rt, const char *address,
                                  uvea_http_handler_fn *handler, void *arg,
                                  struct uvea_http_server **server);
    void (*http_close)(struct uvea_rt *rt, struct uvea_http_server *server);
    enum uvea_error (*http_call)(struct uvea_rt *rt, const char *address,
                                 const struct uvea_http_request *request,
                                 struct uvea_http_response *response, uint64_t deadline_ns);
};

struct uvea_rt {
    const struct uvea_rt_ops *ops;
};

// ---- clock, compute, entropy

uint64_t uvea_rt_now_ns(struct uvea_rt *rt);

// now + delay, saturating at UVEA_NEVER.
uint64_t uvea_rt_deadline_ns(struct uvea_rt *rt, uint64_t delay_ns);

// Wall-clock time, nanoseconds since 1970-01-01 UTC. It may step either way; use it for nothing but
// time stamps that people read.
uint64_t uvea_rt_wall_ns(struct uvea_rt *rt);

// Says that the program has come to a named point. Counts it as reached; the simulator may end the
// process here (CLOSED, as every later call then gives). OK in every other case.
UVEA_MUST_USE enum uvea_error uvea_rt_point(struct uvea_rt *rt, enum uvea_point point);

// (blocks) UVEA_ERR_CLOSED when the party is being stopped.
UVEA_MUST_USE enum uvea_error uvea_rt_sleep_ns(struct uvea_rt *rt, uint64_t delay_ns);

// (blocks in the simulator) Accounts for work just done. Must not depend on a secret.
void uvea_rt_charge(struct uvea_rt *rt, enum uvea_charge what, uint64_t units);

// Secret random bytes.
UVEA_MUST_USE enum uvea_error uvea_rt_entropy(struct uvea_rt *rt, uint8_t *out, size_t bytes);

// ---- tasks

// name: a string literal, for traces. Every task is joined exactly once.
UVEA_MUST_USE enum uvea_error uvea_rt_spawn(struct uvea_rt *rt, const char *name, uvea_task_fn *fn,
                                            void *arg, struct uvea_task **task);
// (blocks) Waits for the task's function to return, then releases the task.
void uvea_rt_join(struct uvea_rt *rt, struct uvea_task *task);

// ---- channels: bounded first-in first-out queues of pointers between tasks of one party

// capacity >= 1. Items are not owned by the channel.
UVEA_MUST_USE enum uvea_error uvea_rt_channel_open(struct uvea_rt *rt, size_t capacity,
                                                   struct uvea_channel **channel);
// (blocks while full) CLOSED after shut, TIMEOUT at the deadline.
UVEA_MUST_USE enum uvea_error uvea_rt_channel_send(struct uvea_rt *rt, struct uvea_channel *channel,
                                                   void *item, uint64_t deadline_ns);
// (blocks while empty) After shut, what is still queued is delivered first, then CLOSED.
UVEA_MUST_USE enum uvea_error uvea_rt_channel_recv(struct uvea_rt *rt, struct uvea_channel *channel,
                                                   void **item, uint64_t deadline_ns);
// Wakes every waiter; may be called more than once and from any task.
void uvea_rt_channel_shut(struct uvea_rt *rt, struct uvea_channel *channel);
// Releases the memory. Nobody may be waiting. NULL is allowed.
void uvea_rt_channel_close(struct uvea_rt *rt, struct uvea_channel *channel);

// ---- locks: for what handlers on other threads share with a party's tasks. Held for short pieces
// of code that call nothing that blocks, by one holder at a time, which does not take it again.

UVEA_MUST_USE enum uvea_error uvea_rt_lock_open(struct uvea_rt *rt, struct uvea_lock **lock);
void uvea_rt_lock_take(struct uvea_rt *rt, struct uvea_lock *lock);
void uvea_rt_lock_release(struct uvea_rt *rt, struct uvea_lock *lock);
// Nobody holds it. NULL is allowed.
void uvea_rt_lock_close(struct uvea_rt *rt, struct uvea_lock *lock);

// ---- byte streams: reliable, ordered, two-way; one task may read while another writes

// address: "host:port". IN_USE: there is a listener at it; NOT_HERE: it is none of this machine's;
// DENIED: the system does not let this process listen there; NOT_FOUND: no such name.
UVEA_MUST_USE enum uvea_error uvea_rt_listen(struct uvea_rt *rt, const char *address,
                                             struct uvea_listener **listener);
// (blocks) TIMEOUT; CLOSED after shut. LIMIT: somebody waits to be let in, but there is no
// descriptor left for it; MEMORY, IO. After any of these three the caller waits a little before it
// tries again.
UVEA_MUST_USE enum uvea_error uvea_rt_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                                             struct uvea_stream **stream, uint64_t deadline_ns);
void uvea_rt_listener_shut(struct uvea_rt *rt, struct uvea_listener *listener);
void uvea_rt_listener_close(struct uvea_rt *rt, struct uvea_listener *listener);
// (blocks) NOT_FOUND when nobody listens there. Where there is TLS, its handshake comes with the
// first byte that is read or written, on both sides, and those calls give PEER when one was
// refused.
UVEA_MUST_USE enum uvea_error uvea_rt_dial(struct uvea_rt *rt, const char *address,
                                           struct uvea_stream **stream, uint64_t deadline_ns);
// (blocks) At least one byte, or *got = 0 at the peer's orderly end. RESET when the connection
// broke.
UVEA_MUST_USE enum uvea_error uvea_rt_read(struct uvea_rt *rt, struct uvea_stream *stream,
                                           uint8_t *out, size_t capacity, size_t *got,
                                           uint64_t deadline_ns);
// (blocks) Exactly len bytes; CLOSED when the peer ended first (also in the middle).
UVEA_MUST_USE enum uvea_error uvea_rt_read_exact(struct uvea_rt *rt, struct uvea_stream *stream,
                                                 uint8_t *out, size_t len, uint64_t deadline_ns);
// (blocks) All bytes, or an error after which the stream is unusable.
UVEA_MUST_USE enum uvea_error uvea_rt_write(struct uvea_rt *rt, struct uvea_stream *stream,
                                            const uint8_t *bytes, size_t len, uint64_t deadline_ns);
// Whether the other end has proved to be this party: its certificate chain verifies, now, against
// that party's root and no other. PEER when not. Once a byte was read. Where the runtime has no TLS
// everyone is believed.
UVEA_MUST_USE enum uvea_error uvea_rt_stream_prove(struct uvea_rt *rt, struct uvea_stream *stream,
                                                   struct uvea_party party);
// What is known beside the error of why a stream failed, and who is at the other end: a piece of a
// sentence for a log line, empty when nothing is.
void uvea_rt_stream_reason(struct uvea_rt *rt, struct uvea_stream *stream,
                           struct uvea_error_context *reason);
// Ends both directions: bytes already written still arrive, then the peer reads an end; local
// waiters wake with CLOSED. May be called more than once and from any task.
void uvea_rt_stream_shut(struct uvea_rt *rt, struct uvea_stream *stream);
// shut, then releases the memory. Nobody may be waiting on it. NULL is allowed.
void uvea_rt_stream_close(struct uvea_rt *rt, struct uvea_stream *stream);

// ---- HTTP

// Answers requests at address until closed. Errors as uvea_rt_listen.
UVEA_MUST_USE enum uvea_error uvea_rt_http_serve(struct uvea_rt *rt, const char *address,
                                                 uvea_http_handler_fn *handler, void *arg,
                                                 struct uvea_http_server **server);
// (blocks) Stops taking requests, waits for those in work, releases the server. NULL is allowed.
void uvea_rt_http_close(struct uvea_rt *rt, struct uvea_http_server *server);

// (blocks) One request, one answer; connections to a peer are kept and used again. Any status is
// OK. response is all zero before; unchanged on failure: NOT_FOUND nobody listens there, RESET or
// CLOSED the connection broke (the request may have been carried out), TIMEOUT, FORMAT the peer
// does not speak HTTP, PEER TLS was refused, LIMIT its body is too long. Never sent again unasked.
UVEA_MUST_USE enum uvea_error uvea_rt_http_call(struct uvea_rt *rt, const char *address,
                                                const struct uvea_http_request *request,
                                                struct uvea_http_response *response,
                                                uint64_t deadline_ns);
void uvea_http_response_deinit(struct uvea_http_response *response);

#endif
