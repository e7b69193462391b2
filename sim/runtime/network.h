// The simulated network: directed links between nodes, and the faults that may befall them.
//
// A link carries the bytes of all connections from one node to another. Bytes leave at the link's
// bandwidth, arrive after latency plus an exponential jitter, in order within a connection, cut
// into pieces of random size; a read gives any part of what has arrived. All of it is drawn from
// the stream "net/<from>><to>" (pieces, jitter) or "net/<from>><to>/read" (lengths of reads).
// What is written at one instant may travel as one piece; room freed by a reader is known to the
// writer at once.
//
// A dial takes one way there and one back. NOT_FOUND comes back from a node where nobody listens,
// and at once for a host that is no node; RESET when the backlog is full. Writing after the peer's
// end has arrived gives CLOSED, and so does using a stream whose write timed out half-way.
#ifndef UVEA_SIM_RUNTIME_NETWORK_H
#define UVEA_SIM_RUNTIME_NETWORK_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct uvea_rt;
struct uvea_sim;
struct uvea_stream;

enum {
    UVEA_SIM_PIECE_BYTES_MAX = 16 * 1024,
    UVEA_SIM_LINKS_MAX = 16,    // links configured apart from the default
    UVEA_SIM_FAULTS_MAX = 256,  // faults configured or injected that have not happened yet
    UVEA_SIM_BACKLOG_MAX = 64,  // connections waiting to be accepted at one listener
    UVEA_SIM_ADDRESS_BYTES = 64 // of an address, with the final zero
};

struct uvea_sim_link_config {
    uint64_t latency_ns;       // fixed part of the one-way delay
    uint64_t jitter_ns;        // mean of the exponential part; 0 for none
    uint64_t bandwidth_bits_s; // 0 for unlimited
    size_t window_bytes;       // bytes in flight plus not yet read, per connection and direction;
                               // 1 .. 1 GiB. A write waits while the window is full.
    size_t piece_bytes_max;    // 1 .. UVEA_SIM_PIECE_BYTES_MAX; 0 for no splitting at all
};

enum uvea_sim_fault_kind {
    UVEA_SIM_FAULT_RESET,         // connection (from, to, connection) breaks at at_byte or at_ns
    UVEA_SIM_FAULT_STALL,         // link from > to stands still for for_ns
    UVEA_SIM_FAULT_PARTITION,     // all links to and from node `from`
    UVEA_SIM_FAULT_PARTITION_IN,  // all links to node `from`
    UVEA_SIM_FAULT_PARTITION_OUT, // all links leaving node `from`
};

#define UVEA_SIM_ANY_CONNECTION UINT32_MAX
#define UVEA_SIM_NO_BYTE UINT64_MAX

// A fault happens once: when the byte count is reached (RESET and STALL only, at_byte not
// UVEA_SIM_NO_BYTE) or at a time.
//
// While a link stands still, bytes, ends, dials and their answers on it are held; they arrive when
// it moves again. for_ns = UVEA_NEVER means until uvea_sim_heal.
//
// After a RESET, what had arrived can still be read, then both ends get UVEA_ERR_RESET; what was in
// flight is lost. With at_byte = n exactly n bytes arrive.
struct uvea_sim_fault {
    enum uvea_sim_fault_kind kind;
    unsigned from;       // node index: sender of the counted bytes, or the partitioned node
    unsigned to;         // node index; unused for partitions
    uint32_t connection; // RESET: counts dials between the two nodes, in either direction and also
                         // those that failed, from 0; at_byte then counts within it.
                         // UVEA_SIM_ANY_CONNECTION: at_byte counts over the whole link, at_ns
                         // breaks every open connection.
    uint64_t at_byte;
    uint64_t at_ns; // simulated time; a time that has passed means now
    uint64_t for_ns;
};

struct uvea_sim_network_config {
    struct uvea_sim_link_config link; // of every link not listed below
    struct {
        unsigned from;
        unsigned to;
        struct uvea_sim_link_config link;
    } links[UVEA_SIM_LINKS_MAX];
    unsigned link_count;
    struct uvea_sim_fault faults[UVEA_SIM_FAULTS_MAX];
    unsigned fault_count;
};

// Adds a fault, before or during the run. USAGE when a node, a kind or the combination is invalid,
// LIMIT when there are too many.
UVEA_MUST_USE enum uvea_error uvea_sim_inject(struct uvea_sim *sim,
                                              const struct uvea_sim_fault *fault);

// All links move again.
void uvea_sim_heal(struct uvea_sim *sim);

// uvea_rt_stream_shut, with a few last bytes behind what was written: they need no room in the
// window, and nobody is writing when len is not 0. What TLS says at the end of a stream.
void uvea_sim_stream_shut_behind(struct uvea_rt *rt, struct uvea_stream *stream,
                                 const uint8_t *last, size_t len);

// Sees all bytes that arrive anywhere, piece by piece, as an onlooker: it must not change a thing.
typedef void uvea_sim_watch_fn(void *arg, unsigned from, unsigned to, const uint8_t *bytes,
                               size_t count);
// One at most; NULL for none.
void uvea_sim_watch(struct uvea_sim *sim, uvea_sim_watch_fn *fn, void *arg);

struct uvea_sim_traffic {
    uint64_t bytes_written;
    uint64_t bytes_delivered;
    uint64_t pieces; // arrivals these bytes were cut into
};

// What went over one link so far.
struct uvea_sim_traffic uvea_sim_link_traffic(const struct uvea_sim *sim, unsigned from,
                                              unsigned to);

#endif
