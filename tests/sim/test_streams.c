// Byte streams on a network without faults.
#include "tests/sim/peers.h"
#include "tests/support/aborts.h"

static void do_nothing(struct peer *peer)
{
    (void)peer;
}

static void sleep_5_ms(struct peer *peer)
{
    EXPECT(uvea_rt_sleep_ns(peer->rt, 5 * UVEA_MS) == UVEA_OK);
}

static void sleep_25_ms(struct peer *peer)
{
    EXPECT(uvea_rt_sleep_ns(peer->rt, 25 * UVEA_MS) == UVEA_OK);
}

// ---- reading and writing

static void write_10_bytes_and_end(struct peer *peer)
{
    peer_write_pattern(peer, 0, 10, UVEA_OK);
    uvea_rt_stream_shut(peer->rt, peer->stream);
    uvea_rt_stream_shut(peer->rt, peer->stream);
    uint8_t byte = 0;
    size_t got;
    EXPECT(uvea_rt_write(peer->rt, peer->stream, &byte, 1, UVEA_NEVER) == UVEA_ERR_CLOSED);
    EXPECT(uvea_rt_read(peer->rt, peer->stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_CLOSED);
}

static void read_4_and_the_end(struct peer *peer)
{
    uint8_t bytes[8];
    size_t got = 99;
    uint64_t deadline_ns = uvea_rt_deadline_ns(peer->rt, UVEA_MS / 2);
    EXPECT(uvea_rt_read(peer->rt, peer->stream, bytes, 1, &got, deadline_ns) == UVEA_ERR_TIMEOUT);
    EXPECT(uvea_rt_now_ns(peer->rt) == deadline_ns && got == 99);
    EXPECT(uvea_rt_read_exact(peer->rt, peer->stream, bytes, 4, UVEA_NEVER) == UVEA_OK);
    EXPECT(sim_ns(peer) == 3 * UVEA_MS); // a dial of 2 ms, then 1 ms
    EXPECT(bytes[3] == pattern(3));
    // The end comes in the middle of what is asked for.
    EXPECT(uvea_rt_read_exact(peer->rt, peer->stream, bytes, 8, UVEA_NEVER) == UVEA_ERR_CLOSED);
    for (unsigned i = 0; i < 2; i++) {
        EXPECT(uvea_rt_read(peer->rt, peer->stream, bytes, 8, &got, UVEA_NEVER) == UVEA_OK);
        EXPECT(got == 0);
    }
    // The peer has ended both directions.
    EXPECT(uvea_rt_write(peer->rt, peer->stream, bytes, 1, UVEA_NEVER) == UVEA_ERR_CLOSED);
}

static void test_the_end_follows_the_bytes(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    (void)peers_run(&config, write_10_bytes_and_end, read_4_and_the_end);
}

enum { LONG_BYTES = 300 * 1000 + 7 };

static void write_long(struct peer *peer)
{
    peer_write_pattern(peer, 0, LONG_BYTES, UVEA_OK);
}

static void read_long(struct peer *peer)
{
    enum uvea_error end;
    EXPECT(peer_read_pattern(peer, &end) == LONG_BYTES);
    EXPECT(end == UVEA_OK);
}

static void test_bytes_arrive_in_order_for_any_link(void **state)
{
    (void)state;
    static const struct uvea_sim_link_config links[] = {
        {.latency_ns = 100, .window_bytes = 4097, .piece_bytes_max = 1},
        {.latency_ns = 100, .jitter_ns = 900, .window_bytes = 5000, .piece_bytes_max = 16384},
        {.latency_ns = 100,
         .jitter_ns = 9,
         .bandwidth_bits_s = 8000000,
         .window_bytes = 1 << 20,
         .piece_bytes_max = 1000},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(links); i++) {
        struct uvea_sim_config config = plain_config();
        config.network.links[0].from = 0;
        config.network.links[0].to = 1;
        config.network.links[0].link = links[i];
        config.network.link_count = 1;
        struct peers peers;
        peers_start(&peers, open_sim(&config), write_long, read_long);
        struct uvea_sim_outcome outcome = run_to(peers.sim, UVEA_SIM_FINISHED);
        struct uvea_sim_traffic traffic = uvea_sim_link_traffic(peers.sim, 0, 1);
        assert_int_equal(traffic.bytes_written, LONG_BYTES);
        assert_int_equal(traffic.bytes_delivered, LONG_BYTES);
        assert_true(traffic.pieces >= LONG_BYTES / UVEA_SIM_PIECE_BYTES_MAX);
        assert_int_equal(uvea_sim_link_traffic(peers.sim, 1, 0).bytes_written, 0);
        if (links[i].bandwidth_bits_s != 0) {
            assert_in_range(outcome.time_ns, 300 * UVEA_MS, 330 * UVEA_MS);
        }
        uvea_sim_close(peers.sim);
    }
}

static void write_100(struct peer *peer)
{
    peer_write_pattern(peer, 0, 100, UVEA_OK);
}

static void read_100(struct peer *peer)
{
    enum uvea_error end;
    EXPECT(peer_read_pattern(peer, &end) == 100);
    EXPECT(end == UVEA_OK);
}

static void test_a_window_of_one_byte(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.network.link.window_bytes = 1;
    // Dial 2 ms, then one byte per millisecond.
    assert_int_equal(peers_run(&config, write_100, read_100).time_ns, 102 * UVEA_MS);
}

static size_t piece_bytes_each;
static unsigned piece_writes;
static unsigned piece_reads;

static void write_pieces(struct peer *peer)
{
    for (unsigned i = 0; i < piece_writes; i++) {
        peer_write_pattern(peer, i * piece_bytes_each, piece_bytes_each, UVEA_OK);
    }
}

static void count_reads(struct peer *peer)
{
    uint8_t bytes[4000];
    size_t got = 1;
    for (piece_reads = 0; got > 0; piece_reads++) {
        EXPECT(uvea_rt_read(peer->rt, peer->stream, bytes, sizeof(bytes), &got, UVEA_NEVER) ==
               UVEA_OK);
    }
}

static unsigned reads_of(const struct uvea_sim_config *config, size_t bytes_each, unsigned writes)
{
    piece_bytes_each = bytes_each;
    piece_writes = writes;
    (void)peers_run(config, write_pieces, count_reads);
    return piece_reads - 1; // the last one saw the end
}

static void test_reads_and_writes_are_split_and_merged(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    assert_int_equal(reads_of(&config, 4000, 1), 1);
    assert_int_equal(reads_of(&config, 10, 100), 1); // one instant, one piece
    config.network.link.piece_bytes_max = 1;
    assert_int_equal(reads_of(&config, 1, 1), 1);
    assert_int_equal(reads_of(&config, 10, 10), 100); // read as they come
    config.network.link.jitter_ns = UVEA_MS;
    assert_in_range(reads_of(&config, 10, 100), 100, 1000);
    config.network.link.piece_bytes_max = UVEA_SIM_PIECE_BYTES_MAX;
    assert_in_range(reads_of(&config, 4000, 100), 101, 400);
}

static void count_late_reads(struct peer *peer)
{
    EXPECT(uvea_rt_sleep_ns(peer->rt, UVEA_SECOND) == UVEA_OK);
    count_reads(peer);
}

// All 40,000 bytes have arrived before the first read of up to 4,000.
static void test_a_read_may_give_less_than_there_is(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    piece_bytes_each = 4000;
    piece_writes = 10;
    (void)peers_run(&config, write_pieces, count_late_reads);
    assert_int_equal(piece_reads, 10 + 1);
    config.network.link.piece_bytes_max = UVEA_SIM_PIECE_BYTES_MAX;
    (void)peers_run(&config, write_pieces, count_late_reads);
    assert_in_range(piece_reads, 11 + 1, 30);
}

// ---- back-pressure, deadlines and shutting while somebody waits

static void write_until_timeout(struct peer *peer)
{
    static uint8_t bytes[3000];
    uint64_t deadline_ns = uvea_rt_deadline_ns(peer->rt, 50 * UVEA_MS);
    // The window of 2000 is full until the peer reads 500 at 10 ms.
    EXPECT(uvea_rt_write(peer->rt, peer->stream, bytes, 2000, deadline_ns) == UVEA_OK);
    EXPECT(sim_ns(peer) == 2 * UVEA_MS);
    EXPECT(uvea_rt_write(peer->rt, peer->stream, bytes, 500, deadline_ns) == UVEA_OK);
    EXPECT(sim_ns(peer) == 10 * UVEA_MS);
    EXPECT(uvea_rt_write(peer->rt, peer->stream, bytes, 1, deadline_ns) == UVEA_ERR_TIMEOUT);
    EXPECT(uvea_rt_now_ns(peer->rt) == deadline_ns);
    // Unusable from then on.
    EXPECT(uvea_rt_write(peer->rt, peer->stream, bytes, 1, UVEA_NEVER) == UVEA_ERR_CLOSED);
    size_t got;
    EXPECT(uvea_rt_read(peer->rt, peer->stream, bytes, 1, &got, UVEA_NEVER) == UVEA_ERR_CLOSED);
}

static void read_500_at_10_ms(struct peer *peer)
{
    uint8_t bytes[500];
    EXPECT(uvea_rt_sleep_ns(peer->rt, 9 * UVEA_MS) == UVEA_OK);
    EXPECT(uvea_rt_read_exact(peer->rt, peer->stream, bytes, sizeof(bytes), UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(peer->rt, 90 * UVEA_MS) == UVEA_OK);
}

static void test_a_full_window_stops_the_writer(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.network.link.window_bytes = 2000;
    (void)peers_run(&config, write_until_timeout, read_500_at_10_ms);
}

static void read_to_be_closed(void *arg)
{
    struct peer *peer = arg;
    uint8_t byte;
    size_t got = 7;
    EXPECT(uvea_rt_read(peer->rt, peer->stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_CLOSED);
    EXPECT(got == 7);
}

static void write_to_be_closed(void *arg)
{
    static uint8_t bytes[5000];
    struct peer *peer = arg;
    EXPECT(uvea_rt_write(peer->rt, peer->stream, bytes, sizeof(bytes), UVEA_NEVER) ==
           UVEA_ERR_CLOSED);
}

static void shut_with_both_waiting(struct peer *peer)
{
    struct uvea_task *reader;
    struct uvea_task *writer;
    EXPECT(uvea_rt_spawn(peer->rt, "reader", read_to_be_closed, peer, &reader) == UVEA_OK);
    EXPECT(uvea_rt_spawn(peer->rt, "writer", write_to_be_closed, peer, &writer) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(peer->rt, 5 * UVEA_MS) == UVEA_OK);
    uvea_rt_stream_shut(peer->rt, peer->stream);
    uvea_rt_join(peer->rt, reader);
    uvea_rt_join(peer->rt, writer);
    EXPECT(sim_ns(peer) == 7 * UVEA_MS);
}

static void read_nothing(struct peer *peer)
{
    EXPECT(uvea_rt_sleep_ns(peer->rt, 20 * UVEA_MS) == UVEA_OK);
}

static void test_shut_wakes_local_waiters(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.network.link.window_bytes = 2000;
    (void)peers_run(&config, shut_with_both_waiting, read_nothing);
}

// The peer closes without reading. Its end travels much faster than the bytes towards it, or much
// slower.
static uint64_t closed_ns;

static void write_into_the_void(struct peer *peer)
{
    static uint8_t bytes[50000];
    EXPECT(uvea_rt_write(peer->rt, peer->stream, bytes, sizeof(bytes), UVEA_NEVER) ==
           UVEA_ERR_CLOSED);
    closed_ns = sim_ns(peer);
}

static struct uvea_sim_config one_slow_way(unsigned from, unsigned to)
{
    struct uvea_sim_config config = plain_config();
    config.network.link.window_bytes = 2000;
    config.network.links[0].from = from;
    config.network.links[0].to = to;
    config.network.links[0].link = config.network.link;
    config.network.links[0].link.latency_ns = 20 * UVEA_MS;
    config.network.link_count = 1;
    return config;
}

static void test_the_peers_end_wakes_a_writer(void **state)
{
    (void)state;
    // Accepted and closed at 20 ms, connected at 21, when 2000 bytes leave and the end arrives.
    struct uvea_sim_config config = one_slow_way(0, 1);
    (void)peers_run(&config, write_into_the_void, do_nothing);
    assert_int_equal(closed_ns, 21 * UVEA_MS);
    // Accepted at 20, the end leaves at 25 while the writer waits, and wakes it at 26.
    (void)peers_run(&config, write_into_the_void, sleep_5_ms);
    assert_int_equal(closed_ns, 26 * UVEA_MS);
}

// Until the end has arrived, a window's worth of bytes goes out every millisecond and is dropped.
static void test_bytes_for_a_closed_stream_are_dropped(void **state)
{
    (void)state;
    struct uvea_sim_config config = one_slow_way(1, 0);
    struct peers peers;
    peers_start(&peers, open_sim(&config), write_into_the_void, do_nothing);
    struct uvea_sim_outcome outcome = run_to(peers.sim, UVEA_SIM_FINISHED);
    assert_int_equal(outcome.time_ns, 21 * UVEA_MS); // the answer and the end arrive together
    uvea_sim_close(peers.sim);
    peers_start(&peers, open_sim(&config), write_into_the_void, sleep_25_ms);
    (void)run_to(peers.sim, UVEA_SIM_FINISHED);
    // Connected at 21; the peer closes at 26 and the end arrives at 46. The window is full from 21
    // to 26, then 2000 bytes arrive at 27, 28 .. 46.
    assert_int_equal(closed_ns, 46 * UVEA_MS);
    assert_in_range(uvea_sim_link_traffic(peers.sim, 0, 1).bytes_written, 40000, 44000);
    uvea_sim_close(peers.sim);
}

// Both directions at once, one task reading while another writes, at both ends.
static void write_long_task(void *arg)
{
    write_long(arg);
}

static void talk_both_ways(struct peer *peer)
{
    struct uvea_task *writer;
    uint8_t chunk[1000];
    EXPECT(uvea_rt_spawn(peer->rt, "writer", write_long_task, peer, &writer) == UVEA_OK);
    for (size_t total = 0; total < LONG_BYTES;) {
        size_t got = 0;
        EXPECT(uvea_rt_read(peer->rt, peer->stream, chunk, sizeof(chunk), &got, UVEA_NEVER) ==
               UVEA_OK);
        if (got == 0) {
            break;
        }
        EXPECT(chunk[got - 1] == pattern(total + got - 1));
        total += got;
    }
    uvea_rt_join(peer->rt, writer);
}

static void test_both_directions_are_independent(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    config.network.link.piece_bytes_max = UVEA_SIM_PIECE_BYTES_MAX;
    config.network.link.jitter_ns = 1000;
    (void)peers_run(&config, talk_both_ways, talk_both_ways);
}

// ---- streams of randomness by name

static uint64_t read_at_ns;

static void write_1_byte(struct peer *peer)
{
    peer_write_pattern(peer, 0, 1, UVEA_OK);
}

static void read_1_byte(struct peer *peer)
{
    uint8_t byte;
    EXPECT(uvea_rt_read_exact(peer->rt, peer->stream, &byte, 1, UVEA_NEVER) == UVEA_OK);
    read_at_ns = sim_ns(peer);
}

static void idle(void *arg)
{
    EXPECT(uvea_rt_sleep_ns(arg, UVEA_SECOND) == UVEA_OK);
}

// Other nodes and other seeds' traffic do not move the jitter of a link.
static void test_a_links_draws_depend_on_its_name(void **state)
{
    (void)state;
    uint64_t times[3];
    for (unsigned variant = 0; variant < 3; variant++) {
        struct uvea_sim_config config = plain_config();
        struct peers peers;
        config.network.link.jitter_ns = UVEA_MS;
        config.node_count = variant == 1 ? 6 : 4;
        config.nodes[4].name = "p4";
        config.nodes[5].name = "p5";
        config.seed = variant == 2 ? 2 : 1;
        struct uvea_sim *sim = open_sim(&config);
        if (variant == 1) {
            start(sim, 5, "idle", idle, uvea_sim_rt(sim, 5));
        }
        peers_start(&peers, sim, write_1_byte, read_1_byte);
        (void)run_clean(sim);
        times[variant] = read_at_ns;
    }
    assert_int_equal(times[0], times[1]);
    assert_int_not_equal(times[0], times[2]);
}

static void use_anothers_stream(struct peer *peer)
{
    uint8_t byte = 0;
    struct uvea_rt *other = uvea_sim_rt(peer->peers->sim, 2);
    (void)!uvea_rt_write(other, peer->stream, &byte, 1, UVEA_NEVER);
}

static void run_anothers_stream(void)
{
    struct uvea_sim_config config = plain_config();
    struct peers peers;
    struct uvea_sim_outcome outcome;
    struct uvea_sim *sim = NULL;
    if (uvea_sim_open(&config, &sim, NULL) == UVEA_OK) {
        peers_start(&peers, sim, use_anothers_stream, do_nothing);
        uvea_sim_run(sim, &outcome);
    }
}

static void test_anothers_stream_aborts(void **state)
{
    (void)state;
    assert_true(uvea_test_aborts(run_anothers_stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_end_follows_the_bytes),
        cmocka_unit_test(test_bytes_arrive_in_order_for_any_link),
        cmocka_unit_test(test_a_window_of_one_byte),
        cmocka_unit_test(test_reads_and_writes_are_split_and_merged),
        cmocka_unit_test(test_a_read_may_give_less_than_there_is),
        cmocka_unit_test(test_a_full_window_stops_the_writer),
        cmocka_unit_test(test_shut_wakes_local_waiters),
        cmocka_unit_test(test_the_peers_end_wakes_a_writer),
        cmocka_unit_test(test_bytes_for_a_closed_stream_are_dropped),
        cmocka_unit_test(test_both_directions_are_independent),
        cmocka_unit_test(test_a_links_draws_depend_on_its_name),
        cmocka_unit_test(test_anothers_stream_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
