// Seeded field elements and plain arithmetic with %, for the tests of the field.
#ifndef UVEA_TESTS_FIELD_FIELD_SAMPLE_H
#define UVEA_TESTS_FIELD_FIELD_SAMPLE_H

#include "core/base/chacha.h"
#include "core/field/spectrum.h"

#include <stddef.h>
#include <stdint.h>

// Below bound, nearly uniform.
uint16_t field_sample_below(struct uvea_chacha *rng, uint32_t bound);
void field_sample_fill(struct uvea_chacha *rng, uint16_t *out, size_t count);
// Only 0, 1, p - 1 and the two values around p / 2: where sums and centring are at their ends.
void field_sample_fill_extreme(struct uvea_chacha *rng, uint16_t *out, size_t count);

// omega^exponent for any exponent, by repeated multiplication with %.
uint32_t field_sample_root(int exponent);

// A valid eye in the clear: masks 0 or 1, codes 0 where the mask is 0 and else -1 or 1 (as field
// elements). The two halves of a code have the same mask.
void field_sample_eye(struct uvea_chacha *rng, struct uvea_field_eye *out);

// Shamir shares of every value, at the points 1, 2, 3.
void field_sample_split(struct uvea_chacha *rng, const struct uvea_field_eye *eye,
                        struct uvea_field_eye out[UVEA_PARTY_COUNT]);

// g_rho = 2 C - m of the definition, as a number; eyes in the clear.
int32_t field_sample_score(const struct uvea_field_eye *query, const struct uvea_field_eye *record,
                           int rotation);

// Allocates or fails the test.
void *field_sample_alloc(size_t count, size_t size);

#endif
