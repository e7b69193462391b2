// The pairwise streams against the golden values and consumption rules of wire.md 4.
#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/mpc/blake3.h"
#include "core/mpc/prf.h"
#include "tests/mpc/cmocka_all.h"

#include <openssl/evp.h>
#include <string.h>

static struct uvea_prg *open_prg(enum uvea_prf_kind kind, uint8_t first)
{
    const uint8_t seed[UVEA_PRF_SEED_BYTES] = {first};
    struct uvea_prg *prg = NULL;
    assert_int_equal(uvea_prg_open(kind, seed, &prg), UVEA_OK);
    return prg;
}

static void from_hex(const char *hex, uint8_t *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
}

static void assert_hex(const uint8_t *got, const char *hex, size_t bytes)
{
    uint8_t want[64];
    assert_true(bytes <= sizeof(want));
    from_hex(hex, want, bytes);
    assert_memory_equal(got, want, bytes);
}

static void blake3_of_the_test_seeds(void **state)
{
    (void)state;
    uint8_t seed[UVEA_PRF_SEED_BYTES] = {0};
    uint8_t hash[UVEA_BLAKE3_HASH_BYTES];
    uvea_blake3_block(seed, sizeof(seed), hash);
    assert_hex(hash, "e572dff82304700b856a555ac3a4558d0df3646a3727816500270a93c66aac1e", 32);
    seed[0] = 1;
    uvea_blake3_block(seed, sizeof(seed), hash);
    assert_hex(hash, "74500697761748e7dc0302d36778f89c6ab324ef942773976b92a7bbefa18cd2", 32);
    // The published vectors' empty input, and one full block (bytes 0, 1, 2, ...).
    uvea_blake3_block(seed, 0, hash);
    assert_hex(hash, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262", 32);
    uint8_t block[UVEA_BLAKE3_BLOCK_BYTES];
    for (unsigned i = 0; i < sizeof(block); i++) {
        block[i] = (uint8_t)i;
    }
    uvea_blake3_block(block, sizeof(block), hash);
    assert_hex(hash, "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98", 32);
}

// The published vectors: bytes 0, 1, 2, ..., 250, 0, 1, ...
static void blake3_of_long_inputs(void **state)
{
    static const struct {
        size_t bytes;
        const char *hash;
    } vectors[] = {
        {1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
        {1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"},
        {1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
        {1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
        {2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"},
        {2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"},
        {3072, "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2"},
        {3073, "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3"},
        {8193, "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b"},
        {31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
        {102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"},
    };
    static uint8_t input[102400];
    (void)state;
    for (size_t i = 0; i < sizeof(input); i++) {
        input[i] = (uint8_t)(i % 251);
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(vectors); i++) {
        uint8_t hash[UVEA_BLAKE3_HASH_BYTES];
        uvea_blake3(input, vectors[i].bytes, hash);
        assert_hex(hash, vectors[i].hash, 32);
    }
}

static void stream_bytes(void **state)
{
    (void)state;
    static const struct {
        enum uvea_prf_kind kind;
        uint8_t seed;
        const char *hex;
    } cases[] = {
        {UVEA_PRF_CHACHA8, 0, "e5707d0c9be0b58a643da6aded56bed228c6a553ac77efac4ef99226a7c9a0d3"},
        {UVEA_PRF_CHACHA8, 1, "5466e10e75d345da1cb9b9e0cb8faa2ba365f083dc5cf1b2bc09b7fbb6378aaf"},
        {UVEA_PRF_AES128, 0, "66e94bd4ef8a2c3b884cfa59ca342b2e47711816e91d6ff059bbbf2bf58e0fd3"},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        struct uvea_prg *prg = open_prg(cases[i].kind, cases[i].seed);
        uint8_t bytes[32];
        uvea_prg_fill(prg, bytes, sizeof(bytes));
        assert_hex(bytes, cases[i].hex, sizeof(bytes));
        uvea_prg_close(prg);
    }
}

static void first_u64(void **state)
{
    (void)state;
    static const uint64_t want[2][3] = {
        [UVEA_PRF_AES128] = {0x3b2c8aefd44be966, 0xbb1a61f95dd80edc, 0x6a83538d23d217c1},
        [UVEA_PRF_CHACHA8] = {0x8ab5e09b0c7d70e5, 0xda45d3750ee16654, 0x03728631268d9b81},
    };
    for (unsigned kind = 0; kind < 2; kind++) {
        for (uint8_t seed = 0; seed < 3; seed++) {
            struct uvea_prg *prg = open_prg(kind, seed);
            assert_int_equal(uvea_prg_next_u64(prg), want[kind][seed]);
            uvea_prg_close(prg);
        }
    }
}

static void chacha_words_straddle_the_buffer(void **state)
{
    (void)state;
    struct uvea_prg *prg = open_prg(UVEA_PRF_CHACHA8, 0);
    for (unsigned i = 0; i < 63; i++) {
        (void)uvea_prg_next_u32(prg);
    }
    assert_int_equal(uvea_prg_next_u64(prg), 0xc5255e5e7c9aba53);
    assert_int_equal(uvea_prg_next_u32(prg), 0x20e48b68);
    uvea_prg_close(prg);

    prg = open_prg(UVEA_PRF_CHACHA8, 0);
    uint8_t bytes[272];
    uvea_prg_fill(prg, bytes, sizeof(bytes));
    assert_hex(bytes + 256, "5e5e25c5688be42037ce2f68c94695e1", 16);
    uvea_prg_close(prg);
}

static void chacha_fill_discards_the_rest_of_a_word(void **state)
{
    (void)state;
    static const uint16_t want[] = {0x70e5, 0x0c7d, 0xe09b, 0x8ab5, 0x3d64};
    struct uvea_prg *prg = open_prg(UVEA_PRF_CHACHA8, 0);
    uint16_t got[5];
    uvea_prg_fill_u16(prg, got, 5);
    assert_memory_equal(got, want, sizeof(want));
    assert_int_equal(uvea_prg_next_u32(prg), 0xd2be56ed);
    assert_int_equal(uvea_prg_bytes_drawn(prg), 16);
    uvea_prg_close(prg);

    prg = open_prg(UVEA_PRF_CHACHA8, 0);
    assert_int_equal(uvea_prg_gen_u16(prg), 0x70e5);
    assert_int_equal(uvea_prg_gen_u16(prg), 0xe09b);
    assert_int_equal(uvea_prg_gen_u16(prg), 0x3d64);
    assert_int_equal(uvea_prg_next_u64(prg), 0x53a5c628d2be56ed);
    uvea_prg_close(prg);
}

static void aes_never_returns_the_last_word_of_a_state(void **state)
{
    (void)state;
    struct uvea_prg *prg = open_prg(UVEA_PRF_AES128, 0);
    uint32_t words[33];
    for (unsigned i = 0; i < 33; i++) {
        words[i] = uvea_prg_next_u32(prg);
    }
    assert_int_equal(words[30], 0x2df072c0);
    assert_int_equal(words[31], 0x502be864);
    assert_int_equal(words[32], 0xd7fb01e5);
    uvea_prg_close(prg);

    prg = open_prg(UVEA_PRF_AES128, 0);
    uint64_t longs[16];
    for (unsigned i = 0; i < 16; i++) {
        longs[i] = uvea_prg_next_u64(prg);
    }
    assert_int_equal(longs[14], 0xffbbffd2e7e790fe);
    assert_int_equal(longs[15], 0xd7fb01e5502be864);
    uvea_prg_close(prg);
}

static void short_fills(void **state)
{
    (void)state;
    static const uint16_t want[2][4] = {
        [UVEA_PRF_AES128] = {0xe966, 0xd44b, 0x8aef, 0x3b2c},
        [UVEA_PRF_CHACHA8] = {0x70e5, 0x0c7d, 0xe09b, 0x3d64},
    };
    for (unsigned kind = 0; kind < 2; kind++) {
        struct uvea_prg *prg = open_prg(kind, 0);
        uint16_t got[4];
        uvea_prg_fill_u16(prg, got, 3);
        uvea_prg_fill_u16(prg, got + 3, 1);
        assert_memory_equal(got, want[kind], sizeof(got));
        uvea_prg_close(prg);
    }
}

static void aes_sixteen_byte_fills(void **state)
{
    (void)state;
    struct uvea_prg *prg = open_prg(UVEA_PRF_AES128, 0);
    uint8_t bytes[16];
    for (unsigned i = 1; i <= 129; i++) {
        uvea_prg_fill(prg, bytes, sizeof(bytes));
        if (i == 17) {
            assert_hex(bytes, "f5569b3ab6a6d11efde1bf0a64c6854a", 16);
        }
    }
    assert_hex(bytes, "3ad78e726c1ec02b7ebfe92b23d9ec34", 16);
    uvea_prg_close(prg);
}

// A second, plain model of the AES generator: the keystream made at once, a read position, and the
// two refill rules.
struct model {
    uint8_t stream[1 << 16];
    size_t at;
};

static void model_open(struct model *model)
{
    const uint8_t key[16] = {0};
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    assert_int_equal(EVP_EncryptInit_ex(cipher, EVP_aes_128_ecb(), NULL, key, NULL), 1);
    for (size_t i = 0; i < sizeof(model->stream) / 16; i++) {
        uint8_t block[16] = {0};
        uvea_store_le64(block, i);
        int written;
        assert_int_equal(EVP_EncryptUpdate(cipher, model->stream + 16 * i, &written, block, 16), 1);
    }
    EVP_CIPHER_CTX_free(cipher);
    model->at = 0;
}

static const uint8_t *model_word(struct model *model, size_t bytes)
{
    size_t used = model->at % 128 == 0 && model->at > 0 ? 128 : model->at % 128;
    if (used >= 128 - bytes) {
        model->at += 128 - used;
    }
    model->at += bytes;
    return model->stream + model->at - bytes;
}

static void aes_mixed_draws_follow_the_model(void **state)
{
    (void)state;
    static struct model model;
    model_open(&model);
    struct uvea_prg *prg = open_prg(UVEA_PRF_AES128, 0);
    static const size_t fills[] = {1, 3, 8, 0, 127, 128, 129, 255, 256, 1000, 9000, 2, 7};
    uint8_t got[9000];
    for (unsigned step = 0; step < 39; step++) {
        size_t bytes = fills[step % UVEA_COUNT_OF(fills)];
        uvea_prg_fill(prg, got, bytes);
        assert_memory_equal(got, model.stream + model.at, bytes);
        model.at += bytes;
        assert_int_equal(uvea_prg_next_u32(prg), uvea_load_le32(model_word(&model, 4)));
        assert_int_equal(uvea_prg_next_u64(prg), uvea_load_le64(model_word(&model, 8)));
        assert_int_equal(uvea_prg_bytes_drawn(prg), model.at);
    }
    uvea_prg_close(prg);
}

static void counters_pass_32_bits(void **state)
{
    (void)state;
    struct uvea_prg *prg = open_prg(UVEA_PRF_AES128, 0);
    uint8_t got[64];
    uvea_prg_seek(prg, (UINT64_C(1) << 32) - 2);
    uvea_prg_fill(prg, got, sizeof(got));
    const uint8_t key[16] = {0};
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    assert_int_equal(EVP_EncryptInit_ex(cipher, EVP_aes_128_ecb(), NULL, key, NULL), 1);
    for (uint64_t i = 0; i < 4; i++) {
        uint8_t block[16] = {0};
        uint8_t want[16];
        int written;
        uvea_store_le64(block, (UINT64_C(1) << 32) - 2 + i);
        assert_int_equal(EVP_EncryptUpdate(cipher, want, &written, block, 16), 1);
        assert_memory_equal(got + 16 * i, want, 16);
    }
    EVP_CIPHER_CTX_free(cipher);
    uvea_prg_close(prg);
}

// What the drift check cannot see: 4 bytes out of step, and in step again after the refill.
static void an_aes_refill_heals_a_drift(void **state)
{
    (void)state;
    for (size_t drawn = 100; drawn <= 124; drawn += 4) {
        struct uvea_prg *left = open_prg(UVEA_PRF_AES128, 0);
        struct uvea_prg *right = open_prg(UVEA_PRF_AES128, 0);
        uint8_t bytes[128];
        uvea_prg_fill(left, bytes, drawn);
        uvea_prg_fill(right, bytes, drawn - 4);
        assert_true((uvea_prg_next_u64(left) == uvea_prg_next_u64(right)) == (drawn == 124));
        uvea_prg_close(left);
        uvea_prg_close(right);
    }
}

// No byte a fill was asked for keeps its old value, and none beyond is touched.
static void fills_reach_every_element(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 31, 33, 1023, 4097};
    for (unsigned kind = 0; kind < 2; kind++) {
        struct uvea_prg *prg = open_prg(kind, 0);
        for (size_t i = 0; i < UVEA_COUNT_OF(counts); i++) {
            static uint64_t words[4098];
            memset(words, 0xA5, sizeof(words));
            uvea_prg_fill_u64(prg, words, counts[i]);
            for (size_t k = 0; k <= counts[i]; k++) {
                assert_true((words[k] == 0xA5A5A5A5A5A5A5A5) == (k == counts[i]));
            }
            uvea_prg_fill_u48(prg, words, counts[i]);
            for (size_t k = 0; k < counts[i]; k++) {
                assert_int_equal(words[k] >> 48, 0);
            }
        }
        uvea_prg_close(prg);
    }
}

static void values_of_each_width(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct uvea_prg *left = open_prg(kind, 0);
        struct uvea_prg *right = open_prg(kind, 0);
        assert_int_equal(uvea_prg_gen_u16(left), uvea_prg_next_u32(right) & 0xffff);
        assert_int_equal(uvea_prg_gen_u48(left), uvea_prg_next_u64(right) & UVEA_RING48_MASK);
        uint64_t wide[2];
        uvea_prg_gen_u128(left, wide);
        assert_int_equal(wide[0], uvea_prg_next_u64(right));
        assert_int_equal(wide[1], uvea_prg_next_u64(right));
        uint32_t words[3];
        uint8_t bytes[12];
        uvea_prg_fill_u32(left, words, 3);
        uvea_prg_fill(right, bytes, sizeof(bytes));
        assert_memory_equal(words, bytes, sizeof(bytes));
        uvea_prg_close(left);
        uvea_prg_close(right);
    }
}

// From every place in a state, and across states: the words, and what comes after them.
static void many_words_are_words_one_by_one(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 30, 31, 32, 61, 62, 63, 495, 496, 497, 1000};
    for (unsigned kind = 0; kind < 2; kind++) {
        struct uvea_prg *left = open_prg(kind, 0);
        struct uvea_prg *right = open_prg(kind, 0);
        for (unsigned step = 0; step < 400; step++) {
            uint32_t words[1000];
            uint8_t bytes[2][130];
            size_t count = counts[step % UVEA_COUNT_OF(counts)];
            uvea_prg_next_u32s(left, words, count);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(words[i], uvea_prg_next_u32(right));
            }
            assert_int_equal(uvea_prg_bytes_drawn(left), uvea_prg_bytes_drawn(right));
            uvea_prg_fill(left, bytes[0], step % 131);
            uvea_prg_fill(right, bytes[1], step % 131);
            assert_memory_equal(bytes[0], bytes[1], step % 131);
        }
        uvea_prg_close(left);
        uvea_prg_close(right);
    }
}

static void ranges_reject_the_partial_copy(void **state)
{
    (void)state;
    assert_true(uvea_prg_range_accepts(UINT64_MAX, 1));
    assert_true(uvea_prg_range_accepts(UINT64_MAX, 2));
    // 2^64 = 1 mod 3: only the last word is in the partial copy.
    assert_true(uvea_prg_range_accepts(UINT64_MAX - 1, 3));
    assert_false(uvea_prg_range_accepts(UINT64_MAX, 3));
    // 2^64 = 6 mod 10.
    assert_true(uvea_prg_range_accepts(UINT64_MAX - 6, 10));
    assert_false(uvea_prg_range_accepts(UINT64_MAX - 5, 10));
    // Just over half the range: 2^64 mod (2^63 + 1) = 2^63 - 1 words are in it.
    uint64_t bound = (UINT64_C(1) << 63) + 1;
    assert_true(uvea_prg_range_accepts(bound - 1, bound));
    assert_false(uvea_prg_range_accepts(bound, bound));
}

// With half of all words rejected, both holders must still end at one place.
static void holders_reject_in_step(void **state)
{
    (void)state;
    uint64_t bound = (UINT64_C(1) << 63) + 1;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct uvea_prg *left = open_prg(kind, 1);
        struct uvea_prg *right = open_prg(kind, 1);
        uint64_t words = 0;
        for (unsigned i = 0; i < 200; i++) {
            uint64_t got = uvea_prg_gen_below(left, bound);
            uint64_t word;
            do {
                word = uvea_prg_next_u64(right);
                words++;
            } while (word >= bound);
            assert_int_equal(got, word);
        }
        assert_int_equal(uvea_prg_bytes_drawn(left), uvea_prg_bytes_drawn(right));
        assert_in_range(words, 300, 500);
        uvea_prg_close(left);
        uvea_prg_close(right);
    }
}

static bool is_permutation(const size_t *order, size_t size)
{
    bool seen[130] = {false};
    for (size_t i = 0; i < size; i++) {
        if (order[i] >= size || seen[order[i]]) {
            return false;
        }
        seen[order[i]] = true;
    }
    return true;
}

static void permutations_agree_between_holders(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 129};
    struct uvea_prf prf[3];
    for (uint8_t i = 0; i < 3; i++) {
        prf[i].my = open_prg(UVEA_PRF_AES128, i);
        prf[i].prev = open_prg(UVEA_PRF_AES128, (uint8_t)((i + 2) % 3));
    }
    for (size_t s = 0; s < UVEA_COUNT_OF(sizes); s++) {
        size_t my[3][130];
        size_t prev[3][130];
        for (unsigned i = 0; i < 3; i++) {
            uvea_prf_permutation(&prf[i], sizes[s], my[i], prev[i]);
            assert_true(is_permutation(my[i], sizes[s]));
        }
        for (unsigned i = 0; i < 3; i++) {
            assert_memory_equal(my[i], prev[(i + 1) % 3], sizes[s] * sizeof(size_t));
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        uvea_prg_close(prf[i].my);
        uvea_prg_close(prf[i].prev);
    }
}

// 6,000 orders of three: each of the six about 1,000 times (chi-square with 5 degrees of freedom
// exceeds 30 once in 10^5; the stream is fixed, so this is no matter of luck).
static void permutations_are_even(void **state)
{
    (void)state;
    struct uvea_prf prf = {open_prg(UVEA_PRF_AES128, 0), open_prg(UVEA_PRF_AES128, 2)};
    double count[6] = {0};
    for (unsigned i = 0; i < 6000; i++) {
        size_t my[3];
        size_t prev[3];
        uvea_prf_permutation(&prf, 3, my, prev);
        count[2 * my[0] + (my[1] > my[2])]++;
    }
    double chi_square = 0;
    for (unsigned i = 0; i < 6; i++) {
        chi_square += (count[i] - 1000) * (count[i] - 1000) / 1000;
    }
    assert_true(chi_square < 30);
    uvea_prg_close(prf.my);
    uvea_prg_close(prf.prev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blake3_of_the_test_seeds),
        cmocka_unit_test(blake3_of_long_inputs),
        cmocka_unit_test(stream_bytes),
        cmocka_unit_test(first_u64),
        cmocka_unit_test(chacha_words_straddle_the_buffer),
        cmocka_unit_test(chacha_fill_discards_the_rest_of_a_word),
        cmocka_unit_test(aes_never_returns_the_last_word_of_a_state),
        cmocka_unit_test(short_fills),
        cmocka_unit_test(aes_sixteen_byte_fills),
        cmocka_unit_test(aes_mixed_draws_follow_the_model),
        cmocka_unit_test(an_aes_refill_heals_a_drift),
        cmocka_unit_test(counters_pass_32_bits),
        cmocka_unit_test(fills_reach_every_element),
        cmocka_unit_test(values_of_each_width),
        cmocka_unit_test(ranges_reject_the_partial_copy),
        cmocka_unit_test(many_words_are_words_one_by_one),
        cmocka_unit_test(holders_reject_in_step),
        cmocka_unit_test(permutations_agree_between_holders),
        cmocka_unit_test(permutations_are_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
