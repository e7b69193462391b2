#include "core/service/guard.h"

#include "core/base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { LOOK_MS = 200 };

struct uvea_guard {
    struct uvea_guard_config config;
    struct uvea_task *task;
    struct uvea_channel *stop;          // shut when the task is to end
    _Atomic(uint64_t) batch_started_ns; // UVEA_NEVER: no batch in work
    atomic_int phase;
    // the task's own
    uint64_t stopped_ns; // when a stop was first seen; UVEA_NEVER
};

// Whether the generation must end, and why.
static bool is_over(const struct uvea_guard *guard, enum uvea_error stopped, const char **reason)
{
    const struct uvea_guard_config *config = &guard->config;
    const uint64_t now_ns = uvea_rt_now_ns(config->rt);
    const uint64_t started_ns = atomic_load(&guard->batch_started_ns);

    switch ((enum uvea_guard_phase)atomic_load(&guard->phase)) {
    case UVEA_GUARD_STARTING:
        *reason = "the party is stopping";
        return stopped != UVEA_OK;
    case UVEA_GUARD_BATCH:
        if (now_ns - started_ns >= config->batch_ns_max) {
            *reason = "a batch takes too long";
            return true;
        }
        *reason = "the party is stopping and does not wait for the batch any longer";
        return stopped != UVEA_OK &&
               (stopped != UVEA_ERR_CLOSED || now_ns - guard->stopped_ns >= config->drain_ns_max);
    case UVEA_GUARD_CONNECTING:
    case UVEA_GUARD_IDLE:
        break;
    }
    return false;
}

// Between batches nobody reads from the mesh, so nobody else would notice soon that a peer is gone.
static void look_at_mesh(const struct uvea_guard *guard)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error;

    if (atomic_load(&guard->phase) != UVEA_GUARD_IDLE) {
        return;
    }
    error = uvea_mesh_failure(guard->config.mesh, &context);
    if (error != UVEA_OK) {
        uvea_coord_stop(guard->config.coord, error, "%s", context.text);
    }
}

static void look(struct uvea_guard *guard)
{
    const struct uvea_guard_config *config = &guard->config;
    enum uvea_error stopped;
    const char *reason;

    look_at_mesh(guard);
    stopped = uvea_coord_stopped(config->coord, NULL);

    if (stopped != UVEA_OK && guard->stopped_ns == UVEA_NEVER) {
        guard->stopped_ns = uvea_rt_now_ns(config->rt);
        uvea_mesh_shut(config->mesh);
    }
    if (is_over(guard, stopped, &reason)) {
        uvea_mesh_abort(config->mesh, stopped != UVEA_OK ? stopped : UVEA_ERR_TIMEOUT, reason);
    }
}

static void run_guard(void *arg)
{
    struct uvea_guard *guard = arg;
    struct uvea_rt *rt = guard->config.rt;
    enum uvea_error error;
    void *item;

    do {
        look(guard);
        error = uvea_rt_channel_recv(rt, guard->stop, &item,
                                     uvea_rt_deadline_ns(rt, LOOK_MS * UVEA_MS));
    } while (error == UVEA_ERR_TIMEOUT);
}

enum uvea_error uvea_guard_open(const struct uvea_guard_config *config, struct uvea_guard **guard)
{
    struct uvea_guard *made = uvea_mem_alloc(1, sizeof(*made));
    enum uvea_error error;

    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->config = *config;
    made->stopped_ns = UVEA_NEVER;
    atomic_init(&made->phase, UVEA_GUARD_CONNECTING);
    atomic_init(&made->batch_started_ns, UVEA_NEVER);
    UVEA_TRY_CLEANUP(uvea_rt_channel_open(config->rt, 1, &made->stop));
    UVEA_TRY_CLEANUP(uvea_rt_spawn(config->rt, "guard", run_guard, made, &made->task));
    *guard = made;
    return UVEA_OK;
cleanup:
    uvea_rt_channel_close(config->rt, made->stop);
    uvea_mem_free(made);
    return error;
}

void uvea_guard_close(struct uvea_guard *guard)
{
    if (guard == NULL) {
        return;
    }
    uvea_rt_channel_shut(guard->config.rt, guard->stop);
    uvea_rt_join(guard->config.rt, guard->task);
    uvea_rt_channel_close(guard->config.rt, guard->stop);
    uvea_mem_free(guard);
}

void uvea_guard_enter(struct uvea_guard *guard, enum uvea_guard_phase phase)
{
    if (phase == UVEA_GUARD_BATCH) {
        atomic_store(&guard->batch_started_ns, uvea_rt_now_ns(guard->config.rt));
    }
    atomic_store(&guard->phase, phase);
}
