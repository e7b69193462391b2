// One query and one record in three parts, scored by the portable kernel.
#ifndef UVEA_TESTS_KERNEL_RING_SAMPLE_H
#define UVEA_TESTS_KERNEL_RING_SAMPLE_H

#include "core/kernel/ring_kernel.h"
#include "tests/iris/sample.h"

// A share as it is resident: out has room for UVEA_RECORD_COEFFICIENTS.
void ring_sample_record(const struct uvea_iris_share *share, uint16_t *out);

// Sizes of a prepared query.
enum {
    RING_SAMPLE_CODE = UVEA_CODE_CHUNKS * UVEA_PADDED_CHUNK,
    RING_SAMPLE_MASK = UVEA_MASK_CHUNKS * UVEA_PADDED_CHUNK,
};

// Where the two scores of a rotation are (-15..15).
static inline size_t ring_sample_code_at(int rotation)
{
    return 2 * ((size_t)rotation + UVEA_ROTATION_MAX);
}
static inline size_t ring_sample_mask_at(int rotation)
{
    return ring_sample_code_at(rotation) + 1;
}

// Fills with random values.
void ring_sample_fill(struct sample_rng *rng, uint16_t *out, size_t count);

// Sums of the three parties' scores: [2 * rotation] = C, [2 * rotation + 1] = m, mod 2^16.
void ring_sample_sums(const struct uvea_template *query, const struct uvea_template *record,
                      uint16_t sums[UVEA_SCORES_PER_RECORD]);

#endif
