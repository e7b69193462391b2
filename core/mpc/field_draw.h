// Uniform field elements from a pairwise stream, and field elements from a peer.
#ifndef UVEA_CORE_MPC_FIELD_DRAW_H
#define UVEA_CORE_MPC_FIELD_DRAW_H

#include "core/mpc/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// count uniform elements of F_p: for each, next_u32 until the word is accepted, then the word mod
// p. Both holders of a stream draw and reject alike, so they stay in step. (Rejection depends on
// the stream alone, never on a share.)
void uvea_prg_fill_field(struct uvea_prg *prg, uint16_t *out, size_t count);

// Whether fill_field keeps this word: words below floor(2^32 / p) * p, so that every residue stands
// for equally many of them.
bool uvea_prg_field_accepts(uint32_t word);

// (blocks) Exactly count canonical elements, as a vector. PEER when one is not below p; how many is
// said, their values are not.
UVEA_MUST_USE enum uvea_error uvea_mpc_recv_field(struct uvea_session *session, enum uvea_peer peer,
                                                  uint16_t *out, size_t count);

#endif
