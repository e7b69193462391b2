#include "tests/posix/raw_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_BYTES_MAX = 16 << 10 };

// One request with its body, which is thrown away. False at the end.
static bool read_request(int fd)
{
    char head[HEAD_BYTES_MAX + 1];
    size_t len = 0;
    char *end = NULL;

    while (end == NULL && len < HEAD_BYTES_MAX) {
        const ssize_t got = recv(fd, head + len, 1, 0);
        if (got <= 0) {
            return false;
        }
        head[++len] = '\0';
        end = strstr(head, "\r\n\r\n");
    }
    const char *length = strstr(head, "Content-Length: ");
    unsigned long left = length != NULL ? strtoul(length + 16, NULL, 10) : 0;
    while (left > 0) {
        const ssize_t got = recv(fd, head, left < sizeof(head) ? left : sizeof(head), 0);
        if (got <= 0) {
            return false;
        }
        left -= (unsigned long)got;
    }
    return true;
}

static void flood(int fd)
{
    static const char zeros[64 << 10];

    while (send(fd, zeros, sizeof(zeros), MSG_NOSIGNAL) > 0) {
    }
}

// False when the connection is over.
static bool answer(struct raw_server *server, int fd)
{
    const struct linger at_once = {.l_onoff = 1};
    const unsigned nth = server->requests++;

    if (nth >= server->answer_count) {
        return true;
    }
    web_say(fd, server->answers[nth].text);
    switch (server->answers[nth].then) {
    case RAW_KEEP:
        return true;
    case RAW_FLOOD:
        flood(fd);
        return false;
    case RAW_RESET:
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        return false;
    default:
        return false;
    }
}

// False once the server is to be closed.
static bool note_begin(struct raw_server *server, int fd)
{
    (void)pthread_mutex_lock(&server->lock);
    const bool goes_on = !server->closing;
    server->current_fd = fd;
    server->accepted++;
    (void)pthread_mutex_unlock(&server->lock);
    return goes_on;
}

static void end(struct raw_server *server, int fd)
{
    (void)pthread_mutex_lock(&server->lock);
    (void)close(fd);
    server->current_fd = -1;
    server->ended++;
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
}

static void *serve(void *arg)
{
    struct raw_server *server = arg;
    int fd = accept(server->fd, NULL, NULL);

    while (fd >= 0) {
        bool goes_on = note_begin(server, fd);
        while (goes_on && read_request(fd)) {
            goes_on = answer(server, fd);
        }
        end(server, fd);
        fd = accept(server->fd, NULL, NULL);
    }
    return NULL;
}

void raw_open(struct raw_server *server, const struct raw_answer *answers, size_t answer_count)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof(at);

    *server =
        (struct raw_server){.answers = answers, .answer_count = answer_count, .current_fd = -1};
    (void)pthread_mutex_init(&server->lock, NULL);
    (void)pthread_cond_init(&server->changed, NULL);
    server->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(server->fd >= 0);
    assert_int_equal(bind(server->fd, (struct sockaddr *)&at, bytes), 0);
    assert_int_equal(listen(server->fd, 16), 0);
    assert_int_equal(getsockname(server->fd, (struct sockaddr *)&at, &bytes), 0);
    (void)snprintf(server->address, sizeof(server->address), "127.0.0.1:%u", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

void raw_wait_ended(struct raw_server *server, unsigned count)
{
    (void)pthread_mutex_lock(&server->lock);
    while (server->ended < count) {
        (void)pthread_cond_wait(&server->changed, &server->lock);
    }
    (void)pthread_mutex_unlock(&server->lock);
}

void raw_close(struct raw_server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->closing = true;
    if (server->current_fd >= 0) {
        (void)shutdown(server->current_fd, SHUT_RDWR);
    }
    (void)pthread_mutex_unlock(&server->lock);
    (void)shutdown(server->fd, SHUT_RDWR);
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    (void)close(server->fd);
    (void)pthread_cond_destroy(&server->changed);
    (void)pthread_mutex_destroy(&server->lock);
}
