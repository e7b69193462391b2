// Two tasks on two nodes with one connection between them: what most stream tests need.
#ifndef UVEA_TESTS_SIM_PEERS_H
#define UVEA_TESTS_SIM_PEERS_H

#include "tests/sim/harness.h"

struct peer {
    struct uvea_rt *rt;
    struct uvea_stream *stream;
    void (*act)(struct peer *peer);
    struct peers *peers;
    uint64_t connected_ns; // simulated time
};

// ends[0] on node 0 dials, ends[1] on node 1 accepts.
struct peers {
    struct uvea_sim *sim;
    struct peer ends[2];
};

static inline uint64_t sim_ns(const struct peer *peer)
{
    return uvea_sim_now_ns(peer->peers->sim);
}

static void peer_dial(void *arg)
{
    struct peer *peer = arg;
    enum uvea_error error = uvea_rt_dial(peer->rt, "p1:1000", &peer->stream, UVEA_NEVER);
    EXPECT(error == UVEA_OK);
    if (error == UVEA_OK) {
        peer->connected_ns = sim_ns(peer);
        peer->act(peer);
        uvea_rt_stream_close(peer->rt, peer->stream);
    }
}

static void peer_accept(void *arg)
{
    struct peer *peer = arg;
    struct uvea_listener *listener;
    enum uvea_error error = uvea_rt_listen(peer->rt, "p1:1000", &listener);
    EXPECT(error == UVEA_OK);
    if (error != UVEA_OK) {
        return;
    }
    error = uvea_rt_accept(peer->rt, listener, &peer->stream, UVEA_NEVER);
    EXPECT(error == UVEA_OK);
    uvea_rt_listener_close(peer->rt, listener);
    if (error == UVEA_OK) {
        peer->connected_ns = sim_ns(peer);
        peer->act(peer);
        uvea_rt_stream_close(peer->rt, peer->stream);
    }
}

static inline void peers_start(struct peers *peers, struct uvea_sim *sim,
                               void (*dialer)(struct peer *), void (*acceptor)(struct peer *))
{
    *peers = (struct peers){.sim = sim};
    peers->ends[0] = (struct peer){.rt = uvea_sim_rt(sim, 0), .act = dialer, .peers = peers};
    peers->ends[1] = (struct peer){.rt = uvea_sim_rt(sim, 1), .act = acceptor, .peers = peers};
    start(sim, 1, "acceptor", peer_accept, &peers->ends[1]);
    start(sim, 0, "dialer", peer_dial, &peers->ends[0]);
}

// Runs both to their end; everything must have been released.
static inline struct uvea_sim_outcome peers_run(const struct uvea_sim_config *config,
                                                void (*dialer)(struct peer *),
                                                void (*acceptor)(struct peer *))
{
    struct peers peers;
    peers_start(&peers, open_sim(config), dialer, acceptor);
    return run_clean(peers.sim);
}

// The byte at a position of every test stream.
static inline uint8_t pattern(size_t at)
{
    return (uint8_t)(at * 2654435761u >> 24 ^ at);
}

static inline void peer_write_pattern(struct peer *peer, size_t from, size_t bytes,
                                      enum uvea_error expected)
{
    uint8_t chunk[5000];
    enum uvea_error error = UVEA_OK;
    for (size_t done = 0; done < bytes && error == UVEA_OK;) {
        size_t part = bytes - done < sizeof(chunk) ? bytes - done : sizeof(chunk);
        for (size_t i = 0; i < part; i++) {
            chunk[i] = pattern(from + done + i);
        }
        error = uvea_rt_write(peer->rt, peer->stream, chunk, part, UVEA_NEVER);
        done += part;
    }
    EXPECT(error == expected);
}

// Reads until the stream ends or fails; gives how many bytes of the pattern came and how it ended
// (OK: orderly).
static inline size_t peer_read_pattern(struct peer *peer, enum uvea_error *end)
{
    uint8_t chunk[3000];
    size_t total = 0;
    for (;;) {
        size_t got;
        *end = uvea_rt_read(peer->rt, peer->stream, chunk, sizeof(chunk), &got, UVEA_NEVER);
        if (*end != UVEA_OK || got == 0) {
            return total;
        }
        for (size_t i = 0; i < got; i++) {
            EXPECT(chunk[i] == pattern(total + i));
        }
        total += got;
    }
}

#endif
