// Servers: one task accepts, one task per connection reads requests and asks the handler.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/http_state.h"
#include "sim/runtime/state.h"

#include <stdio.h>

#define IDLE_NS (30 * UVEA_SECOND)    // a connection without a request is closed then
#define REQUEST_NS (60 * UVEA_SECOND) // from a request's head to its last byte
#define ANSWER_NS (60 * UVEA_SECOND)  // for sending an answer
#define SLOW_NS_MIN (UVEA_SECOND / 10)
#define SLOW_NS_MAX (30 * UVEA_SECOND)
enum { SLOW_PARTS = 8 };

struct served {
    struct uvea_http_server *server;
    struct uvea_stream *stream;
    bool busy; // a request is in work
    struct served *next;
    struct served *prev;
};

struct uvea_http_server {
    struct uvea_sim_node *node;
    uvea_http_handler_fn *handler;
    void *arg;
    struct uvea_listener *listener;
    struct uvea_task *acceptor;
    bool shut;
    struct served *connections;
    unsigned connection_count;
    struct uvea_sim_wait_list closer;
    struct uvea_http_server *next;
    struct uvea_http_server *prev;
};

const char *uvea_sim_http_server_address(const struct uvea_http_server *server)
{
    return server->listener->address;
}

// ---- one answer

static unsigned peer_of(const struct served *served)
{
    return served->stream->connection->ends[1 - served->stream->end].node->index;
}

static enum uvea_error send_slowly(struct uvea_rt *rt, struct uvea_stream *stream,
                                   const struct uvea_buf *body, uint64_t slow_ns)
{
    for (size_t i = 0; i < SLOW_PARTS; i++) {
        size_t from = body->len * i / SLOW_PARTS;
        size_t to = body->len * (i + 1) / SLOW_PARTS;
        UVEA_TRY(uvea_rt_sleep_ns(rt, slow_ns / SLOW_PARTS));
        if (to > from) {
            UVEA_TRY(uvea_rt_write(rt, stream, body->data + from, to - from,
                                   uvea_rt_deadline_ns(rt, ANSWER_NS)));
        }
    }
    return UVEA_OK;
}

// slow_ns: how long the body takes; 0 for all at once.
static enum uvea_error send_answer(struct served *served, const struct uvea_http_response *answer,
                                   uint64_t slow_ns)
{
    struct uvea_rt *rt = &served->server->node->rt;
    const struct uvea_buf *body = &answer->body;
    uint64_t deadline_ns = uvea_rt_deadline_ns(rt, ANSWER_NS);
    UVEA_TRY(uvea_sim_http_send_head(rt, served->stream, answer->status, body->len, deadline_ns));
    if (slow_ns != 0) {
        return send_slowly(rt, served->stream, body, slow_ns);
    }
    return body->len == 0 ? UVEA_OK
                          : uvea_rt_write(rt, served->stream, body->data, body->len, deadline_ns);
}

// For people: "GET /ready". amount is the status.
static void record_answer(struct served *served, const struct uvea_sim_http_received *request,
                          unsigned status)
{
    char text[UVEA_SIM_TRACE_TEXT_BYTES];
    served->server->node->sim->http_conflicts += status == 409;
    (void)snprintf(text, sizeof(text), "%s %.70s", request->method, request->target);
    uvea_sim_record_words(served->server->node, UVEA_SIM_EVENT_HTTP, peer_of(served), status, NULL,
                          text);
}

static bool send_status(struct served *served, const struct uvea_sim_http_received *request,
                        unsigned status)
{
    struct uvea_http_response answer = {.status = status};
    record_answer(served, request, status);
    return send_answer(served, &answer, 0) == UVEA_OK;
}

static void ask(struct uvea_http_server *server, const struct uvea_sim_http_received *received,
                struct uvea_http_response *answer)
{
    struct uvea_http_request request = {
        .method = received->method,
        .target = received->target,
        .body = received->body.data,
        .body_bytes = received->body.len,
    };
    server->handler(server->arg, &request, answer);
    UVEA_CHECK(answer->status >= 100 && answer->status <= 599 &&
               answer->body.len <= UVEA_HTTP_BODY_BYTES_MAX);
}

// What becomes of a connection after a request.
enum after {
    KEEP,
    CLOSE,
    BREAK,
};

// The handler has answered; what the plan makes of it goes out.
static enum after send_planned(struct served *served, const struct uvea_sim_http_received *request,
                               const struct uvea_sim_http_plan *plan,
                               struct uvea_http_response *answer)
{
    struct uvea_sim_node *node = served->server->node;
    enum uvea_sim_http_fault fault = uvea_sim_http_distort(node, plan, request->target, answer);
    uint64_t slow_ns = 0;
    if (fault != UVEA_SIM_HTTP_HONEST) {
        uvea_sim_http_happens(node, peer_of(served), fault, answer->status, request->target);
    }
    if (fault == UVEA_SIM_HTTP_LOST_ANSWER) {
        return BREAK;
    }
    if (fault == UVEA_SIM_HTTP_SLOW) {
        slow_ns = SLOW_NS_MIN + plan->random % (SLOW_NS_MAX - SLOW_NS_MIN + 1);
    }
    record_answer(served, request, answer->status);
    return send_answer(served, answer, slow_ns) == UVEA_OK ? KEEP : CLOSE;
}

static enum after answer_asked(struct served *served, const struct uvea_sim_http_received *request,
                               const struct uvea_sim_http_plan *plan)
{
    struct uvea_http_response answer = {0};
    ask(served->server, request, &answer);
    if (plan->fault == UVEA_SIM_HTTP_DUPLICATE) {
        uvea_http_response_deinit(&answer);
        ask(served->server, request, &answer);
    }
    enum after after =
        served->server->node->dying ? CLOSE : send_planned(served, request, plan, &answer);
    uvea_http_response_deinit(&answer);
    return after;
}

// Takes the request and keeps silent until the caller gives up or the server closes.
static void keep_silent(struct served *served)
{
    uint8_t byte;
    size_t got = 1;
    served->busy = false;
    while (!served->server->shut && got > 0 &&
           uvea_rt_read(&served->server->node->rt, served->stream, &byte, 1, &got, UVEA_NEVER) ==
               UVEA_OK) {
    }
}

static enum after answer(struct served *served, const struct uvea_sim_http_received *request)
{
    static const unsigned statuses[] = {500, 502, 503, 429};
    struct uvea_sim_node *node = served->server->node;
    struct uvea_sim_http_plan plan = uvea_sim_http_draw(node, request->target);
    unsigned status = plan.fault == UVEA_SIM_HTTP_STATUS_409 ? 409 : statuses[plan.random % 4];
    switch (plan.fault) {
    case UVEA_SIM_HTTP_STATUS_409:
    case UVEA_SIM_HTTP_STATUS_5XX:
        uvea_sim_http_happens(node, peer_of(served), plan.fault, status, request->target);
        return send_status(served, request, status) ? KEEP : CLOSE;
    case UVEA_SIM_HTTP_NO_ANSWER:
        uvea_sim_http_happens(node, peer_of(served), plan.fault, 0, request->target);
        keep_silent(served);
        return CLOSE;
    case UVEA_SIM_HTTP_RESET:
        uvea_sim_http_happens(node, peer_of(served), plan.fault, 0, request->target);
        return BREAK;
    default:
        return answer_asked(served, request, &plan);
    }
}

// ---- one connection

static enum after serve_one(struct served *served)
{
    struct uvea_rt *rt = &served->server->node->rt;
    struct uvea_sim_http_received *request = uvea_mem_alloc(1, sizeof(*request));
    enum after after = CLOSE;
    if (request == NULL) {
        return CLOSE;
    }
    enum uvea_error error =
        uvea_sim_http_recv_request(rt, served->stream, request, IDLE_NS, REQUEST_NS);
    if (error == UVEA_OK) {
        served->busy = true;
        after = answer(served, request);
        served->busy = false;
    } else if (error == UVEA_ERR_LIMIT) {
        (void)send_status(served, request, 413);
    }
    uvea_buf_deinit(&request->body);
    uvea_mem_free(request);
    return served->server->shut && after == KEEP ? CLOSE : after;
}

static void served_remove(struct served *served)
{
    struct uvea_http_server *server = served->server;
    UVEA_SIM_LIST_REMOVE(server->connections, served);
    server->connection_count--;
    uvea_mem_free(served);
    if (server->connections == NULL) {
        uvea_sim_wake_all(&server->closer, UVEA_OK);
    }
}

static void serve_connection(void *arg)
{
    struct served *served = arg;
    enum after after = KEEP;
    while (after == KEEP) {
        after = serve_one(served);
    }
    if (after == BREAK) {
        uvea_sim_stream_abort(served->stream);
    } else {
        uvea_rt_stream_close(&served->server->node->rt, served->stream);
    }
    served_remove(served);
}

static void begin_connection(struct uvea_http_server *server, struct uvea_stream *stream)
{
    struct uvea_sim_node *node = server->node;
    struct served *served = server->connection_count < UVEA_SIM_HTTP_SERVED_MAX
                                ? uvea_mem_alloc(1, sizeof(*served))
                                : NULL;
    if (served == NULL) {
        uvea_rt_stream_close(&node->rt, stream);
        return;
    }
    served->server = server;
    served->stream = stream;
    UVEA_SIM_LIST_ADD(server->connections, served);
    server->connection_count++;
    if (uvea_sim_start(node->sim, node->index, "http connection", serve_connection, served) !=
        UVEA_OK) {
        uvea_rt_stream_close(&node->rt, stream);
        served_remove(served);
    }
}

static void accept_all(void *arg)
{
    struct uvea_http_server *server = arg;
    struct uvea_stream *stream;
    while (uvea_rt_accept(&server->node->rt, server->listener, &stream, UVEA_NEVER) == UVEA_OK) {
        begin_connection(server, stream);
    }
}

// ---- the server

enum uvea_error uvea_sim_op_http_serve(struct uvea_rt *rt, const char *address,
                                       uvea_http_handler_fn *handler, void *arg,
                                       struct uvea_http_server **server)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_http_server *made = uvea_mem_alloc(1, sizeof(*made));
    enum uvea_error error;
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->node = node;
    made->handler = handler;
    made->arg = arg;
    UVEA_TRY_CLEANUP(uvea_rt_listen(rt, address, &made->listener));
    UVEA_TRY_CLEANUP(uvea_rt_spawn(rt, "http accept", accept_all, made, &made->acceptor));
    UVEA_SIM_LIST_ADD(node->sim->http_servers, made);
    *server = made;
    return UVEA_OK;
cleanup:
    uvea_rt_listener_close(rt, made->listener);
    uvea_mem_free(made);
    return error;
}

void uvea_sim_op_http_close(struct uvea_rt *rt, struct uvea_http_server *server)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK(server->node == node && !server->shut);
    server->shut = true;
    uvea_rt_listener_shut(rt, server->listener);
    for (struct served *at = server->connections; at != NULL; at = at->next) {
        if (!at->busy) {
            uvea_rt_stream_shut(rt, at->stream);
        }
    }
    while (server->connections != NULL) {
        (void)!uvea_sim_wait(node, &server->closer, UVEA_SIM_WAIT_SERVER, server, UVEA_NEVER);
    }
    uvea_rt_join(rt, server->acceptor);
    uvea_rt_listener_close(rt, server->listener);
    UVEA_SIM_LIST_REMOVE(node->sim->http_servers, server);
    uvea_mem_free(server);
}

unsigned uvea_sim_http_servers_drop(struct uvea_sim *sim, const struct uvea_sim_node *node)
{
    unsigned dropped = 0;
    struct uvea_http_server *server = sim->http_servers;
    while (server != NULL) {
        struct uvea_http_server *next = server->next;
        if (node == NULL || server->node == node) {
            while (server->connections != NULL) {
                struct served *served = server->connections;
                UVEA_SIM_LIST_REMOVE(server->connections, served);
                uvea_mem_free(served);
            }
            UVEA_SIM_LIST_REMOVE(sim->http_servers, server);
            uvea_mem_free(server);
            dropped++;
        }
        server = next;
    }
    return dropped;
}
