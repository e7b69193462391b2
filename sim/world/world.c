#include "sim/world/world.h"

#include "core/base/mem.h"
#include "core/scan/resident.h"
#include "core/service/results.h"
#include "sim/chaos/expand.h"
#include "sim/runtime/process.h"
#include "sim/runtime/sim.h"
#include "sim/world/client.h"
#include "sim/world/conclude.h"
#include "sim/world/inject.h"
#include "sim/world/ledger.h"
#include "sim/world/machine.h"
#include "sim/world/population.h"
#include "sim/world/setup.h"
#include "sim/world/world_impl.h"

#include <stdio.h>
#include <string.h>

static uint64_t option(const struct uvea_world *world, enum uvea_option which)
{
    return world->scenario.options[which];
}

// ---- onlookers

static void mark_batch(struct uvea_world *world, const struct uvea_batch *batch)
{
    uint64_t *marks = world->marks;
    marks[UVEA_MARK_BATCH_OF_MANY] += batch->count > 1;
    for (size_t i = 0; i < batch->count; i++) {
        const struct uvea_batch_entry *entry = &batch->entries[i];
        for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
            marks[UVEA_MARK_BATCH_MATCH] += entry->outcome.batch_matches[way].count > 0;
        }
        marks[UVEA_MARK_MIRROR_ATTACK] += entry->outcome.mirror_attack;
        marks[UVEA_MARK_SHARE_REFUSED] +=
            entry->error_reason != NULL && strcmp(entry->error_reason, UVEA_REASON_SHARES) == 0;
        marks[UVEA_MARK_QUARANTINED] += entry->message.kind == UVEA_MESSAGE_MALFORMED;
        marks[UVEA_MARK_UPDATED] += entry->mutation == UVEA_MUTATION_UPDATE;
        marks[UVEA_MARK_DELETED] += entry->mutation == UVEA_MUTATION_UPDATE &&
                                    entry->message.kind == UVEA_MESSAGE_IDENTITY_DELETION;
        marks[UVEA_MARK_REAUTHENTICATED] +=
            entry->mutation == UVEA_MUTATION_UPDATE && entry->message.kind == UVEA_MESSAGE_REAUTH;
    }
}

static void see_begun(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct uvea_world *world = arg;
    const uint64_t first = batch->entries[0].sequence;
    uint64_t *begun = &world->begun[party.index];
    world->marks[UVEA_MARK_REPEATED_BATCH] += first <= *begun;
    *begun = first > *begun ? first : *begun;
}

static bool looks_on(const struct uvea_world *world)
{
    return world->options->judge != UVEA_JUDGE_RESULTS;
}

static void see_processed(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct uvea_world *world = arg;
    uvea_sim_onlooker(world->sim, true);
    if (party.index == 0) {
        mark_batch(world, batch);
    }
    if (looks_on(world)) {
        uvea_ledger_processed(world->ledger, party, batch);
    }
    uvea_sim_onlooker(world->sim, false);
}

static void see_committed(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct uvea_world *world = arg;
    uvea_sim_onlooker(world->sim, true);
    if (looks_on(world)) {
        uvea_ledger_committed(world->ledger, party, batch);
    }
    uvea_sim_onlooker(world->sim, false);
}

static void see_published(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct uvea_world *world = arg;
    uvea_sim_onlooker(world->sim, true);
    if (looks_on(world)) {
        uvea_ledger_published(world->ledger, party, batch);
    }
    uvea_sim_onlooker(world->sim, false);
}

// ---- setting up

static enum uvea_error open_sim(struct uvea_world *world, struct uvea_error_context *context)
{
    struct uvea_sim_config config;
    uvea_setup_sim(&world->scenario, &config);
    UVEA_TRY(uvea_sim_open(&config, &world->sim, context));
    uvea_sim_watch(world->sim, uvea_leak_watch, &world->leak);
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
    return option(world, UVEA_OPTION_network_tls) == 0
               ? UVEA_OK
               : uvea_sim_tls_open(world->sim, config.seed, uvea_setup_mesh_addresses, &world->tls,
                                   context);
}

static enum uvea_error open_machines(struct uvea_world *world, struct uvea_error_context *context)
{
    for (unsigned index = 0; index < UVEA_PARTY_COUNT; index++) {
        struct uvea_machine *machine = &world->machines[index];
        machine->sim = world->sim;
        machine->index = index;
        machine->ledger = world->ledger;
        UVEA_TRY(uvea_setup_node(&world->scenario, index, &machine->config, context));
        machine->config.observer = (struct uvea_node_observer){
            .arg = world,
            .begun = see_begun,
            .processed = see_processed,
            .committed = see_committed,
            .published = see_published,
        };
        UVEA_TRY(uvea_machine_open(machine, option(world, UVEA_OPTION_root_seed)));
    }
    return UVEA_OK;
}

// ---- the database before the first request

enum {
    SEED_BATCH = 16,   // records written in one transaction
    LEAK_RECORDS = 32, // records whose shares are looked for on the network
};

struct enrolment {
    struct uvea_template_pair pair;
    struct uvea_oracle_pair oracle_pair;
    struct uvea_iris_share split[UVEA_PARTY_COUNT];
    struct uvea_iris_upload uploads[UVEA_PARTY_COUNT];
    uint16_t eyes[UVEA_PARTY_COUNT][SEED_BATCH][UVEA_EYE_COUNT][UVEA_RECORD_COEFFICIENTS];
    struct uvea_sim_random randomness; // stream "shares/database"
    struct uvea_store *stores[UVEA_PARTY_COUNT];
};

static enum uvea_error enrol_one(struct uvea_world *world, struct enrolment *enrolment,
                                 size_t index, size_t slot, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_population_record(&world->population, index, &enrolment->pair, context));
    uvea_population_to_oracle(&enrolment->pair, &enrolment->oracle_pair);
    UVEA_TRY(uvea_ledger_seed(world->ledger, &enrolment->oracle_pair, NULL));
    uvea_population_split(&enrolment->pair, &enrolment->randomness, enrolment->split,
                          enrolment->uploads);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (index < LEAK_RECORDS) {
            UVEA_TRY(uvea_leak_know(&world->leak, party, &enrolment->uploads[party]));
        }
        for (unsigned eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            uvea_scan_record_of_share(&enrolment->uploads[party].eye[eye],
                                      enrolment->eyes[party][slot][eye]);
        }
    }
    return UVEA_OK;
}

static enum uvea_error write_records(struct enrolment *enrolment, size_t count,
                                     struct uvea_error_context *context)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct uvea_store_record records[SEED_BATCH] = {{.serial = 0}};
        for (size_t i = 0; i < count; i++) {
            records[i].eye[UVEA_EYE_LEFT] = enrolment->eyes[party][i][UVEA_EYE_LEFT];
            records[i].eye[UVEA_EYE_RIGHT] = enrolment->eyes[party][i][UVEA_EYE_RIGHT];
        }
        UVEA_TRY(uvea_store_seed(enrolment->stores[party], records, count, context));
    }
    return UVEA_OK;
}

static enum uvea_error enrol_all(struct uvea_world *world, struct enrolment *enrolment,
                                 struct uvea_error_context *context)
{
    const size_t records = option(world, UVEA_OPTION_database_records);
    size_t slot = 0;
    for (size_t i = 0; i < records; i++) {
        UVEA_TRY(enrol_one(world, enrolment, i, slot++, context));
        if (slot == SEED_BATCH || i + 1 == records) {
            UVEA_TRY(write_records(enrolment, slot, context));
            slot = 0;
        }
    }
    return UVEA_OK;
}

static enum uvea_error enrol(struct uvea_world *world, struct uvea_error_context *context)
{
    struct enrolment *enrolment;
    enum uvea_error error = UVEA_OK;
    if (option(world, UVEA_OPTION_database_records) == 0) {
        return UVEA_OK;
    }
    enrolment = uvea_mem_alloc(1, sizeof(*enrolment));
    if (enrolment == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_sim_random_init(&enrolment->randomness, option(world, UVEA_OPTION_root_seed),
                         "shares/database");
    UVEA_TRY_CLEANUP(uvea_world_open_stores(world, enrolment->stores, context));
    UVEA_TRY_CLEANUP(enrol_all(world, enrolment, context));
cleanup:
    uvea_world_close_stores(enrolment->stores);
    uvea_mem_free(enrolment);
    return error;
}

enum uvea_error uvea_world_open_stores(struct uvea_world *world,
                                       struct uvea_store *stores[UVEA_PARTY_COUNT],
                                       struct uvea_error_context *context)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_machine *machine = &world->machines[party];
        UVEA_TRY(uvea_store_open_sqlite(machine->rt, UVEA_MACHINE_STORE,
                                        uvea_sim_disk_vfs(machine->disk), &stores[party], context));
    }
    return UVEA_OK;
}

void uvea_world_close_stores(struct uvea_store *stores[UVEA_PARTY_COUNT])
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_store_close(stores[party]);
        stores[party] = NULL;
    }
}

// ---- running

static enum uvea_error restart(void *arg, const struct uvea_request_plan *plan,
                               struct uvea_error_context *reason)
{
    struct uvea_world *world = arg;
    (void)reason;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (plan->party != UVEA_PLAN_PARTY_ALL && plan->party != (enum uvea_plan_party)party) {
            continue;
        }
        if (plan->how == UVEA_PLAN_KILL) {
            uvea_machine_kill(&world->machines[party], UVEA_MACHINE_UNHARMED);
        } else {
            uvea_machine_stop(&world->machines[party], false, "asked to restart");
        }
    }
    return UVEA_OK;
}

static void run_client(void *arg)
{
    struct uvea_world *world = arg;
    uvea_client_run(&world->client);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_machine_stop(&world->machines[party], true, "the run is over");
    }
}

// How long the client may take: until the faults are over and everybody had time to catch up.
static uint64_t client_time_ns(const struct uvea_world *world)
{
    return uvea_injector_end_ns(&world->scenario) +
           option(world, UVEA_OPTION_swarm_recovery_s) * UVEA_SECOND +
           world->scenario.request_count * option(world, UVEA_OPTION_client_pause_ms) * UVEA_MS * 4;
}

const enum uvea_option uvea_world_crash_steps[UVEA_PARTY_COUNT] = {
    UVEA_OPTION_crash_p0_step,
    UVEA_OPTION_crash_p1_step,
    UVEA_OPTION_crash_p2_step,
};

static enum uvea_error start(struct uvea_world *world, struct uvea_error_context *context)
{
    struct uvea_rt *rt = uvea_sim_rt(world->sim, UVEA_WORLD_CLIENT);
    for (unsigned index = 0; index < UVEA_PARTY_COUNT; index++) {
        UVEA_TRY(uvea_machine_start(&world->machines[index]));
        uvea_machine_plan_death(&world->machines[index],
                                option(world, uvea_world_crash_steps[index]));
    }
    world->client = (struct uvea_client){
        .rt = rt,
        .scenario = &world->scenario,
        .population = &world->population,
        .ledger = world->ledger,
        .simulated = true,
        .leak = &world->leak,
        .poll_ns_max = 200 * UVEA_MS,
        .deadline_ns = uvea_rt_deadline_ns(rt, client_time_ns(world)),
        .restart = restart,
        .restart_arg = world,
        .progress = world->options->progress,
        .progress_arg = world->options->progress_arg,
    };
    for (unsigned index = 0; index < UVEA_PARTY_COUNT; index++) {
        const struct uvea_share_keys *keys = &world->machines[index].config.keys;
        world->client.addresses[index] = uvea_setup_http_addresses[index];
        memcpy(world->client.public_keys[index], keys->current.public_key, UVEA_SHARE_KEY_BYTES);
    }
    world->injector.sim = world->sim;
    world->injector.scenario = &world->scenario;
    world->injector.machines = world->machines;
    UVEA_TRY(uvea_injector_arm(&world->injector, context));
    return uvea_sim_start(world->sim, UVEA_WORLD_CLIENT, "client", run_client, world);
}

static void world_deinit(struct uvea_world *world)
{
    uvea_sim_close(world->sim);
    uvea_sim_tls_close(world->tls);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_machine_close(&world->machines[party]);
    }
    uvea_injector_deinit(&world->injector);
    uvea_leak_deinit(&world->leak);
    uvea_population_deinit(&world->population);
    uvea_ledger_close(world->ledger);
    uvea_ledger_close(world->second);
    uvea_scenario_deinit(&world->scenario);
    uvea_mem_free(world);
}

static bool only_restarts(const struct uvea_scenario *scenario)
{
    size_t at = 0;
    while (at < scenario->request_count && scenario->requests[at].type == UVEA_PLAN_RESTART) {
        at++;
    }
    return at == scenario->request_count;
}

enum uvea_error uvea_world_check(const struct uvea_scenario *scenario, unsigned *line,
                                 struct uvea_error_context *context)
{
    struct uvea_scenario expanded;
    struct uvea_population population;
    enum uvea_error error;
    *line = 0;
    if (only_restarts(scenario)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "no requests: nothing would be checked");
    }
    UVEA_TRY(uvea_expand(scenario, &expanded));
    error = uvea_population_init(&population, &expanded, context);
    if (error == UVEA_OK) {
        error = uvea_population_check(&population, line, context);
        uvea_population_deinit(&population);
    }
    uvea_scenario_deinit(&expanded);
    return error;
}

static enum uvea_error open_ledgers(struct uvea_world *world, struct uvea_error_context *context)
{
    struct uvea_ledger_config config = uvea_setup_ledger(&world->scenario);
    const enum uvea_world_judge judge = world->options->judge;
    if (judge != UVEA_JUDGE_ONLOOKERS && config.hostile) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "class: hostile runs are judged by onlookers alone");
    }
    config.from_results = judge == UVEA_JUDGE_RESULTS;
    UVEA_TRY(uvea_ledger_open(&config, &world->ledger));
    if (judge == UVEA_JUDGE_BOTH) {
        config.from_results = true;
        UVEA_TRY(uvea_ledger_open(&config, &world->second));
        uvea_ledger_repeat(world->ledger, world->second);
    }
    return UVEA_OK;
}

static enum uvea_error set_up(struct uvea_world *world, struct uvea_error_context *context)
{
    UVEA_TRY(open_ledgers(world, context));
    UVEA_TRY(uvea_population_init(&world->population, &world->scenario, context));
    UVEA_TRY(open_sim(world, context));
    UVEA_TRY(open_machines(world, context));
    UVEA_TRY(enrol(world, context));
    return start(world, context);
}

enum uvea_error uvea_world_run(const struct uvea_scenario *scenario,
                               const struct uvea_world_options *options,
                               struct uvea_world_result *result, struct uvea_error_context *context)
{
    struct uvea_world *world = uvea_mem_alloc(1, sizeof(*world));
    enum uvea_error error;
    struct uvea_sim_outcome outcome;
    if (world == NULL) {
        return UVEA_ERR_MEMORY;
    }
    world->options = options;
    error = uvea_expand(scenario, &world->scenario);
    if (error != UVEA_OK) {
        uvea_mem_free(world);
        return error;
    }
    UVEA_TRY_CLEANUP(set_up(world, context));
    uvea_sim_run(world->sim, &outcome);
    if (world->client.bad_plan && world->scenario.fault_count == 0) {
        error = uvea_error_set(context, world->client.error, "%s", world->client.reason.text);
        goto cleanup;
    }
    error = uvea_world_conclude(world, &outcome, result, context);
cleanup:
    world_deinit(world);
    return error;
}
