// For every processor of the architecture.
#include "core/kernel/ring_scores.inc"

static bool supported(const struct uvea_cpu *cpu)
{
    (void)cpu;
    return true;
}

const struct uvea_ring_kernel uvea_ring_kernel_portable = {
    .name = "portable",
    .supported = supported,
    .scores = scores_of,
};
