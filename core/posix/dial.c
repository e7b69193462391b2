#include "core/posix/state.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static enum uvea_error meaning(int number)
{
    switch (number) {
    case 0:
        return UVEA_OK;
    case ECONNREFUSED:
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EADDRNOTAVAIL:
        return UVEA_ERR_NOT_FOUND;
    case ETIMEDOUT:
        return UVEA_ERR_TIMEOUT;
    default:
        return UVEA_ERR_IO;
    }
}

// (blocks)
static enum uvea_error connect_fd(int fd, const struct addrinfo *to, uint64_t deadline_ns)
{
    if (connect(fd, to->ai_addr, to->ai_addrlen) == 0) {
        return UVEA_OK;
    }
    if (errno != EINPROGRESS && errno != EINTR) {
        return meaning(errno);
    }
    UVEA_TRY(uvea_posix_wait(fd, POLLOUT, -1, deadline_ns));
    int number = 0;
    socklen_t bytes = sizeof(number);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &bytes) != 0) {
        return UVEA_ERR_IO;
    }
    return meaning(number);
}

static enum uvea_error dial_one(const struct addrinfo *to, int *fd, uint64_t deadline_ns)
{
    int made = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) {
        return UVEA_ERR_IO;
    }
    enum uvea_error error = connect_fd(made, to, deadline_ns);
    if (error != UVEA_OK) {
        (void)close(made);
        return error;
    }
    *fd = made;
    return UVEA_OK;
}

// (blocks) The first that answers.
static enum uvea_error dial_list(const struct addrinfo *list, int *fd,
                                 char peer[UVEA_POSIX_ADDRESS_BYTES], uint64_t deadline_ns)
{
    enum uvea_error error = UVEA_ERR_NOT_FOUND;
    for (const struct addrinfo *to = list; to != NULL; to = to->ai_next) {
        error = dial_one(to, fd, deadline_ns);
        if (error == UVEA_OK) {
            uvea_posix_address_show(to->ai_addr, peer);
            return UVEA_OK;
        }
    }
    return error;
}

enum uvea_error uvea_posix_socket_dial(struct uvea_posix *posix,
                                       const struct uvea_posix_address *address,
                                       struct uvea_posix_socket **socket,
                                       char peer[UVEA_POSIX_ADDRESS_BYTES], uint64_t deadline_ns)
{
    struct uvea_posix_socket *made;
    struct addrinfo *list = NULL;
    int fd = -1;
    UVEA_TRY(uvea_posix_socket_make(posix, &made));
    enum uvea_error error = uvea_posix_resolve(address, &list, deadline_ns);
    if (error == UVEA_OK) {
        error = dial_list(list, &fd, peer, deadline_ns);
        freeaddrinfo(list);
    }
    if (error == UVEA_OK) {
        error = uvea_posix_socket_attach(made, fd);
    }
    if (error != UVEA_OK) {
        uvea_posix_socket_close(made);
        return error;
    }
    *socket = made;
    return UVEA_OK;
}
