#include "core/mpc/field_draw.h"

#include "core/field/field.h"
#include "core/mpc/round.h"

// floor(2^32 / p) * p
static const uint32_t accepted_below = UINT32_MAX / UVEA_FIELD_PRIME * UVEA_FIELD_PRIME;
_Static_assert(UINT32_MAX % UVEA_FIELD_PRIME != UVEA_FIELD_PRIME - 1, "p does not divide 2^32");

bool uvea_prg_field_accepts(uint32_t word)
{
    return word < accepted_below;
}

void uvea_prg_fill_field(struct uvea_prg *prg, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        do {
            word = uvea_prg_next_u32(prg);
        } while (!uvea_prg_field_accepts(word));
        out[i] = uvea_field_reduce_u32(word);
    }
}

enum uvea_error uvea_mpc_recv_field(struct uvea_session *session, enum uvea_peer peer,
                                    uint16_t *out, size_t count)
{
    UVEA_TRY(uvea_mpc_recv_vec_u16(session, peer, out, count));
    size_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        bad += !uvea_field_is_canonical(out[i]);
    }
    if (bad > 0) {
        return uvea_error_set(&session->error, UVEA_ERR_PEER,
                              "%zu of %zu field elements from the peer are not below %d", bad,
                              count, UVEA_FIELD_PRIME);
    }
    return UVEA_OK;
}
