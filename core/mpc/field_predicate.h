// The anonymous predicate in the field: from additive contributions to g = 2C - m mod p to opened
// bits [g >= 0], g read as a number of -32000..19200. Sources: ntt.md 4.1, 4.2. Opened bits:
// comparison j is bit j mod 64 of word j/64, padding zero (leakage entry L1).
#ifndef UVEA_CORE_MPC_FIELD_PREDICATE_H
#define UVEA_CORE_MPC_FIELD_PREDICATE_H

#include "core/mpc/session.h"

#include <stddef.h>
#include <stdint.h>

enum uvea_field_predicate_form {
    // 31 AND planes in 17 layers; right for every field representative: accepts exactly when the
    // canonical value of g + 32768 is at least 32768. 53.33 bits per comparison and party.
    UVEA_FIELD_PREDICATE_FULL,
    // 23 AND planes; right for valid scores (g + 32768 in 768..51968), unspecified for others.
    // 40 bits per comparison and party.
    UVEA_FIELD_PREDICATE_VALID_RANGE,
};

// contributions: count canonical field elements, this party's additive shares. opened:
// ceil(count / 64) words. count = 0 costs no message.
// PEER: a peer sent a residue that is not canonical, or a wrong count.
UVEA_MUST_USE enum uvea_error uvea_mpc_field_match(struct uvea_session *session,
                                                   enum uvea_field_predicate_form form,
                                                   const uint16_t *contributions, size_t count,
                                                   uint64_t *opened);

#endif
