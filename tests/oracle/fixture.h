// Templates for the oracle's tests, made without any code under test.
#ifndef UVEA_TESTS_ORACLE_FIXTURE_H
#define UVEA_TESTS_ORACLE_FIXTURE_H

#include "oracle/search.h"

#include <stdint.h>
#include <string.h>

static inline bool bit_get(const uint64_t *plane, unsigned i)
{
    return (plane[i / 64] >> (i % 64) & 1) != 0;
}

static inline void bit_flip(uint64_t *plane, unsigned i)
{
    plane[i / 64] ^= UINT64_C(1) << (i % 64);
}

static inline unsigned bit_at(unsigned row, unsigned column, unsigned wavelet, unsigned part)
{
    return 800 * row + 4 * column + 2 * wavelet + part;
}

// SplitMix64.
static inline uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Independent code bits, every bit valid: any two of different seeds are near distance one half.
static inline struct uvea_oracle_template random_template(uint64_t seed)
{
    struct uvea_oracle_template out;
    for (unsigned i = 0; i < UVEA_ORACLE_WORDS; i++) {
        out.code[i] = mix(&seed);
        out.mask[i] = UINT64_MAX;
    }
    return out;
}

static inline struct uvea_oracle_pair random_pair(uint64_t seed)
{
    return (struct uvea_oracle_pair){
        {random_template(2 * seed + 1000003), random_template(2 * seed + 1000004)}};
}

// A copy with the first `bits` code bits inverted.
static inline struct uvea_oracle_template flipped(struct uvea_oracle_template in, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++) {
        bit_flip(in.code, i);
    }
    return in;
}

#endif
