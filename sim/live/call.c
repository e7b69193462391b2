#include "sim/live/call.h"

#define CALL_NS (10 * UVEA_SECOND)

enum uvea_error uvea_live_call(struct uvea_rt *rt, unsigned party, const char *address,
                               const struct uvea_http_request *request,
                               struct uvea_http_response *response,
                               struct uvea_error_context *context)
{
    const uint64_t deadline_ns = uvea_rt_deadline_ns(rt, CALL_NS);
    const enum uvea_error error = uvea_rt_http_call(rt, address, request, response, deadline_ns);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "party %u at %s: %s %.80s: %s", party, address,
                              request->method, request->target,
                              error == UVEA_ERR_NOT_FOUND ? "nobody listens there"
                                                          : uvea_error_text(error));
    }
    if (response->status == 200) {
        return UVEA_OK;
    }
    const enum uvea_error refused =
        uvea_error_set(context, UVEA_ERR_USAGE, "party %u refuses %s %.80s: status %u: %.*s", party,
                       request->method, request->target, response->status,
                       response->body.len < 160 ? (int)response->body.len : 160,
                       response->body.data != NULL ? (const char *)response->body.data : "");
    uvea_http_response_deinit(response);
    return refused;
}
