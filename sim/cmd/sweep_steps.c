// A crash at each step of one party's first process: the runs of a sweep are the steps instead of
// the seeds.

#include "core/base/mem.h"
#include "sim/cmd/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum uvea_error uvea_sweep_check_steps(struct uvea_sweep_arguments *arguments, const char *party,
                                       struct uvea_error_context *context)
{
    arguments->steps_of = UVEA_PARTY_COUNT;
    if (party == NULL) {
        return arguments->stride == 1
                   ? UVEA_OK
                   : uvea_error_set(context, UVEA_ERR_USAGE, "--stride goes with --each-step");
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const char name[] = {'p', (char)('0' + i), '\0'};
        arguments->steps_of = strcmp(party, name) == 0 ? i : arguments->steps_of;
    }
    if (arguments->steps_of == UVEA_PARTY_COUNT) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--each-step %.40s: p0, p1 or p2", party);
    }
    if (arguments->stride == 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--stride: a number from 1");
    }
    if (arguments->file_count != 1 || arguments->first_seed != arguments->last_seed) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--each-step goes with one file and one seed");
    }
    if (arguments->db != NULL || arguments->junit != NULL || arguments->shard_count != 1) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--each-step does not go with --db, --junit or --shard");
    }
    arguments->allow_cold = (struct uvea_arg_list){.at = {"all"}, .count = 1};
    return UVEA_OK;
}

bool uvea_sweep_by_steps(const struct uvea_sweep *sweep)
{
    return sweep->arguments.steps_of < UVEA_PARTY_COUNT;
}

uint64_t uvea_sweep_step(const struct uvea_sweep *sweep, uint64_t slot)
{
    return uvea_sweep_by_steps(sweep) ? 1 + slot * sweep->arguments.stride : 0;
}

void uvea_sweep_set_step(struct uvea_sweep *sweep, size_t file, uint64_t slot)
{
    if (uvea_sweep_by_steps(sweep)) {
        sweep->files[file].scenario.options[uvea_world_crash_steps[sweep->arguments.steps_of]] =
            uvea_sweep_step(sweep, slot);
    }
}

void uvea_sweep_add_step(const struct uvea_sweep *sweep, uint64_t step,
                         struct uvea_run_arguments *arguments, char text[UVEA_SWEEP_STEP_CHARS])
{
    struct uvea_arg_list *overrides = &arguments->overrides;
    if (!uvea_sweep_by_steps(sweep) || step == 0 || overrides->count == UVEA_ARG_LIST_MAX) {
        return;
    }
    (void)snprintf(text, UVEA_SWEEP_STEP_CHARS, "crash.p%u_step=%" PRIu64,
                   sweep->arguments.steps_of, step);
    overrides->at[overrides->count++] = text;
}

// ---- how many there are

static enum uvea_error run_whole(struct uvea_sweep *sweep, struct uvea_world_result *result,
                                 struct uvea_error_context *context)
{
    struct uvea_run_arguments arguments = uvea_sweep_run_arguments(sweep, 0);
    struct uvea_run_report report;
    sweep->files[0].scenario.options[UVEA_OPTION_root_seed] = sweep->arguments.first_seed;
    uvea_run_seed(&arguments, &sweep->files[0].scenario, &report);
    if (report.error != UVEA_OK) {
        return uvea_error_set(context, report.error, "%.200s: %.300s", arguments.file,
                              report.context.text[0] != '\0' ? report.context.text
                                                             : uvea_error_text(report.error));
    }
    if (report.result.verdict != UVEA_VERDICT_PASS || report.result.restarts > 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "%.200s: without a crash it must pass and restart nobody; it came to "
                              "%s with %" PRIu64 " restarts",
                              arguments.file, uvea_verdict_text(report.result.verdict),
                              report.result.restarts);
    }
    *result = report.result;
    return UVEA_OK;
}

enum uvea_error uvea_sweep_plan_steps(struct uvea_sweep *sweep, struct uvea_error_context *context)
{
    struct uvea_world_result result;
    if (!uvea_sweep_by_steps(sweep)) {
        return UVEA_OK;
    }
    UVEA_TRY(run_whole(sweep, &result, context));
    const uint64_t steps = result.party_steps[sweep->arguments.steps_of];
    sweep->slot_count = (steps + sweep->arguments.stride - 1) / sweep->arguments.stride;
    if (sweep->slot_count > UVEA_SWEEP_RUNS_MAX) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "more than %d runs", UVEA_SWEEP_RUNS_MAX);
    }
    uvea_mem_free(sweep->files[0].slots);
    sweep->files[0].slots =
        uvea_mem_alloc((size_t)sweep->slot_count, sizeof(*sweep->files[0].slots));
    return sweep->files[0].slots == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
}
