// A pair of templates becomes three parties' shares.
#ifndef UVEA_SIM_CMD_SPLIT_H
#define UVEA_SIM_CMD_SPLIT_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/iris/share.h"

#include <stdint.h>

// seed: NULL for the operating system's randomness; with one the shares can be made again by
// anyone. What is made is secret, and worthless on failure. MEMORY, CRYPTO.
UVEA_MUST_USE enum uvea_error uvea_cmd_split(const struct uvea_template *eyes[UVEA_EYE_COUNT],
                                             const uint64_t *seed,
                                             struct uvea_iris_upload out[UVEA_PARTY_COUNT],
                                             struct uvea_error_context *context);

#endif
