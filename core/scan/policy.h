// What a search result means: pure functions over public values. Sources: service.md 2.5-2.7, 4.1.
#ifndef UVEA_CORE_SCAN_POLICY_H
#define UVEA_CORE_SCAN_POLICY_H

#include "core/base/error.h"
#include "core/scan/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_POLICY_SUPERMATCH_DEFAULT = 4000, // exactly so many are still allowed
    UVEA_POLICY_IDS_MAX = 2048,            // entries of any reported list
};

// Equal on all three parties: decisions depend on it. The reference's default is all zero, with
// supermatch_limit UVEA_POLICY_SUPERMATCH_DEFAULT.
struct uvea_policy {
    bool luc_enabled;
    uint32_t luc_lookback_records;    // N > 0: the N + 1 newest records; 0: none
    bool luc_serial_ids_from_request; // or_rule_serial_ids count
    bool return_partial_results;      // also switches supermatch on
    uint32_t supermatch_limit;
};

// The candidates that match on one eye alone (the LUC rule), as indices: ascending, each once, only
// records that exist. Without luc_enabled it is empty. indices is owned; release it with
// uvea_mem_free. Unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_policy_luc_set(const struct uvea_policy *policy,
                                                  const uint32_t *or_rule_serials,
                                                  size_t or_rule_count, size_t record_count,
                                                  uint32_t **indices, size_t *count);

enum uvea_decision {
    UVEA_DECISION_NO_MUTATION,
    UVEA_DECISION_UNIQUE_INSERT,
    UVEA_DECISION_UNIQUE_INSERT_SKIPPED,
};

// Ascending serials without duplicates, cut at UVEA_POLICY_IDS_MAX; total counts before the cut.
struct uvea_match_list {
    uint32_t *serials; // owned
    uint32_t *strict;  // owned: strictly matching rotations of each serial, bits as in
                       // uvea_candidate; NULL in a list of full matches
    size_t count;
    uint64_t total;
};

// One orientation. full: search and LUC matches. partial: records that match on that database eye.
struct uvea_orientation_matches {
    struct uvea_match_list full;
    struct uvea_match_list partial[UVEA_EYE_COUNT];
    bool supermatch;
};

struct uvea_uniqueness_outcome {
    enum uvea_decision decision;
    bool mirror_attack;
    bool partial_results; // the policy's return_partial_results
    struct uvea_orientation_matches matches[UVEA_ORIENTATION_COUNT];
};

// luc: as uvea_policy_luc_set gave it. outcome is zeroed on failure.
UVEA_MUST_USE enum uvea_error uvea_policy_decide_uniqueness(
    const struct uvea_policy *policy, const uint32_t *luc, size_t luc_count, bool skip_persistence,
    const struct uvea_search_result *result, struct uvea_uniqueness_outcome *outcome);

void uvea_policy_outcome_deinit(struct uvea_uniqueness_outcome *outcome);

#endif
