// The Galois ring Z_2^16[x]/(x^4 - x - 1): four u16 coefficients, and Shamir sharing of degree 1
// over it. Source: wire.md 7, service.md 5.5 (matrices and weights are checked in tests by their
// properties).
#ifndef UVEA_CORE_RING_GALOIS_H
#define UVEA_CORE_RING_GALOIS_H

#include "core/base/party.h"

#include <stdint.h>

enum { UVEA_GALOIS_DEGREE = 4 };

struct uvea_galois {
    uint16_t c[UVEA_GALOIS_DEGREE]; // coefficients of x^0..x^3
};

struct uvea_galois uvea_galois_add(struct uvea_galois left, struct uvea_galois right);
struct uvea_galois uvea_galois_sub(struct uvea_galois left, struct uvea_galois right);
struct uvea_galois uvea_galois_mul(struct uvea_galois left, struct uvea_galois right);
// Inverse of a unit (some coefficient is odd): the power 15 * 2^15 - 1.
struct uvea_galois uvea_galois_inverse(struct uvea_galois unit);
// Element k of the exceptional sequence: bit j of k is coefficient j.
struct uvea_galois uvea_galois_exceptional(unsigned k);

// Four ring values in the A basis -> monomial coefficients (matrix S), and back.
struct uvea_galois uvea_galois_from_block(const uint16_t block[UVEA_GALOIS_DEGREE]);
void uvea_galois_to_block(struct uvea_galois value, uint16_t block[UVEA_GALOIS_DEGREE]);
// Monomial -> B basis (matrix T): for A-vectors u, v with monomials U, V, u.v = (T U).V.
struct uvea_galois uvea_galois_dual(struct uvea_galois value);

// Shamir, degree 1, points 1, x, 1 + x for parties 0, 1, 2: secret + mask * point.
struct uvea_galois uvea_galois_share(struct uvea_party party, struct uvea_galois secret,
                                     struct uvea_galois mask);
// Lagrange weight at zero of `mine` when all three points are used (degree 2).
struct uvea_galois uvea_galois_weight_three(struct uvea_party mine);
// Lagrange weight at zero of `mine` when the two points of mine and other are used (degree 1).
struct uvea_galois uvea_galois_weight_two(struct uvea_party mine, struct uvea_party other);

#endif
