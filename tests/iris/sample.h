// Seeded templates and plain, slow arithmetic on them, for the tests of shares and kernels.
#ifndef UVEA_TESTS_IRIS_SAMPLE_H
#define UVEA_TESTS_IRIS_SAMPLE_H

#include "core/iris/share.h"
#include "core/iris/template.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sample_rng {
    uint64_t state;
};

uint64_t sample_next(struct sample_rng *rng);
// A uvea_draw_u16_fn; arg is a struct sample_rng.
uint16_t sample_draw(void *arg);

// Random code; about seven mask bits in eight are set, equal for real and imaginary bits.
void sample_template(struct sample_rng *rng, struct uvea_template *out);

// Row, column, wavelet, part (0 real, 1 imaginary).
unsigned sample_bit(const uint64_t *plane, size_t row, size_t column, size_t wavelet, size_t part);

// The dot products of service.md 2.2 at one rotation, straight from the definition: C over all
// bits, m over the real mask bits only (so that M = 2 m).
void sample_scores(const struct uvea_template *query, const struct uvea_template *record,
                   int rotation, int *code, int *mask);

// Differing and common valid bits by population count.
void sample_distance(const struct uvea_template *left, const struct uvea_template *right,
                     unsigned *different, unsigned *common);

// Reads lines of an NDJSON file of UVEA_TEST_DATA. False when the file is absent; fails the test
// when it cannot be read as `count` templates.
bool sample_load(const char *name, struct uvea_template *out, size_t count);

// Opens a file of UVEA_TEST_DATA, NULL when it is absent.
FILE *sample_open(const char *name);

#endif
