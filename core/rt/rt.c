#include "core/rt/rt.h"

uint64_t uvea_rt_now_ns(struct uvea_rt *rt)
{
    return rt->ops->now_ns(rt);
}

uint64_t uvea_rt_deadline_ns(struct uvea_rt *rt, uint64_t delay_ns)
{
    uint64_t deadline;
    return __builtin_add_overflow(rt->ops->now_ns(rt), delay_ns, &deadline) ? UVEA_NEVER : deadline;
}

enum uvea_error uvea_rt_sleep_ns(struct uvea_rt *rt, uint64_t delay_ns)
{
    return rt->ops->sleep_until(rt, uvea_rt_deadline_ns(rt, delay_ns));
}

void uvea_rt_charge(struct uvea_rt *rt, enum uvea_charge what, uint64_t units)
{
    rt->ops->charge(rt, what, units);
}

enum uvea_error uvea_rt_entropy(struct uvea_rt *rt, uint8_t *out, size_t bytes)
{
    return rt->ops->entropy(rt, out, bytes);
}

enum uvea_error uvea_rt_spawn(struct uvea_rt *rt, const char *name, uvea_task_fn *fn, void *arg,
                              struct uvea_task **task)
{
    return rt->ops->spawn(rt, name, fn, arg, task);
}

void uvea_rt_join(struct uvea_rt *rt, struct uvea_task *task)
{
    rt->ops->join(rt, task);
}

enum uvea_error uvea_rt_channel_open(struct uvea_rt *rt, size_t capacity,
                                     struct uvea_channel **channel)
{
    return rt->ops->channel_open(rt, capacity, channel);
}

enum uvea_error uvea_rt_channel_send(struct uvea_rt *rt, struct uvea_channel *channel, void *item,
                                     uint64_t deadline_ns)
{
    return rt->ops->channel_send(rt, channel, item, deadline_ns);
}

enum uvea_error uvea_rt_channel_recv(struct uvea_rt *rt, struct uvea_channel *channel, void **item,
                                     uint64_t deadline_ns)
{
    return rt->ops->channel_recv(rt, channel, item, deadline_ns);
}

void uvea_rt_channel_shut(struct uvea_rt *rt, struct uvea_channel *channel)
{
    rt->ops->channel_shut(rt, channel);
}

void uvea_rt_channel_close(struct uvea_rt *rt, struct uvea_channel *channel)
{
    if (channel != NULL) {
        rt->ops->channel_close(rt, channel);
    }
}

enum uvea_error uvea_rt_listen(struct uvea_rt *rt, const char *address,
                               struct uvea_listener **listener)
{
    return rt->ops->listen(rt, address, listener);
}

enum uvea_error uvea_rt_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                               struct uvea_stream **stream, uint64_t deadline_ns)
{
    return rt->ops->accept(rt, listener, stream, deadline_ns);
}

void uvea_rt_listener_shut(struct uvea_rt *rt, struct uvea_listener *listener)
{
    rt->ops->listener_shut(rt, listener);
}

void uvea_rt_listener_close(struct uvea_rt *rt, struct uvea_listener *listener)
{
    if (listener != NULL) {
        rt->ops->listener_close(rt, listener);
    }
}

enum uvea_error uvea_rt_dial(struct uvea_rt *rt, const char *address, struct uvea_stream **stream,
                             uint64_t deadline_ns)
{
    return rt->ops->dial(rt, address, stream, deadline_ns);
}

enum uvea_error uvea_rt_read(struct uvea_rt *rt, struct uvea_stream *stream, uint8_t *out,
                             size_t capacity, size_t *got, uint64_t deadline_ns)
{
    return rt->ops->stream_read(rt, stream, out, capacity, got, deadline_ns);
}

enum uvea_error uvea_rt_read_exact(struct uvea_rt *rt, struct uvea_stream *stream, uint8_t *out,
                                   size_t len, uint64_t deadline_ns)
{
    while (len > 0) {
        size_t got;
        UVEA_TRY(rt->ops->stream_read(rt, stream, out, len, &got, deadline_ns));
        if (got == 0) {
            return UVEA_ERR_CLOSED;
        }
        out += got;
        len -= got;
    }
    return UVEA_OK;
}

enum uvea_error uvea_rt_write(struct uvea_rt *rt, struct uvea_stream *stream, const uint8_t *bytes,
                              size_t len, uint64_t deadline_ns)
{
    return rt->ops->stream_write(rt, stream, bytes, len, deadline_ns);
}

enum uvea_error uvea_rt_stream_prove(struct uvea_rt *rt, struct uvea_stream *stream,
                                     struct uvea_party party)
{
    return rt->ops->stream_prove(rt, stream, party);
}

void uvea_rt_stream_reason(struct uvea_rt *rt, struct uvea_stream *stream,
                           struct uvea_error_context *reason)
{
    *reason = (struct uvea_error_context){{0}};
    rt->ops->stream_reason(rt, stream, reason);
}

void uvea_rt_stream_shut(struct uvea_rt *rt, struct uvea_stream *stream)
{
    rt->ops->stream_shut(rt, stream);
}

void uvea_rt_stream_close(struct uvea_rt *rt, struct uvea_stream *stream)
{
    if (stream != NULL) {
        rt->ops->stream_close(rt, stream);
    }
}

enum uvea_error uvea_rt_lock_open(struct uvea_rt *rt, struct uvea_lock **lock)
{
    return rt->ops->lock_open(rt, lock);
}

void uvea_rt_lock_take(struct uvea_rt *rt, struct uvea_lock *lock)
{
    rt->ops->lock_take(rt, lock);
}

void uvea_rt_lock_release(struct uvea_rt *rt, struct uvea_lock *lock)
{
    rt->ops->lock_release(rt, lock);
}

void uvea_rt_lock_close(struct uvea_rt *rt, struct uvea_lock *lock)
{
    if (lock != NULL) {
        rt->ops->lock_close(rt, lock);
    }
}

uint64_t uvea_rt_wall_ns(struct uvea_rt *rt)
{
    return rt->ops->wall_ns(rt);
}

enum uvea_error uvea_rt_point(struct uvea_rt *rt, enum uvea_point point)
{
    return rt->ops->point(rt, point);
}

enum uvea_error uvea_rt_http_serve(struct uvea_rt *rt, const char *address,
                                   uvea_http_handler_fn *handler, void *arg,
                                   struct uvea_http_server **server)
{
    return rt->ops->http_serve(rt, address, handler, arg, server);
}

void uvea_rt_http_close(struct uvea_rt *rt, struct uvea_http_server *server)
{
    if (server != NULL) {
        rt->ops->http_close(rt, server);
    }
}

enum uvea_error uvea_rt_http_call(struct uvea_rt *rt, const char *address,
                                  const struct uvea_http_request *request,
                                  struct uvea_http_response *response, uint64_t deadline_ns)
{
    return rt->ops->http_call(rt, address, request, response, deadline_ns);
}

void uvea_http_response_deinit(struct uvea_http_response *response)
{
    uvea_buf_deinit(&response->body);
    *response = (struct uvea_http_response){0};
}
