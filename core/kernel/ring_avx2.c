// Compiled for AVX2.
#include "core/kernel/ring_scores.inc"

static bool supported(const struct uvea_cpu *cpu)
{
    return cpu->avx2;
}

const struct uvea_ring_kernel uvea_ring_kernel_avx2 = {
    .name = "avx2",
    .supported = supported,
    .scores = scores_of,
};
