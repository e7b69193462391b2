// The MPC part of a batch: from agreed entries to results, over the resident database. Inside the
// module. Sources: service.md 2.5-2.7, 3.6, 8.6; wire.md 6.15.
#ifndef UVEA_CORE_SERVICE_PROCESS_H
#define UVEA_CORE_SERVICE_PROCESS_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/iris/share.h"
#include "core/mpc/prf.h"
#include "core/scan/cold.h"
#include "core/scan/policy.h"
#include "core/scan/resident.h"
#include "core/scan/search.h"
#include "core/scan/spectral.h"
#include "core/scan/stages.h"
#include "core/service/agree.h"
#include "core/service/batch.h"
#include "core/service/spectral_cache.h"
#include "core/store/store.h"

#include <stdint.h>

// Borrows everything it points to. search.resident, search.cold and search.spectral are these.
struct uvea_process {
    struct uvea_rt *rt;
    struct uvea_party party;
    const struct uvea_policy *policy;
    struct uvea_resident *resident;
    struct uvea_cold *cold;
    struct uvea_spectral *spectral; // NULL on the ring path
    struct uvea_spectral_cache spectral_cache;
    struct uvea_search search;
    struct uvea_agree agree;
    uint8_t run_seed[UVEA_PRF_SEED_BYTES]; // the three parties' shared seed of this run
    struct uvea_iris_upload dummy;         // what a deleted identity becomes
    uint64_t comparisons;
    struct uvea_stages *stages;
};

// (blocks) Takes the batch's entries through everything between their agreement and the commit:
// deletions in memory, searches, decisions, and, once the three parties have found that they opened
// and decided the same, updates and insertions in memory; results encoded. Errors are those after
// which the party must stop: memory may then hold part of the batch, the store nothing of it but
// rows of spectra, which the next start puts right.
UVEA_MUST_USE enum uvea_error uvea_process_batch(struct uvea_process *process,
                                                 struct uvea_batch *batch,
                                                 struct uvea_error_context *context);

// The record that an entry leaves behind, both eyes: its upload, or the dummy. For entries whose
// mutation is not NONE.
void uvea_process_record(const struct uvea_process *process, const struct uvea_batch_entry *entry,
                         const uint16_t *eye[UVEA_EYE_COUNT]);

#endif
