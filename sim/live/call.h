// One HTTP call to a party of a cluster, with a sentence when it fails.
#ifndef UVEA_SIM_LIVE_CALL_H
#define UVEA_SIM_LIVE_CALL_H

#include "core/base/error.h"
#include "core/rt/rt.h"

#include <stdint.h>

// (blocks) Until the deadline, by rt's clock, and at most 10 s, over a kept connection when there
// is one. OK: the answer's status is 200 and response is to be released. Else only its status says
// something, 0 without an answer. TIMEOUT: the party was not reached (nobody listens, the
// connection broke, no answer in time) or is not ready, a status from 500 on; USAGE: another
// status; PEER, FORMAT, LIMIT as of uvea_rt_http_call. The sentence names party, address, method,
// target and status.
UVEA_MUST_USE enum uvea_error
uvea_live_call(struct uvea_rt *rt, unsigned party, const char *address,
               const struct uvea_http_request *request, struct uvea_http_response *response,
               uint64_t deadline_ns, struct uvea_error_context *context);

#endif
