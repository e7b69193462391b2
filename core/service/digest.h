// What the three parties must have seen and decided alike in a batch, as one hash. Inside the
// module. Source: wire.md 6.15 (job-hash).
#ifndef UVEA_CORE_SERVICE_DIGEST_H
#define UVEA_CORE_SERVICE_DIGEST_H

#include "core/base/error.h"
#include "core/mpc/prf.h"
#include "core/service/agree.h"
#include "core/service/batch.h"

#include <stdint.h>

// SHA-256 over the run's seed and all that is public in the batch: which messages, under which
// modifications, what was opened about each, what was decided and what it will change.
UVEA_MUST_USE enum uvea_error uvea_batch_digest(const struct uvea_batch *batch,
                                                const uint8_t run_seed[UVEA_PRF_SEED_BYTES],
                                                uint8_t digest[UVEA_AGREE_DIGEST_BYTES]);

#endif
