// TCP sockets with deadlines: what streams, listeners and the HTTP server are made of. Private to
// core/posix.
//
// A socket is non-blocking and carries bytes as the streams of core/rt/rt.h do. Shut, it is handed
// to the runtime's drain (core/posix/drain.h), which sends what is left and reads until the other
// side has ended as well, so that the kernel has no reason to answer late bytes with a reset, which
// could overtake what was written.
#ifndef UVEA_CORE_POSIX_SOCKET_H
#define UVEA_CORE_POSIX_SOCKET_H

#include "core/base/error.h"
#include "core/tls/stream.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uvea_posix;

enum {
    UVEA_POSIX_HOST_BYTES = 256,   // of a host name, with the final zero
    UVEA_POSIX_ADDRESS_BYTES = 64, // of a numeric "address:port", with the final zero
};

struct uvea_posix_socket {
    struct uvea_posix *posix;
    int fd;
    int wake_fd; // readable once the socket is shut
    atomic_bool shut;
    atomic_bool broken; // nothing more can be sent
};

struct uvea_posix_listener {
    struct uvea_posix *posix;
    int fd;
    int wake_fd; // readable once the listener is shut
};

// Splits "host:port", where host may be an IPv6 address in brackets, into the host without brackets
// and the port as text. USAGE when it is no such thing.
struct uvea_posix_address {
    char host[UVEA_POSIX_HOST_BYTES];
    char port[6];
};
UVEA_MUST_USE enum uvea_error uvea_posix_address_parse(const char *text,
                                                       struct uvea_posix_address *address);

// ---- resolve.c

struct addrinfo;

// (blocks) The numeric addresses of a name, for streams; freeaddrinfo releases them. NOT_FOUND: no
// such name; LIMIT: too many names are being looked up.
UVEA_MUST_USE enum uvea_error uvea_posix_resolve(const struct uvea_posix_address *address,
                                                 struct addrinfo **list, uint64_t deadline_ns);

// "1.2.3.4:80" or "[::1]:80".
struct sockaddr;
void uvea_posix_address_show(const struct sockaddr *address, char out[UVEA_POSIX_ADDRESS_BYTES]);

// ---- waiting for descriptors

// (blocks) Until fd is ready for `events` of poll(2), or broken. CLOSED: wake_fd is readable;
// TIMEOUT.
UVEA_MUST_USE enum uvea_error uvea_posix_wait(int fd, short events, int wake_fd,
                                              uint64_t deadline_ns);
// Makes a wake_fd readable, for good.
void uvea_posix_wake(int wake_fd);

// ---- listener.c

// Port 0 lets the system choose; uvea_posix_listener_port tells what it chose. Errors as
// uvea_rt_listen.
UVEA_MUST_USE enum uvea_error uvea_posix_listener_open(struct uvea_posix *posix,
                                                       const char *address,
                                                       struct uvea_posix_listener **listener);
uint16_t uvea_posix_listener_port(const struct uvea_posix_listener *listener);
// (blocks) peer: where it comes from, NULL allowed. The contract of uvea_rt_accept.
UVEA_MUST_USE enum uvea_error uvea_posix_listener_accept(struct uvea_posix_listener *listener,
                                                         struct uvea_posix_socket **socket,
                                                         char peer[UVEA_POSIX_ADDRESS_BYTES],
                                                         uint64_t deadline_ns);
void uvea_posix_listener_shut(struct uvea_posix_listener *listener);
// NULL is allowed.
void uvea_posix_listener_close(struct uvea_posix_listener *listener);

// ---- dial.c

// (blocks) NOT_FOUND when nobody listens there or the name is not known. peer: where it ended up.
UVEA_MUST_USE enum uvea_error uvea_posix_socket_dial(struct uvea_posix *posix,
                                                     const struct uvea_posix_address *address,
                                                     struct uvea_posix_socket **socket,
                                                     char peer[UVEA_POSIX_ADDRESS_BYTES],
                                                     uint64_t deadline_ns);

// ---- socket.c

// One without its connection: all that can be done with it is to attach one, or to close it. LIMIT:
// no descriptor is left; MEMORY.
UVEA_MUST_USE enum uvea_error uvea_posix_socket_make(struct uvea_posix *posix,
                                                     struct uvea_posix_socket **socket);
// Takes over a connected descriptor, on failure too. IO.
UVEA_MUST_USE enum uvea_error uvea_posix_socket_attach(struct uvea_posix_socket *socket, int fd);

// Contracts of uvea_rt_read, uvea_rt_write and uvea_rt_stream_close.
UVEA_MUST_USE enum uvea_error uvea_posix_socket_read(struct uvea_posix_socket *socket, uint8_t *out,
                                                     size_t capacity, size_t *got,
                                                     uint64_t deadline_ns);
UVEA_MUST_USE enum uvea_error uvea_posix_socket_write(struct uvea_posix_socket *socket,
                                                      const uint8_t *bytes, size_t len,
                                                      uint64_t deadline_ns);
// That of uvea_rt_stream_shut; last (at most UVEA_TLS_LAST_BYTES_MAX) is sent behind all else.
// Nobody writes when len is not 0.
void uvea_posix_socket_shut(struct uvea_posix_socket *socket, const uint8_t *last, size_t len);
// NULL is allowed.
void uvea_posix_socket_close(struct uvea_posix_socket *socket);

// The socket as what TLS goes over; the stream above releases it.
struct uvea_tls_transport uvea_posix_socket_transport(struct uvea_posix_socket *socket);

#endif
