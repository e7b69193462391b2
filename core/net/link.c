// The links of a mesh: what the protocols hold.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/net/mesh_impl.h"

static struct uvea_mesh_link *impl(struct uvea_link *link)
{
    return (struct uvea_mesh_link *)link;
}

static uint32_t session_id(const struct uvea_mesh_link *link)
{
    return link->generation->first_id + link->position;
}

// RESET or CLOSED, which is what a sender can be told.
static enum uvea_error gone(const struct uvea_generation *generation)
{
    enum uvea_error error = uvea_failure_get(&generation->mesh->failure, NULL);
    return error == UVEA_OK || error == UVEA_ERR_RESET ? error : UVEA_ERR_CLOSED;
}

// A frame that was begun and not ended, because encoding failed, is begun again.
static enum uvea_error link_begin(struct uvea_link *base, enum uvea_peer peer,
                                  struct uvea_buf **frame)
{
    struct uvea_mesh_link *link = impl(base);
    struct uvea_lane *lane = &link->lanes[peer];
    if (lane->open == NULL) {
        lane->open = uvea_parcel_take(&lane->outgoing_pool);
    }
    if (lane->open == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_buf_clear(&lane->open->bytes);
    UVEA_TRY(uvea_frame_begin(&lane->open->bytes, session_id(link)));
    *frame = &lane->open->bytes;
    return UVEA_OK;
}

// The frame is exactly one value, or the peer would lose its place in the stream.
static void check_one_value(const struct uvea_buf *frame)
{
    size_t total = 0;
    UVEA_CHECK(frame->len > UVEA_FRAME_SESSION_BYTES);
    size_t value_bytes = frame->len - UVEA_FRAME_SESSION_BYTES;
    UVEA_CHECK(uvea_value_total_bytes(frame->data + UVEA_FRAME_SESSION_BYTES, value_bytes,
                                      value_bytes, &total, NULL) == UVEA_OK);
    UVEA_CHECK(total == value_bytes);
}

static enum uvea_error link_end(struct uvea_link *base, enum uvea_peer peer)
{
    struct uvea_mesh_link *link = impl(base);
    struct uvea_lane *lane = &link->lanes[peer];
    struct uvea_parcel *parcel = lane->open;
    UVEA_CHECK(parcel != NULL);
    check_one_value(&parcel->bytes);
    size_t value_bytes_max = link->generation->mesh->config.value_bytes_max;
    UVEA_TRY(gone(link->generation));
    if (parcel->bytes.len - UVEA_FRAME_SESSION_BYTES > value_bytes_max ||
        !uvea_budget_take(&lane->connection->outgoing_budget, parcel->bytes.len)) {
        return UVEA_ERR_LIMIT;
    }
    lane->open = NULL;
    uvea_parcel_push(&lane->connection->outgoing, parcel);
    return UVEA_OK;
}

// Why nothing came.
static enum uvea_error nothing_received(const struct uvea_mesh_link *link, enum uvea_peer peer,
                                        enum uvea_error error, struct uvea_error_context *context)
{
    const struct uvea_mesh *mesh = link->generation->mesh;
    if (error == UVEA_ERR_TIMEOUT) {
        return uvea_error_set(context, error, "%s, session %u: no message within %llu ms",
                              uvea_mesh_peer_name(mesh, peer), session_id(link),
                              (unsigned long long)(mesh->config.recv_ns_max / UVEA_MS));
    }
    enum uvea_error failure = uvea_failure_get(&mesh->failure, context);
    return failure != UVEA_OK
               ? failure
               : uvea_error_set(context, error, "%s, session %u: waiting for a message: %s",
                                uvea_mesh_peer_name(mesh, peer), session_id(link),
                                uvea_error_text(error));
}

// A value that is none ends the connection, and with it the generation.
static void refuse_value(const struct uvea_mesh_link *link, struct uvea_connection *connection,
                         enum uvea_error error, const char *cause)
{
    struct uvea_error_context named;
    error = uvea_error_set(&named, error, "session %u: %.250s", session_id(link), cause);
    uvea_connection_fail(connection, error, named.text);
}

// What has come is taken at once; only waiting asks for the time.
static enum uvea_error pop(struct uvea_mesh *mesh, struct uvea_lane *lane,
                           struct uvea_parcel **parcel)
{
    *parcel = uvea_parcel_try_pop(&lane->incoming);
    if (*parcel != NULL) {
        return UVEA_OK;
    }
    uint64_t start_ns = uvea_rt_now_ns(mesh->rt);
    enum uvea_error error = uvea_parcel_pop(
        &lane->incoming, uvea_rt_deadline_ns(mesh->rt, mesh->config.recv_ns_max), parcel);
    (void)atomic_fetch_add(&mesh->waited_ns, uvea_rt_now_ns(mesh->rt) - start_ns);
    return error;
}

static enum uvea_error link_recv(struct uvea_link *base, enum uvea_peer peer,
                                 struct uvea_value *value, struct uvea_error_context *context)
{
    struct uvea_mesh_link *link = impl(base);
    struct uvea_lane *lane = &link->lanes[peer];
    struct uvea_mesh *mesh = link->generation->mesh;
    struct uvea_parcel *parcel;
    enum uvea_error error = pop(mesh, lane, &parcel);
    if (error != UVEA_OK) {
        return nothing_received(link, peer, error, context);
    }
    uvea_budget_give(&lane->connection->incoming_budget, parcel->bytes.len);
    uvea_parcel_give(lane->current);
    lane->current = parcel;

    struct uvea_error_context cause = {{0}};
    error = uvea_value_decode(parcel->bytes.data, parcel->bytes.len, value, &cause);
    if (error != UVEA_OK) {
        refuse_value(link, lane->connection, error, cause.text);
        return nothing_received(link, peer, error, context);
    }
    return UVEA_OK;
}

enum uvea_error uvea_mesh_link_accept(struct uvea_mesh_link *link, enum uvea_peer side,
                                      struct uvea_frame_reader *frames)
{
    struct uvea_lane *lane = &link->lanes[side];
    size_t bytes = frames->value.len;
    if (!uvea_budget_take(&lane->connection->incoming_budget, bytes)) {
        return UVEA_ERR_LIMIT;
    }
    struct uvea_parcel *parcel = uvea_parcel_take(&lane->incoming_pool);
    if (parcel == NULL) {
        uvea_budget_give(&lane->connection->incoming_budget, bytes);
        return UVEA_ERR_MEMORY;
    }
    uvea_frame_reader_take(frames, &parcel->bytes);
    uvea_parcel_push(&lane->incoming, parcel);
    return UVEA_OK;
}

enum uvea_error uvea_mesh_link_init(struct uvea_mesh_link *link, struct uvea_generation *generation,
                                    uint32_t position)
{
    static const struct uvea_link_ops ops = {
        .begin = link_begin, .end = link_end, .recv = link_recv};
    link->link.ops = &ops;
    link->generation = generation;
    link->position = position;
    for (size_t side = 0; side < UVEA_PEER_COUNT; side++) {
        struct uvea_lane *lane = &link->lanes[side];
        lane->connection = &generation->connections[side * generation->connection_count +
                                                    position % generation->connection_count];
        UVEA_TRY(uvea_parcel_queue_init(&lane->incoming, generation->mesh->rt));
    }
    return UVEA_OK;
}

void uvea_mesh_link_deinit(struct uvea_mesh_link *link)
{
    for (size_t side = 0; side < UVEA_PEER_COUNT; side++) {
        struct uvea_lane *lane = &link->lanes[side];
        uvea_parcel_give(lane->open);
        uvea_parcel_give(lane->current);
        uvea_parcel_queue_deinit(&lane->incoming);
        uvea_parcel_pool_deinit(&lane->outgoing_pool);
        uvea_parcel_pool_deinit(&lane->incoming_pool);
    }
}

void uvea_mesh_link_shut(struct uvea_mesh_link *link)
{
    for (size_t side = 0; side < UVEA_PEER_COUNT; side++) {
        uvea_parcel_queue_shut(&link->lanes[side].incoming);
    }
}
