#include "core/base/chacha.h"

#include "core/base/check.h"
#include "core/base/endian.h"

#include <string.h>

static uint32_t rotate_left(uint32_t value, unsigned bits)
{
    return value << bits | value >> (32 - bits);
}

static void quarter_round(uint32_t state[16], unsigned a, unsigned b, unsigned c, unsigned d)
{
    state[a] += state[b];
    state[d] = rotate_left(state[d] ^ state[a], 16);
    state[c] += state[d];
    state[b] = rotate_left(state[b] ^ state[c], 12);
    state[a] += state[b];
    state[d] = rotate_left(state[d] ^ state[a], 8);
    state[c] += state[d];
    state[b] = rotate_left(state[b] ^ state[c], 7);
}

static void block(const struct uvea_chacha *rng, uint64_t counter, uint32_t out[16])
{
    // "expand 32-byte k"
    uint32_t start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memcpy(start + 4, rng->key, sizeof(rng->key));
    start[12] = (uint32_t)counter;
    start[13] = (uint32_t)(counter >> 32);

    uint32_t state[16];
    memcpy(state, start, sizeof(state));
    for (unsigned i = 0; i < rng->rounds; i += 2) {
        for (unsigned column = 0; column < 4; column++) {
            quarter_round(state, column, column + 4, column + 8, column + 12);
        }
        for (unsigned column = 0; column < 4; column++) {
            quarter_round(state, column, 4 + (column + 1) % 4, 8 + (column + 2) % 4,
                          12 + (column + 3) % 4);
        }
    }
    for (unsigned i = 0; i < 16; i++) {
        out[i] = state[i] + start[i];
    }
}

static void refill(struct uvea_chacha *rng)
{
    for (unsigned i = 0; i < UVEA_CHACHA_BUFFER_WORDS; i += 16) {
        block(rng, rng->block++, rng->words + i);
    }
    rng->index = 0;
}

void uvea_chacha_init(struct uvea_chacha *rng, const uint8_t key[UVEA_CHACHA_KEY_BYTES],
                      unsigned rounds)
{
    UVEA_CHECK(rounds == 8 || rounds == 12 || rounds == 20);
    *rng = (struct uvea_chacha){.rounds = rounds, .index = UVEA_CHACHA_BUFFER_WORDS};
    for (unsigned i = 0; i < 8; i++) {
        rng->key[i] = uvea_load_le32(key + 4 * (size_t)i);
    }
}

void uvea_chacha_init_seeded(struct uvea_chacha *rng, uint64_t seed)
{
    // PCG-XSH-RR with rand_core's constants, one 32-bit output per key word.
    uint8_t key[UVEA_CHACHA_KEY_BYTES];
    for (unsigned i = 0; i < 8; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(11634580027462260723);
        uint32_t mixed = (uint32_t)((seed >> 18 ^ seed) >> 27);
        unsigned turn = (unsigned)(seed >> 59);
        uvea_store_le32(key + 4 * (size_t)i, mixed >> turn | mixed << (-turn & 31));
    }
    uvea_chacha_init(rng, key, 12);
}

uint32_t uvea_chacha_next_u32(struct uvea_chacha *rng)
{
    if (rng->index == UVEA_CHACHA_BUFFER_WORDS) {
        refill(rng);
    }
    return rng->words[rng->index++];
}

uint64_t uvea_chacha_next_u64(struct uvea_chacha *rng)
{
    uint64_t low = uvea_chacha_next_u32(rng);
    return low | (uint64_t)uvea_chacha_next_u32(rng) << 32;
}

void uvea_chacha_fill(struct uvea_chacha *rng, uint8_t *out, size_t bytes)
{
    while (bytes > 0) {
        uint8_t word[4];
        uvea_store_le32(word, uvea_chacha_next_u32(rng));
        size_t part = bytes < sizeof(word) ? bytes : sizeof(word);
        memcpy(out, word, part);
        out += part;
        bytes -= part;
    }
}
