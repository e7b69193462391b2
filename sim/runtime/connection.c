// Connections: dialing, accepting, ending.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

#include <stdio.h>
#include <string.h>

enum { EVENTS_PER_CONNECTION = 3 }; // the handshake and two pipes

// ---- listeners

static struct uvea_listener *listener_find(const struct uvea_sim *sim, const char *address)
{
    struct uvea_listener *listener = sim->listeners;
    while (listener != NULL && (listener->shut || strcmp(listener->address, address) != 0)) {
        listener = listener->next;
    }
    return listener;
}

// The node whose name is the host part of the address, or NULL.
static struct uvea_sim_node *node_by_host(struct uvea_sim *sim, const char *address)
{
    const char *colon = strrchr(address, ':');
    size_t host_bytes = colon != NULL ? (size_t)(colon - address) : strlen(address);
    for (unsigned i = 0; i < sim->config.node_count; i++) {
        const char *name = sim->nodes[i].name;
        if (strlen(name) == host_bytes && memcmp(name, address, host_bytes) == 0) {
            return &sim->nodes[i];
        }
    }
    return NULL;
}

enum uvea_error uvea_sim_op_listen(struct uvea_rt *rt, const char *address,
                                   struct uvea_listener **listener)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_sim *sim = node->sim;
    struct uvea_sim_node *host = node_by_host(sim, address);
    if (uvea_sim_refuses(node)) {
        return UVEA_ERR_CLOSED;
    }
    if (strlen(address) >= UVEA_SIM_ADDRESS_BYTES || (host != NULL && host != node)) {
        return UVEA_ERR_NOT_HERE;
    }
    if (listener_find(sim, address) != NULL) {
        return UVEA_ERR_IN_USE;
    }
    struct uvea_listener *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->node = node;
    (void)snprintf(made->address, sizeof(made->address), "%s", address);
    UVEA_SIM_LIST_ADD(sim->listeners, made);
    uvea_sim_record_words(node, UVEA_SIM_EVENT_LISTEN, UVEA_SIM_NO_PEER, 0, NULL, made->address);
    *listener = made;
    return UVEA_OK;
}

static void backlog_append(struct uvea_listener *listener, struct uvea_sim_connection *connection)
{
    connection->backlog_next = NULL;
    if (listener->backlog_last != NULL) {
        listener->backlog_last->backlog_next = connection;
    } else {
        listener->backlog_first = connection;
    }
    listener->backlog_last = connection;
    listener->backlog_count++;
}

static struct uvea_sim_connection *backlog_take(struct uvea_listener *listener)
{
    struct uvea_sim_connection *connection = listener->backlog_first;
    listener->backlog_first = connection->backlog_next;
    if (listener->backlog_first == NULL) {
        listener->backlog_last = NULL;
    }
    listener->backlog_count--;
    return connection;
}

// ---- life of a connection

static void connection_free(struct uvea_sim_connection *connection)
{
    struct uvea_sim *sim = connection->sim;
    UVEA_SIM_LIST_REMOVE(sim->connections, connection);
    uvea_sim_carrier_drop(sim, &connection->handshake);
    uvea_sim_pipe_deinit(sim, &connection->pipes[0]);
    uvea_sim_pipe_deinit(sim, &connection->pipes[1]);
    uvea_sim_queue_release(&sim->queue, EVENTS_PER_CONNECTION);
    uvea_mem_free(connection);
}

static void end_close(struct uvea_stream *stream)
{
    struct uvea_sim_connection *connection = stream->connection;
    stream->shut = true;
    stream->closed = true;
    if (connection->ends[0].closed && connection->ends[1].closed) {
        connection_free(connection);
    }
}

// Gives up one end that its owner never got or no longer wants; the other end learns of it by a
// reset that travels like its bytes.
static void end_abandon(struct uvea_stream *stream)
{
    uvea_sim_pipe_finish(&stream->connection->pipes[stream->end], UVEA_SIM_TAIL_RESET);
    end_close(stream);
}

static void backlog_abandon(struct uvea_listener *listener)
{
    while (listener->backlog_first != NULL) {
        end_abandon(&backlog_take(listener)->ends[1]);
    }
}

void uvea_sim_connection_break(struct uvea_sim_connection *connection)
{
    if (connection->broken) {
        return;
    }
    connection->broken = true;
    for (unsigned end = 0; end < 2; end++) {
        uvea_sim_record(connection->ends[end].node, UVEA_SIM_EVENT_RESET,
                        connection->ends[1 - end].node->index, connection->number, NULL);
        uvea_sim_pipe_break(&connection->pipes[end]);
    }
    uvea_sim_carrier_drop(connection->sim, &connection->handshake);
    uvea_sim_wake_all(&connection->dialer, UVEA_ERR_RESET);
}

static void answer(struct uvea_sim_connection *connection, enum uvea_sim_connection_state state)
{
    struct uvea_sim *sim = connection->sim;
    struct uvea_sim_link *link = connection->pipes[1].link;
    connection->state = state;
    uvea_sim_carry(sim, &connection->handshake, link, uvea_sim_link_arrival_ns(sim, link));
}

static void call_arrives(struct uvea_sim_connection *connection)
{
    struct uvea_sim *sim = connection->sim;
    struct uvea_listener *listener = listener_find(sim, connection->address);
    bool full = listener != NULL && listener->backlog_count == UVEA_SIM_BACKLOG_MAX;
    if (listener == NULL || full || listener->node != connection->ends[1].node) {
        connection->refusal = full ? UVEA_ERR_RESET : UVEA_ERR_NOT_FOUND;
        connection->ends[1].shut = true;
        connection->ends[1].closed = true;
        answer(connection, UVEA_SIM_CONNECTION_REFUSING);
        return;
    }
    backlog_append(listener, connection);
    uvea_sim_wake_first(&listener->acceptors, UVEA_OK);
    answer(connection, UVEA_SIM_CONNECTION_ANSWERING);
}

static void handshake_arrives(struct uvea_sim *sim, struct uvea_sim_event *event)
{
    struct uvea_sim_connection *connection = (struct uvea_sim_connection *)event;
    if (uvea_sim_carrier_held(sim, &connection->handshake)) {
        return;
    }
    if (connection->state == UVEA_SIM_CONNECTION_CALLING) {
        call_arrives(connection);
        return;
    }
    bool refused = connection->state == UVEA_SIM_CONNECTION_REFUSING;
    uvea_sim_record(connection->ends[0].node,
                    refused ? UVEA_SIM_EVENT_REFUSE : UVEA_SIM_EVENT_CONNECT,
                    connection->ends[1].node->index, connection->number, NULL);
    connection->state = UVEA_SIM_CONNECTION_UP;
    uvea_sim_wake_all(&connection->dialer, refused ? connection->refusal : UVEA_OK);
}

static enum uvea_error connection_make(struct uvea_sim_node *dialer, struct uvea_sim_node *acceptor,
                                       const char *address, struct uvea_sim_connection **made)
{
    struct uvea_sim *sim = dialer->sim;
    struct uvea_sim_connection *connection = uvea_mem_alloc(1, sizeof(*connection));
    if (connection == NULL) {
        return UVEA_ERR_MEMORY;
    }
    enum uvea_error error = uvea_sim_queue_reserve(&sim->queue, EVENTS_PER_CONNECTION);
    if (error != UVEA_OK) {
        uvea_mem_free(connection);
        return error;
    }
    unsigned low = dialer->index < acceptor->index ? dialer->index : acceptor->index;
    unsigned high = dialer->index < acceptor->index ? acceptor->index : dialer->index;
    connection->handshake.event.fire = handshake_arrives;
    connection->sim = sim;
    connection->number = sim->connection_count++;
    connection->ordinal = sim->ordinals[low][high]++;
    (void)snprintf(connection->address, sizeof(connection->address), "%s", address);
    for (unsigned end = 0; end < 2; end++) {
        struct uvea_sim_node *from = end == 0 ? dialer : acceptor;
        struct uvea_sim_node *to = end == 0 ? acceptor : dialer;
        connection->ends[end] =
            (struct uvea_stream){.connection = connection, .end = end, .node = from};
        uvea_sim_pipe_init(&connection->pipes[end], connection, end,
                           &sim->links[from->index][to->index]);
    }
    UVEA_SIM_LIST_ADD(sim->connections, connection);
    *made = connection;
    return UVEA_OK;
}

// ---- dial and accept

enum uvea_error uvea_sim_op_dial(struct uvea_rt *rt, const char *address,
                                 struct uvea_stream **stream, uint64_t deadline_ns)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_sim *sim = node->sim;
    if (uvea_sim_refuses(node)) {
        return UVEA_ERR_CLOSED;
    }
    struct uvea_listener *listener = listener_find(sim, address);
    struct uvea_sim_node *target = listener != NULL ? listener->node : node_by_host(sim, address);
    if (target == NULL || strlen(address) >= UVEA_SIM_ADDRESS_BYTES) {
        uvea_sim_yield(sim);
        return UVEA_ERR_NOT_FOUND;
    }
    struct uvea_sim_connection *connection;
    UVEA_TRY(connection_make(node, target, address, &connection));
    uvea_sim_record_words(node, UVEA_SIM_EVENT_DIAL, target->index, connection->number, NULL,
                          connection->address);
    struct uvea_sim_link *link = connection->pipes[0].link;
    uvea_sim_carry(sim, &connection->handshake, link, uvea_sim_link_arrival_ns(sim, link));
    enum uvea_error error =
        uvea_sim_wait(node, &connection->dialer, UVEA_SIM_WAIT_DIAL, connection, deadline_ns);
    if (error == UVEA_OK) {
        *stream = &connection->ends[0];
        return UVEA_OK;
    }
    if (connection->state == UVEA_SIM_CONNECTION_CALLING) {
        connection->ends[1].closed = true; // the call never arrives
    }
    uvea_sim_carrier_drop(sim, &connection->handshake);
    end_abandon(&connection->ends[0]);
    return error;
}

enum uvea_error uvea_sim_op_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                                   struct uvea_stream **stream, uint64_t deadline_ns)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    UVEA_CHECK(listener->node == node);
    while (!listener->shut && listener->backlog_first == NULL) {
        UVEA_TRY(
            uvea_sim_wait(node, &listener->acceptors, UVEA_SIM_WAIT_ACCEPT, listener, deadline_ns));
    }
    if (listener->shut) {
        (void)uvea_sim_refuses(node);
        return UVEA_ERR_CLOSED;
    }
    struct uvea_sim_connection *connection = backlog_take(listener);
    uvea_sim_record(node, UVEA_SIM_EVENT_ACCEPT, connection->ends[0].node->index,
                    connection->number, NULL);
    *stream = &connection->ends[1];
    return UVEA_OK;
}

void uvea_sim_op_listener_shut(struct uvea_rt *rt, struct uvea_listener *listener)
{
    UVEA_CHECK(listener->node == uvea_sim_node_of(rt));
    listener->shut = true;
    backlog_abandon(listener);
    uvea_sim_wake_all(&listener->acceptors, UVEA_OK);
}

void uvea_sim_op_listener_close(struct uvea_rt *rt, struct uvea_listener *listener)
{
    uvea_sim_op_listener_shut(rt, listener);
    UVEA_SIM_LIST_REMOVE(listener->node->sim->listeners, listener);
    uvea_mem_free(listener);
}

// ---- who is there

enum uvea_error uvea_sim_op_stream_prove(struct uvea_rt *rt, struct uvea_stream *stream,
                                         struct uvea_party party)
{
    UVEA_CHECK(stream->node == uvea_sim_node_of(rt));
    (void)party;
    return UVEA_OK;
}

void uvea_sim_op_stream_reason(struct uvea_rt *rt, struct uvea_stream *stream,
                               struct uvea_error_context *reason)
{
    UVEA_CHECK(stream->node == uvea_sim_node_of(rt));
    (void)reason;
}

// ---- ending

void uvea_sim_op_stream_shut(struct uvea_rt *rt, struct uvea_stream *stream)
{
    struct uvea_sim_connection *connection = stream->connection;
    struct uvea_sim_pipe *out = &connection->pipes[stream->end];
    struct uvea_sim_pipe *in = &connection->pipes[1 - stream->end];
    UVEA_CHECK(stream->node == uvea_sim_node_of(rt) && !stream->closed);
    if (stream->shut) {
        return;
    }
    stream->shut = true;
    uvea_sim_record(stream->node, UVEA_SIM_EVENT_SHUT, in->link->from, connection->number, NULL);
    uvea_sim_pipe_finish(out, UVEA_SIM_TAIL_END);
    in->read_at = in->arrived_at; // nobody reads it any more
    uvea_sim_wake_all(&in->writer, UVEA_OK);
    uvea_sim_wake_all(&in->reader, UVEA_OK);
    uvea_sim_wake_all(&out->writer, UVEA_OK);
}

void uvea_sim_op_stream_close(struct uvea_rt *rt, struct uvea_stream *stream)
{
    struct uvea_sim_connection *connection = stream->connection;
    uvea_sim_op_stream_shut(rt, stream);
    UVEA_CHECK(connection->pipes[1 - stream->end].reader.first == NULL &&
               connection->pipes[stream->end].writer.first == NULL);
    end_close(stream);
}

void uvea_sim_stream_abort(struct uvea_stream *stream)
{
    struct uvea_sim_pipe *in = &stream->connection->pipes[1 - stream->end];
    UVEA_CHECK(!stream->closed && in->reader.first == NULL);
    in->read_at = in->arrived_at;
    uvea_sim_wake_all(&in->writer, UVEA_OK);
    end_abandon(stream);
}

unsigned uvea_sim_open_streams(const struct uvea_sim *sim)
{
    unsigned count = 0;
    const struct uvea_sim_connection *connection = sim->connections;
    for (; connection != NULL; connection = connection->next) {
        for (unsigned end = 0; end < 2; end++) {
            count += !connection->ends[end].closed && !connection->ends[end].kept;
        }
    }
    return count;
}

// ---- the end of a node

// Whether this end is there and the node's. A dial that is still on its way has no other end yet.
static bool end_is_of(const struct uvea_sim_connection *connection, unsigned end,
                      const struct uvea_sim_node *node)
{
    return connection->ends[end].node == node && !connection->ends[end].closed &&
           (end == 0 || connection->state != UVEA_SIM_CONNECTION_CALLING);
}

// Nobody is left who reads or waits at this end; what was written is followed by the tail.
static void end_desert(struct uvea_stream *stream, enum uvea_sim_tail tail)
{
    struct uvea_sim_connection *connection = stream->connection;
    struct uvea_sim_pipe *in = &connection->pipes[1 - stream->end];
    if (stream->end == 0 && connection->state != UVEA_SIM_CONNECTION_UP) {
        connection->ends[1].closed |= connection->state == UVEA_SIM_CONNECTION_CALLING;
        uvea_sim_carrier_drop(connection->sim, &connection->handshake);
    }
    if (!stream->shut) {
        stream->shut = true;
        uvea_sim_pipe_finish(&connection->pipes[stream->end], tail);
        in->read_at = in->arrived_at;
        uvea_sim_wake_all(&in->writer, UVEA_OK);
    }
}

void uvea_sim_connections_sever(struct uvea_sim_node *node)
{
    struct uvea_sim *sim = node->sim;
    for (struct uvea_listener *at = sim->listeners; at != NULL; at = at->next) {
        if (at->node == node) {
            at->shut = true;
            backlog_abandon(at);
        }
    }
    struct uvea_sim_connection *connection = sim->connections;
    for (; connection != NULL; connection = connection->next) {
        for (unsigned end = 0; end < 2; end++) {
            if (end_is_of(connection, end, node)) {
                end_desert(&connection->ends[end], UVEA_SIM_TAIL_RESET);
            }
        }
    }
}

unsigned uvea_sim_streams_drop(struct uvea_sim_node *node)
{
    unsigned dropped = 0;
    struct uvea_sim_connection *connection = node->sim->connections;
    while (connection != NULL) {
        struct uvea_sim_connection *next = connection->next;
        for (unsigned end = 0; end < 2; end++) {
            if (end_is_of(connection, end, node)) {
                struct uvea_stream *stream = &connection->ends[end];
                end_desert(stream, UVEA_SIM_TAIL_END);
                dropped += !stream->kept;
                bool last = connection->ends[1 - end].closed;
                end_close(stream);
                if (last) {
                    break; // the connection is no more
                }
            }
        }
        connection = next;
    }
    return dropped;
}

unsigned uvea_sim_listeners_drop(struct uvea_sim *sim, const struct uvea_sim_node *node)
{
    unsigned dropped = 0;
    struct uvea_listener *listener = sim->listeners;
    while (listener != NULL) {
        struct uvea_listener *next = listener->next;
        if (node == NULL || listener->node == node) {
            backlog_abandon(listener);
            UVEA_SIM_LIST_REMOVE(sim->listeners, listener);
            uvea_mem_free(listener);
            dropped++;
        }
        listener = next;
    }
    return dropped;
}

void uvea_sim_connections_close(struct uvea_sim *sim)
{
    (void)uvea_sim_listeners_drop(sim, NULL);
    while (sim->connections != NULL) {
        connection_free(sim->connections);
    }
}
