#include "core/field/field.h"

enum {
    BARRETT_SHIFT = 47,
    TWO_32_MOD_P = 25619, // 2^32 mod p
};

// floor(2^47 / p). For every 32-bit x the quotient (x * factor) >> 47 is floor(x / p) or one less:
// factor = 2^47 / p - e with e < 1, so the error is below x e / 2^47 + 1 < 2.
#define BARRETT_FACTOR UINT64_C(2696068817)
_Static_assert(BARRETT_FACTOR == (UINT64_C(1) << BARRETT_SHIFT) / UVEA_FIELD_PRIME,
               "the factor is floor(2^47 / p)");
_Static_assert(TWO_32_MOD_P == (UINT64_C(1) << 32) % UVEA_FIELD_PRIME, "2^32 mod p");

// value - p if value >= p, for value < 2p.
static uint32_t subtract_once(uint32_t value)
{
    uint32_t less = value - UVEA_FIELD_PRIME;
    uint32_t borrowed = -(less >> 31);
    return less + (borrowed & UVEA_FIELD_PRIME);
}

uint16_t uvea_field_reduce_u32(uint32_t x)
{
    uint32_t quotient = (uint32_t)(x * BARRETT_FACTOR >> BARRETT_SHIFT);
    return (uint16_t)subtract_once(x - quotient * UVEA_FIELD_PRIME);
}

uint16_t uvea_field_reduce_u64(uint64_t x)
{
    uint32_t high = uvea_field_reduce_u32((uint32_t)(x >> 32));
    uint32_t low = uvea_field_reduce_u32((uint32_t)x);
    // high * 25619 + low < 52201 * 25620 < 2^31
    return uvea_field_reduce_u32(high * TWO_32_MOD_P + low);
}

uint16_t uvea_field_reduce_i32(int32_t x)
{
    // As an unsigned number a negative x reads x + 2^32.
    uint32_t negative = (uint32_t)x >> 31;
    uint32_t excess = -negative & TWO_32_MOD_P;
    uint32_t reduced = uvea_field_reduce_u32((uint32_t)x);
    return (uint16_t)subtract_once(reduced + UVEA_FIELD_PRIME - excess);
}

uint16_t uvea_field_add(uint16_t left, uint16_t right)
{
    return (uint16_t)subtract_once((uint32_t)left + right);
}

uint16_t uvea_field_sub(uint16_t left, uint16_t right)
{
    return (uint16_t)subtract_once((uint32_t)left + UVEA_FIELD_PRIME - right);
}

uint16_t uvea_field_neg(uint16_t value)
{
    return uvea_field_sub(0, value);
}

uint16_t uvea_field_mul(uint16_t left, uint16_t right)
{
    return uvea_field_reduce_u32((uint32_t)left * right);
}

uint16_t uvea_field_pow(uint16_t base, uint32_t exponent)
{
    uint16_t result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0) {
            result = uvea_field_mul(result, base);
        }
        base = uvea_field_mul(base, base);
    }
    return result;
}

uint16_t uvea_field_inverse(uint16_t value)
{
    return uvea_field_pow(value, UVEA_FIELD_PRIME - 2);
}

int16_t uvea_field_to_centred(uint16_t canonical)
{
    // -1 when canonical > 26100
    int32_t above = ((int32_t)UVEA_FIELD_CENTRED_MAX - canonical) >> 31;
    return (int16_t)(canonical - (above & UVEA_FIELD_PRIME));
}

uint16_t uvea_field_from_centred(int16_t centred)
{
    int32_t negative = (int32_t)centred >> 31;
    return (uint16_t)(centred + (negative & UVEA_FIELD_PRIME));
}
