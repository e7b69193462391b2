#include "core/scan/policy.h"

#include "core/base/mem.h"

#include <stdlib.h>

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

static bool any_match(const struct uvea_orientation_matches *matches)
{
    return matches->full.total > 0 || matches->supermatch;
}

// ---- decision

enum uvea_error uvea_policy_decide_uniqueness(const struct uvea_policy *policy, const uint32_t *luc,
                                              size_t luc_count, bool skip_persistence,
                                              const struct uvea_search_result *result,
                                              struct uvea_uniqueness_outcome *outcome)
{
    bool matched[UVEA_ORIENTATION_COUNT];

    *outcome = (struct uvea_uniqueness_outcome){.partial_results = policy->return_partial_results};
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        const enum uvea_error error =
            match_orientation(policy, luc, luc_count, result->eye[way], &outcome->matches[way]);
        if (error != UVEA_OK) {
            uvea_policy_outcome_deinit(outcome);
            return error;
        }
        matched[way] = any_match(&outcome->matches[way]);
    }
    outcome->mirror_attack = !matched[UVEA_ORIENTATION_NORMAL] && matched[UVEA_ORIENTATION_MIRROR];
    if (matched[UVEA_ORIENTATION_NORMAL] || matched[UVEA_ORIENTATION_MIRROR]) {
        outcome->decision = UVEA_DECISION_NO_MUTATION;
    } else if (skip_persistence) {
        outcome->decision = UVEA_DECISION_UNIQUE_INSERT_SKIPPED;
    } else {
        outcome->decision = UVEA_DECISION_UNIQUE_INSERT;
    }
    return UVEA_OK;
}

void uvea_policy_outcome_deinit(struct uvea_uniqueness_outcome *outcome)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        close_list(&outcome->matches[way].full);
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            close_list(&outcome->matches[way].partial[eye]);
        }
    }
    *outcome = (struct uvea_uniqueness_outcome){0};
}
