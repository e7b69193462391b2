#include "core/net/control.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/net/mesh_impl.h"

#include <stdio.h>
#include <string.h>

// Each side is read by a task of its own, one value ahead of the caller: three parties that all
// send first do not wait for each other, however long the values.
struct control_side {
    struct uvea_control *control;
    struct uvea_stream *stream;
    struct uvea_task *reader;
    struct uvea_channel *received; // struct uvea_parcel: encoded values
    struct uvea_frame_reader frames;
    struct uvea_parcel_pool pool;
    struct uvea_parcel *current; // what the last value points into
    enum uvea_error error;       // why the reader ended; read after `received` is shut
    struct uvea_error_context cause;
};

struct uvea_control {
    struct uvea_mesh *mesh;
    struct control_side sides[UVEA_PEER_COUNT];
    struct uvea_buf outgoing;
    atomic_bool shut;       // on this side
    enum uvea_error failed; // the first error, which is final
    struct uvea_error_context why;
};

// ---- reading

// Exact reads: nothing past this frame is taken from the stream.
static enum uvea_error read_frame(struct control_side *side)
{
    struct uvea_rt *rt = side->control->mesh->rt;
    bool complete = false;
    while (!complete) {
        uint8_t *into;
        size_t want = uvea_frame_reader_want(&side->frames, &into);
        enum uvea_error error = uvea_rt_read_exact(rt, side->stream, into, want, UVEA_NEVER);
        if (error != UVEA_OK) {
            return uvea_error_set(&side->cause, error, "receiving: %s", uvea_error_text(error));
        }
        UVEA_TRY(uvea_frame_reader_got(&side->frames, want, &complete, &side->cause));
    }
    return UVEA_OK;
}

static enum uvea_error hand_over(struct control_side *side)
{
    struct uvea_parcel *parcel = uvea_parcel_take(&side->pool);
    if (parcel == NULL) {
        return uvea_error_set(&side->cause, UVEA_ERR_MEMORY, "receiving: out of memory");
    }
    uvea_frame_reader_take(&side->frames, &parcel->bytes);
    enum uvea_error error =
        uvea_rt_channel_send(side->control->mesh->rt, side->received, parcel, UVEA_NEVER);
    if (error != UVEA_OK) {
        uvea_parcel_give(parcel);
        return uvea_error_set(&side->cause, error, "receiving: %s", uvea_error_text(error));
    }
    return UVEA_OK;
}

static void reader_task(void *arg)
{
    struct control_side *side = arg;
    do {
        side->error = read_frame(side);
        if (side->error == UVEA_OK) {
            side->error = hand_over(side);
        }
    } while (side->error == UVEA_OK);
    uvea_rt_channel_shut(side->control->mesh->rt, side->received);
}

// ---- open and close

static enum uvea_error side_init(struct control_side *side)
{
    struct uvea_rt *rt = side->control->mesh->rt;
    uvea_frame_reader_init(&side->frames, UVEA_FRAME_CONTROL, UVEA_CONTROL_BYTES_MAX);
    UVEA_TRY(uvea_rt_channel_open(rt, 1, &side->received));
    return uvea_rt_spawn(rt, "net control", reader_task, side, &side->reader);
}

static void side_deinit(struct control_side *side)
{
    struct uvea_rt *rt = side->control->mesh->rt;
    if (side->reader != NULL) {
        uvea_rt_join(rt, side->reader);
    }
    void *left;
    while (side->received != NULL &&
           uvea_rt_channel_recv(rt, side->received, &left, 0) == UVEA_OK) {
        uvea_parcel_give(left);
    }
    uvea_parcel_give(side->current);
    uvea_parcel_pool_deinit(&side->pool);
    uvea_rt_channel_close(rt, side->received);
    uvea_rt_stream_close(rt, side->stream);
    uvea_frame_reader_deinit(&side->frames);
}

enum uvea_error uvea_control_open(struct uvea_mesh *mesh, struct uvea_control **control,
                                  struct uvea_error_context *context)
{
    struct uvea_control *opened = uvea_mem_alloc(1, sizeof(*opened));
    if (opened == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "control channel: out of memory");
    }
    struct uvea_stream *streams[UVEA_PEER_COUNT];
    enum uvea_error error = uvea_mesh_gather(mesh, 1, streams, context);
    if (error != UVEA_OK) {
        uvea_mem_free(opened);
        return error;
    }
    opened->mesh = mesh;
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        opened->sides[i].control = opened;
        opened->sides[i].stream = streams[i];
    }
    for (size_t i = 0; i < UVEA_PEER_COUNT && error == UVEA_OK; i++) {
        error = side_init(&opened->sides[i]);
    }
    if (error != UVEA_OK) {
        uvea_control_close(opened);
        return uvea_error_set(context, error, "control channel: setting up: %s",
                              uvea_error_text(error));
    }
    *control = opened;
    return UVEA_OK;
}

void uvea_control_shut(struct uvea_control *control)
{
    struct uvea_rt *rt = control->mesh->rt;
    atomic_store(&control->shut, true);
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        uvea_rt_stream_shut(rt, control->sides[i].stream);
        if (control->sides[i].received != NULL) {
            uvea_rt_channel_shut(rt, control->sides[i].received);
        }
    }
}

void uvea_control_close(struct uvea_control *control)
{
    if (control == NULL) {
        return;
    }
    uvea_control_shut(control);
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        side_deinit(&control->sides[i]);
    }
    uvea_buf_deinit(&control->outgoing);
    uvea_mem_free(control);
}

// ---- use

// Keeps the first error for good, and ends both connections so that the peers learn of it.
static enum uvea_error fail(struct uvea_control *control, enum uvea_peer peer,
                            enum uvea_error error, const char *cause,
                            struct uvea_error_context *context)
{
    control->failed = uvea_error_set(&control->why, error, "%s, control channel: %.300s",
                                     uvea_mesh_peer_name(control->mesh, peer), cause);
    uvea_control_shut(control);
    return uvea_error_set(context, error, "%s", control->why.text);
}

static enum uvea_error fail_doing(struct uvea_control *control, enum uvea_peer peer,
                                  enum uvea_error error, const char *doing,
                                  struct uvea_error_context *context)
{
    char cause[64];
    (void)snprintf(cause, sizeof(cause), "%s: %s", doing, uvea_error_text(error));
    return fail(control, peer, error, cause, context);
}

static enum uvea_error check_alive(const struct uvea_control *control,
                                   struct uvea_error_context *context)
{
    return control->failed == UVEA_OK
               ? UVEA_OK
               : uvea_error_set(context, control->failed, "%s", control->why.text);
}

enum uvea_error uvea_control_send(struct uvea_control *control, enum uvea_peer peer,
                                  const uint8_t *value, size_t value_bytes, uint64_t deadline_ns,
                                  struct uvea_error_context *context)
{
    UVEA_TRY(check_alive(control, context));
    UVEA_CHECK(value_bytes > 0);
    if (value_bytes > UVEA_CONTROL_BYTES_MAX) {
        return uvea_error_set(context, UVEA_ERR_LIMIT,
                              "control channel: a value of %zu bytes is longer than %d",
                              value_bytes, UVEA_CONTROL_BYTES_MAX);
    }
    size_t mark;
    uvea_buf_clear(&control->outgoing);
    enum uvea_error error = uvea_control_frame_begin(&control->outgoing, &mark);
    if (error == UVEA_OK) {
        error = uvea_buf_append(&control->outgoing, value, value_bytes);
    }
    if (error == UVEA_OK) {
        error = uvea_control_frame_end(&control->outgoing, mark);
    }
    if (error == UVEA_OK) {
        error = uvea_rt_write(control->mesh->rt, control->sides[peer].stream,
                              control->outgoing.data, control->outgoing.len, deadline_ns);
    }
    return error == UVEA_OK ? UVEA_OK : fail_doing(control, peer, error, "sending", context);
}

// Why nothing came. The reader's reason is written before it shuts the channel; when the channel
// was shut by somebody else, the reader may still be at work, and CLOSED is all there is to say.
static enum uvea_error recv_failed(struct uvea_control *control, enum uvea_peer peer,
                                   enum uvea_error error, struct uvea_error_context *context)
{
    struct control_side *side = &control->sides[peer];
    if (error == UVEA_ERR_CLOSED && !atomic_load(&control->shut)) {
        return fail(control, peer, side->error, side->cause.text, context);
    }
    return fail_doing(control, peer, error, "receiving", context);
}

enum uvea_error uvea_control_recv(struct uvea_control *control, enum uvea_peer peer,
                                  struct uvea_value *value, uint64_t deadline_ns,
                                  struct uvea_error_context *context)
{
    UVEA_TRY(check_alive(control, context));
    struct control_side *side = &control->sides[peer];
    void *item;
    enum uvea_error error =
        uvea_rt_channel_recv(control->mesh->rt, side->received, &item, deadline_ns);
    if (error != UVEA_OK) {
        return recv_failed(control, peer, error, context);
    }
    uvea_parcel_give(side->current);
    side->current = item;
    struct uvea_error_context cause = {{0}};
    error = uvea_value_decode(side->current->bytes.data, side->current->bytes.len, value, &cause);
    return error == UVEA_OK ? UVEA_OK : fail(control, peer, error, cause.text, context);
}

static const uint8_t barrier_text[] = {'o', 'k'};

static enum uvea_error send_barrier(struct uvea_control *control, enum uvea_peer peer,
                                    uint64_t deadline_ns, struct uvea_error_context *context)
{
    struct uvea_buf value = {0};
    enum uvea_error error = uvea_value_append_bytes(&value, barrier_text, sizeof(barrier_text));
    if (error == UVEA_OK) {
        error = uvea_control_send(control, peer, value.data, value.len, deadline_ns, context);
    } else {
        error = fail_doing(control, peer, error, "sending", context);
    }
    uvea_buf_deinit(&value);
    return error;
}

static enum uvea_error recv_barrier(struct uvea_control *control, enum uvea_peer peer,
                                    uint64_t deadline_ns, struct uvea_error_context *context)
{
    struct uvea_value value = {0};
    UVEA_TRY(uvea_control_recv(control, peer, &value, deadline_ns, context));
    if (value.kind != UVEA_VALUE_BYTES || value.body_bytes != sizeof(barrier_text) ||
        memcmp(value.body, barrier_text, sizeof(barrier_text)) != 0) {
        return fail(control, peer, UVEA_ERR_PEER, "something else than a barrier arrived", context);
    }
    return UVEA_OK;
}

enum uvea_error uvea_control_barrier(struct uvea_control *control, uint64_t deadline_ns,
                                     struct uvea_error_context *context)
{
    UVEA_TRY(check_alive(control, context));
    UVEA_TRY(send_barrier(control, UVEA_PEER_NEXT, deadline_ns, context));
    UVEA_TRY(send_barrier(control, UVEA_PEER_PREV, deadline_ns, context));
    UVEA_TRY(recv_barrier(control, UVEA_PEER_NEXT, deadline_ns, context));
    return recv_barrier(control, UVEA_PEER_PREV, deadline_ns, context);
}
