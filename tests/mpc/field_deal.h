// Additive sharings in F_p, for the tests of the protocols in the field.
#ifndef UVEA_TESTS_MPC_FIELD_DEAL_H
#define UVEA_TESTS_MPC_FIELD_DEAL_H

#include "core/base/chacha.h"
#include "core/base/party.h"
#include "core/field/field.h"

#include <stddef.h>
#include <stdint.h>

static inline uint16_t field_deal_element(struct uvea_chacha *rng)
{
    return (uint16_t)(uvea_chacha_next_u64(rng) % UVEA_FIELD_PRIME);
}

// part[p][i]: canonical elements that sum to secret[i] mod p.
static inline void field_deal_sum(struct uvea_chacha *rng, const uint16_t *secret, size_t count,
                                  uint16_t *const part[UVEA_PARTY_COUNT])
{
    for (size_t i = 0; i < count; i++) {
        uint32_t first = field_deal_element(rng);
        uint32_t second = field_deal_element(rng);
        part[0][i] = (uint16_t)first;
        part[1][i] = (uint16_t)second;
        part[2][i] =
            (uint16_t)((secret[i] + 2 * UVEA_FIELD_PRIME - first - second) % UVEA_FIELD_PRIME);
    }
}

// Sizes of encoded values, from wire.md 1. A vector; a lone u64 of a ring goes without a length.
static inline uint64_t field_vector_bytes(uint64_t count, uint64_t width)
{
    return 5 + count * width;
}
static inline uint64_t field_words_bytes(uint64_t count)
{
    return count == 1 ? 9 : field_vector_bytes(count, 8);
}
static inline uint64_t field_bits_bytes(uint64_t lanes)
{
    return lanes == 1 ? 1 : 5 + (lanes + 7) / 8;
}

#endif
