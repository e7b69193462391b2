// Three meshes in one process over sockets and TLS, and what strangers can do to them.
#include "core/base/mem.h"
#include "core/net/handshake.h"
#include "tests/posix/fleet.h"
#include "tests/posix/talk.h"
#include "tests/support/cmocka.h"
#include "tests/support/descriptors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static struct pki pki;
static struct fleet fleet;

static int set_up(void **state)
{
    (void)state;
    pki_open(&pki);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pki_close(&pki);
    return 0;
}

// ---- among themselves

static pthread_barrier_t all_done;

static void connect_and_talk(struct fleet_party *party)
{
    for (unsigned generation = 0; generation < 2; generation++) {
        fleet_connect(party);
        RIG_EXPECT(talk(party->rt, party->mesh, uvea_party_at(party->index)));
        (void)pthread_barrier_wait(&all_done); // nobody leaves while others still work
        uvea_mesh_disconnect(party->mesh);
    }
}

static void test_two_generations(void **state)
{
    (void)state;
    fleet_open(&fleet, &pki);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        fleet.mesh[i].session_count = 6;
        fleet.mesh[i].connection_count = 3;
    }
    assert_int_equal(pthread_barrier_init(&all_done, NULL, UVEA_PARTY_COUNT), 0);
    fleet_meshes(&fleet);
    fleet_run(&fleet, connect_and_talk);
    (void)pthread_barrier_destroy(&all_done);
    struct uvea_posix_counters counters = uvea_posix_counters(fleet.parties[0].rt);
    assert_true(counters.stream_bytes_sent > uvea_mesh_bytes_sent(fleet.parties[0].mesh));
    fleet_close(&fleet);
}

struct lane {
    struct fleet_party *party;
    uint32_t position;
    bool good;
};

static void use_lane(void *arg)
{
    struct lane *lane = arg;
    lane->good = true;
    for (unsigned i = 0; i < 30 && lane->good; i++) {
        lane->good = talk_once(lane->party->mesh, uvea_party_at(lane->party->index), lane->position,
                               (size_t)1 << (i % 18));
    }
}

enum { LANES = 8 };

static void talk_on_all_lanes(struct fleet_party *party)
{
    struct lane lanes[LANES];
    struct uvea_task *tasks[LANES];
    fleet_connect(party);
    for (uint32_t i = 0; i < LANES; i++) {
        lanes[i] = (struct lane){party, i, false};
        tasks[i] = rig_spawn(party->rt, use_lane, &lanes[i]);
    }
    for (uint32_t i = 0; i < LANES; i++) {
        uvea_rt_join(party->rt, tasks[i]);
        RIG_EXPECT(lanes[i].good);
    }
    (void)pthread_barrier_wait(&all_done);
    uvea_mesh_disconnect(party->mesh);
}

static void test_many_sessions_at_once(void **state)
{
    (void)state;
    fleet_open(&fleet, &pki);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        fleet.mesh[i].session_count = LANES;
        fleet.mesh[i].connection_count = 2;
    }
    assert_int_equal(pthread_barrier_init(&all_done, NULL, UVEA_PARTY_COUNT), 0);
    fleet_meshes(&fleet);
    fleet_run(&fleet, talk_on_all_lanes);
    (void)pthread_barrier_destroy(&all_done);
    fleet_close(&fleet);
}

// ---- strangers

static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uvea_error_context told;

static void tell(void *arg, enum uvea_error error, const struct uvea_error_context *context)
{
    (void)arg;
    (void)error;
    (void)pthread_mutex_lock(&told_lock);
    told = *context;
    (void)pthread_mutex_unlock(&told_lock);
}

static void wait_to_be_told(struct uvea_rt *rt, const char *part)
{
    bool found = false;
    for (unsigned i = 0; i < 500 && !found; i++) {
        (void)pthread_mutex_lock(&told_lock);
        found = strstr(told.text, part) != NULL;
        (void)pthread_mutex_unlock(&told_lock);
        if (!found) {
            assert_int_equal(uvea_rt_sleep_ns(rt, 10 * UVEA_MS), UVEA_OK);
        }
    }
    if (!found) {
        fail_msg("it says: %s", told.text);
    }
}

// Somebody with good keys calls himself `identity` at party 0.
static void call(struct uvea_rt *rt, const char *identity, const char *reason)
{
    struct uvea_stream *stream;
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_rt_dial(rt, fleet.addresses[0], &stream, rig_in_ms(rt, 5000)), UVEA_OK);
    assert_int_not_equal(
        uvea_handshake_dial(rt, stream, identity, 0, rig_in_ms(rt, 5000), &context), UVEA_OK);
    wait_to_be_told(rt, reason);
    uvea_rt_stream_close(rt, stream);
}

static void test_nobody_is_another_party(void **state)
{
    (void)state;
    fleet_open(&fleet, &pki);
    fleet.mesh[0].refused = tell;
    fleet_meshes(&fleet);
    // Party 1 says that it is party 2; a client, that it is party 1.
    call(fleet.parties[1].rt, "charlie", "its certificate is not that of party 2 (127.0.0.1:");
    wait_to_be_told(fleet.parties[1].rt,
                    "certificate from another root, judged by the root of party 2)");
    static const struct pki_leaf leaf = {PKI_CLIENTS, NULL, -10, 18000};
    struct uvea_tls *tls = pki_tls(&pki, "client", &leaf, NULL);
    struct uvea_posix_config config = uvea_posix_config_default();
    config.tls = tls;
    struct uvea_rt *client = rig_open(&config);
    call(client, "bob", "judged by the root of party 1)");
    rig_close(client);
    uvea_tls_close(tls);
    fleet_close(&fleet);
}

static void connect_and_leave(struct fleet_party *party)
{
    fleet_connect(party);
    RIG_EXPECT(talk_once(party->mesh, uvea_party_at(party->index), 0, 1000));
    (void)pthread_barrier_wait(&all_done);
    uvea_mesh_disconnect(party->mesh);
}

enum { SILENT = 500 };

// They hold their connections and say nothing; three real parties find each other all the same.
static void test_500_silent_connections(void **state)
{
    (void)state;
    static struct uvea_stream *silent[SILENT];
    need_connections(SILENT);
    struct uvea_rt *stranger = rig_open(NULL);
    fleet_open(&fleet, &pki);
    fleet_meshes(&fleet);
    for (unsigned i = 0; i < SILENT; i++) {
        assert_int_equal(
            uvea_rt_dial(stranger, fleet.addresses[i % 2], &silent[i], rig_in_ms(stranger, 10000)),
            UVEA_OK);
    }
    assert_int_equal(pthread_barrier_init(&all_done, NULL, UVEA_PARTY_COUNT), 0);
    uint64_t before_ns = uvea_rt_now_ns(stranger);
    fleet_run(&fleet, connect_and_leave);
    print_message("three parties found each other in %llu ms\n",
                  (unsigned long long)((uvea_rt_now_ns(stranger) - before_ns) / UVEA_MS));
    (void)pthread_barrier_destroy(&all_done);
    for (unsigned i = 0; i < SILENT; i++) {
        uvea_rt_stream_close(stranger, silent[i]);
    }
    fleet_close(&fleet);
    rig_close(stranger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_generations),
        cmocka_unit_test(test_many_sessions_at_once),
        cmocka_unit_test(test_nobody_is_another_party),
        cmocka_unit_test(test_500_silent_connections),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
