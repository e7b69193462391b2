// The oracle's model of the service: a database in the clear and the answer to a uniqueness
// request. Written from service.md 2.5-2.7 and 4.1 alone; core/scan and core/service are written by
// the same text, and the two must be able to disagree.
#ifndef UVEA_ORACLE_DECIDE_H
#define UVEA_ORACLE_DECIDE_H

#include "core/base/buf.h"
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

// Records have serials 1, 2, ... in the order of insertion.
struct uvea_oracle_model {
    struct uvea_oracle_config config;
    struct uvea_oracle_pair *records; // owned; serial s is records[s - 1]
    uint32_t record_count;
    uint32_t record_capacity;
};

void uvea_oracle_model_init(struct uvea_oracle_model *model,
                            const struct uvea_oracle_config *config);
void uvea_oracle_model_deinit(struct uvea_oracle_model *model);

// Enrols without a search, as when a database is loaded; serial (may be NULL) is its number.
UVEA_MUST_USE enum uvea_error uvea_oracle_model_insert(struct uvea_oracle_model *model,
                                                       const struct uvea_oracle_pair *pair,
                                                       uint32_t *serial);

struct uvea_oracle_request {
    const char *signup_id; // UTF-8
    const struct uvea_oracle_pair *pair;
    const uint32_t *or_rule_serials; // any values, duplicates allowed; unknown ones are ignored
    size_t or_rule_count;
    bool mirror; // full_face_mirror_attacks_detection_enabled is present and true
    bool skip_persistence;
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

enum uvea_oracle_decision {
    UVEA_ORACLE_NO_MUTATION,
    UVEA_ORACLE_INSERT_SKIPPED,
    UVEA_ORACLE_INSERT,
};

// Start from all zero; release with uvea_oracle_answer_deinit.
struct uvea_oracle_answer {
    struct uvea_oracle_search search[UVEA_ORACLE_ORIENTATIONS];
    enum uvea_oracle_decision decision;
    uint32_t serial; // of the inserted record, else 0
    bool mirror_attack;
};

// Answers and, when the decision is INSERT, enrols the pair as serial record_count + 1. On failure
// the model is unchanged and answer is empty. STATE is an oracle fault (see uvea_oracle_judge).
UVEA_MUST_USE enum uvea_error uvea_oracle_uniqueness(struct uvea_oracle_model *model,
                                                     const struct uvea_oracle_request *request,
                                                     struct uvea_oracle_answer *answer,
                                                     struct uvea_error_context *context);
void uvea_oracle_answer_deinit(struct uvea_oracle_answer *answer);

// Appends the UniquenessResult that party node_id publishes: compact JSON, members in the order of
// service.md 4.1, no newline. FORMAT when signup_id is not UTF-8.
UVEA_MUST_USE enum uvea_error uvea_oracle_uniqueness_json(const struct uvea_oracle_config *config,
                                                          const struct uvea_oracle_request *request,
                                                          const struct uvea_oracle_answer *answer,
                                                          unsigned node_id, struct uvea_buf *buf,
                                                          struct uvea_error_context *context);

#endif
