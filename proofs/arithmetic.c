// Arithmetic in F_52201: the functions of core/field/field.c on every input they can get.
// Sums, differences and products of residues are kept by counting up, so that no % that a compiler
// might get wrong the same way stands on the other side.
#include "core/field/field.h"
#include "proofs/claim.h"

enum { P = 52201 };
#define WORDS (UINT64_C(1) << 32)
#define PAIRS ((uint64_t)P * P)

static bool reduces_u32(void)
{
    uint32_t residue = 0;
    for (uint64_t x = 0; x < WORDS; x++) {
        if (uvea_field_reduce_u32((uint32_t)x) != residue) {
            return false;
        }
        residue = residue + 1 == P ? 0 : residue + 1;
    }
    return true;
}

// residue: that of the first number, -2^31.
static bool reduces_i32(uint32_t residue)
{
    for (int64_t x = INT32_MIN; x <= INT32_MAX; x++) {
        if (uvea_field_reduce_i32((int32_t)x) != residue) {
            return false;
        }
        residue = residue + 1 == P ? 0 : residue + 1;
    }
    return true;
}

// floor(x factor / 2^47) is floor(x / p) or one less.
static bool quotient_is_close(uint64_t factor)
{
    uint32_t residue = 0;
    uint32_t quotient = 0;
    for (uint64_t x = 0; x < WORDS; x++) {
        uint32_t estimate = (uint32_t)(x * factor >> 47);
        if (quotient - estimate > 1) {
            return false;
        }
        residue++;
        if (residue == P) {
            residue = 0;
            quotient++;
        }
    }
    return true;
}

static bool adds_and_subtracts(uint32_t modulus)
{
    for (uint32_t left = 0; left < P; left++) {
        uint32_t sum = left;
        for (uint32_t right = 0; right < P; right++) {
            if (uvea_field_add((uint16_t)left, (uint16_t)right) != sum ||
                uvea_field_sub((uint16_t)sum, (uint16_t)right) != left) {
                return false;
            }
            sum = sum + 1 == modulus ? 0 : sum + 1;
        }
    }
    return true;
}

static bool multiplies(uint32_t modulus)
{
    for (uint32_t left = 0; left < P; left++) {
        uint32_t product = 0;
        for (uint32_t right = 0; right < P; right++) {
            if (uvea_field_mul((uint16_t)left, (uint16_t)right) != product) {
                return false;
            }
            product += left;
            product -= product >= modulus ? modulus : 0;
        }
    }
    return true;
}

static bool inverts(void)
{
    for (uint32_t x = 1; x < P; x++) {
        uint64_t inverse = uvea_field_inverse((uint16_t)x);
        if (inverse == 0 || inverse >= P || inverse * x % P != 1) {
            return false;
        }
    }
    return uvea_field_inverse(0) == 0;
}

static bool centres(int32_t largest)
{
    for (int32_t x = 0; x < P; x++) {
        int32_t centred = uvea_field_to_centred((uint16_t)x);
        if (centred != (x <= largest ? x : x - P) ||
            uvea_field_from_centred((int16_t)centred) != x || uvea_field_neg((uint16_t)x) >= P ||
            (x + uvea_field_neg((uint16_t)x)) % P != 0) {
            return false;
        }
    }
    return true;
}

int main(void)
{
    const uint64_t factor = (UINT64_C(1) << 47) / P;
    claim_proved("reduce_u32(x) = x mod p for every 32-bit x", reduces_u32(), WORDS);
    claim_proved("Barrett's quotient is floor(x / p) or one less for every 32-bit x",
                 quotient_is_close(factor), WORDS);
    claim_refuted("... with the factor four larger", quotient_is_close(factor + 4));
    claim_refuted("... with the factor 2^16 smaller", quotient_is_close(factor - (1 << 16)));
    claim_proved("reduce_i32(x) = x mod p for every signed 32-bit x",
                 reduces_i32(INT32_MIN + INT64_C(41139) * P), WORDS);
    claim_refuted("... taken as unsigned", reduces_i32((UINT32_C(1) << 31) % P));
    claim_proved("add and sub for every pair", adds_and_subtracts(P), PAIRS);
    claim_refuted("... modulo p - 1", adds_and_subtracts(P - 1));
    claim_proved("mul for every pair", multiplies(P), PAIRS);
    claim_refuted("... modulo p + 1", multiplies(P + 1));
    claim_proved("inverse of every element but 0, which gives 0", inverts(), P);
    claim_proved("centring is a bijection to -26100..26100; x + neg(x) = 0", centres(26100), P);
    claim_refuted("... with 26099 as the largest", centres(26099));
    return claim_status();
}
