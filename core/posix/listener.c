#include "core/base/mem.h"
#include "core/posix/state.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 512 };

// How long a process that has no descriptor left waits for one.
static const uint64_t shortage_ns = 50 * UVEA_MS;

static int bind_one(const struct addrinfo *to)
{
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
                    bind(fd, to->ai_addr, to->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)) {
        int kept = errno;
        (void)close(fd);
        errno = kept;
        return -1;
    }
    return fd;
}

static enum uvea_error bind_first(const struct addrinfo *list, int *fd)
{
    errno = 0;
    for (*fd = -1; *fd < 0 && list != NULL; list = list->ai_next) {
        *fd = bind_one(list);
    }
    return *fd >= 0 ? UVEA_OK : errno == EADDRINUSE ? UVEA_ERR_USAGE : UVEA_ERR_IO;
}

enum uvea_error uvea_posix_listener_open(struct uvea_posix *posix, const char *address,
                                         struct uvea_posix_listener **listener)
{
    struct uvea_posix_address parsed;
    UVEA_TRY(uvea_posix_address_parse(address, &parsed));
    struct uvea_posix_listener *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->posix = posix;
    made->fd = -1;
    made->wake_fd = -1;
    atomic_init(&made->shut, false);
    struct addrinfo *list = NULL;
    enum uvea_error error;
    UVEA_TRY_CLEANUP(uvea_posix_resolve(&parsed, &list, UVEA_NEVER));
    made->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    UVEA_TRY_CLEANUP(made->wake_fd >= 0 ? UVEA_OK : UVEA_ERR_IO);
    UVEA_TRY_CLEANUP(bind_first(list, &made->fd));
    *listener = made;
    made = NULL;
cleanup:
    if (list != NULL) {
        freeaddrinfo(list);
    }
    uvea_posix_listener_close(made);
    return error;
}

uint16_t uvea_posix_listener_port(const struct uvea_posix_listener *listener)
{
    struct sockaddr_storage own = {0};
    socklen_t bytes = sizeof(own);
    if (getsockname(listener->fd, (struct sockaddr *)&own, &bytes) != 0) {
        return 0;
    }
    struct sockaddr_in6 six = {0};
    struct sockaddr_in four = {0};
    memcpy(&six, &own, sizeof(six));
    memcpy(&four, &own, sizeof(four));
    return ntohs(own.ss_family == AF_INET6 ? six.sin6_port : four.sin_port);
}

// What accept4 may say of one connection, or of now, that a later call need not say again.
static bool passes(int number)
{
    return number == EINTR || number == ECONNABORTED || number == EPROTO || number == ENETDOWN ||
           number == ENOPROTOOPT || number == EHOSTDOWN || number == ENONET ||
           number == EHOSTUNREACH || number == EOPNOTSUPP || number == ENETUNREACH ||
           number == EPERM;
}

static bool short_of_something(int number)
{
    return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
}

// (blocks) After a call of accept4 that failed: OK when it is to be made again.
static enum uvea_error wait_for_next(struct uvea_posix_listener *listener, int number,
                                     uint64_t deadline_ns)
{
    if (passes(number)) {
        return UVEA_OK;
    }
    if (short_of_something(number)) {
        uint64_t retry_ns = uvea_posix_now_ns() + shortage_ns;
        bool last = retry_ns >= deadline_ns;
        enum uvea_error error =
            uvea_posix_wait(-1, 0, listener->wake_fd, last ? deadline_ns : retry_ns);
        return error == UVEA_ERR_TIMEOUT && !last ? UVEA_OK : error;
    }
    if (number != EAGAIN && number != EWOULDBLOCK) {
        return UVEA_ERR_IO;
    }
    return uvea_posix_wait(listener->fd, POLLIN, listener->wake_fd, deadline_ns);
}

enum uvea_error uvea_posix_listener_accept(struct uvea_posix_listener *listener,
                                           struct uvea_posix_socket **socket,
                                           char peer[UVEA_POSIX_ADDRESS_BYTES],
                                           uint64_t deadline_ns)
{
    for (;;) {
        if (atomic_load(&listener->shut)) {
            return UVEA_ERR_CLOSED;
        }
        struct sockaddr_storage from = {0};
        socklen_t bytes = sizeof(from);
        int fd =
            accept4(listener->fd, (struct sockaddr *)&from, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            UVEA_TRY(wait_for_next(listener, errno, deadline_ns));
            continue;
        }
        UVEA_TRY(uvea_posix_socket_open(listener->posix, fd, socket));
        if (peer != NULL) {
            uvea_posix_address_show((const struct sockaddr *)&from, peer);
        }
        return UVEA_OK;
    }
}

void uvea_posix_listener_shut(struct uvea_posix_listener *listener)
{
    if (!atomic_exchange(&listener->shut, true)) {
        uvea_posix_wake(listener->wake_fd);
    }
}

void uvea_posix_listener_close(struct uvea_posix_listener *listener)
{
    if (listener == NULL) {
        return;
    }
    if (listener->fd >= 0) {
        (void)close(listener->fd);
    }
    if (listener->wake_fd >= 0) {
        (void)close(listener->wake_fd);
    }
    uvea_mem_free(listener);
}
