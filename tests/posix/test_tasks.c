// Tasks, channels, locks, clocks and counters of the posix runtime.
#include "core/base/check.h"
#include "core/posix/socket.h"
#include "tests/posix/rig.h"
#include "tests/support/cmocka.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

static struct uvea_rt *rt;

static int set_up(void **state)
{
    (void)state;
    rt = rig_open(NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(rt);
    return 0;
}

// ---- channels

static void test_a_channel_is_bounded_and_in_order(void **state)
{
    (void)state;
    int items[3];
    void *item = NULL;
    struct uvea_channel *channel;
    assert_int_equal(uvea_rt_channel_open(rt, 2, &channel), UVEA_OK);
    assert_int_equal(uvea_rt_channel_recv(rt, channel, &item, 0), UVEA_ERR_TIMEOUT);
    assert_int_equal(uvea_rt_channel_send(rt, channel, &items[0], 0), UVEA_OK);
    assert_int_equal(uvea_rt_channel_send(rt, channel, &items[1], UVEA_NEVER), UVEA_OK);
    uint64_t deadline_ns = rig_in_ms(rt, 5);
    assert_int_equal(uvea_rt_channel_send(rt, channel, &items[2], deadline_ns), UVEA_ERR_TIMEOUT);
    assert_true(uvea_rt_now_ns(rt) >= deadline_ns);
    assert_int_equal(uvea_rt_channel_recv(rt, channel, &item, UVEA_NEVER), UVEA_OK);
    assert_ptr_equal(item, &items[0]);
    uvea_rt_channel_shut(rt, channel);
    uvea_rt_channel_shut(rt, channel);
    assert_int_equal(uvea_rt_channel_send(rt, channel, &items[2], UVEA_NEVER), UVEA_ERR_CLOSED);
    assert_int_equal(uvea_rt_channel_recv(rt, channel, &item, 0), UVEA_OK); // what was queued
    assert_ptr_equal(item, &items[1]);
    assert_int_equal(uvea_rt_channel_recv(rt, channel, &item, UVEA_NEVER), UVEA_ERR_CLOSED);
    uvea_rt_channel_close(rt, channel);
    uvea_rt_channel_close(rt, NULL);
}

enum { SENDERS = 4, PER_SENDER = 5000 };

static struct uvea_channel *numbers;

static void send_numbers(void *arg)
{
    for (uintptr_t i = 1; i <= PER_SENDER; i++) {
        RIG_EXPECT(uvea_rt_channel_send(rt, numbers, (void *)i, UVEA_NEVER) == UVEA_OK);
    }
    (void)arg;
}

static void add_numbers(void *arg)
{
    uint64_t *sum = arg;
    void *item;
    while (uvea_rt_channel_recv(rt, numbers, &item, UVEA_NEVER) == UVEA_OK) {
        *sum += (uintptr_t)item;
    }
}

static void test_many_use_a_channel(void **state)
{
    (void)state;
    uint64_t sums[SENDERS] = {0};
    struct uvea_task *senders[SENDERS];
    struct uvea_task *adders[SENDERS];
    assert_int_equal(uvea_rt_channel_open(rt, 3, &numbers), UVEA_OK);
    for (unsigned i = 0; i < SENDERS; i++) {
        senders[i] = rig_spawn(rt, send_numbers, NULL);
        adders[i] = rig_spawn(rt, add_numbers, &sums[i]);
    }
    uint64_t sum = 0;
    for (unsigned i = 0; i < SENDERS; i++) {
        uvea_rt_join(rt, senders[i]);
    }
    uvea_rt_channel_shut(rt, numbers);
    for (unsigned i = 0; i < SENDERS; i++) {
        uvea_rt_join(rt, adders[i]);
        sum += sums[i];
    }
    assert_int_equal(sum, (uint64_t)SENDERS * PER_SENDER * (PER_SENDER + 1) / 2);
    uvea_rt_channel_close(rt, numbers);
}

static void wait_for_item(void *arg)
{
    void *item;
    *(enum uvea_error *)arg = uvea_rt_channel_recv(rt, numbers, &item, UVEA_NEVER);
}

static void test_shut_wakes_all_who_wait(void **state)
{
    (void)state;
    enum uvea_error ends[3] = {UVEA_OK, UVEA_OK, UVEA_OK};
    struct uvea_task *tasks[3];
    assert_int_equal(uvea_rt_channel_open(rt, 1, &numbers), UVEA_OK);
    for (unsigned i = 0; i < 3; i++) {
        tasks[i] = rig_spawn(rt, wait_for_item, &ends[i]);
    }
    assert_int_equal(uvea_rt_sleep_ns(rt, 5 * UVEA_MS), UVEA_OK);
    uvea_rt_channel_shut(rt, numbers);
    for (unsigned i = 0; i < 3; i++) {
        uvea_rt_join(rt, tasks[i]);
        assert_int_equal(ends[i], UVEA_ERR_CLOSED);
    }
    uvea_rt_channel_close(rt, numbers);
}

// ---- locks, sleeping

static struct uvea_lock *lock;
static unsigned counted;

static void count(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 20000; i++) {
        uvea_rt_lock_take(rt, lock);
        counted++;
        uvea_rt_lock_release(rt, lock);
    }
}

static void test_a_lock_has_one_holder(void **state)
{
    (void)state;
    struct uvea_task *tasks[3];
    assert_int_equal(uvea_rt_lock_open(rt, &lock), UVEA_OK);
    for (unsigned i = 0; i < 3; i++) {
        tasks[i] = rig_spawn(rt, count, NULL);
    }
    for (unsigned i = 0; i < 3; i++) {
        uvea_rt_join(rt, tasks[i]);
    }
    assert_int_equal(counted, 60000);
    uvea_rt_lock_close(rt, lock);
}

static void sleep_for_ever(void *arg)
{
    struct uvea_rt *own = arg;
    RIG_EXPECT(uvea_rt_sleep_ns(own, UVEA_NEVER) == UVEA_ERR_CLOSED);
}

static void test_stop_wakes_sleepers(void **state)
{
    (void)state;
    struct uvea_rt *own = rig_open(NULL);
    struct uvea_task *tasks[2] = {rig_spawn(own, sleep_for_ever, own),
                                  rig_spawn(own, sleep_for_ever, own)};
    uint64_t before_ns = uvea_rt_now_ns(own);
    assert_int_equal(uvea_rt_sleep_ns(own, 3 * UVEA_MS), UVEA_OK);
    assert_true(uvea_rt_now_ns(own) >= before_ns + 3 * UVEA_MS);
    uvea_posix_stop(own);
    uvea_rt_join(own, tasks[0]);
    uvea_rt_join(own, tasks[1]);
    assert_int_equal(uvea_rt_sleep_ns(own, 0), UVEA_ERR_CLOSED);
    rig_close(own);
}

static void test_clocks_and_entropy(void **state)
{
    (void)state;
    // From 2020 to 2200.
    assert_in_range(uvea_rt_wall_ns(rt) / UVEA_SECOND, 1577836800, 7258118400);
    uint8_t a[40] = {0};
    uint8_t b[40] = {0};
    assert_int_equal(uvea_rt_entropy(rt, a, sizeof(a)), UVEA_OK);
    assert_int_equal(uvea_rt_entropy(rt, b, sizeof(b)), UVEA_OK);
    assert_memory_not_equal(a, b, sizeof(a));
}

// ---- what is counted

static atomic_uint told;

static void tell(void *arg, enum uvea_point point)
{
    *(unsigned *)arg = (unsigned)point;
    (void)atomic_fetch_add(&told, 1);
}

static void test_points_and_charges_are_counted(void **state)
{
    (void)state;
    unsigned last = UVEA_POINT_COUNT;
    struct uvea_posix_config config = uvea_posix_config_default();
    config.point = tell;
    config.arg = &last;
    struct uvea_rt *own = rig_open(&config);
    assert_int_equal(uvea_rt_point(own, UVEA_POINT_READY), UVEA_OK);
    assert_int_equal(uvea_rt_point(own, UVEA_POINT_DECIDED), UVEA_OK);
    assert_int_equal(uvea_rt_point(own, UVEA_POINT_DECIDED), UVEA_OK);
    uvea_rt_charge(own, UVEA_CHARGE_RING_SCORE, 5);
    uvea_rt_charge(own, UVEA_CHARGE_RING_SCORE, 6);
    assert_int_equal(atomic_load(&told), 3);
    assert_int_equal(last, UVEA_POINT_DECIDED);
    struct uvea_posix_counters counters = uvea_posix_counters(own);
    assert_int_equal(counters.points[UVEA_POINT_DECIDED], 2);
    assert_int_equal(counters.points[UVEA_POINT_READY], 1);
    assert_int_equal(counters.charged[UVEA_CHARGE_RING_SCORE], 11);
    assert_int_equal(counters.charged[UVEA_CHARGE_MPC_WORD], 0);
    rig_close(own);
}

// ---- threads

static void look_at_the_thread(void *arg)
{
    pthread_attr_t attributes;
    size_t bytes = 0;
    cpu_set_t set;
    char name[16] = "";
    UVEA_CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    RIG_EXPECT(pthread_attr_getstacksize(&attributes, &bytes) == 0);
    RIG_EXPECT(bytes >= UVEA_POSIX_STACK_BYTES);
    (void)pthread_attr_destroy(&attributes);
    RIG_EXPECT(pthread_getname_np(pthread_self(), name, sizeof(name)) == 0);
    RIG_EXPECT(strcmp(name, "scan with a nam") == 0); // as long as names may be
    RIG_EXPECT(sched_getaffinity(0, sizeof(set), &set) == 0);
    RIG_EXPECT(CPU_COUNT(&set) == 1 && CPU_ISSET(*(const unsigned *)arg, &set));
}

static unsigned first_allowed(void)
{
    cpu_set_t set;
    unsigned cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    while (!CPU_ISSET(cpu, &set)) {
        cpu++;
    }
    return cpu;
}

static void test_scan_tasks_are_pinned(void **state)
{
    (void)state;
    unsigned cpu = first_allowed();
    struct uvea_posix_config config = uvea_posix_config_default();
    config.cpus = &cpu;
    config.cpu_count = 1;
    struct uvea_rt *own = rig_open(&config);
    struct uvea_task *task;
    assert_int_equal(
        uvea_rt_spawn(own, "scan with a name too long", look_at_the_thread, &cpu, &task), UVEA_OK);
    uvea_rt_join(own, task);
    rig_close(own);

    unsigned absent = UVEA_POSIX_CPUS_MAX - 1;
    struct uvea_error_context context = {{0}};
    config.cpus = &absent;
    assert_int_equal(uvea_posix_open(&config, &own, &context), UVEA_ERR_USAGE);
    assert_string_equal(context.text, "processor 1023 is none that this process may use");
}

// ---- addresses

static void test_addresses(void **state)
{
    (void)state;
    struct uvea_posix_address address;
    assert_int_equal(uvea_posix_address_parse("example.org:80", &address), UVEA_OK);
    assert_string_equal(address.host, "example.org");
    assert_string_equal(address.port, "80");
    assert_int_equal(uvea_posix_address_parse("[2001:db8::1]:65535", &address), UVEA_OK);
    assert_string_equal(address.host, "2001:db8::1");
    assert_string_equal(address.port, "65535");
    static const char *const wrong[] = {"",        ":80",     "host",     "host:",    "host:x",
                                        "h:1x",    "h:65536", "h:-1",     "::1:80",   "[::1]",
                                        "[::1:80", "[]:80",   "h:000080", "[::1]x:80"};
    for (size_t i = 0; i < UVEA_COUNT_OF(wrong); i++) {
        if (uvea_posix_address_parse(wrong[i], &address) != UVEA_ERR_USAGE) {
            fail_msg("accepted: %s", wrong[i]);
        }
    }
    char longest[400];
    memset(longest, 'a', sizeof(longest));
    memcpy(longest + sizeof(longest) - 4, ":80", 4);
    assert_int_equal(uvea_posix_address_parse(longest, &address), UVEA_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_channel_is_bounded_and_in_order),
        cmocka_unit_test(test_many_use_a_channel),
        cmocka_unit_test(test_shut_wakes_all_who_wait),
        cmocka_unit_test(test_a_lock_has_one_holder),
        cmocka_unit_test(test_stop_wakes_sleepers),
        cmocka_unit_test(test_clocks_and_entropy),
        cmocka_unit_test(test_points_and_charges_are_counted),
        cmocka_unit_test(test_scan_tasks_are_pinned),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
