#include "tests/live/stage.h"

#include "core/base/mem.h"
#include "sim/runtime/process.h"
#include "sim/world/setup.h"
#include "tests/support/cmocka.h"

#include <string.h>

void stage_load(const char *text, struct uvea_scenario *scenario)
{
    struct uvea_error_context context = {.text = ""};
    const enum uvea_error error = uvea_scenario_parse("stage.yaml", (const uint8_t *)text,
                                                      strlen(text), NULL, 0, scenario, &context);
    if (error != UVEA_OK) {
        fail_msg("%s", context.text);
    }
}

// ---- what a cluster's commands would do

static enum uvea_error act(void *arg, unsigned party, enum uvea_replay_act act,
                           struct uvea_error_context *context)
{
    struct stage *stage = arg;
    struct uvea_machine *machine = &stage->machines[party];
    stage->acts[act]++;
    if (act == UVEA_REPLAY_START && stage->broken[party]) {
        return uvea_error_set(context, UVEA_ERR_IO, "no such program");
    }
    switch (act) {
    case UVEA_REPLAY_START: // one that ended by itself is about to start anyway
        machine->retired = false;
        return uvea_machine_start(machine) == UVEA_ERR_MEMORY ? UVEA_ERR_MEMORY : UVEA_OK;
    case UVEA_REPLAY_STOP:
        uvea_machine_stop(machine, true, "asked to stop");
        break;
    default:
        machine->retired = true;
        uvea_machine_kill(machine, UVEA_MACHINE_UNHARMED);
    }
    do { // what is left of it ends a little later
        UVEA_TRY(uvea_rt_sleep_ns(stage->rt, UVEA_SECOND));
    } while (uvea_sim_process_running(stage->sim, party));
    return UVEA_OK;
}

static enum uvea_error open_store(void *arg, unsigned party, struct uvea_store **store,
                                  struct uvea_error_context *context)
{
    struct stage *stage = arg;
    return uvea_store_open_sqlite(stage->rt, UVEA_MACHINE_STORE,
                                  uvea_sim_disk_vfs(stage->machines[party].disk), store, context);
}

// ---- setting up

static void open_machines(struct stage *stage)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct uvea_machine *machine = &stage->machines[party];
        *machine =
            (struct uvea_machine){.sim = stage->sim, .index = party, .ledger = stage->ledger};
        assert_int_equal(uvea_setup_node(&stage->cluster, party, &machine->config, &stage->context),
                         UVEA_OK);
        assert_int_equal(uvea_machine_open(machine, stage->cluster.options[UVEA_OPTION_root_seed]),
                         UVEA_OK);
        stage->config.addresses[party] = uvea_setup_http_addresses[party];
        memcpy(stage->config.public_keys[party], machine->config.keys.current.public_key,
               UVEA_SHARE_KEY_BYTES);
        stage->config.control.can[party] = 7;
    }
}

struct stage *stage_open(const char *cluster, const char *scenario)
{
    struct stage *stage = uvea_mem_alloc(1, sizeof(*stage));
    struct uvea_sim_config config;
    assert_non_null(stage);
    stage_load(cluster, &stage->cluster);
    stage_load(scenario, &stage->scenario);
    uvea_setup_sim(&stage->cluster, &config);
    const struct uvea_ledger_config ledger = uvea_setup_ledger(&stage->cluster);
    assert_int_equal(uvea_sim_open(&config, &stage->sim, &stage->context), UVEA_OK);
    assert_int_equal(uvea_ledger_open(&ledger, &stage->ledger), UVEA_OK);
    stage->rt = uvea_sim_rt(stage->sim, UVEA_PARTY_COUNT);
    stage->replays = 1;
    stage->config = (struct uvea_replay_config){
        .rt = stage->rt,
        .simulated = true,
        .scenario = &stage->scenario,
        .control = {.arg = stage, .act = act, .open_store = open_store},
        .patience_ns = 120 * UVEA_SECOND,
    };
    open_machines(stage);
    return stage;
}

static void replay(void *arg)
{
    struct stage *stage = arg;
    assert_int_equal(uvea_rt_sleep_ns(stage->rt, stage->after_ns), UVEA_OK);
    for (unsigned i = 0; i < stage->replays; i++) {
        uvea_replay_result_deinit(&stage->result);
        stage->result = (struct uvea_replay_result){.requests = 0};
        stage->context.text[0] = '\0';
        stage->error = uvea_replay_run(&stage->config, &stage->result, &stage->context);
    }
    stage->over = true;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_machine_stop(&stage->machines[party], true, "the run is over");
    }
}

void stage_run(struct stage *stage)
{
    struct uvea_sim_outcome outcome;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        assert_int_equal(uvea_machine_start(&stage->machines[party]), UVEA_OK);
    }
    assert_int_equal(uvea_sim_start(stage->sim, UVEA_PARTY_COUNT, "replay", replay, stage),
                     UVEA_OK);
    if (stage->beside != NULL) {
        assert_int_equal(
            uvea_sim_start(stage->sim, UVEA_PARTY_COUNT, "beside", stage->beside, stage), UVEA_OK);
    }
    uvea_sim_run(stage->sim, &outcome);
    if (outcome.end != UVEA_SIM_FINISHED) {
        fail_msg("%s: %s", uvea_sim_end_text(outcome.end), outcome.blocked);
    }
}

void stage_close(struct stage *stage)
{
    uvea_sim_close(stage->sim);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_machine_close(&stage->machines[party]);
    }
    uvea_ledger_close(stage->ledger);
    uvea_replay_result_deinit(&stage->result);
    uvea_scenario_deinit(&stage->cluster);
    uvea_scenario_deinit(&stage->scenario);
    uvea_mem_free(stage);
}

void stage_expect_pass(const char *cluster, const char *scenario)
{
    struct stage *stage = stage_open(cluster, scenario);
    stage_run(stage);
    const struct uvea_replay_result *result = &stage->result;
    if (stage->error != UVEA_OK || result->verdict != UVEA_VERDICT_PASS) {
        fail_msg("%s: %s%s", uvea_error_text(stage->error), stage->context.text, result->reason);
    }
    assert_int_equal(result->responses, 3 * result->requests);
    assert_true(result->ledger_checked);
    stage_close(stage);
}
