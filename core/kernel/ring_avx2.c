// Compiled for AVX2.
#include "core/kernel/ring_scores.inc"

const struct uvea_ring_kernel uvea_ring_kernel_avx2 = {
    .name = "avx2",
    .supported = uvea_cpu_has_avx2,
    .scores = scores_of,
};
