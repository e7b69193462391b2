#include "sim/gate/scores.h"

#include "core/base/check.h"
#include "core/base/mem.h"

enum uvea_error uvea_gate_tiles_init(struct uvea_gate_tiles *tiles,
                                     const struct uvea_spectral_kernel *kernel,
                                     const struct uvea_spectrum *records, size_t period,
                                     size_t count)
{
    const size_t width = kernel->tile_records;
    const size_t stored = (period < count ? period : count);
    const size_t stored_tiles = (stored + width - 1) / width;
    const size_t tile_count = (count + width - 1) / width;
    UVEA_CHECK(period >= count || period % 64 == 0);
    *tiles = (struct uvea_gate_tiles){
        .kernel = kernel,
        .memory = uvea_mem_alloc(stored_tiles, kernel->tile_bytes),
        .at = uvea_mem_alloc(tile_count, sizeof(*tiles->at)),
    };
    if (tiles->memory == NULL || tiles->at == NULL) {
        uvea_gate_tiles_deinit(tiles);
        return UVEA_ERR_MEMORY;
    }
    uint8_t *memory = tiles->memory;
    for (size_t i = 0; i < stored; i++) {
        kernel->tile_put(memory + i / width * kernel->tile_bytes, i % width, &records[i]);
    }
    for (size_t t = 0; t < tile_count; t++) {
        tiles->at[t] = memory + t % stored_tiles * kernel->tile_bytes;
    }
    return UVEA_OK;
}

void uvea_gate_tiles_deinit(struct uvea_gate_tiles *tiles)
{
    uvea_mem_free(tiles->memory);
    uvea_mem_free(tiles->at);
    *tiles = (struct uvea_gate_tiles){.memory = NULL};
}

enum uvea_error uvea_gate_queries_init(struct uvea_gate_queries *queries,
                                       const struct uvea_spectral_kernel *kernel,
                                       const struct uvea_spectrum *spectra, size_t count)
{
    UVEA_CHECK(count <= UVEA_SPECTRAL_QUERIES_MAX);
    *queries = (struct uvea_gate_queries){
        .memory = uvea_mem_alloc(count, kernel->query_bytes),
    };
    if (queries->memory == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        void *query = (uint8_t *)queries->memory + i * kernel->query_bytes;
        kernel->query_put(query, &spectra[i]);
        queries->at[i] = query;
    }
    return UVEA_OK;
}

void uvea_gate_queries_deinit(struct uvea_gate_queries *queries)
{
    uvea_mem_free(queries->memory);
    *queries = (struct uvea_gate_queries){.memory = NULL};
}

void uvea_gate_direct_scores(const struct uvea_spectrum *query, const struct uvea_spectrum *record,
                             uint16_t out[UVEA_GATE_ROTATIONS])
{
    uint64_t products[UVEA_GATE_POINTS];
    for (size_t k = 0; k < UVEA_GATE_POINTS; k++) {
        products[k] = 0;
        for (size_t c = 0; c < UVEA_SPECTRUM_CHANNELS; c++) {
            size_t at = UVEA_SPECTRUM_CHANNELS * k + c;
            products[k] += (uint64_t)query->values[at] * record->values[at];
        }
        products[k] %= UVEA_GATE_PRIME;
    }
    for (int rho = -UVEA_GATE_ROTATION_MAX; rho <= UVEA_GATE_ROTATION_MAX; rho++) {
        uint64_t sum = 0;
        for (int k = 0; k < UVEA_GATE_POINTS; k++) {
            sum += products[k] * uvea_gate_root_power(-(int64_t)k * rho);
        }
        out[rho + UVEA_GATE_ROTATION_MAX] = (uint16_t)(sum % UVEA_GATE_PRIME);
    }
}
