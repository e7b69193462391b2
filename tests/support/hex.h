// Expected bytes as the documents print them: hex digits, blanks ignored.
#ifndef UVEA_TESTS_SUPPORT_HEX_H
#define UVEA_TESTS_SUPPORT_HEX_H

#include "core/base/check.h"
#include "tests/support/cmocka.h"

static inline uint8_t uvea_test_hex_digit(char digit)
{
    UVEA_CHECK((digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f'));
    return (uint8_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

// Returns how many bytes were written, at most bytes_max.
static inline size_t uvea_test_hex(const char *text, uint8_t *out, size_t bytes_max)
{
    size_t digits = 0;
    for (; *text != '\0'; text++) {
        if (*text == ' ') {
            continue;
        }
        UVEA_CHECK(digits / 2 < bytes_max);
        uint8_t digit = uvea_test_hex_digit(*text);
        out[digits / 2] = (uint8_t)(digits % 2 == 0 ? digit << 4 : out[digits / 2] | digit);
        digits++;
    }
    UVEA_CHECK(digits % 2 == 0);
    return digits / 2;
}

// Compares bytes[0..len) with the hex text, at most 512 bytes of it.
static inline void uvea_test_assert_hex(const uint8_t *bytes, size_t len, const char *text)
{
    uint8_t expected[512];
    size_t expected_len = uvea_test_hex(text, expected, sizeof(expected));
    assert_int_equal(len, expected_len);
    if (len > 0) {
        assert_memory_equal(bytes, expected, len);
    }
}

#endif
