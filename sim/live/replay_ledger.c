// The whole ledger check: the parties are stopped, their stores looked at, and the parties started
// again.
#include "sim/live/replay_impl.h"

#include <stdio.h>

#define STORE_PAUSE_NS (200 * UVEA_MS)  // between two tries to open a store that is in use
#define STORE_NS_MAX (20 * UVEA_SECOND) // in all
#define BACK_PAUSE_NS (200 * UVEA_MS)   // between two looks at parties that start again
#define BACK_NS_MAX (60 * UVEA_SECOND)  // in all

static enum uvea_error open_store(const struct uvea_replay *replay, unsigned party,
                                  struct uvea_store **store, struct uvea_error_context *context)
{
    const struct uvea_replay_control *control = &replay->config->control;
    const uint64_t deadline_ns = uvea_rt_deadline_ns(replay->config->rt, STORE_NS_MAX);
    for (;;) {
        const enum uvea_error error = control->open_store(control->arg, party, store, context);
        if (error != UVEA_ERR_IO || uvea_rt_now_ns(replay->config->rt) >= deadline_ns) {
            return error;
        }
        UVEA_TRY(uvea_rt_sleep_ns(replay->config->rt, STORE_PAUSE_NS));
    }
}

static enum uvea_error check_stores(const struct uvea_replay *replay,
                                    struct uvea_error_context *context)
{
    struct uvea_store *stores[UVEA_PARTY_COUNT] = {NULL};
    enum uvea_error error = UVEA_OK;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY_CLEANUP(open_store(replay, party, &stores[party], context));
    }
    error = uvea_ledger_finish(replay->ledger, stores, context);
cleanup:
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_store_close(stores[party]);
    }
    return error;
}

// Why the stores cannot be looked at; NULL when they can.
static const char *obstacle(const struct uvea_replay *replay)
{
    const struct uvea_replay_control *control = &replay->config->control;
    if (control->open_store == NULL) {
        return "the cluster file does not name the parties' stores";
    }
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (!uvea_replay_can(control, party, UVEA_REPLAY_STOP) ||
            !uvea_replay_can(control, party, UVEA_REPLAY_START)) {
            return "the cluster file names no commands to stop and start each party";
        }
    }
    if (uvea_ledger_wrong(replay->ledger)) {
        return "an answer is wrong";
    }
    return replay->client.finished ? NULL : "not every request was answered by all parties";
}

// Starts the parties, and waits until they are ready.
static enum uvea_error bring_back(struct uvea_replay *replay)
{
    struct uvea_keeper *keeper = &replay->keeper;
    struct uvea_rt *rt = replay->config->rt;
    struct uvea_error_context said = {.text = ""};
    const uint64_t deadline_ns = uvea_rt_deadline_ns(rt, BACK_NS_MAX);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_keeper_start(keeper, party);
    }
    enum uvea_error error = uvea_keeper_attend(keeper, 0, &said);
    while (error == UVEA_OK && !uvea_keeper_all_ready(keeper) && uvea_rt_now_ns(rt) < deadline_ns) {
        UVEA_TRY(uvea_rt_sleep_ns(rt, BACK_PAUSE_NS));
        error = uvea_keeper_attend(keeper, 0, &said);
    }
    if (!uvea_keeper_all_ready(keeper)) {
        if (error == UVEA_OK) {
            uvea_keeper_describe(keeper, &said);
        }
        (void)snprintf(replay->result->afterwards, sizeof(replay->result->afterwards), "%s",
                       said.text);
    }
    return UVEA_OK;
}

enum uvea_error uvea_replay_check_ledger(struct uvea_replay *replay,
                                         struct uvea_error_context *context)
{
    struct uvea_replay_result *result = replay->result;
    const char *why = obstacle(replay);
    if (why != NULL) {
        (void)snprintf(result->ledger, sizeof(result->ledger), "skipped, %s", why);
        return UVEA_OK;
    }
    const struct uvea_replay_control *control = &replay->config->control;
    enum uvea_error error = UVEA_OK;
    for (unsigned party = 0; error == UVEA_OK && party < UVEA_PARTY_COUNT; party++) {
        error = control->act(control->arg, party, UVEA_REPLAY_STOP, context);
    }
    if (error == UVEA_OK) {
        error = check_stores(replay, context);
    }
    UVEA_TRY(bring_back(replay));
    UVEA_TRY(error);
    const struct uvea_ledger_verdict verdict = uvea_ledger_verdict(replay->ledger);
    result->ledger_checked = true;
    (void)snprintf(result->ledger, sizeof(result->ledger), "%.400s",
                   verdict.reason[0] == '\0' ? "the three stores hold what the oracle says"
                                             : verdict.reason);
    return UVEA_OK;
}
