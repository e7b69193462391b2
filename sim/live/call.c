#include "sim/live/call.h"

#include <stdbool.h>

#define CALL_NS_MAX (10 * UVEA_SECOND)

static bool is_unreached(enum uvea_error error)
{
    return error == UVEA_ERR_NOT_FOUND || error == UVEA_ERR_RESET || error == UVEA_ERR_CLOSED ||
           error == UVEA_ERR_TIMEOUT;
}

static enum uvea_error refuse(unsigned party, const struct uvea_http_request *request,
                              struct uvea_http_response *response,
                              struct uvea_error_context *context)
{
    const unsigned status = response->status;
    const bool ready = status < 500;
    const enum uvea_error error = uvea_error_set(
        context, ready ? UVEA_ERR_USAGE : UVEA_ERR_TIMEOUT, "party %u %s %s %.80s: status %u: %.*s",
        party, ready ? "refuses" : "is not ready for", request->method, request->target, status,
        response->body.len < 160 ? (int)response->body.len : 160,
        response->body.data != NULL ? (const char *)response->body.data : "");
    uvea_http_response_deinit(response);
    response->status = status;
    return error;
}

enum uvea_error uvea_live_call(struct uvea_rt *rt, unsigned party, const char *address,
                               const struct uvea_http_request *request,
                               struct uvea_http_response *response, uint64_t deadline_ns,
                               struct uvea_error_context *context)
{
    const uint64_t longest_ns = uvea_rt_deadline_ns(rt, CALL_NS_MAX);
    const enum uvea_error error = uvea_rt_http_call(
        rt, address, request, response, deadline_ns < longest_ns ? deadline_ns : longest_ns);
    if (error != UVEA_OK) {
        return uvea_error_set(
            context, is_unreached(error) ? UVEA_ERR_TIMEOUT : error, "party %u at %s: %s %.80s: %s",
            party, address, request->method, request->target,
            error == UVEA_ERR_NOT_FOUND ? "nobody listens there" : uvea_error_text(error));
    }
    return response->status == 200 ? UVEA_OK : refuse(party, request, response, context);
}
