// Every condition under which bytes are no value (wire.md 1), and what the sentence says of it.
#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/wire/value.h"
#include "tests/support/cmocka.h"
#include "tests/support/hex.h"

#include <stdlib.h>
#include <string.h>

struct malformed {
    const char *hex;
    const char *sentence; // a part of it
};

static const struct malformed cases[] = {
    {"", "Empty serialized data"},

    {"00", "descriptor 0x00"},
    {"10", "descriptor 0x10"},
    {"11", "descriptor 0x11"},
    {"13 09 03", "descriptor 0x13"},
    {"16 00 00 00 00", "descriptor 0x16"},
    {"ff", "descriptor 0xff"},

    {"01 00", "PrfKey value has 2 bytes instead of 17"},
    {"02 00", "RingElementBit value has 2 bytes instead of 1"},
    {"12 00", "RingElementBit value has 2 bytes instead of 1"},
    {"03 09", "RingElement16 value has 2 bytes instead of 3"},
    {"03 09 03 00", "RingElement16 value has 4 bytes instead of 3"},
    {"04 78 56 34", "RingElement32 value has 4 bytes instead of 5"},
    {"05 ef cd ab 89 67 45 23", "RingElement64 value has 8 bytes instead of 9"},
    {"09 00", "StateChecksum value has 2 bytes instead of 17"},
    {"0b 00", "PrfCheck value has 2 bytes instead of 17"},
    {"0d 78 56 34 12 cd ab 00", "RingElement48 value has 8 bytes instead of 7"},

    {"06", "VecRing16 value of 1 bytes ends within its length field"},
    {"07 00 00 00", "VecRing32 value of 4 bytes ends within its length field"},
    {"08 00", "VecRing64 value of 2 bytes ends within its length field"},
    {"0a 00 00 00", "NetworkVec value of 4 bytes ends within its length field"},
    {"0c 00 00 00", "Bytes value of 4 bytes ends within its length field"},
    {"0e 00 00 00", "VecRing48 value of 4 bytes ends within its length field"},
    {"0f 00 00 00", "VecRingBit value of 4 bytes ends within its length field"},

    {"06 04 00 00 00 01 00", "VecRing16 value has 7 bytes, but its length field says 9"},
    {"06 00 00 00 00 01 00", "VecRing16 value has 7 bytes, but its length field says 5"},
    {"0c 02 00 00 00 6f", "Bytes value has 6 bytes, but its length field says 7"},
    {"0c ff ff ff ff 6f", "Bytes value has 6 bytes, but its length field says 4294967300"},
    {"0a 04 00 00 00 03 09 03", "NetworkVec value has 8 bytes, but its length field says 9"},
    {"0f 09 00 00 00 49", "VecRingBit value has 6 bytes, but its length field says 7"},
    {"0f 08 00 00 00 49 00", "VecRingBit value has 7 bytes, but its length field says 6"},
    {"0f ff ff ff ff 49", "VecRingBit value has 6 bytes, but its length field says 536870917"},

    {"06 03 00 00 00 01 00 02", "VecRing16 value: length 3 is no multiple of 2"},
    {"07 02 00 00 00 01 00", "VecRing32 value: length 2 is no multiple of 4"},
    {"08 04 00 00 00 01 00 00 00", "VecRing64 value: length 4 is no multiple of 8"},
    {"0e 08 00 00 00 01 00 00 00 00 00 00 00", "VecRing48 value: length 8 is no multiple of 6"},

    {"0f 01 00 00 00 03", "VecRingBit value of 1 bits has bits set behind its end"},
    {"0f 07 00 00 00 80", "VecRingBit value of 7 bits has bits set behind its end"},
    {"0f 09 00 00 00 49 02", "VecRingBit value of 9 bits has bits set behind its end"},
    {"0f 09 00 00 00 49 80", "VecRingBit value of 9 bits has bits set behind its end"},

    {"0a 05 00 00 00 0a 00 00 00 00", "NetworkVec value at byte 0 of a NetworkVec is not allowed"},
    {"0a 11 00 00 00 01 00000000000000000000000000000000", "PrfKey value at byte 0"},
    {"0a 11 00 00 00 0b 00000000000000000000000000000000", "PrfCheck value at byte 0"},
    {"0a 12 00 00 00 12 09 00000000000000000000000000000000", "StateChecksum value at byte 1"},
    {"0a 03 00 00 00 06 01 00", "VecRing16 value at byte 0 runs past the end"},
    {"0a 05 00 00 00 12 0f 00 00 00", "VecRingBit value at byte 1 runs past the end"},
    {"0a 06 00 00 00 06 02 00 00 00 01", "VecRing16 value at byte 0 runs past the end"},
    {"0a 06 00 00 00 06 fe ff ff ff 01", "VecRing16 value at byte 0 runs past the end"},
    {"0a 02 00 00 00 03 09", "RingElement16 value at byte 0 runs past the end"},
    {"0a 06 00 00 00 06 01 00 00 00 01", "VecRing16 value: length 1 is no multiple of 2"},
    {"0a 06 00 00 00 0f 01 00 00 00 02", "VecRingBit value of 1 bits has bits set"},
    {"0a 02 00 00 00 12 77", "descriptor 0x77"},
};

static void every_condition_is_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        uint8_t bytes[64];
        size_t len = uvea_test_hex(cases[i].hex, bytes, sizeof(bytes));
        // A copy of exactly this size, so that a sanitizer sees a read past it.
        uint8_t *exact = malloc(len > 0 ? len : 1);
        assert_non_null(exact);
        memcpy(exact, bytes, len);
        struct uvea_value value = {.count = 77};
        struct uvea_error_context context = {{0}};
        assert_int_equal(uvea_value_decode(exact, len, &value, &context), UVEA_ERR_FORMAT);
        if (strstr(context.text, cases[i].sentence) == NULL) {
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].hex, context.text,
                     cases[i].sentence);
        }
        assert_int_equal(value.count, 77);
        assert_int_equal(uvea_value_decode(exact, len, &value, NULL), UVEA_ERR_FORMAT);
        free(exact);
    }
}

static const char *const good[] = {
    "01 000102030405060708090a0b0c0d0e0f",
    "02",
    "12",
    "03 0903",
    "04 78563412",
    "05 efcdab8967452301",
    "06 04000000 0100ffff",
    "07 04000000 01000000",
    "08 08000000 0100000000000000",
    "09 01000000000000000200000000000000",
    "0a 10000000 12 06 04000000 01000200 0f 03000000 05",
    "0b 05000000000000000000000000000000",
    "0c 02000000 6f6b",
    "0d 78563412cdab",
    "0e 0c000000 010000000000ffffffffffff",
    "0f 09000000 4900",
};

static void every_shorter_and_longer_value_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(good); i++) {
        uint8_t bytes[64] = {0};
        struct uvea_value value;
        size_t len = uvea_test_hex(good[i], bytes, sizeof(bytes));
        for (size_t cut = 0; cut < len + 2; cut++) {
            assert_int_equal(uvea_value_decode(bytes, cut, &value, NULL),
                             cut == len ? UVEA_OK : UVEA_ERR_FORMAT);
        }
    }
}

// Each kind of value alone in a NETWORK_VEC.
static void only_some_kinds_may_stand_inside(void **state)
{
    (void)state;
    static const char refused[] = {UVEA_VALUE_PRF_KEY, UVEA_VALUE_STATE_CHECKSUM,
                                   UVEA_VALUE_NETWORK_VEC, UVEA_VALUE_PRF_CHECK, '\0'};
    for (size_t i = 0; i < UVEA_COUNT_OF(good); i++) {
        uint8_t bytes[UVEA_VALUE_HEADER_BYTES + 64] = {UVEA_VALUE_NETWORK_VEC};
        struct uvea_value value;
        uint8_t *inner = bytes + UVEA_VALUE_HEADER_BYTES;
        size_t len = uvea_test_hex(good[i], inner, 64);
        uvea_store_le32(bytes + 1, (uint32_t)len);
        assert_int_equal(uvea_value_decode(bytes, UVEA_VALUE_HEADER_BYTES + len, &value, NULL),
                         strchr(refused, inner[0]) == NULL ? UVEA_OK : UVEA_ERR_FORMAT);
    }
}

static void only_the_descriptors_of_the_table_are_known(void **state)
{
    (void)state;
    unsigned known = 0;
    for (unsigned descriptor = 0; descriptor < 256; descriptor++) {
        uint8_t head[UVEA_VALUE_HEADER_BYTES] = {(uint8_t)descriptor};
        size_t total = 99;
        enum uvea_error error = uvea_value_total_bytes(head, sizeof(head), SIZE_MAX, &total, NULL);
        bool expected = (descriptor >= 0x01 && descriptor <= 0x0f) || descriptor == 0x12;
        assert_int_equal(error, expected ? UVEA_OK : UVEA_ERR_FORMAT);
        known += error == UVEA_OK;
        assert_true(expected || total == 99);
    }
    assert_int_equal(known, 16);
}

static void the_head_tells_the_length(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(good); i++) {
        uint8_t bytes[64];
        size_t len = uvea_test_hex(good[i], bytes, sizeof(bytes));
        bool fixed =
            len < UVEA_VALUE_HEADER_BYTES || strchr("\6\7\10\12\14\16\17", bytes[0]) == NULL;
        for (size_t head = 0; head <= UVEA_VALUE_HEADER_BYTES && head <= len; head++) {
            size_t total = 99;
            assert_int_equal(uvea_value_total_bytes(bytes, head, len, &total, NULL), UVEA_OK);
            assert_int_equal(total, head >= (fixed ? 1 : UVEA_VALUE_HEADER_BYTES) ? len : 0);
        }
        struct uvea_error_context context = {{0}};
        size_t total = 99;
        assert_int_equal(uvea_value_total_bytes(bytes, len, len - 1, &total, &context),
                         UVEA_ERR_LIMIT);
        assert_int_equal(total, 99);
        assert_non_null(strstr(context.text, "exceeds the bound"));
    }
}

static void huge_lengths_do_not_wrap(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        size_t total;
    } heads[] = {
        {"0c ff ff ff ff", UINT64_C(0x100000004)}, {"06 00 00 00 80", UINT64_C(0x80000005)},
        {"0f ff ff ff ff", UINT64_C(0x20000005)},  {"0f f9 ff ff ff", UINT64_C(0x20000005)},
        {"0f f8 ff ff ff", UINT64_C(0x20000004)},
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(heads); i++) {
        uint8_t bytes[UVEA_VALUE_HEADER_BYTES];
        (void)uvea_test_hex(heads[i].head, bytes, sizeof(bytes));
        size_t total = 0;
        assert_int_equal(uvea_value_total_bytes(bytes, sizeof(bytes), SIZE_MAX, &total, NULL),
                         UVEA_OK);
        assert_true(total == heads[i].total);
        assert_int_equal(uvea_value_total_bytes(bytes, sizeof(bytes), UVEA_VALUE_BYTES_MAX_DEFAULT,
                                                &total, NULL),
                         UVEA_ERR_LIMIT);
    }
}

// A reader for one kind takes no other.
static void the_wrong_kind_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < UVEA_COUNT_OF(good); i++) {
        uint8_t bytes[64];
        uint8_t key[UVEA_PRF_KEY_BYTES] = {9};
        uint64_t pair[2] = {9, 9};
        size_t offset = 0;
        bool more = true;
        struct uvea_value value;
        struct uvea_value inner;
        size_t len = uvea_test_hex(good[i], bytes, sizeof(bytes));
        assert_int_equal(uvea_value_decode(bytes, len, &value, NULL), UVEA_OK);
        assert_int_equal(uvea_value_read_prf_key(&value, key, NULL),
                         bytes[0] == UVEA_VALUE_PRF_KEY ? UVEA_OK : UVEA_ERR_PEER);
        assert_int_equal(key[0], bytes[0] == UVEA_VALUE_PRF_KEY ? 0 : 9);
        assert_int_equal(uvea_value_read_prf_check(&value, pair, NULL),
                         bytes[0] == UVEA_VALUE_PRF_CHECK ? UVEA_OK : UVEA_ERR_PEER);
        assert_true(pair[0] == (bytes[0] == UVEA_VALUE_PRF_CHECK ? 5 : 9));
        pair[1] = 9;
        assert_int_equal(uvea_value_read_checksum(&value, pair, NULL),
                         bytes[0] == UVEA_VALUE_STATE_CHECKSUM ? UVEA_OK : UVEA_ERR_PEER);
        assert_true(pair[1] == (bytes[0] == UVEA_VALUE_STATE_CHECKSUM ? 2 : 9));
        assert_int_equal(uvea_value_next_inner(&value, &offset, &inner, &more, NULL),
                         bytes[0] == UVEA_VALUE_NETWORK_VEC ? UVEA_OK : UVEA_ERR_PEER);
    }
}

// The sentence of a refused lone bit must not tell which bit it was: it may be a share.
static void a_refused_bit_stays_secret(void **state)
{
    (void)state;
    struct uvea_error_context contexts[2] = {{{0}}, {{0}}};
    for (unsigned bit = 0; bit < 2; bit++) {
        uint8_t byte = bit == 0 ? UVEA_VALUE_BIT_ZERO : UVEA_VALUE_BIT_ONE;
        uint16_t out;
        struct uvea_value value;
        assert_int_equal(uvea_value_decode(&byte, 1, &value, NULL), UVEA_OK);
        assert_int_equal(uvea_value_read_u16(&value, &out, 1, &contexts[bit]), UVEA_ERR_PEER);
        assert_true(contexts[bit].text[0] != '\0');
    }
    assert_string_equal(contexts[0].text, contexts[1].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_condition_is_refused_by_name),
        cmocka_unit_test(every_shorter_and_longer_value_is_refused),
        cmocka_unit_test(only_some_kinds_may_stand_inside),
        cmocka_unit_test(only_the_descriptors_of_the_table_are_known),
        cmocka_unit_test(the_head_tells_the_length),
        cmocka_unit_test(huge_lengths_do_not_wrap),
        cmocka_unit_test(the_wrong_kind_is_refused),
        cmocka_unit_test(a_refused_bit_stays_secret),
    };
    return cmocka_run_group_tests_name("wire_malformed", tests, NULL, NULL);
}
