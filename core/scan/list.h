// One list of a search: the records of one eye, or the batch's earlier requests, in one orientation
// or, scanned in one pass over spectra, in both; cut into chunks, on the sessions of its lanes. The
// comparisons of a chunk stand in the order of its orientations, and in that of its records within
// them. Inside the module; search.h is what others call.
#ifndef UVEA_CORE_SCAN_LIST_H
#define UVEA_CORE_SCAN_LIST_H

#include "core/scan/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_SCAN_QUARTERS = 4,
    UVEA_SCAN_PIECE_RECORDS = 32, // read from the cold eye and scored together: 1.2 MB
};

// Where a list's records are.
enum uvea_scan_source {
    UVEA_SCAN_RESIDENT, // the scanned eye
    UVEA_SCAN_COLD,     // the other eye
    UVEA_SCAN_EARLIER,  // earlier requests of the batch; indices are positions among them
};

// What one lane works with, sized once for the largest chunk.
struct uvea_scan_lane {
    struct uvea_session *session;
    const uint16_t **records;
    uint16_t *piece;        // secret: records of the cold eye; NULL for other sources
    uint16_t *scores;       // secret: (C, m) in the ring
    uint16_t *field_scores; // secret: g in the field; NULL when the list goes through the ring
    size_t field_score_count;
    uint64_t *opened;
    uint32_t *positions; // of the chunk's candidates, among its comparisons
};

// What one chunk gave. Written by its lane only. Candidates are in the order of the comparisons.
struct uvea_scan_chunk {
    struct uvea_candidate *candidates;
    size_t candidate_count;
    size_t way_candidates[UVEA_ORIENTATION_COUNT]; // of these, by place among the list's ways
    struct uvea_share32 codes;
    struct uvea_share32 masks;
};

struct uvea_scan_list {
    const struct uvea_search *search;
    const struct uvea_ring_query *queries[UVEA_ORIENTATION_COUNT]; // the first way_count
    const void *spectral_queries[UVEA_ORIENTATION_COUNT];
    size_t way_count; // through the ring: 1
    bool spectral;
    enum uvea_scan_source source;
    const struct uvea_search_earlier *earlier;
    enum uvea_eye eye;
    unsigned quarter;        // of the first way; the next way has the next one
    const uint32_t *indices; // NULL: 0..count-1
    size_t count;
    size_t chunk_records; // in every chunk but the last
    struct uvea_scan_lane *lanes;
    size_t lane_count;
    struct uvea_scan_chunk *chunks;
    size_t chunk_count;
};

static inline uint32_t uvea_scan_list_index(const struct uvea_scan_list *list, size_t at)
{
    return list->indices == NULL ? (uint32_t)at : list->indices[at];
}

// Scans chunk `at` on its lane: a task of uvea_fanout, arg is the struct uvea_scan_list.
UVEA_MUST_USE enum uvea_error uvea_scan_chunk_run(void *arg, size_t at,
                                                  struct uvea_error_context *context);

// What one list goes through.
struct uvea_scan_range {
    enum uvea_orientation way; // the first
    size_t way_count;          // 2: both, from the normal one on; for a scan of spectra
    enum uvea_eye eye;
    bool in_batch;           // the job's earlier requests instead of the database
    const uint32_t *indices; // NULL: the first `count`
    size_t count;
};

// (blocks) An empty list costs no message. out: one for each way, all zero before; after a failure
// they are to be released as well.
UVEA_MUST_USE enum uvea_error uvea_scan_list_run(const struct uvea_search *search,
                                                 const struct uvea_search_job *job,
                                                 const struct uvea_scan_range *range,
                                                 struct uvea_eye_result *const *out,
                                                 struct uvea_error_context *context);

void uvea_eye_result_deinit(struct uvea_eye_result *eye);

#endif
