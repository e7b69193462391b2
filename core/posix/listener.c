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

// Of what socket, bind, listen or accept4 say.
static enum uvea_error meaning(int number)
{
    switch (number) {
    case EADDRINUSE:
        return UVEA_ERR_IN_USE;
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
        return UVEA_ERR_NOT_HERE;
    case EACCES:
    case EPERM:
        return UVEA_ERR_DENIED;
    case EMFILE:
    case ENFILE:
        return UVEA_ERR_LIMIT;
    case ENOBUFS:
    case ENOMEM:
        return UVEA_ERR_MEMORY;
    default:
        return UVEA_ERR_IO;
    }
}

static enum uvea_error bind_one(const struct addrinfo *to, int *fd)
{
    int made = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;
    if (made < 0) {
        return meaning(errno);
    }
    if (setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(made, to->ai_addr, to->ai_addrlen) != 0 || listen(made, BACKLOG) != 0) {
        enum uvea_error error = meaning(errno);
        (void)close(made);
        return error;
    }
    *fd = made;
    return UVEA_OK;
}

// Of a name with several addresses the first that can be had; else why the first cannot.
static enum uvea_error bind_first(const struct addrinfo *list, int *fd)
{
    enum uvea_error first = bind_one(list, fd);
    enum uvea_error error = first;
    while (error != UVEA_OK && list->ai_next != NULL) {
        list = list->ai_next;
        error = bind_one(list, fd);
    }
    return error == UVEA_OK ? UVEA_OK : first;
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

// (blocks) A descriptor of the next connection. One that cannot be taken goes on waiting.
static enum uvea_error take(struct uvea_posix_listener *listener, int *fd,
                            struct sockaddr_storage *from, uint64_t deadline_ns)
{
    for (;;) {
        socklen_t bytes = sizeof(*from);
        *fd = accept4(listener->fd, (struct sockaddr *)from, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (*fd >= 0) {
            return UVEA_OK;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            UVEA_TRY(uvea_posix_wait(listener->fd, POLLIN, listener->wake_fd, deadline_ns));
        } else if (!passes(errno)) {
            return meaning(errno);
        }
    }
}

enum uvea_error uvea_posix_listener_accept(struct uvea_posix_listener *listener,
                                           struct uvea_posix_socket **socket,
                                           char peer[UVEA_POSIX_ADDRESS_BYTES],
                                           uint64_t deadline_ns)
{
    struct sockaddr_storage from = {0};
    struct uvea_posix_socket *made;
    int fd;
    // Without descriptors accept4 fails even if nobody calls, which is nothing to be told of.
    UVEA_TRY(uvea_posix_wait(listener->fd, POLLIN, listener->wake_fd, deadline_ns));
    // First what it needs beside its descriptor, so that no connection is taken in vain.
    UVEA_TRY(uvea_posix_socket_make(listener->posix, &made));
    enum uvea_error error = take(listener, &fd, &from, deadline_ns);
    if (error == UVEA_OK) {
        error = uvea_posix_socket_attach(made, fd);
    }
    if (error != UVEA_OK) {
        uvea_posix_socket_close(made);
        return error;
    }
    if (peer != NULL) {
        uvea_posix_address_show((const struct sockaddr *)&from, peer);
    }
    *socket = made;
    return UVEA_OK;
}

void uvea_posix_listener_shut(struct uvea_posix_listener *listener)
{
    uvea_posix_wake(listener->wake_fd);
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
