#include "sim/live/submit.h"

#include "core/service/topic.h"
#include "sim/live/call.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define POLL_NS (50 * UVEA_MS)

enum {
    PAGE_RESULTS = 64,
    TARGET_BYTES = UVEA_MESSAGE_ID_BYTES_MAX + 64,
    STATUS_OTHER_CONTENT = 409
};

static json_t *load(const struct uvea_buf *text)
{
    return json_loadb((const char *)text->data, text->len, JSON_REJECT_DUPLICATES, NULL);
}

// 0 when it is none.
static uint64_t sequence_of(const json_t *value)
{
    uint64_t number = 0;
    const bool good =
        json_is_string(value) &&
        uvea_sequence_parse(json_string_value(value), json_string_length(value), &number);
    return good ? number : 0;
}

// ---- sending

static enum uvea_error call(const struct uvea_submit *submit, unsigned party,
                            const struct uvea_http_request *request,
                            struct uvea_http_response *response, uint64_t deadline_ns,
                            struct uvea_error_context *context)
{
    return uvea_live_call(submit->rt, party, submit->addresses[party], request, response,
                          deadline_ns, context);
}

static enum uvea_error put(const struct uvea_submit *submit, unsigned party, const char *target,
                           struct uvea_error_context *context)
{
    struct uvea_http_response response = {.status = 0};
    const struct uvea_http_request request = {
        .method = "PUT",
        .target = target,
        .body = submit->object->data,
        .body_bytes = submit->object->len,
    };
    const enum uvea_error error =
        call(submit, party, &request, &response, submit->deadline_ns, context);
    if (error == UVEA_ERR_USAGE && response.status == STATUS_OTHER_CONTENT) {
        return uvea_error_set(context, error,
                              "party %u has shares for '%.128s' already, and other ones: that id "
                              "was used before",
                              party, submit->message->s3_key);
    }
    uvea_http_response_deinit(&response);
    return error;
}

enum uvea_error uvea_submit_upload(const struct uvea_submit *submit,
                                   struct uvea_error_context *context)
{
    char target[TARGET_BYTES];
    if (submit->object == NULL) {
        return UVEA_OK;
    }
    (void)snprintf(target, sizeof(target), "/v1/shares/%s", submit->message->s3_key);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        UVEA_TRY(put(submit, party, target, context));
    }
    return UVEA_OK;
}

static enum uvea_error post(const struct uvea_submit *submit, const struct uvea_buf *envelope,
                            uint64_t *sequence, struct uvea_error_context *context)
{
    struct uvea_http_response response = {.status = 0};
    const struct uvea_http_request request = {
        .method = "POST",
        .target = "/v1/requests",
        .body = envelope->data,
        .body_bytes = envelope->len,
    };
    UVEA_TRY(call(submit, 0, &request, &response, submit->deadline_ns, context));
    json_t *answer = load(&response.body);
    const uint64_t found = sequence_of(json_object_get(answer, "sequence_number"));
    json_decref(answer);
    uvea_http_response_deinit(&response);
    if (found == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "party 0 gave the request no sequence number");
    }
    *sequence = found;
    return UVEA_OK;
}

enum uvea_error uvea_submit_post(const struct uvea_submit *submit, uint64_t *sequence,
                                 struct uvea_error_context *context)
{
    struct uvea_buf envelope = {0};
    enum uvea_error error = uvea_message_encode(submit->message, &envelope);
    if (error == UVEA_ERR_USAGE) {
        error = uvea_error_set(context, error, "the request says something that none may say");
    }
    if (error == UVEA_OK) {
        error = post(submit, &envelope, sequence, context);
    }
    uvea_buf_deinit(&envelope);
    return error;
}

// ---- answers

struct awaiting {
    const struct uvea_submit *submit;
    unsigned party;
    uint64_t sequence;
    uint64_t *read; // number of the last result that was looked at
    struct uvea_buf *answer;
    struct uvea_error_context said; // by the last look
};

static enum uvea_error keep(struct uvea_buf *answer, const json_t *body)
{
    const size_t len = json_string_length(body);
    UVEA_TRY(uvea_buf_append(answer, json_string_value(body), len + 1));
    answer->len = len;
    return UVEA_OK;
}

static enum uvea_error look_through(struct awaiting *awaiting, const json_t *results)
{
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        const json_t *body = json_object_get(result, "body");
        const json_int_t number = json_integer_value(json_object_get(result, "number"));
        if (number <= 0 || !json_is_string(body)) {
            return uvea_error_set(&awaiting->said, UVEA_ERR_FORMAT,
                                  "party %u gives results that are none", awaiting->party);
        }
        *awaiting->read = (uint64_t)number;
        if (sequence_of(json_object_get(result, "sequence_number")) == awaiting->sequence) {
            return keep(awaiting->answer, body);
        }
    }
    return UVEA_OK;
}

// No party gets all the time that is left: one that hangs is not to hide what others answer.
static uint64_t fair_deadline_ns(const struct uvea_submit *submit)
{
    const uint64_t now_ns = uvea_rt_now_ns(submit->rt);
    const uint64_t left_ns = submit->deadline_ns > now_ns ? submit->deadline_ns - now_ns : 0;
    return uvea_rt_deadline_ns(submit->rt, left_ns / 4 > POLL_NS ? left_ns / 4 : POLL_NS);
}

// more: there may be further results already.
static enum uvea_error read_page(struct awaiting *awaiting, bool *more)
{
    char target[96];
    struct uvea_http_response response = {.status = 0};
    (void)snprintf(target, sizeof(target), "/v1/results?after=%" PRIu64 "&max=%d", *awaiting->read,
                   PAGE_RESULTS);
    const struct uvea_http_request request = {.method = "GET", .target = target};
    UVEA_TRY(call(awaiting->submit, awaiting->party, &request, &response,
                  fair_deadline_ns(awaiting->submit), &awaiting->said));
    json_t *page = load(&response.body);
    const json_t *results = json_object_get(page, "results");
    *more = json_array_size(results) > 0;
    const enum uvea_error error =
        json_is_array(results)
            ? look_through(awaiting, results)
            : uvea_error_set(&awaiting->said, UVEA_ERR_FORMAT,
                             "party %u gives results that are none", awaiting->party);
    json_decref(page);
    uvea_http_response_deinit(&response);
    return error;
}

// Looks once for the party's answer; TIMEOUT says why there is none yet.
static enum uvea_error look(struct awaiting *awaiting)
{
    bool more = true;
    while (awaiting->answer->len == 0 && more) {
        more = false;
        UVEA_TRY(read_page(awaiting, &more));
    }
    return awaiting->answer->len > 0
               ? UVEA_OK
               : uvea_error_set(&awaiting->said, UVEA_ERR_TIMEOUT,
                                "party %u has not answered in time", awaiting->party);
}

static enum uvea_error look_at_all(struct awaiting awaiting[UVEA_PARTY_COUNT],
                                   struct uvea_error_context *context)
{
    enum uvea_error missing = UVEA_OK;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        awaiting[party].said.text[0] = '\0';
        const enum uvea_error error = look(&awaiting[party]);
        if (error != UVEA_OK && missing == UVEA_OK) {
            missing = error;
            *context = awaiting[party].said;
        }
        if (error != UVEA_OK && error != UVEA_ERR_TIMEOUT) {
            *context = awaiting[party].said;
            return error;
        }
    }
    return missing;
}

enum uvea_error uvea_submit_await(const struct uvea_submit *submit, uint64_t sequence,
                                  uint64_t read[UVEA_PARTY_COUNT],
                                  struct uvea_buf answers[UVEA_PARTY_COUNT],
                                  struct uvea_error_context *context)
{
    struct awaiting awaiting[UVEA_PARTY_COUNT];
    struct uvea_error_context said = {.text = ""};
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        awaiting[party] = (struct awaiting){
            .submit = submit,
            .party = party,
            .sequence = sequence,
            .read = &read[party],
            .answer = &answers[party],
        };
    }
    for (;;) {
        const enum uvea_error error = look_at_all(awaiting, &said);
        if (error != UVEA_ERR_TIMEOUT || uvea_rt_now_ns(submit->rt) >= submit->deadline_ns) {
            return error == UVEA_OK ? UVEA_OK : uvea_error_set(context, error, "%s", said.text);
        }
        UVEA_TRY(uvea_rt_sleep_ns(submit->rt, POLL_NS));
    }
}

// ---- agreement

// NULL when it is no object that names its node.
static json_t *without_node(const struct uvea_buf *answer)
{
    json_t *object = load(answer);
    if (json_object_del(object, "node_id") == 0) {
        return object;
    }
    json_decref(object);
    return NULL;
}

bool uvea_submit_agree(const struct uvea_buf answers[UVEA_PARTY_COUNT])
{
    json_t *objects[UVEA_PARTY_COUNT];
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        objects[party] = without_node(&answers[party]);
    }
    const bool agree = objects[0] != NULL && json_equal(objects[0], objects[1]) == 1 &&
                       json_equal(objects[0], objects[2]) == 1;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        json_decref(objects[party]);
    }
    return agree;
}
