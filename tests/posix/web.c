#include "tests/posix/web.h"

#include "core/base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 60 };

// ---- waiting for what must come

static void wait_or_fail(pthread_cond_t *cond, pthread_mutex_t *lock)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    if (pthread_cond_timedwait(cond, lock, &until) != 0) {
        (void)fprintf(stderr, "what was waited for has not come within a minute\n");
        abort();
    }
}

void web_wait_asked(struct web *web, unsigned count)
{
    (void)pthread_mutex_lock(&web->lock);
    while (web->asked < count) {
        wait_or_fail(&web->changed, &web->lock);
    }
    (void)pthread_mutex_unlock(&web->lock);
}

unsigned web_asked(struct web *web)
{
    (void)pthread_mutex_lock(&web->lock);
    const unsigned asked = web->asked;
    (void)pthread_mutex_unlock(&web->lock);
    return asked;
}

void web_release(struct web *web)
{
    (void)pthread_mutex_lock(&web->lock);
    web->hold_until = 0;
    (void)pthread_cond_broadcast(&web->changed);
    (void)pthread_mutex_unlock(&web->lock);
}

// ---- refusals

void web_lines_init(struct web_lines *lines)
{
    (void)pthread_mutex_init(&lines->lock, NULL);
    (void)pthread_cond_init(&lines->more, NULL);
    lines->count = 0;
}

void web_lines_deinit(struct web_lines *lines)
{
    (void)pthread_cond_destroy(&lines->more);
    (void)pthread_mutex_destroy(&lines->lock);
}

void web_lines_add(struct web_lines *lines, const struct uvea_error_context *why)
{
    (void)pthread_mutex_lock(&lines->lock);
    if (lines->count < WEB_LINES_MAX) {
        (void)snprintf(lines->text[lines->count], sizeof(lines->text[0]), "%.150s", why->text);
    }
    lines->count++;
    (void)pthread_cond_broadcast(&lines->more);
    (void)pthread_mutex_unlock(&lines->lock);
}

void web_lines_wait(struct web_lines *lines, unsigned count)
{
    (void)pthread_mutex_lock(&lines->lock);
    while (lines->count < count) {
        wait_or_fail(&lines->more, &lines->lock);
    }
    (void)pthread_mutex_unlock(&lines->lock);
}

unsigned web_lines_count(struct web_lines *lines)
{
    (void)pthread_mutex_lock(&lines->lock);
    const unsigned count = lines->count;
    (void)pthread_mutex_unlock(&lines->lock);
    return count;
}

static void note_refused(void *arg, const struct uvea_error_context *why)
{
    struct web *web = arg;

    web_lines_add(&web->lines, why);
}

// ---- the server

static void handle(void *arg, const struct uvea_http_request *request,
                   struct uvea_http_response *response)
{
    struct web *web = arg;
    char head[256];

    (void)pthread_mutex_lock(&web->lock);
    web->asked++;
    web->in_work++;
    (void)pthread_cond_broadcast(&web->changed);
    while (strcmp(request->target, "/held") == 0 && web->asked < web->hold_until) {
        wait_or_fail(&web->changed, &web->lock);
    }
    web->in_work--;
    (void)pthread_mutex_unlock(&web->lock);
    response->status = 200;
    if (strncmp(request->target, "/status/", 8) == 0) {
        response->status = (unsigned)strtoul(request->target + 8, NULL, 10);
    }
    (void)snprintf(head, sizeof(head), "%s %.200s\n", request->method, request->target);
    if (uvea_buf_append(&response->body, head, strlen(head)) != UVEA_OK ||
        uvea_buf_append(&response->body, request->body, request->body_bytes) != UVEA_OK) {
        response->status = 500;
    }
}

void web_free_address(char address[WEB_ADDRESS_BYTES])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof(at);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, bytes), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
    (void)snprintf(address, WEB_ADDRESS_BYTES, "127.0.0.1:%u", ntohs(at.sin_port));
    (void)close(fd);
}

struct uvea_posix_config web_config(struct web *web)
{
    struct uvea_posix_config config = uvea_posix_config_default();

    config.refused = note_refused;
    config.arg = web;
    return config;
}

void web_open(struct web *web, const struct uvea_posix_config *config,
              const struct uvea_posix_config *client_config)
{
    struct uvea_error_context context;

    (void)pthread_mutex_init(&web->lock, NULL);
    (void)pthread_cond_init(&web->changed, NULL);
    web_lines_init(&web->lines);
    assert_int_equal(uvea_posix_open(config, &web->server_rt, &context), UVEA_OK);
    assert_int_equal(uvea_posix_open(client_config, &web->rt, &context), UVEA_OK);
    web_free_address(web->address);
    assert_int_equal(uvea_rt_http_serve(web->server_rt, web->address, handle, web, &web->server),
                     UVEA_OK);
}

void web_close(struct web *web)
{
    uvea_rt_http_close(web->server_rt, web->server);
    uvea_posix_close(web->rt);
    uvea_posix_close(web->server_rt);
    web_lines_deinit(&web->lines);
    (void)pthread_cond_destroy(&web->changed);
    (void)pthread_mutex_destroy(&web->lock);
}

// ---- the client

enum uvea_error web_call(struct web *web, const char *address, const char *method,
                         const char *target, const char *body, struct uvea_http_response *response)
{
    const struct uvea_http_request request = {
        .method = method,
        .target = target,
        .body = (const uint8_t *)body,
        .body_bytes = body != NULL ? strlen(body) : 0,
    };

    *response = (struct uvea_http_response){0};
    return uvea_rt_http_call(web->rt, address, &request, response,
                             uvea_rt_deadline_ns(web->rt, PATIENCE_SECONDS * UVEA_SECOND));
}

// ---- raw sockets

int web_dial(const char *address)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    at.sin_port = htons((uint16_t)strtoul(strchr(address, ':') + 1, NULL, 10));
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

void web_send(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0) {
        const ssize_t sent = send(fd, at, len, MSG_NOSIGNAL);
        if (sent <= 0) {
            return; // the other side has had enough
        }
        at += sent;
        len -= (size_t)sent;
    }
}

void web_say(int fd, const char *text)
{
    web_send(fd, text, strlen(text));
}

size_t web_read_all(int fd, char *out, size_t capacity)
{
    char piece[4096];
    size_t len = 0;
    ssize_t got = recv(fd, piece, sizeof(piece), 0);

    while (got > 0) {
        const size_t fits = (size_t)got < capacity - 1 - len ? (size_t)got : capacity - 1 - len;
        memcpy(out + len, piece, fits);
        len += fits;
        got = recv(fd, piece, sizeof(piece), 0);
    }
    assert_true(got == 0 || errno == ECONNRESET); // and not a minute without a byte
    out[len] = '\0';
    return len;
}

unsigned web_status_of(const char *text)
{
    return strncmp(text, "HTTP/1.1 ", 9) == 0 ? (unsigned)strtoul(text + 9, NULL, 10) : 0;
}
