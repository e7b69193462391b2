#include "core/mpc/open.h"

#include "core/base/plant.h"
#include "core/mpc/bits.h"
#include "core/mpc/round.h"
#include "core/mpc/temp.h"

// Opened signs are 1 where the threshold is missed: turns them into match bits.
static void to_matches(const struct uvea_session *session, uint64_t *opened, size_t count)
{
    size_t words = uvea_words_for(count);
    for (size_t i = 0; i < words; i++) {
        opened[i] = ~opened[i];
    }
    if (count % 64 != 0) {
        opened[words - 1] &= (UINT64_C(1) << count % 64) - 1;
    }
    if (uvea_plant_active(UVEA_PLANT_FLIP_OPENED_BIT) && session->party.index == 2) {
        opened[0] ^= 1;
    }
    if (uvea_plant_active(UVEA_PLANT_DROP_TAIL_LANE)) {
        opened[words - 1] &= ~(UINT64_C(1) << (count - 1) % 64);
    }
}

enum uvea_error uvea_mpc_reveal_matches(struct uvea_session *session,
                                        const struct uvea_planes *not_match, size_t count,
                                        uint64_t *opened)
{
    UVEA_TRY(uvea_mpc_reveal_bits(session, not_match, count, opened));
    to_matches(session, opened, count);
    return UVEA_OK;
}

enum uvea_error uvea_mpc_reveal_matches_in_words(struct uvea_session *session,
                                                 const struct uvea_planes *not_match, size_t count,
                                                 uint64_t *opened)
{
    struct uvea_share64 words = {not_match->a, not_match->b, not_match->words};
    uint64_t *third;
    UVEA_TRY(uvea_mpc_take_u64(session, words.count, &third));
    uvea_mpc_charge(session, words.count, 64);
    UVEA_TRY(uvea_mpc_send_u64(session, UVEA_PEER_NEXT, words.b, words.count));
    UVEA_TRY(uvea_mpc_recv_u64(session, UVEA_PEER_PREV, third, words.count));
    for (size_t i = 0; i < words.count; i++) {
        opened[i] = words.a[i] ^ words.b[i] ^ third[i];
    }
    to_matches(session, opened, count);
    return UVEA_OK;
}
