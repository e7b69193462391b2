#include "core/mpc/predicate.h"

#include "core/base/check.h"
#include "core/mpc/bits.h"
#include "core/mpc/open.h"
#include "core/mpc/ring.h"
#include "core/mpc/round.h"
#include "core/mpc/temp.h"
#include "core/mpc/threshold.h"

#include <string.h>

// ---- refresh

// share->a holds additive values: a zero share over them, then one vector each way.
static enum uvea_error refresh(struct uvea_session *session, struct uvea_share16 *share)
{
    uvea_mpc_mask_u16(session, share);
    uvea_mpc_charge(session, share->count, 16);
    UVEA_TRY(uvea_mpc_send_vec_u16(session, UVEA_PEER_NEXT, share->a, share->count));
    return uvea_mpc_recv_vec_u16(session, UVEA_PEER_PREV, share->b, share->count);
}

enum uvea_error uvea_mpc_refresh(struct uvea_session *session, const uint16_t *additive,
                                 size_t count, struct uvea_share16 *out)
{
    UVEA_TRY(uvea_share16_init(out, count));
    if (count == 0) {
        return UVEA_OK;
    }
    memcpy(out->a, additive, count * sizeof(*additive));
    enum uvea_error error = refresh(session, out);
    if (error != UVEA_OK) {
        uvea_share16_deinit(out);
    }
    return error;
}

// ---- predicates

// pairs (C, m) -> refreshed shares of (C, 2m)
static enum uvea_error refresh_pairs(struct uvea_session *session, const uint16_t *contributions,
                                     struct uvea_share16 *pairs)
{
    for (size_t i = 0; i < pairs->count; i += 2) {
        pairs->a[i] = contributions[i];
        pairs->a[i + 1] = (uint16_t)(2 * contributions[i + 1]);
    }
    return refresh(session, pairs);
}

static enum uvea_error dense_match(struct uvea_session *session, const uint16_t *contributions,
                                   size_t count, uint64_t *opened, struct uvea_share16 *pairs)
{
    struct uvea_planes not_match;
    UVEA_TRY(uvea_mpc_take_planes(session, 1, uvea_words_for(count), &not_match));
    UVEA_TRY(refresh_pairs(session, contributions, pairs));
    UVEA_TRY(uvea_mpc_anonymous_above(session, pairs, &not_match));
    return uvea_mpc_reveal_matches(session, &not_match, count, opened); // L1
}

static enum uvea_error dense_match_kept(struct uvea_session *session, const uint16_t *contributions,
                                        size_t count, uint64_t *opened,
                                        struct uvea_share16 *distances)
{
    struct uvea_share16 pairs;
    if (distances == NULL) {
        UVEA_TRY(uvea_mpc_take_share16(session, 2 * count, &pairs));
        return dense_match(session, contributions, count, opened, &pairs);
    }
    UVEA_TRY(uvea_share16_init(&pairs, 2 * count));
    enum uvea_error error = dense_match(session, contributions, count, opened, &pairs);
    if (error != UVEA_OK) {
        uvea_share16_deinit(&pairs);
    }
    *distances = pairs;
    return error;
}

static enum uvea_error two_term_match(struct uvea_session *session, const uint16_t *contributions,
                                      size_t count, uint64_t *opened)
{
    struct uvea_planes not_match;
    UVEA_TRY(uvea_mpc_take_planes(session, 1, uvea_words_for(count), &not_match));
    UVEA_TRY(uvea_mpc_two_term_above(session, contributions, count, &not_match));
    return uvea_mpc_reveal_matches_in_words(session, &not_match, count, opened); // L1
}

enum uvea_error uvea_mpc_anonymous_match(struct uvea_session *session,
                                         enum uvea_predicate_form form,
                                         const uint16_t *contributions, size_t count,
                                         uint64_t *opened, struct uvea_share16 *distances)
{
    if (distances != NULL) {
        *distances = (struct uvea_share16){0};
    }
    if (count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error = form == UVEA_PREDICATE_DENSE
                                ? dense_match_kept(session, contributions, count, opened, distances)
                                : two_term_match(session, contributions, count, opened);
    uvea_scratch_release(&session->scratch, mark);
    return error;
}

enum uvea_error uvea_mpc_strict_match(struct uvea_session *session,
                                      const struct uvea_share16 *codes,
                                      const struct uvea_share32 *masks, uint64_t *opened)
{
    UVEA_CHECK(codes->count == masks->count);
    size_t count = codes->count;
    if (count == 0) {
        return UVEA_OK;
    }
    struct uvea_scratch_mark mark = uvea_scratch_mark(&session->scratch);
    enum uvea_error error;
    struct uvea_planes not_match;
    UVEA_TRY_CLEANUP(uvea_mpc_take_planes(session, 1, uvea_words_for(count), &not_match));
    UVEA_TRY_CLEANUP(uvea_mpc_strict_above(session, codes, masks, &not_match));
    UVEA_TRY_CLEANUP(uvea_mpc_reveal_matches(session, &not_match, count, opened)); // L2
cleanup:
    uvea_scratch_release(&session->scratch, mark);
    return error;
}
