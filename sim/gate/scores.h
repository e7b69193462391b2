// Records and queries in a spectral kernel's own form, and the right scores by direct sums.
#ifndef UVEA_SIM_GATE_SCORES_H
#define UVEA_SIM_GATE_SCORES_H

#include "core/field/spectrum.h"
#include "core/kernel/spectral_kernel.h"
#include "sim/gate/check.h"

#include <stddef.h>
#include <stdint.h>

// All owned. Tile t of `at` holds the records from t * tile_records on.
struct uvea_gate_tiles {
    const struct uvea_spectral_kernel *kernel;
    void *memory;
    const void **at;
};

// Holds count records, of which the i-th is records[i mod period]; a period below count is a
// multiple of 64, so that tiles repeat and are stored once. Slots behind the last record are zero.
UVEA_MUST_USE enum uvea_error uvea_gate_tiles_init(struct uvea_gate_tiles *tiles,
                                                   const struct uvea_spectral_kernel *kernel,
                                                   const struct uvea_spectrum *records,
                                                   size_t period, size_t count);
void uvea_gate_tiles_deinit(struct uvea_gate_tiles *tiles);

// Up to UVEA_SPECTRAL_QUERIES_MAX prepared queries. All owned.
struct uvea_gate_queries {
    void *memory;
    const void *at[UVEA_SPECTRAL_QUERIES_MAX];
};

UVEA_MUST_USE enum uvea_error uvea_gate_queries_init(struct uvea_gate_queries *queries,
                                                     const struct uvea_spectral_kernel *kernel,
                                                     const struct uvea_spectrum *spectra,
                                                     size_t count);
void uvea_gate_queries_deinit(struct uvea_gate_queries *queries);

// sum_k ROOT^(-k rho) sum_c query[96k + c] record[96k + c] mod p, at index rho + 15.
void uvea_gate_direct_scores(const struct uvea_spectrum *query, const struct uvea_spectrum *record,
                             uint16_t out[UVEA_GATE_ROTATIONS]);

#endif
