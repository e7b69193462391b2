// What the files of the mesh share. Private to core/net.
//
// Tasks of a mesh: one accepts; one per inbound handshake; one per connection that this party
// dials, while connecting; one reader and one writer per connection of a generation. They share
// nothing but channels, atomics, and what is only written while no other task can see it.
#ifndef UVEA_CORE_NET_MESH_IMPL_H
#define UVEA_CORE_NET_MESH_IMPL_H

#include "core/net/handshake.h"
#include "core/net/mesh.h"
#include "core/net/parcel.h"
#include "core/wire/frame.h"

#include <stdatomic.h>

// ---- accepting

enum uvea_pending_state {
    UVEA_PENDING_TALKING, // may be ended by the accept task
    UVEA_PENDING_DECIDED, // its task has made up its mind
    UVEA_PENDING_EVICTED, // the accept task has ended it, for a newer one
    UVEA_PENDING_STOPPED, // the same, as the mesh stops
};

// An inbound handshake. Owned by the accept task; its own task runs on it until it reports on
// `done`.
struct uvea_pending {
    struct uvea_mesh *mesh;
    struct uvea_task *task;
    struct uvea_stream *stream; // NULL once handed over or closed
    uint64_t order;             // of arrival; 0 when the slot is free
    _Atomic(enum uvea_pending_state) state;
};

// A connection that both sides have agreed on, or a dialler's final error (stream is NULL).
struct uvea_arrival {
    struct uvea_stream *stream;
    uint32_t attempt;
    enum uvea_peer side;
    uint32_t connection_id;
};

// ---- a generation

enum uvea_failure_state {
    UVEA_FAILURE_NONE,
    UVEA_FAILURE_CLAIMED,   // being written by one task
    UVEA_FAILURE_PUBLISHED, // error and context may be read
    UVEA_FAILURE_ENDED,     // orderly end: what happens from now on is no failure
};

struct uvea_failure {
    _Atomic(enum uvea_failure_state) state;
    enum uvea_error error;
    struct uvea_error_context context;
};

struct uvea_connection {
    struct uvea_generation *generation;
    enum uvea_peer side;
    uint32_t id;
    struct uvea_stream *stream;
    struct uvea_task *reader;
    struct uvea_task *writer;
    struct uvea_parcel_queue outgoing;
    struct uvea_budget outgoing_budget;
    struct uvea_budget incoming_budget;
    struct uvea_frame_reader frames;
    uint8_t *read_buffer;
    uint8_t *batch;
};

// One session's path to and from one neighbour.
struct uvea_lane {
    struct uvea_connection *connection;
    struct uvea_parcel *open;    // begun and not ended
    struct uvea_parcel *current; // what the last received value points into
    struct uvea_parcel_pool outgoing_pool;
    struct uvea_parcel_pool incoming_pool;
    struct uvea_parcel_queue incoming;
};

struct uvea_mesh_link {
    struct uvea_link link;
    struct uvea_generation *generation;
    uint32_t position;
    struct uvea_lane lanes[UVEA_PEER_COUNT];
};

struct uvea_generation {
    struct uvea_mesh *mesh;
    uint32_t first_id;
    uint32_t session_count;
    uint32_t connection_count;           // per peer
    struct uvea_connection *connections; // [side * connection_count + id]
    struct uvea_mesh_link *links;
    struct uvea_channel *drained; // one token from each writer that has ended
    atomic_bool validating;
};

struct uvea_mesh {
    struct uvea_rt *rt;
    struct uvea_mesh_config config;
    uint32_t connection_count;

    struct uvea_listener *listener;
    struct uvea_task *acceptor;
    struct uvea_pending *pending; // [UVEA_MESH_PENDING_MAX]
    size_t pending_count;         // slots in use; the accept task's own, as the next
    uint64_t arrivals_count;
    struct uvea_channel *done;     // struct uvea_pending: handshakes that have ended
    struct uvea_channel *arrivals; // struct uvea_arrival
    struct uvea_channel *stop;     // never sent to: shut when the mesh is shut
    _Atomic(uint64_t) wanted;      // attempt << 32 | number of connection ids asked for; 0: none
    uint32_t attempt;
    atomic_bool stopping;

    uint32_t first_id; // of the generation in use, or the next one
    _Atomic(uint32_t) seen_first_id;
    struct uvea_generation *generation;
    struct uvea_failure failure;

    _Atomic(uint64_t) bytes_sent;
    _Atomic(uint64_t) bytes_received;
    _Atomic(uint64_t) frames_dropped;
    _Atomic(uint64_t) refused;
    _Atomic(uint64_t) waited_ns;
};

// ---- accept.c

// arg: struct uvea_mesh.
void uvea_mesh_accept_task(void *arg);

// ---- gather.c

// Does the party of this mesh dial that neighbour?
bool uvea_mesh_dials(const struct uvea_mesh *mesh, enum uvea_peer side);
// "party 0", as everything but the wire calls it.
const char *uvea_mesh_peer_name(const struct uvea_mesh *mesh, enum uvea_peer side);

// (blocks) Connections 0..ids-1 to both neighbours: streams[side * ids + id]. All or none.
UVEA_MUST_USE enum uvea_error uvea_mesh_gather(struct uvea_mesh *mesh, uint32_t ids,
                                               struct uvea_stream **streams,
                                               struct uvea_error_context *context);

// Hands an agreed stream to whoever gathers; takes the stream over also on failure.
UVEA_MUST_USE enum uvea_error uvea_mesh_deliver(struct uvea_mesh *mesh, struct uvea_arrival what,
                                                uint64_t deadline_ns);

// Closes what nobody has collected.
void uvea_mesh_drop_arrivals(struct uvea_mesh *mesh);

// Who is at the other end of a stream, whatever it says of itself. PEER names the side.
UVEA_MUST_USE enum uvea_error uvea_mesh_prove(struct uvea_mesh *mesh, struct uvea_stream *stream,
                                              enum uvea_peer side,
                                              struct uvea_error_context *context);

// Puts what the runtime knows of a failed stream behind the sentence.
void uvea_mesh_add_reason(struct uvea_mesh *mesh, struct uvea_stream *stream,
                          struct uvea_error_context *context);

// ---- generation.c

// Takes streams over, also on failure.
UVEA_MUST_USE enum uvea_error uvea_generation_open(struct uvea_mesh *mesh,
                                                   struct uvea_stream **streams,
                                                   struct uvea_generation **generation);
// Nobody may be using a link. NULL is allowed.
void uvea_generation_close(struct uvea_generation *generation);

// Ends the generation, once: the first caller's reason is kept, every waiter wakes.
void uvea_generation_fail(struct uvea_generation *generation, enum uvea_error error,
                          const char *reason);
// The same with the connection named in front of the cause.
void uvea_connection_fail(struct uvea_connection *connection, enum uvea_error error,
                          const char *cause);
// UVEA_OK while the generation is alive.
UVEA_MUST_USE enum uvea_error uvea_failure_get(const struct uvea_failure *failure,
                                               struct uvea_error_context *context);

// ---- link.c

UVEA_MUST_USE enum uvea_error uvea_mesh_link_init(struct uvea_mesh_link *link,
                                                  struct uvea_generation *generation,
                                                  uint32_t position);
void uvea_mesh_link_deinit(struct uvea_mesh_link *link);
// Wakes its receivers.
void uvea_mesh_link_shut(struct uvea_mesh_link *link);
// Takes the reader's complete frame. LIMIT: the session is too far behind. MEMORY.
UVEA_MUST_USE enum uvea_error uvea_mesh_link_accept(struct uvea_mesh_link *link,
                                                    enum uvea_peer side,
                                                    struct uvea_frame_reader *frames);

#endif
