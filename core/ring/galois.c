#include "core/ring/galois.h"

#include "core/base/check.h"

enum { DEGREE = UVEA_GALOIS_DEGREE };

// A basis -> monomials, its inverse, and monomials -> B basis: T = (S^-1)^T S^-1.
static const uint16_t basis_s[DEGREE][DEGREE] = {
    {1, 0, 0, 0},
    {58082, 1, 0, 0},
    {60579, 25194, 1, 0},
    {17325, 51956, 57011, 1},
};
static const uint16_t basis_s_inverse[DEGREE][DEGREE] = {
    {1, 0, 0, 0},
    {7454, 1, 0, 0},
    {35057, 40342, 1, 0},
    {37176, 61738, 8525, 1},
};
static const uint16_t basis_t[DEGREE][DEGREE] = {
    {16038, 45700, 28361, 37176},
    {45700, 28361, 37176, 61738},
    {28361, 37176, 61738, 8525},
    {37176, 61738, 8525, 1},
};

static const struct uvea_galois points[UVEA_PARTY_COUNT] = {
    {{1, 0, 0, 0}},
    {{0, 1, 0, 0}},
    {{1, 1, 0, 0}},
};
static const struct uvea_galois weights_three[UVEA_PARTY_COUNT] = {
    {{1, 2, 2, 2}},
    {{65535, 65534, 65534, 65534}},
    {{1, 0, 0, 0}},
};
// [mine][other]; the diagonal is never used.
static const struct uvea_galois weights_two[UVEA_PARTY_COUNT][UVEA_PARTY_COUNT] = {
    {{{0}}, {{1, 1, 1, 1}}, {{0, 0, 0, 1}}},
    {{{0, 65535, 65535, 65535}}, {{0}}, {{1, 1, 0, 0}}},
    {{{1, 0, 0, 65535}}, {{0, 65535, 0, 0}}, {{0}}},
};

// u16 factors are widened first: their product as int could overflow.
static uint16_t product(uint16_t left, uint16_t right)
{
    return (uint16_t)((uint32_t)left * right);
}

static struct uvea_galois apply(const uint16_t matrix[DEGREE][DEGREE],
                                const uint16_t column[DEGREE])
{
    struct uvea_galois out = {{0}};
    for (unsigned i = 0; i < DEGREE; i++) {
        for (unsigned j = 0; j < DEGREE; j++) {
            out.c[i] = (uint16_t)(out.c[i] + product(matrix[i][j], column[j]));
        }
    }
    return out;
}

struct uvea_galois uvea_galois_add(struct uvea_galois left, struct uvea_galois right)
{
    for (unsigned i = 0; i < DEGREE; i++) {
        left.c[i] = (uint16_t)(left.c[i] + right.c[i]);
    }
    return left;
}

struct uvea_galois uvea_galois_sub(struct uvea_galois left, struct uvea_galois right)
{
    for (unsigned i = 0; i < DEGREE; i++) {
        left.c[i] = (uint16_t)(left.c[i] - right.c[i]);
    }
    return left;
}

struct uvea_galois uvea_galois_mul(struct uvea_galois left, struct uvea_galois right)
{
    uint16_t wide[2 * DEGREE - 1] = {0};
    for (unsigned i = 0; i < DEGREE; i++) {
        for (unsigned j = 0; j < DEGREE; j++) {
            wide[i + j] = (uint16_t)(wide[i + j] + product(left.c[i], right.c[j]));
        }
    }
    // x^(4+k) = x^(k+1) + x^k
    struct uvea_galois out = {{wide[0], wide[1], wide[2], wide[3]}};
    for (unsigned k = 0; k + DEGREE < 2 * DEGREE - 1; k++) {
        out.c[k] = (uint16_t)(out.c[k] + wide[DEGREE + k]);
        out.c[k + 1] = (uint16_t)(out.c[k + 1] + wide[DEGREE + k]);
    }
    return out;
}

struct uvea_galois uvea_galois_inverse(struct uvea_galois unit)
{
    // Modulo 2 the units are a group of 15, and 1 + 2a becomes 1 after 15 squarings modulo 2^16:
    // unit^(15 * 2^15) = 1.
    uint32_t exponent = UINT32_C(15) * 32768 - 1;
    struct uvea_galois power = {{1, 0, 0, 0}};
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) {
            power = uvea_galois_mul(power, unit);
        }
        unit = uvea_galois_mul(unit, unit);
    }
    return power;
}

struct uvea_galois uvea_galois_exceptional(unsigned k)
{
    UVEA_CHECK(k < 1u << DEGREE);
    struct uvea_galois out;
    for (unsigned i = 0; i < DEGREE; i++) {
        out.c[i] = (uint16_t)(k >> i & 1);
    }
    return out;
}

struct uvea_galois uvea_galois_from_block(const uint16_t block[UVEA_GALOIS_DEGREE])
{
    return apply(basis_s, block);
}

void uvea_galois_to_block(struct uvea_galois value, uint16_t block[UVEA_GALOIS_DEGREE])
{
    struct uvea_galois out = apply(basis_s_inverse, value.c);
    for (unsigned i = 0; i < DEGREE; i++) {
        block[i] = out.c[i];
    }
}

struct uvea_galois uvea_galois_dual(struct uvea_galois value)
{
    return apply(basis_t, value.c);
}

struct uvea_galois uvea_galois_share(struct uvea_party party, struct uvea_galois secret,
                                     struct uvea_galois mask)
{
    UVEA_CHECK(party.index < UVEA_PARTY_COUNT);
    return uvea_galois_add(secret, uvea_galois_mul(mask, points[party.index]));
}

struct uvea_galois uvea_galois_weight_three(struct uvea_party mine)
{
    UVEA_CHECK(mine.index < UVEA_PARTY_COUNT);
    return weights_three[mine.index];
}

struct uvea_galois uvea_galois_weight_two(struct uvea_party mine, struct uvea_party other)
{
    UVEA_CHECK(mine.index < UVEA_PARTY_COUNT && other.index < UVEA_PARTY_COUNT);
    UVEA_CHECK(mine.index != other.index);
    return weights_two[mine.index][other.index];
}
