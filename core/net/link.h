// A link: one session's two-way message path to both neighbours. The protocols of mpc/ know nothing
// of connections; they build one value in a borrowed frame, hand it over, and wait for one value.
// Order is kept per (peer, direction).
#ifndef UVEA_CORE_NET_LINK_H
#define UVEA_CORE_NET_LINK_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/wire/value.h"

#include <stdint.h>

struct uvea_link;

struct uvea_link_ops {
    enum uvea_error (*begin)(struct uvea_link *link, enum uvea_peer peer, struct uvea_buf **frame);
    enum uvea_error (*end)(struct uvea_link *link, enum uvea_peer peer);
    enum uvea_error (*recv)(struct uvea_link *link, enum uvea_peer peer, struct uvea_value *value,
                            struct uvea_error_context *context);
};

// First member of each implementation.
struct uvea_link {
    const struct uvea_link_ops *ops;
};

// Gives an empty frame for one value to peer (the session id is already in it: append only).
// begin and end pair up; at most one frame per peer is open at a time.
UVEA_MUST_USE static inline enum uvea_error
uvea_link_begin(struct uvea_link *link, enum uvea_peer peer, struct uvea_buf **frame)
{
    return link->ops->begin(link, peer, frame);
}

// Hands the frame to the connection; never waits for the peer. CLOSED or RESET when the connection
// is gone, LIMIT when the frame exceeds the configured bound.
UVEA_MUST_USE static inline enum uvea_error uvea_link_end(struct uvea_link *link,
                                                          enum uvea_peer peer)
{
    return link->ops->end(link, peer);
}

// (blocks) The next value from peer, a view that lives until the next recv from the same peer.
// TIMEOUT after the configured time, CLOSED or RESET when the connection is gone, FORMAT or LIMIT
// when the peer's bytes were refused; context then holds the named reason.
UVEA_MUST_USE static inline enum uvea_error uvea_link_recv(struct uvea_link *link,
                                                           enum uvea_peer peer,
                                                           struct uvea_value *value,
                                                           struct uvea_error_context *context)
{
    return link->ops->recv(link, peer, value, context);
}

#endif
