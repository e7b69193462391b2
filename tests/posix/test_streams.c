// Streams of the posix runtime on the loopback, in the clear and under TLS.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/posix/state.h"
#include "tests/posix/rig.h"
#include "tests/support/cmocka.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct pki pki;
static struct uvea_tls *keys[2];
static struct uvea_rt *plain;
static struct uvea_rt *secure[2]; // of party 0, which listens, and party 1, which dials

static int set_up(void **state)
{
    (void)state;
    pki_open(&pki);
    struct uvea_posix_config config = uvea_posix_config_default();
    plain = rig_open(&config);
    for (unsigned i = 0; i < 2; i++) {
        keys[i] = rig_tls(&pki, i, NULL);
        config.tls = keys[i];
        secure[i] = rig_open(&config);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(plain);
    for (unsigned i = 0; i < 2; i++) {
        rig_close(secure[i]);
        uvea_tls_close(keys[i]);
    }
    pki_close(&pki);
    return 0;
}

// ---- two ends

struct end;
typedef void end_fn(struct end *end);

struct end {
    struct uvea_rt *rt;
    struct uvea_stream *stream;
    end_fn *act;
};

static void act(void *arg)
{
    struct end *end = arg;
    end->act(end);
}

static void connect_ends(struct end *listening, struct end *dialling)
{
    struct uvea_listener *listener;
    char address[32];
    assert_int_equal(uvea_rt_listen(listening->rt, "127.0.0.1:0", &listener), UVEA_OK);
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", uvea_posix_port(listener));
    assert_int_equal(
        uvea_rt_dial(dialling->rt, address, &dialling->stream, rig_in_ms(dialling->rt, 5000)),
        UVEA_OK);
    assert_int_equal(
        uvea_rt_accept(listening->rt, listener, &listening->stream, rig_in_ms(listening->rt, 5000)),
        UVEA_OK);
    uvea_rt_listener_close(listening->rt, listener);
}

// Runs both acts, first in the clear, then under TLS. An act closes its stream or leaves that to
// this.
static void run_both(end_fn *listener, end_fn *dialler)
{
    for (unsigned tls = 0; tls < 2; tls++) {
        struct end ends[2] = {{.rt = tls ? secure[0] : plain, .act = listener},
                              {.rt = tls ? secure[1] : plain, .act = dialler}};
        connect_ends(&ends[0], &ends[1]);
        struct uvea_task *tasks[2];
        for (unsigned i = 0; i < 2; i++) {
            tasks[i] = rig_spawn(ends[i].rt, act, &ends[i]);
        }
        for (unsigned i = 0; i < 2; i++) {
            uvea_rt_join(ends[i].rt, tasks[i]);
        }
        for (unsigned i = 0; i < 2; i++) { // neither while the other may still wait for a deadline
            uvea_rt_stream_close(ends[i].rt, ends[i].stream);
        }
        rig_check();
    }
}

static uint8_t pattern(size_t at)
{
    return (uint8_t)(at * 2654435761u >> 24 ^ at);
}

static void write_pattern(struct end *end, size_t bytes, enum uvea_error expected)
{
    uint8_t *chunk = uvea_mem_alloc(bytes, 1);
    UVEA_CHECK(chunk != NULL);
    for (size_t i = 0; i < bytes; i++) {
        chunk[i] = pattern(i);
    }
    RIG_EXPECT(uvea_rt_write(end->rt, end->stream, chunk, bytes, rig_in_ms(end->rt, 60000)) ==
               expected);
    uvea_mem_free(chunk);
}

// How many bytes of the pattern came before the end, and how that came.
static size_t read_pattern(struct end *end, enum uvea_error *how)
{
    uint8_t chunk[10000];
    size_t total = 0;
    for (;;) {
        size_t got;
        *how = uvea_rt_read(end->rt, end->stream, chunk, sizeof(chunk), &got,
                            rig_in_ms(end->rt, 60000));
        if (*how != UVEA_OK || got == 0) {
            return total;
        }
        bool same = true;
        for (size_t i = 0; i < got; i++) {
            same = same && chunk[i] == pattern(total + i);
        }
        RIG_EXPECT(same);
        total += got;
    }
}

// ---- what arrives

enum { MUCH = 3000000 };

static void write_much_and_close(struct end *end)
{
    write_pattern(end, MUCH, UVEA_OK);
    uvea_rt_stream_close(end->rt, end->stream);
    end->stream = NULL;
}

static void read_much(struct end *end)
{
    enum uvea_error how;
    RIG_EXPECT(read_pattern(end, &how) == MUCH);
    RIG_EXPECT(how == UVEA_OK);
}

static void test_the_end_follows_the_bytes(void **state)
{
    (void)state;
    run_both(write_much_and_close, read_much);
    run_both(read_much, write_much_and_close);
}

// Bytes that nobody reads any more must not turn the end into a reset.
static void write_first_then_read_much(struct end *end)
{
    write_pattern(end, 30000, UVEA_OK);
    read_much(end);
}

static void test_the_end_survives_unread_bytes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        run_both(write_much_and_close, write_first_then_read_much);
    }
}

static void write_little_and_close(struct end *end)
{
    write_pattern(end, 4096, UVEA_OK);
    uvea_rt_stream_close(end->rt, end->stream);
    end->stream = NULL;
}

static void read_little(struct end *end)
{
    enum uvea_error how;
    RIG_EXPECT(read_pattern(end, &how) == 4096);
    RIG_EXPECT(how == UVEA_OK);
}

static void test_who_only_writes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        run_both(read_little, write_little_and_close);
    }
}

// ---- waiting

static void read_for_ever(struct end *end)
{
    uint8_t byte;
    size_t got;
    RIG_EXPECT(uvea_rt_read(end->rt, end->stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_CLOSED);
}

static void write_for_ever(void *arg)
{
    struct end *end = arg;
    uint8_t bytes[65536] = {0};
    enum uvea_error error;
    do {
        error = uvea_rt_write(end->rt, end->stream, bytes, sizeof(bytes), UVEA_NEVER);
    } while (error == UVEA_OK);
    RIG_EXPECT(error == UVEA_ERR_CLOSED);
}

static void shut_later(void *arg)
{
    struct end *end = arg;
    RIG_EXPECT(uvea_rt_sleep_ns(end->rt, 50 * UVEA_MS) == UVEA_OK);
    uvea_rt_stream_shut(end->rt, end->stream);
    uvea_rt_stream_shut(end->rt, end->stream);
}

static void be_shut(struct end *end)
{
    write_pattern(end, 1, UVEA_OK);
    struct uvea_task *writer = rig_spawn(end->rt, write_for_ever, end);
    struct uvea_task *shutter = rig_spawn(end->rt, shut_later, end);
    read_for_ever(end);
    uvea_rt_join(end->rt, writer);
    uvea_rt_join(end->rt, shutter);
}

// Shakes hands, as far as there are any to be shaken, and reads nothing more.
static void stand_by(struct end *end)
{
    uint8_t byte;
    size_t got;
    RIG_EXPECT(uvea_rt_read(end->rt, end->stream, &byte, 1, &got, UVEA_NEVER) == UVEA_OK);
    RIG_EXPECT(uvea_rt_sleep_ns(end->rt, 150 * UVEA_MS) == UVEA_OK);
}

static void test_shut_wakes_reader_and_writer(void **state)
{
    (void)state;
    run_both(be_shut, stand_by);
    run_both(stand_by, be_shut);
}

static void read_in_vain(struct end *end)
{
    uint8_t byte;
    size_t got;
    uint64_t deadline_ns = rig_in_ms(end->rt, 20);
    RIG_EXPECT(uvea_rt_read(end->rt, end->stream, &byte, 1, &got, deadline_ns) == UVEA_ERR_TIMEOUT);
    RIG_EXPECT(uvea_rt_now_ns(end->rt) >= deadline_ns);
}

static void stay_silent(struct end *end)
{
    RIG_EXPECT(uvea_rt_sleep_ns(end->rt, 60 * UVEA_MS) == UVEA_OK);
}

static void test_a_silent_peer(void **state)
{
    (void)state;
    run_both(read_in_vain, stay_silent);
    run_both(stay_silent, read_in_vain);
}

static void write_in_vain(struct end *end)
{
    write_pattern(end, 1, UVEA_OK);
    size_t bytes = 32 << 20; // more than any buffer of the system
    uint8_t *chunk = uvea_mem_alloc(bytes, 1);
    UVEA_CHECK(chunk != NULL);
    uint64_t deadline_ns = rig_in_ms(end->rt, 100);
    RIG_EXPECT(uvea_rt_write(end->rt, end->stream, chunk, bytes, deadline_ns) == UVEA_ERR_TIMEOUT);
    RIG_EXPECT(uvea_rt_now_ns(end->rt) >= deadline_ns);
    RIG_EXPECT(uvea_rt_write(end->rt, end->stream, chunk, 1, UVEA_NEVER) == UVEA_ERR_CLOSED);
    uvea_mem_free(chunk);
}

static void test_a_peer_that_does_not_read(void **state)
{
    (void)state;
    run_both(write_in_vain, stand_by);
}

// ---- breaking

static void test_a_peer_that_aborts(void **state)
{
    (void)state;
    struct uvea_posix *posix = uvea_posix_of(plain);
    struct uvea_posix_listener *listener;
    struct uvea_posix_socket *sockets[2];
    char peer[UVEA_POSIX_ADDRESS_BYTES];
    struct uvea_posix_address address = {.host = "127.0.0.1"};
    assert_int_equal(uvea_posix_listener_open(posix, "127.0.0.1:0", &listener), UVEA_OK);
    (void)snprintf(address.port, sizeof(address.port), "%u", uvea_posix_listener_port(listener));
    assert_int_equal(
        uvea_posix_socket_dial(posix, &address, &sockets[0], peer, rig_in_ms(plain, 5000)),
        UVEA_OK);
    assert_int_equal(uvea_posix_listener_accept(listener, &sockets[1], peer, UVEA_NEVER), UVEA_OK);
    assert_memory_equal(peer, "127.0.0.1:", 10);
    struct linger abort = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(sockets[0]->fd, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort)), 0);
    assert_int_equal(close(sockets[0]->fd), 0);
    sockets[0]->fd = -1;
    uint8_t bytes[100] = {0};
    size_t got;
    assert_int_equal(uvea_posix_socket_read(sockets[1], bytes, 1, &got, UVEA_NEVER),
                     UVEA_ERR_RESET);
    assert_int_not_equal(uvea_posix_socket_write(sockets[1], bytes, 1, UVEA_NEVER), UVEA_OK);
    uvea_posix_socket_close(sockets[0]);
    uvea_posix_socket_close(sockets[1]);
    uvea_posix_listener_close(listener);
}

static void test_dialling_nobody(void **state)
{
    (void)state;
    struct uvea_stream *stream;
    char address[32];
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", rig_free_port(plain));
    assert_int_equal(uvea_rt_dial(plain, address, &stream, rig_in_ms(plain, 5000)),
                     UVEA_ERR_NOT_FOUND);
    assert_int_equal(uvea_rt_dial(plain, "nowhere", &stream, UVEA_NEVER), UVEA_ERR_USAGE);
    // A name that cannot be: however long the system looks for it, the deadline holds.
    enum uvea_error error =
        uvea_rt_dial(plain, "no-such-host.invalid:80", &stream, rig_in_ms(plain, 300));
    assert_true(error == UVEA_ERR_NOT_FOUND || error == UVEA_ERR_TIMEOUT);
}

static void test_names(void **state)
{
    (void)state;
    struct uvea_listener *listener;
    struct uvea_stream *ends[2];
    char address[40];
    assert_int_equal(uvea_rt_listen(plain, "localhost:0", &listener), UVEA_OK);
    (void)snprintf(address, sizeof(address), "localhost:%u", uvea_posix_port(listener));
    assert_int_equal(uvea_rt_dial(plain, address, &ends[0], rig_in_ms(plain, 5000)), UVEA_OK);
    assert_int_equal(uvea_rt_accept(plain, listener, &ends[1], UVEA_NEVER), UVEA_OK);
    uvea_rt_stream_close(plain, ends[0]);
    uvea_rt_stream_close(plain, ends[1]);
    uvea_rt_listener_close(plain, listener);
}

static void test_ipv6(void **state)
{
    (void)state;
    struct uvea_listener *listener;
    struct uvea_stream *ends[2];
    char address[40];
    if (uvea_rt_listen(plain, "[::1]:0", &listener) != UVEA_OK) {
        print_message("skipped: this machine has no IPv6 loopback\n");
        skip();
    }
    (void)snprintf(address, sizeof(address), "[::1]:%u", uvea_posix_port(listener));
    assert_int_equal(uvea_rt_dial(plain, address, &ends[0], rig_in_ms(plain, 5000)), UVEA_OK);
    assert_int_equal(uvea_rt_accept(plain, listener, &ends[1], UVEA_NEVER), UVEA_OK);
    struct uvea_error_context reason;
    uvea_rt_stream_reason(plain, ends[1], &reason);
    assert_memory_equal(reason.text, "[::1]:", 6);
    uvea_rt_stream_close(plain, ends[0]);
    uvea_rt_stream_close(plain, ends[1]);
    uvea_rt_listener_close(plain, listener);
}

static void shut_the_listener(void *arg)
{
    RIG_EXPECT(uvea_rt_sleep_ns(plain, 20 * UVEA_MS) == UVEA_OK);
    uvea_rt_listener_shut(plain, arg);
}

static void test_listeners(void **state)
{
    (void)state;
    struct uvea_listener *listener;
    struct uvea_listener *second;
    struct uvea_stream *stream;
    char address[32];
    assert_int_equal(uvea_rt_listen(plain, "127.0.0.1:0", &listener), UVEA_OK);
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", uvea_posix_port(listener));
    assert_int_equal(uvea_rt_listen(plain, address, &second), UVEA_ERR_IN_USE);
    // For documents, and no machine's.
    assert_int_equal(uvea_rt_listen(plain, "192.0.2.1:0", &second), UVEA_ERR_NOT_HERE);
    assert_int_equal(uvea_rt_accept(plain, listener, &stream, rig_in_ms(plain, 10)),
                     UVEA_ERR_TIMEOUT);
    struct uvea_task *task = rig_spawn(plain, shut_the_listener, listener);
    assert_int_equal(uvea_rt_accept(plain, listener, &stream, UVEA_NEVER), UVEA_ERR_CLOSED);
    assert_int_equal(uvea_rt_accept(plain, listener, &stream, UVEA_NEVER), UVEA_ERR_CLOSED);
    uvea_rt_join(plain, task);
    uvea_rt_listener_close(plain, listener);
    assert_int_equal(uvea_rt_listen(plain, address, &second), UVEA_OK); // free again at once
    uvea_rt_listener_close(plain, second);
}

// ---- a great deal both ways, through buffers as small as the system makes them

enum { EXCHANGE_BYTES = 64 << 20, PIECE_BYTES = 1 << 20 };

struct flow {
    struct uvea_rt *rt;
    struct uvea_posix_socket *socket;
    struct uvea_tls_stream *tls;
};

static void flow_write(void *arg)
{
    struct flow *flow = arg;
    uint8_t *piece = uvea_mem_alloc(PIECE_BYTES, 1);
    UVEA_CHECK(piece != NULL);
    enum uvea_error error = UVEA_OK;
    for (size_t i = 0; i < PIECE_BYTES; i++) {
        piece[i] = pattern(i);
    }
    for (size_t done = 0; done < EXCHANGE_BYTES && error == UVEA_OK; done += PIECE_BYTES) {
        uint64_t deadline_ns = rig_in_ms(flow->rt, 60000);
        error = flow->tls != NULL
                    ? uvea_tls_stream_write(flow->tls, piece, PIECE_BYTES, deadline_ns)
                    : uvea_posix_socket_write(flow->socket, piece, PIECE_BYTES, deadline_ns);
    }
    RIG_EXPECT(error == UVEA_OK);
    uvea_mem_free(piece);
}

static void flow_read(void *arg)
{
    struct flow *flow = arg;
    uint8_t *piece = uvea_mem_alloc(PIECE_BYTES, 1);
    UVEA_CHECK(piece != NULL);
    size_t total = 0;
    bool same = true;
    enum uvea_error error = UVEA_OK;
    while (total < EXCHANGE_BYTES && error == UVEA_OK) {
        size_t got = 0;
        uint64_t deadline_ns = rig_in_ms(flow->rt, 60000);
        error = flow->tls != NULL
                    ? uvea_tls_stream_read(flow->tls, piece, PIECE_BYTES, &got, deadline_ns)
                    : uvea_posix_socket_read(flow->socket, piece, PIECE_BYTES, &got, deadline_ns);
        for (size_t i = 0; i < got; i += 97) {
            same = same && piece[i] == pattern((total + i) % PIECE_BYTES);
        }
        total += got;
    }
    RIG_EXPECT(error == UVEA_OK && total == EXCHANGE_BYTES && same);
    uvea_mem_free(piece);
}

static void shrink_buffers(int fd)
{
    int bytes =
        64 << 10; // a few segments of the loopback: less, and each waits for a late acknowledgement
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
}

static void exchange_much(bool tls)
{
    struct flow flows[2] = {{.rt = tls ? secure[0] : plain}, {.rt = tls ? secure[1] : plain}};
    struct uvea_posix_listener *listener;
    struct uvea_posix_address address = {.host = "127.0.0.1"};
    char peer[UVEA_POSIX_ADDRESS_BYTES];
    assert_int_equal(uvea_posix_listener_open(uvea_posix_of(flows[0].rt), "127.0.0.1:0", &listener),
                     UVEA_OK);
    (void)snprintf(address.port, sizeof(address.port), "%u", uvea_posix_listener_port(listener));
    assert_int_equal(uvea_posix_socket_dial(uvea_posix_of(flows[1].rt), &address, &flows[1].socket,
                                            peer, UVEA_NEVER),
                     UVEA_OK);
    assert_int_equal(uvea_posix_listener_accept(listener, &flows[0].socket, peer, UVEA_NEVER),
                     UVEA_OK);
    struct uvea_task *tasks[4];
    for (unsigned i = 0; i < 2; i++) {
        shrink_buffers(flows[i].socket->fd);
        struct uvea_tls_transport transport = uvea_posix_socket_transport(flows[i].socket);
        if (tls) {
            assert_int_equal(uvea_tls_stream_open(flows[i].rt, keys[i], &transport,
                                                  i == 1 ? "127.0.0.1" : NULL, &flows[i].tls),
                             UVEA_OK);
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        tasks[i] = rig_spawn(flows[i / 2].rt, i % 2 == 0 ? flow_write : flow_read, &flows[i / 2]);
    }
    for (unsigned i = 0; i < 4; i++) {
        uvea_rt_join(flows[i / 2].rt, tasks[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        if (tls) {
            uvea_tls_stream_close(flows[i].tls);
        } else {
            uvea_posix_socket_close(flows[i].socket);
        }
    }
    uvea_posix_listener_close(listener);
    rig_check();
}

static void test_64_mebibytes_both_ways(void **state)
{
    (void)state;
    exchange_much(false);
    exchange_much(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_end_follows_the_bytes),
        cmocka_unit_test(test_the_end_survives_unread_bytes),
        cmocka_unit_test(test_who_only_writes),
        cmocka_unit_test(test_shut_wakes_reader_and_writer),
        cmocka_unit_test(test_a_silent_peer),
        cmocka_unit_test(test_a_peer_that_does_not_read),
        cmocka_unit_test(test_a_peer_that_aborts),
        cmocka_unit_test(test_dialling_nobody),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_listeners),
        cmocka_unit_test(test_64_mebibytes_both_ways),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
