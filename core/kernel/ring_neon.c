// For aarch64, where the compiler uses NEON without being told: under the name that the spectral
// kernel has.
#include "core/kernel/ring_scores.inc"

const struct uvea_ring_kernel uvea_ring_kernel_neon = {
    .name = "neon",
    .supported = uvea_cpu_has_neon,
    .scores = scores_of,
};
