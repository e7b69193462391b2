#include "core/kernel/ring_kernel.h"
#include "core/ring/galois.h"

#include <string.h>

enum { BLOCK = UVEA_GALOIS_DEGREE };
_Static_assert(UVEA_CHUNK_COEFFICIENTS == BLOCK * UVEA_IRIS_COLUMNS, "a chunk is one row");
_Static_assert(UVEA_PADDED_CHUNK == UVEA_CHUNK_COEFFICIENTS + 2 * UVEA_PAD_COEFFICIENTS,
               "a padded row");

// One row of a share into the middle of its padded row, then the two ends around it.
static void prepare_row(struct uvea_galois weight, const uint16_t *row, uint16_t *padded)
{
    uint16_t *middle = padded + UVEA_PAD_COEFFICIENTS;
    for (size_t at = 0; at < UVEA_CHUNK_COEFFICIENTS; at += BLOCK) {
        struct uvea_galois element;
        memcpy(element.c, row + at, sizeof(element.c));
        element = uvea_galois_dual(uvea_galois_mul(element, weight));
        memcpy(middle + at, element.c, sizeof(element.c));
    }
    const size_t pad_bytes = UVEA_PAD_COEFFICIENTS * sizeof(uint16_t);
    memcpy(padded, middle + UVEA_CHUNK_COEFFICIENTS - UVEA_PAD_COEFFICIENTS, pad_bytes);
    memcpy(middle + UVEA_CHUNK_COEFFICIENTS, middle, pad_bytes);
}

void uvea_ring_query_prepare(struct uvea_party party, const uint16_t *code, const uint16_t *mask,
                             struct uvea_ring_query *out)
{
    struct uvea_galois weight = uvea_galois_weight_three(party);
    for (size_t i = 0; i < UVEA_CODE_CHUNKS; i++) {
        prepare_row(weight, code + i * UVEA_CHUNK_COEFFICIENTS, out->code + i * UVEA_PADDED_CHUNK);
    }
    for (size_t i = 0; i < UVEA_MASK_CHUNKS; i++) {
        prepare_row(weight, mask + i * UVEA_CHUNK_COEFFICIENTS, out->mask + i * UVEA_PADDED_CHUNK);
    }
}
