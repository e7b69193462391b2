#include "oracle/search.h"

#include "core/base/mem.h"

#include <string.h>

void uvea_oracle_search_deinit(struct uvea_oracle_search *search)
{
    uvea_mem_free(search->records);
    uvea_mem_free(search->passes);
    *search = (struct uvea_oracle_search){0};
}

void uvea_oracle_search_prepare(const struct uvea_oracle_pair *pair,
                                enum uvea_oracle_orientation orientation,
                                struct uvea_oracle_search_input *input)
{
    if (orientation == UVEA_ORACLE_NORMAL) {
        uvea_oracle_query_prepare(&pair->eye[UVEA_ORACLE_LEFT], &input->query[UVEA_ORACLE_LEFT]);
        uvea_oracle_query_prepare(&pair->eye[UVEA_ORACLE_RIGHT], &input->query[UVEA_ORACLE_RIGHT]);
        return;
    }
    struct uvea_oracle_template mirrored;
    uvea_oracle_mirror(&pair->eye[UVEA_ORACLE_RIGHT], &mirrored);
    uvea_oracle_query_prepare(&mirrored, &input->query[UVEA_ORACLE_LEFT]);
    uvea_oracle_mirror(&pair->eye[UVEA_ORACLE_LEFT], &mirrored);
    uvea_oracle_query_prepare(&mirrored, &input->query[UVEA_ORACLE_RIGHT]);
}

void uvea_oracle_search_lookback(const struct uvea_oracle_config *config, uint32_t record_count,
                                 bool *luc)
{
    if (!config->luc_enabled || config->luc_lookback_records == 0) {
        return;
    }
    uint64_t window = (uint64_t)config->luc_lookback_records + 1;
    for (uint32_t i = 0; i < record_count; i++) {
        if (record_count - i <= window) {
            luc[i] = true;
        }
    }
}

void uvea_oracle_search_name(const uint32_t *serials, size_t count, uint32_t record_count,
                             bool *luc)
{
    for (size_t i = 0; i < count; i++) {
        if (serials[i] >= 1 && serials[i] <= record_count) {
            luc[serials[i] - 1] = true;
        }
    }
}

static enum uvea_error pass_add(struct uvea_oracle_search *search,
                                const struct uvea_oracle_pass *pass)
{
    if (search->pass_count == search->pass_capacity) {
        size_t capacity = search->pass_capacity == 0 ? 64 : 2 * search->pass_capacity;
        struct uvea_oracle_pass *passes = uvea_mem_alloc(capacity, sizeof(*passes));
        if (passes == NULL) {
            return UVEA_ERR_MEMORY;
        }
        if (search->pass_count > 0) {
            memcpy(passes, search->passes, search->pass_count * sizeof(*passes));
        }
        uvea_mem_free(search->passes);
        search->passes = passes;
        search->pass_capacity = capacity;
    }
    search->passes[search->pass_count++] = *pass;
    return UVEA_OK;
}

// All rotations of one record on one eye.
static enum uvea_error evaluate(const struct uvea_oracle_search_input *in, uint32_t serial,
                                enum uvea_oracle_eye eye, struct uvea_oracle_search *search,
                                struct uvea_error_context *context)
{
    const struct uvea_oracle_template *stored = &in->records[serial - 1]->eye[eye];
    struct uvea_oracle_record *record = &search->records[serial - 1];
    for (int i = 0; i < UVEA_ORACLE_ROTATIONS; i++) {
        struct uvea_oracle_counts counts;
        struct uvea_oracle_verdict verdict;
        uvea_oracle_count(&in->query[eye].at[i], stored, &counts);
        UVEA_TRY(uvea_oracle_judge(&counts, &verdict, context));
        if (verdict.strict) {
            record->strict[eye] |= UINT32_C(1) << i;
        }
        if (verdict.anonymous) {
            record->anonymous[eye] |= UINT32_C(1) << i;
            const struct uvea_oracle_pass pass = {
                .serial = serial,
                .eye = eye,
                .rotation = i - UVEA_ORACLE_ROTATION_MAX,
                .code_dot = counts.code_dot,
                .mask_dot = counts.mask_dot,
            };
            UVEA_TRY(pass_add(search, &pass));
        }
    }
    return UVEA_OK;
}

// P from the whole database, then D = P and the known candidates, on the other eye.
static enum uvea_error cascade(const struct uvea_oracle_search_input *in,
                               struct uvea_oracle_search *search,
                               struct uvea_error_context *context)
{
    enum uvea_oracle_eye first = in->config->full_scan_eye;
    enum uvea_oracle_eye other = first == UVEA_ORACLE_LEFT ? UVEA_ORACLE_RIGHT : UVEA_ORACLE_LEFT;
    for (uint32_t serial = 1; serial <= search->record_count; serial++) {
        UVEA_TRY(evaluate(in, serial, first, search, context));
        struct uvea_oracle_record *record = &search->records[serial - 1];
        record->luc = in->luc[serial - 1];
        record->prefiltered = record->anonymous[first] != 0;
        record->second = record->prefiltered || record->luc || serial == in->target;
    }
    for (uint32_t serial = 1; serial <= search->record_count; serial++) {
        if (search->records[serial - 1].second) {
            UVEA_TRY(evaluate(in, serial, other, search, context));
        }
    }
    return UVEA_OK;
}

// Both eyes for a search match, either eye for one of the LUC set.
static void conclude(const struct uvea_oracle_config *config, struct uvea_oracle_search *search)
{
    for (uint32_t i = 0; i < search->record_count; i++) {
        struct uvea_oracle_record *record = &search->records[i];
        bool left = record->strict[UVEA_ORACLE_LEFT] != 0;
        bool right = record->strict[UVEA_ORACLE_RIGHT] != 0;
        record->matched = (left && right) || (record->luc && (left || right));
        search->match_count += record->matched;
        search->partial_count[UVEA_ORACLE_LEFT] += left;
        search->partial_count[UVEA_ORACLE_RIGHT] += right;
    }
    for (unsigned eye = 0; eye < UVEA_ORACLE_EYES; eye++) {
        search->saturated[eye] =
            config->return_partial_results && search->partial_count[eye] > config->supermatch_limit;
    }
}

enum uvea_error uvea_oracle_search_run(const struct uvea_oracle_search_input *in,
                                       struct uvea_oracle_search *out,
                                       struct uvea_error_context *context)
{
    enum uvea_error error;
    struct uvea_oracle_search search = {.run = true, .record_count = in->record_count};
    search.records = uvea_mem_alloc(search.record_count, sizeof(*search.records));
    if (search.records == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(cascade(in, &search, context));
    conclude(in->config, &search);
    *out = search;
    search = (struct uvea_oracle_search){0};
cleanup:
    uvea_oracle_search_deinit(&search);
    return error;
}

enum uvea_error uvea_oracle_search_pair(const struct uvea_oracle_search_input *in,
                                        const struct uvea_oracle_pair *pair, bool *match,
                                        struct uvea_error_context *context)
{
    bool both = true;
    for (unsigned eye = 0; eye < UVEA_ORACLE_EYES; eye++) {
        bool any = false;
        for (int i = 0; i < UVEA_ORACLE_ROTATIONS; i++) {
            struct uvea_oracle_counts counts;
            struct uvea_oracle_verdict verdict;
            uvea_oracle_count(&in->query[eye].at[i], &pair->eye[eye], &counts);
            UVEA_TRY(uvea_oracle_judge(&counts, &verdict, context));
            any |= verdict.strict;
        }
        both &= any;
    }
    *match = both;
    return UVEA_OK;
}

bool uvea_oracle_search_hit(const struct uvea_oracle_search *search)
{
    return search->match_count > 0 || search->saturated[UVEA_ORACLE_LEFT] ||
           search->saturated[UVEA_ORACLE_RIGHT];
}
