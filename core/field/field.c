#include "core/field/field.h"

enum { TWO_32_MOD_P = 25619 }; // 2^32 mod p
_Static_assert(TWO_32_MOD_P == (UINT64_C(1) << 32) % UVEA_FIELD_PRIME, "2^32 mod p");

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
    return (uint16_t)uvea_field_subtract_once(reduced + UVEA_FIELD_PRIME - excess);
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
