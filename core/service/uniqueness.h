// A uniqueness request from upload to answer. Inside the module; party.h is what others call.
#ifndef UVEA_CORE_SERVICE_UNIQUENESS_H
#define UVEA_CORE_SERVICE_UNIQUENESS_H

#include "core/base/error.h"
#include "core/service/engine.h"
#include "core/service/request.h"

// (blocks) Fills json, error_reason, refusal, serial, outcome and search of response (all zero
// before), and inserts into the database when that is the decision. A share that some party cannot
// read gives the error form at all three, and so does a signup_id that is not UTF-8 (echoed as "").
// Errors are those after which the party must stop; the database is then unchanged unless the state
// check itself failed.
UVEA_MUST_USE enum uvea_error uvea_uniqueness_process(struct uvea_engine *engine,
                                                      const struct uvea_uniqueness_request *request,
                                                      struct uvea_response *response,
                                                      struct uvea_error_context *context);

#endif
