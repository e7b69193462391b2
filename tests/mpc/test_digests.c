// Transcripts and openings against wire.md 4, 5, 6.1, 6.6 and 6.16, byte for byte.
#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/mpc/bits.h"
#include "core/mpc/inject.h"
#include "core/mpc/lift.h"
#include "core/mpc/msb.h"
#include "core/mpc/predicate.h"
#include "core/mpc/ring.h"
#include "core/mpc/threshold.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/deal.h"
#include "tests/mpc/trio.h"

#include <string.h>

// ---- 6.16: n = 70, components by formula

#define N ((size_t)70)
#define W ((size_t)2)

static uint64_t component(unsigned p, size_t j, uint64_t off)
{
    static const uint64_t factor[UVEA_PARTY_COUNT] = {
        UINT64_C(0x9E3779B97F4A7C15), UINT64_C(0xC2B2AE3D27D4EB4F), UINT64_C(0x165667B19E3779F9)};
    return (j + 1 + off) * factor[p];
}

// What the parties opened; all three write the same place after comparing is done by the test.
struct opened {
    uint64_t values[UVEA_PARTY_COUNT][N];
    uint64_t bits[UVEA_PARTY_COUNT][W];
};

static void fill_u16(unsigned party, uint64_t off, size_t stride, struct uvea_share16 *x)
{
    for (size_t j = 0; j < x->count / stride; j++) {
        x->a[j * stride] = (uint16_t)component(party, j, off);
        x->b[j * stride] = (uint16_t)component(prev_of(party), j, off);
    }
}

static void fill_u32(unsigned party, struct uvea_share32 *x)
{
    for (size_t j = 0; j < x->count; j++) {
        x->a[j] = (uint32_t)component(party, j, 0);
        x->b[j] = (uint32_t)component(prev_of(party), j, 0);
    }
}

static void widen_u16(const uint16_t *from, uint64_t *to)
{
    for (size_t j = 0; j < N; j++) {
        to[j] = from[j];
    }
}

static void widen_u32(const uint32_t *from, uint64_t *to)
{
    for (size_t j = 0; j < N; j++) {
        to[j] = from[j];
    }
}

// Opening is no part of the digest: what was sent before it is hashed first.
struct run {
    struct trio *trio;
    uint64_t digest[UVEA_PARTY_COUNT];
    struct opened opened;
};

static void take_digest(struct run *run, unsigned party)
{
    run->digest[party] = trio_digest(run->trio, party);
}

static enum uvea_error run_galois(struct uvea_session *session, unsigned party, void *arg)
{
    struct run *run = arg;
    uint16_t additive[N];
    uint16_t open[N];
    struct uvea_share16 out;
    for (size_t j = 0; j < N; j++) {
        additive[j] = (uint16_t)component(party, j, 0);
    }
    UVEA_TRY(uvea_mpc_refresh(session, additive, N, &out));
    take_digest(run, party);
    enum uvea_error error = uvea_mpc_reveal_u16(session, &out, open);
    widen_u16(open, run->opened.values[party]);
    uvea_share16_deinit(&out);
    return error;
}

static enum uvea_error run_inject(struct uvea_session *session, unsigned party, void *arg)
{
    struct run *run = arg;
    uint64_t a[W] = {0};
    uint64_t b[W] = {0};
    for (size_t j = 0; j < N; j++) {
        a[j / 64] |= (component(party, j, 0) & 1) << j % 64;
        b[j / 64] |= (component(prev_of(party), j, 0) & 1) << j % 64;
    }
    struct uvea_planes bits = {a, b, 1, W};
    uint32_t out_a[N];
    uint32_t out_b[N];
    uint32_t open[N];
    struct uvea_share32 out = {out_a, out_b, N};
    UVEA_TRY(uvea_mpc_inject_u32(session, &bits, N, &out));
    take_digest(run, party);
    enum uvea_error error = uvea_mpc_reveal_u32(session, &out, open);
    widen_u32(open, run->opened.values[party]);
    return error;
}

static enum uvea_error run_lift_32(struct uvea_session *session, unsigned party, void *arg)
{
    struct run *run = arg;
    uint16_t a[N];
    uint16_t b[N];
    uint32_t open[N];
    struct uvea_share16 in = {a, b, N};
    struct uvea_share32 out;
    fill_u16(party, 0, 1, &in);
    UVEA_TRY(uvea_mpc_lift_signed_u32(session, &in, &out));
    take_digest(run, party);
    enum uvea_error error = uvea_mpc_reveal_u32(session, &out, open);
    widen_u32(open, run->opened.values[party]);
    uvea_share32_deinit(&out);
    return error;
}

static enum uvea_error run_lift_48(struct uvea_session *session, unsigned party, void *arg)
{
    struct run *run = arg;
    uint16_t a[N];
    uint16_t b[N];
    uint64_t out_a[N];
    uint64_t out_b[N];
    struct uvea_share16 in = {a, b, N};
    struct uvea_share64 out = {out_a, out_b, N};
    fill_u16(party, 0, 1, &in);
    UVEA_TRY(uvea_mpc_lift_signed_u48(session, &in, &out));
    take_digest(run, party);
    return uvea_mpc_reveal_u48(session, &out, run->opened.values[party]);
}

static enum uvea_error finish_bits(struct run *run, struct uvea_session *session, unsigned party,
                                   const struct uvea_planes *msb)
{
    take_digest(run, party);
    return uvea_mpc_reveal_bits(session, msb, N, run->opened.bits[party]);
}

static enum uvea_error run_msb_u16(struct uvea_session *session, unsigned party, void *arg)
{
    uint16_t a[N];
    uint16_t b[N];
    uint64_t msb[2][W];
    struct uvea_share16 in = {a, b, N};
    struct uvea_planes out = {msb[0], msb[1], 1, W};
    fill_u16(party, 0, 1, &in);
    UVEA_TRY(uvea_mpc_msb_u16(session, &in, &out));
    return finish_bits(arg, session, party, &out);
}

static enum uvea_error run_msb_u32(struct uvea_session *session, unsigned party, void *arg)
{
    uint32_t a[N];
    uint32_t b[N];
    uint64_t msb[2][W];
    struct uvea_share32 in = {a, b, N};
    struct uvea_planes out = {msb[0], msb[1], 1, W};
    fill_u32(party, &in);
    UVEA_TRY(uvea_mpc_msb_u32(session, &in, &out));
    return finish_bits(arg, session, party, &out);
}

static enum uvea_error run_msb_u48(struct uvea_session *session, unsigned party, void *arg)
{
    uint64_t a[N];
    uint64_t b[N];
    uint64_t msb[2][W];
    struct uvea_share64 in = {a, b, N};
    struct uvea_planes out = {msb[0], msb[1], 1, W};
    for (size_t j = 0; j < N; j++) {
        a[j] = component(party, j, 0) & UVEA_RING48_MASK;
        b[j] = component(prev_of(party), j, 0) & UVEA_RING48_MASK;
    }
    UVEA_TRY(uvea_mpc_msb_u48(session, &in, &out));
    return finish_bits(arg, session, party, &out);
}

static enum uvea_error run_msb_three_way(struct uvea_session *session, unsigned party, void *arg)
{
    uint32_t a[N];
    uint32_t b[N];
    uint64_t msb[2][W];
    struct uvea_share32 in = {a, b, N};
    struct uvea_planes out = {msb[0], msb[1], 1, W};
    fill_u32(party, &in);
    UVEA_TRY(uvea_mpc_msb_three_way_u32(session, &in, &out));
    return finish_bits(arg, session, party, &out);
}

static enum uvea_error run_anonymous(struct uvea_session *session, unsigned party, void *arg)
{
    uint16_t a[2 * N];
    uint16_t b[2 * N];
    uint64_t sign[2][W];
    struct uvea_share16 pairs = {a, b, 2 * N};
    struct uvea_share16 masks = {a + 1, b + 1, 2 * N};
    struct uvea_planes out = {sign[0], sign[1], 1, W};
    fill_u16(party, 0, 2, &pairs);
    fill_u16(party, 100, 2, &masks);
    UVEA_TRY(uvea_mpc_anonymous_above(session, &pairs, &out));
    return finish_bits(arg, session, party, &out);
}

struct transcript {
    const char *name;
    trio_fn *fn;
    enum uvea_prf_kind kind;
    uint32_t session_id;
    uint64_t digest[UVEA_PARTY_COUNT];
    const char *open; // packed bits, or a digest of values
};

#define AES UVEA_PRF_AES128
#define CHACHA UVEA_PRF_CHACHA8

static const struct transcript transcripts[] = {
    {"galois_to_rep3",
     run_galois,
     CHACHA,
     0,
     {0x78dc1e4bbea71078, 0xc2b4e0baea685bd4, 0x6e7034a3b15e0414},
     "e2b84bf6e7994e33"},
    {"galois_to_rep3",
     run_galois,
     CHACHA,
     1,
     {0x78dc1e4bbea71078, 0xc2b4e0baea685bd4, 0x6e7034a3b15e0414},
     "e2b84bf6e7994e33"},
    {"galois_to_rep3",
     run_galois,
     AES,
     0,
     {0xcbceab6407749e1a, 0x49ae33f27a64e019, 0x6f4a6b940e6a654f},
     "e2b84bf6e7994e33"},
    {"bit_inject u32",
     run_inject,
     CHACHA,
     0,
     {0xe9b45403187419b9, 0x9fcb0a100371a327, 0x841995ec94a8e0fb},
     "74bce731ddc49b83"},
    {"bit_inject u32",
     run_inject,
     CHACHA,
     1,
     {0xea84c8db2c9760f6, 0x90c88a0a4c650a0c, 0x6815fab84b0abd50},
     "74bce731ddc49b83"},
    {"bit_inject u32",
     run_inject,
     AES,
     0,
     {0x23ecbee0ccba38fa, 0x76f73b7b92e5891e, 0xb2bedd40600e2e8b},
     "74bce731ddc49b83"},
    {"signed lift 32",
     run_lift_32,
     CHACHA,
     0,
     {0x0e38abba2e5a370b, 0x8cd0930501014023, 0xa02221cb86b7e171},
     "cb8b5dfb21edcb1a"},
    {"signed lift 32",
     run_lift_32,
     CHACHA,
     1,
     {0x7fd39420f42e87c8, 0x4c3890353f4e73ca, 0x41fcd8204da7b48a},
     "cb8b5dfb21edcb1a"},
    {"signed lift 32",
     run_lift_32,
     AES,
     0,
     {0xa16342f5b27a3a2e, 0xaef5a6b393c09c28, 0xeef1b6db33c2e613},
     "cb8b5dfb21edcb1a"},
    {"signed lift 48",
     run_lift_48,
     CHACHA,
     0,
     {0x28ff563469563782, 0xfe4db7c44ae7e0b2, 0x0d30d592b0c14067},
     "16892f3655df2995"},
    {"signed lift 48",
     run_lift_48,
     AES,
     0,
     {0xb401d8c18e2c6715, 0xeaadd881be3b32fa, 0x37f5ed03a0f1a429},
     "16892f3655df2995"},
    {"msb two-way u16",
     run_msb_u16,
     CHACHA,
     0,
     {0xdef2be1d6c9d48db, 0xbf25b1a205063111, 0xc343a74ccddb32a3},
     "0f0f0f1e1e1e3c3c3c"},
    {"msb two-way u16",
     run_msb_u16,
     AES,
     1,
     {0xf4688fc985b46c12, 0x8a86e7ad58048183, 0xb8b94ad940d8fc6e},
     "0f0f0f1e1e1e3c3c3c"},
    {"msb two-way u32",
     run_msb_u32,
     CHACHA,
     0,
     {0xef26bc07916bd1cd, 0xc6f9f77283611a9c, 0x044cf57d334e7b17},
     "6636b399c94c663633"},
    {"msb two-way u32",
     run_msb_u32,
     CHACHA,
     1,
     {0xa00e4ad5eecd9306, 0x5b79ecb751b14645, 0x630673f7639a602c},
     "6636b399c94c663633"},
    {"msb two-way u32",
     run_msb_u32,
     AES,
     0,
     {0xab428575b6197572, 0x9b1f370c31d25a8c, 0xa2b632641e141cc7},
     "6636b399c94c663633"},
    {"msb two-way 48",
     run_msb_u48,
     CHACHA,
     0,
     {0x99a51a0c73fdf99f, 0xceff242c393bf0d6, 0x4d34e3a81860235a},
     "55aa55aa55aa54ab14"},
    {"msb two-way 48",
     run_msb_u48,
     AES,
     1,
     {0x65aa02f9d773204e, 0x0dee1445a8d67e32, 0x44fa7135cadaad81},
     "55aa55aa55aa54ab14"},
    {"msb three-way u32",
     run_msb_three_way,
     CHACHA,
     0,
     {0xf9290789e72d65b7, 0xfdebaf49dc2db649, 0xea0199c0af0eba6c},
     "6636b399c94c663633"},
    {"msb three-way u32",
     run_msb_three_way,
     AES,
     2,
     {0x2de9564d1a73e1ca, 0x2d0b8016b5413000, 0x1f479a788271d415},
     "6636b399c94c663633"},
    {"18-bit anonymous",
     run_anonymous,
     CHACHA,
     1,
     {0x88ef8a4cd0ab36ef, 0xb511cfa647a16513, 0xd648255e3fbefbcf},
     "030707070e0e0c1c1c"},
    {"18-bit anonymous",
     run_anonymous,
     AES,
     0,
     {0x0412cdda5f8893a1, 0x87fe2d00d0f05227, 0xaaa9e594ba12514c},
     "030707070e0e0c1c1c"},
};

static void hex_of(const uint8_t *bytes, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    }
}

// Packed bits are 9 bytes; a digest of values is 8.
static void open_of(const struct opened *opened, unsigned party, size_t bytes, char *out)
{
    uint8_t raw[N * 8];
    if (bytes == 9) {
        for (size_t i = 0; i < W; i++) {
            uvea_store_le64(raw + 8 * i, opened->bits[party][i]);
        }
        hex_of(raw, 9, out);
        return;
    }
    for (size_t j = 0; j < N; j++) {
        uvea_store_le64(raw + 8 * j, opened->values[party][j]);
    }
    uint8_t digest[32];
    assert_int_equal(EVP_Digest(raw, sizeof(raw), digest, NULL, EVP_sha256(), NULL), 1);
    hex_of(digest, 8, out);
}

static bool transcript_agrees(const struct transcript *want)
{
    struct trio trio;
    struct run run = {.trio = &trio};
    bool agrees = true;
    trio_open(&trio, want->kind, want->session_id);
    trio_run(&trio, want->fn, &run);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        char open[19];
        open_of(&run.opened, i, strlen(want->open) / 2, open);
        if (run.digest[i] != want->digest[i] || strcmp(open, want->open) != 0) {
            print_error("%s, %s, session %u, party %u: %016lx opens %s\n", want->name,
                        want->kind == AES ? "aes" : "chacha", want->session_id, i, run.digest[i],
                        open);
            agrees = false;
        }
    }
    trio_assert_in_step(&trio);
    trio_close(&trio);
    return agrees;
}

static void transcript_digests(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < UVEA_COUNT_OF(transcripts); i++) {
        wrong += !transcript_agrees(&transcripts[i]);
    }
    assert_int_equal(wrong, 0);
}

// ---- messages given byte by byte

static void assert_sent(const struct trio *trio, unsigned party, const char *hex)
{
    char got[64];
    assert_true(trio->party[party].log.len * 2 < sizeof(got));
    hex_of(trio->party[party].log.data, trio->party[party].log.len, got);
    assert_string_equal(got, hex);
}

static enum uvea_error multiply(struct uvea_session *session, unsigned party, void *arg)
{
    (void)arg;
    uint32_t xa = party == 0 ? 5 : 0; // 5 is component 0
    uint32_t xb = party == 1 ? 5 : 0;
    uint32_t ya = party == 2 ? 7 : 0; // 7 is component 2
    uint32_t yb = party == 0 ? 7 : 0;
    uint32_t za;
    uint32_t zb;
    const struct uvea_share32 x = {&xa, &xb, 1};
    const struct uvea_share32 y = {&ya, &yb, 1};
    struct uvea_share32 z = {&za, &zb, 1};
    uvea_mpc_product_u32(&x, &y, z.a);
    return uvea_mpc_reshare_u32(session, &z);
}

static void multiplication_messages(void **state)
{
    (void)state;
    static const char *const want[2][UVEA_PARTY_COUNT] = {
        [CHACHA] = {"070400000087d5efe5", "07040000006ff56302", "07040000002d35ac17"},
        [AES] = {"0704000000c8d179b0", "070400000076258c89", "0704000000e508fac5"},
    };
    for (unsigned kind = 0; kind < 2; kind++) {
        struct trio trio;
        trio_open(&trio, kind, 0);
        trio_run(&trio, multiply, NULL);
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_sent(&trio, i, want[kind][i]);
        }
        trio_close(&trio);
    }
}

static enum uvea_error and_with_itself(struct uvea_session *session, unsigned party, void *arg)
{
    (void)arg;
    static const uint64_t x[UVEA_PARTY_COUNT] = {0xff00ff00ff00ff00, 0x3333333333333333,
                                                 0x0f0f0f0f0f0f0f0f};
    uint64_t a = x[party];
    uint64_t b = x[prev_of(party)];
    uint64_t out[2];
    uint64_t open;
    struct uvea_planes in = {&a, &b, 1, 1};
    struct uvea_planes result = {&out[0], &out[1], 1, 1};
    UVEA_TRY(uvea_mpc_and(session, &in, &in, &result));
    UVEA_TRY(uvea_mpc_reveal_bits(session, &result, 64, &open));
    return open == (x[0] ^ x[1] ^ x[2]) ? UVEA_OK : UVEA_ERR_STATE;
}

static void and_messages(void **state)
{
    (void)state;
    static const char *const want[UVEA_PARTY_COUNT] = {"056414f0d5aa99c776", "058225af31dd00c363",
                                                       "05daf263274b5a38d6"};
    struct trio trio;
    trio_open(&trio, UVEA_PRF_CHACHA8, 0);
    trio_run(&trio, and_with_itself, NULL);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        trio.party[i].log.len = 9; // the gate; opening follows
        assert_sent(&trio, i, want[i]);
    }
    trio_close(&trio);
}

static enum uvea_error refresh_three(struct uvea_session *session, unsigned party, void *arg)
{
    (void)arg;
    static const uint16_t additive[UVEA_PARTY_COUNT][3] = {
        {1, 2, 3}, {10, 20, 30}, {100, 200, 300}};
    struct uvea_share16 out;
    UVEA_TRY(uvea_mpc_refresh(session, additive[party], 3, &out));
    uvea_share16_deinit(&out);
    return UVEA_OK;
}

static void refresh_messages(void **state)
{
    (void)state;
    static const char *const want[2][UVEA_PARTY_COUNT] = {
        [CHACHA] = {"060600000065d5f2e56d5a", "060600000079f57802f8f2", "060600000091357418e8b3"},
        [AES] = {"0606000000a6d17bb06537", "06060000008025a18928d7", "06060000004909c2c6c0f2"},
    };
    for (unsigned kind = 0; kind < 2; kind++) {
        struct trio trio;
        trio_open(&trio, kind, 0);
        trio_run(&trio, refresh_three, NULL);
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_sent(&trio, i, want[kind][i]);
        }
        trio_close(&trio);
    }
}

static enum uvea_error inject_three(struct uvea_session *session, unsigned party, void *arg)
{
    (void)arg;
    static const uint64_t components[UVEA_PARTY_COUNT] = {0x5, 0x6, 0x0}; // [1,0,1] and [0,1,1]
    uint64_t a = components[party];
    uint64_t b = components[prev_of(party)];
    uint32_t out_a[3];
    uint32_t out_b[3];
    struct uvea_planes bits = {&a, &b, 1, 1};
    struct uvea_share32 out = {out_a, out_b, 3};
    return uvea_mpc_inject_u32(session, &bits, 3, &out);
}

static void inject_messages(void **state)
{
    (void)state;
    static const char *const want[2][UVEA_PARTY_COUNT] = {
        {"070c0000007f6472d9cf798dfcd3078fb4", "070c0000001c8f82f3661f4a759cc25952",
         "070c000000ac991ef18b2cba25e446461f"},
        {"070c000000806472d9cf798dfcd4078fb4", "070c0000001b8f82f33499d77170cae806",
         "070c000000ac991ef1bcb22c29113fb76a"},
    };
    for (uint32_t id = 0; id < 2; id++) {
        struct trio trio;
        trio_open(&trio, UVEA_PRF_CHACHA8, id);
        trio_run(&trio, inject_three, NULL);
        for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_sent(&trio, i, want[id][i]);
        }
        trio_close(&trio);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transcript_digests), cmocka_unit_test(multiplication_messages),
        cmocka_unit_test(and_messages),       cmocka_unit_test(refresh_messages),
        cmocka_unit_test(inject_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
