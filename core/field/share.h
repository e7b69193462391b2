// Degree-one Shamir shares over F_p: parties 0, 1, 2 hold the values at the points 1, 2, 3 of a
// line whose value at zero is the secret. All weights are public constants. Source: ntt.md 3; the
// weights are proved in proofs/.
#ifndef UVEA_CORE_FIELD_SHARE_H
#define UVEA_CORE_FIELD_SHARE_H

#include "core/base/party.h"
#include "core/field/field.h"

#include <stdint.h>

// Lagrange weight at zero of `mine` when all three points are used, for products of two shares
// (degree two): 3, -3, 1.
uint16_t uvea_field_weight_three(struct uvea_party mine);
// The same when the points of mine and other are used (degree one); other != mine.
uint16_t uvea_field_weight_two(struct uvea_party mine, struct uvea_party other);

// A component of a replicated share becomes a line by itself: its value at zero is the component,
// and it vanishes at the point of the party that lacks it. This is what to multiply the component
// with to get the value at the point of `mine`; 0 for the lacking party itself.
uint16_t uvea_field_weight_component(struct uvea_party mine, struct uvea_party lacking);

#endif
