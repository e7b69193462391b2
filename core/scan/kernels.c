#include "core/kernel/cpu.h"
#include "core/scan/search.h"

#include <string.h>

enum uvea_error uvea_search_take_kernels(struct uvea_search_config *config, const char *name)
{
    const struct uvea_cpu cpu = uvea_cpu_detect();
    const struct uvea_spectral_kernel *spectral;
    const struct uvea_ring_kernel *ring;

    if (strcmp(name, "auto") == 0) {
        config->kernel = uvea_ring_kernel_best(&cpu);
        config->spectral_kernel = uvea_spectral_kernel_best(&cpu);
        return UVEA_OK;
    }
    spectral = uvea_spectral_kernel_named(name, &cpu);
    if (spectral == NULL) {
        return UVEA_ERR_NOT_FOUND;
    }
    ring = uvea_ring_kernel_named(name, &cpu); // neon-i8mm has no counterpart in the ring
    config->kernel = ring != NULL ? ring : uvea_ring_kernel_best(&cpu);
    config->spectral_kernel = spectral;
    return UVEA_OK;
}
