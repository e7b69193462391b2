#include "tests/tls/pair.h"

#include "core/base/mem.h"
#include "sim/runtime/network.h"
#include "tests/sim/harness.h"

static unsigned failures;

void pair_note(bool holds, const char *file, int line, const char *what)
{
    if (!holds) {
        failures++;
        print_error("%s:%d: does not hold: %s\n", file, line, what);
    }
}

// ---- the simulator's streams as a transport

struct carrier {
    struct uvea_rt *rt;
    struct uvea_stream *stream;
};

static enum uvea_error carrier_read(void *arg, uint8_t *out, size_t capacity, size_t *got,
                                    uint64_t deadline_ns)
{
    struct carrier *carrier = arg;
    return uvea_rt_read(carrier->rt, carrier->stream, out, capacity, got, deadline_ns);
}

static enum uvea_error carrier_write(void *arg, const uint8_t *bytes, size_t len,
                                     uint64_t deadline_ns)
{
    struct carrier *carrier = arg;
    return uvea_rt_write(carrier->rt, carrier->stream, bytes, len, deadline_ns);
}

static void carrier_shut(void *arg, const uint8_t *last, size_t len)
{
    struct carrier *carrier = arg;
    uvea_sim_stream_shut_behind(carrier->rt, carrier->stream, last, len);
}

static void carrier_close(void *arg)
{
    struct carrier *carrier = arg;
    uvea_rt_stream_close(carrier->rt, carrier->stream);
    uvea_mem_free(carrier);
}

// ---- the two ends

static void go(struct side *side)
{
    if (side->tls != NULL) {
        struct carrier *carrier = uvea_mem_alloc(1, sizeof(*carrier));
        UVEA_CHECK(carrier != NULL);
        *carrier = (struct carrier){side->rt, side->bare};
        struct uvea_tls_transport transport = {carrier, carrier_read, carrier_write, carrier_shut,
                                               carrier_close};
        enum uvea_error error =
            uvea_tls_stream_open(side->rt, side->tls, &transport, side->host, &side->stream);
        PAIR_EXPECT(error == UVEA_OK);
        if (error != UVEA_OK) {
            return;
        }
    }
    side->act(side);
    if (side->stream != NULL) {
        uvea_tls_stream_close(side->stream);
    } else {
        uvea_rt_stream_close(side->rt, side->bare);
    }
}

static void dial(void *arg)
{
    struct side *side = arg;
    enum uvea_error error = uvea_rt_dial(side->rt, "p1:1000", &side->bare, UVEA_NEVER);
    PAIR_EXPECT(error == UVEA_OK);
    if (error == UVEA_OK) {
        go(side);
    }
}

static void listen(void *arg)
{
    struct side *side = arg;
    struct uvea_listener *listener;
    enum uvea_error error = uvea_rt_listen(side->rt, "p1:1000", &listener);
    PAIR_EXPECT(error == UVEA_OK);
    if (error != UVEA_OK) {
        return;
    }
    error = uvea_rt_accept(side->rt, listener, &side->bare, UVEA_NEVER);
    PAIR_EXPECT(error == UVEA_OK);
    uvea_rt_listener_close(side->rt, listener);
    if (error == UVEA_OK) {
        go(side);
    }
}

void pair_open(struct pair *pair, struct pki *pki, const struct uvea_sim_config *config)
{
    *pair = (struct pair){.sim = open_sim(config)};
    failures = 0;
    for (unsigned i = 0; i < 2; i++) {
        pair->sides[i] = (struct side){.pair = pair, .rt = uvea_sim_rt(pair->sim, i)};
    }
    pair->sides[DIALS].host = "p1";
    pair->sides[DIALS].tls = pki_tls(pki, "dialler", &good_dialler, pair->sides[DIALS].rt);
    pair->sides[LISTENS].tls = pki_tls(pki, "listener", &good_listener, pair->sides[LISTENS].rt);
}

void pair_replace(struct pair *pair, unsigned side, struct uvea_tls *tls)
{
    uvea_tls_close(pair->sides[side].tls);
    pair->sides[side].tls = tls;
}

void pair_run(struct pair *pair, side_fn *dialler, side_fn *listener)
{
    pair->sides[DIALS].act = dialler;
    pair->sides[LISTENS].act = listener;
    start(pair->sim, 1, "listener", listen, &pair->sides[LISTENS]);
    start(pair->sim, 0, "dialler", dial, &pair->sides[DIALS]);
    (void)run_clean(pair->sim);
    uvea_tls_close(pair->sides[0].tls);
    uvea_tls_close(pair->sides[1].tls);
    assert_int_equal(failures, 0);
}

// ---- for acts

uint8_t side_pattern(size_t at)
{
    return (uint8_t)(at * 2654435761u >> 24 ^ at);
}

void side_write(struct side *side, size_t from, size_t bytes, enum uvea_error expected)
{
    uint8_t *chunk = uvea_mem_alloc(bytes, 1);
    UVEA_CHECK(chunk != NULL);
    for (size_t i = 0; i < bytes; i++) {
        chunk[i] = side_pattern(from + i);
    }
    enum uvea_error error = uvea_tls_stream_write(side->stream, chunk, bytes, UVEA_NEVER);
    PAIR_EXPECT(error == expected);
    uvea_mem_free(chunk);
}

size_t side_read(struct side *side, size_t from, size_t most, enum uvea_error *end)
{
    uint8_t chunk[3000];
    size_t total = 0;
    *end = UVEA_ERR_LIMIT;
    while (total < most) {
        size_t got;
        size_t part = most - total < sizeof(chunk) ? most - total : sizeof(chunk);
        *end = uvea_tls_stream_read(side->stream, chunk, part, &got, UVEA_NEVER);
        if (*end != UVEA_OK || got == 0) {
            return total;
        }
        for (size_t i = 0; i < got; i++) {
            PAIR_EXPECT(chunk[i] == side_pattern(from + total + i));
        }
        total += got;
        *end = UVEA_ERR_LIMIT;
    }
    return total;
}

void side_says(struct side *side, const char *reason)
{
    struct uvea_error_context said = {{0}};
    uvea_tls_stream_reason(side->stream, &said);
    bool same = strcmp(said.text, reason) == 0;
    if (!same) {
        print_error("it says: %s\n  not: %s\n", said.text, reason);
    }
    PAIR_EXPECT(same);
}
