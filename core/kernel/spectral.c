#include "core/kernel/spectral_kernel.h"

#include <string.h>

const struct uvea_spectral_kernel *const uvea_spectral_kernels[] = {
    &uvea_spectral_kernel_portable,
#if defined(__x86_64__)
    &uvea_spectral_kernel_avx2,
    &uvea_spectral_kernel_avx512,
#elif defined(__aarch64__)
    &uvea_spectral_kernel_neon,
    &uvea_spectral_kernel_neon_i8mm,
#endif
    NULL,
};

const struct uvea_spectral_kernel *uvea_spectral_kernel_best(const struct uvea_cpu *cpu)
{
    const struct uvea_spectral_kernel *best = &uvea_spectral_kernel_portable;
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        if (uvea_spectral_kernels[i]->supported(cpu)) {
            best = uvea_spectral_kernels[i];
        }
    }
    return best;
}

const struct uvea_spectral_kernel *uvea_spectral_kernel_named(const char *name,
                                                              const struct uvea_cpu *cpu)
{
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        const struct uvea_spectral_kernel *kernel = uvea_spectral_kernels[i];
        if (strcmp(kernel->name, name) == 0 && kernel->supported(cpu)) {
            return kernel;
        }
    }
    return NULL;
}
