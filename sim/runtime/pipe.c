// One direction of a connection: bytes on their way and bytes not yet read.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

#include <string.h>

enum {
    RING_BYTES_MIN = 4096,
    PIECES_MIN = 16,
    SMALL_PIECE_BYTES = 64, // one piece in eight is at most so long
};

static struct uvea_sim *sim_of(const struct uvea_sim_pipe *pipe)
{
    return pipe->connection->sim;
}

static struct uvea_stream *writer_end(struct uvea_sim_pipe *pipe)
{
    return &pipe->connection->ends[pipe->from_end];
}

static struct uvea_stream *reader_end(struct uvea_sim_pipe *pipe)
{
    return &pipe->connection->ends[1 - pipe->from_end];
}

static struct uvea_sim_piece *piece_at(struct uvea_sim_pipe *pipe, size_t index)
{
    return &pipe->pieces[(pipe->piece_first + index) & (pipe->piece_capacity - 1)];
}

// ---- arrival

static void schedule(struct uvea_sim_pipe *pipe)
{
    if (pipe->piece_count > 0) {
        uvea_sim_carry(sim_of(pipe), &pipe->carrier, pipe->link, piece_at(pipe, 0)->arrival_ns);
    } else if (pipe->tail != UVEA_SIM_TAIL_OPEN && !pipe->ended) {
        uvea_sim_carry(sim_of(pipe), &pipe->carrier, pipe->link, pipe->tail_arrival_ns);
    }
}

struct stretch {
    uint8_t *data;
    size_t bytes;
};

// The bytes from position `from` on, as the one or two stretches they occupy in the ring.
static void stretches(const struct uvea_sim_pipe *pipe, uint64_t from, size_t bytes,
                      struct stretch parts[2])
{
    size_t offset = (size_t)from & (pipe->ring_bytes - 1);
    size_t until_wrap = pipe->ring_bytes - offset;
    size_t first = bytes < until_wrap ? bytes : until_wrap;
    parts[0] = (struct stretch){pipe->ring + offset, first};
    parts[1] = (struct stretch){pipe->ring, bytes - first};
}

static void record_delivery(struct uvea_sim *sim, struct uvea_sim_pipe *pipe, size_t bytes)
{
    struct stretch parts[2];
    stretches(pipe, pipe->arrived_at, bytes, parts);
    uvea_sim_trace_bytes(sim->trace, sim->now_ns, UVEA_SIM_EVENT_DELIVER, pipe->link->to,
                         pipe->link->from, bytes,
                         (struct uvea_sim_bytes){parts[0].data, parts[0].bytes},
                         (struct uvea_sim_bytes){parts[1].data, parts[1].bytes});
    for (unsigned i = 0; sim->watch != NULL && i < 2; i++) {
        sim->watch(sim->watch_arg, pipe->link->from, pipe->link->to, parts[i].data, parts[i].bytes);
    }
}

static void deliver(struct uvea_sim *sim, struct uvea_sim_pipe *pipe)
{
    struct uvea_stream *reader = reader_end(pipe);
    uint64_t end = piece_at(pipe, 0)->end;
    size_t bytes = (size_t)(end - pipe->arrived_at);
    pipe->piece_first = (pipe->piece_first + 1) & (pipe->piece_capacity - 1);
    pipe->piece_count--;
    record_delivery(sim, pipe, bytes);
    pipe->arrived_at = end;
    pipe->link->traffic.bytes_delivered += bytes;
    pipe->link->traffic.pieces++;
    if (reader->shut) {
        pipe->read_at = end;
        uvea_sim_wake_all(&pipe->writer, UVEA_OK);
    }
    uvea_sim_wake_all(&pipe->reader, UVEA_OK);
}

static void arrive_end(struct uvea_sim_pipe *pipe)
{
    struct uvea_stream *reader = reader_end(pipe);
    pipe->ended = true;
    uvea_sim_record(reader->node, UVEA_SIM_EVENT_END, pipe->link->from, pipe->connection->number,
                    NULL);
    uvea_sim_wake_all(&pipe->reader, UVEA_OK);
    // The peer has ended both directions: nobody will read what this end still writes.
    uvea_sim_wake_all(&pipe->connection->pipes[1 - pipe->from_end].writer, UVEA_OK);
}

static void arrive(struct uvea_sim *sim, struct uvea_sim_event *event)
{
    struct uvea_sim_pipe *pipe = (struct uvea_sim_pipe *)event;
    if (uvea_sim_carrier_held(sim, &pipe->carrier)) {
        return;
    }
    if (pipe->piece_count > 0) {
        deliver(sim, pipe);
        schedule(pipe);
    } else if (pipe->tail == UVEA_SIM_TAIL_END) {
        arrive_end(pipe);
    } else {
        uvea_sim_connection_break(pipe->connection);
    }
}

// ---- life

void uvea_sim_pipe_init(struct uvea_sim_pipe *pipe, struct uvea_sim_connection *connection,
                        unsigned from_end, struct uvea_sim_link *link)
{
    pipe->carrier.event.fire = arrive;
    pipe->connection = connection;
    pipe->from_end = from_end;
    pipe->link = link;
}

void uvea_sim_pipe_deinit(struct uvea_sim *sim, struct uvea_sim_pipe *pipe)
{
    uvea_sim_carrier_drop(sim, &pipe->carrier);
    uvea_mem_free(pipe->ring);
    uvea_mem_free(pipe->pieces);
}

// Nothing overtakes what was sent before on the same pipe.
static uint64_t not_before_last(struct uvea_sim_pipe *pipe, uint64_t arrival_ns)
{
    if (pipe->piece_count == 0) {
        return arrival_ns;
    }
    uint64_t last_ns = piece_at(pipe, pipe->piece_count - 1)->arrival_ns;
    return arrival_ns > last_ns ? arrival_ns : last_ns;
}

void uvea_sim_pipe_finish(struct uvea_sim_pipe *pipe, enum uvea_sim_tail tail)
{
    if (pipe->tail != UVEA_SIM_TAIL_OPEN || pipe->connection->broken) {
        return;
    }
    pipe->tail = tail;
    pipe->tail_arrival_ns =
        not_before_last(pipe, uvea_sim_link_arrival_ns(sim_of(pipe), pipe->link));
    if (pipe->piece_count == 0) {
        schedule(pipe);
    }
}

void uvea_sim_pipe_break(struct uvea_sim_pipe *pipe)
{
    uvea_sim_carrier_drop(sim_of(pipe), &pipe->carrier);
    pipe->written_at = pipe->arrived_at;
    pipe->piece_count = 0;
    uvea_sim_wake_all(&pipe->reader, UVEA_OK);
    uvea_sim_wake_all(&pipe->writer, UVEA_OK);
}

// ---- reading

// One read gives any part of what has arrived: in one of four cases less than it could.
static size_t read_length(struct uvea_sim_pipe *pipe, size_t available)
{
    struct uvea_sim_random *random = &pipe->link->read_random;
    if (pipe->link->config.piece_bytes_max == 0 || available == 1 ||
        !uvea_sim_random_chance(random, 1, 4)) {
        return available;
    }
    return (size_t)uvea_sim_random_range(random, 1, available);
}

static size_t take(struct uvea_sim_pipe *pipe, uint8_t *out, size_t capacity)
{
    uint64_t arrived = pipe->arrived_at - pipe->read_at;
    size_t bytes = read_length(pipe, capacity < arrived ? capacity : (size_t)arrived);
    struct stretch parts[2];
    stretches(pipe, pipe->read_at, bytes, parts);
    memcpy(out, parts[0].data, parts[0].bytes);
    memcpy(out + parts[0].bytes, parts[1].data, parts[1].bytes);
    pipe->read_at += bytes;
    uvea_sim_wake_all(&pipe->writer, UVEA_OK);
    return bytes;
}

enum uvea_error uvea_sim_op_stream_read(struct uvea_rt *rt, struct uvea_stream *stream,
                                        uint8_t *out, size_t capacity, size_t *got,
                                        uint64_t deadline_ns)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_sim_connection *connection = stream->connection;
    struct uvea_sim_pipe *pipe = &connection->pipes[1 - stream->end];
    UVEA_CHECK(stream->node == node && capacity >= 1 && pipe->reader.first == NULL);
    for (;;) {
        if (stream->shut || stream->unusable) {
            (void)uvea_sim_refuses(node);
            return UVEA_ERR_CLOSED;
        }
        if (pipe->read_at < pipe->arrived_at) {
            *got = take(pipe, out, capacity);
            return UVEA_OK;
        }
        if (pipe->ended) {
            *got = 0;
            return UVEA_OK;
        }
        if (connection->broken) {
            return UVEA_ERR_RESET;
        }
        UVEA_TRY(uvea_sim_wait(node, &pipe->reader, UVEA_SIM_WAIT_READ, stream, deadline_ns));
    }
}

// ---- writing

static size_t power_of_two_at_least(size_t least, size_t start)
{
    size_t size = start;
    while (size < least) {
        size *= 2;
    }
    return size;
}

static enum uvea_error ring_reserve(struct uvea_sim_pipe *pipe, size_t more)
{
    size_t held = (size_t)(pipe->written_at - pipe->read_at);
    if (held + more <= pipe->ring_bytes) {
        return UVEA_OK;
    }
    size_t ring_bytes = power_of_two_at_least(held + more, RING_BYTES_MIN);
    uint8_t *ring = uvea_mem_alloc(ring_bytes, 1);
    if (ring == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (uint64_t at = pipe->read_at; at < pipe->written_at;) {
        size_t from = (size_t)at & (pipe->ring_bytes - 1);
        size_t to = (size_t)at & (ring_bytes - 1);
        size_t bytes = (size_t)(pipe->written_at - at);
        bytes = bytes < pipe->ring_bytes - from ? bytes : pipe->ring_bytes - from;
        bytes = bytes < ring_bytes - to ? bytes : ring_bytes - to;
        memcpy(ring + to, pipe->ring + from, bytes);
        at += bytes;
    }
    uvea_mem_free(pipe->ring);
    pipe->ring = ring;
    pipe->ring_bytes = ring_bytes;
    return UVEA_OK;
}

static enum uvea_error pieces_reserve(struct uvea_sim_pipe *pipe)
{
    if (pipe->piece_count < pipe->piece_capacity) {
        return UVEA_OK;
    }
    size_t capacity = pipe->piece_capacity == 0 ? PIECES_MIN : 2 * pipe->piece_capacity;
    struct uvea_sim_piece *pieces = uvea_mem_alloc(capacity, sizeof(*pieces));
    if (pieces == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < pipe->piece_count; i++) {
        pieces[i] = *piece_at(pipe, i);
    }
    uvea_mem_free(pipe->pieces);
    pipe->pieces = pieces;
    pipe->piece_capacity = capacity;
    pipe->piece_first = 0;
    return UVEA_OK;
}

static size_t draw_piece_bytes(struct uvea_sim_link *link)
{
    size_t most = link->config.piece_bytes_max;
    if (most == 0) {
        return SIZE_MAX;
    }
    if (most > SMALL_PIECE_BYTES && uvea_sim_random_chance(&link->random, 1, 8)) {
        most = SMALL_PIECE_BYTES;
    }
    return (size_t)uvea_sim_random_range(&link->random, 1, most);
}

// The piece that the next bytes join: the last one when it was begun at this instant and has room,
// or a new one.
static enum uvea_error open_piece(struct uvea_sim_pipe *pipe)
{
    uint64_t now_ns = sim_of(pipe)->now_ns;
    if (pipe->piece_count > 0) {
        struct uvea_sim_piece *last = piece_at(pipe, pipe->piece_count - 1);
        if (last->written_ns == now_ns && last->room > 0) {
            return UVEA_OK;
        }
    }
    UVEA_TRY(pieces_reserve(pipe));
    struct uvea_sim_piece piece = {
        .end = pipe->written_at,
        .written_ns = now_ns,
        .room = draw_piece_bytes(pipe->link),
        .jitter_ns = uvea_sim_random_exponential(&pipe->link->random, pipe->link->config.jitter_ns),
    };
    piece.arrival_ns = not_before_last(pipe, 0);
    pipe->piece_count++;
    *piece_at(pipe, pipe->piece_count - 1) = piece;
    return UVEA_OK;
}

// When the last of `bytes` bytes has left the link, after those that other writers queued.
static uint64_t transmit(struct uvea_sim *sim, struct uvea_sim_link *link, size_t bytes)
{
    uint64_t start_ns = link->busy_until_ns > sim->now_ns ? link->busy_until_ns : sim->now_ns;
    uint64_t bits_s = link->config.bandwidth_bits_s;
    if (bits_s != 0) {
        unsigned __int128 bits = (unsigned __int128)bytes * 8;
        unsigned __int128 end_ns = start_ns + bits * UVEA_SECOND / bits_s;
        start_ns = end_ns > UVEA_NEVER ? UVEA_NEVER : (uint64_t)end_ns;
    }
    link->busy_until_ns = start_ns;
    return start_ns;
}

static void append(struct uvea_sim_pipe *pipe, const uint8_t *bytes, size_t len)
{
    struct uvea_sim_link *link = pipe->link;
    struct uvea_sim_piece *piece = piece_at(pipe, pipe->piece_count - 1);
    struct stretch parts[2];
    stretches(pipe, pipe->written_at, len, parts);
    memcpy(parts[0].data, bytes, parts[0].bytes);
    memcpy(parts[1].data, bytes + parts[0].bytes, parts[1].bytes);
    pipe->written_at += len;
    link->traffic.bytes_written += len;
    piece->end = pipe->written_at;
    piece->room -= len;
    unsigned __int128 arrival_ns = transmit(sim_of(pipe), link, len);
    arrival_ns += link->config.latency_ns;
    arrival_ns += piece->jitter_ns;
    if (arrival_ns > piece->arrival_ns) {
        piece->arrival_ns = arrival_ns > UVEA_NEVER ? UVEA_NEVER : (uint64_t)arrival_ns;
    }
    if (pipe->piece_count == 1) {
        schedule(pipe);
    }
}

// Writes what fits into one piece, `space` and the next byte fault; *done counts it. A reset that
// is under way swallows everything.
static enum uvea_error write_some(struct uvea_sim_pipe *pipe, const uint8_t *bytes, size_t len,
                                  size_t space, size_t *done)
{
    struct uvea_sim *sim = sim_of(pipe);
    if (pipe->tail == UVEA_SIM_TAIL_RESET) {
        *done = len;
        return UVEA_OK;
    }
    struct uvea_sim_armed_fault *fault;
    size_t part = uvea_sim_fault_limit(sim, pipe, len < space ? len : space, &fault);
    if (part > 0) {
        UVEA_TRY(ring_reserve(pipe, part));
        UVEA_TRY(open_piece(pipe));
        size_t room = piece_at(pipe, pipe->piece_count - 1)->room;
        if (part > room) {
            part = room;
            fault = NULL;
        }
        append(pipe, bytes, part);
    }
    if (fault != NULL) {
        uvea_sim_fault_at_byte(sim, pipe, fault);
    }
    *done = part;
    return UVEA_OK;
}

static enum uvea_error write_all(struct uvea_sim_node *node, struct uvea_sim_pipe *pipe,
                                 const uint8_t *bytes, size_t len, uint64_t deadline_ns)
{
    struct uvea_stream *stream = writer_end(pipe);
    const struct uvea_sim_connection *connection = pipe->connection;
    while (len > 0) {
        if (stream->shut || connection->pipes[1 - pipe->from_end].ended) {
            return UVEA_ERR_CLOSED;
        }
        if (connection->broken) {
            return UVEA_ERR_RESET;
        }
        size_t space = pipe->link->config.window_bytes - (size_t)(pipe->written_at - pipe->read_at);
        if (space == 0) {
            UVEA_TRY(uvea_sim_wait(node, &pipe->writer, UVEA_SIM_WAIT_WRITE, stream, deadline_ns));
            continue;
        }
        size_t done;
        UVEA_TRY(write_some(pipe, bytes, len, space, &done));
        bytes += done;
        len -= done;
    }
    return UVEA_OK;
}

enum uvea_error uvea_sim_op_stream_write(struct uvea_rt *rt, struct uvea_stream *stream,
                                         const uint8_t *bytes, size_t len, uint64_t deadline_ns)
{
    struct uvea_sim_node *node = uvea_sim_node_of(rt);
    struct uvea_sim_pipe *pipe = &stream->connection->pipes[stream->end];
    UVEA_CHECK(stream->node == node && pipe->writer.first == NULL);
    if (uvea_sim_refuses(node) || stream->unusable) {
        return UVEA_ERR_CLOSED;
    }
    enum uvea_error error = write_all(node, pipe, bytes, len, deadline_ns);
    if (error != UVEA_OK) {
        stream->unusable = error == UVEA_ERR_TIMEOUT || error == UVEA_ERR_MEMORY;
    }
    return error;
}

void uvea_sim_stream_shut_behind(struct uvea_rt *rt, struct uvea_stream *stream,
                                 const uint8_t *last, size_t len)
{
    struct uvea_sim_connection *connection = stream->connection;
    struct uvea_sim_pipe *pipe = &connection->pipes[stream->end];
    bool open = !stream->shut && !stream->unusable && !connection->broken &&
                !connection->pipes[1 - stream->end].ended &&
                !uvea_sim_refuses(uvea_sim_node_of(rt));
    UVEA_CHECK(len == 0 || pipe->writer.first == NULL);
    while (open && len > 0 && !connection->broken) {
        size_t done;
        if (write_some(pipe, last, len, len, &done) != UVEA_OK) {
            break;
        }
        last += done;
        len -= done;
    }
    uvea_sim_op_stream_shut(rt, stream);
}
