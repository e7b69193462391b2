// The same parties with the same entropy say the same bytes in the simulator and on sockets: every
// connection is tapped at each party, above TLS, and compared.
#include "core/base/check.h"
#include "sim/runtime/random.h"
#include "sim/runtime/sim.h"
#include "tests/posix/fleet.h"
#include "tests/posix/talk.h"
#include "tests/support/cmocka.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECTIONS_MAX = 64,
    SESSIONS = 5,
    CONNECTIONS = 2,
    HELLO_BYTES = 64, // more than the handshake of the mesh takes in either direction
};

// ---- the tap: a runtime's own table with a few functions put in front

struct tapped {
    const struct uvea_stream *stream; // NULL once it is closed
    struct uvea_buf written;
    struct uvea_buf read;
};

struct tap {
    struct uvea_rt *rt;
    const struct uvea_rt_ops *below;
    struct uvea_rt_ops ops;
    pthread_mutex_t lock;
    // By the length of what is drawn: the mesh draws a delay of 8 bytes when it pleases, sessions
    // draw their seeds in order.
    struct uvea_sim_random entropy[2];
    unsigned count;
    struct tapped streams[CONNECTIONS_MAX];
};

static struct tap taps[UVEA_PARTY_COUNT];

static struct tap *tap_of(const struct uvea_rt *rt)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (taps[i].rt == rt) {
            return &taps[i];
        }
    }
    UVEA_CHECK(!"a runtime of this test");
    return NULL;
}

static enum uvea_error tap_entropy(struct uvea_rt *rt, uint8_t *out, size_t bytes)
{
    struct tap *tap = tap_of(rt);
    (void)pthread_mutex_lock(&tap->lock);
    uvea_sim_random_fill(&tap->entropy[bytes == 8], out, bytes);
    (void)pthread_mutex_unlock(&tap->lock);
    return UVEA_OK;
}

static void begin(struct tap *tap, const struct uvea_stream *stream)
{
    (void)pthread_mutex_lock(&tap->lock);
    UVEA_CHECK(tap->count < CONNECTIONS_MAX);
    tap->streams[tap->count++].stream = stream;
    (void)pthread_mutex_unlock(&tap->lock);
}

static struct tapped *find(struct tap *tap, const struct uvea_stream *stream)
{
    for (unsigned i = 0; i < tap->count; i++) {
        if (tap->streams[i].stream == stream) {
            return &tap->streams[i];
        }
    }
    UVEA_CHECK(!"a stream that was seen to begin");
    return NULL;
}

static void note(struct tap *tap, const struct uvea_stream *stream, bool written,
                 const uint8_t *bytes, size_t len)
{
    (void)pthread_mutex_lock(&tap->lock);
    struct tapped *tapped = find(tap, stream);
    UVEA_CHECK(uvea_buf_append(written ? &tapped->written : &tapped->read, bytes, len) == UVEA_OK);
    (void)pthread_mutex_unlock(&tap->lock);
}

static enum uvea_error tap_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                                  struct uvea_stream **stream, uint64_t deadline_ns)
{
    UVEA_TRY(tap_of(rt)->below->accept(rt, listener, stream, deadline_ns));
    begin(tap_of(rt), *stream);
    return UVEA_OK;
}

static enum uvea_error tap_dial(struct uvea_rt *rt, const char *address,
                                struct uvea_stream **stream, uint64_t deadline_ns)
{
    UVEA_TRY(tap_of(rt)->below->dial(rt, address, stream, deadline_ns));
    begin(tap_of(rt), *stream);
    return UVEA_OK;
}

static enum uvea_error tap_read(struct uvea_rt *rt, struct uvea_stream *stream, uint8_t *out,
                                size_t capacity, size_t *got, uint64_t deadline_ns)
{
    UVEA_TRY(tap_of(rt)->below->stream_read(rt, stream, out, capacity, got, deadline_ns));
    note(tap_of(rt), stream, false, out, *got);
    return UVEA_OK;
}

static enum uvea_error tap_write(struct uvea_rt *rt, struct uvea_stream *stream,
                                 const uint8_t *bytes, size_t len, uint64_t deadline_ns)
{
    UVEA_TRY(tap_of(rt)->below->stream_write(rt, stream, bytes, len, deadline_ns));
    note(tap_of(rt), stream, true, bytes, len);
    return UVEA_OK;
}

static void tap_close(struct uvea_rt *rt, struct uvea_stream *stream)
{
    struct tap *tap = tap_of(rt);
    (void)pthread_mutex_lock(&tap->lock);
    find(tap, stream)->stream = NULL;
    (void)pthread_mutex_unlock(&tap->lock);
    tap->below->stream_close(rt, stream);
}

static void tap_open(unsigned index, struct uvea_rt *rt)
{
    struct tap *tap = &taps[index];
    char name[32];
    *tap = (struct tap){.rt = rt, .below = rt->ops, .ops = *rt->ops};
    assert_int_equal(pthread_mutex_init(&tap->lock, NULL), 0);
    for (unsigned i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof(name), "test/%u/%u", index, i);
        uvea_sim_random_init(&tap->entropy[i], 1, name);
    }
    tap->ops.entropy = tap_entropy;
    tap->ops.accept = tap_accept;
    tap->ops.dial = tap_dial;
    tap->ops.stream_read = tap_read;
    tap->ops.stream_write = tap_write;
    tap->ops.stream_close = tap_close;
    rt->ops = &tap->ops;
}

// ---- what was heard

static int compare_bufs(const struct uvea_buf *a, const struct uvea_buf *b)
{
    size_t len = a->len < b->len ? a->len : b->len;
    int order = len > 0 ? memcmp(a->data, b->data, len) : 0;
    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static int compare(const void *a, const void *b)
{
    const struct tapped *left = a;
    const struct tapped *right = b;
    int order = compare_bufs(&left->written, &right->written);
    return order != 0 ? order : compare_bufs(&left->read, &right->read);
}

struct heard {
    unsigned count;
    struct tapped streams[CONNECTIONS_MAX];
};

static void forget(struct tapped *tapped)
{
    uvea_buf_deinit(&tapped->written);
    uvea_buf_deinit(&tapped->read);
}

// Takes what was heard over, in an order that depends on the bytes alone. Connections that came too
// early to be let in are left out: they said hello and no more.
static void take_heard(struct heard heard[UVEA_PARTY_COUNT])
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct tap *tap = &taps[i];
        heard[i].count = 0;
        for (unsigned j = 0; j < tap->count; j++) {
            const struct tapped *tapped = &tap->streams[j];
            if (tapped->written.len > HELLO_BYTES && tapped->read.len > HELLO_BYTES) {
                heard[i].streams[heard[i].count++] = tap->streams[j];
            } else {
                forget(&tap->streams[j]);
            }
        }
        qsort(heard[i].streams, heard[i].count, sizeof(heard[i].streams[0]), compare);
        (void)pthread_mutex_destroy(&tap->lock);
    }
}

// ---- the two worlds

static void configure(struct uvea_mesh_config *mesh)
{
    mesh->session_count = SESSIONS;
    mesh->connection_count = CONNECTIONS;
    mesh->start_jitter_ns_max = 0;
    mesh->retry_delay_ns = 50 * UVEA_MS;
}

static pthread_barrier_t all_done;

static void talk_on_sockets(struct fleet_party *party)
{
    fleet_connect(party);
    RIG_EXPECT(talk(party->rt, party->mesh, uvea_party_at(party->index)));
    (void)pthread_barrier_wait(&all_done);
    uvea_mesh_disconnect(party->mesh);
}

static void hear_sockets(struct heard heard[UVEA_PARTY_COUNT])
{
    struct pki pki;
    struct fleet fleet;
    pki_open(&pki);
    fleet_open(&fleet, &pki);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        configure(&fleet.mesh[i]);
        tap_open(i, fleet.parties[i].rt);
    }
    assert_int_equal(pthread_barrier_init(&all_done, NULL, UVEA_PARTY_COUNT), 0);
    fleet_meshes(&fleet);
    fleet_run(&fleet, talk_on_sockets);
    (void)pthread_barrier_destroy(&all_done);
    fleet_close(&fleet);
    pki_close(&pki);
    take_heard(heard);
}

struct simulated {
    struct uvea_rt *rt;
    unsigned index;
    unsigned *done; // how many have
};

static void talk_simulated(void *arg)
{
    static const char *const addresses[UVEA_PARTY_COUNT] = {"p0:5000", "p1:5000", "p2:5000"};
    struct simulated *party = arg;
    struct uvea_mesh_config config = uvea_mesh_config_default(uvea_party_at(party->index));
    struct uvea_error_context context;
    struct uvea_mesh *mesh = NULL;
    configure(&config);
    config.listen_address = addresses[party->index];
    memcpy(config.dial_address, addresses, sizeof(addresses));
    bool good = uvea_mesh_open(party->rt, &config, &mesh, &context) == UVEA_OK &&
                uvea_mesh_connect(mesh, &context) == UVEA_OK;
    RIG_EXPECT(good);
    RIG_EXPECT(good && talk(party->rt, mesh, uvea_party_at(party->index)));
    *party->done += 1;
    while (good && *party->done < UVEA_PARTY_COUNT &&
           uvea_rt_sleep_ns(party->rt, UVEA_MS) == UVEA_OK) {
    }
    uvea_mesh_close(mesh);
}

static void hear_simulation(struct heard heard[UVEA_PARTY_COUNT])
{
    struct uvea_sim_config config;
    struct uvea_sim_outcome outcome;
    struct uvea_sim *sim;
    struct simulated parties[UVEA_PARTY_COUNT];
    unsigned done = 0;
    uvea_sim_config_init(&config);
    config.seed = 1;
    assert_int_equal(uvea_sim_open(&config, &sim, NULL), UVEA_OK);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        parties[i] = (struct simulated){uvea_sim_rt(sim, i), i, &done};
        tap_open(i, parties[i].rt);
        assert_int_equal(uvea_sim_start(sim, i, "party", talk_simulated, &parties[i]), UVEA_OK);
    }
    uvea_sim_run(sim, &outcome);
    assert_int_equal(outcome.end, UVEA_SIM_FINISHED);
    rig_check();
    uvea_sim_close(sim);
    take_heard(heard);
}

static void test_bytes_above_tls_are_those_of_the_simulator(void **state)
{
    (void)state;
    static struct heard worlds[2][UVEA_PARTY_COUNT];
    size_t bytes = 0;
    hear_simulation(worlds[0]);
    hear_sockets(worlds[1]);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(worlds[0][i].count, worlds[1][i].count);
        assert_true(worlds[0][i].count >= 2 * CONNECTIONS);
        for (unsigned j = 0; j < worlds[0][i].count; j++) {
            struct tapped *simulated = &worlds[0][i].streams[j];
            struct tapped *live = &worlds[1][i].streams[j];
            assert_int_equal(compare(simulated, live), 0);
            bytes += live->written.len;
            forget(simulated);
            forget(live);
        }
    }
    print_message("%zu bytes are the same\n", bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_above_tls_are_those_of_the_simulator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
