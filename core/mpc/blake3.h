// BLAKE3: of seeds, which fit one block, and of stored spectra. No packaged library has it.
// Sources: the BLAKE3 paper, section 2; wire.md 4 (golden values); service.md 6.6.
#ifndef UVEA_CORE_MPC_BLAKE3_H
#define UVEA_CORE_MPC_BLAKE3_H

#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_BLAKE3_BLOCK_BYTES = 64,
    UVEA_BLAKE3_HASH_BYTES = 32,
};

// The default (unkeyed) hash of in[0..len), len <= UVEA_BLAKE3_BLOCK_BYTES.
void uvea_blake3_block(const uint8_t *in, size_t len, uint8_t out[UVEA_BLAKE3_HASH_BYTES]);

// The same for inputs of any length. in may be secret; it is not kept.
void uvea_blake3(const uint8_t *in, size_t len, uint8_t out[UVEA_BLAKE3_HASH_BYTES]);

#endif
