// Every operation against plain arithmetic, at lengths around a word and at a large odd one, in
// sessions that turn the roles each way.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/mpc/adder.h"
#include "core/mpc/bits.h"
#include "core/mpc/inject.h"
#include "core/mpc/lift.h"
#include "core/mpc/msb.h"
#include "core/mpc/predicate.h"
#include "core/mpc/ring.h"
#include "core/mpc/temp.h"
#include "core/mpc/transpose.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/deal.h"
#include "tests/mpc/trio.h"

#include <string.h>

#define PUBLIC UINT64_C(0xfedcba9876543211)

struct pair {
    struct dealt x;
    struct dealt y;
};

static uint64_t plain_add(uint64_t x, uint64_t y)
{
    return x + y;
}

static uint64_t plain_sub(uint64_t x, uint64_t y)
{
    return x - y;
}

static uint64_t plain_negate(uint64_t x, uint64_t y)
{
    (void)y;
    return -x;
}

static uint64_t plain_scale(uint64_t x, uint64_t y)
{
    (void)y;
    return x * PUBLIC;
}

static uint64_t plain_shift(uint64_t x, uint64_t y)
{
    (void)y;
    return x << 5;
}

static uint64_t plain_add_public(uint64_t x, uint64_t y)
{
    (void)y;
    return x + PUBLIC;
}

static uint64_t plain_product(uint64_t x, uint64_t y)
{
    return x * y;
}

#define WIDTH 16
#include "tests/mpc/ring_case.inc"
#define WIDTH 32
#include "tests/mpc/ring_case.inc"
#define WIDTH 48
#include "tests/mpc/ring_case.inc"
#define WIDTH 64
#include "tests/mpc/ring_case.inc"

// Runs fn on fresh random pairs at every length, in a session of each role rotation and with each
// generator; both holders of every stream must end at the same place.
static void at_every_length(trio_fn *fn)
{
    for (uint32_t id = 0; id < 3; id++) {
        struct trio trio;
        trio_open(&trio, id % 2 == 0 ? UVEA_PRF_AES128 : UVEA_PRF_CHACHA8, id);
        for (size_t i = 0; i < UVEA_COUNT_OF(test_lengths); i++) {
            struct pair pair;
            deal_random(&pair.x, test_lengths[i], 2 * i);
            deal_random(&pair.y, test_lengths[i], 2 * i + 1);
            trio_mark(&trio);
            trio_run(&trio, fn, &pair);
            trio_assert_in_step(&trio);
            for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
                assert_true((trio.party[p].session.traffic.messages == 0) ==
                            (test_lengths[i] == 0));
                assert_null(trio.party[p].session.scratch.current); // all given back
            }
            deal_free(&pair.x);
            deal_free(&pair.y);
        }
        trio_close(&trio);
    }
}

static void ring_arithmetic(void **state)
{
    (void)state;
    at_every_length(ring_case_u16);
    at_every_length(ring_case_u32);
    at_every_length(ring_case_u48);
    at_every_length(ring_case_u64);
}

// ---- bits

static struct uvea_planes words_of(const struct dealt *dealt, unsigned party)
{
    return (struct uvea_planes){dealt->part[party], dealt->part[prev_of(party)], 1, dealt->count};
}

static enum uvea_error reveals_words(struct uvea_session *session, const char *what,
                                     const struct uvea_planes *x, const struct pair *pair,
                                     uint64_t (*want)(uint64_t x, uint64_t y))
{
    uint64_t *open;
    UVEA_TRY(uvea_mpc_take_u64(session, x->words, &open));
    UVEA_TRY(uvea_mpc_reveal_bits(session, x, x->words * 64, open));
    for (size_t i = 0; i < x->words; i++) {
        uint64_t plain = want(dealt_xor(&pair->x, i), dealt_xor(&pair->y, i));
        UVEA_TRY(same_u64(what, i, open[i], plain));
    }
    return UVEA_OK;
}

static uint64_t plain_xor(uint64_t x, uint64_t y)
{
    return x ^ y;
}

static uint64_t plain_and(uint64_t x, uint64_t y)
{
    return x & y;
}

static uint64_t plain_not(uint64_t x, uint64_t y)
{
    (void)y;
    return ~x;
}

static enum uvea_error bits_case(struct uvea_session *session, unsigned party, void *arg)
{
    const struct pair *pair = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    struct uvea_planes x = words_of(&pair->x, party);
    struct uvea_planes y = words_of(&pair->y, party);
    struct uvea_planes z;
    UVEA_TRY(uvea_mpc_take_planes(session, 1, x.words, &z));
    uvea_mpc_xor(&x, &y, &z);
    UVEA_TRY(reveals_words(session, "xor", &z, pair, plain_xor));
    uvea_mpc_not(&x, &z);
    UVEA_TRY(reveals_words(session, "not", &z, pair, plain_not));
    UVEA_TRY(uvea_mpc_and(session, &x, &y, &z));
    UVEA_TRY(reveals_words(session, "and", &z, pair, plain_and));
    uint64_t *pattern;
    UVEA_TRY(uvea_mpc_take_u64(session, x.words, &pattern));
    for (size_t i = 0; i < x.words; i++) {
        pattern[i] = dealt_xor(&pair->y, i);
    }
    uvea_mpc_and_public(&x, pattern, &z);
    UVEA_TRY(reveals_words(session, "and_public", &z, pair, plain_and));
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

static void bit_arithmetic(void **state)
{
    (void)state;
    at_every_length(bits_case);
}

// Lanes that end inside a word: the padding of what is opened is zero whatever the shares hold.
static enum uvea_error reveal_lanes_case(struct uvea_session *session, unsigned party, void *arg)
{
    const struct pair *pair = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    size_t lanes = pair->x.count;
    struct uvea_planes x = words_of(&pair->x, party);
    x.words = uvea_words_for(lanes);
    uint64_t *open;
    UVEA_TRY(uvea_mpc_take_u64(session, x.words, &open));
    UVEA_TRY(uvea_mpc_reveal_bits(session, &x, lanes, open));
    for (size_t i = 0; i < x.words; i++) {
        uint64_t tail = lanes - 64 * i < 64 ? (UINT64_C(1) << (lanes - 64 * i)) - 1 : UINT64_MAX;
        UVEA_TRY(same_u64("lanes", i, open[i], dealt_xor(&pair->x, i) & tail));
    }
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

static void revealed_padding_is_zero(void **state)
{
    (void)state;
    at_every_length(reveal_lanes_case);
}

// ---- transposes

static void check_planes(const uint64_t *values, size_t count, unsigned bits, uint64_t *planes)
{
    size_t words = uvea_words_for(count);
    for (size_t k = 0; k < bits; k++) {
        for (size_t w = 0; w < words; w++) {
            uint64_t want = 0;
            for (size_t j = 64 * w; j < count && j < 64 * w + 64; j++) {
                want |= (values[j] >> k & 1) << j % 64;
            }
            assert_int_equal(planes[k * words + w], want);
        }
    }
}

static void slice_at(size_t count, unsigned bits)
{
    struct dealt dealt;
    deal_random(&dealt, count, bits);
    uint64_t *values = dealt.part[0];
    size_t total = bits * uvea_words_for(count);
    uint64_t *planes = uvea_mem_alloc(total + 1, sizeof(*planes));
    uint32_t *narrow = uvea_mem_alloc(count, sizeof(*narrow)); // of u32, or twice u16
    memset(planes, 0xA5, (total + 1) * sizeof(*planes));
    for (size_t i = 0; i < count; i++) {
        values[i] &= bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        narrow[i] = (uint32_t)values[i];
        if (bits <= 16) {
            ((uint16_t *)narrow)[i] = (uint16_t)values[i];
        }
    }
    if (bits <= 16) {
        uvea_mpc_slice_u16((uint16_t *)narrow, count, bits, planes);
    } else if (bits <= 32) {
        uvea_mpc_slice_u32(narrow, count, bits, planes);
    } else {
        uvea_mpc_slice_u64(values, count, bits, planes);
    }
    check_planes(values, count, bits, planes);
    assert_int_equal(planes[total], 0xA5A5A5A5A5A5A5A5);
    uvea_mem_free(planes);
    uvea_mem_free(narrow);
    deal_free(&dealt);
}

static void transposes(void **state)
{
    (void)state;
    static const unsigned widths[] = {1, 15, 16, 18, 31, 32, 33, 48, 64};
    static const size_t more[] = {100, 128, 130, 192, 200, 256, 257};
    for (size_t w = 0; w < UVEA_COUNT_OF(widths); w++) {
        for (size_t i = 0; i < UVEA_COUNT_OF(test_lengths); i++) {
            slice_at(test_lengths[i], widths[w]);
        }
        for (size_t i = 0; i < UVEA_COUNT_OF(more); i++) {
            slice_at(more[i], widths[w]);
        }
    }
}

// ---- bit injection: two planes, the second after the first

static enum uvea_error inject_u16_case(struct uvea_session *session, struct uvea_planes *bits,
                                       const struct pair *pair)
{
    size_t lanes = pair->x.count;
    struct uvea_share16 out;
    uint16_t *open;
    UVEA_TRY(uvea_mpc_take_share16(session, 2 * lanes, &out));
    UVEA_TRY(uvea_mpc_take_u16(session, 2 * lanes, &open));
    UVEA_TRY(uvea_mpc_inject_u16(session, bits, lanes, &out));
    UVEA_TRY(uvea_mpc_reveal_u16(session, &out, open));
    for (size_t i = 0; i < lanes; i++) {
        UVEA_TRY(same_u64("inject u16", i, open[i], dealt_xor(&pair->x, i / 64) >> i % 64 & 1));
        UVEA_TRY(
            same_u64("inject u16", i, open[lanes + i], dealt_xor(&pair->y, i / 64) >> i % 64 & 1));
    }
    return UVEA_OK;
}

static enum uvea_error inject_u32_case(struct uvea_session *session, struct uvea_planes *bits,
                                       const struct pair *pair)
{
    size_t lanes = pair->x.count;
    struct uvea_share32 out;
    uint32_t *open;
    UVEA_TRY(uvea_mpc_take_share32(session, 2 * lanes, &out));
    UVEA_TRY(uvea_mpc_take_u32(session, 2 * lanes, &open));
    UVEA_TRY(uvea_mpc_inject_u32(session, bits, lanes, &out));
    UVEA_TRY(uvea_mpc_reveal_u32(session, &out, open));
    for (size_t i = 0; i < lanes; i++) {
        UVEA_TRY(same_u64("inject u32", i, open[i], dealt_xor(&pair->x, i / 64) >> i % 64 & 1));
        UVEA_TRY(
            same_u64("inject u32", i, open[lanes + i], dealt_xor(&pair->y, i / 64) >> i % 64 & 1));
    }
    return UVEA_OK;
}

static enum uvea_error inject_u64_case(struct uvea_session *session, struct uvea_planes *bits,
                                       const struct pair *pair)
{
    size_t lanes = pair->x.count;
    struct uvea_share64 out;
    uint64_t *open;
    UVEA_TRY(uvea_mpc_take_share64(session, 2 * lanes, &out));
    UVEA_TRY(uvea_mpc_take_u64(session, 2 * lanes, &open));
    UVEA_TRY(uvea_mpc_inject_u64(session, bits, lanes, &out));
    UVEA_TRY(uvea_mpc_reveal_u64(session, &out, open));
    for (size_t i = 0; i < lanes; i++) {
        UVEA_TRY(same_u64("inject u64", i, open[i], dealt_xor(&pair->x, i / 64) >> i % 64 & 1));
        UVEA_TRY(
            same_u64("inject u64", i, open[lanes + i], dealt_xor(&pair->y, i / 64) >> i % 64 & 1));
    }
    return UVEA_OK;
}

static enum uvea_error inject_case(struct uvea_session *session, unsigned party, void *arg)
{
    const struct pair *pair = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    size_t words = uvea_words_for(pair->x.count);
    struct uvea_planes bits;
    UVEA_TRY(uvea_mpc_take_planes(session, 2, words, &bits));
    for (size_t i = 0; i < words; i++) {
        bits.a[i] = pair->x.part[party][i];
        bits.b[i] = pair->x.part[prev_of(party)][i];
        bits.a[words + i] = pair->y.part[party][i];
        bits.b[words + i] = pair->y.part[prev_of(party)][i];
    }
    UVEA_TRY(inject_u16_case(session, &bits, pair));
    UVEA_TRY(inject_u32_case(session, &bits, pair));
    UVEA_TRY(inject_u64_case(session, &bits, pair));
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

static void bit_injection(void **state)
{
    (void)state;
    at_every_length(inject_case);
}

// ---- lifts

// Random components, but secrets at the ends of the range first.
static uint64_t signed_16(uint64_t value)
{
    return (uint64_t)(int64_t)(int16_t)value;
}

static enum uvea_error lift_u32_case(struct uvea_session *session, const struct uvea_share16 *in,
                                     const struct dealt *secret)
{
    uint32_t *open;
    struct uvea_share32 out;
    UVEA_TRY(uvea_mpc_take_u32(session, in->count, &open));
    UVEA_TRY(uvea_mpc_lift_u32(session, in, &out));
    enum uvea_error error = uvea_mpc_reveal_u32(session, &out, open);
    uvea_share32_deinit(&out);
    UVEA_TRY(error);
    for (size_t i = 0; i < in->count; i++) {
        UVEA_TRY(same_u64("lift u32", i, open[i], (uint16_t)dealt_sum(secret, i)));
    }
    UVEA_TRY(uvea_mpc_lift_signed_u32(session, in, &out));
    error = uvea_mpc_reveal_u32(session, &out, open);
    uvea_share32_deinit(&out);
    UVEA_TRY(error);
    for (size_t i = 0; i < in->count; i++) {
        uint32_t want = (uint32_t)signed_16(dealt_sum(secret, i));
        UVEA_TRY(same_u64("signed lift u32", i, open[i], want));
    }
    return UVEA_OK;
}

static enum uvea_error lift_u48_case(struct uvea_session *session, const struct uvea_share16 *in,
                                     const struct dealt *secret)
{
    uint64_t *open;
    struct uvea_share64 out;
    UVEA_TRY(uvea_mpc_take_u64(session, in->count, &open));
    UVEA_TRY(uvea_mpc_take_share64(session, in->count, &out));
    UVEA_TRY(uvea_mpc_lift_u48(session, in, &out));
    UVEA_TRY(uvea_mpc_reveal_u48(session, &out, open));
    for (size_t i = 0; i < in->count; i++) {
        UVEA_TRY(same_u64("lift u48", i, open[i], (uint16_t)dealt_sum(secret, i)));
    }
    UVEA_TRY(uvea_mpc_lift_signed_u48(session, in, &out));
    UVEA_TRY(uvea_mpc_reveal_u48(session, &out, open));
    for (size_t i = 0; i < in->count; i++) {
        uint64_t want = signed_16(dealt_sum(secret, i)) & UVEA_RING48_MASK;
        UVEA_TRY(same_u64("signed lift u48", i, open[i], want));
    }
    return UVEA_OK;
}

// A secret of 16 - k bits at shift 16 + k.
static enum uvea_error mul_lift_case(struct uvea_session *session, const struct uvea_share16 *in,
                                     const struct dealt *secret)
{
    struct uvea_share32 wide;
    struct uvea_share64 wider;
    uint32_t *open;
    uint64_t *open_wider;
    UVEA_TRY(uvea_mpc_take_share32(session, in->count, &wide));
    UVEA_TRY(uvea_mpc_take_share64(session, in->count, &wider));
    UVEA_TRY(uvea_mpc_take_u32(session, in->count, &open));
    UVEA_TRY(uvea_mpc_take_u64(session, in->count, &open_wider));
    uvea_mpc_mul_lift_u32(in, 16, &wide);
    UVEA_TRY(uvea_mpc_reveal_u32(session, &wide, open));
    uvea_mpc_mul_lift_u48(&wide, 16, &wider);
    UVEA_TRY(uvea_mpc_reveal_u48(session, &wider, open_wider));
    for (size_t i = 0; i < in->count; i++) {
        uint64_t value = (uint16_t)dealt_sum(secret, i);
        UVEA_TRY(same_u64("mul_lift u32", i, open[i], value << 16));
        UVEA_TRY(same_u64("mul_lift u48", i, open_wider[i], value << 32));
    }
    return UVEA_OK;
}

static enum uvea_error lift_case(struct uvea_session *session, unsigned party, void *arg)
{
    const struct pair *pair = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    struct uvea_share16 in;
    UVEA_TRY(take_dealt_u16(session, party, &pair->x, &in));
    UVEA_TRY(lift_u32_case(session, &in, &pair->x));
    UVEA_TRY(lift_u48_case(session, &in, &pair->x));
    UVEA_TRY(mul_lift_case(session, &in, &pair->x));
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

static void lifts(void **state)
{
    (void)state;
    at_every_length(lift_case);
}

static void lifts_at_the_ends_of_the_range(void **state)
{
    (void)state;
    static const uint64_t secrets[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff, 12800, 52736};
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct trio trio;
        struct pair pair;
        deal_sum(&pair.x, secrets, UVEA_COUNT_OF(secrets), seed);
        deal_random(&pair.y, 0, 0);
        if (seed == 0) { // components that carry as often as they can
            memset(pair.x.part[0], 0xff, sizeof(secrets));
            memset(pair.x.part[1], 0xff, sizeof(secrets));
            for (size_t i = 0; i < UVEA_COUNT_OF(secrets); i++) {
                pair.x.part[2][i] = secrets[i] + 2;
            }
        }
        trio_open(&trio, UVEA_PRF_AES128, (uint32_t)seed);
        trio_run(&trio, lift_case, &pair);
        trio_close(&trio);
        deal_free(&pair.x);
        deal_free(&pair.y);
    }
}

// ---- sign extraction

static enum uvea_error reveals_sign(struct uvea_session *session, const char *what,
                                    const struct uvea_planes *msb, const struct dealt *secret,
                                    unsigned bit)
{
    uint64_t *open;
    UVEA_TRY(uvea_mpc_take_u64(session, msb->words, &open));
    UVEA_TRY(uvea_mpc_reveal_bits(session, msb, secret->count, open));
    for (size_t i = 0; i < secret->count; i++) {
        uint64_t want = dealt_sum(secret, i) >> bit & 1;
        UVEA_TRY(same_u64(what, i, open[i / 64] >> i % 64 & 1, want));
    }
    return UVEA_OK;
}

static enum uvea_error msb_case(struct uvea_session *session, unsigned party, void *arg)
{
    const struct pair *pair = arg;
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    struct uvea_share16 narrow;
    struct uvea_share32 wide;
    struct uvea_share64 wider;
    struct uvea_planes msb;
    UVEA_TRY(take_dealt_u16(session, party, &pair->x, &narrow));
    UVEA_TRY(take_dealt_u32(session, party, &pair->x, &wide));
    UVEA_TRY(take_dealt_u48(session, party, &pair->x, &wider));
    UVEA_TRY(uvea_mpc_take_planes(session, 1, uvea_words_for(pair->x.count), &msb));
    UVEA_TRY(uvea_mpc_msb_u16(session, &narrow, &msb));
    UVEA_TRY(reveals_sign(session, "msb u16", &msb, &pair->x, 15));
    UVEA_TRY(uvea_mpc_msb_u32(session, &wide, &msb));
    UVEA_TRY(reveals_sign(session, "msb u32", &msb, &pair->x, 31));
    UVEA_TRY(uvea_mpc_msb_u48(session, &wider, &msb));
    UVEA_TRY(reveals_sign(session, "msb u48", &msb, &pair->x, 47));
    UVEA_TRY(uvea_mpc_msb_three_way_u32(session, &wide, &msb));
    UVEA_TRY(reveals_sign(session, "msb three-way u32", &msb, &pair->x, 31));
    uvea_scratch_release(&session->scratch, mark);
    return UVEA_OK;
}

static void sign_extraction(void **state)
{
    (void)state;
    at_every_length(msb_case);
}

static void signs_at_the_ends_of_the_range(void **state)
{
    (void)state;
    static const uint64_t secrets[] = {
        0,          1,          UINT64_MAX, 0x7fff,         0x8000,         0xffff,
        0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffff, 0x800000000000, 0xffffffffffff};
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct trio trio;
        struct pair pair;
        deal_sum(&pair.x, secrets, UVEA_COUNT_OF(secrets), seed);
        deal_random(&pair.y, 0, 0);
        trio_open(&trio, UVEA_PRF_AES128, (uint32_t)seed);
        trio_run(&trio, msb_case, &pair);
        trio_close(&trio);
        deal_free(&pair.x);
        deal_free(&pair.y);
    }
}

// ---- sizes that shrink and grow in one session

static void sizes_change_within_a_session(void **state)
{
    (void)state;
    static const size_t lengths[] = {4093, 1, 4092, 65, 0, 4093, 2, 64, 5000, 63, 5000};
    struct trio trio;
    trio_open(&trio, UVEA_PRF_AES128, 1);
    for (size_t i = 0; i < UVEA_COUNT_OF(lengths); i++) {
        struct pair pair;
        deal_random(&pair.x, lengths[i], 100 + i);
        deal_random(&pair.y, lengths[i], 200 + i);
        trio_run(&trio, inject_case, &pair);
        trio_run(&trio, lift_case, &pair);
        trio_run(&trio, msb_case, &pair);
        deal_free(&pair.x);
        deal_free(&pair.y);
    }
    trio_assert_in_step(&trio);
    trio_close(&trio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_arithmetic),
        cmocka_unit_test(bit_arithmetic),
        cmocka_unit_test(revealed_padding_is_zero),
        cmocka_unit_test(transposes),
        cmocka_unit_test(bit_injection),
        cmocka_unit_test(lifts),
        cmocka_unit_test(lifts_at_the_ends_of_the_range),
        cmocka_unit_test(sign_extraction),
        cmocka_unit_test(signs_at_the_ends_of_the_range),
        cmocka_unit_test(sizes_change_within_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
