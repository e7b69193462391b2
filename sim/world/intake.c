#include "sim/world/intake.h"

#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"

#include <jansson.h>
#include <string.h>

enum { PREFIX_BYTES = 8 }; // u32 LE envelope length, u32 LE shares length

// ---- the client's side

static json_t *envelope_of(const struct uvea_uniqueness_request *request)
{
    json_t *serials = json_array();
    for (size_t i = 0; i < request->or_rule_count; i++) {
        (void)json_array_append_new(serials, json_integer(request->or_rule_serial_ids[i]));
    }
    return json_pack("{s:s, s:o, s:b, s:b}", "signup_id", request->signup_id, "or_rule_serial_ids",
                     serials, "skip_persistence", request->skip_persistence,
                     "full_face_mirror_attacks_detection_enabled", request->mirror_detection);
}

enum uvea_error uvea_intake_encode(const struct uvea_uniqueness_request *request,
                                   struct uvea_buf *frame)
{
    json_t *envelope = envelope_of(request);
    size_t text_bytes = envelope == NULL ? 0 : json_dumpb(envelope, NULL, 0, JSON_COMPACT);
    uint8_t *head = text_bytes == 0 ? NULL : uvea_buf_extend(frame, PREFIX_BYTES + text_bytes);
    if (head != NULL) {
        uvea_store_le32(head, (uint32_t)text_bytes);
        uvea_store_le32(head + 4, (uint32_t)request->shares_bytes);
        (void)json_dumpb(envelope, (char *)head + PREFIX_BYTES, text_bytes, JSON_COMPACT);
    }
    json_decref(envelope);
    return head == NULL ? UVEA_ERR_MEMORY
                        : uvea_buf_append(frame, request->shares, request->shares_bytes);
}

enum uvea_error uvea_intake_read_answer(struct uvea_rt *rt, struct uvea_stream *stream,
                                        struct uvea_buf *text, uint64_t deadline_ns)
{
    uint8_t prefix[4];
    UVEA_TRY(uvea_rt_read_exact(rt, stream, prefix, sizeof(prefix), deadline_ns));
    uint32_t bytes = uvea_load_le32(prefix);
    if (bytes > UVEA_INTAKE_ANSWER_BYTES_MAX) {
        return UVEA_ERR_LIMIT;
    }
    uvea_buf_clear(text);
    uint8_t *to = uvea_buf_extend(text, bytes);
    if (to == NULL) {
        return UVEA_ERR_MEMORY;
    }
    return uvea_rt_read_exact(rt, stream, to, bytes, deadline_ns);
}

// ---- the party's side

// A request as it arrived, with the memory its pointers refer to.
struct arrived {
    struct uvea_request request;
    json_t *envelope;
    struct uvea_buf bytes;
    uint32_t *serials;
};

struct uvea_intake {
    struct uvea_rt *rt;
    struct uvea_listener *listener;
    struct uvea_channel *requests;
    struct uvea_channel *responses;
    uvea_intake_answer_fn *answer;
    void *answer_arg;
    struct uvea_task *task;
    struct arrived arrived; // one request is under way at a time
};

static void arrived_deinit(struct arrived *arrived)
{
    json_decref(arrived->envelope);
    uvea_buf_deinit(&arrived->bytes);
    uvea_mem_free(arrived->serials);
    *arrived = (struct arrived){.envelope = NULL};
}

static enum uvea_error parse_serials(struct arrived *arrived, const json_t *list)
{
    struct uvea_uniqueness_request *request = &arrived->request.uniqueness;
    size_t count = json_array_size(list);
    arrived->serials = uvea_mem_alloc(count, sizeof(*arrived->serials));
    if (arrived->serials == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        arrived->serials[i] = (uint32_t)json_integer_value(json_array_get(list, i));
    }
    request->or_rule_serial_ids = arrived->serials;
    request->or_rule_count = count;
    return UVEA_OK;
}

static enum uvea_error parse(struct arrived *arrived, size_t envelope_bytes)
{
    const char *text = (const char *)arrived->bytes.data;
    arrived->envelope = json_loadb(text, envelope_bytes, JSON_REJECT_DUPLICATES, NULL);
    const char *signup_id = json_string_value(json_object_get(arrived->envelope, "signup_id"));
    if (signup_id == NULL) {
        return UVEA_ERR_FORMAT;
    }
    arrived->request.kind = UVEA_REQUEST_UNIQUENESS;
    struct uvea_uniqueness_request *request = &arrived->request.uniqueness;
    request->signup_id = signup_id;
    request->skip_persistence =
        json_is_true(json_object_get(arrived->envelope, "skip_persistence"));
    request->mirror_detection = json_is_true(
        json_object_get(arrived->envelope, "full_face_mirror_attacks_detection_enabled"));
    request->shares = arrived->bytes.data + envelope_bytes;
    request->shares_bytes = arrived->bytes.len - envelope_bytes;
    return parse_serials(arrived, json_object_get(arrived->envelope, "or_rule_serial_ids"));
}

// CLOSED at the client's orderly end.
static enum uvea_error read_request(struct uvea_intake *intake, struct uvea_stream *stream)
{
    uint8_t prefix[PREFIX_BYTES];
    UVEA_TRY(uvea_rt_read_exact(intake->rt, stream, prefix, sizeof(prefix), UVEA_NEVER));
    uint32_t envelope_bytes = uvea_load_le32(prefix);
    uint32_t shares_bytes = uvea_load_le32(prefix + 4);
    if (envelope_bytes > UVEA_INTAKE_ENVELOPE_BYTES_MAX ||
        shares_bytes > UVEA_INTAKE_SHARES_BYTES_MAX) {
        return UVEA_ERR_LIMIT;
    }
    size_t total = (size_t)envelope_bytes + shares_bytes;
    uint8_t *to = uvea_buf_extend(&intake->arrived.bytes, total);
    if (to == NULL) {
        return UVEA_ERR_MEMORY;
    }
    UVEA_TRY(uvea_rt_read_exact(intake->rt, stream, to, total, UVEA_NEVER));
    return parse(&intake->arrived, envelope_bytes);
}

static enum uvea_error write_answer(struct uvea_intake *intake, struct uvea_stream *stream,
                                    const struct uvea_response *response)
{
    uint8_t prefix[4];
    uvea_store_le32(prefix, (uint32_t)response->json.len);
    UVEA_TRY(uvea_rt_write(intake->rt, stream, prefix, sizeof(prefix), UVEA_NEVER));
    return uvea_rt_write(intake->rt, stream, response->json.data, response->json.len, UVEA_NEVER);
}

static enum uvea_error serve_one(struct uvea_intake *intake, struct uvea_stream *stream)
{
    UVEA_TRY(read_request(intake, stream));
    UVEA_TRY(
        uvea_rt_channel_send(intake->rt, intake->requests, &intake->arrived.request, UVEA_NEVER));
    void *item = NULL;
    UVEA_TRY(uvea_rt_channel_recv(intake->rt, intake->responses, &item, UVEA_NEVER));
    struct uvea_response *response = item;
    intake->answer(intake->answer_arg, response);
    return write_answer(intake, stream, response);
}

static void serve(void *arg)
{
    struct uvea_intake *intake = arg;
    struct uvea_stream *stream = NULL;
    enum uvea_error error = uvea_rt_accept(intake->rt, intake->listener, &stream, UVEA_NEVER);
    while (error == UVEA_OK) {
        error = serve_one(intake, stream);
        arrived_deinit(&intake->arrived);
    }
    uvea_rt_channel_shut(intake->rt, intake->requests);
    uvea_rt_stream_close(intake->rt, stream);
}

enum uvea_error uvea_intake_open(struct uvea_rt *rt, const char *address,
                                 struct uvea_channel *requests, struct uvea_channel *responses,
                                 uvea_intake_answer_fn *answer, void *arg,
                                 struct uvea_intake **intake)
{
    struct uvea_intake *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    *made = (struct uvea_intake){
        .rt = rt,
        .requests = requests,
        .responses = responses,
        .answer = answer,
        .answer_arg = arg,
    };
    enum uvea_error error;
    UVEA_TRY_CLEANUP(uvea_rt_listen(rt, address, &made->listener));
    UVEA_TRY_CLEANUP(uvea_rt_spawn(rt, "intake", serve, made, &made->task));
    *intake = made;
    made = NULL;
cleanup:
    if (made != NULL) {
        uvea_rt_listener_close(rt, made->listener);
        uvea_mem_free(made);
    }
    return error;
}

void uvea_intake_close(struct uvea_intake *intake)
{
    if (intake == NULL) {
        return;
    }
    uvea_rt_listener_shut(intake->rt, intake->listener);
    uvea_rt_join(intake->rt, intake->task);
    uvea_rt_listener_close(intake->rt, intake->listener);
    uvea_mem_free(intake);
}
