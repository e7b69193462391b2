#include "core/base/endian.h"
#include "sim/runtime/http_state.h"

#include <string.h>

#define REQUEST_MAGIC UINT32_C(0x71727675) // "uvrq"
#define ANSWER_MAGIC UINT32_C(0x6e617675)  // "uvan"

enum {
    HEAD_BYTES = 12,
    BODY_STEP_BYTES = 64 * 1024, // memory grows with what has come, not with what was announced
};

enum uvea_error uvea_sim_http_check(const struct uvea_http_request *request)
{
    size_t method_bytes = strlen(request->method);
    size_t target_bytes = strlen(request->target);
    if (method_bytes < 1 || method_bytes > UVEA_SIM_HTTP_METHOD_BYTES_MAX || target_bytes < 1 ||
        target_bytes > UVEA_SIM_HTTP_TARGET_BYTES_MAX) {
        return UVEA_ERR_USAGE;
    }
    return request->body_bytes > UVEA_HTTP_BODY_BYTES_MAX ? UVEA_ERR_LIMIT : UVEA_OK;
}

enum uvea_error uvea_sim_http_send_request(struct uvea_rt *rt, struct uvea_stream *stream,
                                           const struct uvea_http_request *request,
                                           uint64_t deadline_ns)
{
    uint8_t head[HEAD_BYTES + UVEA_SIM_HTTP_METHOD_BYTES_MAX + UVEA_SIM_HTTP_TARGET_BYTES_MAX];
    size_t method_bytes = strlen(request->method);
    size_t target_bytes = strlen(request->target);
    uvea_store_le32(head, REQUEST_MAGIC);
    uvea_store_le16(head + 4, (uint16_t)method_bytes);
    uvea_store_le16(head + 6, (uint16_t)target_bytes);
    uvea_store_le32(head + 8, (uint32_t)request->body_bytes);
    memcpy(head + HEAD_BYTES, request->method, method_bytes);
    memcpy(head + HEAD_BYTES + method_bytes, request->target, target_bytes);
    UVEA_TRY(
        uvea_rt_write(rt, stream, head, HEAD_BYTES + method_bytes + target_bytes, deadline_ns));
    return request->body_bytes == 0
               ? UVEA_OK
               : uvea_rt_write(rt, stream, request->body, request->body_bytes, deadline_ns);
}

static enum uvea_error recv_body(struct uvea_rt *rt, struct uvea_stream *stream,
                                 struct uvea_buf *body, size_t bytes, uint64_t deadline_ns)
{
    while (bytes > 0) {
        size_t part = bytes < BODY_STEP_BYTES ? bytes : BODY_STEP_BYTES;
        uint8_t *at = uvea_buf_extend(body, part);
        if (at == NULL) {
            return UVEA_ERR_MEMORY;
        }
        UVEA_TRY(uvea_rt_read_exact(rt, stream, at, part, deadline_ns));
        bytes -= part;
    }
    return UVEA_OK;
}

enum uvea_error uvea_sim_http_recv_request(struct uvea_rt *rt, struct uvea_stream *stream,
                                           struct uvea_sim_http_received *received,
                                           uint64_t idle_ns, uint64_t whole_ns)
{
    uint8_t head[HEAD_BYTES];
    UVEA_TRY(uvea_rt_read_exact(rt, stream, head, sizeof(head), uvea_rt_deadline_ns(rt, idle_ns)));
    uint64_t deadline_ns = uvea_rt_deadline_ns(rt, whole_ns);
    size_t method_bytes = uvea_load_le16(head + 4);
    size_t target_bytes = uvea_load_le16(head + 6);
    size_t body_bytes = uvea_load_le32(head + 8);
    if (uvea_load_le32(head) != REQUEST_MAGIC || method_bytes < 1 ||
        method_bytes > UVEA_SIM_HTTP_METHOD_BYTES_MAX || target_bytes < 1 ||
        target_bytes > UVEA_SIM_HTTP_TARGET_BYTES_MAX) {
        return UVEA_ERR_FORMAT;
    }
    UVEA_TRY(
        uvea_rt_read_exact(rt, stream, (uint8_t *)received->method, method_bytes, deadline_ns));
    UVEA_TRY(
        uvea_rt_read_exact(rt, stream, (uint8_t *)received->target, target_bytes, deadline_ns));
    if (body_bytes > UVEA_HTTP_BODY_BYTES_MAX) {
        return UVEA_ERR_LIMIT;
    }
    return recv_body(rt, stream, &received->body, body_bytes, deadline_ns);
}

enum uvea_error uvea_sim_http_send_head(struct uvea_rt *rt, struct uvea_stream *stream,
                                        unsigned status, size_t body_bytes, uint64_t deadline_ns)
{
    uint8_t head[HEAD_BYTES] = {0};
    uvea_store_le32(head, ANSWER_MAGIC);
    uvea_store_le16(head + 4, (uint16_t)status);
    uvea_store_le32(head + 8, (uint32_t)body_bytes);
    return uvea_rt_write(rt, stream, head, sizeof(head), deadline_ns);
}

enum uvea_error uvea_sim_http_recv_answer(struct uvea_rt *rt, struct uvea_stream *stream,
                                          struct uvea_http_response *answer, uint64_t deadline_ns)
{
    uint8_t head[HEAD_BYTES];
    UVEA_TRY(uvea_rt_read_exact(rt, stream, head, sizeof(head), deadline_ns));
    unsigned status = uvea_load_le16(head + 4);
    size_t body_bytes = uvea_load_le32(head + 8);
    if (uvea_load_le32(head) != ANSWER_MAGIC || status < 100 || status > 599) {
        return UVEA_ERR_FORMAT;
    }
    if (body_bytes > UVEA_HTTP_BODY_BYTES_MAX) {
        return UVEA_ERR_LIMIT;
    }
    answer->status = status;
    return recv_body(rt, stream, &answer->body, body_bytes, deadline_ns);
}
