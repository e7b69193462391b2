// One hash over all answers of a run and all that the parties opened for them: what has to be the
// same whatever path the scan takes. Nothing secret and nothing of the timing goes into it.
#ifndef UVEA_SIM_WORLD_ANSWERS_H
#define UVEA_SIM_WORLD_ANSWERS_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/service/request.h"
#include "sim/runtime/trace.h"

#include <stdint.h>

struct evp_md_ctx_st;

// All zero holds nothing.
struct uvea_answers {
    struct evp_md_ctx_st *hash; // owned
};

UVEA_MUST_USE enum uvea_error uvea_answers_init(struct uvea_answers *answers);
void uvea_answers_deinit(struct uvea_answers *answers);

// One request: each party's answer as text, then per orientation and eye its candidates with their
// opened rotations, anonymous and strict.
UVEA_MUST_USE enum uvea_error uvea_answers_add(struct uvea_answers *answers,
                                               struct uvea_response *const from[UVEA_PARTY_COUNT]);

// Over what was added so far.
UVEA_MUST_USE enum uvea_error uvea_answers_hash(const struct uvea_answers *answers,
                                                uint8_t hash[UVEA_SIM_HASH_BYTES]);

#endif
