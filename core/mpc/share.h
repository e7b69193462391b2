// Replicated (Rep3) shares, one array per half: party i holds a = x_i and b = x_{i-1}, and
// x = x_0 + x_1 + x_2 (arithmetic) or x_0 ^ x_1 ^ x_2 (binary). All of it is secret. wire.md 5.
#ifndef UVEA_CORE_MPC_SHARE_H
#define UVEA_CORE_MPC_SHARE_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct uvea_share16 {
    uint16_t *a;
    uint16_t *b;
    size_t count;
};

struct uvea_share32 {
    uint32_t *a;
    uint32_t *b;
    size_t count;
};

// Z_2^64 or Z_2^48 (top 16 bits zero), as the function that takes it says.
struct uvea_share64 {
    uint64_t *a;
    uint64_t *b;
    size_t count;
};

// Bit planes: plane k holds bit k of every value, value j at bit j mod 64 of word j/64.
// a[k * words + w]; words = ceil(lanes / 64); lanes past the end are zero-padded before any network
// step, and random masks cover them.
struct uvea_planes {
    uint64_t *a;
    uint64_t *b;
    size_t plane_count;
    size_t words;
};

UVEA_MUST_USE enum uvea_error uvea_share16_init(struct uvea_share16 *share, size_t count);
UVEA_MUST_USE enum uvea_error uvea_share32_init(struct uvea_share32 *share, size_t count);
UVEA_MUST_USE enum uvea_error uvea_share64_init(struct uvea_share64 *share, size_t count);
UVEA_MUST_USE enum uvea_error uvea_planes_init(struct uvea_planes *planes, size_t plane_count,
                                               size_t words);
// Wipe and free; all-zero structs are allowed.
void uvea_share16_deinit(struct uvea_share16 *share);
void uvea_share32_deinit(struct uvea_share32 *share);
void uvea_share64_deinit(struct uvea_share64 *share);
void uvea_planes_deinit(struct uvea_planes *planes);

static inline size_t uvea_words_for(size_t lanes)
{
    return lanes / 64 + (lanes % 64 != 0);
}

#endif
