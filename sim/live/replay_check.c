// Whether a cluster is what a scenario asks for, before anything is sent to it.
#include "core/coord/sync.h"
#include "sim/live/replay_impl.h"
#include "sim/world/outcome.h"
#include "sim/world/setup.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_CHARS = 60 };
#define PAUSE_NS (200 * UVEA_MS)
#define FIRST_NS_MAX (30 * UVEA_SECOND) // for parties that are starting

// ---- asking

// Goes on until it is answered with 200, or its time is over.
static enum uvea_error get(const struct uvea_replay_config *config, struct uvea_keeper *keeper,
                           unsigned party, const char *target, struct uvea_http_response *response,
                           struct uvea_error_context *context)
{
    const struct uvea_http_request request = {.method = "GET", .target = target};
    const uint64_t deadline_ns = uvea_rt_deadline_ns(config->rt, FIRST_NS_MAX);
    for (;;) {
        const enum uvea_error error =
            uvea_rt_http_call(config->rt, config->addresses[party], &request, response,
                              uvea_rt_deadline_ns(config->rt, 10 * UVEA_SECOND));
        keeper->heard = keeper->heard || error == UVEA_OK;
        if (error == UVEA_OK && response->status == 200) {
            return UVEA_OK;
        }
        const unsigned status = error == UVEA_OK ? response->status : 0;
        uvea_http_response_deinit(response);
        *response = (struct uvea_http_response){.status = 0};
        if (uvea_rt_now_ns(config->rt) >= deadline_ns) {
            char outcome[UVEA_OUTCOME_CHARS];
            uvea_outcome_text(error, status, outcome);
            return uvea_error_set(context, UVEA_ERR_TIMEOUT,
                                  "party %u at %s does not answer GET %s: %s", party,
                                  config->addresses[party], target, outcome);
        }
        UVEA_TRY(uvea_keeper_attend(keeper, 0, context));
        UVEA_TRY(uvea_rt_sleep_ns(config->rt, PAUSE_NS));
    }
}

// ---- its configuration

static void describe(const json_t *value, char text[VALUE_CHARS])
{
    text[0] = '\0';
    if (value == NULL) {
        (void)snprintf(text, VALUE_CHARS, "nothing");
        return;
    }
    const size_t bytes = json_dumpb(value, text, VALUE_CHARS - 1, JSON_ENCODE_ANY | JSON_COMPACT);
    text[bytes < VALUE_CHARS ? bytes : VALUE_CHARS - 1] = '\0';
}

// Everything but what the cluster is called.
static enum uvea_error compare(unsigned party, json_t *wanted, const json_t *got,
                               struct uvea_error_context *context)
{
    const char *field;
    json_t *value;
    json_object_foreach(wanted, field, value)
    {
        const json_t *has = json_object_get(got, field);
        char left[VALUE_CHARS];
        char right[VALUE_CHARS];
        if (strcmp(field, "environment") == 0 || (has != NULL && json_equal(value, has))) {
            continue;
        }
        describe(has, left);
        describe(value, right);
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "party %u is configured with %s %s, the scenario asks for %s", party,
                              field, left, right);
    }
    return UVEA_OK;
}

static enum uvea_error append_config(const json_t *config, struct uvea_buf *out)
{
    const size_t flags = JSON_INDENT(2) | JSON_SORT_KEYS;
    const size_t bytes = json_dumpb(config, NULL, 0, flags);
    uint8_t *room = uvea_buf_extend(out, bytes);
    return room != NULL && json_dumpb(config, (char *)room, bytes, flags) == bytes
               ? UVEA_OK
               : UVEA_ERR_MEMORY;
}

static enum uvea_error check_state(const struct uvea_replay_config *config,
                                   struct uvea_keeper *keeper, unsigned party, json_t *wanted,
                                   struct uvea_buf *common_config,
                                   struct uvea_error_context *context)
{
    struct uvea_http_response response = {.status = 0};
    struct uvea_sync_state state = {.db_len = 0};
    enum uvea_error error;
    UVEA_TRY(get(config, keeper, party, "/startup-sync", &response, context));
    error = uvea_sync_state_decode(response.body.data, response.body.len, &state, context);
    uvea_http_response_deinit(&response);
    UVEA_TRY(error);
    UVEA_TRY_CLEANUP(compare(party, wanted, state.common_config, context));
    if (state.db_len != 0) {
        error = uvea_error_set(
            context, UVEA_ERR_USAGE,
            "the cluster is not empty: party %u holds %llu records; " UVEA_REPLAY_FRESH, party,
            (unsigned long long)state.db_len);
    }
    if (error == UVEA_OK && party == 0) {
        error = append_config(state.common_config, common_config);
    }
cleanup:
    uvea_sync_state_deinit(&state);
    return error;
}

// ---- its past

// The list that a party gives under `member` has no entry.
static enum uvea_error check_empty(const struct uvea_replay_config *config,
                                   struct uvea_keeper *keeper, unsigned party, const char *target,
                                   const char *member, struct uvea_error_context *context)
{
    struct uvea_http_response response = {.status = 0};
    UVEA_TRY(get(config, keeper, party, target, &response, context));
    json_t *answer = json_loadb((const char *)response.body.data, response.body.len,
                                JSON_REJECT_DUPLICATES, NULL);
    const json_t *list = json_object_get(answer, member);
    const bool is_list = json_is_array(list);
    const size_t count = json_array_size(list);
    json_decref(answer);
    uvea_http_response_deinit(&response);
    if (!is_list) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "party %u answers GET %s without a list of %s", party, target,
                              member);
    }
    if (count > 0) {
        return uvea_error_set(
            context, UVEA_ERR_USAGE,
            "the cluster is not empty: party %u has %s of earlier requests; " UVEA_REPLAY_FRESH,
            party, member);
    }
    return UVEA_OK;
}

enum uvea_error uvea_replay_check(const struct uvea_replay_config *config,
                                  struct uvea_keeper *keeper, struct uvea_buf *common_config,
                                  struct uvea_error_context *context)
{
    json_t *wanted = uvea_setup_common_config(config->scenario);
    enum uvea_error error = wanted == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
    for (unsigned party = 0; error == UVEA_OK && party < UVEA_PARTY_COUNT; party++) {
        error = check_state(config, keeper, party, wanted, common_config, context);
    }
    json_decref(wanted);
    UVEA_TRY(error);
    UVEA_TRY(check_empty(config, keeper, 0, "/v1/topic?max=1", "messages", context));
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY(check_empty(config, keeper, party, "/v1/results?max=1", "results", context));
    }
    return UVEA_OK;
}
