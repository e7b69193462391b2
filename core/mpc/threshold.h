// The thresholds as replicated bits, before anything is opened. predicate.h has the forms that the
// scan uses. Source: wire.md 6.10; service.md 2.3.
#ifndef UVEA_CORE_MPC_THRESHOLD_H
#define UVEA_CORE_MPC_THRESHOLD_H

#include "core/mpc/session.h"
#include "core/mpc/share.h"

// Each fills `not_match`, one plane of ceil(count / 64) words of the caller: 1 = above the
// threshold. Equality counts as a match. No comparisons, no message.

// MSB(65536 C - A M) on lifted shares, two-way: A = trunc((1 - 2t) 65536), |C|, |M| <= 12,800.
UVEA_MUST_USE enum uvea_error uvea_mpc_fhd_greater(struct uvea_session *session,
                                                   const struct uvea_share32 *codes,
                                                   const struct uvea_share32 *masks, uint32_t a,
                                                   struct uvea_planes *not_match);

// The same from codes that were not lifted and masks that were, three-way, A = 20316: 31 messages,
// 61 AND planes.
UVEA_MUST_USE enum uvea_error uvea_mpc_strict_above(struct uvea_session *session,
                                                    const struct uvea_share16 *codes,
                                                    const struct uvea_share32 *masks,
                                                    struct uvea_planes *not_match);

// Sign of 4C - M for interleaved pairs (C, M) of u16, any values: bit 17 in an 18-bit ring; 17
// messages, 66 AND planes.
UVEA_MUST_USE enum uvea_error uvea_mpc_anonymous_above(struct uvea_session *session,
                                                       const struct uvea_share16 *pairs,
                                                       struct uvea_planes *not_match);

// Sign of 2C - m from additive contributions (C, m) as in predicate.h, -2^15 <= 2C - m < 2^15: 16
// messages, 15 AND planes. A third party of the session holds nothing of one of the two terms, so
// nothing is refreshed.
UVEA_MUST_USE enum uvea_error uvea_mpc_two_term_above(struct uvea_session *session,
                                                      const uint16_t *contributions, size_t count,
                                                      struct uvea_planes *not_match);

#endif
