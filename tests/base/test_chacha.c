#include "core/base/chacha.h"
#include "core/base/check.h"
#include "core/base/endian.h"
#include "tests/support/cmocka.h"
#include "tests/support/hex.h"

#include <openssl/evp.h>
#include <string.h>

// BLAKE3 of the test seeds 00*16 and 01 00*15.
static const char KEY0[] = "e572dff82304700b856a555ac3a4558d0df3646a3727816500270a93c66aac1e";
static const char KEY1[] = "74500697761748e7dc0302d36778f89c6ab324ef942773976b92a7bbefa18cd2";

static void init_hex(struct uvea_chacha *rng, const char *key_hex, unsigned rounds)
{
    uint8_t key[UVEA_CHACHA_KEY_BYTES];
    UVEA_CHECK(uvea_test_hex(key_hex, key, sizeof(key)) == sizeof(key));
    uvea_chacha_init(rng, key, rounds);
}

static void assert_fill(struct uvea_chacha *rng, size_t bytes, const char *hex)
{
    uint8_t out[512];
    UVEA_CHECK(bytes <= sizeof(out));
    uvea_chacha_fill(rng, out, bytes);
    uvea_test_assert_hex(out, bytes, hex);
}

static void twelve_rounds_from_seed_zero(void **state)
{
    (void)state;
    static const uint16_t expected[] = {28543, 16306, 27003, 31892};
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 0);
    for (size_t i = 0; i < UVEA_COUNT_OF(expected); i++) {
        assert_int_equal(uvea_chacha_next_u32(&rng) & 0xffff, expected[i]);
    }
}

static void eight_rounds_stream(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    init_hex(&rng, KEY0, 8);
    assert_fill(&rng, 32, "e5707d0c9be0b58a643da6aded56bed228c6a553ac77efac4ef99226a7c9a0d3");
    init_hex(&rng, KEY1, 8);
    assert_fill(&rng, 32, "5466e10e75d345da1cb9b9e0cb8faa2ba365f083dc5cf1b2bc09b7fbb6378aaf");
    init_hex(&rng, KEY0, 8);
    assert_true(uvea_chacha_next_u64(&rng) == UINT64_C(0x8ab5e09b0c7d70e5));
    init_hex(&rng, KEY1, 8);
    assert_true(uvea_chacha_next_u64(&rng) == UINT64_C(0xda45d3750ee16654));
}

static void eight_rounds_second_buffer(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    init_hex(&rng, KEY0, 8);
    uint8_t skipped[4 * UVEA_CHACHA_BUFFER_WORDS];
    uvea_chacha_fill(&rng, skipped, sizeof(skipped));
    assert_fill(&rng, 16, "5e5e25c5688be42037ce2f68c94695e1");
}

static void next_u64_straddles_a_refill(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    init_hex(&rng, KEY0, 8);
    for (unsigned i = 0; i < 63; i++) {
        (void)uvea_chacha_next_u32(&rng);
    }
    assert_true(uvea_chacha_next_u64(&rng) == UINT64_C(0xc5255e5e7c9aba53));
    assert_int_equal(uvea_chacha_next_u32(&rng), 0x20e48b68);
}

static void fill_discards_the_rest_of_the_last_word(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    init_hex(&rng, KEY0, 8);
    // 5 u16: 70e5 0c7d e09b 8ab5 3d64
    assert_fill(&rng, 10, "e570 7d0c 9be0 b58a 643d");
    assert_int_equal(uvea_chacha_next_u32(&rng), 0xd2be56ed);

    init_hex(&rng, KEY0, 8);
    assert_fill(&rng, 6, "e570 7d0c 9be0");
    assert_fill(&rng, 2, "643d");
}

// Whatever the length, a fill takes ceil(bytes/4) words: the next word tells.
static void fill_takes_whole_words(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 3, 4, 63, 64, 65, 127, 129, 255, 256, 257, 10007};
    static uint8_t expected[10016];
    static uint8_t filled[10007];
    struct uvea_chacha whole;
    init_hex(&whole, KEY1, 8);
    for (size_t at = 0; at < sizeof(expected); at += 4) {
        uvea_store_le32(expected + at, uvea_chacha_next_u32(&whole));
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(lengths); i++) {
        struct uvea_chacha rng;
        init_hex(&rng, KEY1, 8);
        memset(filled, 0, sizeof(filled));
        uvea_chacha_fill(&rng, filled, lengths[i]);
        if (lengths[i] > 0) {
            assert_memory_equal(filled, expected, lengths[i]);
        }
        if (lengths[i] < sizeof(filled)) {
            assert_int_equal(filled[lengths[i]], 0);
        }
        size_t next = (lengths[i] + 3) / 4 * 4;
        assert_int_equal(uvea_chacha_next_u32(&rng), uvea_load_le32(expected + next));
    }
}

// RFC 8439, A.1, test vectors 1 and 2: key and nonce zero, blocks 0 and 1.
static void twenty_rounds_of_the_rfc(void **state)
{
    (void)state;
    static const uint8_t key[UVEA_CHACHA_KEY_BYTES];
    struct uvea_chacha rng;
    uvea_chacha_init(&rng, key, 20);
    assert_fill(&rng, 64,
                "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
                "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
    assert_fill(&rng, 64,
                "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
                "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
}

// OpenSSL's keystream: 64-bit little-endian block counter, then 64-bit nonce zero.
static void openssl_keystream(const uint8_t key[UVEA_CHACHA_KEY_BYTES], uint64_t block,
                              uint8_t *out, int bytes)
{
    uint8_t iv[16] = {0};
    uvea_store_le64(iv, block);
    memset(out, 0, (size_t)bytes);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    assert_non_null(cipher);
    int written;
    assert_int_equal(EVP_EncryptInit_ex(cipher, EVP_chacha20(), NULL, key, iv), 1);
    assert_int_equal(EVP_EncryptUpdate(cipher, out, &written, out, bytes), 1);
    assert_int_equal(written, bytes);
    EVP_CIPHER_CTX_free(cipher);
}

static void counter_passes_32_bits_as_in_openssl(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0,
                                      1,
                                      UINT64_C(0xfffffffc),
                                      UINT64_C(0xfffffffe),
                                      UINT64_C(0xffffffff),
                                      UINT64_C(0x1fffffffe)};
    uint8_t key[UVEA_CHACHA_KEY_BYTES];
    (void)uvea_test_hex(KEY0, key, sizeof(key));
    for (size_t i = 0; i < UVEA_COUNT_OF(starts); i++) {
        uint8_t ours[512];
        uint8_t theirs[sizeof(ours)];
        struct uvea_chacha rng;
        uvea_chacha_init(&rng, key, 20);
        rng.block = starts[i];
        uvea_chacha_fill(&rng, ours, sizeof(ours));
        openssl_keystream(key, starts[i], theirs, sizeof(theirs));
        assert_memory_equal(ours, theirs, sizeof(ours));
    }
}

// First 16 bytes of blocks 2^32-2 .. 2^32+1, from an independent model of the cipher.
static void counter_passes_32_bits_with_few_rounds(void **state)
{
    (void)state;
    static const struct {
        unsigned rounds;
        const char *blocks[4];
    } expected[] = {
        {8,
         {"0df3158896e5c1eebefd5eaacf157b84", "8195cbf4e1f6f9f1b87bd6a8f3130cc9",
          "9941f7c110aaf0401ecbe37fdcdd68d4", "ced960647f64a6a3f2c691d2d36dc97f"}},
        {12,
         {"75a90a86061fbd897432d36550d9557a", "d96a05bb76938c7b42b2dbbff3df849e",
          "5629bf914887d761e45fa7c4b6949e48", "6c964f3f91b3c9df0205980d9c15fd0e"}},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(expected); i++) {
        struct uvea_chacha rng;
        init_hex(&rng, KEY0, expected[i].rounds);
        rng.block = UINT64_C(0xfffffffe);
        for (size_t block = 0; block < 4; block++) {
            uint8_t bytes[64];
            uvea_chacha_fill(&rng, bytes, sizeof(bytes));
            uvea_test_assert_hex(bytes, 16, expected[i].blocks[block]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twelve_rounds_from_seed_zero),
        cmocka_unit_test(eight_rounds_stream),
        cmocka_unit_test(eight_rounds_second_buffer),
        cmocka_unit_test(next_u64_straddles_a_refill),
        cmocka_unit_test(fill_discards_the_rest_of_the_last_word),
        cmocka_unit_test(fill_takes_whole_words),
        cmocka_unit_test(twenty_rounds_of_the_rfc),
        cmocka_unit_test(counter_passes_32_bits_as_in_openssl),
        cmocka_unit_test(counter_passes_32_bits_with_few_rounds),
    };
    return cmocka_run_group_tests_name("base_chacha", tests, NULL, NULL);
}
