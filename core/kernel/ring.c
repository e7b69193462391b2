#include "core/kernel/ring_kernel.h"

#include <string.h>

const struct uvea_ring_kernel *const uvea_ring_kernels[] = {
    &uvea_ring_kernel_portable,
#if defined(__x86_64__)
    &uvea_ring_kernel_avx2,
    &uvea_ring_kernel_avx512,
#elif defined(__aarch64__)
    &uvea_ring_kernel_neon,
#endif
    NULL,
};

const struct uvea_ring_kernel *uvea_ring_kernel_best(const struct uvea_cpu *cpu)
{
    const struct uvea_ring_kernel *best = &uvea_ring_kernel_portable;
    for (size_t i = 0; uvea_ring_kernels[i] != NULL; i++) {
        if (uvea_ring_kernels[i]->supported(cpu)) {
            best = uvea_ring_kernels[i];
        }
    }
    return best;
}

const struct uvea_ring_kernel *uvea_ring_kernel_named(const char *name, const struct uvea_cpu *cpu)
{
    for (size_t i = 0; uvea_ring_kernels[i] != NULL; i++) {
        const struct uvea_ring_kernel *kernel = uvea_ring_kernels[i];
        if (strcmp(kernel->name, name) == 0 && kernel->supported(cpu)) {
            return kernel;
        }
    }
    return NULL;
}
