// The spectral kernel for NEON: products of 16-bit values, four at a time.
#include "core/kernel/spectral_neon.inc"

#define QUERY_BLOCK 4

static inline size_t pair_at(size_t lane, size_t which)
{
    return LANES * which + lane;
}

#include "core/kernel/spectral_pairs.inc"
#include "core/kernel/spectral_tile.inc"

const struct uvea_spectral_kernel uvea_spectral_kernel_neon = {
    .name = "neon",
    .supported = uvea_cpu_has_neon,
    .tile_records = LANES,
    .tile_bytes = sizeof(struct tile),
    .query_bytes = sizeof(struct query),
    .tile_put = tile_put,
    .query_put = query_put,
    .scores = scores_of,
};
