#include "core/posix/posix.h"

#include "core/base/mem.h"
#include "core/posix/state.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

static const struct uvea_rt_ops ops = {
    .now_ns = uvea_posix_op_now_ns,
    .sleep_until = uvea_posix_op_sleep_until,
    .wall_ns = uvea_posix_op_wall_ns,
    .charge = uvea_posix_op_charge,
    .point = uvea_posix_op_point,
    .entropy = uvea_posix_op_entropy,
    .spawn = uvea_posix_op_spawn,
    .join = uvea_posix_op_join,
    .channel_open = uvea_posix_op_channel_open,
    .channel_send = uvea_posix_op_channel_send,
    .channel_recv = uvea_posix_op_channel_recv,
    .channel_shut = uvea_posix_op_channel_shut,
    .channel_close = uvea_posix_op_channel_close,
    .lock_open = uvea_posix_op_lock_open,
    .lock_take = uvea_posix_op_lock_take,
    .lock_release = uvea_posix_op_lock_release,
    .lock_close = uvea_posix_op_lock_close,
    .listen = uvea_posix_op_listen,
    .accept = uvea_posix_op_accept,
    .listener_shut = uvea_posix_op_listener_shut,
    .listener_close = uvea_posix_op_listener_close,
    .dial = uvea_posix_op_dial,
    .stream_read = uvea_posix_op_stream_read,
    .stream_write = uvea_posix_op_stream_write,
    .stream_prove = uvea_posix_op_stream_prove,
    .stream_reason = uvea_posix_op_stream_reason,
    .stream_shut = uvea_posix_op_stream_shut,
    .stream_close = uvea_posix_op_stream_close,
    .http_serve = uvea_posix_op_http_serve,
    .http_close = uvea_posix_op_http_close,
    .http_call = uvea_posix_op_http_call,
};

struct uvea_posix_config uvea_posix_config_default(void)
{
    return (struct uvea_posix_config){
        .http_connections_max = 64,
        .http_handshake_ns_max = 5 * UVEA_SECOND,
        .http_idle_ns_max = 60 * UVEA_SECOND,
        .http_body_bytes_max = UVEA_HTTP_BODY_BYTES_MAX,
        .drain_ns_max = 5 * UVEA_SECOND,
    };
}

static enum uvea_error check_cpus(const struct uvea_posix_config *config,
                                  struct uvea_error_context *context)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (config->cpu_count > 0 && sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "asking for the processors: %m");
    }
    for (size_t i = 0; i < config->cpu_count; i++) {
        unsigned cpu = config->cpus[i];
        if (cpu >= UVEA_POSIX_CPUS_MAX || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed)) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "processor %u is none that this process may use", cpu);
        }
    }
    return UVEA_OK;
}

static enum uvea_error set_up_process(struct uvea_error_context *context)
{
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
        return uvea_error_set(context, UVEA_ERR_IO, "ignoring SIGPIPE: %m");
    }
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files); // a smaller one bounds less work, no more
    }
    return UVEA_OK;
}

static enum uvea_error set_up(struct uvea_posix *posix, struct uvea_error_context *context)
{
    if (uvea_posix_drain_open(posix->config.drain_ns_max, &posix->drain) != UVEA_OK) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "starting a thread: %m");
    }
    return uvea_posix_http_open(posix, context);
}

enum uvea_error uvea_posix_open(const struct uvea_posix_config *config, struct uvea_rt **rt,
                                struct uvea_error_context *context)
{
    UVEA_TRY(check_cpus(config, context));
    UVEA_TRY(set_up_process(context));
    struct uvea_posix *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL || pthread_mutex_init(&made->lock, NULL) != 0) {
        uvea_mem_free(made);
        return UVEA_ERR_MEMORY;
    }
    if (uvea_posix_cond_init(&made->woken) != UVEA_OK) {
        (void)pthread_mutex_destroy(&made->lock);
        uvea_mem_free(made);
        return UVEA_ERR_MEMORY;
    }
    made->rt.ops = &ops;
    made->config = *config;
    enum uvea_error error = set_up(made, context);
    if (error != UVEA_OK) {
        uvea_posix_close(&made->rt);
        return error;
    }
    *rt = &made->rt;
    return UVEA_OK;
}

void uvea_posix_stop(struct uvea_rt *rt)
{
    struct uvea_posix *posix = uvea_posix_of(rt);
    (void)pthread_mutex_lock(&posix->lock);
    posix->stopped = true;
    (void)pthread_cond_broadcast(&posix->woken);
    (void)pthread_mutex_unlock(&posix->lock);
}

void uvea_posix_close(struct uvea_rt *rt)
{
    if (rt == NULL) {
        return;
    }
    struct uvea_posix *posix = uvea_posix_of(rt);
    uvea_posix_http_deinit(posix);
    uvea_posix_drain_close(posix->drain);
    (void)pthread_cond_destroy(&posix->woken);
    (void)pthread_mutex_destroy(&posix->lock);
    uvea_mem_free(posix);
}

struct uvea_posix_counters uvea_posix_counters(const struct uvea_rt *rt)
{
    const struct uvea_posix_tally *tally = &((const struct uvea_posix *)rt)->tally;
    struct uvea_posix_counters counters = {
        .stream_bytes_sent = atomic_load(&tally->stream_bytes_sent),
        .stream_bytes_received = atomic_load(&tally->stream_bytes_received),
        .http_requests_served = atomic_load(&tally->http_requests_served),
        .http_requests_made = atomic_load(&tally->http_requests_made),
        .http_refused = atomic_load(&tally->http_refused),
    };
    for (unsigned i = 0; i < UVEA_CHARGE_COUNT; i++) {
        counters.charged[i] = atomic_load(&tally->charged[i]);
    }
    for (unsigned i = 0; i < UVEA_POINT_COUNT; i++) {
        counters.points[i] = atomic_load(&tally->points[i]);
    }
    return counters;
}
