// One connection of the HTTP server: its TLS handshake, then bytes either way.
#include "core/posix/http_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 16 << 10,
    SAID_BYTES = 384,
};

enum uvea_error uvea_posix_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    pthread_attr_t attributes;

    if (pthread_attr_init(&attributes) != 0) {
        return UVEA_ERR_MEMORY;
    }
    const bool started = pthread_attr_setstacksize(&attributes, UVEA_POSIX_STACK_BYTES) == 0 &&
                         pthread_create(thread, &attributes, run, arg) == 0;
    (void)pthread_attr_destroy(&attributes);
    return started ? UVEA_OK : UVEA_ERR_MEMORY;
}

// ---- what is said about it

void uvea_posix_connection_refuse(struct uvea_posix_connection *connection, const char *format, ...)
{
    struct uvea_http_server *server = connection->server;
    const struct uvea_posix_config *config = &server->posix->config;
    struct uvea_error_context why;
    char said[SAID_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(said, sizeof(said), format, args);
    va_end(args);
    (void)pthread_mutex_lock(&server->lock);
    const bool told = connection->told;
    connection->told = true;
    (void)pthread_mutex_unlock(&server->lock);
    if (told) {
        return;
    }
    (void)atomic_fetch_add(&server->posix->tally.http_refused, 1);
    if (config->refused != NULL) {
        (void)snprintf(why.text, sizeof(why.text), "%s: %s", connection->peer, said);
        config->refused(config->arg, &why);
    }
}

void uvea_posix_connection_refuse_late(struct uvea_posix_connection *connection, const char *what)
{
    const uint64_t idle_ns = connection->server->posix->config.http_idle_ns_max;

    uvea_posix_connection_refuse(connection, "%s within %llu ms", what,
                                 (unsigned long long)(idle_ns / UVEA_MS));
}

// With what TLS knows of it; otherwise with `else_text`, unless that is NULL.
static void refuse_for_tls(struct uvea_posix_connection *connection, const char *else_text)
{
    struct uvea_error_context reason = {{0}};

    uvea_tls_stream_reason(connection->stream, &reason);
    if (reason.text[0] != '\0') {
        uvea_posix_connection_refuse(connection, "%s", reason.text);
    } else if (else_text != NULL) {
        uvea_posix_connection_refuse(connection, "%s", else_text);
    }
}

// ---- ends that others make

void uvea_posix_connection_cut(struct uvea_posix_connection *connection)
{
    connection->ending = true;
    connection->ended_ns = 0;
    if (connection->pair_fd >= 0) {
        (void)shutdown(connection->pair_fd, SHUT_RDWR);
    }
    if (connection->socket != NULL) {
        uvea_posix_socket_shut(connection->socket, NULL, 0);
    }
}

void uvea_posix_connection_end(struct uvea_posix_connection *connection)
{
    if (connection->pair_fd < 0) {
        uvea_posix_connection_cut(connection); // nothing has been asked yet
        return;
    }
    connection->ending = true;
    connection->ended_ns = uvea_posix_now_ns();
    (void)shutdown(connection->pair_fd, SHUT_WR);
}

// ---- the stream, with TLS or without

static enum uvea_error read_some(struct uvea_posix_connection *connection, uint8_t *out,
                                 size_t *got)
{
    return connection->stream != NULL
               ? uvea_tls_stream_read(connection->stream, out, PIECE_BYTES, got, UVEA_NEVER)
               : uvea_posix_socket_read(connection->socket, out, PIECE_BYTES, got, UVEA_NEVER);
}

// A peer that does not read its answer is not waited for longer than one that does not ask.
static enum uvea_error write_all(struct uvea_posix_connection *connection, const uint8_t *bytes,
                                 size_t len)
{
    struct uvea_posix *posix = connection->server->posix;
    const uint64_t deadline_ns = uvea_rt_deadline_ns(&posix->rt, posix->config.http_idle_ns_max);

    return connection->stream != NULL
               ? uvea_tls_stream_write(connection->stream, bytes, len, deadline_ns)
               : uvea_posix_socket_write(connection->socket, bytes, len, deadline_ns);
}

// ---- bytes either way

static bool pair_send(int fd, const uint8_t *bytes, size_t len)
{
    while (len > 0) {
        const ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

static void note_begun(struct uvea_posix_connection *connection)
{
    (void)pthread_mutex_lock(&connection->server->lock);
    connection->since_ns = connection->begun ? connection->since_ns : uvea_posix_now_ns();
    connection->begun = true;
    (void)pthread_mutex_unlock(&connection->server->lock);
}

static void requests(struct uvea_posix_connection *connection)
{
    uint8_t piece[PIECE_BYTES];
    size_t got = 0;
    enum uvea_error error = read_some(connection, piece, &got);

    while (error == UVEA_OK && got > 0) {
        note_begun(connection);
        if (!pair_send(connection->pair_fd, piece, got)) {
            break;
        }
        error = read_some(connection, piece, &got);
    }
    if (connection->stream != NULL && error != UVEA_OK && error != UVEA_ERR_CLOSED) {
        refuse_for_tls(connection, NULL);
    }
    (void)shutdown(connection->pair_fd, SHUT_WR);
}

// libmicrohttpd has ended it. What it could not read it does not say to anyone.
static void note_end(struct uvea_posix_connection *connection)
{
    struct uvea_http_server *server = connection->server;

    (void)pthread_mutex_lock(&server->lock);
    const bool amid = connection->begun && !connection->in_work && !connection->answering &&
                      !connection->ending && !server->closing;
    (void)pthread_mutex_unlock(&server->lock);
    if (amid) {
        uvea_posix_connection_refuse(connection,
                                     "no whole HTTP request came, or its head is too long");
    }
}

static void *answers(void *arg)
{
    struct uvea_posix_connection *connection = arg;
    uint8_t piece[PIECE_BYTES];
    ssize_t got = recv(connection->pair_fd, piece, sizeof(piece), 0);
    enum uvea_error error = UVEA_OK;

    while (got > 0 && error == UVEA_OK) {
        error = write_all(connection, piece, (size_t)got);
        got = error == UVEA_OK ? recv(connection->pair_fd, piece, sizeof(piece), 0) : 0;
    }
    if (error == UVEA_ERR_TIMEOUT) {
        uvea_posix_connection_refuse_late(connection, "its answer was not taken");
    } else if (error == UVEA_OK) {
        note_end(connection);
    }
    (void)shutdown(connection->pair_fd, SHUT_RDWR);
    if (connection->stream != NULL) {
        uvea_tls_stream_shut(connection->stream);
    } else {
        uvea_posix_socket_shut(connection->socket, NULL, 0);
    }
    return NULL;
}

// ---- its life

static bool prove(struct uvea_posix_connection *connection)
{
    struct uvea_http_server *server = connection->server;
    struct uvea_posix *posix = server->posix;
    const struct uvea_posix_config *config = &posix->config;
    struct uvea_tls_transport transport;

    if (config->tls == NULL) {
        return true;
    }
    connection->generation = uvea_tls_generation(config->tls); // or one before
    transport = uvea_posix_socket_transport(connection->socket);
    (void)pthread_mutex_lock(&server->lock);
    enum uvea_error error =
        uvea_tls_stream_open(&posix->rt, config->tls, &transport, NULL, &connection->stream);
    if (error != UVEA_OK) {
        connection->socket = NULL;
    }
    (void)pthread_mutex_unlock(&server->lock);
    if (error != UVEA_OK) {
        uvea_posix_connection_refuse(connection, "%s", uvea_error_text(error));
        return false;
    }
    error = uvea_tls_stream_handshake(
        connection->stream, uvea_rt_deadline_ns(&posix->rt, config->http_handshake_ns_max));
    if (error == UVEA_ERR_TIMEOUT) {
        uvea_posix_connection_refuse(connection, "no TLS handshake within %llu ms",
                                     (unsigned long long)(config->http_handshake_ns_max / UVEA_MS));
    } else if (error != UVEA_OK) {
        refuse_for_tls(connection, uvea_error_text(error));
    }
    return error == UVEA_OK;
}

// A pair of sockets, one for us, one for libmicrohttpd. To that the connection's number is where it
// comes from: descriptors are used again, numbers are not.
static bool join_daemon(struct uvea_posix_connection *connection)
{
    struct uvea_http_server *server = connection->server;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const bool of_party =
        connection->stream != NULL && uvea_tls_stream_is_party(connection->stream);
    int pair[2];

    memcpy(address.sun_path, &connection->number, sizeof(connection->number));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return false;
    }
    (void)pthread_mutex_lock(&server->lock);
    connection->pair_fd = pair[0];
    connection->since_ns = uvea_posix_now_ns();
    connection->proved = connection->stream != NULL;
    connection->of_party = of_party;
    (void)pthread_mutex_unlock(&server->lock);
    return MHD_add_connection(server->daemon, pair[1], (const struct sockaddr *)&address,
                              sizeof(address)) == MHD_YES;
}

static void serve(struct uvea_posix_connection *connection)
{
    pthread_t thread;

    if (!join_daemon(connection) ||
        uvea_posix_thread_start(&thread, answers, connection) != UVEA_OK) {
        uvea_posix_connection_refuse(connection, "no memory, thread or descriptor to serve it");
        return;
    }
    requests(connection);
    (void)pthread_join(thread, NULL);
}

static void finish(struct uvea_posix_connection *connection)
{
    struct uvea_http_server *server = connection->server;

    (void)pthread_mutex_lock(&server->lock);
    struct uvea_posix_socket *socket = connection->socket;
    const int fd = connection->pair_fd;
    connection->socket = NULL;
    connection->pair_fd = -1;
    (void)pthread_mutex_unlock(&server->lock);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (connection->stream != NULL) {
        uvea_tls_stream_close(connection->stream); // and the socket
    } else {
        uvea_posix_socket_close(socket);
    }
    (void)pthread_mutex_lock(&server->lock);
    connection->finished = true;
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
}

static void *live(void *arg)
{
    struct uvea_posix_connection *connection = arg;

    if (prove(connection)) {
        serve(connection);
    }
    finish(connection);
    return NULL;
}

enum uvea_error uvea_posix_connection_start(struct uvea_posix_connection *connection)
{
    const enum uvea_error error = uvea_posix_thread_start(&connection->thread, live, connection);

    if (error != UVEA_OK) {
        uvea_posix_socket_close(connection->socket);
        connection->socket = NULL;
    }
    return error;
}
