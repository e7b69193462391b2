// What the posix runtime's files share. Private to core/posix.
#ifndef UVEA_CORE_POSIX_STATE_H
#define UVEA_CORE_POSIX_STATE_H

#include "core/posix/drain.h"
#include "core/posix/posix.h"
#include "core/posix/socket.h"
#include "core/rt/rt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// The counters of core/posix/posix.h, each added to by whoever has done something.
struct uvea_posix_tally {
    atomic_uint_fast64_t stream_bytes_sent;
    atomic_uint_fast64_t stream_bytes_received;
    atomic_uint_fast64_t http_requests_served;
    atomic_uint_fast64_t http_requests_made;
    atomic_uint_fast64_t http_refused;
    atomic_uint_fast64_t charged[UVEA_CHARGE_COUNT];
    atomic_uint_fast64_t points[UVEA_POINT_COUNT];
};

struct uvea_posix_http; // connections kept for later calls

struct uvea_posix {
    struct uvea_rt rt; // first: the runtime is the handle
    struct uvea_posix_config config;
    struct uvea_posix_tally tally;
    struct uvea_posix_drain *drain;
    struct uvea_posix_http *http; // made by uvea_posix_http_open, NULL before
    atomic_uint pin_next;  // which of config.cpus the next scan task gets, modulo their count
    atomic_uint resolving; // names that are being looked up

    pthread_mutex_t lock; // of what follows
    pthread_cond_t woken; // stopped is true; on the monotonic clock
    bool stopped;
};

static inline struct uvea_posix *uvea_posix_of(struct uvea_rt *rt)
{
    return (struct uvea_posix *)rt;
}

// ---- clock.c

uint64_t uvea_posix_now_ns(void);

// Condition variables that wait by the runtime's clock.
UVEA_MUST_USE enum uvea_error uvea_posix_cond_init(pthread_cond_t *cond);
// False when the deadline has passed.
bool uvea_posix_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline_ns);

uint64_t uvea_posix_op_now_ns(struct uvea_rt *rt);
uint64_t uvea_posix_op_wall_ns(struct uvea_rt *rt);
enum uvea_error uvea_posix_op_sleep_until(struct uvea_rt *rt, uint64_t deadline_ns);
void uvea_posix_op_charge(struct uvea_rt *rt, enum uvea_charge what, uint64_t units);
enum uvea_error uvea_posix_op_point(struct uvea_rt *rt, enum uvea_point point);
enum uvea_error uvea_posix_op_entropy(struct uvea_rt *rt, uint8_t *out, size_t bytes);

// ---- task.c

enum uvea_error uvea_posix_op_spawn(struct uvea_rt *rt, const char *name, uvea_task_fn *fn,
                                    void *arg, struct uvea_task **task);
void uvea_posix_op_join(struct uvea_rt *rt, struct uvea_task *task);

// ---- channel.c

enum uvea_error uvea_posix_op_channel_open(struct uvea_rt *rt, size_t capacity,
                                           struct uvea_channel **channel);
enum uvea_error uvea_posix_op_channel_send(struct uvea_rt *rt, struct uvea_channel *channel,
                                           void *item, uint64_t deadline_ns);
enum uvea_error uvea_posix_op_channel_recv(struct uvea_rt *rt, struct uvea_channel *channel,
                                           void **item, uint64_t deadline_ns);
void uvea_posix_op_channel_shut(struct uvea_rt *rt, struct uvea_channel *channel);
void uvea_posix_op_channel_close(struct uvea_rt *rt, struct uvea_channel *channel);

enum uvea_error uvea_posix_op_lock_open(struct uvea_rt *rt, struct uvea_lock **lock);
void uvea_posix_op_lock_take(struct uvea_rt *rt, struct uvea_lock *lock);
void uvea_posix_op_lock_release(struct uvea_rt *rt, struct uvea_lock *lock);
void uvea_posix_op_lock_close(struct uvea_rt *rt, struct uvea_lock *lock);

// ---- stream.c

enum uvea_error uvea_posix_op_listen(struct uvea_rt *rt, const char *address,
                                     struct uvea_listener **listener);
enum uvea_error uvea_posix_op_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                                     struct uvea_stream **stream, uint64_t deadline_ns);
void uvea_posix_op_listener_shut(struct uvea_rt *rt, struct uvea_listener *listener);
void uvea_posix_op_listener_close(struct uvea_rt *rt, struct uvea_listener *listener);
enum uvea_error uvea_posix_op_dial(struct uvea_rt *rt, const char *address,
                                   struct uvea_stream **stream, uint64_t deadline_ns);
enum uvea_error uvea_posix_op_stream_read(struct uvea_rt *rt, struct uvea_stream *stream,
                                          uint8_t *out, size_t capacity, size_t *got,
                                          uint64_t deadline_ns);
enum uvea_error uvea_posix_op_stream_write(struct uvea_rt *rt, struct uvea_stream *stream,
                                           const uint8_t *bytes, size_t len, uint64_t deadline_ns);
enum uvea_error uvea_posix_op_stream_prove(struct uvea_rt *rt, struct uvea_stream *stream,
                                           struct uvea_party party);
void uvea_posix_op_stream_reason(struct uvea_rt *rt, struct uvea_stream *stream,
                                 struct uvea_error_context *reason);
void uvea_posix_op_stream_shut(struct uvea_rt *rt, struct uvea_stream *stream);
void uvea_posix_op_stream_close(struct uvea_rt *rt, struct uvea_stream *stream);

// ---- http_client.c, http_server.c

// What calls share; at the opening and closing of the runtime.
UVEA_MUST_USE enum uvea_error uvea_posix_http_open(struct uvea_posix *posix,
                                                   struct uvea_error_context *context);
void uvea_posix_http_deinit(struct uvea_posix *posix);

enum uvea_error uvea_posix_op_http_serve(struct uvea_rt *rt, const char *address,
                                         uvea_http_handler_fn *handler, void *arg,
                                         struct uvea_http_server **server);
void uvea_posix_op_http_close(struct uvea_rt *rt, struct uvea_http_server *server);
enum uvea_error uvea_posix_op_http_call(struct uvea_rt *rt, const char *address,
                                        const struct uvea_http_request *request,
                                        struct uvea_http_response *response, uint64_t deadline_ns);

#endif
