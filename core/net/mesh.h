// The mesh: this party's connections to both neighbours, and the sessions multiplexed over them.
//
// A party opens one mesh for its lifetime: it listens, and shakes hands with whoever comes, many at
// a time. Connections belong to a generation: connect() opens all of them anew, each session gets a
// link (net/link.h), and the first error on any connection ends the whole generation with one named
// reason. There is no reconnection inside a generation: disconnect(), then connect() again.
//
// Session at position k (0-based) uses connection k mod connection_count to both peers. Its id, the
// same at all three parties, is the generation's first id + k. A frame is u32 session id and one
// value; order is kept per (peer, session, direction). Source: wire.md 2 and 3.
//
// Peers are untrusted as senders: every length is bounded before memory is taken, and what a peer
// sends can end the generation, never the process. Who a connector is rests on the stream (TLS);
// the handshake only tells which party it says it is.
#ifndef UVEA_CORE_NET_MESH_H
#define UVEA_CORE_NET_MESH_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/net/link.h"
#include "core/rt/rt.h"

#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_MESH_CONNECTION_COUNT_MAX = 1024,
    UVEA_MESH_SESSION_COUNT_MAX = 1 << 20,
    UVEA_MESH_PENDING_MAX = 512,         // inbound handshakes under way; one more ends the oldest
    UVEA_MESH_BATCH_BYTES = 32768,       // small frames are gathered up to here into one write
    UVEA_MESH_FRAME_OVERHEAD_BYTES = 256 // a queued frame counts its bytes and this
};

// Told of each inbound connector that was turned away, and when the runtime begins to fail to take
// any (LIMIT: no descriptor is left), once until it can again. Called from the mesh's own tasks,
// possibly from several at once; must not block.
typedef void uvea_mesh_refused_fn(void *arg, enum uvea_error error,
                                  const struct uvea_error_context *context);

// All strings are borrowed and must outlive the mesh. Zero is not a default: begin with
// uvea_mesh_config_default.
struct uvea_mesh_config {
    struct uvea_party party;
    const char *identity[UVEA_PARTY_COUNT];     // byte-wise greater identity dials; all different
    const char *listen_address;                 // "host:port"
    const char *dial_address[UVEA_PARTY_COUNT]; // of each peer that this party dials
    uint32_t session_count;                     // 1..UVEA_MESH_SESSION_COUNT_MAX
    uint32_t connection_count; // 1..UVEA_MESH_CONNECTION_COUNT_MAX; at most session_count are made
    size_t value_bytes_max;    // longest encoded value, both ways
    size_t queue_bytes_max;    // per connection: frames waiting to be written, and again frames
                               // received and not yet taken by their sessions
    uint64_t handshake_ns_max;
    uint64_t start_jitter_ns_max; // each connection waits a random time up to here before dialling
    uint64_t retry_delay_ns;
    uint64_t connect_ns_max;       // for all connections of a generation together
    uint64_t recv_ns_max;          // one receive on a link
    uint64_t drain_ns_max;         // how long an orderly disconnect lets queued frames leave
    uvea_mesh_refused_fn *refused; // may be NULL
    void *refused_arg;
};

struct uvea_mesh;

// alice, bob, charlie; 1 session, 1 connection; values of 64 MiB, queues of 256 MiB; handshake 5 s,
// jitter 3 s, retry 2 s, connect 60 s, receive 10 s, drain 1 s. Addresses are left to the caller.
struct uvea_mesh_config uvea_mesh_config_default(struct uvea_party party);

// Starts listening. rt must outlive the mesh. USAGE with a sentence for an impossible
// configuration; otherwise the errors of listen and spawn.
UVEA_MUST_USE enum uvea_error uvea_mesh_open(struct uvea_rt *rt,
                                             const struct uvea_mesh_config *config,
                                             struct uvea_mesh **mesh,
                                             struct uvea_error_context *context);

// (blocks) One generation: all connections to both peers, then validation of every session.
// The mesh must be disconnected. On failure it is again, and context names peer, connection and
// cause: TIMEOUT when a peer was not reached within connect_ns_max, USAGE for an address that
// cannot be dialled, CLOSED after uvea_mesh_shut, PEER when a session does not validate.
//
// First ids: 0, then + session_count for each generation that was established (see
// uvea_mesh_first_id_after). When a peer is seen to number its sessions from a higher id, because
// it got further than this party in an attempt that failed for others, this attempt fails and the
// next one starts from the peer's id.
UVEA_MUST_USE enum uvea_error uvea_mesh_connect(struct uvea_mesh *mesh,
                                                struct uvea_error_context *context);

// The rule that advances a generation's first session id: + session_count, saturating; 0 again from
// 2^32 - 1 - session_count on.
uint32_t uvea_mesh_first_id_after(uint32_t first_id, uint32_t session_count);

uint32_t uvea_mesh_session_count(const struct uvea_mesh *mesh);

// position < session count, in a connected mesh. A link is used by one task at a time, different
// links by different tasks; it lives until disconnect.
uint32_t uvea_mesh_session_id(const struct uvea_mesh *mesh, uint32_t position);
struct uvea_link *uvea_mesh_link(struct uvea_mesh *mesh, uint32_t position);

// Ends the generation in use with a reason of the caller's, so that every task waiting on a link
// wakes. For the first task that gives up. From any task that holds a link; nothing if the
// generation has already ended.
void uvea_mesh_abort(struct uvea_mesh *mesh, enum uvea_error error, const char *reason);

// Why the generation ended, UVEA_OK while it has not: the first error on any of its connections,
// with peer, connection and cause. Kept after disconnect until the next connect.
UVEA_MUST_USE enum uvea_error uvea_mesh_failure(const struct uvea_mesh *mesh,
                                                struct uvea_error_context *context);

// (blocks) Lets queued frames leave (unless the generation has failed), closes all connections and
// frees the links; nobody may be using one. The peers take it for the end of the generation.
// Nothing happens when not connected.
void uvea_mesh_disconnect(struct uvea_mesh *mesh);

// Makes a connect under way, and every later one, fail with CLOSED; nobody is let in any more.
// From any task, more than once. A generation in use is left alone.
void uvea_mesh_shut(struct uvea_mesh *mesh);

// (blocks) disconnect, stop listening, free. NULL is allowed.
void uvea_mesh_close(struct uvea_mesh *mesh);

// Counted since open, over all generations. From any task.
struct uvea_mesh_counters {
    uint64_t bytes_sent;     // of data frames, session ids included, handed to the streams
    uint64_t bytes_received; // of data frames
    uint64_t frames_dropped; // received for a session id that is not in use
    uint64_t refused;        // how often uvea_mesh_refused_fn is called
    uint64_t waited_ns;      // for a frame, added up over all sessions
};
struct uvea_mesh_counters uvea_mesh_counters(const struct uvea_mesh *mesh);
uint64_t uvea_mesh_bytes_sent(const struct uvea_mesh *mesh);

#endif
