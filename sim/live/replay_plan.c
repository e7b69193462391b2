// What of a scenario a live cluster can do.
#include "core/base/mem.h"
#include "sim/chaos/expand.h"
#include "sim/live/replay_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *uvea_replay_act_text(enum uvea_replay_act act)
{
    static const char *const texts[] = {
        [UVEA_REPLAY_START] = "start", [UVEA_REPLAY_STOP] = "stop", [UVEA_REPLAY_KILL] = "kill"};
    return texts[act];
}

// ---- what only the simulator can bring about

UVEA_PRINTF(2, 3)
static void name(char list[UVEA_REPLAY_IGNORED_CHARS], const char *format, ...)
{
    char what[80];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    const size_t used = strlen(list);
    (void)snprintf(list + used, UVEA_REPLAY_IGNORED_CHARS - used, "%s%s", used == 0 ? "" : ", ",
                   what);
}

// Each kind once, in the order of the file.
static void name_faults(const struct uvea_scenario *scenario, char list[UVEA_REPLAY_IGNORED_CHARS])
{
    bool named[UVEA_FAULT_COUNT] = {false};
    for (size_t i = 0; i < scenario->fault_count; i++) {
        const enum uvea_fault_plan_kind kind = scenario->faults[i].kind;
        if (!named[kind]) {
            name(list, "fault %s", uvea_fault_info(kind)->text);
        }
        named[kind] = true;
    }
    if (scenario->options[UVEA_OPTION_swarm_faults] != 0) {
        name(list, "swarm.faults");
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (scenario->options[uvea_world_crash_steps[party]] != 0) {
            name(list, "crash.p%u_step", party);
        }
    }
}

enum uvea_error uvea_replay_calm(const struct uvea_scenario *in, struct uvea_scenario *out)
{
    UVEA_TRY(uvea_scenario_copy(in, out));
    out->fault_count = 0;
    out->options[UVEA_OPTION_swarm_faults] = 0;
    out->options[UVEA_OPTION_root_class] = 0;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        out->options[uvea_world_crash_steps[party]] = 0;
    }
    return UVEA_OK;
}

static enum uvea_error refuse_faults(const struct uvea_replay_config *config,
                                     char ignored[UVEA_REPLAY_IGNORED_CHARS],
                                     struct uvea_error_context *context)
{
    name_faults(config->scenario, ignored);
    if (ignored[0] != '\0' && !config->ignore_faults) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "only the simulator can do what the scenario asks for: %s; with "
                              "--ignore-faults it is left out",
                              ignored);
    }
    if (config->scenario->options[UVEA_OPTION_root_class] != 0 && !config->ignore_faults) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "class: hostile is for runs in the simulator only; with "
                              "--ignore-faults it is left out");
    }
    return UVEA_OK;
}

// ---- restarts

static enum uvea_error need(const struct uvea_replay_config *config,
                            const struct uvea_request_plan *plan, unsigned party,
                            enum uvea_replay_act act, struct uvea_error_context *context)
{
    if (!uvea_replay_can(&config->control, party, act)) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "requests[%u] restarts party %u, but the cluster file names no "
                              "command to %s it (parties[%u].%s)",
                              plan->entry, party, uvea_replay_act_text(act), party,
                              uvea_replay_act_text(act));
    }
    return UVEA_OK;
}

static enum uvea_error check_restarts(const struct uvea_replay_config *config,
                                      const struct uvea_scenario *scenario,
                                      struct uvea_error_context *context)
{
    for (size_t i = 0; i < scenario->request_count; i++) {
        const struct uvea_request_plan *plan = &scenario->requests[i];
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            if (plan->type != UVEA_PLAN_RESTART) {
                continue;
            }
            // Its peers end when one does, so that all have to be started.
            UVEA_TRY(need(config, plan, party, UVEA_REPLAY_START, context));
            if (plan->party == UVEA_PLAN_PARTY_ALL || plan->party == (enum uvea_plan_party)party) {
                UVEA_TRY(need(config, plan, party,
                              plan->how == UVEA_PLAN_KILL ? UVEA_REPLAY_KILL : UVEA_REPLAY_STOP,
                              context));
            }
        }
    }
    return UVEA_OK;
}

// ---- the database as requests

// Record `index` as a request that the population makes of the same pair.
static struct uvea_request_plan enrolment(const struct uvea_scenario *scenario, size_t index)
{
    const bool templates = scenario->options[UVEA_OPTION_database_source] != 0;
    return (struct uvea_request_plan){
        .type = UVEA_PLAN_UNIQUENESS,
        .kind = templates ? UVEA_PLAN_TEMPLATE : UVEA_PLAN_NEW,
        .index = templates ? index + 1 : 0,
        .bad_share = UVEA_PLAN_PARTY_NONE,
        .expect = {.has_match = true, .has_serial = true, .serial = index + 1},
    };
}

static enum uvea_error put_database_in_front(struct uvea_scenario *scenario, size_t *enrolments)
{
    const size_t records = scenario->options[UVEA_OPTION_database_records];
    struct uvea_request_plan *requests =
        uvea_mem_alloc(records + scenario->request_count, sizeof(*requests));
    if (requests == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < records; i++) {
        requests[i] = enrolment(scenario, i);
    }
    for (size_t i = 0; i < scenario->request_count; i++) {
        requests[records + i] = scenario->requests[i];
    }
    uvea_mem_free(scenario->requests);
    scenario->requests = requests;
    scenario->request_count += records;
    scenario->options[UVEA_OPTION_database_records] = 0;
    *enrolments = records;
    return UVEA_OK;
}

enum uvea_error uvea_replay_plan(const struct uvea_replay_config *config, struct uvea_scenario *out,
                                 size_t *enrolments, char ignored[UVEA_REPLAY_IGNORED_CHARS],
                                 struct uvea_error_context *context)
{
    struct uvea_scenario calm;
    struct uvea_scenario plan;
    UVEA_TRY(refuse_faults(config, ignored, context));
    UVEA_TRY(check_restarts(config, config->scenario, context));
    UVEA_TRY(uvea_replay_calm(config->scenario, &calm));
    enum uvea_error error = uvea_expand(&calm, &plan);
    uvea_scenario_deinit(&calm);
    UVEA_TRY(error);
    error = put_database_in_front(&plan, enrolments);
    if (error != UVEA_OK) {
        uvea_scenario_deinit(&plan);
        return error;
    }
    *out = plan;
    return UVEA_OK;
}
