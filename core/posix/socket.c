#include "core/posix/socket.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/posix/state.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// A peer that vanished is noticed within KEEPALIVE_S * (1 + KEEPALIVE_PROBES). Source: wire.md 3.
enum { KEEPALIVE_S = 30, KEEPALIVE_PROBES = 4 };

// ---- waiting

void uvea_posix_wake(int wake_fd)
{
    uint64_t one = 1;
    ssize_t done;
    do {
        done = write(wake_fd, &one, sizeof(one));
    } while (done < 0 && errno == EINTR); // what else it may say: it is readable already
}

enum uvea_error uvea_posix_wait(int fd, short events, int wake_fd, uint64_t deadline_ns)
{
    struct pollfd fds[2] = {{.fd = fd, .events = events}, {.fd = wake_fd, .events = POLLIN}};
    for (;;) {
        struct timespec left = {0};
        if (deadline_ns != UVEA_NEVER) {
            uint64_t now_ns = uvea_posix_now_ns();
            uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
            left.tv_sec = (time_t)(left_ns / UVEA_SECOND);
            left.tv_nsec = (long)(left_ns % UVEA_SECOND);
        }
        int ready = ppoll(fds, 2, deadline_ns != UVEA_NEVER ? &left : NULL, NULL);
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready < 0) {
            return UVEA_ERR_IO;
        }
        if (fds[1].revents != 0) {
            return UVEA_ERR_CLOSED;
        }
        return ready > 0 ? UVEA_OK : UVEA_ERR_TIMEOUT;
    }
}

// ---- life

static bool set_options(int fd)
{
    int one = 1;
    int seconds = KEEPALIVE_S;
    int probes = KEEPALIVE_PROBES;
    return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one)) == 0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds)) == 0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds)) == 0 &&
           setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes)) == 0;
}

enum uvea_error uvea_posix_socket_make(struct uvea_posix *posix, struct uvea_posix_socket **socket)
{
    struct uvea_posix_socket *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->posix = posix;
    made->fd = -1;
    made->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made->wake_fd < 0) {
        bool memory = errno == ENOMEM;
        uvea_mem_free(made);
        return memory ? UVEA_ERR_MEMORY : UVEA_ERR_LIMIT;
    }
    atomic_init(&made->shut, false);
    atomic_init(&made->broken, false);
    *socket = made;
    return UVEA_OK;
}

enum uvea_error uvea_posix_socket_attach(struct uvea_posix_socket *socket, int fd)
{
    if (!set_options(fd)) {
        (void)close(fd);
        return UVEA_ERR_IO;
    }
    socket->fd = fd;
    return UVEA_OK;
}

void uvea_posix_socket_shut(struct uvea_posix_socket *socket, const uint8_t *last, size_t len)
{
    UVEA_CHECK(len <= UVEA_TLS_LAST_BYTES_MAX);
    if (atomic_exchange(&socket->shut, true)) {
        return;
    }
    uvea_posix_wake(socket->wake_fd);
    // The drain gets a descriptor of its own, as this one lives until the socket is closed.
    int fd = fcntl(socket->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        (void)shutdown(socket->fd, SHUT_WR);
        return;
    }
    ssize_t sent = len > 0 ? send(fd, last, len, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    size_t done = sent > 0 ? (size_t)sent : 0;
    if (done == len) {
        (void)shutdown(fd, SHUT_WR);
    }
    uvea_posix_drain_add(socket->posix->drain, fd, last + done, len - done);
}

void uvea_posix_socket_close(struct uvea_posix_socket *socket)
{
    if (socket == NULL) {
        return;
    }
    if (socket->fd >= 0) {
        uvea_posix_socket_shut(socket, NULL, 0);
        (void)close(socket->fd);
    }
    (void)close(socket->wake_fd);
    uvea_mem_free(socket);
}

// ---- bytes

enum uvea_error uvea_posix_socket_read(struct uvea_posix_socket *socket, uint8_t *out,
                                       size_t capacity, size_t *got, uint64_t deadline_ns)
{
    for (;;) {
        if (atomic_load(&socket->shut)) {
            return UVEA_ERR_CLOSED;
        }
        ssize_t done = recv(socket->fd, out, capacity, 0);
        if (done >= 0) {
            *got = (size_t)done;
            return UVEA_OK;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            UVEA_TRY(uvea_posix_wait(socket->fd, POLLIN, socket->wake_fd, deadline_ns));
        } else if (errno != EINTR) {
            return UVEA_ERR_RESET;
        }
    }
}

static enum uvea_error write_all(struct uvea_posix_socket *socket, const uint8_t *bytes, size_t len,
                                 uint64_t deadline_ns)
{
    while (len > 0) {
        if (atomic_load(&socket->shut)) {
            return UVEA_ERR_CLOSED;
        }
        ssize_t done = send(socket->fd, bytes, len, MSG_NOSIGNAL);
        if (done >= 0) {
            bytes += done;
            len -= (size_t)done;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            UVEA_TRY(uvea_posix_wait(socket->fd, POLLOUT, socket->wake_fd, deadline_ns));
        } else if (errno == EPIPE) {
            return UVEA_ERR_CLOSED;
        } else if (errno != EINTR) {
            return UVEA_ERR_RESET;
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_posix_socket_write(struct uvea_posix_socket *socket, const uint8_t *bytes,
                                        size_t len, uint64_t deadline_ns)
{
    if (atomic_load(&socket->shut) || atomic_load(&socket->broken)) {
        return UVEA_ERR_CLOSED;
    }
    enum uvea_error error = write_all(socket, bytes, len, deadline_ns);
    if (error != UVEA_OK) {
        atomic_store(&socket->broken, true);
    }
    return error;
}

// ---- what TLS goes over

static enum uvea_error transport_read(void *arg, uint8_t *out, size_t capacity, size_t *got,
                                      uint64_t deadline_ns)
{
    return uvea_posix_socket_read(arg, out, capacity, got, deadline_ns);
}

static enum uvea_error transport_write(void *arg, const uint8_t *bytes, size_t len,
                                       uint64_t deadline_ns)
{
    return uvea_posix_socket_write(arg, bytes, len, deadline_ns);
}

static void transport_shut(void *arg, const uint8_t *last, size_t len)
{
    uvea_posix_socket_shut(arg, last, len);
}

static void transport_close(void *arg)
{
    uvea_posix_socket_close(arg);
}

struct uvea_tls_transport uvea_posix_socket_transport(struct uvea_posix_socket *socket)
{
    return (struct uvea_tls_transport){socket, transport_read, transport_write, transport_shut,
                                       transport_close};
}
