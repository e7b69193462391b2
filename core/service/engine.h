// What a party processes requests with, and the agreements the three parties reach on the way.
// Inside the module; party.h is what others call.
#ifndef UVEA_CORE_SERVICE_ENGINE_H
#define UVEA_CORE_SERVICE_ENGINE_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/mpc/prf.h"
#include "core/mpc/session.h"
#include "core/rt/rt.h"
#include "core/scan/policy.h"
#include "core/scan/resident.h"
#include "core/scan/search.h"
#include "core/scan/spectral.h"
#include "core/service/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Borrows everything it points to. search.resident is resident. The agreements use the session at
// position 0 when no search is running.
struct uvea_engine {
    struct uvea_rt *rt;
    struct uvea_party party;
    const struct uvea_policy *policy;
    struct uvea_resident *resident;
    struct uvea_spectral *spectral; // NULL on the ring path
    struct uvea_search search;
    uint8_t run_seed[UVEA_PRF_SEED_BYTES]; // the three parties' shared seed of this run
    uint64_t requests;                     // begun in this run
    uint64_t errors;
    uint64_t comparisons;
};

// (blocks) Whether all three parties say valid. wire.md 1: Bytes of one byte, 1 or 0, to next and
// prev.
UVEA_MUST_USE enum uvea_error uvea_engine_agree_valid(struct uvea_engine *engine, bool valid,
                                                      bool *all_valid,
                                                      struct uvea_error_context *context);

// (blocks) All sessions' random streams are in step, else DRIFT.
UVEA_MUST_USE enum uvea_error uvea_engine_check_drift(struct uvea_engine *engine,
                                                      struct uvea_error_context *context);

// (blocks) The three parties opened the same bits and decided alike, else STATE, which names the
// odd one when the other two agree. Bytes of 32 to next and prev: SHA-256 over the run seed, the
// request's number and the public part of search and outcome (wire.md 6.15, job-hash).
UVEA_MUST_USE enum uvea_error uvea_engine_check_outcome(struct uvea_engine *engine,
                                                        const struct uvea_search_result *search,
                                                        const struct uvea_outcome *outcome,
                                                        struct uvea_error_context *context);

// (blocks) The three databases hold the same records at the same versions, else STATE.
UVEA_MUST_USE enum uvea_error uvea_engine_check_state(struct uvea_engine *engine,
                                                      struct uvea_error_context *context);

#endif
