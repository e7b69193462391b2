#include "sim/world/client.h"

#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/service/message.h"
#include "sim/runtime/sim.h"
#include "sim/world/client_http.h"
#include "sim/world/malformed.h"
#include "sim/world/outcome.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 40 };
#define POLL_NS_MIN (5 * UVEA_MS)
#define UNATTENDED_NS_MAX (200 * UVEA_MS)

// What one request needs; too big for a task's stack.
struct turn {
    struct uvea_demand demand;
    struct uvea_oracle_pair oracle_pair;
    struct uvea_iris_share split[UVEA_PARTY_COUNT];
    struct uvea_iris_upload uploads[UVEA_PARTY_COUNT];
    struct uvea_buf object;
    struct uvea_buf spoilt;
    struct uvea_buf envelope;
    struct uvea_sim_random shares;  // stream "shares/requests"
    struct uvea_sim_random spoiler; // stream "shares/spoilt"
    struct uvea_sim_random pause;   // stream "client"
    char key[NAME_BYTES];
    char id[NAME_BYTES];
    char s3_key[NAME_BYTES];
};

static bool late(const struct uvea_client *client)
{
    return uvea_rt_now_ns(client->rt) >= client->deadline_ns;
}

static void note(const struct uvea_client *client, const char *kind, const char *text)
{
    if (client->simulated) {
        uvea_sim_note(client->rt, kind, text);
    }
}

// ---- waiting

static enum uvea_error idle(struct uvea_client *client, uint64_t ns)
{
    const uint64_t end_ns = uvea_rt_deadline_ns(client->rt, ns);
    if (client->attend == NULL) {
        return uvea_rt_sleep_ns(client->rt, ns);
    }
    for (;;) {
        UVEA_TRY(client->attend(client->attend_arg, &client->reason));
        const uint64_t now_ns = uvea_rt_now_ns(client->rt);
        if (now_ns >= end_ns) {
            return UVEA_OK;
        }
        const uint64_t left_ns = end_ns - now_ns;
        UVEA_TRY(uvea_rt_sleep_ns(client->rt,
                                  left_ns < UNATTENDED_NS_MAX ? left_ns : UNATTENDED_NS_MAX));
    }
}

// ---- answers

static size_t under_way(const struct uvea_client *client)
{
    uint64_t least = client->read[0];
    for (unsigned party = 1; party < UVEA_PARTY_COUNT; party++) {
        least = client->read[party] < least ? client->read[party] : least;
    }
    return client->sent > least ? client->sent - (size_t)least : 0;
}

static void read_everybody(struct uvea_client *client)
{
    const size_t before = under_way(client);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        if (client->read[party] < client->sent) {
            uvea_client_read_results(client, party);
        }
    }
    if (under_way(client) >= before) {
        return;
    }
    if (client->simulated) {
        uvea_sim_progress(client->rt);
    }
    if (client->patience_ns != 0) {
        client->deadline_ns = uvea_rt_deadline_ns(client->rt, client->patience_ns);
    }
}

// Reads on from every party until no more than `most` requests wait for an answer of some party.
static enum uvea_error await(struct uvea_client *client, size_t most)
{
    uint64_t pause_ns = POLL_NS_MIN;
    while (under_way(client) > most) {
        const size_t before = under_way(client);
        UVEA_TRY(uvea_ledger_failure(client->ledger, &client->reason));
        if (uvea_ledger_wrong(client->ledger) && !client->carries_on) {
            return uvea_error_set(&client->reason, UVEA_ERR_STATE, "a wrong answer");
        }
        if (late(client)) {
            return uvea_error_set(&client->reason, UVEA_ERR_TIMEOUT,
                                  "%zu of %zu requests are not answered by all parties", before,
                                  client->sent);
        }
        read_everybody(client);
        if (under_way(client) < before) {
            pause_ns = POLL_NS_MIN;
            continue;
        }
        UVEA_TRY(idle(client, pause_ns));
        pause_ns = 2 * pause_ns < client->poll_ns_max ? 2 * pause_ns : client->poll_ns_max;
    }
    if (client->progress != NULL) {
        client->progress(client->progress_arg, client->sent - under_way(client),
                         client->scenario->request_count);
    }
    return UVEA_OK;
}

// ---- making a request

static enum uvea_message_kind kind_of(enum uvea_request_plan_type type)
{
    static const enum uvea_message_kind kinds[] = {
        [UVEA_PLAN_UNIQUENESS] = UVEA_MESSAGE_UNIQUENESS,
        [UVEA_PLAN_REAUTH] = UVEA_MESSAGE_REAUTH,
        [UVEA_PLAN_DELETION] = UVEA_MESSAGE_IDENTITY_DELETION,
        [UVEA_PLAN_RESET_CHECK] = UVEA_MESSAGE_RESET_CHECK,
        [UVEA_PLAN_RESET_UPDATE] = UVEA_MESSAGE_RESET_UPDATE,
        [UVEA_PLAN_RECOVERY_CHECK] = UVEA_MESSAGE_RECOVERY_CHECK,
        [UVEA_PLAN_RECOVERY_UPDATE] = UVEA_MESSAGE_RECOVERY_UPDATE,
        [UVEA_PLAN_MALFORMED] = UVEA_MESSAGE_MALFORMED,
    };
    return kinds[type];
}

static enum uvea_oracle_kind oracle_kind_of(enum uvea_request_plan_type type)
{
    static const enum uvea_oracle_kind kinds[] = {
        [UVEA_PLAN_UNIQUENESS] = UVEA_ORACLE_UNIQUENESS,
        [UVEA_PLAN_REAUTH] = UVEA_ORACLE_REAUTH,
        [UVEA_PLAN_DELETION] = UVEA_ORACLE_DELETION,
        [UVEA_PLAN_RESET_CHECK] = UVEA_ORACLE_RESET_CHECK,
        [UVEA_PLAN_RESET_UPDATE] = UVEA_ORACLE_RESET_UPDATE,
        [UVEA_PLAN_RECOVERY_CHECK] = UVEA_ORACLE_RECOVERY_CHECK,
        [UVEA_PLAN_RECOVERY_UPDATE] = UVEA_ORACLE_RECOVERY_UPDATE,
        [UVEA_PLAN_MALFORMED] = UVEA_ORACLE_MALFORMED,
    };
    return kinds[type];
}

static enum uvea_error make_envelope(struct turn *turn, const struct uvea_request_plan *plan)
{
    const struct uvea_message message = {
        .kind = kind_of(turn->demand.type),
        .message_id = turn->key,
        .id = turn->id,
        .s3_key = turn->s3_key,
        .serial_id = turn->demand.serial_id,
        .or_rule_serial_ids = plan->or_rule.serials,
        .or_rule_count = plan->or_rule.count,
        .skip_persistence = plan->skip_persistence,
        .has_mirror_flag = plan->mirror_detection,
        .mirror_flag = plan->mirror_detection,
        .use_or_rule = plan->use_or_rule,
        .trace_id = "",
        .span_id = "",
    };
    uvea_buf_clear(&turn->envelope);
    return message.kind == UVEA_MESSAGE_MALFORMED
               ? uvea_malformed_encode(turn->key, (enum uvea_plan_malformed)plan->how,
                                       &turn->envelope)
               : uvea_message_encode(&message, &turn->envelope);
}

static enum uvea_error make_object(struct uvea_client *client, struct turn *turn)
{
    uint8_t entropy[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    uvea_population_split(&turn->demand.pair, &turn->shares, turn->split, turn->uploads);
    uvea_sim_random_fill(&turn->shares, entropy[0], sizeof(entropy));
    uvea_buf_clear(&turn->object);
    for (unsigned party = 0; client->leak != NULL && party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY(uvea_leak_know(client->leak, party, &turn->uploads[party]));
    }
    return uvea_share_object_encode(turn->uploads,
                                    (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])client->public_keys,
                                    (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])entropy, &turn->object);
}

static enum uvea_error offer(struct uvea_client *client, struct turn *turn,
                             const struct uvea_request_plan *plan)
{
    const bool good = turn->demand.has_pair && plan->bad_share == UVEA_PLAN_PARTY_NONE;
    const struct uvea_oracle_order order = {
        .kind = oracle_kind_of(turn->demand.type),
        .id = turn->id,
        .message_id = turn->key,
        .pair = good ? &turn->oracle_pair : NULL,
        .serial_id = turn->demand.serial_id,
        .or_rule_serials = plan->or_rule.serials,
        .or_rule_count = plan->or_rule.count,
        .has_mirror_flag = plan->mirror_detection,
        .mirror_flag = plan->mirror_detection,
        .use_or_rule = plan->use_or_rule,
        .skip_persistence = plan->skip_persistence,
    };
    if (turn->demand.has_pair) {
        uvea_population_to_oracle(&turn->demand.pair, &turn->oracle_pair);
    }
    return uvea_ledger_offer(client->ledger, turn->key, &order, turn->demand.expect);
}

// ---- sending it

// Goes on until it has the answer 200; a body in answer to it is left in response.
static enum uvea_error insist(struct uvea_client *client, unsigned party,
                              const struct uvea_http_request *request,
                              struct uvea_http_response *response, uint64_t *tries)
{
    uint64_t pause_ns = POLL_NS_MIN;
    for (*tries = 1;; ++*tries) {
        const uint64_t deadline_ns = uvea_rt_deadline_ns(client->rt, 10 * UVEA_SECOND);
        const enum uvea_error error =
            uvea_client_call(client, party, request, response, deadline_ns);
        if (error == UVEA_OK && response->status == 200) {
            return UVEA_OK;
        }
        const unsigned status = error == UVEA_OK ? response->status : 0;
        uvea_http_response_deinit(response);
        if (status == 400 || status == 413) {
            return uvea_error_set(&client->reason, UVEA_ERR_STATE,
                                  "party %u refuses %s %s with status %u", party, request->method,
                                  request->target, status);
        }
        if (late(client)) {
            char outcome[UVEA_OUTCOME_CHARS];
            uvea_outcome_text(error, status, outcome);
            return uvea_error_set(&client->reason, UVEA_ERR_TIMEOUT,
                                  "party %u never took %s %s: %s", party, request->method,
                                  request->target, outcome);
        }
        UVEA_TRY(idle(client, pause_ns));
        pause_ns = 2 * pause_ns < UVEA_SECOND ? 2 * pause_ns : UVEA_SECOND;
    }
}

static bool is_spoilt(const struct uvea_request_plan *plan, unsigned party)
{
    return plan->bad_share == UVEA_PLAN_PARTY_ALL || plan->bad_share == (enum uvea_plan_party)party;
}

// A copy of the object in which one character of the party's box is another one.
static enum uvea_error spoil(struct turn *turn, unsigned party)
{
    char member[24];
    (void)snprintf(member, sizeof(member), "\"iris_share_%u\"", party);
    uvea_buf_clear(&turn->spoilt);
    UVEA_TRY(uvea_buf_append(&turn->spoilt, turn->object.data, turn->object.len));
    char *at = memmem(turn->spoilt.data, turn->spoilt.len, member, strlen(member));
    if (at == NULL) {
        return UVEA_ERR_STATE;
    }
    char *digit = at + strlen(member) + 64 + uvea_sim_random_below(&turn->spoiler, 4096);
    *digit = *digit == 'A' ? 'B' : 'A';
    return UVEA_OK;
}

static enum uvea_error put_shares(struct uvea_client *client, struct turn *turn,
                                  const struct uvea_request_plan *plan)
{
    char target[NAME_BYTES + 32];
    (void)snprintf(target, sizeof(target), "/v1/shares/%s", turn->s3_key);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        struct uvea_http_response response = {.status = 0};
        uint64_t tries;
        if (is_spoilt(plan, party)) {
            UVEA_TRY(spoil(turn, party));
        }
        const struct uvea_buf *object = is_spoilt(plan, party) ? &turn->spoilt : &turn->object;
        const struct uvea_http_request request = {
            .method = "PUT",
            .target = target,
            .body = object->data,
            .body_bytes = object->len,
        };
        UVEA_TRY(insist(client, party, &request, &response, &tries));
        uvea_http_response_deinit(&response);
    }
    return UVEA_OK;
}

static enum uvea_error post(struct uvea_client *client, struct turn *turn)
{
    const struct uvea_http_request request = {
        .method = "POST",
        .target = "/v1/requests",
        .body = turn->envelope.data,
        .body_bytes = turn->envelope.len,
    };
    uint64_t tries;
    uint64_t sequence = 0;
    while (sequence == 0) { // an answer that says nothing is as good as none
        struct uvea_http_response response = {.status = 0};
        UVEA_TRY(insist(client, 0, &request, &response, &tries));
        client->retried_posts += tries - 1;
        sequence = uvea_client_sequence_of(&response, turn->key);
        uvea_http_response_deinit(&response);
        client->retried_posts += sequence == 0;
        UVEA_TRY(sequence == 0 ? idle(client, POLL_NS_MIN) : UVEA_OK);
    }
    uvea_ledger_accept(client->ledger, turn->key, sequence);
    if (client->times != NULL && sequence <= client->scenario->request_count) {
        client->times[sequence - 1].accepted_ns = uvea_rt_now_ns(client->rt);
    }
    return UVEA_OK;
}

// ---- one after the other

// A request has the same names whether or not the database before it was enrolled by requests.
static void name_request(const struct uvea_client *client, struct turn *turn, size_t index)
{
    const bool enrols = index < client->enrolments;
    const size_t number = 1 + (enrols ? index : index - client->enrolments);
    (void)snprintf(turn->key, sizeof(turn->key), enrols ? "record-%zu" : "message-%zu", number);
    (void)snprintf(turn->id, sizeof(turn->id), enrols ? "enrolment-%zu" : "request-%zu", number);
    (void)snprintf(turn->s3_key, sizeof(turn->s3_key),
                   enrols ? "shares-of-record-%zu" : "shares-%zu", number);
}

static enum uvea_error send_request(struct uvea_client *client, struct turn *turn, size_t index)
{
    const struct uvea_request_plan *plan = &client->scenario->requests[index];
    const bool certain = client->scenario->options[UVEA_OPTION_client_window] == 1;
    struct uvea_error_context said = {.text = ""};
    name_request(client, turn, index);
    note(client, "request", turn->id);
    enum uvea_error error =
        uvea_population_demand(client->population, index, uvea_ledger_model(client->ledger),
                               certain, &turn->demand, &said);
    if (error != UVEA_OK) {
        client->bad_plan = true;
        return uvea_error_set(&client->reason, error, "line %u, requests[%u] (%s): %.300s",
                              plan->line, plan->entry, turn->id, said.text);
    }
    UVEA_TRY(make_envelope(turn, plan));
    UVEA_TRY(offer(client, turn, plan));
    if (turn->demand.has_pair) {
        UVEA_TRY(make_object(client, turn));
        UVEA_TRY(put_shares(client, turn, plan));
    }
    UVEA_TRY(post(client, turn));
    client->sent++;
    return UVEA_OK;
}

// Until it is due, with an eye on the answers to those before it.
static enum uvea_error keep_pace(struct uvea_client *client, size_t index)
{
    const uint64_t due_ns = client->paced_from_ns + (index - client->enrolments) * client->pace_ns;
    uint64_t now_ns = uvea_rt_now_ns(client->rt);
    while (now_ns < due_ns) {
        const uint64_t left_ns = due_ns - now_ns;
        read_everybody(client);
        UVEA_TRY(idle(client, left_ns < POLL_NS_MIN ? left_ns : POLL_NS_MIN));
        now_ns = uvea_rt_now_ns(client->rt);
    }
    return UVEA_OK;
}

static enum uvea_error pause_before(struct uvea_client *client, struct turn *turn, size_t index)
{
    if (index < client->enrolments) {
        return UVEA_OK;
    }
    if (client->pace_ns != 0) {
        return keep_pace(client, index);
    }
    const uint64_t mean_ms = client->scenario->options[UVEA_OPTION_client_pause_ms];
    const uint64_t pause_ns = uvea_sim_random_exponential(&turn->pause, mean_ms * UVEA_MS);
    return pause_ns == 0 ? UVEA_OK : idle(client, pause_ns);
}

static size_t window_of(const struct uvea_client *client, size_t index)
{
    return index < client->enrolments ? UVEA_CLIENT_ENROLMENTS
                                      : client->scenario->options[UVEA_OPTION_client_window];
}

static enum uvea_error take_turn(struct uvea_client *client, struct turn *turn, size_t index)
{
    const struct uvea_request_plan *plan = &client->scenario->requests[index];
    if (uvea_plant_active(UVEA_PLANT_UNSTEADY)) {
        static unsigned turns;
        note(client, "unsteady", turns++ % 3 == 0 ? "one" : "other");
    }
    if (index == client->enrolments) { // the database is complete
        UVEA_TRY(await(client, 0));
        client->paced_from_ns = uvea_rt_now_ns(client->rt);
    }
    if (plan->type == UVEA_PLAN_RESTART) {
        UVEA_TRY(await(client, 0));
        return client->restart(client->restart_arg, plan, &client->reason);
    }
    UVEA_TRY(pause_before(client, turn, index));
    UVEA_TRY(send_request(client, turn, index));
    return await(client, window_of(client, index) - 1);
}

static enum uvea_error serve(struct uvea_client *client, struct turn *turn)
{
    for (size_t i = 0; i < client->scenario->request_count; i++) {
        UVEA_TRY(take_turn(client, turn, i));
    }
    return await(client, 0);
}

void uvea_client_run(void *arg)
{
    struct uvea_client *client = arg;
    const uint64_t seed = client->scenario->options[UVEA_OPTION_root_seed];
    struct turn *turn = uvea_mem_alloc(1, sizeof(*turn));
    if (turn == NULL) {
        client->error = UVEA_ERR_MEMORY;
        return;
    }
    uvea_sim_random_init(&turn->shares, seed, "shares/requests");
    uvea_sim_random_init(&turn->spoiler, seed, "shares/spoilt");
    uvea_sim_random_init(&turn->pause, seed, "client");
    client->error = serve(client, turn);
    client->finished = client->error == UVEA_OK;
    if (!client->finished && client->reason.text[0] == '\0') {
        (void)snprintf(client->reason.text, sizeof(client->reason.text), "the client stopped: %s",
                       uvea_error_text(client->error));
    }
    uvea_buf_deinit(&turn->object);
    uvea_buf_deinit(&turn->spoilt);
    uvea_buf_deinit(&turn->envelope);
    uvea_mem_free(turn);
}
