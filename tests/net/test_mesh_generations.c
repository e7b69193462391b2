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

static void recv_failing(struct trio_party *party, enum uvea_peer peer, enum uvea_error expected,
                         const char *who, const char *what)
{
    struct uvea_value value;
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_link_recv(uvea_mesh_link(party->mesh, 0), peer, &value, &context);
    TRIO_EXPECT(party->trio, error == expected);
    TRIO_EXPECT(party->trio, trio_says(&context, who, what));
}

// ---- generations

// Connects until it works; every party does the same.
static void reconnect(struct trio_party *party)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = UVEA_ERR_STATE;
    uvea_mesh_disconnect(party->mesh);
    for (int attempt = 0; attempt < 5 && error != UVEA_OK; attempt++) {
        error = uvea_mesh_connect(party->mesh, &context);
    }
    TRIO_EXPECT(party->trio, error == UVEA_OK);
}

static void talk(struct trio_party *party, uint32_t step)
{
    for (uint32_t k = 0; k < uvea_mesh_session_count(party->mesh); k++) {
        for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
            trio_send(party, k, peer, step, 50);
        }
        for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
            trio_expect(party, k, peer, step, 50);
        }
    }
}

// Waits in every session until the generation ends.
static enum uvea_error wait_for_the_end(struct trio_party *party,
                                        struct uvea_error_context *context)
{
    struct uvea_value value;
    enum uvea_error error;
    do {
        error = uvea_link_recv(uvea_mesh_link(party->mesh, 0), UVEA_PEER_NEXT, &value, context);
    } while (error == UVEA_OK || error == UVEA_ERR_TIMEOUT);
    return error;
}

static void inject(struct trio_party *party, struct uvea_sim_fault fault)
{
    fault.at_ns = fault.at_ns == 0 ? uvea_sim_now_ns(party->trio->sim) : fault.at_ns;
    TRIO_EXPECT(party->trio, uvea_sim_inject(party->trio->sim, &fault) == UVEA_OK);
}

static void reset_party(struct trio_party *party)
{
    trio_connect(party);
    for (uint32_t generation = 0; generation < 3; generation++) {
        TRIO_EXPECT(party->trio, uvea_mesh_session_id(party->mesh, 0) == 6 * generation);
        TRIO_EXPECT(party->trio, uvea_mesh_session_id(party->mesh, 5) == 6 * generation + 5);
        talk(party, generation);
        trio_wait_all(party);
        struct uvea_error_context context = {{0}};
        if (party->index == 0) {
            trio_send(party, 0, UVEA_PEER_NEXT, 99, 50); // never taken by this generation
            inject(party, (struct uvea_sim_fault){.kind = UVEA_SIM_FAULT_RESET,
                                                  .from = 0,
                                                  .to = 2,
                                                  .connection = UVEA_SIM_ANY_CONNECTION,
                                                  .at_byte = UVEA_SIM_NO_BYTE});
        }
        enum uvea_error error = wait_for_the_end(party, &context);
        TRIO_EXPECT(party->trio, error == UVEA_ERR_RESET || error == UVEA_ERR_CLOSED);
        TRIO_EXPECT(party->trio, party->index == 1 || error == UVEA_ERR_RESET);
        TRIO_EXPECT(party->trio, trio_says(&context, "connection ",
                                           party->index == 0   ? "party 2"
                                           : party->index == 2 ? "party 0"
                                                               : ""));
        reconnect(party);
    }
    talk(party, 3);
    trio_wait_all(party);
}

static void generation_follows_a_reset(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, reset_party);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio.mesh[i].session_count = 6;
        trio.mesh[i].connection_count = 3;
    }
    trio_run(&trio);
}

// alice's frames to bob are held, the generation is given up, a new one is made, and the held bytes
// are let go: none of them is taken for the new generation's.
static void black_hole_party(struct trio_party *party)
{
    trio_connect(party);
    talk(party, 0);
    trio_wait_all(party);
    if (party->index == 0) {
        inject(party, (struct uvea_sim_fault){.kind = UVEA_SIM_FAULT_STALL,
                                              .from = 0,
                                              .to = 1,
                                              .at_byte = UVEA_SIM_NO_BYTE,
                                              .for_ns = 12 * UVEA_SECOND});
        for (uint32_t step = 1; step < 9; step++) {
            trio_send(party, 0, UVEA_PEER_NEXT, step, 50);
        }
    }
    if (party->index == 1) {
        struct uvea_value value;
        struct uvea_error_context context = {{0}};
        enum uvea_error error =
            uvea_link_recv(uvea_mesh_link(party->mesh, 0), UVEA_PEER_PREV, &value, &context);
        TRIO_EXPECT(party->trio, error == UVEA_ERR_TIMEOUT);
        uvea_mesh_abort(party->mesh, error, context.text);
        TRIO_EXPECT(party->trio, uvea_mesh_failure(party->mesh, NULL) == UVEA_ERR_TIMEOUT);
        recv_failing(party, UVEA_PEER_NEXT, UVEA_ERR_TIMEOUT, "party 0, session 0", "no message");
    } else {
        TRIO_EXPECT(party->trio, wait_for_the_end(party, NULL) == UVEA_ERR_CLOSED);
    }
    reconnect(party);
    TRIO_EXPECT(party->trio, uvea_mesh_session_id(party->mesh, 0) == 1);
    talk(party, 100);
    trio_sleep(party->rt, 20 * UVEA_SECOND);
    talk(party, 101);
    trio_wait_all(party);
}

static void stale_frames_are_never_consumed(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, black_hole_party);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio.mesh[i].recv_ns_max = 2 * UVEA_SECOND;
    }
    trio_run(&trio);
}

static void partitioned_party(struct trio_party *party)
{
    reconnect(party);
    TRIO_EXPECT(party->trio, uvea_mesh_session_id(party->mesh, 3) == 3);
    talk(party, 0);
    trio_wait_all(party);
}

static void partition_during_connect_heals(void **state)
{
    (void)state;
    for (uint64_t start_ms = 0; start_ms < 4000; start_ms += 1000) {
        struct trio trio;
        trio_init(&trio, partitioned_party);
        trio.sim_config.network.faults[0] =
            (struct uvea_sim_fault){.kind = UVEA_SIM_FAULT_PARTITION,
                                    .from = 1,
                                    .at_byte = UVEA_SIM_NO_BYTE,
                                    .at_ns = start_ms * UVEA_MS,
                                    .for_ns = 8 * UVEA_SECOND};
        trio.sim_config.network.fault_count = 1;
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            trio.mesh[i].session_count = 4;
            trio.mesh[i].connection_count = 2;
        }
        trio_run(&trio);
        assert_true(trio.outcome.time_ns < 60 * UVEA_SECOND);
    }
}

// One party has counted a generation more than the others: they catch up.
static void ahead_party(struct trio_party *party)
{
    if (party->index == 2) {
        party->mesh->first_id = 4;
    }
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_mesh_connect(party->mesh, &context);
    TRIO_EXPECT(party->trio,
                error == UVEA_ERR_PEER || error == UVEA_ERR_CLOSED || error == UVEA_ERR_RESET);
    TRIO_EXPECT(party->trio, error != UVEA_ERR_PEER ||
                                 trio_says(&context, "sessions are numbered from", "ours"));
    reconnect(party);
    TRIO_EXPECT(party->trio, uvea_mesh_session_id(party->mesh, 1) == 5);
    talk(party, 0);
    trio_wait_all(party);
}

static void session_numbers_are_brought_together(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct trio trio;
        trio_init(&trio, ahead_party);
        trio.sim_config.seed = seed;
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            trio.mesh[i].session_count = 4;
            trio.mesh[i].connection_count = 2;
        }
        trio_run(&trio);
    }
}

// ---- giving up

static void lonely_party(struct trio_party *party)
{
    struct uvea_error_context context = {{0}};
    uint64_t start_ns = uvea_rt_now_ns(party->rt);
    enum uvea_error error = uvea_mesh_connect(party->mesh, &context);
    TRIO_EXPECT(party->trio, error == UVEA_ERR_TIMEOUT);
    TRIO_EXPECT(party->trio, uvea_rt_now_ns(party->rt) - start_ns == 20 * UVEA_SECOND);
    TRIO_EXPECT(party->trio, trio_says(&context, "could not connect to party 0, connection 0",
                                       party->index == 2 ? "dialling p0:5000" : "p0:5000"));
}

static void absent_peer_is_named(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, NULL);
    for (unsigned i = 1; i < UVEA_PARTY_COUNT; i++) {
        trio.fn[i] = lonely_party;
        trio.mesh[i].connect_ns_max = 20 * UVEA_SECOND;
    }
    trio_run(&trio);
}

static void waiting_party(struct trio_party *party)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_mesh_connect(party->mesh, &context);
    TRIO_EXPECT(party->trio, error == UVEA_ERR_TIMEOUT);
    TRIO_EXPECT(party->trio,
                trio_says(&context, "could not connect to party 1", "it did not call"));
}

static void caller_that_never_came_is_named(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, NULL);
    trio.fn[0] = waiting_party;
    trio_run(&trio);
}

// A runtime that finds the address unusable.
static enum uvea_error refuse_to_dial(struct uvea_rt *rt, const char *address,
                                      struct uvea_stream **stream, uint64_t deadline_ns)
{
    (void)rt;
    (void)address;
    (void)stream;
    (void)deadline_ns;
    return UVEA_ERR_USAGE;
}

static void bad_address_party(struct trio_party *party)
{
    struct uvea_rt_ops ops = *party->rt->ops;
    const struct uvea_rt_ops *usual = party->rt->ops;
    ops.dial = refuse_to_dial;
    party->rt->ops = &ops;
    struct uvea_error_context context = {{0}};
    uint64_t start_ns = uvea_rt_now_ns(party->rt);
    enum uvea_error error = uvea_mesh_connect(party->mesh, &context);
    party->rt->ops = usual;
    TRIO_EXPECT(party->trio, error == UVEA_ERR_USAGE);
    TRIO_EXPECT(party->trio, uvea_rt_now_ns(party->rt) - start_ns < 4 * UVEA_SECOND);
    TRIO_EXPECT(party->trio, trio_says(&context, "could not connect to ", "dialling p"));
}

static void address_that_cannot_be_dialled_ends_it(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, NULL);
    trio.fn[2] = bad_address_party;
    trio_run(&trio);
}

static void shut_task(void *arg)
{
    struct trio_party *party = arg;
    trio_sleep(party->rt, 4 * UVEA_SECOND);
    uvea_mesh_shut(party->mesh);
    uvea_mesh_shut(party->mesh);
}

static void shut_party(struct trio_party *party)
{
    struct uvea_task *task = NULL;
    TRIO_EXPECT(party->trio, uvea_rt_spawn(party->rt, "shut", shut_task, party, &task) == UVEA_OK);
    struct uvea_error_context context = {{0}};
    uint64_t start_ns = uvea_rt_now_ns(party->rt);
    TRIO_EXPECT(party->trio, uvea_mesh_connect(party->mesh, &context) == UVEA_ERR_CLOSED);
    TRIO_EXPECT(party->trio, uvea_rt_now_ns(party->rt) - start_ns < 5 * UVEA_SECOND);
    uvea_rt_join(party->rt, task);
    TRIO_EXPECT(party->trio, uvea_mesh_connect(party->mesh, &context) == UVEA_ERR_CLOSED);
    TRIO_EXPECT(party->trio, trio_says(&context, "has been shut", ""));
}

static void shut_ends_a_connect(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, NULL);
    trio.fn[1] = trio.fn[2] = shut_party; // alice never comes
    trio_run(&trio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generation_follows_a_reset),
        cmocka_unit_test(stale_frames_are_never_consumed),
        cmocka_unit_test(partition_during_connect_heals),
        cmocka_unit_test(session_numbers_are_brought_together),
        cmocka_unit_test(absent_peer_is_named),
        cmocka_unit_test(caller_that_never_came_is_named),
        cmocka_unit_test(address_that_cannot_be_dialled_ends_it),
        cmocka_unit_test(shut_ends_a_connect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
