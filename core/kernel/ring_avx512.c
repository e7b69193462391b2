// Compiled for AVX-512.
#include "core/kernel/ring_scores.inc"

const struct uvea_ring_kernel uvea_ring_kernel_avx512 = {
    .name = "avx512",
    .supported = uvea_cpu_has_avx512_vnni,
    .scores = scores_of,
};
