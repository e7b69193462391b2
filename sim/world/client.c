#include "sim/world/client.h"

#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/iris/share.h"
#include "sim/runtime/sim.h"

#include <stdio.h>
#include <string.h>

enum { SIGNUP_ID_BYTES = 32 };

// What one request needs; too big for a task's stack.
struct turn {
    struct uvea_template_pair query;
    struct uvea_oracle_pair oracle_query;
    struct uvea_iris_share split[UVEA_PARTY_COUNT];
    struct uvea_iris_upload uploads[UVEA_PARTY_COUNT];
    struct uvea_buf shares;
    struct uvea_buf frame;
    struct uvea_buf text;
    struct uvea_sim_random randomness; // stream "shares/requests"
    char signup_id[SIGNUP_ID_BYTES];
};

static enum uvea_error send_request(struct uvea_client *client, struct turn *turn,
                                    const struct uvea_request_plan *plan,
                                    struct uvea_stream *const streams[UVEA_PARTY_COUNT])
{
    uvea_population_split(&turn->query, &turn->randomness, turn->split, turn->uploads);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_buf_clear(&turn->shares);
        uvea_buf_clear(&turn->frame);
        UVEA_TRY(
            uvea_iris_encode_upload(uvea_party_at(party), &turn->uploads[party], &turn->shares));
        const struct uvea_uniqueness_request request = {
            .signup_id = turn->signup_id,
            .shares = turn->shares.data,
            .shares_bytes = turn->shares.len,
            .or_rule_serial_ids = plan->or_rule.serials,
            .or_rule_count = plan->or_rule.count,
            .skip_persistence = plan->skip_persistence,
            .mirror_detection = plan->mirror_detection,
        };
        UVEA_TRY(uvea_intake_encode(&request, &turn->frame));
        UVEA_TRY(uvea_rt_write(client->rt, streams[party], turn->frame.data, turn->frame.len,
                               UVEA_NEVER));
    }
    return UVEA_OK;
}

static enum uvea_error read_answers(struct uvea_client *client, struct turn *turn,
                                    struct uvea_stream *const streams[UVEA_PARTY_COUNT])
{
    uint64_t wait_ns = client->scenario->options[UVEA_OPTION_limits_answer_s] * UVEA_SECOND;
    uint64_t deadline_ns = uvea_rt_deadline_ns(client->rt, wait_ns);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        enum uvea_error error =
            uvea_intake_read_answer(client->rt, streams[party], &turn->text, deadline_ns);
        if (error != UVEA_OK) {
            return uvea_error_set(&client->reason, error, "%s: no answer from party %u: %s",
                                  turn->signup_id, party, uvea_error_text(error));
        }
        const struct uvea_buf *sent = &client->answers[party]->json;
        if (sent->len != turn->text.len || memcmp(sent->data, turn->text.data, sent->len) != 0) {
            return uvea_error_set(&client->reason, UVEA_ERR_STATE,
                                  "%s: party %u's answer changed on its way", turn->signup_id,
                                  party);
        }
        client->responses++;
    }
    return UVEA_OK;
}

static enum uvea_error judge(struct uvea_client *client, struct turn *turn,
                             const struct uvea_request_plan *plan)
{
    uvea_population_to_oracle(&turn->query, &turn->oracle_query);
    const struct uvea_oracle_request request = {
        .signup_id = turn->signup_id,
        .pair = &turn->oracle_query,
        .or_rule_serials = plan->or_rule.serials,
        .or_rule_count = plan->or_rule.count,
        .mirror = plan->mirror_detection,
        .skip_persistence = plan->skip_persistence,
    };
    struct uvea_oracle_answer right = {.serial = 0};
    struct uvea_judgement judgement;
    enum uvea_error error = UVEA_OK;
    UVEA_TRY_CLEANUP(uvea_oracle_uniqueness(client->model, &request, &right, &client->reason));
    UVEA_TRY_CLEANUP(uvea_judge_answers(&client->model->config, &request, &right, &plan->expect,
                                        (struct uvea_response *const *)client->answers, &judgement,
                                        &client->reason));
    client->disagreements += judgement.disagreement;
    client->mismatches += judgement.mismatches;
    if (judgement.disagreement || judgement.mismatches > 0) {
        error = uvea_error_set(&client->reason, UVEA_ERR_STATE, "%.400s", judgement.reason);
    }
cleanup:
    uvea_oracle_answer_deinit(&right);
    return error;
}

static enum uvea_error take_turn(struct uvea_client *client, struct turn *turn, size_t index,
                                 struct uvea_stream *const streams[UVEA_PARTY_COUNT])
{
    const struct uvea_request_plan *plan = &client->scenario->requests[index];
    if (uvea_plant_active(UVEA_PLANT_UNSTEADY)) {
        static unsigned turns;
        uvea_sim_note(client->rt, "unsteady", turns++ % 3 == 0 ? "one" : "other");
    }
    (void)snprintf(turn->signup_id, sizeof(turn->signup_id), "request-%zu", index + 1);
    uvea_sim_note(client->rt, "request", turn->signup_id);
    struct uvea_error_context said = {.text = ""};
    enum uvea_error error =
        uvea_population_query(client->population, plan, client->model, &turn->query, &said);
    if (error != UVEA_OK) {
        client->bad_plan = true;
        return uvea_error_set(&client->reason, error, "requests[%u] (%s): %.300s", plan->entry,
                              turn->signup_id, said.text);
    }
    error = send_request(client, turn, plan, streams);
    if (error != UVEA_OK) {
        return uvea_error_set(&client->reason, error, "%s: could not be sent: %s", turn->signup_id,
                              uvea_error_text(error));
    }
    UVEA_TRY(read_answers(client, turn, streams));
    UVEA_TRY(uvea_answers_add(client->all_answers, client->answers));
    UVEA_TRY(judge(client, turn, plan));
    uvea_sim_progress(client->rt);
    return UVEA_OK;
}

static enum uvea_error connect(struct uvea_client *client,
                               struct uvea_stream *streams[UVEA_PARTY_COUNT])
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        enum uvea_error error =
            uvea_rt_dial(client->rt, client->addresses[party], &streams[party], UVEA_NEVER);
        if (error != UVEA_OK) {
            return uvea_error_set(&client->reason, error, "party %u takes no requests: %s", party,
                                  error == UVEA_ERR_NOT_FOUND ? "nobody listens there any more"
                                                              : uvea_error_text(error));
        }
    }
    return UVEA_OK;
}

static enum uvea_error serve(struct uvea_client *client, struct turn *turn,
                             struct uvea_stream *streams[UVEA_PARTY_COUNT])
{
    UVEA_TRY(connect(client, streams));
    for (size_t i = 0; i < client->scenario->request_count; i++) {
        UVEA_TRY(take_turn(client, turn, i, streams));
        if (client->progress != NULL) {
            client->progress(client->progress_arg, i + 1, client->scenario->request_count);
        }
    }
    return UVEA_OK;
}

void uvea_client_run(void *arg)
{
    struct uvea_client *client = arg;
    struct uvea_stream *streams[UVEA_PARTY_COUNT] = {NULL};
    struct turn *turn = uvea_mem_alloc(1, sizeof(*turn));
    if (turn == NULL) {
        client->error = UVEA_ERR_MEMORY;
        return;
    }
    uvea_sim_random_init(&turn->randomness, client->scenario->options[UVEA_OPTION_root_seed],
                         "shares/requests");
    client->error = serve(client, turn, streams);
    client->finished = client->error == UVEA_OK;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        uvea_rt_stream_close(client->rt, streams[party]);
    }
    uvea_buf_deinit(&turn->shares);
    uvea_buf_deinit(&turn->frame);
    uvea_buf_deinit(&turn->text);
    uvea_mem_free(turn);
}
