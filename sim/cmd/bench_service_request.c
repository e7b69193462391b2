// The requests of the service benchmark, from the shares to the answers.
#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/service/message.h"
#include "core/service/share_object.h"
#include "sim/cmd/bench_service.h"
#include "sim/gen/template.h"
#include "sim/live/submit.h"
#include "sim/runtime/random.h"
#include "sim/world/population.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { KEY_CHARS = 64 };
#define PATIENCE_NS (10 * UVEA_SECOND) // for an answer that is published already

// ---- one request

struct request {
    char key[KEY_CHARS];
    struct uvea_message message;
    struct uvea_submit submit;
};

static void make_request(const struct uvea_bench_trio *trio, uint64_t index,
                         struct request *request)
{
    (void)snprintf(request->key, sizeof(request->key), "bench-%016" PRIx64 "-%" PRIu64, trio->stamp,
                   index);
    request->message = (struct uvea_message){
        .kind = UVEA_MESSAGE_UNIQUENESS,
        .message_id = request->key,
        .id = request->key,
        .s3_key = request->key,
        .skip_persistence = true,
        .has_mirror_flag = true,
        .mirror_flag = true,
    };
    request->submit = (struct uvea_submit){
        .rt = trio->rt,
        .message = &request->message,
        .deadline_ns = uvea_rt_deadline_ns(trio->rt, PATIENCE_NS),
    };
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        request->submit.addresses[party] = trio->service->cluster.parties[party].http;
    }
}

static bool is_enrolled(uint64_t index)
{
    return index == 0;
}

// ---- sending

struct making {
    struct uvea_sim_random random;
    struct uvea_template_pair pair;
    struct uvea_iris_share scratch[UVEA_PARTY_COUNT];
    struct uvea_iris_upload uploads[UVEA_PARTY_COUNT];
};

static enum uvea_error make_object(const struct uvea_cluster *cluster, struct making *making,
                                   uint64_t index, struct uvea_buf *object)
{
    uint8_t public_keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    uint8_t entropy[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES];
    for (size_t party = 0; party < UVEA_PARTY_COUNT; party++) {
        memcpy(public_keys[party], cluster->parties[party].share_public_key, UVEA_SHARE_KEY_BYTES);
    }
    if (is_enrolled(index)) {
        uvea_bench_first_person(&making->pair);
    } else {
        uvea_gen_pair(&making->random, &making->pair);
    }
    uvea_population_split(&making->pair, &making->random, making->scratch, making->uploads);
    uvea_sim_random_fill(&making->random, entropy[0], sizeof(entropy));
    return uvea_share_object_encode(making->uploads,
                                    (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])public_keys,
                                    (const uint8_t(*)[UVEA_SHARE_KEY_BYTES])entropy, object);
}

static enum uvea_error upload(const struct uvea_bench_trio *trio, struct making *making,
                              uint64_t index, struct uvea_error_context *context)
{
    struct uvea_buf object = {0};
    struct request request;
    make_request(trio, index, &request);
    request.submit.object = &object;
    enum uvea_error error = make_object(&trio->service->cluster, making, index, &object);
    if (error == UVEA_OK) {
        error = uvea_submit_upload(&request.submit, context);
    }
    uvea_buf_deinit(&object);
    return error;
}

static enum uvea_error upload_all(struct uvea_bench_trio *trio, struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_OK;
    struct making *making = uvea_mem_alloc(1, sizeof(*making));
    if (making == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_sim_random_init(&making->random, trio->stamp, "bench/requests");
    for (uint64_t i = 0; error == UVEA_OK && i < trio->service->requests; i++) {
        error = uvea_bench_trio_check(trio, context);
        if (error == UVEA_OK) {
            error = upload(trio, making, i, context);
        }
    }
    uvea_mem_free(making);
    return error;
}

enum uvea_error uvea_bench_requests_send(struct uvea_bench_trio *trio,
                                         struct uvea_error_context *context)
{
    UVEA_TRY(upload_all(trio, context));
    for (uint64_t i = 0; i < trio->service->requests; i++) {
        struct request request;
        make_request(trio, i, &request);
        UVEA_TRY(uvea_bench_interrupted(context));
        UVEA_TRY(uvea_submit_post(&request.submit, &trio->sequences[i], context));
    }
    return UVEA_OK;
}

// ---- answers

// Of the three, which are the same but for node_id.
static enum uvea_error judge_one(const struct request *request, uint64_t index,
                                 const json_t *answer, struct uvea_error_context *context)
{
    const char *id = json_string_value(json_object_get(answer, "signup_id"));
    const char *reason = json_string_value(json_object_get(answer, "error_reason"));
    const json_t *match = json_object_get(answer, "is_match");
    if (id == NULL || strcmp(id, request->key) != 0 || !json_is_boolean(match)) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "request %" PRIu64 ": the answer is another one's", index + 1);
    }
    if (json_is_true(match) != is_enrolled(index) || reason != NULL) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "request %" PRIu64 " is of somebody who is%s enrolled; the answer is "
                              "is_match %s, error %s",
                              index + 1, is_enrolled(index) ? "" : " not",
                              json_is_true(match) ? "true" : "false",
                              reason != NULL ? reason : "none");
    }
    return UVEA_OK;
}

static enum uvea_error judge(const struct request *request, uint64_t index,
                             const struct uvea_buf answers[UVEA_PARTY_COUNT],
                             struct uvea_error_context *context)
{
    if (!uvea_submit_agree(answers)) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "request %" PRIu64 ": the parties do not agree on the answer",
                              index + 1);
    }
    json_t *answer =
        json_loadb((const char *)answers[0].data, answers[0].len, JSON_REJECT_DUPLICATES, NULL);
    const enum uvea_error error = judge_one(request, index, answer, context);
    json_decref(answer);
    return error;
}

enum uvea_error uvea_bench_requests_check(const struct uvea_bench_trio *trio,
                                          struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_OK;
    uint64_t read[UVEA_PARTY_COUNT] = {0};
    for (uint64_t i = 0; error == UVEA_OK && i < trio->service->requests; i++) {
        struct uvea_buf answers[UVEA_PARTY_COUNT] = {{0}};
        struct request request;
        make_request(trio, i, &request);
        error = uvea_submit_await(&request.submit, trio->sequences[i], read, answers, context);
        if (error == UVEA_OK) {
            error = judge(&request, i, answers, context);
        }
        for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
            uvea_buf_deinit(&answers[party]);
        }
    }
    return error;
}
