#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/cmd/interrupt.h"
#include "sim/cmd/sweep.h"

#include <stdio.h>
#include <string.h>

const char *uvea_sweep_mark_text(size_t mark)
{
    return mark < UVEA_POINT_COUNT ? uvea_point_text((enum uvea_point)mark)
                                   : uvea_mark_text((enum uvea_mark)(mark - UVEA_POINT_COUNT));
}

bool uvea_sweep_mark_cold(const struct uvea_sweep *sweep, size_t mark)
{
    return sweep->tally.marks[mark] == 0;
}

bool uvea_sweep_cold_allowed(const struct uvea_sweep *sweep, size_t mark)
{
    const struct uvea_arg_list *allowed = &sweep->arguments.allow_cold;
    for (size_t i = 0; i < allowed->count; i++) {
        if (strcmp(allowed->at[i], "all") == 0 ||
            strcmp(allowed->at[i], uvea_sweep_mark_text(mark)) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_failure(enum uvea_verdict verdict)
{
    return verdict != UVEA_VERDICT_PASS && verdict != UVEA_VERDICT_SKIPPED;
}

static enum uvea_error keep_failure(struct uvea_sweep_tally *tally, size_t file, uint64_t step,
                                    const struct uvea_sweep_run *run)
{
    if (tally->failure_count == UVEA_SWEEP_FAILURES_MAX) {
        return UVEA_OK;
    }
    if (tally->failure_count == tally->failure_capacity) {
        size_t capacity = 2 * tally->failure_capacity + 8;
        struct uvea_sweep_failure *longer = uvea_mem_alloc(capacity, sizeof(*longer));
        if (longer == NULL) {
            return UVEA_ERR_MEMORY;
        }
        if (tally->failure_count > 0) {
            memcpy(longer, tally->failures, tally->failure_count * sizeof(*longer));
        }
        uvea_mem_free(tally->failures);
        tally->failures = longer;
        tally->failure_capacity = capacity;
    }
    struct uvea_sweep_failure *failure = &tally->failures[tally->failure_count++];
    *failure = (struct uvea_sweep_failure){
        .file = file, .seed = run->seed, .step = step, .verdict = run->result.verdict};
    (void)snprintf(failure->reason, sizeof(failure->reason), "%s", run->result.reason);
    return UVEA_OK;
}

static void add_counts(struct uvea_sweep_tally *tally, const struct uvea_world_result *result)
{
    tally->hostile += result->hostile;
    tally->requests += result->requests;
    tally->responses += result->responses;
    tally->restarts += result->restarts;
    tally->batches += result->batches;
    tally->errors += result->errors;
    tally->sim_ns += result->sim_ns;
    for (unsigned family = 0; family < UVEA_FAMILY_COUNT; family++) {
        for (unsigned phase = 0; phase < UVEA_PHASE_COUNT; phase++) {
            tally->faults[family][phase] += result->faults[family][phase];
        }
    }
    for (unsigned point = 0; point < UVEA_POINT_COUNT; point++) {
        tally->marks[point] += result->points[point];
    }
    for (unsigned mark = 0; mark < UVEA_MARK_COUNT; mark++) {
        tally->marks[UVEA_POINT_COUNT + mark] += result->marks[mark];
    }
}

enum uvea_error uvea_sweep_count(struct uvea_sweep *sweep, size_t file, uint64_t slot,
                                 const struct uvea_sweep_run *run, bool known)
{
    struct uvea_sweep_tally *tally = &sweep->tally;
    struct uvea_sweep_file *at = &sweep->files[file];
    enum uvea_verdict verdict = run->result.verdict;
    UVEA_CHECK(slot < sweep->slot_count && !at->slots[slot].done);
    at->slots[slot] = (struct uvea_sweep_slot){
        .wall_ms = run->wall_ms < UINT32_MAX ? (uint32_t)run->wall_ms : UINT32_MAX,
        .done = true,
        .verdict = (uint8_t)verdict,
    };
    tally->runs++;
    tally->known += known;
    tally->twice += run->twice;
    tally->wall_ms += run->wall_ms;
    tally->verdicts[verdict]++;
    add_counts(tally, &run->result);
    if (verdict == UVEA_VERDICT_SKIPPED && at->skipped++ == 0) {
        (void)snprintf(at->why_skipped, sizeof(at->why_skipped), "%s", run->result.reason);
    }
    return is_failure(verdict) ? keep_failure(tally, file, uvea_sweep_step(sweep, slot), run)
                               : UVEA_OK;
}

uint64_t uvea_sweep_failed(const struct uvea_sweep_tally *tally)
{
    return tally->runs - tally->verdicts[UVEA_VERDICT_PASS] - tally->verdicts[UVEA_VERDICT_SKIPPED];
}

bool uvea_sweep_skipped_too_many(const struct uvea_sweep_tally *tally)
{
    return tally->verdicts[UVEA_VERDICT_SKIPPED] * 100 >
           tally->runs * UVEA_SWEEP_SKIPPED_PERCENT_MAX;
}

uint64_t uvea_sweep_planned(const struct uvea_sweep *sweep)
{
    return sweep->slot_count * sweep->arguments.file_count;
}

int uvea_sweep_status(const struct uvea_sweep *sweep)
{
    static const enum uvea_verdict worst_first[] = {
        UVEA_VERDICT_WRONG,       UVEA_VERDICT_DIFFERS,        UVEA_VERDICT_CRASH,
        UVEA_VERDICT_NO_PROGRESS, UVEA_VERDICT_RESOURCE_LIMIT,
    };
    if (uvea_interrupt_signal() != 0) {
        return UVEA_EXIT_SIGNAL + uvea_interrupt_signal();
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(worst_first); i++) {
        if (sweep->tally.verdicts[worst_first[i]] > 0) {
            return uvea_verdict_exit_status(worst_first[i]);
        }
    }
    if (uvea_sweep_skipped_too_many(&sweep->tally)) {
        return uvea_verdict_exit_status(UVEA_VERDICT_SKIPPED);
    }
    for (size_t mark = 0; mark < UVEA_SWEEP_MARK_COUNT; mark++) {
        if (uvea_sweep_mark_cold(sweep, mark) && !uvea_sweep_cold_allowed(sweep, mark)) {
            return UVEA_EXIT_COLD;
        }
    }
    return uvea_verdict_exit_status(UVEA_VERDICT_PASS);
}
