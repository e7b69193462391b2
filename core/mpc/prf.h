// Pairwise random streams. Party i holds `my` (shared with next) and `prev` (shared with prev):
// my of i and prev of i+1 are one stream, and both holders must consume it in step.
// `gen` (one value) and `fill` (raw bytes) consume differently: each protocol names the one it
// uses. Source: wire.md 4, with golden values.
#ifndef UVEA_CORE_MPC_PRF_H
#define UVEA_CORE_MPC_PRF_H

#include "core/base/chacha.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Z_2^48 lives in a u64 whose top 16 bits are zero.
#define UVEA_RING48_MASK UINT64_C(0xffffffffffff)

// Nothing on the wire tells which one is in use: all three parties must be configured alike.
enum uvea_prf_kind {
    UVEA_PRF_AES128,  // AES-128 in counter form, keyed by the seed (OpenSSL)
    UVEA_PRF_CHACHA8, // ChaCha with 8 rounds, keyed by BLAKE3 of the seed
};

enum { UVEA_PRF_SEED_BYTES = 16 };

// One stream. Opaque to everyone but prf.c.
struct uvea_prg;

UVEA_MUST_USE enum uvea_error uvea_prg_open(enum uvea_prf_kind kind,
                                            const uint8_t seed[UVEA_PRF_SEED_BYTES],
                                            struct uvea_prg **prg);
void uvea_prg_close(struct uvea_prg *prg); // wipes; NULL is allowed

uint32_t uvea_prg_next_u32(struct uvea_prg *prg);
uint64_t uvea_prg_next_u64(struct uvea_prg *prg);
// What `count` calls of next_u32 give, in much less time.
void uvea_prg_next_u32s(struct uvea_prg *prg, uint32_t *out, size_t count);
void uvea_prg_fill(struct uvea_prg *prg, uint8_t *out, size_t bytes);
// low 16 bits of one next_u32
uint16_t uvea_prg_gen_u16(struct uvea_prg *prg);
static inline uint32_t uvea_prg_gen_u32(struct uvea_prg *prg)
{
    return uvea_prg_next_u32(prg);
}
// next_u64 & (2^48 - 1)
uint64_t uvea_prg_gen_u48(struct uvea_prg *prg);
// out[0] low, out[1] high
void uvea_prg_gen_u128(struct uvea_prg *prg, uint64_t out[2]);
// Arrays by fill, little-endian elements.
void uvea_prg_fill_u16(struct uvea_prg *prg, uint16_t *out, size_t count);
void uvea_prg_fill_u32(struct uvea_prg *prg, uint32_t *out, size_t count);
void uvea_prg_fill_u48(struct uvea_prg *prg, uint64_t *out, size_t count);
void uvea_prg_fill_u64(struct uvea_prg *prg, uint64_t *out, size_t count);
// A number below bound > 0: next_u64, drawn again while it lies in the last, partial copy of the
// range, then reduced.
uint64_t uvea_prg_gen_below(struct uvea_prg *prg, uint64_t bound);
// Whether gen_below keeps this word.
bool uvea_prg_range_accepts(uint64_t word, uint64_t bound);
// Position in the keystream in bytes, counting what a fill or a word skipped: equal at both holders
// of a stream when they are in step.
uint64_t uvea_prg_bytes_drawn(const struct uvea_prg *prg);
// Goes to a block of the keystream (16 bytes with AES-128, 64 with ChaCha8), discarding what is
// buffered. For tests of large counters; no protocol does this.
void uvea_prg_seek(struct uvea_prg *prg, uint64_t block);

// A party's two streams.
struct uvea_prf {
    struct uvea_prg *my;
    struct uvea_prg *prev;
};

// Two random orders of 0..size-1, one from each stream (wire.md 4 "permutation").
void uvea_prf_permutation(struct uvea_prf *prf, size_t size, size_t *my, size_t *prev);

#endif
