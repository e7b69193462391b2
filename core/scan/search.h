// The exhaustive search of one request over the resident database, by three parties in lockstep.
//
// Phase 1 scores every record on the full-scan eye S; what passes the anonymous threshold on at
// least one of 31 rotations is P. Phase 2 does the same on the other eye T for D = (P and the known
// candidates), ascending. Per list, chunks of at most chunk_records_max records: scores, anonymous
// threshold (opened: leakage entry L1), then for records that passed, all 31 rotations: unsigned
// lift of the masks, strict threshold (opened: L2), signed lift of the codes of the rotations that
// passed anonymously. Chunk k runs on lane k mod lanes; lanes and both orientations run at once.
// The transcript of each session is fixed by public values only.
//
// Earlier requests of the same batch are compared the same way, at the same time, on sessions of
// their own: their eye S first, and of those with an anonymous pass (opened: L6) the eye T; strict
// bits are opened (L6) and no distance is kept. In both orientations the other operand is the
// earlier request's normal query of the same database eye.
//
// On the NTT path phase 1 scores spectra and opens the field predicate's bits instead; the records
// that passed are then scored again in the ring, for all 31 rotations, and go on as above. Both
// orientations are scored while a record is at hand and judged in one exchange: a chunk's normal
// comparisons, then its mirrored ones. Lane l then is lane l / 2 of the normal (l even) or the
// mirror quarter (l odd). Sources:
// service.md 2.5, 3.6, 7; wire.md 6.14; ntt.md 5.
#ifndef UVEA_CORE_SCAN_SEARCH_H
#define UVEA_CORE_SCAN_SEARCH_H

#include "core/base/error.h"
#include "core/kernel/ring_kernel.h"
#include "core/kernel/spectral_kernel.h"
#include "core/mpc/field_predicate.h"
#include "core/mpc/predicate.h"
#include "core/mpc/session.h"
#include "core/mpc/share.h"
#include "core/rt/rt.h"
#include "core/scan/cold.h"
#include "core/scan/query.h"
#include "core/scan/resident.h"
#include "core/scan/spectral.h"
#include "core/scan/stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_SEARCH_CHUNK_RECORDS = 4096, // bound and usual value of chunk_records_max
    UVEA_SEARCH_LANES_MAX = 256,      // per list
    UVEA_SEARCH_SESSION_MULTIPLE = 8, // two eyes x four quarters
    UVEA_SEARCH_SESSIONS_MAX = 65536,
    UVEA_SEARCH_EARLIER_MAX = 1024,
};

// How the full scan scores and judges. Both give the same candidates. The second eye, which few
// records reach, always goes through the ring.
enum uvea_search_path {
    UVEA_SEARCH_RING, // Z_2^16, anonymous predicate of `form`
    UVEA_SEARCH_NTT,  // F_52201 and its transform, anonymous predicate of `field_form`
};

struct uvea_search_config {
    enum uvea_eye full_scan_eye;
    enum uvea_search_path path;
    enum uvea_predicate_form form;
    enum uvea_field_predicate_form field_form;
    const struct uvea_ring_kernel *kernel;
    const struct uvea_spectral_kernel *spectral_kernel;
    size_t chunk_records_max; // 1..UVEA_SEARCH_CHUNK_RECORDS
};

// Takes the score kernels of this name for both paths, or with "auto" the best that the processor
// has. NOT_FOUND: there are none of that name, or not for this processor; config is unchanged.
UVEA_MUST_USE enum uvea_error uvea_search_take_kernels(struct uvea_search_config *config,
                                                       const char *name);

// What a search works on. All borrowed; nothing else may use the sessions or change the database
// meanwhile. sessions: by position, even for the left eye, odd for the right; the list of each eye
// is cut into quarters: normal, mirror, intra-batch normal, intra-batch mirror. All three parties
// give the same count, form, full-scan eye and chunk size.
struct uvea_search {
    struct uvea_rt *rt;
    const struct uvea_search_config *config;
    const struct uvea_resident *resident; // the full-scan eye
    struct uvea_cold *cold;               // the other eye of the same records
    const struct uvea_spectral *spectral; // with the NTT path: the scanned eye of the same records
    struct uvea_session *const *sessions;
    size_t session_count;       // a positive multiple of UVEA_SEARCH_SESSION_MULTIPLE
    struct uvea_stages *stages; // may be NULL
};

// An earlier request of the same batch as a record: both eyes of its share in record form
// (uvea_scan_record_of_share), UVEA_RECORD_COEFFICIENTS each, borrowed. Secret.
struct uvea_search_earlier {
    const uint16_t *eye[UVEA_EYE_COUNT];
};

#define UVEA_SEARCH_NO_TARGET UINT32_MAX

// One request. known: candidates evaluated on eye T in both orientations whatever eye S says (the
// LUC set); ascending, without duplicates, each below the record count. target: index of the record
// a reauth names, evaluated so in the normal orientation only; else UVEA_SEARCH_NO_TARGET (0 is a
// record). earlier: earlier requests of the batch that this one is compared with, in their order.
struct uvea_search_job {
    const struct uvea_scan_query *query;
    const struct uvea_spectral_query *spectral_query; // with the NTT path
    bool mirror;
    const uint32_t *known;
    size_t known_count;
    uint32_t target;
    const struct uvea_search_earlier *earlier;
    size_t earlier_count; // at most UVEA_SEARCH_EARLIER_MAX
};

// A record with an anonymous pass on one eye. Public by then. Bit r of the masks is rotation
// r - UVEA_ROTATION_MAX; strict is a subset of anonymous, and anonymous is not 0.
struct uvea_candidate {
    uint32_t index;
    uint32_t anonymous;
    uint32_t strict;
};

// One eye in one orientation. candidates are ascending by index. codes and masks are the retained
// distances (C, M) as 32-bit Rep3 shares (secret): one pair per set bit of anonymous, candidates in
// order, rotations ascending.
struct uvea_eye_result {
    struct uvea_candidate *candidates; // owned
    size_t candidate_count;
    struct uvea_share32 codes;
    struct uvea_share32 masks;
};

// One orientation of the comparison with earlier requests. eye: the bits that were opened, index =
// position in the job's earlier; no distances. at: the positions that match strictly on both eyes,
// ascending.
struct uvea_search_batch {
    struct uvea_eye_result eye[UVEA_EYE_COUNT];
    uint32_t *at; // owned
    size_t count;
};

// Indexed by orientation, then by database eye. All zero holds nothing.
struct uvea_search_result {
    struct uvea_eye_result eye[UVEA_ORIENTATION_COUNT][UVEA_EYE_COUNT];
    struct uvea_search_batch batch[UVEA_ORIENTATION_COUNT];
    uint64_t
        comparisons; // record or earlier request x eye x orientation, each with all 31 rotations
};

// (blocks) USAGE: session count, chunk size, known list, target or earlier requests not as said
// above. STATE: a strict hit outside the prefilter. Otherwise what a session or the reading of eye
// T reported; context then has its sentence. result is zeroed on failure; the sessions are then out
// of step and of no further use. Releases at its end what was fetched ahead from cold.
UVEA_MUST_USE enum uvea_error uvea_search_run(const struct uvea_search *search,
                                              const struct uvea_search_job *job,
                                              struct uvea_search_result *result,
                                              struct uvea_error_context *context);

void uvea_search_result_deinit(struct uvea_search_result *result);

// The position of a lane's session. quarter: 0 normal, 1 mirror, 2 and 3 intra-batch;
// lane < session_count / 8.
size_t uvea_search_session_position(size_t session_count, enum uvea_eye eye, unsigned quarter,
                                    size_t lane);

#endif
