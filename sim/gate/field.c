// Every value of the field, dealt out at random, through both forms of the predicate.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/gate/judge.h"

// The last is a large odd length; nothing is sent for a chunk of nothing.
static const size_t chunks[] = {1, 2, 3, 4093};

enum { SESSION_IDS = 3 }; // the holder's role turns with the session

struct values {
    int32_t *score; // owned
    size_t count;
};

// All of first..first+count-1 in random order, so that a value meets different neighbours.
static enum uvea_error shuffle(struct uvea_gate_run *run, int32_t first, size_t count,
                               struct values *values)
{
    *values = (struct values){uvea_mem_alloc(count, sizeof(*values->score)), count};
    if (values->score == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        size_t other = uvea_sim_random_below(&run->random, i + 1);
        values->score[i] = values->score[other];
        values->score[other] = first + (int32_t)i;
    }
    return UVEA_OK;
}

static int32_t score_of(void *arg, size_t i)
{
    const struct values *values = arg;
    return values->score[i];
}

static uint64_t calls_of(size_t count)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < UVEA_COUNT_OF(chunks); i++) {
        calls += count / chunks[i] + 1;
    }
    return calls;
}

struct tally {
    uint64_t done;
    uint64_t total; // calls of the predicate
};

static enum uvea_error judge_session(struct uvea_gate_run *run, struct uvea_gate_scores *scores,
                                     uint32_t session_id, struct tally *tally)
{
    struct uvea_gate_meter meters[UVEA_PARTY_COUNT];
    UVEA_TRY(uvea_gate_judge(run, scores, 0, 1, session_id, meters));
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (meters[party].messages != 0) {
            uvea_gate_wrong(run, "%s: party %u sent %llu messages about nothing",
                            uvea_gate_form_text(scores->form), party,
                            (unsigned long long)meters[party].messages);
        }
    }
    uvea_gate_count_cases(run, 1);
    for (size_t i = 0; i < UVEA_COUNT_OF(chunks); i++) {
        UVEA_TRY(uvea_gate_judge(run, scores, scores->count, chunks[i], session_id, NULL));
        tally->done += scores->count / chunks[i] + 1;
        uvea_gate_progress(run, tally->done, tally->total);
    }
    return UVEA_OK;
}

static enum uvea_error judge_form(struct uvea_gate_run *run, enum uvea_gate_form form,
                                  int32_t first, size_t count, struct tally *tally)
{
    struct values values = {NULL, 0};
    struct uvea_gate_scores scores = {.count = 0};
    enum uvea_error error;
    UVEA_TRY_CLEANUP(shuffle(run, first, count, &values));
    for (uint32_t session_id = 0; session_id < SESSION_IDS; session_id++) {
        uvea_gate_scores_deinit(&scores);
        UVEA_TRY_CLEANUP(uvea_gate_scores_init(run, &scores, form, count, score_of, &values));
        UVEA_TRY_CLEANUP(judge_session(run, &scores, session_id, tally));
    }
cleanup:
    uvea_gate_scores_deinit(&scores);
    uvea_mem_free(values.score);
    return error;
}

enum uvea_error uvea_gate_field(struct uvea_gate_run *run)
{
    const size_t valid = UVEA_GATE_SCORE_MAX - UVEA_GATE_SCORE_MIN + 1;
    struct tally tally = {.total = SESSION_IDS * (calls_of(UVEA_GATE_PRIME) + calls_of(valid))};
    UVEA_TRY(judge_form(run, UVEA_GATE_FIELD_FULL, 0, UVEA_GATE_PRIME, &tally));
    UVEA_TRY(judge_form(run, UVEA_GATE_FIELD_RANGE, UVEA_GATE_SCORE_MIN, valid, &tally));
    uvea_gate_covered(run,
                      "all %d representatives in the full form and all %zu valid scores in the "
                      "valid-range form, dealt out at random among three parties, in chunks of 0, "
                      "1, 2, 3 and 4093, on sessions 0, 1 and 2",
                      UVEA_GATE_PRIME, valid);
    return UVEA_OK;
}
