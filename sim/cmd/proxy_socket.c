#include "core/base/check.h"
#include "sim/cmd/proxy.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 256 };

// [host]:port or host:port.
static struct addrinfo *resolve(const char *address, bool passive)
{
    char host[UVEA_PROXY_TEXT_CHARS];
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0),
    };
    const char *colon = strrchr(address, ':');
    const bool brackets = address[0] == '[' && colon > address && colon[-1] == ']';
    const size_t skipped = brackets ? 1 : 0;
    UVEA_CHECK(colon != NULL);
    (void)snprintf(host, sizeof(host), "%.*s", (int)((size_t)(colon - address) - 2 * skipped),
                   address + skipped);
    return getaddrinfo(host, colon + 1, &hints, &found) == 0 ? found : NULL;
}

static void tune(int fd)
{
    const int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int open_listener(const struct addrinfo *at)
{
    const int on = 1;
    const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) {
        return fd;
    }
    const int failure = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = failure;
    return -1;
}

enum uvea_error uvea_proxy_socket_listen(const char *address, int *fd,
                                         struct uvea_error_context *context)
{
    struct addrinfo *found = resolve(address, true);
    if (found == NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s: no such address", address);
    }
    *fd = open_listener(found);
    const int failure = errno;
    freeaddrinfo(found);
    return *fd >= 0 ? UVEA_OK
                    : uvea_error_set(context, UVEA_ERR_IO, "%s: %s", address, strerror(failure));
}

int uvea_proxy_socket_dial(const char *address)
{
    struct addrinfo *found = resolve(address, false);
    if (found == NULL) {
        return -1;
    }
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    if (fd >= 0) {
        tune(fd);
    }
    return fd;
}

int uvea_proxy_socket_accept(int listener)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        tune(fd);
    }
    return fd;
}

bool uvea_proxy_socket_connected(int fd)
{
    int failure = 0;
    socklen_t len = sizeof(failure);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &len) == 0 && failure == 0;
}

void uvea_proxy_socket_reset(int fd)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close(fd);
}
