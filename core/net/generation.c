// A generation: the connections, each with a task that reads and one that writes, and the links of
// the sessions that share them.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/net/mesh_impl.h"

#include <stdio.h>
#include <string.h>

enum {
    READ_BUFFER_BYTES = 65536,
    DIRECT_BYTES = 16384, // a frame from here on is written from its own memory
    BATCH_CAPACITY = UVEA_MESH_BATCH_BYTES + DIRECT_BYTES,
};

// ---- the end of a generation

static bool claim(struct uvea_failure *failure, enum uvea_failure_state how)
{
    enum uvea_failure_state expected = UVEA_FAILURE_NONE;
    return atomic_compare_exchange_strong(&failure->state, &expected, how);
}

static void wake_everyone(struct uvea_generation *generation)
{
    for (size_t i = 0; i < (size_t)UVEA_PEER_COUNT * generation->connection_count; i++) {
        struct uvea_connection *connection = &generation->connections[i];
        if (connection->stream != NULL) {
            uvea_rt_stream_shut(generation->mesh->rt, connection->stream);
        }
        uvea_parcel_queue_shut(&connection->outgoing);
    }
    for (uint32_t k = 0; k < generation->session_count; k++) {
        uvea_mesh_link_shut(&generation->links[k]);
    }
}

void uvea_generation_fail(struct uvea_generation *generation, enum uvea_error error,
                          const char *reason)
{
    struct uvea_failure *failure = &generation->mesh->failure;
    if (!claim(failure, UVEA_FAILURE_CLAIMED)) {
        return;
    }
    failure->error = uvea_error_set(&failure->context, error, "%s", reason);
    atomic_store(&failure->state, UVEA_FAILURE_PUBLISHED);
    wake_everyone(generation);
}

void uvea_connection_fail(struct uvea_connection *connection, enum uvea_error error,
                          const char *cause)
{
    struct uvea_generation *generation = connection->generation;
    struct uvea_error_context reason;
    error = uvea_error_set(&reason, error, "%s, connection %u: %.300s",
                           uvea_mesh_peer_name(generation->mesh, connection->side), connection->id,
                           cause);
    uvea_generation_fail(generation, error, reason.text);
}

enum uvea_error uvea_failure_get(const struct uvea_failure *failure,
                                 struct uvea_error_context *context)
{
    if (atomic_load(&failure->state) != UVEA_FAILURE_PUBLISHED) {
        return UVEA_OK;
    }
    if (context != NULL) {
        *context = failure->context;
    }
    return failure->error;
}

// ---- reading

// While sessions are validated: a peer that opens with the frame of position 0 under a higher id
// than ours has been through more generations. This attempt cannot succeed, and the next one starts
// from its number. Only the party that is behind gives up: the other one's frames must reach it.
static void note_first_id(struct uvea_connection *connection)
{
    static const uint8_t position_zero[UVEA_PRF_KEY_BYTES + 1] = {UVEA_VALUE_PRF_KEY};
    struct uvea_generation *generation = connection->generation;
    const struct uvea_buf *value = &connection->frames.value;
    if (!atomic_load(&generation->validating) || value->len != sizeof(position_zero) ||
        memcmp(value->data, position_zero, sizeof(position_zero)) != 0) {
        return;
    }
    uint32_t theirs = connection->frames.session_id;
    if (theirs <= generation->first_id) {
        return;
    }
    atomic_store(&generation->mesh->seen_first_id, theirs);
    char cause[96];
    (void)snprintf(cause, sizeof(cause), "its sessions are numbered from %u, ours from %u", theirs,
                   generation->first_id);
    uvea_connection_fail(connection, UVEA_ERR_PEER, cause);
}

static enum uvea_error dispatch(struct uvea_connection *connection,
                                struct uvea_error_context *context)
{
    struct uvea_generation *generation = connection->generation;
    struct uvea_mesh *mesh = generation->mesh;
    struct uvea_frame_reader *frames = &connection->frames;
    (void)atomic_fetch_add(&mesh->bytes_received, frames->value.len + UVEA_FRAME_SESSION_BYTES);
    uint32_t position = frames->session_id - generation->first_id;
    if (position >= generation->session_count ||
        position % generation->connection_count != connection->id) {
        (void)atomic_fetch_add(&mesh->frames_dropped, 1);
        note_first_id(connection);
        uvea_frame_reader_next(frames);
        return UVEA_OK;
    }
    enum uvea_error error =
        uvea_mesh_link_accept(&generation->links[position], connection->side, frames);
    return error == UVEA_OK
               ? UVEA_OK
               : uvea_error_set(context, error, "session %u: storing a received frame: %s",
                                position + generation->first_id, uvea_error_text(error));
}

static enum uvea_error feed(struct uvea_connection *connection, size_t len,
                            struct uvea_error_context *context)
{
    const uint8_t *at = connection->read_buffer;
    while (len > 0) {
        size_t used;
        bool complete;
        UVEA_TRY(uvea_frame_reader_feed(&connection->frames, at, len, &used, &complete, context));
        at += used;
        len -= used;
        if (complete) {
            UVEA_TRY(dispatch(connection, context));
        }
    }
    return UVEA_OK;
}

static enum uvea_error got_directly(struct uvea_connection *connection, size_t len,
                                    struct uvea_error_context *context)
{
    bool complete;
    UVEA_TRY(uvea_frame_reader_got(&connection->frames, len, &complete, context));
    return complete ? dispatch(connection, context) : UVEA_OK;
}

// One read: into the frame itself when it wants a lot, else through the buffer.
static enum uvea_error read_some(struct uvea_connection *connection,
                                 struct uvea_error_context *context)
{
    uint8_t *into;
    size_t want = uvea_frame_reader_want(&connection->frames, &into);
    bool direct = want >= READ_BUFFER_BYTES;
    size_t got;
    enum uvea_error error = uvea_rt_read(connection->generation->mesh->rt, connection->stream,
                                         direct ? into : connection->read_buffer,
                                         direct ? want : READ_BUFFER_BYTES, &got, UVEA_NEVER);
    if (error == UVEA_OK && got == 0) {
        error = UVEA_ERR_CLOSED;
    }
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "%s: %s",
                              uvea_frame_reader_idle(&connection->frames)
                                  ? "between frames"
                                  : "in the middle of a frame",
                              uvea_error_text(error));
    }
    return direct ? got_directly(connection, got, context) : feed(connection, got, context);
}

static void reader_task(void *arg)
{
    struct uvea_connection *connection = arg;
    struct uvea_error_context context = {{0}};
    enum uvea_error error;
    do {
        error = read_some(connection, &context);
    } while (error == UVEA_OK);
    uvea_connection_fail(connection, error, context.text);
}

// ---- writing

struct batch {
    size_t bytes;
    size_t frames;
};

static enum uvea_error write_out(struct uvea_connection *connection, const uint8_t *bytes,
                                 size_t len)
{
    struct uvea_mesh *mesh = connection->generation->mesh;
    UVEA_TRY(uvea_rt_write(mesh->rt, connection->stream, bytes, len, UVEA_NEVER));
    (void)atomic_fetch_add(&mesh->bytes_sent, len);
    return UVEA_OK;
}

static enum uvea_error flush(struct uvea_connection *connection, struct batch *batch)
{
    size_t bytes = batch->bytes;
    *batch = (struct batch){0};
    return bytes == 0 ? UVEA_OK : write_out(connection, connection->batch, bytes);
}

// Adds a frame to the batch, or writes both out when the frame is long.
static enum uvea_error add_frame(struct uvea_connection *connection, struct batch *batch,
                                 const struct uvea_buf *frame)
{
    if (frame->len >= DIRECT_BYTES) {
        UVEA_TRY(flush(connection, batch));
        return write_out(connection, frame->data, frame->len);
    }
    memcpy(connection->batch + batch->bytes, frame->data, frame->len);
    batch->bytes += frame->len;
    batch->frames++;
    return UVEA_OK;
}

static bool batch_full(const struct uvea_connection *connection, const struct batch *batch)
{
    return batch->bytes >= UVEA_MESH_BATCH_BYTES ||
           batch->frames >= connection->generation->session_count;
}

// From one parcel on, everything that is queued at this moment, up to a full batch.
static enum uvea_error write_batch(struct uvea_connection *connection, struct uvea_parcel *parcel)
{
    struct batch batch = {0};
    enum uvea_error error;
    do {
        error = add_frame(connection, &batch, &parcel->bytes);
        uvea_budget_give(&connection->outgoing_budget, parcel->bytes.len);
        uvea_parcel_give(parcel);
        parcel = error != UVEA_OK || batch_full(connection, &batch)
                     ? NULL
                     : uvea_parcel_try_pop(&connection->outgoing);
    } while (parcel != NULL);
    return error == UVEA_OK ? flush(connection, &batch) : error;
}

static void writer_task(void *arg)
{
    struct uvea_connection *connection = arg;
    enum uvea_error error = UVEA_OK;
    struct uvea_parcel *parcel;
    while (error == UVEA_OK &&
           uvea_parcel_pop(&connection->outgoing, UVEA_NEVER, &parcel) == UVEA_OK) {
        error = write_batch(connection, parcel);
    }
    if (error != UVEA_OK) {
        char cause[64];
        (void)snprintf(cause, sizeof(cause), "while sending: %s", uvea_error_text(error));
        uvea_connection_fail(connection, error, cause);
    }
    struct uvea_generation *generation = connection->generation;
    // There is room for every writer's token.
    error = uvea_rt_channel_send(generation->mesh->rt, generation->drained, connection, 0);
    (void)error;
}

// ---- set-up and end

static enum uvea_error connection_init(struct uvea_connection *connection)
{
    struct uvea_mesh *mesh = connection->generation->mesh;
    connection->outgoing_budget.bytes_max = mesh->config.queue_bytes_max;
    connection->incoming_budget.bytes_max = mesh->config.queue_bytes_max;
    uvea_frame_reader_init(&connection->frames, UVEA_FRAME_DATA, mesh->config.value_bytes_max);
    connection->read_buffer = uvea_mem_alloc(READ_BUFFER_BYTES, 1);
    connection->batch = uvea_mem_alloc(BATCH_CAPACITY, 1);
    if (connection->read_buffer == NULL || connection->batch == NULL) {
        return UVEA_ERR_MEMORY;
    }
    return uvea_parcel_queue_init(&connection->outgoing, mesh->rt);
}

static void connection_deinit(struct uvea_connection *connection)
{
    struct uvea_mesh *mesh = connection->generation->mesh;
    uvea_rt_stream_close(mesh->rt, connection->stream);
    uvea_parcel_queue_deinit(&connection->outgoing);
    uvea_frame_reader_deinit(&connection->frames);
    uvea_mem_free(connection->read_buffer);
    uvea_mem_free(connection->batch);
}

static void connection_join(struct uvea_connection *connection)
{
    struct uvea_rt *rt = connection->generation->mesh->rt;
    if (connection->reader != NULL) {
        uvea_rt_join(rt, connection->reader);
    }
    if (connection->writer != NULL) {
        uvea_rt_join(rt, connection->writer);
    }
}

static size_t connection_total(const struct uvea_generation *generation)
{
    return (size_t)UVEA_PEER_COUNT * generation->connection_count;
}

static enum uvea_error init_connections(struct uvea_generation *generation,
                                        struct uvea_stream **streams)
{
    UVEA_CHECK(generation->connection_count > 0);
    for (size_t i = 0; i < connection_total(generation); i++) {
        struct uvea_connection *connection = &generation->connections[i];
        connection->generation = generation;
        bool to_next = i < generation->connection_count;
        connection->side = to_next ? UVEA_PEER_NEXT : UVEA_PEER_PREV;
        connection->id = (uint32_t)(to_next ? i : i - generation->connection_count);
        connection->stream = streams[i];
    }
    for (size_t i = 0; i < connection_total(generation); i++) {
        UVEA_TRY(connection_init(&generation->connections[i]));
    }
    return UVEA_OK;
}

static enum uvea_error start_tasks(struct uvea_generation *generation)
{
    struct uvea_rt *rt = generation->mesh->rt;
    for (size_t i = 0; i < connection_total(generation); i++) {
        struct uvea_connection *connection = &generation->connections[i];
        UVEA_TRY(uvea_rt_spawn(rt, "net read", reader_task, connection, &connection->reader));
        UVEA_TRY(uvea_rt_spawn(rt, "net write", writer_task, connection, &connection->writer));
    }
    return UVEA_OK;
}

static void close_streams(struct uvea_mesh *mesh, struct uvea_stream **streams)
{
    for (size_t i = 0; i < (size_t)UVEA_PEER_COUNT * mesh->connection_count; i++) {
        uvea_rt_stream_close(mesh->rt, streams[i]);
    }
}

// The two arrays, so that everything after can be undone by uvea_generation_close.
static struct uvea_generation *alloc_generation(struct uvea_mesh *mesh)
{
    struct uvea_generation *generation = uvea_mem_alloc(1, sizeof(*generation));
    if (generation == NULL) {
        return NULL;
    }
    generation->mesh = mesh;
    generation->first_id = mesh->first_id;
    generation->session_count = mesh->config.session_count;
    generation->connection_count = mesh->connection_count;
    generation->connections =
        uvea_mem_alloc(connection_total(generation), sizeof(struct uvea_connection));
    generation->links = uvea_mem_alloc(generation->session_count, sizeof(struct uvea_mesh_link));
    atomic_store(&generation->validating, true);
    if (generation->connections == NULL || generation->links == NULL) {
        uvea_mem_free(generation->connections);
        uvea_mem_free(generation->links);
        uvea_mem_free(generation);
        return NULL;
    }
    return generation;
}

enum uvea_error uvea_generation_open(struct uvea_mesh *mesh, struct uvea_stream **streams,
                                     struct uvea_generation **generation)
{
    struct uvea_generation *opened = alloc_generation(mesh);
    if (opened == NULL) {
        close_streams(mesh, streams);
        return UVEA_ERR_MEMORY;
    }
    enum uvea_error error = init_connections(opened, streams);
    for (uint32_t k = 0; error == UVEA_OK && k < opened->session_count; k++) {
        error = uvea_mesh_link_init(&opened->links[k], opened, k);
    }
    if (error == UVEA_OK) {
        error = uvea_rt_channel_open(mesh->rt, connection_total(opened), &opened->drained);
    }
    if (error == UVEA_OK) {
        error = start_tasks(opened);
    }
    if (error != UVEA_OK) {
        uvea_generation_fail(opened, error, "setting up the connections");
        uvea_generation_close(opened);
        return error;
    }
    *generation = opened;
    return UVEA_OK;
}

// (blocks) Lets the writers empty their queues, within bounds.
static void drain(struct uvea_generation *generation)
{
    struct uvea_mesh *mesh = generation->mesh;
    uint64_t deadline_ns = uvea_rt_deadline_ns(mesh->rt, mesh->config.drain_ns_max);
    for (size_t i = 0; i < connection_total(generation); i++) {
        uvea_parcel_queue_shut(&generation->connections[i].outgoing);
    }
    enum uvea_error error = UVEA_OK;
    for (size_t i = 0; i < connection_total(generation) && error == UVEA_OK; i++) {
        void *token;
        error = uvea_rt_channel_recv(mesh->rt, generation->drained, &token, deadline_ns);
    }
}

void uvea_generation_close(struct uvea_generation *generation)
{
    if (generation == NULL) {
        return;
    }
    struct uvea_mesh *mesh = generation->mesh;
    if (uvea_failure_get(&mesh->failure, NULL) == UVEA_OK) {
        drain(generation);
    }
    if (claim(&mesh->failure, UVEA_FAILURE_ENDED)) {
        wake_everyone(generation);
    }
    for (size_t i = 0; i < connection_total(generation); i++) {
        connection_join(&generation->connections[i]);
    }
    for (uint32_t k = 0; k < generation->session_count; k++) {
        uvea_mesh_link_deinit(&generation->links[k]);
    }
    for (size_t i = 0; i < connection_total(generation); i++) {
        connection_deinit(&generation->connections[i]);
    }
    uvea_rt_channel_close(mesh->rt, generation->drained);
    uvea_mem_free(generation->links);
    uvea_mem_free(generation->connections);
    uvea_mem_free(generation);
}
