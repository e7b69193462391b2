#include "core/mpc/field_draw.h"

#include "core/base/mem.h"
#include "core/field/field.h"
#include "core/mpc/round.h"

// floor(2^32 / p) * p
static const uint32_t accepted_below = UINT32_MAX / UVEA_FIELD_PRIME * UVEA_FIELD_PRIME;
_Static_assert(UINT32_MAX % UVEA_FIELD_PRIME != UVEA_FIELD_PRIME - 1, "p does not divide 2^32");

bool uvea_prg_field_accepts(uint32_t word)
{
    return word < accepted_below;
}

static bool accepts_all(const uint32_t *words, size_t count)
{
    uint32_t refused = 0;
    for (size_t i = 0; i < count; i++) {
        refused |= !uvea_prg_field_accepts(words[i]);
    }
    return refused == 0;
}

// Closes the gaps that refused words leave. Gives how many are left.
static size_t keep_accepted(uint32_t *words, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        words[kept] = words[i];
        kept += uvea_prg_field_accepts(words[i]);
    }
    return kept;
}

void uvea_prg_fill_field(struct uvea_prg *prg, uint16_t *out, size_t count)
{
    enum { WORDS = 512 };
    uint32_t words[WORDS];
    size_t done = 0;
    while (done < count) {
        size_t left = count - done;
        size_t part = left < WORDS ? left : WORDS;
        uvea_prg_next_u32s(prg, words, part);
        if (!accepts_all(words, part)) {
            part = keep_accepted(words, part);
        }
        for (size_t i = 0; i < part; i++) {
            out[done + i] = uvea_field_reduce_u32(words[i]);
        }
        done += part;
    }
    uvea_mem_wipe(words, sizeof(words));
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
