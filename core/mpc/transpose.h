// Bit slicing: `count` values of `bits` bits into `bits` planes of ceil(count / 64) words. Bit j of
// word w of plane k (at planes[k * words + w]) is bit k of value 64 w + j; lanes past the end are
// zero. Value bits from `bits` on must be zero, or `bits` the full width. One half of a share at a
// time. Source: wire.md 6.2.
#ifndef UVEA_CORE_MPC_TRANSPOSE_H
#define UVEA_CORE_MPC_TRANSPOSE_H

#include "core/mpc/share.h"

// bits 1..16, 1..32, 1..64
void uvea_mpc_slice_u16(const uint16_t *values, size_t count, unsigned bits, uint64_t *planes);
void uvea_mpc_slice_u32(const uint32_t *values, size_t count, unsigned bits, uint64_t *planes);
void uvea_mpc_slice_u64(const uint64_t *values, size_t count, unsigned bits, uint64_t *planes);

#endif
