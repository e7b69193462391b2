// Listening, dialing and accepting on a network without faults.
#include "tests/sim/peers.h"

static void do_nothing(struct peer *peer)
{
    (void)peer;
}

static void test_dial_takes_a_round_trip(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct peers peers;
    peers_start(&peers, open_sim(&config), do_nothing, do_nothing);
    (void)run_clean(peers.sim);
    assert_int_equal(peers.ends[1].connected_ns, 1 * UVEA_MS);
    assert_int_equal(peers.ends[0].connected_ns, 2 * UVEA_MS);
}

static void dial_in_vain(void *arg)
{
    struct uvea_rt *rt = arg;
    struct uvea_stream *stream = NULL;
    uint64_t start_ns = uvea_rt_now_ns(rt);
    EXPECT(uvea_rt_dial(rt, "nowhere:80", &stream, UVEA_NEVER) == UVEA_ERR_NOT_FOUND);
    EXPECT(uvea_rt_now_ns(rt) == start_ns);
    EXPECT(uvea_rt_dial(rt, "p1:80", &stream, UVEA_NEVER) == UVEA_ERR_NOT_FOUND);
    EXPECT(uvea_rt_now_ns(rt) == start_ns + 2 * UVEA_MS);
    uint64_t deadline_ns = uvea_rt_deadline_ns(rt, UVEA_MS / 2);
    EXPECT(uvea_rt_dial(rt, "p1:80", &stream, deadline_ns) == UVEA_ERR_TIMEOUT);
    EXPECT(uvea_rt_now_ns(rt) == deadline_ns);
    deadline_ns = uvea_rt_deadline_ns(rt, UVEA_MS * 3 / 2); // the refusal is on its way
    EXPECT(uvea_rt_dial(rt, "p1:80", &stream, deadline_ns) == UVEA_ERR_TIMEOUT);
    EXPECT(uvea_rt_dial(rt, "p1:80", &stream, 0) == UVEA_ERR_TIMEOUT);
    EXPECT(stream == NULL);
}

static void test_dial_fails_where_nobody_listens(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "main", dial_in_vain, uvea_sim_rt(sim, 0));
    (void)run_clean(sim);
}

static void listen_twice(void *arg)
{
    struct uvea_rt *rt = arg;
    struct uvea_listener *listener;
    struct uvea_listener *other = NULL;
    struct uvea_stream *stream;
    EXPECT(uvea_rt_listen(rt, "p0:80", &listener) == UVEA_OK);
    EXPECT(uvea_rt_listen(rt, "p0:80", &other) == UVEA_ERR_IN_USE);
    EXPECT(uvea_rt_listen(rt, "p1:80", &other) == UVEA_ERR_NOT_HERE); // another node's name
    uint64_t deadline_ns = uvea_rt_deadline_ns(rt, UVEA_MS);
    EXPECT(uvea_rt_accept(rt, listener, &stream, deadline_ns) == UVEA_ERR_TIMEOUT);
    EXPECT(uvea_rt_now_ns(rt) == deadline_ns);
    uvea_rt_listener_shut(rt, listener);
    EXPECT(uvea_rt_accept(rt, listener, &stream, UVEA_NEVER) == UVEA_ERR_CLOSED);
    EXPECT(uvea_rt_listen(rt, "p0:80", &other) == UVEA_OK); // the address is free again
    uvea_rt_listener_close(rt, listener);
    uvea_rt_listener_close(rt, other);
    uvea_rt_listener_close(rt, NULL);
}

static void test_one_listener_per_address(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 0, "main", listen_twice, uvea_sim_rt(sim, 0));
    (void)run_clean(sim);
}

struct shut_listener {
    struct uvea_rt *rt;
    struct uvea_listener *listener;
};

static void accept_until_shut(void *arg)
{
    struct shut_listener *own = arg;
    struct uvea_stream *stream;
    EXPECT(uvea_rt_accept(own->rt, own->listener, &stream, UVEA_NEVER) == UVEA_ERR_CLOSED);
}

static void shut_while_accepting(void *arg)
{
    struct shut_listener own = {.rt = arg};
    struct uvea_task *tasks[2];
    EXPECT(uvea_rt_listen(own.rt, "p1:1000", &own.listener) == UVEA_OK);
    for (unsigned i = 0; i < 2; i++) {
        EXPECT(uvea_rt_spawn(own.rt, "acceptor", accept_until_shut, &own, &tasks[i]) == UVEA_OK);
    }
    EXPECT(uvea_rt_sleep_ns(own.rt, UVEA_MS) == UVEA_OK);
    uvea_rt_listener_shut(own.rt, own.listener);
    uvea_rt_join(own.rt, tasks[0]);
    uvea_rt_join(own.rt, tasks[1]);
    uvea_rt_listener_close(own.rt, own.listener);
}

static void test_shut_wakes_acceptors(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 1, "main", shut_while_accepting, uvea_sim_rt(sim, 1));
    assert_int_equal(run_clean(sim).time_ns, UVEA_MS);
}

// The listener never accepts and closes after 10 ms.
static void listen_without_accepting(void *arg)
{
    struct uvea_rt *rt = arg;
    struct uvea_listener *listener;
    EXPECT(uvea_rt_listen(rt, "p1:1000", &listener) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(rt, 10 * UVEA_MS) == UVEA_OK);
    uvea_rt_listener_close(rt, listener);
}

static void expect_reset_at_11_ms(void *arg)
{
    struct uvea_rt *rt = arg;
    struct uvea_stream *stream;
    uint8_t byte;
    size_t got;
    EXPECT(uvea_rt_dial(rt, "p1:1000", &stream, UVEA_NEVER) == UVEA_OK);
    EXPECT(uvea_rt_read(rt, stream, &byte, 1, &got, UVEA_NEVER) == UVEA_ERR_RESET);
    EXPECT(uvea_sim_now_ns(uvea_sim_of(rt)) == 11 * UVEA_MS);
    EXPECT(uvea_rt_write(rt, stream, &byte, 1, UVEA_NEVER) == UVEA_ERR_RESET);
    uvea_rt_stream_close(rt, stream);
}

static void dial_64_times(void *arg)
{
    struct uvea_rt *rt = arg;
    struct uvea_stream *streams[UVEA_SIM_BACKLOG_MAX];
    struct uvea_stream *stream;
    for (unsigned i = 0; i < UVEA_SIM_BACKLOG_MAX; i++) {
        EXPECT(uvea_rt_dial(rt, "p1:1000", &streams[i], UVEA_NEVER) == UVEA_OK);
    }
    EXPECT(uvea_rt_dial(rt, "p1:1000", &stream, UVEA_NEVER) == UVEA_ERR_RESET);
    for (unsigned i = 0; i < UVEA_SIM_BACKLOG_MAX; i++) {
        uvea_rt_stream_close(rt, streams[i]);
    }
}

static void listen_for_a_second(void *arg)
{
    struct uvea_rt *rt = arg;
    struct uvea_listener *listener;
    EXPECT(uvea_rt_listen(rt, "p1:1000", &listener) == UVEA_OK);
    EXPECT(uvea_rt_sleep_ns(rt, UVEA_SECOND) == UVEA_OK);
    uvea_rt_listener_close(rt, listener);
}

static void test_backlog_is_bounded_and_reset_at_close(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    start(sim, 1, "listener", listen_without_accepting, uvea_sim_rt(sim, 1));
    start(sim, 0, "dialer", expect_reset_at_11_ms, uvea_sim_rt(sim, 0));
    start(sim, 2, "dialer", expect_reset_at_11_ms, uvea_sim_rt(sim, 2));
    (void)run_clean(sim);
    sim = open_sim(&config);
    start(sim, 1, "listener", listen_for_a_second, uvea_sim_rt(sim, 1));
    start(sim, 0, "dialer", dial_64_times, uvea_sim_rt(sim, 0));
    (void)run_clean(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dial_takes_a_round_trip),
        cmocka_unit_test(test_dial_fails_where_nobody_listens),
        cmocka_unit_test(test_one_listener_per_address),
        cmocka_unit_test(test_shut_wakes_acceptors),
        cmocka_unit_test(test_backlog_is_bounded_and_reset_at_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
