// Opening the bits of a predicate: the only outputs of the scan that become public. The caller
// names the leakage entry of docs/threat-model.md that allows it.
#ifndef UVEA_CORE_MPC_OPEN_H
#define UVEA_CORE_MPC_OPEN_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

#include <stddef.h>
#include <stdint.h>

// not_match: one plane of count lanes, 1 where the threshold is missed. opened: match bits, padding
// zero, ceil(count / 64) words. count >= 1. One message of packed bits each way.
UVEA_MUST_USE enum uvea_error uvea_mpc_reveal_matches(struct uvea_session *session,
                                                      const struct uvea_planes *not_match,
                                                      size_t count, uint64_t *opened);

// The same where the reference opens whole words instead of bits (wire.md 6.10, variant L). What
// the padding lanes hold must not depend on a secret.
UVEA_MUST_USE enum uvea_error uvea_mpc_reveal_matches_in_words(struct uvea_session *session,
                                                               const struct uvea_planes *not_match,
                                                               size_t count, uint64_t *opened);

#endif
