// Messages, AND words and bytes of every operation against the figures of wire.md 6.
#include "core/base/check.h"
#include "core/mpc/bits.h"
#include "core/mpc/inject.h"
#include "core/mpc/lift.h"
#include "core/mpc/msb.h"
#include "core/mpc/predicate.h"
#include "core/mpc/ring.h"
#include "core/mpc/temp.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/deal.h"
#include "tests/mpc/trio.h"

#include <string.h>

// ---- sizes of values, from wire.md 1

static uint64_t vector_bytes(uint64_t count, uint64_t width)
{
    return 5 + count * width;
}

// A lone element goes without a length.
static uint64_t ring_bytes(uint64_t count, uint64_t width)
{
    return count == 1 ? 1 + width : vector_bytes(count, width);
}

static uint64_t bits_bytes(uint64_t lanes)
{
    return lanes == 1 ? 1 : 5 + (lanes + 7) / 8;
}

// `messages` ANDs of `planes` planes of n lanes each.
static uint64_t gates_bytes(uint64_t messages, uint64_t planes, uint64_t n)
{
    return messages * ring_bytes(planes * uvea_words_for(n), 8);
}

// ---- the figures; role = (party + session id) mod 3

static uint64_t refresh_want(uint64_t n, unsigned role)
{
    (void)role;
    return vector_bytes(n, 2);
}

static uint64_t reshare_want(uint64_t n, unsigned role)
{
    (void)role;
    return vector_bytes(n, 4);
}

static uint64_t reveal_want(uint64_t n, unsigned role)
{
    (void)role;
    return ring_bytes(n, 4);
}

static uint64_t additive_want(uint64_t n, unsigned role)
{
    (void)role;
    return 2 * ring_bytes(n, 4);
}

static uint64_t reveal_bits_want(uint64_t n, unsigned role)
{
    (void)role;
    return bits_bytes(n);
}

static uint64_t and_want(uint64_t n, unsigned role)
{
    (void)role;
    return gates_bytes(1, 1, n);
}

static uint64_t inject_16_want(uint64_t n, unsigned role)
{
    (void)role;
    return ring_bytes(n, 2);
}

static uint64_t inject_32_want(uint64_t n, unsigned role)
{
    (void)role;
    return ring_bytes(n, 4);
}

static uint64_t inject_64_want(uint64_t n, unsigned role)
{
    (void)role;
    return ring_bytes(n, 8);
}

static uint64_t overflow_bytes(uint64_t n)
{
    return gates_bytes(1, 16, n) + gates_bytes(16, 1, n);
}

static uint64_t lift_32_want(uint64_t n, unsigned role)
{
    (void)role;
    return overflow_bytes(n) + ring_bytes(2 * n, 2);
}

static uint64_t lift_48_want(uint64_t n, unsigned role)
{
    (void)role;
    return overflow_bytes(n) + ring_bytes(2 * n, 4);
}

static uint64_t split_bytes(uint64_t n, unsigned role, uint64_t width)
{
    uint64_t first = n / 3;
    uint64_t second = (n - first) / 2;
    uint64_t lengths[] = {first, second, n - first - second};
    return ring_bytes(lengths[role], width);
}

static uint64_t msb_16_want(uint64_t n, unsigned role)
{
    return split_bytes(n, role, 2) + gates_bytes(1, 15, n) + gates_bytes(1, 13, n) +
           gates_bytes(1, 7, n) + gates_bytes(1, 3, n) + gates_bytes(1, 1, n);
}

static uint64_t msb_32_want(uint64_t n, unsigned role)
{
    return split_bytes(n, role, 4) + gates_bytes(1, 31, n) + gates_bytes(1, 29, n) +
           gates_bytes(1, 15, n) + gates_bytes(1, 7, n) + gates_bytes(1, 3, n) +
           gates_bytes(1, 1, n);
}

static uint64_t msb_48_want(uint64_t n, unsigned role)
{
    return split_bytes(n, role, 6) + gates_bytes(1, 47, n) + gates_bytes(1, 45, n) +
           gates_bytes(1, 23, n) + gates_bytes(1, 11, n) + gates_bytes(1, 5, n) +
           gates_bytes(1, 1, n) + gates_bytes(1, 1, n);
}

static uint64_t three_way_want(uint64_t n, unsigned role)
{
    (void)role;
    return gates_bytes(1, 31, n) + gates_bytes(30, 1, n);
}

static uint64_t dense_want(uint64_t n, unsigned role)
{
    (void)role;
    return vector_bytes(2 * n, 2) + gates_bytes(1, 33, n) + gates_bytes(15, 2, n) +
           gates_bytes(1, 3, n) + bits_bytes(n);
}

static uint64_t two_term_want(uint64_t n, unsigned role)
{
    // The holder is the party with the index of id mod 3; it says so in its role below.
    uint64_t first = role == 0 ? vector_bytes(16 * uvea_words_for(n), 8) : ring_bytes(n, 2);
    return first + gates_bytes(15, 1, n) + ring_bytes(uvea_words_for(n), 8);
}

static uint64_t strict_want(uint64_t n, unsigned role)
{
    return three_way_want(n, role) + bits_bytes(n);
}

// ---- the operations on zero shares

enum { COUNT_MAX = 126976 };

static const uint16_t zeros_16[2 * COUNT_MAX];

static enum uvea_error do_refresh(struct uvea_session *session, size_t n)
{
    struct uvea_share16 out;
    UVEA_TRY(uvea_mpc_refresh(session, zeros_16, n, &out));
    uvea_share16_deinit(&out);
    return UVEA_OK;
}

static enum uvea_error do_reshare(struct uvea_session *session, size_t n)
{
    struct uvea_share32 x;
    UVEA_TRY(uvea_mpc_take_share32(session, n, &x));
    return uvea_mpc_reshare_u32(session, &x);
}

static enum uvea_error do_reveal(struct uvea_session *session, size_t n)
{
    struct uvea_share32 x;
    uint32_t *open;
    UVEA_TRY(uvea_mpc_take_share32(session, n, &x));
    UVEA_TRY(uvea_mpc_take_u32(session, n, &open));
    return uvea_mpc_reveal_u32(session, &x, open);
}

static enum uvea_error do_additive(struct uvea_session *session, size_t n)
{
    struct uvea_share32 x;
    UVEA_TRY(uvea_mpc_take_share32(session, n, &x));
    return uvea_mpc_reveal_additive_u32(session, x.a, n, x.b);
}

static enum uvea_error take_bits(struct uvea_session *session, size_t n, struct uvea_planes *x)
{
    return uvea_mpc_take_planes(session, 1, uvea_words_for(n), x);
}

static enum uvea_error do_reveal_bits(struct uvea_session *session, size_t n)
{
    struct uvea_planes x;
    uint64_t *open;
    UVEA_TRY(take_bits(session, n, &x));
    UVEA_TRY(uvea_mpc_take_u64(session, x.words, &open));
    return uvea_mpc_reveal_bits(session, &x, n, open);
}

static enum uvea_error do_and(struct uvea_session *session, size_t n)
{
    struct uvea_planes x;
    struct uvea_planes out;
    UVEA_TRY(take_bits(session, n, &x));
    UVEA_TRY(take_bits(session, n, &out));
    return uvea_mpc_and(session, &x, &x, &out);
}

static enum uvea_error do_inject_16(struct uvea_session *session, size_t n)
{
    struct uvea_planes x;
    struct uvea_share16 out;
    UVEA_TRY(take_bits(session, n, &x));
    UVEA_TRY(uvea_mpc_take_share16(session, n, &out));
    return uvea_mpc_inject_u16(session, &x, n, &out);
}

static enum uvea_error do_inject_32(struct uvea_session *session, size_t n)
{
    struct uvea_planes x;
    struct uvea_share32 out;
    UVEA_TRY(take_bits(session, n, &x));
    UVEA_TRY(uvea_mpc_take_share32(session, n, &out));
    return uvea_mpc_inject_u32(session, &x, n, &out);
}

static enum uvea_error do_inject_64(struct uvea_session *session, size_t n)
{
    struct uvea_planes x;
    struct uvea_share64 out;
    UVEA_TRY(take_bits(session, n, &x));
    UVEA_TRY(uvea_mpc_take_share64(session, n, &out));
    return uvea_mpc_inject_u64(session, &x, n, &out);
}

static enum uvea_error do_lift_32(struct uvea_session *session, size_t n)
{
    struct uvea_share16 x;
    struct uvea_share32 out;
    UVEA_TRY(uvea_mpc_take_share16(session, n, &x));
    UVEA_TRY(uvea_mpc_lift_u32(session, &x, &out));
    uvea_share32_deinit(&out);
    return UVEA_OK;
}

static enum uvea_error do_lift_signed_32(struct uvea_session *session, size_t n)
{
    struct uvea_share16 x;
    struct uvea_share32 out;
    UVEA_TRY(uvea_mpc_take_share16(session, n, &x));
    UVEA_TRY(uvea_mpc_lift_signed_u32(session, &x, &out));
    uvea_share32_deinit(&out);
    return UVEA_OK;
}

static enum uvea_error do_lift_48(struct uvea_session *session, size_t n)
{
    struct uvea_share16 x;
    struct uvea_share64 out;
    UVEA_TRY(uvea_mpc_take_share16(session, n, &x));
    UVEA_TRY(uvea_mpc_take_share64(session, n, &out));
    return uvea_mpc_lift_u48(session, &x, &out);
}

static enum uvea_error do_msb_16(struct uvea_session *session, size_t n)
{
    struct uvea_share16 x;
    struct uvea_planes msb;
    UVEA_TRY(uvea_mpc_take_share16(session, n, &x));
    UVEA_TRY(take_bits(session, n, &msb));
    return uvea_mpc_msb_u16(session, &x, &msb);
}

static enum uvea_error do_msb_32(struct uvea_session *session, size_t n)
{
    struct uvea_share32 x;
    struct uvea_planes msb;
    UVEA_TRY(uvea_mpc_take_share32(session, n, &x));
    UVEA_TRY(take_bits(session, n, &msb));
    return uvea_mpc_msb_u32(session, &x, &msb);
}

static enum uvea_error do_msb_48(struct uvea_session *session, size_t n)
{
    struct uvea_share64 x;
    struct uvea_planes msb;
    UVEA_TRY(uvea_mpc_take_share64(session, n, &x));
    UVEA_TRY(take_bits(session, n, &msb));
    return uvea_mpc_msb_u48(session, &x, &msb);
}

static enum uvea_error do_three_way(struct uvea_session *session, size_t n)
{
    struct uvea_share32 x;
    struct uvea_planes msb;
    UVEA_TRY(uvea_mpc_take_share32(session, n, &x));
    UVEA_TRY(take_bits(session, n, &msb));
    return uvea_mpc_msb_three_way_u32(session, &x, &msb);
}

static enum uvea_error do_dense(struct uvea_session *session, size_t n)
{
    uint64_t *open;
    UVEA_TRY(uvea_mpc_take_u64(session, uvea_words_for(n), &open));
    return uvea_mpc_anonymous_match(session, UVEA_PREDICATE_DENSE, zeros_16, n, open, NULL);
}

static enum uvea_error do_two_term(struct uvea_session *session, size_t n)
{
    uint64_t *open;
    UVEA_TRY(uvea_mpc_take_u64(session, uvea_words_for(n), &open));
    return uvea_mpc_anonymous_match(session, UVEA_PREDICATE_TWO_TERM, zeros_16, n, open, NULL);
}

static enum uvea_error do_strict(struct uvea_session *session, size_t n)
{
    struct uvea_share16 codes;
    struct uvea_share32 masks;
    uint64_t *open;
    UVEA_TRY(uvea_mpc_take_share16(session, n, &codes));
    UVEA_TRY(uvea_mpc_take_share32(session, n, &masks));
    UVEA_TRY(uvea_mpc_take_u64(session, uvea_words_for(n), &open));
    return uvea_mpc_strict_match(session, &codes, &masks, open);
}

// ---- the table

struct cost {
    const char *name;
    enum uvea_error (*run)(struct uvea_session *session, size_t n);
    uint64_t messages;
    uint64_t and_planes;
    uint64_t (*bytes)(uint64_t n, unsigned role);
};

static const struct cost costs[] = {
    {"refresh", do_refresh, 1, 0, refresh_want},
    {"reshare u32", do_reshare, 1, 0, reshare_want},
    {"reveal u32", do_reveal, 1, 0, reveal_want},
    {"reveal_additive u32", do_additive, 2, 0, additive_want},
    {"reveal_bits", do_reveal_bits, 1, 0, reveal_bits_want},
    {"and", do_and, 1, 1, and_want},
    {"inject u16", do_inject_16, 1, 0, inject_16_want},
    {"inject u32", do_inject_32, 1, 0, inject_32_want},
    {"inject u64", do_inject_64, 1, 0, inject_64_want},
    {"lift u32", do_lift_32, 18, 32, lift_32_want},
    {"signed lift u32", do_lift_signed_32, 18, 32, lift_32_want},
    {"lift u48", do_lift_48, 18, 32, lift_48_want},
    {"msb u16", do_msb_16, 6, 39, msb_16_want},
    {"msb u32", do_msb_32, 7, 86, msb_32_want},
    {"msb u48", do_msb_48, 8, 133, msb_48_want},
    {"msb three-way u32", do_three_way, 31, 61, three_way_want},
    {"anonymous, dense", do_dense, 1 + 17 + 1, 66, dense_want},
    {"anonymous, two terms", do_two_term, 16 + 1, 15, two_term_want},
    {"strict", do_strict, 31 + 1, 61, strict_want},
};

struct call {
    const struct cost *cost;
    size_t n;
};

static enum uvea_error run_call(struct uvea_session *session, unsigned party, void *arg)
{
    (void)party;
    const struct call *call = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    UVEA_TRY(call->cost->run(session, call->n));
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

static void check_cost(const struct trio *trio, unsigned party, const struct call *call)
{
    const struct uvea_session *session = &trio->party[party].session;
    // The two-term form counts roles from the holder, the others from the effective role.
    unsigned role = call->cost->bytes == two_term_want ? (party + 3 - session->id % 3) % 3
                                                       : (party + session->id) % 3;
    uint64_t messages = call->n == 0 ? 0 : call->cost->messages;
    uint64_t bytes = call->n == 0 ? 0 : call->cost->bytes(call->n, role);
    uint64_t words = call->cost->and_planes * uvea_words_for(call->n);
    if (session->traffic.messages != messages || session->traffic.value_bytes != bytes ||
        session->traffic.and_words != words || trio->party[party].log.len != bytes) {
        fail_msg("%s, n = %zu, party %u: %lu messages (%lu), %lu bytes (%lu), %lu ANDs (%lu)",
                 call->cost->name, call->n, party, session->traffic.messages, messages,
                 session->traffic.value_bytes, bytes, session->traffic.and_words, words);
    }
    // Every round is charged for, at least its gates; all parties alike.
    assert_true(trio->party[party].rt.charged_words >= words);
    assert_true((trio->party[party].rt.charged_words > 0) == (call->n > 0));
    assert_int_equal(trio->party[party].rt.charged_words, trio->party[0].rt.charged_words);
    assert_int_equal(trio->party[party].rt.charges,
                     messages - (call->n > 0 && call->cost->bytes == additive_want));
}

static void costs_are_as_stated(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < 3; id++) {
        struct trio trio;
        trio_open(&trio, UVEA_PRF_AES128, id);
        for (size_t c = 0; c < UVEA_COUNT_OF(costs); c++) {
            for (size_t i = 0; i < UVEA_COUNT_OF(test_lengths); i++) {
                struct call call = {&costs[c], test_lengths[i]};
                trio_mark(&trio);
                trio_run(&trio, run_call, &call);
                trio_assert_in_step(&trio);
                for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
                    check_cost(&trio, p, &call);
                }
            }
        }
        trio_close(&trio);
    }
}

static uint64_t payload_bits(const struct trio *trio, unsigned party)
{
    const struct uvea_traffic *traffic = &trio->party[party].session.traffic;
    return 8 * (traffic->value_bytes - 5 * traffic->messages);
}

static void run_one(struct trio *trio, const char *name, size_t n)
{
    for (size_t c = 0; c < UVEA_COUNT_OF(costs); c++) {
        if (strcmp(costs[c].name, name) == 0) {
            struct call call = {&costs[c], n};
            trio_mark(trio);
            trio_run(trio, run_call, &call);
            return;
        }
    }
    fail_msg("no operation is called %s", name);
}

// The figures as wire.md states them, per comparison or value.
static void payload_per_value(void **state)
{
    (void)state;
    enum { COUNT = 4096 };
    struct trio trio;
    trio_open(&trio, UVEA_PRF_AES128, 0);
    run_one(&trio, "anonymous, dense", COUNT);
    assert_int_equal(payload_bits(&trio, 0), (32 + 66 + 1) * COUNT);
    run_one(&trio, "anonymous, two terms", COUNT);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_int_equal(payload_bits(&trio, p), (31 + 1) * COUNT);
    }
    run_one(&trio, "lift u32", COUNT);
    assert_int_equal(payload_bits(&trio, 0), 8 * (256 * (COUNT / 64) + 4 * COUNT));
    run_one(&trio, "lift u48", COUNT);
    assert_int_equal(payload_bits(&trio, 0), 8 * (256 * (COUNT / 64) + 8 * COUNT));
    trio_close(&trio);
}

// A full chunk of 4,096 records and 31 rotations.
static void full_chunk(void **state)
{
    (void)state;
    struct trio trio;
    trio_open(&trio, UVEA_PRF_AES128, 0);
    run_one(&trio, "anonymous, dense", COUNT_MAX);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        const struct uvea_traffic *traffic = &trio.party[p].session.traffic;
        assert_int_equal(traffic->messages, 19);
        assert_int_equal(traffic->value_bytes, 507909 + 1047637 + 15877);
    }
    trio_close(&trio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_as_stated),
        cmocka_unit_test(payload_per_value),
        cmocka_unit_test(full_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
