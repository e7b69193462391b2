// Spectral score kernels: this party's additive contributions to g_rho = 2C - m in F_p, for several
// queries against many records in one pass over the records, all 31 rotations. One const table per
// implementation; a party picks one at start. All give identical scores for all inputs whatsoever.
//
// The resident form of records is the kernel's own: tiles of tile_records records, filled one slot
// at a time. The stored form (core/field/spectrum.h, format 2) does not depend on it. Source:
// ntt.md 2, 6. Bounds each kernel relies on are proved in proofs/.
#ifndef UVEA_CORE_KERNEL_SPECTRAL_KERNEL_H
#define UVEA_CORE_KERNEL_SPECTRAL_KERNEL_H

#include "core/field/spectrum.h"
#include "core/kernel/cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_SPECTRAL_QUERIES_MAX = 8, // in one pass: for example four requests in two orientations
    UVEA_SPECTRAL_ROTATIONS = UVEA_TRANSFORM_ROTATIONS,
};

struct uvea_spectral_kernel {
    const char *name;
    bool (*supported)(const struct uvea_cpu *cpu);
    size_t tile_records; // records in a tile, a power of two up to 64
    size_t tile_bytes;   // of one tile, a multiple of 64
    size_t query_bytes;  // of one prepared query, a multiple of 64

    // Puts a record into a slot (0..tile_records-1) of a tile aligned to 64; other slots are left
    // alone. Unfilled slots must have been zeroed.
    void (*tile_put)(void *tile, size_t slot, const struct uvea_spectrum *record);
    // The query in the kernel's form, from uvea_spectrum_of_query. Aligned to 64.
    void (*query_put)(void *query, const struct uvea_spectrum *spectrum);
    // scores[(q * record_count + record) * 31 + rotation index], canonical; rotation index rho
    // + 15. queries: query_count (1..UVEA_SPECTRAL_QUERIES_MAX) prepared queries. tiles:
    // ceil(record_count / tile_records) pointers to tiles; record i is slot i mod tile_records of
    // tile i / tile_records.
    void (*scores)(const void *const *queries, size_t query_count, const void *const *tiles,
                   size_t record_count, uint16_t *scores);
};

extern const struct uvea_spectral_kernel uvea_spectral_kernel_portable;
#if defined(__x86_64__)
extern const struct uvea_spectral_kernel uvea_spectral_kernel_avx2;
extern const struct uvea_spectral_kernel uvea_spectral_kernel_avx512;
#elif defined(__aarch64__)
extern const struct uvea_spectral_kernel uvea_spectral_kernel_neon;
extern const struct uvea_spectral_kernel uvea_spectral_kernel_neon_i8mm;
#endif

// All kernels built for this machine, portable first, best last; NULL at the end.
extern const struct uvea_spectral_kernel *const uvea_spectral_kernels[];

// The best supported one, or the one of that name: NULL when it is unknown or not supported.
const struct uvea_spectral_kernel *uvea_spectral_kernel_best(const struct uvea_cpu *cpu);
const struct uvea_spectral_kernel *uvea_spectral_kernel_named(const char *name,
                                                              const struct uvea_cpu *cpu);

#endif
