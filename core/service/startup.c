// A party's start with its two peers, step by step as service.md 8.2 has it.
#include "core/service/json.h"
#include "core/service/node_impl.h"
#include "core/service/repair.h"

#include <inttypes.h>

// ---- this party's own state

static enum uvea_error count_records(struct uvea_node *node, uint64_t *count,
                                     struct uvea_error_context *context)
{
    uint64_t serial_max;

    UVEA_TRY(uvea_store_count(node->store, count, &serial_max, context));
    if (*count != serial_max) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "the database has a gap: %" PRIu64
                              " records, largest serial %" PRIu64,
                              *count, serial_max);
    }
    if (*count > node->config.records_max) {
        return uvea_error_set(context, UVEA_ERR_LIMIT,
                              "the database holds %" PRIu64 " records, at most %" PRIu32
                              " are allowed",
                              *count, node->config.records_max);
    }
    return UVEA_OK;
}

static enum uvea_error add_modification(void *arg, const struct uvea_modification *modification)
{
    return uvea_sync_state_add(arg, modification);
}

static enum uvea_error take_stock(struct uvea_node *node, struct uvea_sync_state *own,
                                  struct uvea_error_context *context)
{
    struct uvea_store_ingest_state ingest;

    UVEA_TRY(uvea_store_own(node->store, node->config.party, context));
    UVEA_TRY(count_records(node, &own->db_len, context));
    UVEA_TRY(uvea_store_modifications(node->store, node->config.modifications_lookback,
                                      add_modification, own, context));
    UVEA_TRY(uvea_store_ingest_state(node->store, &ingest, context));
    own->has_max_persisted = ingest.max_persisted > 0;
    own->max_persisted = ingest.max_persisted;
    own->common_config = uvea_node_common_config(&node->config);
    return own->common_config == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
}

static enum uvea_error publish_state(struct uvea_node *node, const struct uvea_sync_state *own)
{
    struct uvea_buf json = {0};
    enum uvea_error error = uvea_sync_state_encode(own, &json);

    if (error == UVEA_OK) {
        error = uvea_coord_publish_sync(node->coord, &json);
    }
    uvea_buf_deinit(&json);
    return error;
}

// ---- with the peers

void uvea_node_say_listening(const struct uvea_node *node, const char *what, const char *address)
{
    const struct uvea_node_observer *observer = &node->config.observer;

    if (observer->listening != NULL) {
        observer->listening(observer->arg, what, address);
    }
}

static enum uvea_error serve_http(struct uvea_node *node, struct uvea_error_context *context)
{
    const char *address = node->config.http_address;
    const enum uvea_error error = uvea_rt_http_serve(node->rt, address, uvea_endpoints_handle,
                                                     &node->endpoints, &node->server);

    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "HTTP cannot be served at %s: %s", address,
                              uvea_error_text(error));
    }
    uvea_node_say_listening(node, "http", address);
    return UVEA_OK;
}

static enum uvea_error meet_peers(struct uvea_node *node,
                                  struct uvea_sync_state states[UVEA_PARTY_COUNT],
                                  struct uvea_error_context *context)
{
    UVEA_TRY(serve_http(node, context));
    UVEA_TRY(uvea_coord_meet(&node->link, context));
    UVEA_TRY(uvea_coord_see_all(&node->link, context));
    UVEA_TRY(uvea_heartbeat_open(&node->link, &node->heartbeat));
    UVEA_TRY(uvea_coord_exchange(&node->link, states, context));
    UVEA_TRY(uvea_sync_check_config(states, context));
    return uvea_rt_point(node->rt, UVEA_POINT_SYNC_EXCHANGED);
}

static enum uvea_error roll_forward(struct uvea_node *node,
                                    const struct uvea_sync_state states[UVEA_PARTY_COUNT],
                                    uint64_t *max_persisted, struct uvea_error_context *context)
{
    const struct uvea_repair repair = {
        .store = node->store,
        .party = node->config.party,
        .keys = &node->config.keys,
    };
    struct uvea_sync_plan plan = {0};
    enum uvea_error error;

    UVEA_TRY_CLEANUP(uvea_sync_make_plan(states, node->config.party,
                                         node->config.modifications_lookback, &plan, context));
    *max_persisted = plan.max_persisted;
    UVEA_TRY_CLEANUP(uvea_repair_run(&repair, &plan, context));
cleanup:
    uvea_sync_plan_deinit(&plan);
    return error;
}

static enum uvea_error see_message(void *arg, const struct uvea_store_message *message)
{
    uint64_t *sequence = arg;

    *sequence = message->sequence;
    return UVEA_OK;
}

// What any party is done with is in the topic, unless the disk of the party that keeps it lost
// something: it would then give numbers a second time.
static enum uvea_error check_topic(struct uvea_node *node, uint64_t max_persisted,
                                   struct uvea_error_context *context)
{
    uint64_t found = 0;

    if (node->config.party.index != UVEA_TOPIC_PARTY || max_persisted == 0) {
        return UVEA_OK;
    }
    UVEA_TRY(
        uvea_store_topic_read(node->store, max_persisted - 1, 1, see_message, &found, context));
    if (found != max_persisted) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "the topic has lost messages: a party is done with number %" PRIu64
                              ", which is not in it",
                              max_persisted);
    }
    return UVEA_OK;
}

static enum uvea_error repair(struct uvea_node *node,
                              const struct uvea_sync_state states[UVEA_PARTY_COUNT],
                              struct uvea_error_context *context)
{
    uint64_t max_persisted;
    size_t replayed;

    UVEA_TRY(roll_forward(node, states, &max_persisted, context));
    UVEA_TRY(check_topic(node, max_persisted, context));
    UVEA_TRY(uvea_rt_point(node->rt, UVEA_POINT_ROLLED_FORWARD));
    UVEA_TRY(
        uvea_store_replay(node->store, node->config.modifications_lookback, &replayed, context));
    UVEA_TRY(uvea_rt_point(node->rt, UVEA_POINT_REPLAYED));
    UVEA_TRY(uvea_store_ingest_recover(node->store, max_persisted, context));
    atomic_store(&node->endpoints.sequencing, true);
    return uvea_rt_point(node->rt, UVEA_POINT_INGEST_RECOVERED);
}

static enum uvea_error synchronise(struct uvea_node *node, struct uvea_error_context *context)
{
    struct uvea_sync_state states[UVEA_PARTY_COUNT] = {{0}};
    struct uvea_sync_state *own = &states[node->config.party.index];
    enum uvea_error error;

    UVEA_TRY_CLEANUP(take_stock(node, own, context));
    UVEA_TRY_CLEANUP(publish_state(node, own));
    UVEA_TRY_CLEANUP(meet_peers(node, states, context));
    UVEA_TRY_CLEANUP(repair(node, states, context));
cleanup:
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_sync_state_deinit(&states[i]);
    }
    return error;
}

// ---- the whole

static enum uvea_error open_ingest(struct uvea_node *node)
{
    const struct uvea_node_config *config = &node->config;
    const bool sequences = config->party.index == UVEA_TOPIC_PARTY;
    const struct uvea_ingest_config ingest = {
        .rt = node->rt,
        .store = node->store,
        .coord = node->coord,
        .topic_address = sequences ? NULL : config->peer_http_addresses[UVEA_TOPIC_PARTY],
        .attempt_ns = config->timing.attempt_ns,
        .pause_ns = config->ingest_ns,
        .backoff_ns_min = config->ingest_backoff_ns_min,
        .backoff_ns_max = config->ingest_backoff_ns_max,
    };

    return uvea_ingest_open(&ingest, &node->ingest);
}

enum uvea_error uvea_node_start(struct uvea_node *node, struct uvea_error_context *context)
{
    UVEA_TRY(synchronise(node, context));
    UVEA_TRY(uvea_node_load(node, context));
    UVEA_TRY(uvea_node_connect(node, context));
    UVEA_TRY(uvea_node_prepare(node, context));
    UVEA_TRY(open_ingest(node));
    uvea_guard_enter(node->guard, UVEA_GUARD_IDLE);
    uvea_coord_set_ready(node->coord, true);
    UVEA_TRY(uvea_rt_point(node->rt, UVEA_POINT_READY));
    return uvea_coord_await_ready(&node->link, context);
}
