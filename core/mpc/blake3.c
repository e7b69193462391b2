#include "core/mpc/blake3.h"

#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"

#include <string.h>

enum {
    ROUNDS = 7,
    // chunk start, chunk end, root: the only block is all three
    FLAGS = 1 | 2 | 8,
};

static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static const unsigned char permutation[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};

static uint32_t rotate_right(uint32_t value, unsigned bits)
{
    return value >> bits | value << (32 - bits);
}

static void mix(uint32_t v[16], unsigned a, unsigned b, unsigned c, unsigned d, const uint32_t m[2])
{
    v[a] += v[b] + m[0];
    v[d] = rotate_right(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotate_right(v[b] ^ v[c], 12);
    v[a] += v[b] + m[1];
    v[d] = rotate_right(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = rotate_right(v[b] ^ v[c], 7);
}

static void round_of(uint32_t v[16], const uint32_t message[16])
{
    for (unsigned i = 0; i < 4; i++) {
        mix(v, i, 4 + i, 8 + i, 12 + i, message + 2 * (size_t)i);
    }
    for (unsigned i = 0; i < 4; i++) {
        mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, message + 8 + 2 * (size_t)i);
    }
}

static void permute(uint32_t message[16])
{
    uint32_t old[16];
    memcpy(old, message, sizeof(old));
    for (unsigned i = 0; i < 16; i++) {
        message[i] = old[permutation[i]];
    }
}

void uvea_blake3_block(const uint8_t *in, size_t len, uint8_t out[UVEA_BLAKE3_HASH_BYTES])
{
    UVEA_CHECK(len <= UVEA_BLAKE3_BLOCK_BYTES);
    uint8_t block[UVEA_BLAKE3_BLOCK_BYTES] = {0};
    if (len > 0) {
        memcpy(block, in, len);
    }
    uint32_t message[16];
    for (unsigned i = 0; i < 16; i++) {
        message[i] = uvea_load_le32(block + 4 * (size_t)i);
    }
    uint32_t v[16];
    memcpy(v, initial, 8 * sizeof(v[0]));
    memcpy(v + 8, initial, 4 * sizeof(v[0]));
    v[12] = 0; // chunk counter
    v[13] = 0;
    v[14] = (uint32_t)len;
    v[15] = FLAGS;
    for (unsigned i = 0; i < ROUNDS; i++) {
        round_of(v, message);
        permute(message);
    }
    for (unsigned i = 0; i < 8; i++) {
        uvea_store_le32(out + 4 * (size_t)i, v[i] ^ v[i + 8]);
    }
    uvea_mem_wipe(block, sizeof(block));
    uvea_mem_wipe(message, sizeof(message));
    uvea_mem_wipe(v, sizeof(v));
}
