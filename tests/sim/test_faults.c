// Resets, stalls and partitions.
#include "tests/sim/peers.h"

static const struct uvea_sim_fault any = {
    .connection = UVEA_SIM_ANY_CONNECTION,
    .at_byte = UVEA_SIM_NO_BYTE,
};

static struct uvea_sim_config config_with(struct uvea_sim_fault fault)
{
    struct uvea_sim_config config = plain_config();
    config.network.faults[0] = fault;
    config.network.fault_count = 1;
    return config;
}

// ---- resets

enum { STREAM_BYTES = 40000 };

static size_t bytes_before_reset;

// Writes more than the peer will get. The reset comes back when the byte before it arrives there.
static void write_until_reset(struct peer *peer)
{
    static const uint8_t zeros[1000];
    enum uvea_error error = UVEA_OK;
    peer_write_pattern(peer, 0, STREAM_BYTES, UVEA_OK);
    while (error == UVEA_OK) {
        EXPECT(sim_ns(peer) < UVEA_SECOND);
        EXPECT(uvea_rt_sleep_ns(peer->rt, UVEA_MS) == UVEA_OK);
        error = uvea_rt_write(peer->rt, peer->stream, zeros, sizeof(zeros), UVEA_NEVER);
    }
    EXPECT(error == UVEA_ERR_RESET);
    uint8_t byte;
    size_t got;
    EXPECT(uvea_rt_read(peer->rt, peer->stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_RESET);
}

static void read_until_reset(struct peer *peer)
{
    enum uvea_error end;
    bytes_before_reset = peer_read_pattern(peer, &end);
    EXPECT(end == UVEA_ERR_RESET);
    EXPECT(uvea_rt_write(peer->rt, peer->stream, (const uint8_t *)"x", 1, UVEA_NEVER) ==
           UVEA_ERR_RESET);
}

static void test_reset_at_any_byte(void **state)
{
    (void)state;
    static const size_t at[] = {0, 1, 2, 4095, 4096, 4097, 16384, 39999, 40000};
    for (size_t i = 0; i < UVEA_COUNT_OF(at); i++) {
        for (unsigned variant = 0; variant < 4; variant++) {
            struct uvea_sim_fault fault = any;
            fault.kind = UVEA_SIM_FAULT_RESET;
            fault.to = 1;
            fault.at_byte = at[i];
            fault.connection = variant % 2 == 0 ? UVEA_SIM_ANY_CONNECTION : 0;
            struct uvea_sim_config config = config_with(fault);
            config.network.link.piece_bytes_max = variant < 2 ? 0 : 5000;
            config.network.link.jitter_ns = variant < 2 ? 0 : UVEA_MS;
            bytes_before_reset = SIZE_MAX;
            (void)peers_run(&config, write_until_reset, read_until_reset);
            assert_int_equal(bytes_before_reset, at[i]);
        }
    }
}

static void write_all_and_wait(struct peer *peer)
{
    uint8_t byte;
    size_t got;
    peer_write_pattern(peer, 0, STREAM_BYTES, UVEA_OK);
    EXPECT(uvea_rt_read(peer->rt, peer->stream, &byte, 1, &got, UVEA_NEVER) == UVEA_OK);
    EXPECT(got == 0);
}

static void read_all(struct peer *peer)
{
    static uint8_t bytes[STREAM_BYTES];
    EXPECT(uvea_rt_read_exact(peer->rt, peer->stream, bytes, sizeof(bytes), UVEA_NEVER) == UVEA_OK);
    EXPECT(bytes[STREAM_BYTES - 1] == pattern(STREAM_BYTES - 1));
}

static void test_faults_of_other_links_do_nothing(void **state)
{
    (void)state;
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_RESET;
    fault.at_byte = 100;
    fault.from = 1; // the other direction carries no bytes
    fault.to = 0;
    struct uvea_sim_config config = config_with(fault);
    (void)peers_run(&config, write_all_and_wait, read_all);
    fault.from = 0;
    fault.to = 1;
    fault.connection = 1; // there is only connection 0
    config = config_with(fault);
    (void)peers_run(&config, write_all_and_wait, read_all);
    fault.connection = 0;
    fault.at_byte = STREAM_BYTES + 1; // never reached
    config = config_with(fault);
    (void)peers_run(&config, write_all_and_wait, read_all);
}

// At 2.5 ms the bytes written at 2 ms are in flight and lost.
static void write_and_see_the_reset(struct peer *peer)
{
    uint8_t byte;
    size_t got;
    peer_write_pattern(peer, 0, 100, UVEA_OK);
    EXPECT(uvea_rt_read(peer->rt, peer->stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_RESET);
    EXPECT(sim_ns(peer) == 2500 * UVEA_MS / 1000);
}

static void test_reset_at_a_time(void **state)
{
    (void)state;
    static const uint32_t connections[] = {UVEA_SIM_ANY_CONNECTION, 0};
    for (size_t i = 0; i < 2; i++) {
        struct uvea_sim_fault fault = any;
        fault.kind = UVEA_SIM_FAULT_RESET;
        fault.to = 1;
        fault.at_ns = 2500 * UVEA_MS / 1000;
        fault.connection = connections[i];
        struct uvea_sim_config config = config_with(fault);
        bytes_before_reset = SIZE_MAX;
        (void)peers_run(&config, write_and_see_the_reset, read_until_reset);
        assert_int_equal(bytes_before_reset, 0);
    }
}

static void dial_and_be_reset(void *arg)
{
    struct uvea_stream *stream = NULL;
    EXPECT(uvea_rt_dial(arg, "p1:1000", &stream, UVEA_NEVER) == UVEA_ERR_RESET);
    EXPECT(uvea_sim_now_ns(uvea_sim_of(arg)) == UVEA_MS / 2);
    EXPECT(stream == NULL);
}

static void test_reset_breaks_a_dial(void **state)
{
    (void)state;
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_RESET;
    fault.to = 1;
    fault.at_ns = UVEA_MS / 2;
    struct uvea_sim_config config = config_with(fault);
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "dialer", dial_and_be_reset, uvea_sim_rt(sim, 0));
    (void)run_clean(sim);
}

static void write_three_times(struct peer *peer)
{
    for (unsigned i = 0; i < 3; i++) {
        peer_write_pattern(peer, (size_t)10 * i, 10, UVEA_OK);
        EXPECT(uvea_rt_sleep_ns(peer->rt, 10 * UVEA_MS) == UVEA_OK);
    }
}

// Unread bytes stay readable after the reset at 15 ms; only the third ten were lost.
static void read_late(struct peer *peer)
{
    enum uvea_error end;
    EXPECT(uvea_rt_sleep_ns(peer->rt, 50 * UVEA_MS) == UVEA_OK);
    EXPECT(peer_read_pattern(peer, &end) == 20);
    EXPECT(end == UVEA_ERR_RESET);
}

static void write_two_of_three(struct peer *peer)
{
    peer_write_pattern(peer, 0, 10, UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(peer->rt, 10 * UVEA_MS) == UVEA_OK);
    peer_write_pattern(peer, 10, 10, UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(peer->rt, 10 * UVEA_MS) == UVEA_OK);
    peer_write_pattern(peer, 20, 10, UVEA_ERR_RESET);
}

static void test_arrived_bytes_survive_a_reset(void **state)
{
    (void)state;
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_RESET;
    fault.to = 1;
    fault.at_ns = 15 * UVEA_MS;
    struct uvea_sim_config config = config_with(fault);
    (void)peers_run(&config, write_two_of_three, read_late);
}

// ---- stalls

static uint64_t arrivals_ns[3];
static uint64_t back_ns;

static void read_three_times(struct peer *peer)
{
    uint8_t bytes[10];
    for (unsigned i = 0; i < 3; i++) {
        EXPECT(uvea_rt_read_exact(peer->rt, peer->stream, bytes, 10, UVEA_NEVER) == UVEA_OK);
        arrivals_ns[i] = sim_ns(peer);
        EXPECT(uvea_rt_write(peer->rt, peer->stream, bytes, 1, UVEA_NEVER) == UVEA_OK);
    }
}

static void test_a_stall_holds_one_direction(void **state)
{
    (void)state;
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_STALL;
    fault.to = 1;
    fault.at_ns = 12500 * UVEA_MS / 1000; // the second ten bytes are in flight
    fault.for_ns = 100 * UVEA_MS;
    struct uvea_sim_config config = config_with(fault);
    (void)peers_run(&config, write_three_times, read_three_times);
    assert_int_equal(arrivals_ns[0], 3 * UVEA_MS);
    assert_int_equal(arrivals_ns[1], 112500 * UVEA_MS / 1000);
    assert_int_equal(arrivals_ns[2], 112500 * UVEA_MS / 1000);
    fault.from = 1;
    fault.to = 0;
    config = config_with(fault); // the other direction: nothing to be seen at the reader
    (void)peers_run(&config, write_three_times, read_three_times);
    assert_int_equal(arrivals_ns[1], 13 * UVEA_MS);
    assert_int_equal(arrivals_ns[2], 23 * UVEA_MS);
}

static void test_a_stall_at_a_byte(void **state)
{
    (void)state;
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_STALL;
    fault.to = 1;
    fault.at_byte = 15;
    fault.for_ns = 100 * UVEA_MS;
    struct uvea_sim_config config = config_with(fault);
    (void)peers_run(&config, write_three_times, read_three_times);
    assert_int_equal(arrivals_ns[0], 3 * UVEA_MS);
    assert_int_equal(arrivals_ns[1], 112 * UVEA_MS);
}

// ---- partitions

static void write_one_and_read_one(struct peer *peer)
{
    uint8_t byte = 1;
    EXPECT(uvea_rt_sleep_ns(peer->rt, 10 * UVEA_MS) == UVEA_OK);
    EXPECT(uvea_rt_write(peer->rt, peer->stream, &byte, 1, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_read_exact(peer->rt, peer->stream, &byte, 1, UVEA_NEVER) == UVEA_OK);
    back_ns = sim_ns(peer);
}

static void read_one_and_write_one(struct peer *peer)
{
    uint8_t byte;
    EXPECT(uvea_rt_read_exact(peer->rt, peer->stream, &byte, 1, UVEA_NEVER) == UVEA_OK);
    arrivals_ns[0] = sim_ns(peer);
    EXPECT(uvea_rt_write(peer->rt, peer->stream, &byte, 1, UVEA_NEVER) == UVEA_OK);
}

static void test_partitions_hold_bytes_until_they_heal(void **state)
{
    (void)state;
    static const struct {
        enum uvea_sim_fault_kind kind;
        unsigned node;
        uint64_t there_ms;
        uint64_t back_ms;
    } cases[] = {
        {UVEA_SIM_FAULT_PARTITION, 0, 105, 106},     {UVEA_SIM_FAULT_PARTITION, 1, 105, 106},
        {UVEA_SIM_FAULT_PARTITION_OUT, 0, 105, 106}, {UVEA_SIM_FAULT_PARTITION_IN, 0, 13, 105},
        {UVEA_SIM_FAULT_PARTITION_OUT, 1, 13, 105},  {UVEA_SIM_FAULT_PARTITION_IN, 1, 105, 106},
        {UVEA_SIM_FAULT_PARTITION, 2, 13, 14},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        struct uvea_sim_fault fault = any;
        fault.kind = cases[i].kind;
        fault.from = cases[i].node;
        fault.at_ns = 5 * UVEA_MS;
        fault.for_ns = 100 * UVEA_MS;
        struct uvea_sim_config config = config_with(fault);
        (void)peers_run(&config, write_one_and_read_one, read_one_and_write_one);
        assert_int_equal(arrivals_ns[0], cases[i].there_ms * UVEA_MS);
        assert_int_equal(back_ns, cases[i].back_ms * UVEA_MS);
    }
}

static void do_nothing(struct peer *peer)
{
    (void)peer;
}

static void test_a_dial_waits_for_the_partition_to_heal(void **state)
{
    (void)state;
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_PARTITION;
    fault.from = 1;
    fault.for_ns = 100 * UVEA_MS;
    struct uvea_sim_config config = config_with(fault);
    struct peers peers;
    peers_start(&peers, open_sim(&config), do_nothing, do_nothing);
    (void)run_clean(peers.sim);
    assert_int_equal(peers.ends[1].connected_ns, 100 * UVEA_MS);
    assert_int_equal(peers.ends[0].connected_ns, 101 * UVEA_MS);
}

static void dial_with_deadlines(void *arg)
{
    struct uvea_stream *stream;
    uint64_t deadline_ns = uvea_rt_deadline_ns(arg, 30 * UVEA_MS);
    EXPECT(uvea_rt_dial(arg, "p1:1000", &stream, deadline_ns) == UVEA_ERR_TIMEOUT);
    EXPECT(uvea_rt_now_ns(arg) == deadline_ns);
    EXPECT(uvea_rt_dial(arg, "p1:1000", &stream, uvea_rt_deadline_ns(arg, 100 * UVEA_MS)) ==
           UVEA_OK);
    EXPECT(uvea_rt_now_ns(arg) == UVEA_SIM_CLOCK_START_NS + 100 * UVEA_MS);
    uvea_rt_stream_close(arg, stream);
}

// Both calls reach it before the answers are held; the first caller has given up by then.
static void accept_two(void *arg)
{
    struct uvea_listener *listener;
    struct uvea_stream *first;
    struct uvea_stream *second;
    uint8_t byte;
    size_t got = 9;
    EXPECT(uvea_rt_listen(arg, "p1:1000", &listener) == UVEA_OK);
    EXPECT(uvea_rt_accept(arg, listener, &first, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_read(arg, first, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_RESET);
    EXPECT(uvea_sim_now_ns(uvea_sim_of(arg)) == 31 * UVEA_MS);
    EXPECT(uvea_rt_accept(arg, listener, &second, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_read(arg, second, &byte, 1, &got, UVEA_NEVER) == UVEA_OK && got == 0);
    uvea_rt_stream_close(arg, first);
    uvea_rt_stream_close(arg, second);
    uvea_rt_listener_close(arg, listener);
}

static void test_a_caller_that_gives_up_resets(void **state)
{
    (void)state;
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_STALL;
    fault.from = 1; // only the answers are held
    fault.for_ns = 100 * UVEA_MS;
    struct uvea_sim_config config = config_with(fault);
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 1, "acceptor", accept_two, uvea_sim_rt(sim, 1));
    start(sim, 0, "dialer", dial_with_deadlines, uvea_sim_rt(sim, 0));
    (void)run_clean(sim);
}

static void give_up_at_1500_us(void *arg)
{
    struct uvea_stream *stream;
    EXPECT(uvea_rt_dial(arg, "p1:1000", &stream, uvea_rt_deadline_ns(arg, UVEA_MS * 3 / 2)) ==
           UVEA_ERR_TIMEOUT);
}

static void accept_and_be_reset(void *arg)
{
    struct uvea_listener *listener;
    struct uvea_stream *stream;
    uint8_t byte;
    size_t got;
    EXPECT(uvea_rt_listen(arg, "p1:1000", &listener) == UVEA_OK);
    EXPECT(uvea_rt_accept(arg, listener, &stream, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_read(arg, stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_RESET);
    EXPECT(uvea_sim_now_ns(uvea_sim_of(arg)) == UVEA_MS * 5 / 2);
    uvea_rt_stream_close(arg, stream);
    uvea_rt_listener_close(arg, listener);
}

static void test_an_answer_to_nobody_is_no_event(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    struct uvea_sim_record_list list = {0};
    uvea_sim_trace_keep(uvea_sim_trace(sim), &list);
    start(sim, 1, "acceptor", accept_and_be_reset, uvea_sim_rt(sim, 1));
    start(sim, 0, "dialer", give_up_at_1500_us, uvea_sim_rt(sim, 0));
    (void)run_clean(sim);
    assert_true(list.count > 0);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_not_equal(list.records[i].kind, UVEA_SIM_EVENT_CONNECT);
    }
    uvea_sim_record_list_deinit(&list);
}

static void give_up_while_the_call_is_held(void *arg)
{
    struct uvea_stream *stream;
    EXPECT(uvea_rt_dial(arg, "p1:1000", &stream, uvea_rt_deadline_ns(arg, 30 * UVEA_MS)) ==
           UVEA_ERR_TIMEOUT);
}

static void accept_nobody(void *arg)
{
    struct uvea_listener *listener;
    struct uvea_stream *stream;
    EXPECT(uvea_rt_listen(arg, "p1:1000", &listener) == UVEA_OK);
    EXPECT(uvea_rt_accept(arg, listener, &stream, uvea_rt_deadline_ns(arg, UVEA_SECOND)) ==
           UVEA_ERR_TIMEOUT);
    uvea_rt_listener_close(arg, listener);
}

static void test_a_call_given_up_under_way_never_arrives(void **state)
{
    (void)state;
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_PARTITION_IN;
    fault.from = 1;
    fault.for_ns = 100 * UVEA_MS;
    struct uvea_sim_config config = config_with(fault);
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 1, "acceptor", accept_nobody, uvea_sim_rt(sim, 1));
    start(sim, 0, "dialer", give_up_while_the_call_is_held, uvea_sim_rt(sim, 0));
    (void)run_clean(sim);
}

static void test_a_partition_for_ever_is_no_progress(void **state)
{
    (void)state;
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_PARTITION;
    fault.from = 1;
    fault.at_ns = 5 * UVEA_MS;
    fault.for_ns = UVEA_NEVER;
    struct uvea_sim_config config = config_with(fault);
    struct peers peers;
    struct uvea_sim_outcome outcome;
    peers_start(&peers, open_sim(&config), write_one_and_read_one, read_one_and_write_one);
    uvea_sim_run(peers.sim, &outcome);
    assert_int_equal(outcome.end, UVEA_SIM_NO_PROGRESS);
    assert_string_equal(outcome.blocked,
                        "p1 task 'acceptor' reads from p0 (connection 0, p1:1000)\n"
                        "p0 task 'dialer' reads from p1 (connection 0, p1:1000)\n");
    uvea_sim_close(peers.sim);
    memset(first_failure, 0, sizeof(first_failure)); // the waits that were cut short
}

// ---- faults during the run

static void partition_and_heal(void *arg)
{
    struct uvea_sim *sim = uvea_sim_of(arg);
    struct uvea_sim_fault fault = any;
    fault.kind = UVEA_SIM_FAULT_PARTITION;
    fault.for_ns = UVEA_NEVER;
    EXPECT(uvea_rt_sleep_ns(arg, 5 * UVEA_MS) == UVEA_OK);
    EXPECT(uvea_sim_inject(sim, &fault) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(arg, 45 * UVEA_MS) == UVEA_OK);
    uvea_sim_heal(sim);
}

static void test_faults_can_be_injected_and_healed(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    struct peers peers;
    start(sim, 3, "chaos", partition_and_heal, uvea_sim_rt(sim, 3));
    peers_start(&peers, sim, write_one_and_read_one, read_one_and_write_one);
    (void)run_clean(sim);
    assert_int_equal(arrivals_ns[0], 50 * UVEA_MS);
    assert_int_equal(back_ns, 51 * UVEA_MS);
}

static void test_bad_faults_are_refused(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    struct uvea_sim_fault bad[4] = {any, any, any, any};
    bad[0].to = 4;
    bad[1].kind = UVEA_SIM_FAULT_PARTITION;
    bad[1].at_byte = 1;
    bad[2].kind = (enum uvea_sim_fault_kind)99;
    bad[3].kind = UVEA_SIM_FAULT_STALL;
    bad[3].at_byte = 1;
    bad[3].connection = 0;
    for (size_t i = 0; i < UVEA_COUNT_OF(bad); i++) {
        assert_int_equal(uvea_sim_inject(sim, &bad[i]), UVEA_ERR_USAGE);
    }
    for (unsigned i = 0; i < UVEA_SIM_FAULTS_MAX; i++) {
        assert_int_equal(uvea_sim_inject(sim, &any), UVEA_OK);
    }
    assert_int_equal(uvea_sim_inject(sim, &any), UVEA_ERR_LIMIT);
    uvea_sim_close(sim);
}

// The place of a fault that is over is free again.
static void inject_many(void *arg)
{
    struct uvea_sim *sim = arg;
    struct uvea_rt *rt = uvea_sim_rt(sim, 0);
    for (unsigned i = 0; i < 3 * UVEA_SIM_FAULTS_MAX; i++) {
        struct uvea_sim_fault stall = {.kind = UVEA_SIM_FAULT_STALL,
                                       .from = 1,
                                       .to = 2,
                                       .connection = UVEA_SIM_ANY_CONNECTION,
                                       .at_byte = UVEA_SIM_NO_BYTE,
                                       .for_ns = 1};
        EXPECT(uvea_sim_inject(sim, &stall) == UVEA_OK);
        EXPECT(uvea_rt_sleep_ns(rt, UVEA_MS) == UVEA_OK);
    }
}

static void test_places_of_faults_are_used_again(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "injector", inject_many, sim);
    (void)run_clean(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reset_at_any_byte),
        cmocka_unit_test(test_faults_of_other_links_do_nothing),
        cmocka_unit_test(test_reset_at_a_time),
        cmocka_unit_test(test_reset_breaks_a_dial),
        cmocka_unit_test(test_arrived_bytes_survive_a_reset),
        cmocka_unit_test(test_a_stall_holds_one_direction),
        cmocka_unit_test(test_a_stall_at_a_byte),
        cmocka_unit_test(test_partitions_hold_bytes_until_they_heal),
        cmocka_unit_test(test_a_dial_waits_for_the_partition_to_heal),
        cmocka_unit_test(test_a_caller_that_gives_up_resets),
        cmocka_unit_test(test_an_answer_to_nobody_is_no_event),
        cmocka_unit_test(test_a_call_given_up_under_way_never_arrives),
        cmocka_unit_test(test_a_partition_for_ever_is_no_progress),
        cmocka_unit_test(test_faults_can_be_injected_and_healed),
        cmocka_unit_test(test_bad_faults_are_refused),
        cmocka_unit_test(test_places_of_faults_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
