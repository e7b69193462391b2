#include "core/service/node.h"

#include "core/base/mem.h"
#include "core/service/node_impl.h"

#include <inttypes.h>

enum uvea_error uvea_node_open(struct uvea_rt *rt, const struct uvea_node_config *config,
                               struct uvea_store *store, struct uvea_node **node,
                               struct uvea_error_context *context)
{
    struct uvea_node *made;
    enum uvea_error error;

    UVEA_TRY(uvea_node_check_config(config, context));
    made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->rt = rt;
    made->config = *config;
    made->store = store;
    made->batch_id = 1;
    made->stages.rt = rt;
    error = uvea_coord_open(rt, config->party, config->image_name, &made->coord);
    if (error != UVEA_OK) {
        uvea_node_close(made);
        return error;
    }
    made->link = (struct uvea_coord_link){
        .rt = rt,
        .coord = made->coord,
        .party = config->party,
        .timing = config->timing,
    };
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        made->link.addresses[i] = config->peer_http_addresses[i];
    }
    made->endpoints = (struct uvea_endpoints){
        .rt = rt,
        .party = config->party,
        .store = store,
        .coord = made->coord,
        .more_paths = config->more_paths,
        .more_paths_arg = config->more_paths_arg,
    };
    *node = made;
    return UVEA_OK;
}

void uvea_node_close(struct uvea_node *node)
{
    if (node == NULL) {
        return;
    }
    uvea_coord_close(node->coord);
    uvea_mem_wipe(node, sizeof(*node));
    uvea_mem_free(node);
}

void uvea_node_stop(struct uvea_node *node, const char *reason)
{
    uvea_coord_stop(node->coord, UVEA_ERR_CLOSED, "%s", reason);
}

struct uvea_node_stats uvea_node_stats(const struct uvea_node *node)
{
    const struct uvea_node_counters *counters = &node->counters;
    struct uvea_node_stats stats = {
        .batches = atomic_load(&counters->batches),
        .requests = atomic_load(&counters->requests),
        .published_sequence = atomic_load(&counters->published_sequence),
        .comparisons = atomic_load(&counters->comparisons),
        .records = atomic_load(&counters->records),
        .bytes_sent = atomic_load(&counters->bytes_sent),
    };

    for (size_t i = 0; i < UVEA_STAGE_COUNT; i++) {
        stats.stage_ns[i] = atomic_load(&node->stages.ns[i]);
    }
    return stats;
}

// ---- batches

static void count_work(struct uvea_node *node)
{
    const struct uvea_mesh_counters mesh = uvea_mesh_counters(node->mesh);

    atomic_store(&node->counters.comparisons, node->process.comparisons);
    atomic_store(&node->counters.records, node->resident.count);
    atomic_store(&node->counters.bytes_sent, mesh.bytes_sent);
    atomic_store(&node->stages.ns[UVEA_STAGE_WAIT], mesh.waited_ns);
}

static enum uvea_error process_batch(struct uvea_node *node, struct uvea_batch *batch,
                                     struct uvea_error_context *context)
{
    const struct uvea_node_observer *observer = &node->config.observer;

    uvea_guard_enter(node->guard, UVEA_GUARD_BATCH);
    if (observer->begun != NULL) {
        observer->begun(observer->arg, node->config.party, batch);
    }
    UVEA_TRY(uvea_process_batch(&node->process, batch, context));
    count_work(node);
    if (observer->processed != NULL) {
        observer->processed(observer->arg, node->config.party, batch);
    }
    return UVEA_OK;
}

static enum uvea_error run_batch(struct uvea_node *node, uint32_t count,
                                 struct uvea_error_context *context)
{
    struct uvea_batch batch = {0};
    const uint64_t since_ns = uvea_stages_now_ns(&node->stages);
    enum uvea_error error;

    UVEA_TRY_CLEANUP(uvea_rt_point(node->rt, UVEA_POINT_SIZE_AGREED));
    UVEA_TRY_CLEANUP(uvea_node_take_batch(node, count, &batch, context));
    (void)uvea_stages_add(&node->stages, UVEA_STAGE_RECEPTION, since_ns);
    UVEA_TRY_CLEANUP(process_batch(node, &batch, context));
    UVEA_TRY_CLEANUP(uvea_node_settle_batch(node, &batch, context));
    node->batch_id++;
cleanup:
    uvea_batch_deinit(&batch);
    return error;
}

static enum uvea_error agree_size(struct uvea_node *node, uint32_t *count,
                                  struct uvea_error_context *context)
{
    const uint32_t max = node->config.batch_requests_max;
    struct uvea_store_ingest_state state;

    UVEA_TRY(uvea_store_ingest_state(node->store, &state, context));
    return uvea_coord_agree_size(&node->link, node->batch_id,
                                 state.pending < max ? (uint32_t)state.pending : max, count,
                                 context);
}

// Until a stop, whose error it returns, or a failure.
static enum uvea_error serve(struct uvea_node *node, struct uvea_error_context *context)
{
    for (;;) {
        const uint64_t since_ns = uvea_stages_now_ns(&node->stages);
        uint32_t count;

        UVEA_TRY(uvea_coord_stopped(node->coord, context));
        UVEA_TRY(agree_size(node, &count, context));
        if (count > 0) {
            (void)uvea_stages_add(&node->stages, UVEA_STAGE_RECEPTION, since_ns);
            UVEA_TRY(run_batch(node, count, context));
        } else {
            UVEA_TRY(uvea_rt_sleep_ns(node->rt, node->config.timing.idle_ns));
            (void)uvea_stages_add(&node->stages, UVEA_STAGE_IDLE, since_ns);
        }
    }
}

// ---- the end

// What ended the mesh says more than what a session noticed of it.
static enum uvea_error explain(const struct uvea_node *node, enum uvea_error error,
                               struct uvea_error_context *context)
{
    struct uvea_error_context cause = {{0}};
    enum uvea_error first = UVEA_OK;

    if (node->mesh != NULL &&
        (error == UVEA_ERR_CLOSED || error == UVEA_ERR_RESET || error == UVEA_ERR_TIMEOUT)) {
        first = uvea_mesh_failure(node->mesh, &cause);
    }
    return first == UVEA_OK ? error : uvea_error_set(context, first, "%s", cause.text);
}

// After an orderly stop, what a peer's leaving broke is no failure; context says why it stopped.
static enum uvea_error judge(const struct uvea_node *node, enum uvea_error error,
                             struct uvea_error_context *context)
{
    struct uvea_error_context reason = {{0}};
    const bool orderly = uvea_coord_stopped(node->coord, &reason) == UVEA_ERR_CLOSED;

    if (orderly &&
        (error == UVEA_ERR_CLOSED || error == UVEA_ERR_RESET || error == UVEA_ERR_TIMEOUT)) {
        *context = reason;
        return UVEA_OK;
    }
    if (context->text[0] == '\0') {
        return uvea_error_set(context, error, "party %u: %s", node->config.party.index,
                              uvea_error_text(error));
    }
    return error;
}

// Nobody may close a connection that another party still works on, so the parties meet first; one
// that does not come is not waited for long.
static void part(struct uvea_node *node)
{
    struct uvea_error_context context;

    if (node->control != NULL) {
        (void)!uvea_control_barrier(
            node->control, uvea_rt_deadline_ns(node->rt, node->config.drain_ns_max), &context);
    }
}

// A start that failed is still there to be seen for longer than a heartbeat: peers that start too
// find the same fault, and those of an older fleet learn that they have to be started anew.
static void linger(struct uvea_node *node)
{
    const struct uvea_coord_timing *timing = &node->config.timing;
    const uint64_t until_ns =
        uvea_rt_deadline_ns(node->rt, timing->heartbeat_ns + timing->heartbeat_ns / 2);

    while (node->server != NULL && uvea_coord_stopped(node->coord, NULL) == UVEA_OK &&
           uvea_rt_now_ns(node->rt) < until_ns) {
        if (uvea_rt_sleep_ns(node->rt, timing->lag_ns_max) != UVEA_OK) {
            return;
        }
    }
}

enum uvea_error uvea_node_run(struct uvea_node *node, struct uvea_error_context *context)
{
    struct uvea_error_context why = {{0}};
    enum uvea_error error = uvea_node_start(node, &why);

    if (error == UVEA_OK) {
        count_work(node);
        error = serve(node, &why);
    } else {
        linger(node);
    }
    error = judge(node, explain(node, error, &why), &why);
    if (error == UVEA_OK) {
        part(node);
    } else {
        uvea_coord_stop(node->coord, error, "%s", why.text);
    }
    uvea_ingest_close(node->ingest);
    uvea_heartbeat_close(node->heartbeat);
    uvea_node_unload(node);
    uvea_rt_http_close(node->rt, node->server);
    node->ingest = NULL;
    node->heartbeat = NULL;
    node->server = NULL;
    if (context != NULL) {
        *context = why;
    }
    return error;
}
