#include "core/scan/policy.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <stdlib.h>
#include <string.h>

static int compare_indices(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

static size_t sort_unique(uint32_t *indices, size_t count)
{
    size_t kept = 0;

    qsort(indices, count, sizeof(*indices), compare_indices);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || indices[kept - 1] != indices[i]) {
            indices[kept++] = indices[i];
        }
    }
    return kept;
}

// How many of the newest records the look-back takes: N + 1 of them, unless N is 0.
static size_t lookback_records(const struct uvea_policy *policy, size_t record_count)
{
    const uint64_t window = (uint64_t)policy->luc_lookback_records + 1;

    if (!policy->luc_enabled || policy->luc_lookback_records == 0) {
        return 0;
    }
    return window < record_count ? (size_t)window : record_count;
}

enum uvea_error uvea_policy_luc_set(const struct uvea_policy *policy,
                                    const uint32_t *or_rule_serials, size_t or_rule_count,
                                    size_t record_count, uint32_t **indices, size_t *count)
{
    const bool or_rule = policy->luc_enabled && policy->luc_serial_ids_from_request;
    const size_t named = or_rule ? or_rule_count : 0;
    const size_t window = lookback_records(policy, record_count);
    uint32_t *set = uvea_mem_alloc(named + window, sizeof(*set));
    size_t n = 0;

    if (set == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < named; i++) {
        if (or_rule_serials[i] >= 1 && or_rule_serials[i] <= record_count) {
            set[n++] = or_rule_serials[i] - 1;
        }
    }
    for (size_t i = record_count - window; i < record_count; i++) {
        set[n++] = (uint32_t)i;
    }
    *count = sort_unique(set, n);
    *indices = set;
    return UVEA_OK;
}

// ---- lists

static enum uvea_error open_list(struct uvea_match_list *list, size_t bound, bool with_rotations)
{
    const size_t capacity = bound < UVEA_POLICY_IDS_MAX ? bound : UVEA_POLICY_IDS_MAX;

    list->serials = uvea_mem_alloc(capacity, sizeof(*list->serials));
    list->strict = with_rotations ? uvea_mem_alloc(capacity, sizeof(*list->strict)) : NULL;
    if (list->serials == NULL || (with_rotations && list->strict == NULL)) {
        return UVEA_ERR_MEMORY;
    }
    return UVEA_OK;
}

static void close_list(struct uvea_match_list *list)
{
    uvea_mem_free(list->serials);
    uvea_mem_free(list->strict);
    *list = (struct uvea_match_list){0};
}

static void list_append(struct uvea_match_list *list, uint32_t index, uint32_t strict)
{
    if (list->count < UVEA_POLICY_IDS_MAX) {
        list->serials[list->count] = index + 1;
        if (list->strict != NULL) {
            list->strict[list->count] = strict;
        }
        list->count++;
    }
    list->total++;
}

static enum uvea_error partial_matches(const struct uvea_eye_result *eye,
                                       struct uvea_match_list *out)
{
    UVEA_TRY(open_list(out, eye->candidate_count, true));
    for (size_t i = 0; i < eye->candidate_count; i++) {
        if (eye->candidates[i].strict != 0) {
            list_append(out, eye->candidates[i].index, eye->candidates[i].strict);
        }
    }
    return UVEA_OK;
}

static bool contains(const uint32_t *sorted, size_t count, uint32_t index)
{
    return count > 0 && bsearch(&index, sorted, count, sizeof(index), compare_indices) != NULL;
}

// The next candidate with a strict match, at or after `at`; its index, or UINT32_MAX at the end.
static uint32_t next_strict(const struct uvea_eye_result *eye, size_t *at)
{
    while (*at < eye->candidate_count && eye->candidates[*at].strict == 0) {
        (*at)++;
    }
    return *at < eye->candidate_count ? eye->candidates[*at].index : UINT32_MAX;
}

// Both eyes, or one eye of a record in the LUC set.
static enum uvea_error full_matches(const struct uvea_eye_result eyes[UVEA_EYE_COUNT],
                                    const uint32_t *luc, size_t luc_count,
                                    struct uvea_match_list *out)
{
    const struct uvea_eye_result *left = &eyes[UVEA_EYE_LEFT];
    const struct uvea_eye_result *right = &eyes[UVEA_EYE_RIGHT];
    size_t l = 0;
    size_t r = 0;

    UVEA_TRY(open_list(out, left->candidate_count + right->candidate_count, false));
    for (;;) {
        const uint32_t at_left = next_strict(left, &l);
        const uint32_t at_right = next_strict(right, &r);
        const uint32_t index = at_left < at_right ? at_left : at_right;
        if (index == UINT32_MAX) {
            return UVEA_OK;
        }
        if (at_left == at_right || contains(luc, luc_count, index)) {
            list_append(out, index, 0);
        }
        l += at_left == index;
        r += at_right == index;
    }
}

static enum uvea_error match_orientation(const struct uvea_policy *policy, const uint32_t *luc,
                                         size_t luc_count,
                                         const struct uvea_eye_result eyes[UVEA_EYE_COUNT],
                                         struct uvea_orientation_matches *out)
{
    UVEA_TRY(full_matches(eyes, luc, luc_count, &out->full));
    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        UVEA_TRY(partial_matches(&eyes[eye], &out->partial[eye]));
        out->supermatch |=
            policy->return_partial_results && out->partial[eye].total > policy->supermatch_limit;
    }
    return UVEA_OK;
}

// ---- the comparison with earlier requests

static enum uvea_error copy_batch_matches(const struct uvea_search_result *result,
                                          struct uvea_outcome *outcome)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        const struct uvea_search_batch *from = &result->batch[way];
        if (from->count == 0) {
            continue;
        }
        outcome->batch_matches[way].at = uvea_mem_alloc(from->count, sizeof(*from->at));
        if (outcome->batch_matches[way].at == NULL) {
            return UVEA_ERR_MEMORY;
        }
        memcpy(outcome->batch_matches[way].at, from->at, from->count * sizeof(*from->at));
        outcome->batch_matches[way].count = from->count;
    }
    return UVEA_OK;
}

// ---- decision

// Search, LUC or supermatch.
static bool matches_record(const struct uvea_orientation_matches *matches)
{
    return matches->full.total > 0 || matches->supermatch;
}

static bool matches_blocking_request(const struct uvea_policy_job *job,
                                     const struct uvea_outcome *outcome, enum uvea_orientation way)
{
    for (size_t i = 0; i < outcome->batch_matches[way].count; i++) {
        const uint32_t at = outcome->batch_matches[way].at[i];
        UVEA_CHECK(at < job->earlier_count);
        if (job->earlier_blocks[at]) {
            return true;
        }
    }
    return false;
}

static void decide_uniqueness(const struct uvea_policy_job *job, struct uvea_outcome *outcome)
{
    bool found[UVEA_ORIENTATION_COUNT]; // any match, whatever became of the earlier request
    bool blocked = false;

    for (int i = 0; i < UVEA_ORIENTATION_COUNT; i++) {
        const enum uvea_orientation way = (enum uvea_orientation)i;
        const bool record = matches_record(&outcome->matches[way]);
        found[way] = record || outcome->batch_matches[way].count > 0;
        blocked = blocked || record || matches_blocking_request(job, outcome, way);
    }
    outcome->mirror_attack = !found[UVEA_ORIENTATION_NORMAL] && found[UVEA_ORIENTATION_MIRROR];
    if (blocked) {
        outcome->decision = UVEA_DECISION_NO_MUTATION;
    } else if (job->skip_persistence) {
        outcome->decision = UVEA_DECISION_UNIQUE_INSERT_SKIPPED;
    } else {
        outcome->decision = UVEA_DECISION_UNIQUE_INSERT;
    }
}

static bool matches_strictly(const struct uvea_eye_result *eye, uint32_t index)
{
    for (size_t i = 0; i < eye->candidate_count; i++) {
        if (eye->candidates[i].index == index) {
            return eye->candidates[i].strict != 0;
        }
    }
    return false;
}

static void decide_reauth(const struct uvea_policy_job *job,
                          const struct uvea_eye_result normal[UVEA_EYE_COUNT],
                          struct uvea_outcome *outcome)
{
    const bool left = matches_strictly(&normal[UVEA_EYE_LEFT], job->target);
    const bool right = matches_strictly(&normal[UVEA_EYE_RIGHT], job->target);

    outcome->success = job->use_or_rule ? left || right : left && right;
    outcome->decision = outcome->success ? UVEA_DECISION_REAUTH_UPDATE : UVEA_DECISION_NO_MUTATION;
}

static enum uvea_error match_all(const struct uvea_policy *policy,
                                 const struct uvea_policy_job *job,
                                 const struct uvea_search_result *result,
                                 struct uvea_outcome *outcome)
{
    const uint32_t *luc = NULL;
    size_t luc_count = 0;

    if (job->kind == UVEA_POLICY_UNIQUENESS) {
        luc = job->luc;
        luc_count = job->luc_count;
    } else if (job->kind == UVEA_POLICY_REAUTH && job->use_or_rule) {
        luc = &job->target;
        luc_count = 1;
    }
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        UVEA_TRY(
            match_orientation(policy, luc, luc_count, result->eye[way], &outcome->matches[way]));
    }
    return copy_batch_matches(result, outcome);
}

enum uvea_error uvea_policy_decide(const struct uvea_policy *policy,
                                   const struct uvea_policy_job *job,
                                   const struct uvea_search_result *result,
                                   struct uvea_outcome *outcome)
{
    enum uvea_error error;

    *outcome = (struct uvea_outcome){.partial_results = policy->return_partial_results};
    error = match_all(policy, job, result, outcome);
    if (error != UVEA_OK) {
        uvea_policy_outcome_deinit(outcome);
        return error;
    }
    switch (job->kind) {
    case UVEA_POLICY_UNIQUENESS:
        decide_uniqueness(job, outcome);
        break;
    case UVEA_POLICY_REAUTH:
        decide_reauth(job, result->eye[UVEA_ORIENTATION_NORMAL], outcome);
        break;
    case UVEA_POLICY_CHECK:
        break;
    }
    return UVEA_OK;
}

void uvea_policy_outcome_deinit(struct uvea_outcome *outcome)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        close_list(&outcome->matches[way].full);
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            close_list(&outcome->matches[way].partial[eye]);
        }
        uvea_mem_free(outcome->batch_matches[way].at);
    }
    *outcome = (struct uvea_outcome){0};
}
