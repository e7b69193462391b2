#include "sim/world/conclude.h"

#include "sim/runtime/http.h"
#include "sim/runtime/process.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- verdicts: the first that is decided stands

UVEA_PRINTF(3, 4)
static void decide(struct uvea_world_result *result, enum uvea_verdict verdict, const char *format,
                   ...)
{
    if (result->verdict == UVEA_VERDICT_PASS) {
        va_list args;
        va_start(args, format);
        result->verdict = verdict;
        (void)vsnprintf(result->reason, sizeof(result->reason), format, args);
        va_end(args);
    }
}

static void judge_ledger(const struct uvea_world *world, struct uvea_world_result *result)
{
    const struct uvea_ledger_verdict verdict = uvea_ledger_verdict(world->ledger);
    const uint64_t *violations = verdict.violations;
    if (violations[UVEA_LEDGER_SAFETY] + violations[UVEA_LEDGER_EXPECTATION] > 0) {
        decide(result, UVEA_VERDICT_WRONG, "%.400s", verdict.reason);
    }
}

// Two judges, of which the second knows nothing but results.
static enum uvea_error judge_second(const struct uvea_world *world,
                                    struct uvea_world_result *result,
                                    struct uvea_error_context *context)
{
    uint8_t hash[UVEA_LEDGER_HASH_BYTES];
    if (world->second == NULL) {
        return UVEA_OK;
    }
    UVEA_TRY(uvea_ledger_failure(world->second, context));
    const struct uvea_ledger_verdict verdict = uvea_ledger_verdict(world->second);
    if (verdict.reason[0] != '\0') {
        decide(result, UVEA_VERDICT_WRONG, "from results alone: %.400s", verdict.reason);
    }
    UVEA_TRY(uvea_ledger_hash(world->second, 0, hash));
    if (memcmp(hash, result->answers_hash, sizeof(hash)) != 0 ||
        verdict.batches != result->batches) {
        decide(result, UVEA_VERDICT_WRONG,
               "from results alone other answers or batches are seen than by onlookers");
    }
    return UVEA_OK;
}

static void judge_leak(const struct uvea_world *world, struct uvea_world_result *result)
{
    const struct uvea_leak *leak = &world->leak;
    if (leak->found > 0) {
        decide(result, UVEA_VERDICT_WRONG,
               "party %u sent party %u a piece of party %u's share as it is (%llu pieces in all)",
               leak->from, leak->to, leak->owner, (unsigned long long)leak->found);
    }
}

static void judge_end(unsigned party, const struct uvea_machine_end *end,
                      struct uvea_world_result *result)
{
    if (end->error != UVEA_OK && !result->hostile) {
        decide(result, UVEA_VERDICT_WRONG, "party %u stopped: %s: %.400s", party,
               uvea_error_text(end->error), end->reason.text);
    }
}

// A party that found its own state, or a peer's, impossible, in whichever of its lives. Damage
// beyond repair makes that right.
static void judge_parties(const struct uvea_world *world, struct uvea_world_result *result)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        judge_end(party, &world->machines[party].impossible, result);
    }
}

// Without faults and restarts no process has a reason to end before it is told to, however well the
// next one makes up for it.
static void judge_ends(const struct uvea_world *world, struct uvea_world_result *result)
{
    bool calm = world->scenario.fault_count == 0;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        calm = calm && world->scenario.options[uvea_world_crash_steps[party]] == 0;
    }
    for (size_t i = 0; i < world->scenario.request_count; i++) {
        calm = calm && world->scenario.requests[i].type != UVEA_PLAN_RESTART;
    }
    for (unsigned party = 0; calm && party < UVEA_PARTY_COUNT; party++) {
        judge_end(party, &world->machines[party].failed, result);
    }
}

static void judge_progress(const struct uvea_world *world, const struct uvea_sim_outcome *outcome,
                           struct uvea_world_result *result)
{
    if (outcome->end == UVEA_SIM_STEP_LIMIT || outcome->end == UVEA_SIM_TIME_LIMIT) {
        decide(result, UVEA_VERDICT_RESOURCE_LIMIT, "%s after %llu steps and %llu simulated ms",
               uvea_sim_end_text(outcome->end), (unsigned long long)outcome->steps,
               (unsigned long long)(outcome->time_ns / UVEA_MS));
    }
    if (outcome->end != UVEA_SIM_FINISHED) {
        decide(result, UVEA_VERDICT_NO_PROGRESS, "%s: %.400s", uvea_sim_end_text(outcome->end),
               outcome->blocked);
    }
    if (world->client.finished || result->hostile) {
        return;
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_machine *machine = &world->machines[party];
        if (machine->last.error != UVEA_OK) {
            decide(result, UVEA_VERDICT_NO_PROGRESS, "%.200s; party %u stopped: %s: %.200s",
                   world->client.reason.text, party, uvea_error_text(machine->last.error),
                   machine->last.reason.text);
        }
    }
    decide(result, UVEA_VERDICT_NO_PROGRESS, "%.400s", world->client.reason.text);
}

static void judge_leaks(const struct uvea_sim_outcome *outcome, struct uvea_world_result *result)
{
    if (outcome->unjoined_tasks + outcome->open_streams + outcome->open_channels +
            outcome->open_listeners + outcome->open_locks >
        0) {
        decide(
            result, UVEA_VERDICT_WRONG,
            "left behind: %u tasks unjoined, %u streams, %u channels, %u listeners, %u locks open",
            outcome->unjoined_tasks, outcome->open_streams, outcome->open_channels,
            outcome->open_listeners, outcome->open_locks);
    }
}

// The three stores at the end. What cannot be opened any more is right after damage only.
static enum uvea_error finish_ledger(struct uvea_world *world, struct uvea_world_result *result,
                                     struct uvea_error_context *context)
{
    struct uvea_store *stores[UVEA_PARTY_COUNT] = {NULL};
    struct uvea_error_context said = {.text = ""};
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) { // faults are for the parties
        uvea_sim_disk_faults_set(world->machines[party].disk, &(struct uvea_sim_disk_faults){0});
    }
    enum uvea_error error = uvea_world_open_stores(world, stores, &said);
    if (error == UVEA_ERR_MEMORY) {
        goto cleanup;
    }
    if (error != UVEA_OK) {
        error = UVEA_OK;
        decide(result, UVEA_VERDICT_WRONG, "a store cannot be opened at the end: %.400s",
               said.text);
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(uvea_ledger_finish(world->ledger, stores, context));
    if (world->second != NULL) {
        UVEA_TRY_CLEANUP(uvea_ledger_finish(world->second, stores, context));
    }
    const struct uvea_ledger_verdict verdict = uvea_ledger_verdict(world->ledger);
    if (verdict.violations[UVEA_LEDGER_LIVENESS] > 0) {
        decide(result, UVEA_VERDICT_NO_PROGRESS, "%.400s", verdict.reason);
    }
cleanup:
    uvea_world_close_stores(stores);
    return error;
}

// ---- numbers

static void collect_numbers(const struct uvea_world *world, struct uvea_world_result *result)
{
    const struct uvea_ledger_verdict verdict = uvea_ledger_verdict(world->ledger);
    for (size_t i = 0; i < world->scenario.request_count; i++) {
        result->requests += world->scenario.requests[i].type != UVEA_PLAN_RESTART;
    }
    result->responses = verdict.results;
    result->disagreements = verdict.disagreements;
    result->mismatches = verdict.mismatches;
    result->records = verdict.records;
    result->batches = verdict.batches;
    result->errors = verdict.errors;
    result->comparisons = world->machines[0].comparisons;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        result->restarts += world->machines[party].starts - 1;
        result->party_steps[party] = uvea_sim_process_steps(world->sim, party);
        for (unsigned peer = 0; peer < UVEA_PARTY_COUNT; peer++) {
            if (peer != party) {
                result->bytes_sent[party] +=
                    uvea_sim_link_traffic(world->sim, party, peer).bytes_written;
            }
        }
    }
}

static void collect_coverage(const struct uvea_world *world, struct uvea_world_result *result)
{
    memcpy(result->faults, world->injector.counts, sizeof(result->faults));
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_machine *machine = &world->machines[party];
        if (machine->died_as_planned) {
            result->faults[UVEA_FAMILY_PROCESS][machine->planned_phase]++;
        }
    }
    for (size_t i = 0; i < world->scenario.request_count; i++) {
        const struct uvea_request_plan *plan = &world->scenario.requests[i];
        result->faults[UVEA_FAMILY_MALFORMED][UVEA_PHASE_NONE] +=
            plan->type == UVEA_PLAN_MALFORMED || plan->bad_share != UVEA_PLAN_PARTY_NONE;
    }
    for (unsigned point = 0; point < UVEA_POINT_COUNT; point++) {
        result->points[point] = uvea_sim_point_count(world->sim, (enum uvea_point)point);
    }
    memcpy(result->marks, world->marks, sizeof(result->marks));
    uint64_t restarts = UINT64_MAX;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const uint64_t own = world->machines[party].starts - 1;
        restarts = own < restarts ? own : restarts;
    }
    result->marks[UVEA_MARK_FLEET_RESTART] = restarts;
    result->marks[UVEA_MARK_RETRIED_POST] = world->client.retried_posts;
    result->marks[UVEA_MARK_LAG_409] = uvea_sim_http_conflicts(world->sim);
}

enum uvea_error uvea_world_conclude(struct uvea_world *world,
                                    const struct uvea_sim_outcome *outcome,
                                    struct uvea_world_result *result,
                                    struct uvea_error_context *context)
{
    *result = (struct uvea_world_result){
        .hostile = world->scenario.options[UVEA_OPTION_root_class] != 0,
        .sim_ns = outcome->time_ns,
        .steps = outcome->steps,
        .events = outcome->events,
    };
    memcpy(result->hash, outcome->hash, sizeof(result->hash));
    judge_leak(world, result);
    judge_ledger(world, result);
    judge_parties(world, result);
    judge_progress(world, outcome, result);
    judge_ends(world, result);
    if (result->verdict == UVEA_VERDICT_PASS && !result->hostile) {
        judge_leaks(outcome, result);
        UVEA_TRY(finish_ledger(world, result, context));
        judge_ledger(world, result);
    }
    UVEA_TRY(uvea_ledger_failure(world->ledger, context));
    collect_numbers(world, result);
    collect_coverage(world, result);
    UVEA_TRY(uvea_ledger_hash(world->ledger, 0, result->answers_hash));
    UVEA_TRY(judge_second(world, result, context));
    if (world->options->answer != NULL) {
        UVEA_TRY(
            uvea_ledger_answers(world->ledger, world->options->answer, world->options->answer_arg));
    }
    uvea_sim_trace_difference(uvea_sim_trace(world->sim), &result->difference);
    if (result->verdict != UVEA_VERDICT_PASS && world->options->failure_report != NULL) {
        uvea_sim_trace_lanes(uvea_sim_trace(world->sim), UVEA_PARTY_COUNT, UVEA_SIM_TRACE_LAST,
                             world->options->failure_report);
    }
    return UVEA_OK;
}
