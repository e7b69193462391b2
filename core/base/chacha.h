// ChaCha with a chosen number of rounds, read as the block-buffered generator of the rand_chacha
// crate: the reference's default pairwise stream (8 rounds) and its seeded share randomness
// (12 rounds). No packaged library offers these round counts.
// Source: RFC 8439 (block function, with 64-bit counter and stream id 0), wire.md 4 (consumption).
#ifndef UVEA_CORE_BASE_CHACHA_H
#define UVEA_CORE_BASE_CHACHA_H

#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_CHACHA_KEY_BYTES = 32,
    UVEA_CHACHA_BUFFER_WORDS = 64, // four blocks, as rand_chacha buffers them
};

// Secret. index is the next unread word; UVEA_CHACHA_BUFFER_WORDS means "refill first".
struct uvea_chacha {
    uint32_t key[8];
    uint64_t block;
    unsigned rounds;
    unsigned index;
    uint32_t words[UVEA_CHACHA_BUFFER_WORDS];
};

// rounds: 8, 12 or 20.
void uvea_chacha_init(struct uvea_chacha *rng, const uint8_t key[UVEA_CHACHA_KEY_BYTES],
                      unsigned rounds);

// 12 rounds, the key expanded from a 64-bit seed as rand_core's seed_from_u64 does.
void uvea_chacha_init_seeded(struct uvea_chacha *rng, uint64_t seed);

// The next word.
uint32_t uvea_chacha_next_u32(struct uvea_chacha *rng);

// Two consecutive words, low first; they may straddle a refill.
uint64_t uvea_chacha_next_u64(struct uvea_chacha *rng);

// Copies whole words; what is left of the last, partly used word is discarded.
void uvea_chacha_fill(struct uvea_chacha *rng, uint8_t *out, size_t bytes);

#endif
