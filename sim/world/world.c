#include "sim/world/world.h"

#include "core/base/mem.h"
#include "core/scan/resident.h"
#include "core/service/party.h"
#include "oracle/decide.h"
#include "sim/runtime/sim.h"
#include "sim/world/answers.h"
#include "sim/world/client.h"
#include "sim/world/intake.h"
#include "sim/world/judge.h"
#include "sim/world/population.h"
#include "sim/world/setup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    CLIENT_NODE = UVEA_PARTY_COUNT,
    NODE_COUNT = UVEA_PARTY_COUNT + 1,
    CHANNEL_CAPACITY = 4,
};

static const char *const intake_addresses[UVEA_PARTY_COUNT] = {"p0:8000", "p1:8000", "p2:8000"};

// One party with its database and what became of it.
struct party {
    struct uvea_rt *rt;
    struct uvea_party_config config;
    struct uvea_resident resident;
    struct uvea_cold *cold; // its overlay holds the other eye of every record
    struct uvea_channel *requests;
    struct uvea_channel *responses;
    struct uvea_intake *intake;
    struct uvea_party_stats stats;
    struct uvea_response **answer; // its place in the world's answers
    enum uvea_error error;
    struct uvea_error_context reason;
};

struct world {
    const struct uvea_scenario *scenario;
    const struct uvea_world_options *options;
    struct uvea_sim *sim;
    struct uvea_population population;
    struct uvea_oracle_model model;
    struct party parties[UVEA_PARTY_COUNT];
    struct uvea_response *answers[UVEA_PARTY_COUNT];
    struct uvea_answers all_answers;
    struct uvea_client client;
};

static uint64_t option(const struct world *world, enum uvea_option which)
{
    return world->scenario->options[which];
}

// ---- setting up

static enum uvea_error open_sim(struct world *world, struct uvea_error_context *context)
{
    struct uvea_sim_config config;
    UVEA_TRY(uvea_setup_sim(world->scenario, &config, context));
    UVEA_TRY(uvea_sim_open(&config, &world->sim, context));
    struct uvea_sim_trace *trace = uvea_sim_trace(world->sim);
    if (world->options->trace != NULL) {
        uvea_sim_trace_write(trace, world->options->trace);
    }
    if (world->options->keep != NULL) {
        uvea_sim_trace_keep(trace, world->options->keep);
    }
    if (world->options->compare != NULL) {
        uvea_sim_trace_compare(trace, world->options->compare);
    }
    return UVEA_OK;
}

static void init_model(struct world *world)
{
    const struct uvea_oracle_config config = uvea_setup_oracle(world->scenario);
    uvea_oracle_model_init(&world->model, &config);
}

// Nothing is ever acknowledged, so the overlay has everything.
static enum uvea_error no_store(void *arg, uint32_t serial, uint16_t version,
                                uint16_t out[UVEA_RECORD_COEFFICIENTS],
                                struct uvea_error_context *context)
{
    (void)arg;
    (void)serial;
    (void)version;
    (void)out;
    (void)context;
    return UVEA_ERR_NOT_FOUND;
}

static enum uvea_error init_parties(struct world *world, struct uvea_error_context *context)
{
    for (unsigned index = 0; index < UVEA_PARTY_COUNT; index++) {
        struct party *party = &world->parties[index];
        UVEA_TRY(uvea_setup_party(world->scenario, index, &party->config, context));
        party->answer = &world->answers[index];
        party->rt = uvea_sim_rt(world->sim, index);
        UVEA_TRY(
            uvea_resident_init(&party->resident, option(world, UVEA_OPTION_service_record_limit)));
        const struct uvea_cold_config cold = {.read = no_store};
        UVEA_TRY(uvea_cold_open(&cold, &party->cold));
    }
    return UVEA_OK;
}

// ---- the database before the first request

struct enrolment {
    struct uvea_template_pair pair;
    struct uvea_oracle_pair oracle_pair;
    struct uvea_iris_share split[UVEA_PARTY_COUNT];
    struct uvea_iris_upload uploads[UVEA_PARTY_COUNT];
    struct uvea_sim_random randomness; // stream "shares/database"
    uint16_t record[UVEA_RECORD_COEFFICIENTS];
};

static enum uvea_error enrol_share(struct party *party, const struct uvea_iris_upload *upload,
                                   uint16_t record[UVEA_RECORD_COEFFICIENTS])
{
    const enum uvea_eye scanned = party->config.search.full_scan_eye;
    const enum uvea_eye other = scanned == UVEA_EYE_LEFT ? UVEA_EYE_RIGHT : UVEA_EYE_LEFT;
    uint32_t at;
    uvea_scan_record_of_share(&upload->eye[other], record);
    UVEA_TRY(uvea_cold_put(party->cold, (uint32_t)party->resident.count + 1, 0, record));
    uvea_scan_record_of_share(&upload->eye[scanned], record);
    return uvea_resident_insert(&party->resident, record, 0, &at);
}

static enum uvea_error enrol_one(struct world *world, struct enrolment *enrolment, size_t index,
                                 struct uvea_error_context *context)
{
    UVEA_TRY(uvea_population_record(&world->population, index, &enrolment->pair, context));
    uvea_population_to_oracle(&enrolment->pair, &enrolment->oracle_pair);
    UVEA_TRY(uvea_oracle_model_insert(&world->model, &enrolment->oracle_pair, NULL));
    uvea_population_split(&enrolment->pair, &enrolment->randomness, enrolment->split,
                          enrolment->uploads);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY(
            enrol_share(&world->parties[party], &enrolment->uploads[party], enrolment->record));
    }
    return UVEA_OK;
}

static enum uvea_error enrol(struct world *world, struct uvea_error_context *context)
{
    struct enrolment *enrolment = uvea_mem_alloc(1, sizeof(*enrolment));
    if (enrolment == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_sim_random_init(&enrolment->randomness, option(world, UVEA_OPTION_root_seed),
                         "shares/database");
    enum uvea_error error = UVEA_OK;
    for (size_t i = 0; i < option(world, UVEA_OPTION_database_records); i++) {
        UVEA_TRY_CLEANUP(enrol_one(world, enrolment, i, context));
    }
cleanup:
    uvea_mem_free(enrolment);
    return error;
}

// ---- running

static void take_answer(void *arg, struct uvea_response *response)
{
    struct party *party = arg;
    uvea_response_free(*party->answer);
    *party->answer = response;
}

static enum uvea_error serve_party(struct party *party, unsigned index)
{
    UVEA_TRY(uvea_rt_channel_open(party->rt, CHANNEL_CAPACITY, &party->requests));
    UVEA_TRY(uvea_rt_channel_open(party->rt, CHANNEL_CAPACITY, &party->responses));
    UVEA_TRY(uvea_intake_open(party->rt, intake_addresses[index], party->requests, party->responses,
                              take_answer, party, &party->intake));
    return uvea_party_run(party->rt, &party->config, &party->resident, party->cold, party->requests,
                          party->responses, &party->stats, &party->reason);
}

static void run_party(void *arg)
{
    struct party *party = arg;
    party->error = serve_party(party, party->config.party.index);
    if (party->error != UVEA_OK) {
        uvea_sim_note(party->rt, "stopped", party->reason.text);
    }
    uvea_intake_close(party->intake);
    uvea_rt_channel_close(party->rt, party->requests);
    uvea_rt_channel_close(party->rt, party->responses);
}

static enum uvea_error start(struct world *world)
{
    for (unsigned index = 0; index < UVEA_PARTY_COUNT; index++) {
        UVEA_TRY(uvea_sim_start(world->sim, index, "party", run_party, &world->parties[index]));
    }
    world->client = (struct uvea_client){
        .rt = uvea_sim_rt(world->sim, CLIENT_NODE),
        .scenario = world->scenario,
        .population = &world->population,
        .model = &world->model,
        .answers = world->answers,
        .all_answers = &world->all_answers,
        .progress = world->options->progress,
        .progress_arg = world->options->progress_arg,
    };
    memcpy(world->client.addresses, intake_addresses, sizeof(intake_addresses));
    return uvea_sim_start(world->sim, CLIENT_NODE, "client", uvea_client_run, &world->client);
}

// ---- judging the run as a whole

static bool ends_as_wrong(enum uvea_error error)
{
    return error != UVEA_OK && error != UVEA_ERR_CLOSED && error != UVEA_ERR_RESET &&
           error != UVEA_ERR_TIMEOUT && error != UVEA_ERR_NOT_FOUND;
}

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

// A wrong answer weighs most; then a party that saw a broken invariant; then budgets; then silence.
static void judge_ends(const struct world *world, const struct uvea_sim_outcome *outcome,
                       struct uvea_world_result *result)
{
    const struct uvea_client *client = &world->client;
    if (client->disagreements + client->mismatches > 0 || ends_as_wrong(client->error)) {
        decide(result, UVEA_VERDICT_WRONG, "%.400s", client->reason.text);
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (ends_as_wrong(world->parties[party].error)) {
            decide(result, UVEA_VERDICT_WRONG, "party %u stopped: %s: %.400s", party,
                   uvea_error_text(world->parties[party].error), world->parties[party].reason.text);
        }
    }
    if (outcome->end == UVEA_SIM_STEP_LIMIT || outcome->end == UVEA_SIM_TIME_LIMIT) {
        decide(result, UVEA_VERDICT_RESOURCE_LIMIT, "%s after %llu steps and %llu simulated ms",
               uvea_sim_end_text(outcome->end), (unsigned long long)outcome->steps,
               (unsigned long long)(outcome->time_ns / UVEA_MS));
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (world->parties[party].error != UVEA_OK) {
            decide(result, UVEA_VERDICT_NO_PROGRESS, "party %u stopped: %s: %.400s", party,
                   uvea_error_text(world->parties[party].error), world->parties[party].reason.text);
        }
    }
    if (!client->finished) {
        decide(result, UVEA_VERDICT_NO_PROGRESS, "%.400s", client->reason.text);
    }
    if (outcome->end != UVEA_SIM_FINISHED) {
        decide(result, UVEA_VERDICT_NO_PROGRESS, "%s: %.400s", uvea_sim_end_text(outcome->end),
               outcome->blocked);
    }
}

static void judge_leaks(const struct uvea_sim_outcome *outcome, struct uvea_world_result *result)
{
    if (outcome->unjoined_tasks + outcome->open_streams + outcome->open_channels +
            outcome->open_listeners >
        0) {
        decide(result, UVEA_VERDICT_WRONG,
               "left behind: %u tasks unjoined, %u streams, %u channels, %u listeners open",
               outcome->unjoined_tasks, outcome->open_streams, outcome->open_channels,
               outcome->open_listeners);
    }
}

static enum uvea_error judge_ledger(struct world *world, struct uvea_world_result *result)
{
    const struct uvea_resident *residents[UVEA_PARTY_COUNT];
    struct uvea_cold *colds[UVEA_PARTY_COUNT];
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        residents[party] = &world->parties[party].resident;
        colds[party] = world->parties[party].cold;
    }
    struct uvea_judgement judgement;
    UVEA_TRY(uvea_judge_ledger(&world->model, residents, colds,
                               world->parties[0].config.search.full_scan_eye, &judgement));
    result->mismatches += judgement.mismatches;
    if (judgement.mismatches > 0) {
        decide(result, UVEA_VERDICT_WRONG, "%.400s", judgement.reason);
    }
    return UVEA_OK;
}

static void collect(struct world *world, const struct uvea_sim_outcome *outcome,
                    struct uvea_world_result *result)
{
    *result = (struct uvea_world_result){
        .requests = world->scenario->request_count,
        .responses = world->client.responses,
        .disagreements = world->client.disagreements,
        .mismatches = world->client.mismatches,
        .records = world->model.record_count,
        .sim_ns = outcome->time_ns,
        .steps = outcome->steps,
        .events = outcome->events,
        .comparisons = world->parties[0].stats.comparisons,
    };
    memcpy(result->hash, outcome->hash, sizeof(result->hash));
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        for (unsigned peer = 0; peer < UVEA_PARTY_COUNT; peer++) {
            if (peer != party) {
                result->bytes_sent[party] +=
                    uvea_sim_link_traffic(world->sim, party, peer).bytes_written;
            }
        }
    }
    uvea_sim_trace_difference(uvea_sim_trace(world->sim), &result->difference);
}

static enum uvea_error conclude(struct world *world, const struct uvea_sim_outcome *outcome,
                                struct uvea_world_result *result)
{
    collect(world, outcome, result);
    UVEA_TRY(uvea_answers_hash(&world->all_answers, result->answers_hash));
    judge_ends(world, outcome, result);
    if (result->verdict == UVEA_VERDICT_PASS) {
        judge_leaks(outcome, result);
        UVEA_TRY(judge_ledger(world, result));
    }
    if (result->verdict != UVEA_VERDICT_PASS && world->options->failure_report != NULL) {
        uvea_sim_trace_lanes(uvea_sim_trace(world->sim), UVEA_PARTY_COUNT, UVEA_SIM_TRACE_LAST,
                             world->options->failure_report);
    }
    return UVEA_OK;
}

static void world_deinit(struct world *world)
{
    uvea_sim_close(world->sim);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_response_free(world->answers[party]);
        uvea_resident_deinit(&world->parties[party].resident);
        uvea_cold_close(world->parties[party].cold);
    }
    uvea_answers_deinit(&world->all_answers);
    uvea_oracle_model_deinit(&world->model);
    uvea_population_deinit(&world->population);
    uvea_mem_free(world);
}

enum uvea_error uvea_world_check(const struct uvea_scenario *scenario,
                                 struct uvea_error_context *context)
{
    struct uvea_population population;
    if (scenario->request_count == 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "no requests: nothing would be checked");
    }
    UVEA_TRY(uvea_population_init(&population, scenario, context));
    enum uvea_error error = uvea_population_check(&population, context);
    uvea_population_deinit(&population);
    return error;
}

enum uvea_error uvea_world_run(const struct uvea_scenario *scenario,
                               const struct uvea_world_options *options,
                               struct uvea_world_result *result, struct uvea_error_context *context)
{
    struct world *world = uvea_mem_alloc(1, sizeof(*world));
    if (world == NULL) {
        return UVEA_ERR_MEMORY;
    }
    world->scenario = scenario;
    world->options = options;
    enum uvea_error error;
    struct uvea_sim_outcome outcome;
    init_model(world);
    UVEA_TRY_CLEANUP(uvea_answers_init(&world->all_answers));
    UVEA_TRY_CLEANUP(uvea_population_init(&world->population, scenario, context));
    UVEA_TRY_CLEANUP(open_sim(world, context));
    UVEA_TRY_CLEANUP(init_parties(world, context));
    UVEA_TRY_CLEANUP(enrol(world, context));
    UVEA_TRY_CLEANUP(start(world));
    uvea_sim_run(world->sim, &outcome);
    if (world->client.bad_plan) {
        error = uvea_error_set(context, world->client.error, "%s", world->client.reason.text);
        goto cleanup;
    }
    error = conclude(world, &outcome, result);
cleanup:
    world_deinit(world);
    return error;
}
