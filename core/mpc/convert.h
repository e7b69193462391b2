// Private conversion of deployed Galois-ring shares into degree-one Shamir shares over F_p, without
// opening a coordinate. Semi-honest, honest majority. Source: ntt.md 3.
//
// Assumed of the shared templates: code coordinates in {-1, 0, 1} and mask bits in {0, 1}. A code
// value v is taken as LSB(v) - 2 MSB(v) and a mask value as its LSB; anything else converts,
// undetected, to another value.
#ifndef UVEA_CORE_MPC_CONVERT_H
#define UVEA_CORE_MPC_CONVERT_H

#include "core/field/spectrum.h"
#include "core/mpc/session.h"

#include <stddef.h>
#include <stdint.h>

// One eye to convert: 12,800 code and 6,400 trimmed mask coefficients of this party's share, as
// deployed (share order, monomial basis).
struct uvea_convert_source {
    const uint16_t *code;
    const uint16_t *mask;
};

// (blocks) Converts count eyes in lockstep with the peers. out: count eyes; zeroed on failure.
// count = 0 costs no message.
UVEA_MUST_USE enum uvea_error uvea_mpc_convert_eyes(struct uvea_session *session,
                                                    const struct uvea_convert_source *sources,
                                                    size_t count, struct uvea_field_eye *out);

#endif
