// The oracle's search of one request in one orientation. Source: service.md 2.5, 2.6.
#ifndef UVEA_ORACLE_SEARCH_H
#define UVEA_ORACLE_SEARCH_H

#include "core/base/error.h"
#include "oracle/match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum uvea_oracle_eye {
    UVEA_ORACLE_LEFT,
    UVEA_ORACLE_RIGHT,
    UVEA_ORACLE_EYES,
};

enum uvea_oracle_orientation {
    UVEA_ORACLE_NORMAL,
    UVEA_ORACLE_MIRROR,
    UVEA_ORACLE_ORIENTATIONS,
};

enum { UVEA_ORACLE_IDS_MAX = 2048 }; // longest id list in a result; counts are not capped

struct uvea_oracle_pair {
    struct uvea_oracle_template eye[UVEA_ORACLE_EYES];
};

struct uvea_oracle_config {
    enum uvea_oracle_eye full_scan_eye;
    bool return_partial_results; // also switches supermatch on
    bool luc_enabled;
    uint32_t luc_lookback_records; // N: a window of N + 1 serials; 0 = no window
    bool luc_serial_ids_from_request;
    uint32_t supermatch_limit; // more strict matches than this on one eye saturate it; 4000
};

// One record as seen by one orientation. Eyes are the database's. Masks have bit rho + 15 set for
// rotation rho, and are zero for an eye that the cascade did not evaluate.
struct uvea_oracle_record {
    bool luc;                             // in the LUC set (or-rule serials and look-back window)
    bool prefiltered;                     // in P: anonymous pass on the full-scan eye
    bool second;                          // in D: evaluated on the other eye
    bool matched;                         // search match or LUC match
    uint32_t anonymous[UVEA_ORACLE_EYES]; // rotations that pass the anonymous threshold
    uint32_t strict[UVEA_ORACLE_EYES];    // rotations that pass the strict one
};

// One rotation that passed the anonymous threshold.
struct uvea_oracle_pass {
    uint32_t serial;
    enum uvea_oracle_eye eye;
    int rotation;     // -15..15
    int32_t code_dot; // C
    int32_t mask_dot; // M
};

struct uvea_oracle_search {
    bool run;                           // false: the other members are empty
    struct uvea_oracle_record *records; // record_count of them; serial s is records[s - 1]
    uint32_t record_count;              // of the database before this request's insert
    struct uvea_oracle_pass *passes;    // full-scan eye first, then by serial, then by rotation
    size_t pass_count;
    size_t pass_capacity;
    uint32_t match_count;                     // records with `matched`
    uint32_t partial_count[UVEA_ORACLE_EYES]; // records with a strict pass on that eye
    bool saturated[UVEA_ORACLE_EYES];         // supermatch
};

// Everything a search reads. About 200 kB: keep it off small stacks.
struct uvea_oracle_search_input {
    const struct uvea_oracle_config *config;
    const struct uvea_oracle_pair *const *records; // serial s is records[s - 1]
    uint32_t record_count;
    const bool *luc; // per record: matches on either eye
    uint32_t target; // serial that is evaluated on both eyes without being in the LUC set; 0: none
    struct uvea_oracle_query query[UVEA_ORACLE_EYES]; // by the database's eye
};

// Fills input->query. In mirror orientation the query's right eye, mirrored, meets the database's
// left eyes.
void uvea_oracle_search_prepare(const struct uvea_oracle_pair *pair,
                                enum uvea_oracle_orientation orientation,
                                struct uvea_oracle_search_input *input);

// Marks the window of the N + 1 newest records, when the configuration has one.
void uvea_oracle_search_lookback(const struct uvea_oracle_config *config, uint32_t record_count,
                                 bool *luc);

// Marks these serials, those that are enrolled.
void uvea_oracle_search_name(const uint32_t *serials, size_t count, uint32_t record_count,
                             bool *luc);

// search: all zero before; unchanged on failure. STATE is an oracle fault.
UVEA_MUST_USE enum uvea_error uvea_oracle_search_run(const struct uvea_oracle_search_input *input,
                                                     struct uvea_oracle_search *search,
                                                     struct uvea_error_context *context);
void uvea_oracle_search_deinit(struct uvea_oracle_search *search);

// Whether two pairs match on both eyes, the second as it is and the first as prepared.
UVEA_MUST_USE enum uvea_error uvea_oracle_search_pair(const struct uvea_oracle_search_input *input,
                                                      const struct uvea_oracle_pair *pair,
                                                      bool *match,
                                                      struct uvea_error_context *context);

// A match of any kind, supermatch included.
bool uvea_oracle_search_hit(const struct uvea_oracle_search *search);

#endif
