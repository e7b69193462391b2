// Synthetic templates from a seed alone, in integers, the same on every machine. Their statistics
// are those measured on published templates: best-of-31 distance between strangers 0.456-0.494;
// distance to oneself shifted by one column 0.24-0.33, by two 0.36-0.41, by six about one half;
// 80-96 % of the bits valid, real and imaginary bit alike, occlusion in the shape of two eyelids
// and a reflection. The drawing order is part of the format: a change of it changes every scenario.
#ifndef UVEA_SIM_GEN_TEMPLATE_H
#define UVEA_SIM_GEN_TEMPLATE_H

#include "core/base/error.h"
#include "core/iris/template.h"
#include "sim/runtime/random.h"

#include <stdbool.h>

void uvea_gen_template(struct uvea_sim_random *random, struct uvea_template *out);

// Left, then right; the two eyes of a person are as different as strangers.
void uvea_gen_pair(struct uvea_sim_random *random, struct uvea_template_pair *out);

// Makes every bit valid, or none.
void uvea_gen_fill_mask(struct uvea_template *iris, bool valid);

// Bits valid in both, 0..12,800, without rotation.
unsigned uvea_gen_common_bits(const struct uvea_template *a, const struct uvea_template *b);

// A copy with the same mask and exactly `differing` of its valid code bits inverted: its distance
// to `in` is exactly differing / uvea_gen_common_bits(in, in). out may alias in. LIMIT, and out is
// unchanged, when fewer bits are valid.
UVEA_MUST_USE enum uvea_error uvea_gen_flip(struct uvea_sim_random *random,
                                            const struct uvea_template *in, unsigned differing,
                                            struct uvea_template *out);

// Another capture of the same eye: eyelids drawn anew, exactly `differing` of the bits valid in
// both inverted. out may not alias in. LIMIT, and out is unchanged, when fewer bits are valid in
// both.
UVEA_MUST_USE enum uvea_error uvea_gen_noisy(struct uvea_sim_random *random,
                                             const struct uvea_template *in, unsigned differing,
                                             struct uvea_template *out);

#endif
