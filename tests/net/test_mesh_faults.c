#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/net/handshake.h"
#include "core/net/mesh.h"
#include "core/net/mesh_impl.h"
#include "tests/net/raw_peer.h"
#include "tests/net/trio.h"
#include "tests/support/hex.h"

#include <stdio.h>
#include <string.h>

// ---- bytes that are no frames

struct bad_frame {
    const char *bytes;
    bool end;
    enum uvea_error error;
    const char *says;
};

static const struct bad_frame bad_frames[] = {
    {"00000000 ee", false, UVEA_ERR_FORMAT, "ee"},
    {"00000000 00", false, UVEA_ERR_FORMAT, "00"},
    {"00000000 0c 00000080", false, UVEA_ERR_LIMIT, "2147483653"},
    {"00000000 06 ffffffff", false, UVEA_ERR_LIMIT, "4294967300"},
    {"00000000 0f ffffffff", false, UVEA_ERR_LIMIT, "536870917"},
    {"00000000 0c fcff0f00", false, UVEA_ERR_LIMIT, "1048577"}, // one more than allowed
    {"63000000 0c fcff0f00", false, UVEA_ERR_LIMIT, "1048577"}, // also for a session not in use
    {"00000000 06 03000000 010203", false, UVEA_ERR_FORMAT, "session 0"},
    {"00000000 0e 07000000 01020304050607", false, UVEA_ERR_FORMAT, "session 0"},
    {"00000000 0f 09000000 ff02", false, UVEA_ERR_FORMAT, "session 0"},
    {"00000000 0a 05000000 0a00000000", false, UVEA_ERR_FORMAT, "session 0"},
    {"00000000 0a 03000000 060000", false, UVEA_ERR_FORMAT, "session 0"},
    {"00000000 0c 10000000 aabb", true, UVEA_ERR_CLOSED, "in the middle of a frame"},
    {"00000000 0c 1000", true, UVEA_ERR_CLOSED, "in the middle of a frame"},
    {"00", true, UVEA_ERR_CLOSED, "in the middle of a frame"},
    {"", true, UVEA_ERR_CLOSED, "between frames"},
};

enum { GO_BYTES = 10, GO_FRAME_BYTES = 4 + 5 + GO_BYTES, VALIDATION_FRAME_BYTES = 21 };

struct bad_frame_test {
    const struct bad_frame *frame;
    struct raw_peer peers[2];
    unsigned more_connections; // than one
    uint8_t attack[64];
};

static void recv_failing(struct trio_party *party, enum uvea_peer peer, enum uvea_error expected,
                         const char *who, const char *what)
{
    struct uvea_value value;
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_link_recv(uvea_mesh_link(party->mesh, 0), peer, &value, &context);
    TRIO_EXPECT(party->trio, error == expected);
    TRIO_EXPECT(party->trio, trio_says(&context, who, what));
}

// charlie is real, alice echoes, bob turns bad once it has echoed one frame after validation.
static void charlie_meets_bad_frame(struct trio_party *party)
{
    struct bad_frame_test *test = party->trio->arg;
    trio_connect(party);
    struct uvea_buf *frame;
    struct uvea_link *link = uvea_mesh_link(party->mesh, 0);
    static const uint8_t go[GO_BYTES];
    TRIO_EXPECT(party->trio, uvea_link_begin(link, UVEA_PEER_PREV, &frame) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_value_append_bytes(frame, go, sizeof(go)) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_link_end(link, UVEA_PEER_PREV) == UVEA_OK);
    struct uvea_value value;
    TRIO_EXPECT(party->trio, uvea_link_recv(link, UVEA_PEER_PREV, &value, NULL) == UVEA_OK);

    recv_failing(party, UVEA_PEER_PREV, test->frame->error, "party 1, connection 0",
                 test->frame->says);
    recv_failing(party, UVEA_PEER_NEXT, test->frame->error, "party 1, connection 0",
                 test->frame->says);
    struct uvea_error_context context;
    TRIO_EXPECT(party->trio, uvea_mesh_failure(party->mesh, &context) == test->frame->error);
    TRIO_EXPECT(party->trio, trio_says(&context, "party 1, connection 0", test->frame->says));
    TRIO_EXPECT(party->trio, uvea_link_begin(link, UVEA_PEER_NEXT, &frame) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_value_append_bytes(frame, go, sizeof(go)) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_link_end(link, UVEA_PEER_NEXT) == UVEA_ERR_CLOSED);
    // A claim alone takes no memory.
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        TRIO_EXPECT(party->trio,
                    party->mesh->generation->connections[i].frames.value.capacity <= 65536);
    }
    uvea_mesh_disconnect(party->mesh);
    TRIO_EXPECT(party->trio, uvea_mesh_failure(party->mesh, NULL) == test->frame->error);
}

static void raw_party(struct trio_party *party)
{
    struct bad_frame_test *test = party->trio->arg;
    struct raw_peer *peer = &test->peers[party->index];
    raw_peer_open(peer, party);
    raw_peer_serve(peer, 1 + test->more_connections);
    raw_peer_close(peer);
    // The connection was ended, by name or by the other's failure; never just left.
    TRIO_EXPECT(party->trio, peer->connections[0].end == UVEA_OK || test->frame->end);
}

static void bad_frames_end_the_generation_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_frames) / sizeof(bad_frames[0]); i++) {
        static struct bad_frame_test test;
        memset(&test, 0, sizeof(test));
        test.frame = &bad_frames[i];
        test.peers[1].echo_bytes = VALIDATION_FRAME_BYTES + GO_FRAME_BYTES;
        test.peers[1].attack = test.attack;
        test.peers[1].attack_bytes =
            uvea_test_hex(bad_frames[i].bytes, test.attack, sizeof(test.attack));
        test.peers[1].end_after_attack = bad_frames[i].end;
        struct trio trio;
        trio_init(&trio, raw_party);
        trio.raw[0] = trio.raw[1] = true;
        trio.fn[2] = charlie_meets_bad_frame;
        trio.mesh[2].value_bytes_max = 1 << 20;
        trio.arg = &test;
        trio_run(&trio);
        assert_int_equal(test.peers[0].connections[0].record_bytes, VALIDATION_FRAME_BYTES);
    }
}

// Frames of sessions that are not in use are passed over, also long ones.
static void charlie_passes_over(struct trio_party *party)
{
    trio_connect(party);
    trio_send(party, 0, UVEA_PEER_PREV, 0, GO_BYTES);
    struct uvea_value value;
    struct uvea_link *link = uvea_mesh_link(party->mesh, 0);
    TRIO_EXPECT(party->trio, uvea_link_recv(link, UVEA_PEER_PREV, &value, NULL) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_link_recv(link, UVEA_PEER_PREV, &value, NULL) == UVEA_OK);
    uint16_t number = 0;
    TRIO_EXPECT(party->trio, uvea_value_read_u16(&value, &number, 1, NULL) == UVEA_OK);
    TRIO_EXPECT(party->trio, number == 777);
    TRIO_EXPECT(party->trio, uvea_mesh_counters(party->mesh).frames_dropped == 3);
}

// Sessions 0 and 1 on connections 0 and 1: on connection 0 nothing is session 1's.
static void sessions_keep_to_their_connection(void **state)
{
    (void)state;
    static struct bad_frame_test test;
    static const struct bad_frame none = {.end = false};
    memset(&test, 0, sizeof(test));
    test.frame = &none;
    test.more_connections = 1;
    test.peers[1].echo_bytes = VALIDATION_FRAME_BYTES + GO_FRAME_BYTES;
    test.peers[1].attack = test.attack;
    test.peers[1].attack_bytes = uvea_test_hex("01000000 03 0000  01000000 12  01000000 02"
                                               "00000000 03 0903",
                                               test.attack, sizeof(test.attack));
    struct trio trio;
    trio_init(&trio, raw_party);
    trio.raw[0] = trio.raw[1] = true;
    trio.fn[2] = charlie_passes_over;
    trio.mesh[2].session_count = 2;
    trio.mesh[2].connection_count = 2;
    trio.arg = &test;
    trio_run(&trio);
}

static void unknown_sessions_are_dropped(void **state)
{
    (void)state;
    static struct bad_frame_test test;
    static const struct bad_frame none = {.end = false};
    memset(&test, 0, sizeof(test));
    test.frame = &none;
    test.peers[1].echo_bytes = VALIDATION_FRAME_BYTES + GO_FRAME_BYTES;
    test.peers[1].attack = test.attack;
    test.peers[1].attack_bytes = uvea_test_hex("63000000 12  01000000 0c 05000000 0102030405"
                                               "ffffffff 03 0903  00000000 03 0903",
                                               test.attack, sizeof(test.attack));
    struct trio trio;
    trio_init(&trio, raw_party);
    trio.raw[0] = trio.raw[1] = true;
    trio.fn[2] = charlie_passes_over;
    trio.arg = &test;
    trio_run(&trio);
}

// ---- bounds on what waits

// bob sends on and on, alice does not take it.
static void backlog_party(struct trio_party *party)
{
    trio_connect(party);
    trio_wait_all(party);
    struct uvea_link *link = uvea_mesh_link(party->mesh, 0);
    if (party->index == 1) {
        enum uvea_error error = UVEA_OK;
        for (int i = 0; i < 1000 && error == UVEA_OK; i++) {
            struct uvea_buf *frame;
            TRIO_EXPECT(party->trio, uvea_link_begin(link, UVEA_PEER_PREV, &frame) == UVEA_OK);
            TRIO_EXPECT(party->trio, uvea_value_append_bytes(frame, NULL, 0) == UVEA_OK);
            error = uvea_link_end(link, UVEA_PEER_PREV);
            trio_sleep(party->rt, UVEA_MS);
        }
        TRIO_EXPECT(party->trio, error == UVEA_ERR_CLOSED);
    } else if (party->index == 0) {
        trio_sleep(party->rt, 500 * UVEA_MS);
        struct uvea_error_context context = {{0}};
        TRIO_EXPECT(party->trio, uvea_mesh_failure(party->mesh, &context) == UVEA_ERR_LIMIT);
        TRIO_EXPECT(party->trio, trio_says(&context, "party 1, connection 0", "session 0"));
    }
    trio_wait_all(party);
}

static void receive_backlog_is_bounded(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, backlog_party);
    trio.mesh[0].value_bytes_max = 1000;
    trio.mesh[0].queue_bytes_max = 20000; // 76 empty messages
    trio_run(&trio);
}

static void stalled_party(struct trio_party *party)
{
    trio_connect(party);
    trio_wait_all(party);
    if (party->index == 1) {
        const struct uvea_sim_fault stall = {.kind = UVEA_SIM_FAULT_STALL,
                                             .from = 1,
                                             .to = 0,
                                             .at_byte = UVEA_SIM_NO_BYTE,
                                             .for_ns = 5 * UVEA_SECOND};
        TRIO_EXPECT(party->trio, uvea_sim_inject(party->trio->sim, &stall) == UVEA_OK);
        struct uvea_link *link = uvea_mesh_link(party->mesh, 0);
        static const uint8_t zeros[900];
        enum uvea_error error = UVEA_OK;
        int sent = -1;
        while (error == UVEA_OK && sent < 1000) {
            struct uvea_buf *frame;
            TRIO_EXPECT(party->trio, uvea_link_begin(link, UVEA_PEER_PREV, &frame) == UVEA_OK);
            TRIO_EXPECT(party->trio,
                        uvea_value_append_bytes(frame, zeros, sizeof(zeros)) == UVEA_OK);
            error = uvea_link_end(link, UVEA_PEER_PREV);
            sent++;
            trio_sleep(party->rt, UVEA_MS);
        }
        TRIO_EXPECT(party->trio, error == UVEA_ERR_LIMIT);
        // 17 fit the queue, and a batch and the window hold some more.
        TRIO_EXPECT(party->trio, sent >= 17 && sent < 70);
        TRIO_EXPECT(party->trio, uvea_mesh_failure(party->mesh, NULL) == UVEA_OK);
    }
    trio_wait_all(party);
}

static void send_queue_is_bounded(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, stalled_party);
    trio.sim_config.network.link.window_bytes = 4096;
    trio.mesh[1].value_bytes_max = 1000;
    trio.mesh[1].queue_bytes_max = 20000;
    trio.mesh[1].drain_ns_max = 100 * UVEA_MS;
    trio_run(&trio);
}

// ---- who is let in

struct refusals {
    unsigned count;
    enum uvea_error error;
    struct uvea_error_context context;
};

static void note_refusal(void *arg, enum uvea_error error, const struct uvea_error_context *context)
{
    struct refusals *refusals = arg;
    refusals->count++;
    refusals->error = error;
    refusals->context = *context;
}

struct stranger {
    const char *address;
    const char *bytes;
    const char *says;
    size_t echoed; // bytes of answer before the end
    unsigned party;
    enum uvea_error error;
};

static const struct stranger strangers[] = {
    {"p0:5000", "00000000 00000007 6d616c6c6f7279", "\"mallory\"", 4, 0, UVEA_ERR_PEER},
    {"p0:5000", "00000000 00000005 616c696365", "does not dial party 0", 4, 0, UVEA_ERR_PEER},
    {"p1:5000", "00000000 00000005 616c696365", "does not dial party 1", 4, 1, UVEA_ERR_PEER},
    {"p2:5000", "00000000 00000003 626f62", "bob\" does not dial party 2", 4, 2, UVEA_ERR_PEER},
    {"p0:5000", "00000001 00000003 626f62", "party 1: connection 1", 4, 0, UVEA_ERR_NOT_FOUND},
    {"p0:5000", "00000000 00000003 626f62", "party 1: connection 0", 4, 0, UVEA_ERR_NOT_FOUND},
    {"p0:5000", "ffffffff 00000007 636861726c6965", "4294967295", 4, 0, UVEA_ERR_NOT_FOUND},
    {"p0:5000", "00000000 00000004 626f6200", "\"bob?\"", 4, 0, UVEA_ERR_PEER},
    {"p0:5000", "00000000 00000000", "\"\"", 4, 0, UVEA_ERR_PEER},
    {"p0:5000", "00000000 00000081", "129", 4, 0, UVEA_ERR_LIMIT},
    {"p0:5000", "00000000 00000002 c328", "UTF-8", 4, 0, UVEA_ERR_FORMAT},
    {"p0:5000", "000000", "connection id", 0, 0, UVEA_ERR_TIMEOUT},
};

// Sends bytes and counts what comes back until the end.
static size_t say(struct trio_party *client, const char *address, const char *text)
{
    uint8_t bytes[64];
    size_t len = uvea_test_hex(text, bytes, sizeof(bytes));
    struct uvea_stream *stream = NULL;
    TRIO_EXPECT(client->trio, uvea_rt_dial(client->rt, address, &stream, UVEA_NEVER) == UVEA_OK);
    TRIO_EXPECT(client->trio, uvea_rt_write(client->rt, stream, bytes, len, UVEA_NEVER) == UVEA_OK);
    size_t total = 0;
    size_t got;
    while (uvea_rt_read(client->rt, stream, bytes, sizeof(bytes), &got, UVEA_NEVER) == UVEA_OK &&
           got > 0) {
        total += got;
    }
    uvea_rt_stream_close(client->rt, stream);
    return total;
}

static void client_strangers(struct trio_party *client)
{
    struct refusals *refusals = client->trio->arg;
    while (client->trio->waiting < UVEA_PARTY_COUNT - 1) {
        trio_sleep(client->rt, UVEA_MS); // they are connected, and wait for the third round
    }
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        const struct stranger *stranger = &strangers[i];
        struct refusals *noted = &refusals[stranger->party];
        unsigned before = noted->count;
        TRIO_EXPECT(client->trio,
                    say(client, stranger->address, stranger->bytes) == stranger->echoed);
        TRIO_EXPECT(client->trio, noted->count == before + 1);
        TRIO_EXPECT(client->trio, noted->error == stranger->error);
        TRIO_EXPECT(client->trio, trio_says(&noted->context, stranger->says, ""));
    }
    client->trio->waiting++;
}

static void hosting_party(struct trio_party *party)
{
    trio_connect(party);
    if (party->index > 0) {
        party->trio->waiting++;
    }
    while (party->trio->waiting < UVEA_PARTY_COUNT) {
        trio_sleep(party->rt, UVEA_MS);
    }
    trio_sleep(party->rt, UVEA_SECOND);
    TRIO_EXPECT(party->trio, uvea_mesh_failure(party->mesh, NULL) == UVEA_OK);
    const struct refusals *refusals = party->trio->arg;
    TRIO_EXPECT(party->trio,
                uvea_mesh_counters(party->mesh).refused == refusals[party->index].count);
}

static void strangers_are_refused_by_name(void **state)
{
    (void)state;
    struct trio trio;
    struct refusals refusals[UVEA_PARTY_COUNT] = {{0}};
    trio_init(&trio, hosting_party);
    trio.fn[TRIO_CLIENT] = client_strangers;
    trio.arg = refusals;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio.mesh[i].refused = note_refusal;
        trio.mesh[i].refused_arg = &refusals[i];
        trio.mesh[i].retry_delay_ns = 50 * UVEA_MS;
        trio.mesh[i].start_jitter_ns_max = 0;
    }
    trio_run(&trio);
}

// ---- silent connectors

struct silent {
    struct trio_party *client;
    const char *address;
    bool ended;
};

static void silent_task(void *arg)
{
    struct silent *silent = arg;
    struct uvea_rt *rt = silent->client->rt;
    struct uvea_stream *stream = NULL;
    TRIO_EXPECT(silent->client->trio,
                uvea_rt_dial(rt, silent->address, &stream, UVEA_NEVER) == UVEA_OK);
    uint8_t byte;
    size_t got = 1;
    silent->ended = uvea_rt_read(rt, stream, &byte, 1, &got, UVEA_NEVER) == UVEA_OK && got == 0;
    uvea_rt_stream_close(rt, stream);
}

static void client_silent(struct trio_party *client)
{
    unsigned count = *(unsigned *)client->trio->arg;
    struct silent *silents = uvea_mem_alloc(count, sizeof(*silents));
    UVEA_CHECK(silents != NULL);
    for (unsigned i = 0; i < count; i++) {
        silents[i] = (struct silent){.client = client, .address = "p0:5000"};
    }
    trio_sleep(client->rt, UVEA_MS);
    trio_parallel(client, silent_task, silents, sizeof(*silents), count);
    for (unsigned i = 0; i < count; i++) {
        TRIO_EXPECT(client->trio, silents[i].ended);
    }
    uvea_mem_free(silents);
}

static void besieged_party(struct trio_party *party)
{
    unsigned count = *(unsigned *)party->trio->arg;
    trio_sleep(party->rt, 100 * UVEA_MS); // the silent ones come first
    uint64_t start_ns = uvea_rt_now_ns(party->rt);
    trio_connect(party);
    TRIO_EXPECT(party->trio, uvea_rt_now_ns(party->rt) - start_ns < 4 * UVEA_SECOND);
    trio_send(party, 0, UVEA_PEER_NEXT, 0, 10);
    trio_expect(party, 0, UVEA_PEER_PREV, 0, 10);
    trio_wait_all(party);
    trio_sleep(party->rt, 10 * UVEA_SECOND);
    TRIO_EXPECT(party->trio, uvea_mesh_failure(party->mesh, NULL) == UVEA_OK);
    TRIO_EXPECT(party->trio, party->index != 0 || uvea_mesh_counters(party->mesh).refused >= count);
    trio_wait_all(party);
}

static void silent_connectors_do_not_stall_real_ones(void **state)
{
    (void)state;
    static const unsigned counts[] = {500, UVEA_MESH_PENDING_MAX + 88};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct trio trio;
        unsigned count = counts[i];
        trio_init(&trio, besieged_party);
        trio.fn[TRIO_CLIENT] = client_silent;
        trio.arg = &count;
        trio_run(&trio);
    }
}

// ---- a party short of something, and one that stops

// The runtime of party 0, but that some calls fail.
struct poor {
    struct uvea_rt_ops ops;
    const struct uvea_rt_ops *rich;
    unsigned accepts_fail; // so many
    bool spawns_fail;
    unsigned tasks; // not joined yet
    struct refusals refusals;
};

static struct poor poor;

static enum uvea_error poor_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                                   struct uvea_stream **stream, uint64_t deadline_ns)
{
    if (poor.accepts_fail > 0) {
        poor.accepts_fail--;
        return UVEA_ERR_LIMIT;
    }
    return poor.rich->accept(rt, listener, stream, deadline_ns);
}

static enum uvea_error poor_spawn(struct uvea_rt *rt, const char *name, uvea_task_fn *fn, void *arg,
                                  struct uvea_task **task)
{
    if (poor.spawns_fail) {
        return UVEA_ERR_MEMORY;
    }
    poor.tasks++;
    return poor.rich->spawn(rt, name, fn, arg, task);
}

static void poor_join(struct uvea_rt *rt, struct uvea_task *task)
{
    poor.rich->join(rt, task);
    poor.tasks--;
}

static void expect_refusal(struct trio_party *party, unsigned number, enum uvea_error error,
                           const char *says)
{
    while (poor.refusals.count < number) {
        trio_sleep(party->rt, UVEA_MS);
    }
    TRIO_EXPECT(party->trio, poor.refusals.count == number);
    TRIO_EXPECT(party->trio, poor.refusals.error == error);
    TRIO_EXPECT(party->trio, trio_says(&poor.refusals.context, says, ""));
}

// Calls that leave the accept task behind a stream that was taken as usual.
static void poor_party(struct trio_party *party)
{
    struct uvea_error_context context = {{0}};
    poor = (struct poor){.rich = party->rt->ops, .ops = *party->rt->ops, .accepts_fail = 3};
    poor.ops.accept = poor_accept;
    poor.ops.spawn = poor_spawn;
    poor.ops.join = poor_join;
    party->rt->ops = &poor.ops;
    TRIO_EXPECT(party->trio, uvea_mesh_open(party->rt, &party->trio->mesh[0], &party->mesh,
                                            &context) == UVEA_OK);
    expect_refusal(party, 1, UVEA_ERR_LIMIT, "no descriptor left to take a connection");
    poor.spawns_fail = true;
    expect_refusal(party, 2, UVEA_ERR_MEMORY, "handshake: no memory or thread for it");
    poor.spawns_fail = false;
    expect_refusal(party, 3, UVEA_ERR_PEER, "\"mallory\"");
    trio_sleep(party->rt, party->trio->mesh[0].handshake_ns_max);
    TRIO_EXPECT(party->trio, poor.tasks == 1); // it accepts, the handshake is forgotten
    trio_sleep(party->rt, UVEA_SECOND);        // the silent one calls
    TRIO_EXPECT(party->trio, poor.tasks == 2);
    TRIO_EXPECT(party->trio, poor.accepts_fail == 0);
    uvea_mesh_shut(party->mesh);
    expect_refusal(party, 4, UVEA_ERR_CLOSED, "handshake: ended, as the mesh stops");
    TRIO_EXPECT(party->trio, uvea_mesh_counters(party->mesh).refused == 4);
    uvea_mesh_close(party->mesh);
    party->rt->ops = poor.rich;
}

static void client_calls_poor(struct trio_party *client)
{
    trio_sleep(client->rt, UVEA_MS);
    TRIO_EXPECT(client->trio, say(client, "p0:5000", "") == 0);
    TRIO_EXPECT(client->trio, say(client, "p0:5000", "00000000 00000007 6d616c6c6f7279") == 4);
    trio_sleep(client->rt, client->trio->mesh[0].handshake_ns_max + 500 * UVEA_MS);
    TRIO_EXPECT(client->trio, say(client, "p0:5000", "") == 0);
}

static void shortages_and_the_end_are_told(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, NULL);
    trio.fn[0] = poor_party;
    trio.raw[0] = true;
    trio.fn[TRIO_CLIENT] = client_calls_poor;
    trio.mesh[0].refused = note_refusal;
    trio.mesh[0].refused_arg = &poor.refusals;
    trio_run(&trio);
}

// ---- a connection dialled twice

// Says it is charlie, and is believed until the real one comes.
static void client_duplicate(struct trio_party *client)
{
    struct uvea_stream *stream = NULL;
    trio_sleep(client->rt, 10 * UVEA_MS);
    TRIO_EXPECT(client->trio, uvea_rt_dial(client->rt, "p0:5000", &stream, UVEA_NEVER) == UVEA_OK);
    TRIO_EXPECT(client->trio,
                uvea_handshake_dial(client->rt, stream, "charlie", 0, UVEA_NEVER, NULL) == UVEA_OK);
    uint8_t byte;
    size_t got = 1;
    TRIO_EXPECT(client->trio,
                uvea_rt_read(client->rt, stream, &byte, 1, &got, UVEA_NEVER) == UVEA_OK);
    TRIO_EXPECT(client->trio, got == 0);
    uvea_rt_stream_close(client->rt, stream);
}

static void duplicate_party(struct trio_party *party)
{
    // bob comes last: alice is still connecting when the real charlie calls.
    trio_sleep(party->rt, (const uint64_t[]){0, 2 * UVEA_SECOND, UVEA_SECOND}[party->index]);
    trio_connect(party);
    trio_send(party, 0, UVEA_PEER_NEXT, 0, 10);
    trio_expect(party, 0, UVEA_PEER_PREV, 0, 10);
    trio_wait_all(party);
}

static void newer_connection_replaces_older(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, duplicate_party);
    trio.fn[TRIO_CLIENT] = client_duplicate;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio.mesh[i].start_jitter_ns_max = 0;
    }
    trio_run(&trio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_frames_end_the_generation_by_name),
        cmocka_unit_test(unknown_sessions_are_dropped),
        cmocka_unit_test(sessions_keep_to_their_connection),
        cmocka_unit_test(receive_backlog_is_bounded),
        cmocka_unit_test(send_queue_is_bounded),
        cmocka_unit_test(strangers_are_refused_by_name),
        cmocka_unit_test(silent_connectors_do_not_stall_real_ones),
        cmocka_unit_test(shortages_and_the_end_are_told),
        cmocka_unit_test(newer_connection_replaces_older),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
