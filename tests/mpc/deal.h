// Random secrets and their components, for the tests of the protocols. Every party of a test may
// look at all of it: each compares what it opened with plain arithmetic.
#ifndef UVEA_TESTS_MPC_DEAL_H
#define UVEA_TESTS_MPC_DEAL_H

#include "core/base/error.h"
#include "core/base/party.h"

#include <stddef.h>
#include <stdint.h>

// The lengths every operation is run at: around a word, and a large odd one.
static const size_t test_lengths[] = {0, 1, 2, 3, 63, 64, 65, 127, 129, 4093};

struct dealt {
    size_t count;
    uint64_t *part[UVEA_PARTY_COUNT];
};

// count random words per component.
void deal_random(struct dealt *dealt, size_t count, uint64_t seed);
// Components that sum to secret[i] mod 2^64.
void deal_sum(struct dealt *dealt, const uint64_t *secret, size_t count, uint64_t seed);
void deal_free(struct dealt *dealt);

uint64_t dealt_sum(const struct dealt *dealt, size_t i);
uint64_t dealt_xor(const struct dealt *dealt, size_t i);

// The half b of a party is the half a of the one before.
static inline unsigned prev_of(unsigned party)
{
    return (party + 2) % UVEA_PARTY_COUNT;
}

// Prints the first difference and returns STATE; runs in any thread.
enum uvea_error same_u64(const char *what, size_t i, uint64_t got, uint64_t want);

#endif
