// Calls, over connections that are kept.
#include "sim/runtime/http_state.h"
#include "sim/runtime/state.h"

#include <string.h>

// ---- connections that are kept

static struct uvea_stream *idle_remove(struct uvea_sim_http *http, unsigned index)
{
    struct uvea_stream *stream = http->idle[index];
    http->idle_count--;
    memmove(http->idle + index, http->idle + index + 1,
            (http->idle_count - index) * sizeof(struct uvea_stream *));
    stream->kept = false;
    return stream;
}

// The peer has ended it, or has said something unasked.
static bool is_stale(const struct uvea_stream *stream)
{
    const struct uvea_sim_pipe *in = &stream->connection->pipes[1 - stream->end];
    return stream->connection->broken || in->ended || in->read_at < in->arrived_at;
}

// The one last used for this address, or NULL. Those that have gone stale are closed.
static struct uvea_stream *idle_take(struct uvea_sim_node *node, const char *address)
{
    struct uvea_sim_http *http = &node->http;
    for (unsigned i = http->idle_count; i-- > 0;) {
        if (strcmp(http->idle[i]->connection->address, address) != 0) {
            continue;
        }
        struct uvea_stream *stream = idle_remove(http, i);
        if (!is_stale(stream)) {
            return stream;
        }
        uvea_rt_stream_close(&node->rt, stream);
    }
    return NULL;
}

static void idle_give(struct uvea_sim_node *node, struct uvea_stream *stream)
{
    struct uvea_sim_http *http = &node->http;
    if (http->idle_count == UVEA_SIM_HTTP_IDLE_MAX) {
        uvea_rt_stream_close(&node->rt, idle_remove(http, 0));
    }
    stream->kept = true;
    http->idle[http->idle_count++] = stream;
}

// ---- calls

enum uvea_error uvea_sim_op_http_call(struct uvea_rt *rt, const char *address,
                                      const struct uvea_http_request *request,
                                      struct uvea_http_response *response, uint64_t deadline_ns)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_http_response answer = {0};
    enum uvea_error error;
    UVEA_TRY(uvea_sim_http_check(request));
    if (uvea_sim_refuses(node)) {
        return UVEA_ERR_CLOSED;
    }
    if (deadline_ns <= uvea_sim_clock_ns(node)) {
        uvea_sim_yield(node->sim);
        return UVEA_ERR_TIMEOUT;
    }
    struct uvea_stream *stream = idle_take(node, address);
    if (stream == NULL) {
        UVEA_TRY(uvea_rt_dial(rt, address, &stream, deadline_ns));
    }
    UVEA_TRY_CLEANUP(uvea_sim_http_send_request(rt, stream, request, deadline_ns));
    UVEA_TRY_CLEANUP(uvea_sim_http_recv_answer(rt, stream, &answer, deadline_ns));
    idle_give(node, stream);
    *response = answer;
    return UVEA_OK;
cleanup:
    uvea_rt_stream_close(rt, stream);
    uvea_http_response_deinit(&answer);
    return error;
}
