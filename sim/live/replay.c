#include "sim/live/replay.h"

#include "core/base/mem.h"
#include "sim/live/replay_impl.h"
#include "sim/world/setup.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define POLL_NS_MAX (10 * UVEA_MS) // which bounds how exact latencies are

// ---- what is done to parties

// A uvea_client_restart_fn.
static enum uvea_error restart(void *arg, const struct uvea_request_plan *plan,
                               struct uvea_error_context *reason)
{
    struct uvea_replay *replay = arg;
    const struct uvea_replay_control *control = &replay->config->control;
    const enum uvea_replay_act end =
        plan->how == UVEA_PLAN_KILL ? UVEA_REPLAY_KILL : UVEA_REPLAY_STOP;
    bool chosen[UVEA_PARTY_COUNT];
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        chosen[party] =
            plan->party == UVEA_PLAN_PARTY_ALL || plan->party == (enum uvea_plan_party)party;
        if (chosen[party]) {
            UVEA_TRY(control->act(control->arg, party, end, reason));
        }
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (chosen[party]) {
            uvea_keeper_start(&replay->keeper, party);
        }
    }
    return UVEA_OK;
}

// A uvea_client_attend_fn.
static enum uvea_error attend(void *arg, struct uvea_error_context *reason)
{
    struct uvea_replay *replay = arg;
    const struct uvea_client *client = &replay->client;
    if (replay->config->progress != NULL) {
        const struct uvea_replay_progress progress = uvea_replay_progress(replay);
        replay->config->progress(replay->config->progress_arg, &progress);
    }
    return uvea_keeper_attend(&replay->keeper,
                              client->sent + client->read[0] + client->read[1] + client->read[2],
                              reason);
}

// ---- verdicts: the first that is decided stands

UVEA_PRINTF(3, 4)
static void decide(struct uvea_replay_result *result, enum uvea_verdict verdict, const char *format,
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

// What the oracle says of an enrolment that is no insertion: the records that the pair matches.
static void name_matches(const char *outcome, char text[100])
{
    json_t *object = json_loads(outcome, 0, NULL);
    const json_t *matched = json_object_get(object, "matched_serial_ids");
    text[0] = '\0';
    if (json_array_size(matched) > 0) {
        (void)snprintf(text, 100, " (record %" JSON_INTEGER_FORMAT ")",
                       json_integer_value(json_array_get(matched, 0)));
    }
    json_decref(object);
}

// The first record that could not be enrolled; false when all could.
static bool judge_enrolments(const struct uvea_replay *replay)
{
    const struct uvea_rows *rows = &replay->enrolled;
    for (size_t i = 0; i < rows->count; i++) {
        struct uvea_ledger_outcome outcome = {.ruled = false};
        char matches[100];
        if (uvea_ledger_outcome(replay->ledger, rows->at[i].key, &outcome) != UVEA_OK ||
            !outcome.ruled || !outcome.matched) {
            continue;
        }
        name_matches(rows->at[i].oracle, matches);
        decide(replay->result, UVEA_VERDICT_WRONG,
               "record %zu of the scenario's database matches one before it%s: a database whose "
               "records match each other cannot be enrolled by requests",
               i + 1, matches);
        return true;
    }
    return false;
}

static void judge(struct uvea_replay *replay)
{
    struct uvea_replay_result *result = replay->result;
    const struct uvea_ledger_verdict verdict = uvea_ledger_verdict(replay->ledger);
    if (judge_enrolments(replay)) {
        return;
    }
    if (verdict.violations[UVEA_LEDGER_SAFETY] + verdict.violations[UVEA_LEDGER_EXPECTATION] > 0) {
        decide(result, UVEA_VERDICT_WRONG, "%.400s", verdict.reason);
    }
    if (replay->client.error == UVEA_ERR_CLOSED && uvea_keeper_interrupted(&replay->keeper)) {
        result->interrupted = result->verdict == UVEA_VERDICT_PASS;
        decide(result, UVEA_VERDICT_NO_PROGRESS,
               "%" PRIu64 " of %" PRIu64 " records were enrolled, %" PRIu64 " of %" PRIu64
               " requests sent, %" PRIu64 " answered by all parties",
               result->enrolled, result->enrolments, result->sent, result->requests,
               result->responses / UVEA_PARTY_COUNT);
    }
    if (!replay->client.finished) {
        struct uvea_error_context parties;
        uvea_keeper_describe(&replay->keeper, &parties);
        decide(result, UVEA_VERDICT_NO_PROGRESS, "%.400s%s%.100s", replay->client.reason.text,
               parties.text[0] == '\0' ? "" : "; ", parties.text);
    }
    if (verdict.violations[UVEA_LEDGER_LIVENESS] > 0) {
        decide(result, UVEA_VERDICT_NO_PROGRESS, "%.400s", verdict.reason);
    }
}

// ---- the whole

static enum uvea_error set_up(struct uvea_replay *replay, struct uvea_error_context *context)
{
    const struct uvea_replay_config *config = replay->config;
    struct uvea_ledger_config ledger = uvea_setup_ledger(&replay->scenario);
    ledger.from_results = true;
    for (size_t i = replay->enrolments; i < replay->scenario.request_count; i++) {
        replay->requests += replay->scenario.requests[i].type != UVEA_PLAN_RESTART;
    }
    UVEA_TRY(uvea_ledger_open(&ledger, &replay->ledger));
    UVEA_TRY(uvea_population_init(&replay->population, &replay->scenario, context));
    replay->times = uvea_mem_alloc(replay->scenario.request_count, sizeof(*replay->times));
    if (replay->times == NULL) {
        return UVEA_ERR_MEMORY;
    }
    replay->client = (struct uvea_client){
        .rt = config->rt,
        .scenario = &replay->scenario,
        .population = &replay->population,
        .ledger = replay->ledger,
        .carries_on = config->carries_on,
        .simulated = config->simulated,
        .deadline_ns = uvea_rt_deadline_ns(config->rt, config->patience_ns),
        .patience_ns = config->patience_ns,
        .poll_ns_max = POLL_NS_MAX,
        .pace_ns = config->pace_ns,
        .enrolments = replay->enrolments,
        .times = replay->times,
        .restart = restart,
        .restart_arg = replay,
        .attend = attend,
        .attend_arg = replay,
    };
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        replay->client.addresses[party] = config->addresses[party];
        memcpy(replay->client.public_keys[party], config->public_keys[party], UVEA_SHARE_KEY_BYTES);
    }
    return UVEA_OK;
}

static enum uvea_error carry_out(struct uvea_replay *replay, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_replay_check(replay->config, &replay->keeper, &replay->result->common_config,
                               context));
    UVEA_TRY(set_up(replay, context));
    replay->began_ns = uvea_rt_now_ns(replay->config->rt);
    uvea_client_run(&replay->client);
    if (replay->client.bad_plan) {
        return uvea_error_set(context, replay->client.error, "%s", replay->client.reason.text);
    }
    UVEA_TRY(uvea_replay_check_ledger(replay, context));
    UVEA_TRY(uvea_ledger_failure(replay->ledger, context));
    UVEA_TRY(uvea_replay_collect(replay));
    judge(replay);
    return UVEA_OK;
}

enum uvea_error uvea_replay_run(const struct uvea_replay_config *config,
                                struct uvea_replay_result *result,
                                struct uvea_error_context *context)
{
    struct uvea_replay *replay = uvea_mem_alloc(1, sizeof(*replay));
    enum uvea_error error;
    if (replay == NULL) {
        return UVEA_ERR_MEMORY;
    }
    replay->config = config;
    replay->result = result;
    replay->keeper = (struct uvea_keeper){
        .rt = config->rt,
        .addresses = config->addresses,
        .control = &config->control,
        .interrupted = config->interrupted,
    };
    error =
        uvea_replay_plan(config, &replay->scenario, &replay->enrolments, result->ignored, context);
    if (error == UVEA_OK) {
        error = carry_out(replay, context);
        uvea_rows_deinit(&replay->enrolled);
        uvea_population_deinit(&replay->population);
        uvea_ledger_close(replay->ledger);
        uvea_mem_free(replay->times);
        uvea_scenario_deinit(&replay->scenario);
    }
    uvea_mem_free(replay);
    return error;
}

const char *uvea_replay_verdict_text(const struct uvea_replay_result *result)
{
    return result->interrupted ? "interrupted" : uvea_verdict_text(result->verdict);
}

void uvea_replay_result_deinit(struct uvea_replay_result *result)
{
    uvea_rows_deinit(&result->rows);
    uvea_buf_deinit(&result->common_config);
    uvea_mem_free(result->latencies_ns);
    result->latencies_ns = NULL;
    result->latency_count = 0;
}
