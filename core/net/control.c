#include "core/net/control.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/net/mesh_impl.h"

#include <string.h>

struct control_side {
    struct uvea_stream *stream;
    struct uvea_frame_reader frames;
    struct uvea_buf received; // what the last value points into
};

struct uvea_control {
    struct uvea_mesh *mesh;
    struct control_side sides[UVEA_PEER_COUNT];
    struct uvea_buf outgoing;
    enum uvea_error failed; // the first error, which is final
    struct uvea_error_context why;
};

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
        opened->sides[i].stream = streams[i];
        uvea_frame_reader_init(&opened->sides[i].frames, UVEA_FRAME_CONTROL,
                               UVEA_CONTROL_BYTES_MAX);
    }
    *control = opened;
    return UVEA_OK;
}

void uvea_control_close(struct uvea_control *control)
{
    if (control == NULL) {
        return;
    }
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        uvea_rt_stream_close(control->mesh->rt, control->sides[i].stream);
        uvea_frame_reader_deinit(&control->sides[i].frames);
        uvea_buf_deinit(&control->sides[i].received);
    }
    uvea_buf_deinit(&control->outgoing);
    uvea_mem_free(control);
}

void uvea_control_shut(struct uvea_control *control)
{
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        uvea_rt_stream_shut(control->mesh->rt, control->sides[i].stream);
    }
}

// Keeps the first error for good, and ends both connections so that the peers learn of it.
static enum uvea_error fail(struct uvea_control *control, enum uvea_peer peer,
                            enum uvea_error error, const char *doing,
                            struct uvea_error_context *context)
{
    control->failed =
        uvea_error_set(&control->why, error, "%s, control channel: %.400s: %s",
                       uvea_mesh_peer_name(control->mesh, peer), doing, uvea_error_text(error));
    uvea_control_shut(control);
    return uvea_error_set(context, error, "%s", control->why.text);
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
    return error == UVEA_OK ? UVEA_OK : fail(control, peer, error, "sending", context);
}

// Exact reads: nothing past this frame is taken from the stream.
static enum uvea_error read_frame(struct uvea_control *control, struct control_side *side,
                                  uint64_t deadline_ns, struct uvea_error_context *cause)
{
    bool complete = false;
    while (!complete) {
        uint8_t *into;
        size_t want = uvea_frame_reader_want(&side->frames, &into);
        enum uvea_error error =
            uvea_rt_read_exact(control->mesh->rt, side->stream, into, want, deadline_ns);
        if (error != UVEA_OK) {
            return uvea_error_set(cause, error, "receiving");
        }
        UVEA_TRY(uvea_frame_reader_got(&side->frames, want, &complete, cause));
    }
    uvea_frame_reader_take(&side->frames, &side->received);
    return UVEA_OK;
}

enum uvea_error uvea_control_recv(struct uvea_control *control, enum uvea_peer peer,
                                  struct uvea_value *value, uint64_t deadline_ns,
                                  struct uvea_error_context *context)
{
    UVEA_TRY(check_alive(control, context));
    struct control_side *side = &control->sides[peer];
    struct uvea_error_context cause = {"receiving"};
    enum uvea_error error = read_frame(control, side, deadline_ns, &cause);
    if (error == UVEA_OK) {
        error = uvea_value_decode(side->received.data, side->received.len, value, &cause);
    }
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
        error = fail(control, peer, error, "barrier", context);
    }
    uvea_buf_deinit(&value);
    return error;
}

static enum uvea_error recv_barrier(struct uvea_control *control, enum uvea_peer peer,
                                    uint64_t deadline_ns, struct uvea_error_context *context)
{
    struct uvea_value value;
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
