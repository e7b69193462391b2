// Ring score kernels: this party's additive contribution to the dot products of one query eye
// against many records, all 31 rotations. One const table per implementation; the party's runtime
// picks one. All arithmetic is mod 2^16. Sources: wire.md 6.14, 7 (padded-row form);
// service.md 2.2.
#ifndef UVEA_CORE_KERNEL_RING_KERNEL_H
#define UVEA_CORE_KERNEL_RING_KERNEL_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/iris/share.h"
#include "core/kernel/cpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_CHUNK_COEFFICIENTS = 800,                        // one row of a share: 200 columns x 4
    UVEA_CODE_CHUNKS = UVEA_SHARE_COEFFICIENTS / 800,     // 16
    UVEA_MASK_CHUNKS = UVEA_MASK_COEFFICIENTS / 800,      // 8
    UVEA_PAD_COEFFICIENTS = 4 * UVEA_ROTATION_MAX,        // 60 on each side
    UVEA_PADDED_CHUNK = UVEA_CHUNK_COEFFICIENTS + 2 * 60, // 920
    UVEA_SCORES_PER_RECORD = 2 * UVEA_ROTATION_COUNT,     // (C, m) per rotation
};

// A query eye ready for scoring: each block multiplied by the party's degree-2 weight and the dual
// basis, each 800-row extended cyclically by 60 on both sides, so that a rotation is an offset.
// Secret.
struct uvea_ring_query {
    uint16_t code[UVEA_CODE_CHUNKS * UVEA_PADDED_CHUNK];
    uint16_t mask[UVEA_MASK_CHUNKS * UVEA_PADDED_CHUNK];
};

// Code share of 12,800 and trimmed mask share of 6,400 coefficients, in share order.
void uvea_ring_query_prepare(struct uvea_party party, const uint16_t *code, const uint16_t *mask,
                             struct uvea_ring_query *out);

// A record eye as it is resident: 12,800 code then 6,400 mask coefficients, contiguous.
enum { UVEA_RECORD_COEFFICIENTS = UVEA_SHARE_COEFFICIENTS + UVEA_MASK_COEFFICIENTS };

struct uvea_ring_kernel {
    const char *name;
    bool (*supported)(const struct uvea_cpu *cpu);
    // scores[(record * 31 + rotation) * 2 + {0: C, 1: m}], rotation index 0 = query rotated left by
    // 15, 15 = none, 30 = right by 15; m is the half mask dot (not doubled). records: pointers to
    // `count` record eyes of UVEA_RECORD_COEFFICIENTS each.
    void (*scores)(const struct uvea_ring_query *query, const uint16_t *const *records,
                   size_t count, uint16_t *scores);
};

extern const struct uvea_ring_kernel uvea_ring_kernel_portable;
#if defined(__x86_64__)
extern const struct uvea_ring_kernel uvea_ring_kernel_avx2;
extern const struct uvea_ring_kernel uvea_ring_kernel_avx512;
#elif defined(__aarch64__)
extern const struct uvea_ring_kernel uvea_ring_kernel_neon;
#endif

// All kernels built for this machine, portable first, best last; NULL at the end.
extern const struct uvea_ring_kernel *const uvea_ring_kernels[];

// The best supported one, or the one of that name: NULL when it is unknown or not supported.
const struct uvea_ring_kernel *uvea_ring_kernel_best(const struct uvea_cpu *cpu);
const struct uvea_ring_kernel *uvea_ring_kernel_named(const char *name, const struct uvea_cpu *cpu);

#endif
