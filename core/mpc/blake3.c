#include "core/mpc/blake3.h"

#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"

#include <string.h>

enum {
    ROUNDS = 7,
    CHUNK_BYTES = 1024,
    CHUNKS_LOG2_MAX = 54, // of 2^64 bytes
    CV_BYTES = 32,        // chaining value: half of a parent's block
    CHUNK_START = 1,
    CHUNK_END = 2,
    PARENT = 4,
    ROOT = 8,
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

// ---- one block

// What a node of the tree is compressed from: a chunk's last block, or a parent's only one.
struct node {
    uint32_t cv[8];
    uint8_t block[UVEA_BLAKE3_BLOCK_BYTES];
    uint32_t block_bytes;
    uint64_t chunk; // 0 for parents
    uint32_t flags;
};

static void compress(const struct node *node, uint32_t flags, uint32_t out[8])
{
    uint32_t message[16];
    uint32_t v[16];

    for (unsigned i = 0; i < 16; i++) {
        message[i] = uvea_load_le32(node->block + 4 * (size_t)i);
    }
    memcpy(v, node->cv, sizeof(node->cv));
    memcpy(v + 8, initial, 4 * sizeof(v[0]));
    v[12] = (uint32_t)node->chunk;
    v[13] = (uint32_t)(node->chunk >> 32);
    v[14] = node->block_bytes;
    v[15] = node->flags | flags;
    for (unsigned i = 0; i < ROUNDS; i++) {
        round_of(v, message);
        permute(message);
    }
    for (unsigned i = 0; i < 8; i++) {
        out[i] = v[i] ^ v[i + 8];
    }
    uvea_mem_wipe(message, sizeof(message));
    uvea_mem_wipe(v, sizeof(v));
}

// ---- the tree

// A chunk, its last block not yet compressed. bytes is 0 for the empty input only.
static void chunk_node(const uint8_t *in, size_t bytes, uint64_t chunk, struct node *node)
{
    *node = (struct node){.chunk = chunk, .flags = CHUNK_START};
    memcpy(node->cv, initial, sizeof(initial));
    while (bytes > UVEA_BLAKE3_BLOCK_BYTES) {
        memcpy(node->block, in, UVEA_BLAKE3_BLOCK_BYTES);
        node->block_bytes = UVEA_BLAKE3_BLOCK_BYTES;
        compress(node, 0, node->cv);
        node->flags = 0;
        in += UVEA_BLAKE3_BLOCK_BYTES;
        bytes -= UVEA_BLAKE3_BLOCK_BYTES;
    }
    memset(node->block, 0, sizeof(node->block));
    if (bytes > 0) {
        memcpy(node->block, in, bytes);
    }
    node->block_bytes = (uint32_t)bytes;
    node->flags |= CHUNK_END;
}

static void store_cv(const uint32_t cv[8], uint8_t out[CV_BYTES])
{
    for (unsigned i = 0; i < 8; i++) {
        uvea_store_le32(out + 4 * (size_t)i, cv[i]);
    }
}

// The parent of a finished left subtree and of node, in node's place.
static void parent_node(const uint8_t left[CV_BYTES], struct node *node)
{
    uint32_t right[8];

    compress(node, 0, right);
    *node = (struct node){.block_bytes = UVEA_BLAKE3_BLOCK_BYTES, .flags = PARENT};
    memcpy(node->cv, initial, sizeof(initial));
    memcpy(node->block, left, CV_BYTES);
    store_cv(right, node->block + CV_BYTES);
}

void uvea_blake3(const uint8_t *in, size_t len, uint8_t out[UVEA_BLAKE3_HASH_BYTES])
{
    uint8_t left[CHUNKS_LOG2_MAX][CV_BYTES]; // subtrees that wait for their right side
    size_t waiting = 0;
    struct node node;
    uint32_t cv[8];
    uint64_t chunk = 0;

    for (; len > CHUNK_BYTES; len -= CHUNK_BYTES, in += CHUNK_BYTES) {
        chunk_node(in, CHUNK_BYTES, chunk, &node);
        chunk++;
        // As many subtrees are complete now as the count of chunks ends in zero bits.
        for (uint64_t count = chunk; (count & 1) == 0; count >>= 1) {
            parent_node(left[--waiting], &node);
        }
        compress(&node, 0, cv);
        store_cv(cv, left[waiting++]);
    }
    chunk_node(in, len, chunk, &node);
    while (waiting > 0) {
        parent_node(left[--waiting], &node);
    }
    compress(&node, ROOT, cv);
    store_cv(cv, out);
    uvea_mem_wipe(left, sizeof(left));
    uvea_mem_wipe(&node, sizeof(node));
    uvea_mem_wipe(cv, sizeof(cv));
}

void uvea_blake3_block(const uint8_t *in, size_t len, uint8_t out[UVEA_BLAKE3_HASH_BYTES])
{
    UVEA_CHECK(len <= UVEA_BLAKE3_BLOCK_BYTES);
    uvea_blake3(in, len, out);
}
