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

#include "core/base/error.h"

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

typedef void uvea_task_fn(void *arg);

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
    void (*charge)(struct uvea_rt *rt, enum uvea_charge what, uint64_t units);
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
    void (*stream_shut)(struct uvea_rt *rt, struct uvea_stream *stream);
    void (*stream_close)(struct uvea_rt *rt, struct uvea_stream *stream);
};

struct uvea_rt {
    const struct uvea_rt_ops *ops;
};

// ---- clock, compute, entropy

uint64_t uvea_rt_now_ns(struct uvea_rt *rt);

// now + delay, saturating at UVEA_NEVER.
uint64_t uvea_rt_deadline_ns(struct uvea_rt *rt, uint64_t delay_ns);

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

// ---- byte streams: reliable, ordered, two-way; one task may read while another writes

// address: "host:port". One listener per address.
UVEA_MUST_USE enum uvea_error uvea_rt_listen(struct uvea_rt *rt, const char *address,
                                             struct uvea_listener **listener);
// (blocks)
UVEA_MUST_USE enum uvea_error uvea_rt_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                                             struct uvea_stream **stream, uint64_t deadline_ns);
void uvea_rt_listener_shut(struct uvea_rt *rt, struct uvea_listener *listener);
void uvea_rt_listener_close(struct uvea_rt *rt, struct uvea_listener *listener);
// (blocks) NOT_FOUND when nobody listens there.
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
// Ends both directions: bytes already written still arrive, then the peer reads an end; local
// waiters wake with CLOSED. May be called more than once and from any task.
void uvea_rt_stream_shut(struct uvea_rt *rt, struct uvea_stream *stream);
// shut, then releases the memory. Nobody may be waiting on it. NULL is allowed.
void uvea_rt_stream_close(struct uvea_rt *rt, struct uvea_stream *stream);

#endif
