#include "tests/sim/harness.h"

enum { ITEMS = 1000 };

struct pair {
    struct uvea_rt *rt;
    struct uvea_channel *channel;
    unsigned sent;
    unsigned received;
};

static int items[ITEMS];

static struct pair open_pair(struct uvea_sim *sim, size_t capacity)
{
    struct pair pair = {.rt = uvea_sim_rt(sim, 0)};
    assert_int_equal(uvea_rt_channel_open(pair.rt, capacity, &pair.channel), UVEA_OK);
    return pair;
}

static void send_all(void *arg)
{
    struct pair *pair = arg;
    for (; pair->sent < ITEMS; pair->sent++) {
        EXPECT(uvea_rt_channel_send(pair->rt, pair->channel, &items[pair->sent], UVEA_NEVER) ==
               UVEA_OK);
    }
    uvea_rt_channel_shut(pair->rt, pair->channel);
}

static void receive_all(void *arg)
{
    struct pair *pair = arg;
    void *item;
    while (uvea_rt_channel_recv(pair->rt, pair->channel, &item, UVEA_NEVER) == UVEA_OK) {
        EXPECT(item == &items[pair->received]);
        pair->received++;
    }
    EXPECT(uvea_rt_channel_recv(pair->rt, pair->channel, &item, UVEA_NEVER) == UVEA_ERR_CLOSED);
    uvea_rt_channel_close(pair->rt, pair->channel);
}

static void test_items_arrive_in_order(void **state)
{
    (void)state;
    static const size_t capacities[] = {1, 2, 3, 64, 999, 1000, 5000};
    for (size_t i = 0; i < UVEA_COUNT_OF(capacities); i++) {
        struct uvea_sim_config config = plain_config();
        struct uvea_sim *sim = open_sim(&config);
        struct pair pair = open_pair(sim, capacities[i]);
        start(sim, 0, "receiver", receive_all, &pair);
        start(sim, 0, "sender", send_all, &pair);
        (void)run_clean(sim);
        assert_int_equal(pair.received, ITEMS);
    }
}

static void wait_full(void *arg)
{
    struct pair *pair = arg;
    for (; pair->sent < 3; pair->sent++) {
        EXPECT(uvea_rt_channel_send(pair->rt, pair->channel, &items[pair->sent], UVEA_NEVER) ==
               UVEA_OK);
    }
    uint64_t deadline_ns = uvea_rt_deadline_ns(pair->rt, 9 * UVEA_MS);
    EXPECT(uvea_rt_channel_send(pair->rt, pair->channel, &items[3], deadline_ns) ==
           UVEA_ERR_TIMEOUT);
    EXPECT(uvea_rt_now_ns(pair->rt) == deadline_ns);
    // A deadline that has passed: what is possible is done, what is not times out.
    EXPECT(uvea_rt_channel_send(pair->rt, pair->channel, &items[3], 0) == UVEA_ERR_TIMEOUT);
    void *item = NULL;
    for (unsigned i = 0; i < 3; i++) {
        EXPECT(uvea_rt_channel_recv(pair->rt, pair->channel, &item, 0) == UVEA_OK);
        EXPECT(item == &items[i]);
    }
    EXPECT(uvea_rt_channel_recv(pair->rt, pair->channel, &item, 0) == UVEA_ERR_TIMEOUT);
    deadline_ns = uvea_rt_deadline_ns(pair->rt, 4 * UVEA_MS);
    EXPECT(uvea_rt_channel_recv(pair->rt, pair->channel, &item, deadline_ns) == UVEA_ERR_TIMEOUT);
    EXPECT(uvea_rt_now_ns(pair->rt) == deadline_ns);
    EXPECT(item == &items[2]);
    uvea_rt_channel_close(pair->rt, pair->channel);
}

static void test_capacity_and_deadlines_hold(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    struct pair pair = open_pair(sim, 3);
    start(sim, 0, "main", wait_full, &pair);
    assert_int_equal(run_clean(sim).time_ns, 13 * UVEA_MS);
}

static void send_two(void *arg)
{
    struct pair *pair = arg;
    for (unsigned i = 0; i < 2; i++) {
        EXPECT(uvea_rt_sleep_ns(pair->rt, 5 * UVEA_MS << (4 * i)) == UVEA_OK);
        EXPECT(uvea_rt_channel_send(pair->rt, pair->channel, &items[i], UVEA_NEVER) == UVEA_OK);
    }
}

// The first wait ends before its deadline, which then must not end the second one.
static void receive_twice(void *arg)
{
    struct pair *pair = arg;
    struct uvea_task *sender;
    void *item = NULL;
    uint64_t deadline_ns = uvea_rt_deadline_ns(pair->rt, 10 * UVEA_MS);
    EXPECT(uvea_rt_spawn(pair->rt, "sender", send_two, pair, &sender) == UVEA_OK);
    EXPECT(uvea_rt_channel_recv(pair->rt, pair->channel, &item, deadline_ns) == UVEA_OK);
    EXPECT(item == &items[0]);
    EXPECT(uvea_rt_channel_recv(pair->rt, pair->channel, &item, UVEA_NEVER) == UVEA_OK);
    EXPECT(item == &items[1]);
    uvea_rt_join(pair->rt, sender);
    uvea_rt_channel_close(pair->rt, pair->channel);
}

static void test_a_deadline_ends_with_its_wait(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    struct pair pair = open_pair(sim, 1);
    start(sim, 0, "main", receive_twice, &pair);
    assert_int_equal(run_clean(sim).time_ns, 85 * UVEA_MS);
}

static void send_to_be_closed(void *arg)
{
    struct pair *pair = arg;
    EXPECT(uvea_rt_channel_send(pair->rt, pair->channel, &items[9], UVEA_NEVER) == UVEA_ERR_CLOSED);
    pair->sent++;
}

static void receive_to_be_closed(void *arg)
{
    struct pair *pair = arg;
    void *item = &items[5];
    EXPECT(uvea_rt_channel_recv(pair->rt, pair->channel, &item, UVEA_NEVER) == UVEA_ERR_CLOSED);
    EXPECT(item == &items[5]);
    pair->received++;
}

static void shut_with_waiting_senders(void *arg)
{
    struct pair *pair = arg;
    struct uvea_task *tasks[3];
    void *item;
    EXPECT(uvea_rt_channel_send(pair->rt, pair->channel, &items[0], UVEA_NEVER) == UVEA_OK);
    for (unsigned i = 0; i < 3; i++) {
        EXPECT(uvea_rt_spawn(pair->rt, "sender", send_to_be_closed, pair, &tasks[i]) == UVEA_OK);
    }
    EXPECT(uvea_rt_sleep_ns(pair->rt, UVEA_MS) == UVEA_OK);
    EXPECT(pair->sent == 0);
    uvea_rt_channel_shut(pair->rt, pair->channel);
    uvea_rt_channel_shut(pair->rt, pair->channel);
    for (unsigned i = 0; i < 3; i++) {
        uvea_rt_join(pair->rt, tasks[i]);
    }
    EXPECT(pair->sent == 3);
    // What was queued is still delivered, then the channel is closed.
    EXPECT(uvea_rt_channel_recv(pair->rt, pair->channel, &item, UVEA_NEVER) == UVEA_OK);
    EXPECT(item == &items[0]);
    EXPECT(uvea_rt_channel_recv(pair->rt, pair->channel, &item, UVEA_NEVER) == UVEA_ERR_CLOSED);
    EXPECT(uvea_rt_channel_send(pair->rt, pair->channel, item, UVEA_NEVER) == UVEA_ERR_CLOSED);
    uvea_rt_channel_close(pair->rt, pair->channel);
    uvea_rt_channel_close(pair->rt, NULL);
}

static void shut_with_waiting_receivers(void *arg)
{
    struct pair *pair = arg;
    struct uvea_task *tasks[3];
    for (unsigned i = 0; i < 3; i++) {
        EXPECT(uvea_rt_spawn(pair->rt, "receiver", receive_to_be_closed, pair, &tasks[i]) ==
               UVEA_OK);
    }
    EXPECT(uvea_rt_sleep_ns(pair->rt, UVEA_MS) == UVEA_OK);
    EXPECT(pair->received == 0);
    uvea_rt_channel_shut(pair->rt, pair->channel);
    for (unsigned i = 0; i < 3; i++) {
        uvea_rt_join(pair->rt, tasks[i]);
    }
    EXPECT(pair->received == 3);
    uvea_rt_channel_close(pair->rt, pair->channel);
}

static void test_shut_wakes_every_waiter(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    struct pair senders = open_pair(sim, 1);
    struct pair receivers = open_pair(sim, 1);
    start(sim, 0, "main", shut_with_waiting_senders, &senders);
    start(sim, 0, "main", shut_with_waiting_receivers, &receivers);
    (void)run_clean(sim);
}

// Four receivers with deadlines and three senders on one small channel: every item arrives once.
static unsigned seen[ITEMS];

static void receive_some(void *arg)
{
    struct pair *pair = arg;
    for (;;) {
        void *item;
        uint64_t deadline_ns = uvea_rt_deadline_ns(pair->rt, UVEA_MS);
        enum uvea_error error = uvea_rt_channel_recv(pair->rt, pair->channel, &item, deadline_ns);
        if (error == UVEA_ERR_CLOSED) {
            return;
        }
        if (error == UVEA_OK) {
            seen[(int *)item - items]++;
            pair->received++;
        }
    }
}

static void send_some(void *arg)
{
    struct pair *pair = arg;
    while (pair->sent < ITEMS) {
        unsigned own = pair->sent++;
        EXPECT(uvea_rt_sleep_ns(pair->rt, UINT64_C(700000) * (own % 5)) == UVEA_OK);
        EXPECT(uvea_rt_channel_send(pair->rt, pair->channel, &items[own], UVEA_NEVER) == UVEA_OK);
    }
}

static void crowd(void *arg)
{
    struct pair *pair = arg;
    struct uvea_task *tasks[7];
    for (unsigned i = 0; i < 7; i++) {
        EXPECT(uvea_rt_spawn(pair->rt, "crowd", i < 4 ? receive_some : send_some, pair,
                             &tasks[i]) == UVEA_OK);
    }
    for (unsigned i = 4; i < 7; i++) {
        uvea_rt_join(pair->rt, tasks[i]);
    }
    uvea_rt_channel_shut(pair->rt, pair->channel);
    for (unsigned i = 0; i < 4; i++) {
        uvea_rt_join(pair->rt, tasks[i]);
    }
    uvea_rt_channel_close(pair->rt, pair->channel);
}

static void test_a_crowd_loses_nothing(void **state)
{
    (void)state;
    struct uvea_sim_config config = plain_config();
    struct uvea_sim *sim = open_sim(&config);
    struct pair pair = open_pair(sim, 2);
    memset(seen, 0, sizeof(seen));
    start(sim, 0, "main", crowd, &pair);
    (void)run_clean(sim);
    assert_int_equal(pair.received, ITEMS);
    for (unsigned i = 0; i < ITEMS; i++) {
        assert_int_equal(seen[i], 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_arrive_in_order),
        cmocka_unit_test(test_capacity_and_deadlines_hold),
        cmocka_unit_test(test_a_deadline_ends_with_its_wait),
        cmocka_unit_test(test_shut_wakes_every_waiter),
        cmocka_unit_test(test_a_crowd_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
