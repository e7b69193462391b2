#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/net/control.h"
#include "core/wire/frame.h"
#include "tests/net/raw_peer.h"
#include "tests/net/trio.h"
#include "tests/support/hex.h"

#include <string.h>

static uint64_t soon(struct trio_party *party)
{
    return uvea_rt_deadline_ns(party->rt, 5 * UVEA_SECOND);
}

static struct uvea_control *open_control(struct trio_party *party)
{
    struct uvea_control *control = NULL;
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_control_open(party->mesh, &control, &context);
    if (error != UVEA_OK) {
        print_error("%s\n", context.text);
    }
    UVEA_CHECK(error == UVEA_OK);
    return control;
}

static void send_text(struct trio_party *party, struct uvea_control *control, enum uvea_peer peer,
                      const char *text)
{
    struct uvea_buf value = {0};
    TRIO_EXPECT(party->trio,
                uvea_value_append_bytes(&value, (const uint8_t *)text, strlen(text)) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_control_send(control, peer, value.data, value.len, soon(party),
                                               NULL) == UVEA_OK);
    uvea_buf_deinit(&value);
}

static void expect_text(struct trio_party *party, struct uvea_control *control, enum uvea_peer peer,
                        const char *text)
{
    struct uvea_value value = {0};
    TRIO_EXPECT(party->trio,
                uvea_control_recv(control, peer, &value, soon(party), NULL) == UVEA_OK);
    TRIO_EXPECT(party->trio, value.kind == UVEA_VALUE_BYTES && value.count == strlen(text) &&
                                 memcmp(value.body, text, strlen(text)) == 0);
}

// ---- three parties

static const char *const names[] = {"alice", "bob", "charlie"};

// Beside a data generation, with other contents in each direction.
static void talking_party(struct trio_party *party)
{
    trio_connect(party);
    struct uvea_control *control = open_control(party);
    TRIO_EXPECT(party->trio, uvea_control_barrier(control, soon(party), NULL) == UVEA_OK);
    struct uvea_party own = uvea_party_at(party->index);
    char text[3][16];
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(text[i], sizeof(text[i]), "%s>", names[i]);
    }
    send_text(party, control, UVEA_PEER_NEXT, text[own.index]);
    expect_text(party, control, UVEA_PEER_PREV, text[uvea_party_peer(own, UVEA_PEER_PREV).index]);
    send_text(party, control, UVEA_PEER_PREV, names[own.index]);
    expect_text(party, control, UVEA_PEER_NEXT, names[uvea_party_peer(own, UVEA_PEER_NEXT).index]);
    for (unsigned round = 0; round < 20; round++) {
        TRIO_EXPECT(party->trio, uvea_control_barrier(control, soon(party), NULL) == UVEA_OK);
    }
    trio_send(party, 0, UVEA_PEER_NEXT, 0, 100);
    trio_expect(party, 0, UVEA_PEER_PREV, 0, 100);
    uvea_mesh_disconnect(party->mesh);
    TRIO_EXPECT(party->trio, uvea_control_barrier(control, soon(party), NULL) == UVEA_OK);
    uvea_control_close(control);
}

static void both_directions_and_barriers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct trio trio;
        trio_init(&trio, talking_party);
        trio.sim_config.seed = seed;
        trio_run(&trio);
    }
}

static void slow_party(struct trio_party *party)
{
    struct uvea_control *control = open_control(party);
    trio_wait_all(party);
    uint64_t start_ns = uvea_sim_now_ns(party->trio->sim);
    trio_sleep(party->rt, party->index * UVEA_SECOND);
    TRIO_EXPECT(party->trio, uvea_control_barrier(control, soon(party), NULL) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_sim_now_ns(party->trio->sim) - start_ns >= 2 * UVEA_SECOND);
    trio_wait_all(party);
    uvea_control_close(control);
}

static void nobody_passes_a_barrier_alone(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, slow_party);
    trio_run(&trio);
}

static void limit_party(struct trio_party *party)
{
    struct uvea_control *control = open_control(party);
    uint8_t *zeros = uvea_mem_alloc(UVEA_CONTROL_BYTES_MAX, 1);
    UVEA_CHECK(zeros != NULL);
    struct uvea_buf value = {0};
    size_t body = UVEA_CONTROL_BYTES_MAX - UVEA_VALUE_HEADER_BYTES;
    TRIO_EXPECT(party->trio, uvea_value_append_bytes(&value, zeros, body + 1) == UVEA_OK);
    struct uvea_error_context context = {{0}};
    TRIO_EXPECT(party->trio, uvea_control_send(control, UVEA_PEER_NEXT, value.data, value.len,
                                               soon(party), &context) == UVEA_ERR_LIMIT);
    TRIO_EXPECT(party->trio, trio_says(&context, "control channel", "1048577"));
    uvea_buf_clear(&value);
    TRIO_EXPECT(party->trio, uvea_value_append_bytes(&value, zeros, body) == UVEA_OK);
    TRIO_EXPECT(party->trio, uvea_control_send(control, UVEA_PEER_NEXT, value.data, value.len,
                                               soon(party), NULL) == UVEA_OK);
    struct uvea_value got = {0};
    TRIO_EXPECT(party->trio,
                uvea_control_recv(control, UVEA_PEER_PREV, &got, soon(party), NULL) == UVEA_OK);
    TRIO_EXPECT(party->trio, got.count == body);
    TRIO_EXPECT(party->trio, uvea_control_barrier(control, soon(party), NULL) == UVEA_OK);
    uvea_buf_deinit(&value);
    uvea_mem_free(zeros);
    trio_wait_all(party);
    uvea_control_close(control);
}

static void limit_both_ways(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, limit_party);
    trio_run(&trio);
}

// Any error is final, and ends it for the others too.
static void late_party(struct trio_party *party)
{
    struct uvea_control *control = open_control(party);
    trio_wait_all(party);
    struct uvea_value value;
    struct uvea_error_context context = {{0}};
    if (party->index == 0) {
        uint64_t deadline_ns = uvea_rt_deadline_ns(party->rt, UVEA_SECOND);
        TRIO_EXPECT(party->trio, uvea_control_recv(control, UVEA_PEER_NEXT, &value, deadline_ns,
                                                   &context) == UVEA_ERR_TIMEOUT);
        TRIO_EXPECT(party->trio, trio_says(&context, "party 1, control channel", "deadline"));
        context = (struct uvea_error_context){{0}};
        TRIO_EXPECT(party->trio,
                    uvea_control_barrier(control, soon(party), &context) == UVEA_ERR_TIMEOUT);
        TRIO_EXPECT(party->trio, trio_says(&context, "party 1, control channel", "deadline"));
    } else {
        enum uvea_peer alice = party->index == 1 ? UVEA_PEER_PREV : UVEA_PEER_NEXT;
        TRIO_EXPECT(party->trio, uvea_control_recv(control, alice, &value, soon(party), &context) ==
                                     UVEA_ERR_CLOSED);
        TRIO_EXPECT(party->trio, trio_says(&context, "party 0, control channel", "closed"));
    }
    trio_wait_all(party);
    uvea_control_close(control);
    control = open_control(party);
    TRIO_EXPECT(party->trio, uvea_control_barrier(control, soon(party), NULL) == UVEA_OK);
    trio_wait_all(party);
    uvea_control_close(control);
}

static void errors_are_final_until_reopened(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, late_party);
    trio_run(&trio);
}

struct shut_args {
    struct trio_party *party;
    struct uvea_control *control;
};

static void shut_task(void *arg)
{
    struct shut_args *args = arg;
    trio_sleep(args->party->rt, UVEA_SECOND);
    uvea_control_shut(args->control);
}

static void shut_party(struct trio_party *party)
{
    struct shut_args args = {party, open_control(party)};
    trio_wait_all(party);
    struct uvea_task *task = NULL;
    TRIO_EXPECT(party->trio, uvea_rt_spawn(party->rt, "shut", shut_task, &args, &task) == UVEA_OK);
    struct uvea_value value;
    TRIO_EXPECT(party->trio, uvea_control_recv(args.control, UVEA_PEER_NEXT, &value, UVEA_NEVER,
                                               NULL) == UVEA_ERR_CLOSED);
    uvea_rt_join(party->rt, task);
    trio_wait_all(party);
    uvea_control_close(args.control);
}

static void shut_wakes(void **state)
{
    (void)state;
    struct trio trio;
    trio_init(&trio, shut_party);
    trio_run(&trio);
}

// ---- byte for byte

struct attack {
    const char *bytes;
    bool end;
    enum uvea_error error;
    const char *says;
};

static const struct attack attacks[] = {
    {"07000000 0c 02000000 6f6b", false, UVEA_OK, NULL},
    {"07000000 0c 02000000 6f6c", false, UVEA_ERR_PEER, "something else"},
    {"01000000 12", false, UVEA_ERR_PEER, "something else"},
    {"00000000", false, UVEA_ERR_FORMAT, "length 0"},
    {"01001000 0c", false, UVEA_ERR_LIMIT, "1048577"},
    {"ffffffff", false, UVEA_ERR_LIMIT, "4294967295"},
    {"02000000 ee00", false, UVEA_ERR_FORMAT, "ee"},
    {"07000000 0c 03000000 6f6b", false, UVEA_ERR_FORMAT, "party 1"},
    {"07000000 0c 02000000 6f", true, UVEA_ERR_CLOSED, "receiving"},
    {"0700", true, UVEA_ERR_CLOSED, "receiving"},
    {"", true, UVEA_ERR_CLOSED, "receiving"},
};

struct attack_test {
    const struct attack *attack;
    struct raw_peer peers[2];
    uint8_t bytes[64];
};

enum { BARRIER_FRAME_BYTES = 11 };

// alice (next) and bob (prev) echo the first barrier; bob's echo of the second is the attack.
static void charlie_barriers(struct trio_party *party)
{
    struct attack_test *test = party->trio->arg;
    struct uvea_control *control = open_control(party);
    struct uvea_error_context context = {{0}};
    TRIO_EXPECT(party->trio, uvea_control_barrier(control, soon(party), NULL) == UVEA_OK);
    enum uvea_error error = uvea_control_barrier(control, soon(party), &context);
    TRIO_EXPECT(party->trio, error == test->attack->error);
    TRIO_EXPECT(party->trio, error == UVEA_OK || trio_says(&context, "party 1, control channel",
                                                           test->attack->says));
    uvea_control_close(control);
}

static void raw_party(struct trio_party *party)
{
    struct attack_test *test = party->trio->arg;
    struct raw_peer *peer = &test->peers[party->index];
    raw_peer_open(peer, party);
    raw_peer_serve(peer, 1);
    raw_peer_close(peer);
}

static void golden_barrier_and_bad_frames(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
        static struct attack_test test;
        memset(&test, 0, sizeof(test));
        test.attack = &attacks[i];
        test.peers[1].echo_bytes = BARRIER_FRAME_BYTES;
        test.peers[1].attack = test.bytes;
        test.peers[1].attack_bytes =
            uvea_test_hex(attacks[i].bytes, test.bytes, sizeof(test.bytes));
        test.peers[1].end_after_attack = attacks[i].end;
        struct trio trio;
        trio_init(&trio, raw_party);
        trio.raw[0] = trio.raw[1] = true;
        trio.fn[2] = charlie_barriers;
        trio.arg = &test;
        trio_run(&trio);
        const struct raw_connection *alice = &test.peers[0].connections[0];
        uvea_test_assert_hex(alice->hello, alice->hello_bytes, "00000000 00000007 636861726c6965");
        // With the stream ended early the second barrier may not have left any more.
        if (!attacks[i].end) {
            uvea_test_assert_hex(alice->record, alice->record_bytes,
                                 "07000000 0c 02000000 6f6b  07000000 0c 02000000 6f6b");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_directions_and_barriers),
        cmocka_unit_test(nobody_passes_a_barrier_alone),
        cmocka_unit_test(limit_both_ways),
        cmocka_unit_test(errors_are_final_until_reopened),
        cmocka_unit_test(shut_wakes),
        cmocka_unit_test(golden_barrier_and_bad_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
