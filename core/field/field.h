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

// x mod p for every 32-bit and every 64-bit x.
uint16_t uvea_field_reduce_u32(uint32_t x);
uint16_t uvea_field_reduce_u64(uint64_t x);
// x mod p for every signed 32-bit x.
uint16_t uvea_field_reduce_i32(int32_t x);

// Operands canonical.
uint16_t uvea_field_add(uint16_t left, uint16_t right);
uint16_t uvea_field_sub(uint16_t left, uint16_t right);
uint16_t uvea_field_neg(uint16_t value);
uint16_t uvea_field_mul(uint16_t left, uint16_t right);
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
