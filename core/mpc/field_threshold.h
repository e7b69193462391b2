// The numbers behind the two forms of the predicate in the field, apart from the protocol, so that
// proofs/ can look at all of them. Y = g + 32768 mod p lies in 768..51968 for valid scores g
// (-32000..19200), and g >= 0 when Y >= 32768. Source: ntt.md 4.
#ifndef UVEA_CORE_MPC_FIELD_THRESHOLD_H
#define UVEA_CORE_MPC_FIELD_THRESHOLD_H

#include "core/field/field.h"

#include <stdint.h>

enum {
    UVEA_FIELD_Y_BITS = 16,
    UVEA_FIELD_Y_OFFSET = 32768,
    UVEA_FIELD_Y_MIN = UVEA_FIELD_Y_OFFSET - 32000, // 768
    UVEA_FIELD_Y_MAX = UVEA_FIELD_Y_OFFSET + 19200, // 51968

    // Full form. Y = u + v mod p for canonical u and v. W = u + v has 17 bits w_0..w_16; with
    // L = [W mod 32768 >= 19433], Y >= 32768 exactly when w_15 xor (L and (w_15 xor w_16)).
    UVEA_FIELD_Y_LIMIT = UVEA_FIELD_PRIME - UVEA_FIELD_Y_OFFSET, // 19433
    UVEA_FIELD_Y_LIMIT_BITS = UVEA_FIELD_Y_BITS - 1,

    // Valid-range form: the upper bound is a multiple of 512 and needs 7 bits.
    UVEA_FIELD_Y_COARSE_SHIFT = 9,
    UVEA_FIELD_Y_COARSE_BITS = UVEA_FIELD_Y_BITS - UVEA_FIELD_Y_COARSE_SHIFT,
};
_Static_assert(UVEA_FIELD_Y_OFFSET == 1 << UVEA_FIELD_Y_LIMIT_BITS, "the top bit decides");
_Static_assert(UVEA_FIELD_Y_LIMIT % 2 == 1, "the comparison's first step is free");
// 1,000 values of Y never occur: 51969..52200 and 0..767. Among any 512 consecutive ones there is
// one where z is a multiple of 512 or would pass p.
_Static_assert(UVEA_FIELD_Y_MIN + UVEA_FIELD_PRIME - (UVEA_FIELD_Y_MAX + 1) >=
                   1 << UVEA_FIELD_Y_COARSE_SHIFT,
               "the upper bound always lies in the gap");

// Valid-range form. Y = y + z mod p for canonical y and z: Y >= 32768 exactly when
// [z >= a] xor [z >= b] xor [a > b], for Y in 768..51968.
struct uvea_field_bounds {
    uint16_t a;         // where Y = 32768: 32768 - y mod p
    uint16_t b;         // where Y is impossible; a multiple of 512 up to 52224, which no z reaches
    uint16_t a_above_b; // 0 or 1
};

static inline struct uvea_field_bounds uvea_field_bounds_of(uint16_t y)
{
    const uint32_t step = UINT32_C(1) << UVEA_FIELD_Y_COARSE_SHIFT;
    uint32_t a = uvea_field_sub(UVEA_FIELD_Y_OFFSET, y);
    uint32_t first_impossible = uvea_field_sub(UVEA_FIELD_Y_MAX + 1, y);
    uint32_t b = (first_impossible + step - 1) / step * step;
    return (struct uvea_field_bounds){(uint16_t)a, (uint16_t)b, a > b};
}

#endif
