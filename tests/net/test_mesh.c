#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/net/mesh.h"
#include "core/net/parcel.h"
#include "tests/net/raw_peer.h"
#include "tests/net/trio.h"
#include "tests/support/hex.h"

#include <stdio.h>
#include <string.h>

static const uint32_t shapes[][2] = {{4, 1}, {24, 16}, {7, 3}, {1, 16}};

// ---- configuration

static void first_ids_advance_and_wrap(void **state)
{
    (void)state;
    assert_int_equal(uvea_mesh_first_id_after(0, 24), 24);
    assert_int_equal(uvea_mesh_first_id_after(24, 24), 48);
    // The last id that leaves a whole generation below 2^32 - 1, and the one after it.
    assert_int_equal(uvea_mesh_first_id_after(UINT32_MAX - 24 - 24 - 1, 24), UINT32_MAX - 24 - 1);
    assert_int_equal(uvea_mesh_first_id_after(UINT32_MAX - 24 - 24, 24), 0);
    assert_int_equal(uvea_mesh_first_id_after(UINT32_MAX - 1, 24), 0); // saturates, not wraps
    assert_int_equal(uvea_mesh_first_id_after(UINT32_MAX, 1), 0);
}

static void expect_usage(const struct uvea_mesh_config *config, const char *part)
{
    struct uvea_mesh *mesh = NULL;
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_mesh_open(NULL, config, &mesh, &context), UVEA_ERR_USAGE);
    assert_null(mesh);
    assert_true(trio_says(&context, "mesh: ", part));
}

static void configuration_is_checked(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, NULL);
    static char longest[UVEA_MESH_FRAME_OVERHEAD_BYTES];
    memset(longest, 'x', 129);
    struct uvea_mesh_config config = trio.mesh[2];
    config.session_count = 0;
    expect_usage(&config, "0 sessions");
    config.session_count = UVEA_MESH_SESSION_COUNT_MAX + 1;
    expect_usage(&config, "1048577 sessions");
    config = trio.mesh[2];
    config.connection_count = 0;
    expect_usage(&config, "0 connections");
    config.connection_count = 1025;
    expect_usage(&config, "1025 connections");
    config = trio.mesh[2];
    config.value_bytes_max = 16;
    expect_usage(&config, "16 bytes");
    config = trio.mesh[2];
    config.queue_bytes_max = config.value_bytes_max;
    expect_usage(&config, "does not hold one value");
    config = trio.mesh[2];
    config.identity[1] = longest;
    expect_usage(&config, "identity of party 1");
    config.identity[1] = "\xff";
    expect_usage(&config, "identity of party 1");
    config.identity[1] = NULL;
    expect_usage(&config, "identity of party 1");
    config.identity[1] = "charlie";
    expect_usage(&config, "same identity");
    config = trio.mesh[2];
    config.dial_address[0] = NULL;
    expect_usage(&config, "no address to dial party 0 at");
    config = trio.mesh[2];
    config.listen_address = NULL;
    expect_usage(&config, "listen");
    config = trio.mesh[2];
    config.party.index = 3;
    expect_usage(&config, "party 3");
}

static void listen_where_others_do(struct trio_party *party)
{
    const struct uvea_mesh_config *config = &party->trio->mesh[party->index];
    struct uvea_error_context context = {{0}};
    struct uvea_listener *other;
    struct uvea_mesh *mesh;
    TRIO_EXPECT(party->trio, uvea_rt_listen(party->rt, config->listen_address, &other) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_mesh_open(party->rt, config, &mesh, &context) == UVEA_ERR_IN_USE);
    TRIO_EXPECT(party->trio,
                trio_says(&context, "mesh: listening at p0:5000: address already in use", ""));
    uvea_rt_listener_close(party->rt, other);
}

static void an_occupied_address_is_named(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, NULL);
    trio.fn[0] = listen_where_others_do;
    trio.raw[0] = true;
    trio_run(&trio);
}

// ---- what a neighbour sees on the wire

struct wire_test {
    struct raw_peer peers[2];
};

static void charlie_two_generations(struct trio_party *party)
{
    for (int generation = 0; generation < 2; generation++) {
        trio_connect(party);
        TRIO_EXPECT(party->trio, uvea_mesh_session_id(party->mesh, 1) == 24u * generation + 1);
        uvea_mesh_disconnect(party->mesh);
    }
    const uint64_t bytes = UINT64_C(2) * UVEA_PEER_COUNT * 24 * 21; // frames of validation
    TRIO_EXPECT(party->trio, uvea_mesh_bytes_sent(party->mesh) == bytes);
    TRIO_EXPECT(party->trio, uvea_mesh_counters(party->mesh).bytes_received == bytes);
}

static void raw_two_generations(struct trio_party *party)
{
    struct wire_test *test = party->trio->arg;
    struct raw_peer *peer = &test->peers[party->index];
    raw_peer_open(peer, party);
    raw_peer_serve(peer, 16);
    raw_peer_serve(peer, 16);
    raw_peer_close(peer);
}

static const struct raw_connection *connection_of(const struct raw_peer *peer, unsigned generation,
                                                  uint32_t id)
{
    for (unsigned i = 16 * generation; i < 16 * (generation + 1); i++) {
        if (peer->connections[i].id == id) {
            return &peer->connections[i];
        }
    }
    fail_msg("no connection %u", id);
    return NULL;
}

static void golden_connections(void **state)
{
    (void)state;
    static struct wire_test test;
    memset(&test, 0, sizeof(test));
    struct trio trio;
    trio_init(&trio, raw_two_generations);
    trio.raw[0] = trio.raw[1] = true;
    trio.fn[2] = charlie_two_generations;
    trio.mesh[2].session_count = 24;
    trio.mesh[2].connection_count = 16;
    trio.arg = &test;
    trio_run(&trio);

    const struct {
        unsigned generation;
        uint32_t id;
        const char *hello;
        const char *data;
    } cases[] = {
        {0, 0, "00000000 00000007 636861726c6965",
         "00000000 01 00000000000000000000000000000000"
         "10000000 01 10000000000000000000000000000000"},
        {0, 3, "00000003 00000007 636861726c6965",
         "03000000 01 03000000000000000000000000000000"
         "13000000 01 13000000000000000000000000000000"},
        {0, 15, "0000000f 00000007 636861726c6965", "0f000000 01 0f000000000000000000000000000000"},
        {1, 1, "00000001 00000007 636861726c6965",
         "19000000 01 01000000000000000000000000000000"
         "29000000 01 11000000000000000000000000000000"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (unsigned side = 0; side < 2; side++) {
            const struct raw_connection *connection =
                connection_of(&test.peers[side], cases[i].generation, cases[i].id);
            uvea_test_assert_hex(connection->hello, connection->hello_bytes, cases[i].hello);
            uvea_test_assert_hex(connection->record, connection->record_bytes, cases[i].data);
            assert_int_equal(connection->end, UVEA_OK);
        }
    }
}

// ---- values of every kind through every session

static const size_t lengths[] = {0, 1, 7, 8, 9, 63, 64, 65, 1000};
enum { LENGTH_COUNT = 9, KIND_COUNT = 16, ELEMENTS_MAX = 1000 };

// Appends a value of kind number `kind`, contents from trio_byte.
static enum uvea_error append_value(struct uvea_buf *buf, unsigned kind, size_t length,
                                    const uint8_t *bytes)
{
    uint64_t wide[ELEMENTS_MAX];
    uint32_t middle[ELEMENTS_MAX];
    uint16_t narrow[ELEMENTS_MAX];
    memcpy(wide, bytes, sizeof(wide));
    memcpy(middle, bytes, sizeof(middle));
    memcpy(narrow, bytes, sizeof(narrow));
    size_t mark;
    switch (kind) {
    case 0:
        return uvea_value_append_vec16(buf, narrow, length);
    case 1:
        return uvea_value_append_vec32(buf, middle, length);
    case 2:
        return uvea_value_append_vec48(buf, wide, length);
    case 3:
        return uvea_value_append_vec64(buf, wide, length);
    case 4:
        return uvea_value_append_vec_bit(buf, wide, length);
    case 5:
        return uvea_value_append_bytes(buf, bytes, length);
    case 6:
        return uvea_value_append_u16(buf, narrow, length);
    case 7:
        return uvea_value_append_u32(buf, middle, length);
    case 8:
        return uvea_value_append_u48(buf, wide, length);
    case 9:
        return uvea_value_append_u64(buf, wide, length);
    case 10:
        return uvea_value_append_bits(buf, wide, length);
    case 11:
        return uvea_value_append_prf_key(buf, bytes);
    case 12:
        return uvea_value_append_prf_check(buf, wide);
    case 13:
        return uvea_value_append_checksum(buf, wide[0], wide[1]);
    case 14:
        UVEA_TRY(uvea_value_begin_network_vec(buf, &mark));
        UVEA_TRY(uvea_value_append_vec16(buf, narrow, length));
        UVEA_TRY(uvea_value_append_vec_bit(buf, wide, length));
        UVEA_TRY(uvea_value_append_u64(buf, wide, 1));
        return uvea_value_end_network_vec(buf, mark);
    default:
        UVEA_TRY(uvea_value_begin_network_vec(buf, &mark));
        return uvea_value_end_network_vec(buf, mark);
    }
}

static void fill(uint8_t *bytes, unsigned from, unsigned to, uint32_t session, uint32_t step)
{
    for (size_t i = 0; i < ELEMENTS_MAX * sizeof(uint64_t); i++) {
        bytes[i] = trio_byte(from, to, session, step, i);
    }
}

struct session_task {
    struct trio_party *party;
    uint32_t position;
};

static void send_value(struct session_task *task, enum uvea_peer peer, unsigned kind, size_t length,
                       uint32_t step)
{
    struct trio_party *party = task->party;
    uint8_t *bytes = uvea_mem_alloc(ELEMENTS_MAX, sizeof(uint64_t));
    UVEA_CHECK(bytes != NULL);
    unsigned to = uvea_party_peer(uvea_party_at(party->index), peer).index;
    fill(bytes, party->index, to, task->position, step);
    struct uvea_link *link = uvea_mesh_link(party->mesh, task->position);
    struct uvea_buf *frame;
    TRIO_EXPECT(party->trio, uvea_link_begin(link, peer, &frame) == UVEA_OK);
    TRIO_EXPECT(party->trio, append_value(frame, kind, length, bytes) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_link_end(link, peer) == UVEA_OK);
    uvea_mem_free(bytes);
}

static void check_value(struct session_task *task, enum uvea_peer peer, unsigned kind,
                        size_t length, uint32_t step)
{
    struct trio_party *party = task->party;
    struct uvea_buf expected = {0};
    uint8_t *bytes = uvea_mem_alloc(ELEMENTS_MAX, sizeof(uint64_t));
    UVEA_CHECK(bytes != NULL);
    unsigned from = uvea_party_peer(uvea_party_at(party->index), peer).index;
    fill(bytes, from, party->index, task->position, step);
    TRIO_EXPECT(party->trio, append_value(&expected, kind, length, bytes) == UVEA_OK);
    struct uvea_value want;
    struct uvea_value got = {0};
    TRIO_EXPECT(party->trio,
                uvea_value_decode(expected.data, expected.len, &want, NULL) == UVEA_OK);
    struct uvea_link *link = uvea_mesh_link(party->mesh, task->position);
    TRIO_EXPECT(party->trio, uvea_link_recv(link, peer, &got, NULL) == UVEA_OK);
    TRIO_EXPECT(party->trio, got.kind == want.kind && got.count == want.count);
    TRIO_EXPECT(party->trio,
                got.body_bytes == want.body_bytes &&
                    (want.body_bytes == 0 || memcmp(got.body, want.body, want.body_bytes) == 0));
    uvea_buf_deinit(&expected);
    uvea_mem_free(bytes);
}

static void exchange_every_kind(void *arg)
{
    struct session_task *task = arg;
    uint32_t step = 0;
    for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
        for (size_t i = 0; i < LENGTH_COUNT; i++, step++) {
            for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
                send_value(task, peer, kind, lengths[i], step);
            }
            for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
                check_value(task, peer, kind, lengths[i], step);
            }
        }
    }
}

// fn in one task per session, then everybody together to the end.
static void in_all_sessions(struct trio_party *party, uvea_task_fn *fn)
{
    struct session_task tasks[64];
    uint32_t count = uvea_mesh_session_count(party->mesh);
    UVEA_CHECK(count <= 64);
    for (uint32_t k = 0; k < count; k++) {
        tasks[k] = (struct session_task){.party = party, .position = k};
    }
    trio_parallel(party, fn, tasks, sizeof(tasks[0]), count);
    TRIO_EXPECT(party->trio, uvea_mesh_failure(party->mesh, NULL) == UVEA_OK);
    trio_wait_all(party);
}

static void every_kind_party(struct trio_party *party)
{
    trio_connect(party);
    in_all_sessions(party, exchange_every_kind);
    uvea_mesh_disconnect(party->mesh);
    TRIO_EXPECT(party->trio, uvea_mesh_counters(party->mesh).frames_dropped == 0);
}

static void set_shape(struct trio *trio, uint32_t sessions, uint32_t connections)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio->mesh[i].session_count = sessions;
        trio->mesh[i].connection_count = connections;
    }
}

static void every_kind_through_live_sessions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct trio trio;
        trio_init(&trio, every_kind_party);
        set_shape(&trio, shapes[i][0], shapes[i][1]);
        trio.sim_config.seed = 100 + i;
        trio_run(&trio);
    }
}

// ---- order and flow

enum { ORDER_STEPS = 9, LARGE_BYTES = 3 << 20 };

static void send_small_and_large(void *arg)
{
    struct session_task *task = arg;
    for (uint32_t step = 0; step < ORDER_STEPS; step++) {
        for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
            trio_send(task->party, task->position, peer, step, step % 2 == 0 ? 3 : LARGE_BYTES);
        }
    }
    for (uint32_t step = 0; step < ORDER_STEPS; step++) {
        for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
            trio_expect(task->party, task->position, peer, step, step % 2 == 0 ? 3 : LARGE_BYTES);
        }
    }
}

static void order_party(struct trio_party *party)
{
    trio_connect(party);
    in_all_sessions(party, send_small_and_large);
    uvea_mesh_disconnect(party->mesh);
}

static void small_never_overtakes_large(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, order_party);
    set_shape(&trio, 3, 1);
    trio_run(&trio);
}

enum { FLOOD_BYTES = 8 << 20 };

static void flood_party(struct trio_party *party)
{
    trio_connect(party);
    uint64_t start_ns = uvea_rt_now_ns(party->rt);
    for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
        trio_send(party, 0, peer, 0, FLOOD_BYTES);
    }
    TRIO_EXPECT(party->trio, uvea_rt_now_ns(party->rt) == start_ns); // sending does not wait
    for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
        trio_expect(party, 0, peer, 0, FLOOD_BYTES);
    }
    trio_wait_all(party);
    uvea_mesh_disconnect(party->mesh);
}

static void all_send_at_once_without_deadlock(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, flood_party);
    trio.sim_config.network.link.window_bytes = 4096;
    trio_run(&trio);
    assert_true(trio.outcome.time_ns < 60 * UVEA_SECOND);
}

// ---- a link's rules

static void pool_party(struct trio_party *party)
{
    enum { ROUNDS = 200, SEEN_MAX = 64 };
    trio_connect(party);
    const void *seen[SEEN_MAX];
    size_t seen_count = 0;
    struct uvea_link *link = uvea_mesh_link(party->mesh, 0);
    for (uint32_t step = 0; step < ROUNDS; step++) {
        struct uvea_buf *frame;
        TRIO_EXPECT(party->trio, uvea_link_begin(link, UVEA_PEER_NEXT, &frame) == UVEA_OK);
        size_t i = 0;
        while (i < seen_count && seen[i] != frame) {
            i++;
        }
        if (i == seen_count && seen_count < SEEN_MAX) {
            seen[seen_count++] = frame;
        }
        trio_send(party, 0, UVEA_PEER_NEXT, step, 100); // begins the same frame again
        trio_expect(party, 0, UVEA_PEER_PREV, step, 100);
    }
    TRIO_EXPECT(party->trio, seen_count <= UVEA_PARCEL_POOL_MAX);
    trio_wait_all(party);
}

static void frames_are_reused(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, pool_party);
    trio_run(&trio);
}

// What was received stays readable while more arrives, until it is the next one's turn.
static void view_party(struct trio_party *party)
{
    enum { VIEWED = 40, BYTES = 300 };
    trio_connect(party);
    for (uint32_t step = 0; step < VIEWED; step++) {
        trio_send(party, 0, UVEA_PEER_NEXT, step, BYTES);
        trio_send(party, 0, UVEA_PEER_PREV, step, BYTES);
        trio_sleep(party->rt, UVEA_MS);
    }
    struct uvea_link *link = uvea_mesh_link(party->mesh, 0);
    unsigned from = uvea_party_peer(uvea_party_at(party->index), UVEA_PEER_PREV).index;
    for (uint32_t step = 0; step < VIEWED; step++) {
        struct uvea_value value = {0};
        TRIO_EXPECT(party->trio, uvea_link_recv(link, UVEA_PEER_PREV, &value, NULL) == UVEA_OK);
        trio_send(party, 0, UVEA_PEER_NEXT, VIEWED + step, BYTES);
        trio_expect(party, 0, UVEA_PEER_NEXT, step, BYTES);
        trio_sleep(party->rt, 10 * UVEA_MS); // the neighbour's next ones arrive
        bool same = value.body_bytes == BYTES;
        for (size_t i = 0; same && i < BYTES; i++) {
            same = value.body[i] == trio_byte(from, party->index, 0, step, i);
        }
        TRIO_EXPECT(party->trio, same);
    }
    trio_wait_all(party);
}

static void received_views_last_until_the_next(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, view_party);
    trio_run(&trio);
}

static void limit_party(struct trio_party *party)
{
    trio_connect(party);
    struct uvea_link *link = uvea_mesh_link(party->mesh, 0);
    uint64_t before = uvea_mesh_bytes_sent(party->mesh);
    static const uint8_t zeros[1001];
    struct uvea_buf *frame;
    TRIO_EXPECT(party->trio, uvea_link_begin(link, UVEA_PEER_NEXT, &frame) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_value_append_bytes(frame, zeros, 996) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_link_end(link, UVEA_PEER_NEXT) == UVEA_ERR_LIMIT);
    trio_sleep(party->rt, UVEA_SECOND);
    TRIO_EXPECT(party->trio, uvea_mesh_bytes_sent(party->mesh) == before);
    trio_wait_all(party);
    trio_send(party, 0, UVEA_PEER_NEXT, 1,
              995); // the bound itself passes, and the link still works
    trio_expect(party, 0, UVEA_PEER_PREV, 1, 995);
    trio_sleep(party->rt, UVEA_SECOND);
    TRIO_EXPECT(party->trio, uvea_mesh_bytes_sent(party->mesh) == before + 4 + 1000);
    trio_wait_all(party);
}

static void sender_refuses_what_is_too_long(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, limit_party);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio.mesh[i].value_bytes_max = 1000;
    }
    trio_run(&trio);
}

static void timeout_party(struct trio_party *party)
{
    trio_connect(party);
    trio_wait_all(party);
    struct uvea_error_context context = {{0}};
    struct uvea_value value;
    uint64_t start_ns = uvea_rt_now_ns(party->rt);
    enum uvea_error error =
        uvea_link_recv(uvea_mesh_link(party->mesh, 0), UVEA_PEER_PREV, &value, &context);
    TRIO_EXPECT(party->trio, error == UVEA_ERR_TIMEOUT);
    TRIO_EXPECT(party->trio, uvea_rt_now_ns(party->rt) - start_ns == 700 * UVEA_MS);
    TRIO_EXPECT(party->trio, trio_says(&context, "session 0", "within 700 ms"));
    TRIO_EXPECT(party->trio, uvea_mesh_failure(party->mesh, NULL) == UVEA_OK);
    trio_wait_all(party);
    trio_send(party, 0, UVEA_PEER_NEXT, 1, 10);
    trio_expect(party, 0, UVEA_PEER_PREV, 1, 10);
    trio_wait_all(party);
}

static void receive_times_out_and_goes_on(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, timeout_party);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio.mesh[i].recv_ns_max = 700 * UVEA_MS;
    }
    trio_run(&trio);
}

// The last frames of a party that leaves in order still arrive.
static void last_words_party(struct trio_party *party)
{
    trio_connect(party);
    trio_wait_all(party);
    if (party->index == 0) {
        trio_send(party, 0, UVEA_PEER_NEXT, 0, 10000);
        trio_send(party, 0, UVEA_PEER_NEXT, 1, 1);
        uvea_mesh_disconnect(party->mesh);
        return;
    }
    struct uvea_error_context context = {{0}};
    struct uvea_value value;
    if (party->index == 1) {
        trio_expect(party, 0, UVEA_PEER_PREV, 0, 10000);
        trio_expect(party, 0, UVEA_PEER_PREV, 1, 1);
    }
    enum uvea_peer to_alice = party->index == 1 ? UVEA_PEER_PREV : UVEA_PEER_NEXT;
    enum uvea_error error =
        uvea_link_recv(uvea_mesh_link(party->mesh, 0), to_alice, &value, &context);
    TRIO_EXPECT(party->trio, error == UVEA_ERR_CLOSED);
    TRIO_EXPECT(party->trio, trio_says(&context, "connection 0", "between frames"));
}

static void queued_frames_leave_before_the_end(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, last_words_party);
    trio_run(&trio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_ids_advance_and_wrap),
        cmocka_unit_test(configuration_is_checked),
        cmocka_unit_test(an_occupied_address_is_named),
        cmocka_unit_test(golden_connections),
        cmocka_unit_test(every_kind_through_live_sessions),
        cmocka_unit_test(small_never_overtakes_large),
        cmocka_unit_test(all_send_at_once_without_deadlock),
        cmocka_unit_test(frames_are_reused),
        cmocka_unit_test(received_views_last_until_the_next),
        cmocka_unit_test(sender_refuses_what_is_too_long),
        cmocka_unit_test(receive_times_out_and_goes_on),
        cmocka_unit_test(queued_frames_leave_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
