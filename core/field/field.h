// The prime field F_p, p = 52201: the smallest prime = 1 mod 200 above the 51,201 values a valid
// score can take, and small enough for 16 bits. Elements are canonical, 0..p-1, in uint16_t, unless
// a name says "centred" (-26100..26100 in int16_t). All functions are branch-free in their
// operands. Source: ntt.md 2; the bounds are proved in proofs/.
#ifndef UVEA_CORE_FIELD_FIELD_H
#define UVEA_CORE_FIELD_FIELD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    UVEA_FIELD_PRIME = 52201,
    UVEA_FIELD_ROOT = 43061, // of order exactly 200
    UVEA_FIELD_ROOT_ORDER = 200,
    UVEA_FIELD_CENTRED_MAX = 26100, // (p - 1) / 2
};
_Static_assert((UVEA_FIELD_PRIME - 1) % UVEA_FIELD_ROOT_ORDER == 0,
               "there is a root of that order");
_Static_assert(2 * UVEA_FIELD_CENTRED_MAX + 1 == UVEA_FIELD_PRIME,
               "centred residues cover the field");

// floor(2^47 / p). For every 32-bit x the quotient (x * factor) >> 47 is floor(x / p) or one less:
// factor = 2^47 / p - e with e < 1, so the error is below x e / 2^47 + 1 < 2.
#define UVEA_FIELD_BARRETT_FACTOR UINT64_C(2696068817)
enum { UVEA_FIELD_BARRETT_SHIFT = 47 };
_Static_assert(UVEA_FIELD_BARRETT_FACTOR ==
                   (UINT64_C(1) << UVEA_FIELD_BARRETT_SHIFT) / UVEA_FIELD_PRIME,
               "the factor is floor(2^47 / p)");

// The operations of loops over many elements are defined here, so that compilers vectorise them.

// value - p if value >= p, for value < 2p.
static inline uint32_t uvea_field_subtract_once(uint32_t value)
{
    uint32_t less = value - UVEA_FIELD_PRIME;
    uint32_t borrowed = -(less >> 31);
    return less + (borrowed & UVEA_FIELD_PRIME);
}

// x mod p for every 32-bit and every 64-bit x.
static inline uint16_t uvea_field_reduce_u32(uint32_t x)
{
    uint32_t quotient = (uint32_t)(x * UVEA_FIELD_BARRETT_FACTOR >> UVEA_FIELD_BARRETT_SHIFT);
    return (uint16_t)uvea_field_subtract_once(x - quotient * UVEA_FIELD_PRIME);
}
uint16_t uvea_field_reduce_u64(uint64_t x);
// x mod p for every signed 32-bit x.
uint16_t uvea_field_reduce_i32(int32_t x);

// Operands canonical.
static inline uint16_t uvea_field_add(uint16_t left, uint16_t right)
{
    return (uint16_t)uvea_field_subtract_once((uint32_t)left + right);
}
static inline uint16_t uvea_field_sub(uint16_t left, uint16_t right)
{
    return (uint16_t)uvea_field_subtract_once((uint32_t)left + UVEA_FIELD_PRIME - right);
}
static inline uint16_t uvea_field_neg(uint16_t value)
{
    return uvea_field_sub(0, value);
}
static inline uint16_t uvea_field_mul(uint16_t left, uint16_t right)
{
    return uvea_field_reduce_u32((uint32_t)left * right);
}
// The exponent is public.
uint16_t uvea_field_pow(uint16_t base, uint32_t exponent);
// value^(p-2): 0 for 0.
uint16_t uvea_field_inverse(uint16_t value);

int16_t uvea_field_to_centred(uint16_t canonical);
uint16_t uvea_field_from_centred(int16_t centred);

// For values that come from a file or a peer.
static inline bool uvea_field_is_canonical(uint16_t value)
{
    return value < UVEA_FIELD_PRIME;
}

#endif
