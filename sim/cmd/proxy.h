// Private to `uvea proxy`: carries bytes between sockets as its file says, on one thread.
#ifndef UVEA_SIM_CMD_PROXY_H
#define UVEA_SIM_CMD_PROXY_H

#include "core/base/error.h"
#include "sim/live/proxy_file.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    UVEA_PROXY_CONNECTIONS_MAX = 2048,
    UVEA_PROXY_PIECE_BYTES = 16384,
    UVEA_PROXY_QUEUE_BYTES = 1 << 20, // under way per direction before no more is read
};

// What a link has seen.
struct uvea_proxy_tally {
    uint64_t connections;
    uint64_t bytes;
    uint64_t corrupted; // bytes
    uint64_t cut;       // connections
    uint64_t half_closed;
    uint64_t unreached; // connections that could not be passed on
};

struct uvea_proxy;

// Listens at every link's address. IO, USAGE: the sentence names the link.
UVEA_MUST_USE enum uvea_error uvea_proxy_open(const struct uvea_proxy_file *file,
                                              struct uvea_proxy **proxy,
                                              struct uvea_error_context *context);
// NULL is allowed.
void uvea_proxy_close(struct uvea_proxy *proxy);

// (blocks) Carries until one of the signals that `caught` holds arrives; 0 in case of a failure of
// this machine. Signals in `caught` are blocked by the caller.
int uvea_proxy_run(struct uvea_proxy *proxy, const sigset_t *caught);

// New conditions for the links of the same names; addresses and the seed stay. USAGE: other links.
UVEA_MUST_USE enum uvea_error uvea_proxy_change(struct uvea_proxy *proxy,
                                                const struct uvea_proxy_file *file,
                                                struct uvea_error_context *context);

struct uvea_proxy_tally uvea_proxy_tally(const struct uvea_proxy *proxy, size_t link);

// ---- sockets, non-blocking

// "host:port". IO, USAGE.
UVEA_MUST_USE enum uvea_error uvea_proxy_socket_listen(const char *address, int *fd,
                                                       struct uvea_error_context *context);
// May still be connecting when it returns. -1: it cannot be reached.
int uvea_proxy_socket_dial(const char *address);
// -1: nobody is waiting.
int uvea_proxy_socket_accept(int listener);
// Whether connecting came to a good end.
bool uvea_proxy_socket_connected(int fd);
// What is under way is dropped, and the other side told so.
void uvea_proxy_socket_reset(int fd);

#endif
