// How a simulated client hands requests to a party: one stream, a length-prefixed envelope with the
// request's fields as JSON (the payload of service.md 3.2) and the party's share file behind it;
// the answer comes back as a length-prefixed text.
#ifndef UVEA_SIM_WORLD_INTAKE_H
#define UVEA_SIM_WORLD_INTAKE_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/rt/rt.h"
#include "core/service/request.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    UVEA_INTAKE_ENVELOPE_BYTES_MAX = 1 << 20,
    UVEA_INTAKE_SHARES_BYTES_MAX = 4 << 20,
    UVEA_INTAKE_ANSWER_BYTES_MAX = 16 << 20,
};

// ---- the client's side

// Appends the frame of one request, shares included.
UVEA_MUST_USE enum uvea_error uvea_intake_encode(const struct uvea_uniqueness_request *request,
                                                 struct uvea_buf *frame);

// (blocks) Reads one answer into text (cleared first).
UVEA_MUST_USE enum uvea_error uvea_intake_read_answer(struct uvea_rt *rt,
                                                      struct uvea_stream *stream,
                                                      struct uvea_buf *text, uint64_t deadline_ns);

// ---- the party's side

struct uvea_intake;

// Sees each answer before it goes out, and takes it over; it must stay good until the next one.
typedef void uvea_intake_answer_fn(void *arg, struct uvea_response *response);

// Listens on address and serves one client in a task of its own: requests go into the first
// channel, answers come from the second. When the client ends, requests is shut; when responses is
// shut, the client's stream is closed.
UVEA_MUST_USE enum uvea_error uvea_intake_open(struct uvea_rt *rt, const char *address,
                                               struct uvea_channel *requests,
                                               struct uvea_channel *responses,
                                               uvea_intake_answer_fn *answer, void *arg,
                                               struct uvea_intake **intake);
// (blocks) Waits for the task to end, then releases everything. NULL is allowed.
void uvea_intake_close(struct uvea_intake *intake);

#endif
