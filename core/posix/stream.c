// Listeners and streams: sockets, under TLS where the runtime has keys.
#include "core/base/mem.h"
#include "core/posix/state.h"

#include <stdio.h>

struct uvea_listener {
    struct uvea_posix_listener *sockets;
};

struct uvea_stream {
    struct uvea_posix_socket *socket; // of tls when there is one
    struct uvea_tls_stream *tls;
    char peer[UVEA_POSIX_ADDRESS_BYTES];
};

// ---- listening

enum uvea_error uvea_posix_op_listen(struct uvea_rt *rt, const char *address,
                                     struct uvea_listener **listener)
{
    struct uvea_listener *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    enum uvea_error error = uvea_posix_listener_open(uvea_posix_of(rt), address, &made->sockets);
    if (error != UVEA_OK) {
        uvea_mem_free(made);
        return error;
    }
    *listener = made;
    return UVEA_OK;
}

uint16_t uvea_posix_port(const struct uvea_listener *listener)
{
    return uvea_posix_listener_port(listener->sockets);
}

void uvea_posix_op_listener_shut(struct uvea_rt *rt, struct uvea_listener *listener)
{
    (void)rt;
    uvea_posix_listener_shut(listener->sockets);
}

void uvea_posix_op_listener_close(struct uvea_rt *rt, struct uvea_listener *listener)
{
    (void)rt;
    uvea_posix_listener_close(listener->sockets);
    uvea_mem_free(listener);
}

// ---- connecting

// Puts TLS over the socket, which is taken over, on failure too. host: NULL on the listening side.
static enum uvea_error wrap(struct uvea_posix *posix, struct uvea_posix_socket *socket,
                            const char *host, struct uvea_stream *stream)
{
    stream->socket = socket;
    if (posix->config.tls == NULL) {
        return UVEA_OK;
    }
    struct uvea_tls_transport transport = uvea_posix_socket_transport(socket);
    return uvea_tls_stream_open(&posix->rt, posix->config.tls, &transport, host, &stream->tls);
}

enum uvea_error uvea_posix_op_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                                     struct uvea_stream **stream, uint64_t deadline_ns)
{
    struct uvea_stream *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    struct uvea_posix_socket *socket;
    enum uvea_error error =
        uvea_posix_listener_accept(listener->sockets, &socket, made->peer, deadline_ns);
    if (error == UVEA_OK) {
        error = wrap(uvea_posix_of(rt), socket, NULL, made);
    }
    if (error != UVEA_OK) {
        uvea_mem_free(made);
        return error;
    }
    *stream = made;
    return UVEA_OK;
}

enum uvea_error uvea_posix_op_dial(struct uvea_rt *rt, const char *address,
                                   struct uvea_stream **stream, uint64_t deadline_ns)
{
    struct uvea_posix_address parsed;
    UVEA_TRY(uvea_posix_address_parse(address, &parsed));
    struct uvea_stream *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    struct uvea_posix_socket *socket;
    enum uvea_error error =
        uvea_posix_socket_dial(uvea_posix_of(rt), &parsed, &socket, made->peer, deadline_ns);
    if (error == UVEA_OK) {
        error = wrap(uvea_posix_of(rt), socket, parsed.host, made);
    }
    if (error != UVEA_OK) {
        uvea_mem_free(made);
        return error;
    }
    *stream = made;
    return UVEA_OK;
}

// ---- bytes

enum uvea_error uvea_posix_op_stream_read(struct uvea_rt *rt, struct uvea_stream *stream,
                                          uint8_t *out, size_t capacity, size_t *got,
                                          uint64_t deadline_ns)
{
    UVEA_TRY(stream->tls != NULL
                 ? uvea_tls_stream_read(stream->tls, out, capacity, got, deadline_ns)
                 : uvea_posix_socket_read(stream->socket, out, capacity, got, deadline_ns));
    (void)atomic_fetch_add_explicit(&uvea_posix_of(rt)->tally.stream_bytes_received, *got,
                                    memory_order_relaxed);
    return UVEA_OK;
}

enum uvea_error uvea_posix_op_stream_write(struct uvea_rt *rt, struct uvea_stream *stream,
                                           const uint8_t *bytes, size_t len, uint64_t deadline_ns)
{
    UVEA_TRY(stream->tls != NULL
                 ? uvea_tls_stream_write(stream->tls, bytes, len, deadline_ns)
                 : uvea_posix_socket_write(stream->socket, bytes, len, deadline_ns));
    (void)atomic_fetch_add_explicit(&uvea_posix_of(rt)->tally.stream_bytes_sent, len,
                                    memory_order_relaxed);
    return UVEA_OK;
}

// ---- who it is, and the end

enum uvea_error uvea_posix_op_stream_prove(struct uvea_rt *rt, struct uvea_stream *stream,
                                           struct uvea_party party)
{
    (void)rt;
    return stream->tls != NULL ? uvea_tls_stream_prove(stream->tls, party) : UVEA_OK;
}

void uvea_posix_op_stream_reason(struct uvea_rt *rt, struct uvea_stream *stream,
                                 struct uvea_error_context *reason)
{
    (void)rt;
    struct uvea_error_context why = {{0}};
    if (stream->tls != NULL) {
        uvea_tls_stream_reason(stream->tls, &why);
    }
    (void)snprintf(reason->text, sizeof(reason->text), "%s%s%.400s", stream->peer,
                   why.text[0] != '\0' ? ": " : "", why.text);
}

void uvea_posix_op_stream_shut(struct uvea_rt *rt, struct uvea_stream *stream)
{
    (void)rt;
    if (stream->tls != NULL) {
        uvea_tls_stream_shut(stream->tls);
    } else {
        uvea_posix_socket_shut(stream->socket, NULL, 0);
    }
}

void uvea_posix_op_stream_close(struct uvea_rt *rt, struct uvea_stream *stream)
{
    (void)rt;
    if (stream->tls != NULL) {
        uvea_tls_stream_close(stream->tls);
    } else {
        uvea_posix_socket_close(stream->socket);
    }
    uvea_mem_free(stream);
}
