// Compiled for AVX-512.
#include "core/kernel/ring_scores.inc"

static bool supported(const struct uvea_cpu *cpu)
{
    return cpu->avx512_vnni;
}

const struct uvea_ring_kernel uvea_ring_kernel_avx512 = {
    .name = "avx512",
    .supported = supported,
    .scores = scores_of,
};
