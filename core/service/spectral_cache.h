// The stored spectra of the scanned eye: at start-up they are read instead of converted again, as
// far as all three parties have them from the same joint conversion; the rest is converted anew
// from the raw shares, which stay authoritative. All of it is secret but serials, versions and
// generations. Source: service.md 6.6; ntt.md 6.
#ifndef UVEA_CORE_SERVICE_SPECTRAL_CACHE_H
#define UVEA_CORE_SERVICE_SPECTRAL_CACHE_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/field/spectrum.h"
#include "core/iris/template.h"
#include "core/scan/spectral.h"
#include "core/store/store.h"

#include <stdint.h>

// Borrows store and rt; holds nothing to release.
struct uvea_spectral_cache {
    struct uvea_rt *rt;
    struct uvea_store *store;
    struct uvea_party party;
    enum uvea_eye eye;
    // Of what is stored from now on. All parties hold the same one, and no other three processes
    // ever hold it: rows with equal serial, version and generation are shares of one spectrum.
    uint8_t generation[UVEA_STORE_GENERATION_BYTES];
};

struct uvea_spectral_cache_stats {
    uint64_t reused; // records
    uint64_t converted;
};

// (blocks) Fills spectral, which is empty, with the spectrum of every resident record, and cache.
// In lockstep with the peers, on idle sessions: batches of UVEA_SPECTRAL_BATCH_RECORDS, batch b on
// session b mod min(session_count, 48). Per batch: serials and versions are compared with both
// peers; the stored rows are used when all parties' are whole and of equal generations, else the
// batch is converted from resident and stored under a fresh generation, in one transaction. Rows of
// serials behind the last record are removed first. eye: which eye resident holds. stats may be
// NULL. Passes UVEA_POINT_SPECTRAL_CONVERTED once per converted batch.
// STATE: a peer holds other serials or versions; PEER, FORMAT: it sent something else.
UVEA_MUST_USE enum uvea_error
uvea_spectral_cache_load(const struct uvea_spectral_load *load, struct uvea_store *store,
                         struct uvea_party party, enum uvea_eye eye, struct uvea_spectral *spectral,
                         struct uvea_spectral_cache *cache, struct uvea_spectral_cache_stats *stats,
                         struct uvea_error_context *context);

// Stores the spectrum of an inserted or updated record, as the three parties have converted it
// together: before the record becomes visible in memory, let alone is committed. A crash in between
// leaves a row that no record has; the next load sees it. Passes UVEA_POINT_SPECTRAL_STORED.
UVEA_MUST_USE enum uvea_error uvea_spectral_cache_put(struct uvea_spectral_cache *cache,
                                                      uint32_t serial, uint16_t version,
                                                      const struct uvea_spectrum *record,
                                                      struct uvea_error_context *context);

// The same for a deletion: uvea_spectral_deletion_dummy under the generation of zeros.
UVEA_MUST_USE enum uvea_error uvea_spectral_cache_put_deletion(struct uvea_spectral_cache *cache,
                                                               uint32_t serial, uint16_t version,
                                                               struct uvea_error_context *context);

#endif
