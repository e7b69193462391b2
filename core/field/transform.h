// The 200-point transform over F_p: X[k] = sum_t x[t] omega^(kt), omega = UVEA_FIELD_ROOT, and what
// the scan needs of its inverse. Twiddles are generated at build time by a program in this folder
// and checked against p and omega. Source: ntt.md 2.
#ifndef UVEA_CORE_FIELD_TRANSFORM_H
#define UVEA_CORE_FIELD_TRANSFORM_H

#include "core/field/field.h"

#include <stdint.h>

enum {
    UVEA_TRANSFORM_POINTS = 200,
    UVEA_TRANSFORM_ROTATIONS = 31, // -15..15, stored at index rho + 15
};

// Mixed radix 2, 2, 2, 5, 5. Canonical in and out; out may not alias in.
void uvea_transform_forward(const uint16_t in[UVEA_TRANSFORM_POINTS],
                            uint16_t out[UVEA_TRANSFORM_POINTS]);
// The full inverse, with the factor 1/200.
void uvea_transform_inverse(const uint16_t in[UVEA_TRANSFORM_POINTS],
                            uint16_t out[UVEA_TRANSFORM_POINTS]);

// The paired selected inverse, without the factor 1/200 (the query carries it):
// out[rho + 15] = sum_k in[k] omega^(-k rho) for rho = -15..15. 2,970 multiplications.
void uvea_transform_selected_inverse(const uint16_t in[UVEA_TRANSFORM_POINTS],
                                     uint16_t out[UVEA_TRANSFORM_ROTATIONS]);

// The tables of the paired form, for kernels that do it themselves, index r - 1 (r = 1..15), k - 1
// (k = 1..99): cosine (w^-rk + w^rk)/2 and sine (w^-rk - w^rk)/2, centred.
extern const int16_t uvea_transform_cosine[15][99];
extern const int16_t uvea_transform_sine[15][99];

#endif
