// Requests that are none: envelopes that every party has to quarantine alike.
#ifndef UVEA_SIM_WORLD_MALFORMED_H
#define UVEA_SIM_WORLD_MALFORMED_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "sim/scenario/scenario.h"

// Appends an envelope with this MessageId whose request is wrong in the way named.
UVEA_MUST_USE enum uvea_error
uvea_malformed_encode(const char *message_id, enum uvea_plan_malformed how, struct uvea_buf *json);

#endif
