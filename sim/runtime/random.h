// Seeded randomness of a simulation: integers only, one independent stream per stable name, so that
// adding a consumer or changing the order of creation leaves every other stream alone. It lives in
// sim/ so that a production binary cannot link it; it is no source of secrets.
// Source: xoshiro256** 1.0 (Blackman and Vigna), state = SHA-256(seed as 8 bytes LE || name).
#ifndef UVEA_SIM_RUNTIME_RANDOM_H
#define UVEA_SIM_RUNTIME_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uvea_sim_random {
    uint64_t state[4];
};

// name: for example "net/p0>p1", "entropy/p2", "workload".
void uvea_sim_random_init(struct uvea_sim_random *random, uint64_t seed, const char *name);

uint64_t uvea_sim_random_next_u64(struct uvea_sim_random *random);

// Uniform in [0, n), unbiased; n >= 1. Draws nothing when n is 1.
uint64_t uvea_sim_random_below(struct uvea_sim_random *random, uint64_t n);

// Uniform in [low, high], both included; low <= high.
uint64_t uvea_sim_random_range(struct uvea_sim_random *random, uint64_t low, uint64_t high);

// True with probability numerator / denominator; denominator >= 1. Draws nothing when the outcome
// is impossible (numerator 0) or certain (numerator >= denominator).
bool uvea_sim_random_chance(struct uvea_sim_random *random, uint64_t numerator,
                            uint64_t denominator);

// Exponentially distributed with this mean, rounded down, by a fixed-point table (error of
// the quantile below 0.0001 times the mean). At most 64 ln 2 < 45 times the mean; saturates. Draws
// nothing when mean is 0.
uint64_t uvea_sim_random_exponential(struct uvea_sim_random *random, uint64_t mean);

// Words in little-endian order; what is left of the last word is discarded.
void uvea_sim_random_fill(struct uvea_sim_random *random, uint8_t *out, size_t bytes);

#endif
