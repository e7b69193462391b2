// The NTT path's view of the scanned eye: records as spectra over F_p, in the tiles of a kernel,
// and a request's query in the same field. The raw shares of resident.h stay authoritative;
// everything here is made from them by private conversion and may be dropped. All of it is secret.
// Sources: ntt.md 3, 5, 6; service.md 6.6.
#ifndef UVEA_CORE_SCAN_SPECTRAL_H
#define UVEA_CORE_SCAN_SPECTRAL_H

#include "core/base/error.h"
#include "core/field/spectrum.h"
#include "core/iris/share.h"
#include "core/kernel/spectral_kernel.h"
#include "core/mpc/session.h"
#include "core/rt/rt.h"
#include "core/scan/query.h"
#include "core/scan/resident.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    UVEA_SPECTRAL_BATCH_RECORDS = 64, // converted together at start-up
    UVEA_SPECTRAL_SESSIONS_MAX = 48,  // sessions that convert side by side at start-up
};

// The scanned eye of every record. Tiles are allocated as records come and never move. All zero
// holds nothing.
struct uvea_spectral {
    const struct uvea_spectral_kernel *kernel;
    void **tiles; // owned; one slot per possible tile
    size_t tile_slots;
    size_t count;
};

// USAGE: records_max is 0 or more than UVEA_RESIDENT_RECORDS_MAX.
UVEA_MUST_USE enum uvea_error uvea_spectral_init(struct uvea_spectral *spectral,
                                                 const struct uvea_spectral_kernel *kernel,
                                                 size_t records_max);
// Wipes and frees.
void uvea_spectral_deinit(struct uvea_spectral *spectral);

// Makes count records at least; each new one is to be set before it is searched. LIMIT beyond
// records_max. count stays as it was on failure.
UVEA_MUST_USE enum uvea_error uvea_spectral_grow(struct uvea_spectral *spectral, size_t count);

// Puts a spectrum in a record's place. index < count. Tasks may set records of different tiles at
// once; UVEA_SPECTRAL_BATCH_RECORDS records from a multiple of that are whole tiles.
void uvea_spectral_set(struct uvea_spectral *spectral, size_t index,
                       const struct uvea_spectrum *record);

// ---- conversion

// The spectrum of a deleted identity: of the public constant template, code 1 and mask 1 at every
// position, as a share of degree 0. The same on all parties, so nothing is exchanged.
void uvea_spectral_deletion_dummy(struct uvea_spectrum *out);

// (blocks) Converts eyes in record form (count pointers to UVEA_RECORD_COEFFICIENTS each) into
// spectra of records: what an update without a search needs, or a batch at start-up. out: count,
// zeroed on failure. The session keeps the failure's sentence. count = 0 costs no message.
UVEA_MUST_USE enum uvea_error uvea_spectral_convert(struct uvea_session *session,
                                                    const uint16_t *const *eyes, size_t count,
                                                    struct uvea_spectrum *out);

// Where a load works: on these sessions, all idle, in lockstep with the peers.
struct uvea_spectral_load {
    struct uvea_rt *rt;
    struct uvea_session *const *sessions;
    size_t session_count; // 1 or more
    const struct uvea_resident *resident;
};

// A request's query against the scanned eye, prepared for a kernel, and the record it becomes when
// it is enrolled. Two pointers are owned; all zero holds nothing.
struct uvea_spectral_query {
    void *prepared[UVEA_ORIENTATION_COUNT]; // NULL where not asked for
    size_t prepared_bytes;
    struct uvea_spectrum *record;
};

// (blocks) Converts the upload's scanned eye, and with mirror its other eye too, on one session:
// two eyes in one exchange. query is zeroed on failure.
UVEA_MUST_USE enum uvea_error uvea_spectral_query_convert(struct uvea_session *session,
                                                          const struct uvea_iris_upload *upload,
                                                          enum uvea_eye scanned_eye, bool mirror,
                                                          const struct uvea_spectral_kernel *kernel,
                                                          struct uvea_spectral_query *query);
// Wipes and frees.
void uvea_spectral_query_deinit(struct uvea_spectral_query *query);

#endif
