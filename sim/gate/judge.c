#include "sim/gate/judge.h"

#include "core/base/mem.h"
#include "core/mpc/field_predicate.h"
#include "core/mpc/predicate.h"

#include <string.h>

const char *uvea_gate_form_text(enum uvea_gate_form form)
{
    static const char *const texts[] = {
        [UVEA_GATE_FIELD_FULL] = "field full",
        [UVEA_GATE_FIELD_RANGE] = "field valid-range",
        [UVEA_GATE_RING_DENSE] = "ring dense",
        [UVEA_GATE_RING_TWO_TERM] = "ring two-term",
    };
    return texts[form];
}

static bool is_field(enum uvea_gate_form form)
{
    return form == UVEA_GATE_FIELD_FULL || form == UVEA_GATE_FIELD_RANGE;
}

// ---- dealing

static void deal_field(struct uvea_gate_run *run, struct uvea_gate_scores *scores, size_t i,
                       int32_t score)
{
    uint16_t first = uvea_gate_draw_residue(run);
    uint16_t second = uvea_gate_draw_residue(run);
    scores->contributions[0][i] = first;
    scores->contributions[1][i] = second;
    scores->contributions[2][i] = (uint16_t)uvea_gate_mod((int64_t)score - first - second);
    scores->right[i] = uvea_gate_mod((int64_t)score + 32768) >= 32768;
}

static void deal_word(struct uvea_gate_run *run, struct uvea_gate_scores *scores, size_t at,
                      uint16_t value)
{
    uint64_t random = uvea_sim_random_next_u64(&run->random);
    scores->contributions[0][at] = (uint16_t)random;
    scores->contributions[1][at] = (uint16_t)(random >> 16);
    scores->contributions[2][at] =
        (uint16_t)(value - scores->contributions[0][at] - scores->contributions[1][at]);
}

// A pair (C, m) with 2C - m = g: m has g's parity.
static void deal_ring(struct uvea_gate_run *run, struct uvea_gate_scores *scores, size_t i,
                      int32_t score)
{
    int32_t mask = (score & 1) + 2 * (int32_t)uvea_sim_random_below(&run->random, 3200);
    deal_word(run, scores, 2 * i, (uint16_t)((score + mask) / 2));
    deal_word(run, scores, 2 * i + 1, (uint16_t)mask);
    scores->right[i] = score >= 0;
}

static enum uvea_error take_memory(struct uvea_gate_scores *scores)
{
    size_t width = is_field(scores->form) ? 1 : 2;
    scores->right = uvea_mem_alloc(scores->count, sizeof(*scores->right));
    if (scores->right == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        scores->contributions[party] =
            uvea_mem_alloc(width * scores->count, sizeof(*scores->contributions[party]));
        scores->opened[party] = uvea_mem_alloc(scores->count, sizeof(*scores->opened[party]));
        if (scores->contributions[party] == NULL || scores->opened[party] == NULL) {
            return UVEA_ERR_MEMORY;
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_gate_scores_init(struct uvea_gate_run *run, struct uvea_gate_scores *scores,
                                      enum uvea_gate_form form, size_t count,
                                      uvea_gate_score_fn *score_of, void *arg)
{
    *scores = (struct uvea_gate_scores){.form = form, .count = count};
    enum uvea_error error = take_memory(scores);
    if (error != UVEA_OK) {
        uvea_gate_scores_deinit(scores);
        return error;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_field(form)) {
            deal_field(run, scores, i, score_of(arg, i));
        } else {
            deal_ring(run, scores, i, score_of(arg, i));
        }
    }
    return UVEA_OK;
}

void uvea_gate_scores_deinit(struct uvea_gate_scores *scores)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_mem_free(scores->contributions[party]);
        uvea_mem_free(scores->opened[party]);
    }
    uvea_mem_free(scores->right);
    *scores = (struct uvea_gate_scores){.count = 0};
}

// ---- judging

struct work {
    struct uvea_gate_scores *scores;
    size_t count;
    size_t chunk;
};

static enum uvea_error match(struct uvea_session *session, const struct uvea_gate_scores *scores,
                             size_t first, size_t count, uint64_t *opened)
{
    const uint16_t *from = scores->contributions[session->party.index];
    switch (scores->form) {
    case UVEA_GATE_FIELD_FULL:
        return uvea_mpc_field_match(session, UVEA_FIELD_PREDICATE_FULL, from + first, count,
                                    opened);
    case UVEA_GATE_FIELD_RANGE:
        return uvea_mpc_field_match(session, UVEA_FIELD_PREDICATE_VALID_RANGE, from + first, count,
                                    opened);
    case UVEA_GATE_RING_DENSE:
        return uvea_mpc_anonymous_match(session, UVEA_PREDICATE_DENSE, from + 2 * first, count,
                                        opened, NULL);
    default:
        return uvea_mpc_anonymous_match(session, UVEA_PREDICATE_TWO_TERM, from + 2 * first, count,
                                        opened, NULL);
    }
}

static enum uvea_error judge_party(struct uvea_session *session, void *arg)
{
    const struct work *work = arg;
    uint64_t *opened = work->scores->opened[session->party.index];
    size_t first = 0;
    do {
        size_t left = work->count - first;
        size_t count = left < work->chunk ? left : work->chunk;
        UVEA_TRY(match(session, work->scores, first, count, opened));
        opened += uvea_words_for(count);
        first += count;
    } while (first < work->count);
    return UVEA_OK;
}

static size_t words_in(size_t count, size_t chunk)
{
    return count == 0 ? 0 : count / chunk * uvea_words_for(chunk) + uvea_words_for(count % chunk);
}

// The word that holds what follows `first` in its chunk, padding zero.
static uint64_t right_word(const bool *right, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count && i < 64; i++) {
        word |= (uint64_t)right[i] << i;
    }
    return word;
}

static void compare(struct uvea_gate_run *run, const struct work *work, unsigned party,
                    uint32_t session_id)
{
    const struct uvea_gate_scores *scores = work->scores;
    const uint64_t *opened = scores->opened[party];
    for (size_t first = 0; first < work->count; first += work->chunk) {
        size_t left = work->count - first;
        size_t count = left < work->chunk ? left : work->chunk;
        for (size_t at = 0; at < count; at += 64) {
            uint64_t want = right_word(scores->right + first + at, count - at);
            if (*opened != want) {
                uvea_gate_wrong(run,
                                "%s, session %u, chunk of %zu: party %u opened %016llx for "
                                "comparisons %zu to %zu instead of %016llx",
                                uvea_gate_form_text(scores->form), session_id, count, party,
                                (unsigned long long)*opened, first + at,
                                first + at + (count - at < 64 ? count - at : 64) - 1,
                                (unsigned long long)want);
            }
            opened++;
        }
    }
}

enum uvea_error uvea_gate_judge(struct uvea_gate_run *run, struct uvea_gate_scores *scores,
                                size_t count, size_t chunk, uint32_t session_id,
                                struct uvea_gate_meter *meters)
{
    struct work work = {scores, count, chunk};
    const struct uvea_gate_trio trio = {
        .seed = uvea_sim_random_next_u64(&run->random),
        .session_id = session_id,
        .fn = judge_party,
        .arg = &work,
    };
    // What a party leaves unwritten must not look right.
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        memset(scores->opened[party], 0xa5, words_in(count, chunk) * sizeof(uint64_t));
    }
    UVEA_TRY(uvea_gate_trio_run(&trio, meters, &run->error));
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        compare(run, &work, party, session_id);
    }
    uvea_gate_count_cases(run, count);
    return UVEA_OK;
}
