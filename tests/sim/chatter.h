// A small program for the determinism tests: three parties in a ring, each of which dials the next,
// exchanges messages of varied length in both directions, computes, sleeps, times out and dials
// again when a connection breaks; and a client that watches.
#ifndef UVEA_TESTS_SIM_CHATTER_H
#define UVEA_TESTS_SIM_CHATTER_H

#include "core/base/endian.h"
#include "tests/sim/harness.h"

enum { CHATTER_ROUNDS = 40, CHATTER_BYTES_MAX = 40000, CHATTER_PARTIES = 3 };

struct chatter_party {
    struct uvea_rt *rt;
    unsigned index;
    unsigned rounds; // answered so far
    unsigned dials;
    unsigned timeouts;
    unsigned served;
};

struct chatter {
    struct uvea_sim *sim;
    struct chatter_party parties[CHATTER_PARTIES];
};

static const char *const chatter_addresses[CHATTER_PARTIES] = {"p0:7000", "p1:7000", "p2:7000"};

// Answers messages (4 bytes of length, then that many bytes) with their byte sum.
static void chatter_serve_stream(struct chatter_party *party, struct uvea_stream *stream)
{
    uint8_t bytes[CHATTER_BYTES_MAX];
    uint8_t word[4];
    while (uvea_rt_read_exact(party->rt, stream, word, sizeof(word), UVEA_NEVER) == UVEA_OK) {
        uint32_t len = uvea_load_le32(word);
        uint32_t sum = 0;
        if (len > sizeof(bytes) ||
            uvea_rt_read_exact(party->rt, stream, bytes, len, UVEA_NEVER) != UVEA_OK) {
            break;
        }
        for (uint32_t i = 0; i < len; i++) {
            sum += bytes[i];
        }
        uvea_rt_charge(party->rt, UVEA_CHARGE_MPC_WORD, len / 8);
        uvea_store_le32(word, sum);
        if (uvea_rt_write(party->rt, stream, word, sizeof(word), UVEA_NEVER) != UVEA_OK) {
            break;
        }
        party->served++;
    }
    uvea_rt_stream_close(party->rt, stream);
}

static void chatter_server(void *arg)
{
    struct chatter_party *party = arg;
    struct uvea_listener *listener;
    enum uvea_error error = uvea_rt_listen(party->rt, chatter_addresses[party->index], &listener);
    EXPECT(error == UVEA_OK);
    if (error != UVEA_OK) {
        return;
    }
    struct uvea_stream *stream;
    while (uvea_rt_accept(party->rt, listener, &stream,
                          uvea_rt_deadline_ns(party->rt, 5 * UVEA_SECOND)) == UVEA_OK) {
        chatter_serve_stream(party, stream);
    }
    uvea_rt_listener_close(party->rt, listener);
}

// One message and its answer; false when the connection is gone.
static bool chatter_round(struct chatter_party *party, struct uvea_stream *stream)
{
    uint8_t bytes[4 + CHATTER_BYTES_MAX];
    uint8_t word[4];
    EXPECT(uvea_rt_entropy(party->rt, word, sizeof(word)) == UVEA_OK);
    uint32_t len = uvea_load_le32(word) % CHATTER_BYTES_MAX;
    uint32_t sum = 0;
    uvea_store_le32(bytes, len);
    EXPECT(uvea_rt_entropy(party->rt, bytes + 4, len) == UVEA_OK);
    for (uint32_t i = 0; i < len; i++) {
        sum += bytes[4 + i];
    }
    uint64_t deadline_ns = uvea_rt_deadline_ns(party->rt, 40 * UVEA_MS);
    enum uvea_error error = uvea_rt_write(party->rt, stream, bytes, 4, deadline_ns);
    if (error == UVEA_OK) {
        error = uvea_rt_write(party->rt, stream, bytes + 4, len, deadline_ns);
    }
    if (error == UVEA_OK) {
        error = uvea_rt_read_exact(party->rt, stream, word, sizeof(word), deadline_ns);
    }
    if (error == UVEA_ERR_TIMEOUT) {
        party->timeouts++;
    }
    if (error != UVEA_OK) {
        return false;
    }
    EXPECT(uvea_load_le32(word) == sum);
    return true;
}

static void chatter_talk(void *arg)
{
    struct chatter_party *party = arg;
    const char *address = chatter_addresses[(party->index + 1) % CHATTER_PARTIES];
    while (party->rounds < CHATTER_ROUNDS) {
        struct uvea_stream *stream;
        party->dials++;
        if (uvea_rt_dial(party->rt, address, &stream, UVEA_NEVER) != UVEA_OK) {
            EXPECT(uvea_rt_sleep_ns(party->rt, UVEA_MS) == UVEA_OK);
            continue;
        }
        while (party->rounds < CHATTER_ROUNDS && chatter_round(party, stream)) {
            party->rounds++;
            uvea_rt_charge(party->rt, UVEA_CHARGE_RING_SCORE, party->rounds);
        }
        uvea_rt_stream_close(party->rt, stream);
    }
    uvea_sim_note(party->rt, "talked", address);
}

static void chatter_main(void *arg)
{
    struct chatter_party *party = arg;
    struct uvea_task *server;
    struct uvea_task *talker;
    EXPECT(uvea_rt_spawn(party->rt, "server", chatter_server, party, &server) == UVEA_OK);
    EXPECT(uvea_rt_spawn(party->rt, "talker", chatter_talk, party, &talker) == UVEA_OK);
    uvea_rt_join(party->rt, talker);
    uvea_rt_join(party->rt, server);
}

struct chatter_ticker {
    struct uvea_rt *rt;
    struct uvea_channel *channel;
};

static void chatter_tick(void *arg)
{
    static int items[20];
    struct chatter_ticker *ticker = arg;
    for (unsigned i = 0; i < UVEA_COUNT_OF(items); i++) {
        EXPECT(uvea_rt_sleep_ns(ticker->rt, i * UVEA_MS) == UVEA_OK);
        EXPECT(uvea_rt_channel_send(ticker->rt, ticker->channel, &items[i], UVEA_NEVER) == UVEA_OK);
    }
    uvea_rt_channel_shut(ticker->rt, ticker->channel);
}

static void chatter_client(void *arg)
{
    struct chatter *chatter = arg;
    struct chatter_ticker ticker = {.rt = uvea_sim_rt(chatter->sim, 3)};
    struct uvea_task *task;
    EXPECT(uvea_rt_channel_open(ticker.rt, 2, &ticker.channel) == UVEA_OK);
    EXPECT(uvea_rt_spawn(ticker.rt, "ticker", chatter_tick, &ticker, &task) == UVEA_OK);
    for (;;) {
        void *item;
        uint64_t deadline_ns = uvea_rt_deadline_ns(ticker.rt, 7 * UVEA_MS);
        enum uvea_error error = uvea_rt_channel_recv(ticker.rt, ticker.channel, &item, deadline_ns);
        uvea_sim_note(ticker.rt, "tick", uvea_error_name(error));
        if (error == UVEA_ERR_CLOSED) {
            break;
        }
    }
    uvea_rt_join(ticker.rt, task);
    uvea_rt_channel_close(ticker.rt, ticker.channel);
}

// Splitting links with jitter, drifting clocks, a reset in the middle of a message, a stall.
static inline struct uvea_sim_config chatter_config(uint64_t seed)
{
    struct uvea_sim_config config;
    uvea_sim_config_init(&config);
    config.seed = seed;
    config.nodes[1].clock_offset_ns = -3 * (int64_t)UVEA_SECOND;
    config.nodes[1].clock_drift_ppm = 200;
    config.nodes[2].clock_drift_ppm = -150;
    config.network.link.window_bytes = 10000;
    config.network.faults[0] = (struct uvea_sim_fault){.kind = UVEA_SIM_FAULT_RESET,
                                                       .from = 2,
                                                       .to = 0,
                                                       .connection = UVEA_SIM_ANY_CONNECTION,
                                                       .at_byte = 123457};
    config.network.faults[1] = (struct uvea_sim_fault){.kind = UVEA_SIM_FAULT_STALL,
                                                       .from = 1,
                                                       .to = 2,
                                                       .connection = UVEA_SIM_ANY_CONNECTION,
                                                       .at_byte = UVEA_SIM_NO_BYTE,
                                                       .at_ns = 50 * UVEA_MS,
                                                       .for_ns = 100 * UVEA_MS};
    config.network.fault_count = 2;
    return config;
}

static inline void chatter_start(struct chatter *chatter, struct uvea_sim *sim)
{
    *chatter = (struct chatter){.sim = sim};
    for (unsigned i = 0; i < CHATTER_PARTIES; i++) {
        chatter->parties[i] = (struct chatter_party){.rt = uvea_sim_rt(sim, i), .index = i};
        start(sim, i, "main", chatter_main, &chatter->parties[i]);
    }
    start(sim, 3, "client", chatter_client, chatter);
}

#endif
