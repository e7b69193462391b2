// For every processor of the architecture.
#include "core/kernel/ring_scores.inc"

const struct uvea_ring_kernel uvea_ring_kernel_portable = {
    .name = "portable",
    .supported = uvea_cpu_has_base,
    .scores = scores_of,
};
