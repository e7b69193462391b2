// Requests of the HTTP server, as libmicrohttpd hands them out: in pieces, each connection on a
// thread of its own. What is not served is answered with a status and ends the connection.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/posix/http_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
    STATUS_BAD_REQUEST = 400,
    STATUS_BAD_METHOD = 405,
    STATUS_NO_LENGTH = 411,
    STATUS_TOO_LARGE = 413,
    STATUS_LONG_TARGET = 414,
    STATUS_BROKEN = 500,
    STATUS_BUSY = 503,
    STATUS_FIRST_FINAL = 200,
    STATUS_MAX = 599,
    RESERVE_BYTES_MAX = 64 << 10, // memory grows with what has come, not with what was announced
};

// From a request's first line to the end of its answer.
struct exchange {
    struct uvea_posix_connection *connection;
    bool seen;        // its headers
    size_t announced; // bytes of body
    size_t counted;   // of them, in the server's body_bytes
    struct uvea_buf body;
    size_t target_bytes;
    char target[UVEA_POSIX_HTTP_TARGET_BYTES_MAX + 1];
};

// ---- which connection it is

static struct uvea_posix_connection *find(struct uvea_http_server *server, uint64_t number)
{
    struct uvea_posix_connection *c = server->oldest;

    while (c != NULL && c->number != number) {
        c = c->next;
    }
    return c != NULL && !c->finished ? c : NULL;
}

// The number that it was given to libmicrohttpd with; 0 for none.
static uint64_t number_of(struct MHD_Connection *asked)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(asked, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct sockaddr_un address;
    uint64_t number;

    if (info == NULL || info->client_addr == NULL) {
        return 0;
    }
    memcpy(&address, info->client_addr, sizeof(address));
    memcpy(&number, address.sun_path, sizeof(number));
    return number;
}

// libmicrohttpd's callback on a first line. What it returns comes back as the request's context.
static void *begin(void *arg, const char *target, struct MHD_Connection *asked)
{
    struct uvea_http_server *server = arg;
    struct exchange *exchange = uvea_mem_alloc(1, sizeof(*exchange));

    if (exchange == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(&server->lock);
    exchange->connection = find(server, number_of(asked));
    if (exchange->connection != NULL) {
        exchange->connection->exchanges++;
    }
    (void)pthread_mutex_unlock(&server->lock);
    if (exchange->connection == NULL) {
        uvea_mem_free(exchange);
        return NULL;
    }
    exchange->target_bytes = strlen(target);
    (void)snprintf(exchange->target, sizeof(exchange->target), "%s", target);
    return exchange;
}

// ---- answers

static enum MHD_Result answer(struct MHD_Connection *asked, struct uvea_http_response *response,
                              const char *closing)
{
    const char *type =
        response->body.len > 0 && (response->body.data[0] == '{' || response->body.data[0] == '[')
            ? "application/json"
            : "text/plain; charset=utf-8";
    struct MHD_Response *made;

    if (response->body.len == 0) {
        uvea_buf_deinit(&response->body);
    }
    made = response->body.data == NULL
               ? MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT)
               : MHD_create_response_from_buffer_with_free_callback(
                     response->body.len, response->body.data, uvea_mem_free);

    if (made == NULL) {
        uvea_http_response_deinit(response);
        return MHD_NO;
    }
    enum MHD_Result result = MHD_add_response_header(made, "Content-Type", type);
    if (result == MHD_YES && closing != NULL) {
        result = MHD_add_response_header(made, "Connection", closing);
    }
    if (result == MHD_YES) {
        result = MHD_queue_response(asked, response->status, made);
    }
    MHD_destroy_response(made);
    return result;
}

static enum MHD_Result turn_away(struct exchange *exchange, struct MHD_Connection *asked,
                                 unsigned status, const char *why)
{
    struct uvea_http_response response = {.status = status};

    uvea_posix_connection_refuse(exchange->connection, "%u: %s", status, why);
    if (uvea_buf_append(&response.body, why, strlen(why)) != UVEA_OK) {
        return MHD_NO;
    }
    return answer(asked, &response, "close");
}

// ---- what a request says about itself

struct said {
    unsigned hosts; // fields of that name
    unsigned count; // of Content-Length
    bool coded;     // Transfer-Encoding
    bool good;
    size_t bytes;
};

static enum MHD_Result read_field(void *arg, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct said *said = arg;

    (void)kind;
    if (strcasecmp(name, "Host") == 0) {
        said->hosts++;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        said->coded = true;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        char *end = NULL;
        errno = 0;
        said->count++;
        said->bytes = value != NULL ? strtoull(value, &end, 10) : 0;
        said->good = end != NULL && end != value && *end == '\0' && errno == 0;
    }
    return MHD_YES;
}

static bool is_served(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0;
}

// Takes the announced bytes from what the server allows at once.
static bool reserve(struct exchange *exchange, size_t bytes)
{
    struct uvea_http_server *server = exchange->connection->server;
    const size_t counted = bytes > UVEA_POSIX_HTTP_SMALL_BYTES_MAX ? bytes : 0;

    (void)pthread_mutex_lock(&server->lock);
    const bool fits = counted <= UVEA_POSIX_HTTP_BODIES_BYTES_MAX - server->body_bytes;
    if (fits) {
        server->body_bytes += counted;
        exchange->counted = counted;
        exchange->announced = bytes;
    }
    (void)pthread_mutex_unlock(&server->lock);
    return fits;
}

static enum MHD_Result take_head(struct exchange *exchange, struct MHD_Connection *asked,
                                 const char *method)
{
    struct said said = {.good = true};

    (void)MHD_get_connection_values(asked, MHD_HEADER_KIND, read_field, &said);
    if (!is_served(method)) {
        return turn_away(exchange, asked, STATUS_BAD_METHOD, "only GET, POST and PUT are served");
    }
    if (exchange->target_bytes > UVEA_POSIX_HTTP_TARGET_BYTES_MAX) {
        return turn_away(exchange, asked, STATUS_LONG_TARGET, "the target is too long");
    }
    if (said.hosts > 1) {
        return turn_away(exchange, asked, STATUS_BAD_REQUEST, "want one Host");
    }
    if (said.coded) {
        return turn_away(exchange, asked, STATUS_NO_LENGTH, "a body needs a Content-Length");
    }
    if (said.count > 1 || !said.good) {
        return turn_away(exchange, asked, STATUS_BAD_REQUEST, "want one Content-Length, a number");
    }
    if (said.bytes > exchange->connection->server->posix->config.http_body_bytes_max) {
        return turn_away(exchange, asked, STATUS_TOO_LARGE, "the body is too long");
    }
    if (!reserve(exchange, said.bytes)) {
        return turn_away(exchange, asked, STATUS_BUSY, "too many long bodies at once");
    }
    const size_t first = said.bytes < RESERVE_BYTES_MAX ? said.bytes : RESERVE_BYTES_MAX;
    return uvea_buf_reserve(&exchange->body, first) == UVEA_OK ? MHD_YES : MHD_NO;
}

// ---- the work

// False when the server takes no more.
static bool begin_work(struct uvea_posix_connection *connection)
{
    struct uvea_http_server *server = connection->server;

    (void)pthread_mutex_lock(&server->lock);
    const bool takes = !server->closing && !connection->ending;
    connection->in_work = takes;
    connection->proved = connection->proved || takes;
    (void)pthread_mutex_unlock(&server->lock);
    return takes;
}

// Whoever was believed under the files before has to show a certificate again.
static bool is_outdated(const struct uvea_posix_connection *connection)
{
    const struct uvea_tls *tls = connection->server->posix->config.tls;

    return tls != NULL && connection->generation != uvea_tls_generation(tls);
}

static void begin_answer(struct uvea_posix_connection *connection)
{
    struct uvea_http_server *server = connection->server;

    (void)pthread_mutex_lock(&server->lock);
    connection->in_work = false;
    connection->answering = true;
    connection->since_ns = uvea_posix_now_ns();
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
}

static enum MHD_Result work(struct exchange *exchange, struct MHD_Connection *asked,
                            const char *method)
{
    struct uvea_http_server *server = exchange->connection->server;
    const struct uvea_http_request request = {
        .method = method,
        .target = exchange->target,
        .body = exchange->body.data,
        .body_bytes = exchange->body.len,
    };
    struct uvea_http_response response = {0};

    if (!begin_work(exchange->connection)) {
        return MHD_NO;
    }
    server->handler(server->arg, &request, &response);
    begin_answer(exchange->connection);
    UVEA_CHECK(response.status >= STATUS_FIRST_FINAL && response.status <= STATUS_MAX);
    (void)atomic_fetch_add(&server->posix->tally.http_requests_served, 1);
    uvea_buf_deinit(&exchange->body);
    return answer(asked, &response, is_outdated(exchange->connection) ? "close" : NULL);
}

// libmicrohttpd's callback, first with the headers, then with each piece of the body, at last
// without a piece.
static enum MHD_Result take(void *arg, struct MHD_Connection *asked, const char *path,
                            const char *method, const char *version, const char *piece,
                            size_t *piece_bytes, void **context)
{
    struct exchange *exchange = *context;

    (void)arg;
    (void)path;
    (void)version;
    if (exchange == NULL) {
        return MHD_NO;
    }
    if (!exchange->seen) {
        exchange->seen = true;
        return take_head(exchange, asked, method);
    }
    if (*piece_bytes == 0) {
        return work(exchange, asked, method);
    }
    if (*piece_bytes > exchange->announced - exchange->body.len ||
        uvea_buf_append(&exchange->body, piece, *piece_bytes) != UVEA_OK) {
        return MHD_NO;
    }
    *piece_bytes = 0;
    return MHD_YES;
}

// libmicrohttpd's callback when an answer is written, or the request came to nothing.
static void complete(void *arg, struct MHD_Connection *asked, void **context,
                     enum MHD_RequestTerminationCode how)
{
    struct exchange *exchange = *context;

    (void)arg;
    (void)asked;
    (void)how;
    if (exchange == NULL) {
        return;
    }
    struct uvea_posix_connection *connection = exchange->connection;
    struct uvea_http_server *server = connection->server;
    (void)pthread_mutex_lock(&server->lock);
    server->body_bytes -= exchange->counted;
    connection->begun = connection->begun && !connection->answering;
    connection->answering = false;
    connection->since_ns = uvea_posix_now_ns();
    connection->exchanges--;
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
    uvea_buf_deinit(&exchange->body);
    uvea_mem_free(exchange);
    *context = NULL;
}

struct MHD_Daemon *uvea_posix_http_daemon(struct uvea_http_server *server)
{
    const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
                           MHD_USE_POLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;
    // One that was cut may still be closing.
    const unsigned connections = 2 * server->posix->config.http_connections_max + 16;

    return MHD_start_daemon(
        flags, 0, NULL, NULL, take, server, MHD_OPTION_URI_LOG_CALLBACK, begin, server,
        MHD_OPTION_NOTIFY_COMPLETED, complete, server, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)UVEA_POSIX_HTTP_HEAD_BYTES_MAX,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)UVEA_POSIX_STACK_BYTES, MHD_OPTION_STRICT_FOR_CLIENT,
        1, MHD_OPTION_END);
}
