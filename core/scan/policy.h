// What a search result means: pure functions over public values. Sources: service.md 2.5-2.7, 4.
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
    UVEA_DECISION_REAUTH_UPDATE, // the rule holds; with skip_persistence nothing is written
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

// All zero holds nothing and is no mutation.
struct uvea_outcome {
    enum uvea_decision decision;
    bool success;         // reauth: the rule holds
    bool mirror_attack;   // uniqueness: matches in a mirror and nowhere else
    bool partial_results; // the policy's return_partial_results
    struct uvea_orientation_matches matches[UVEA_ORIENTATION_COUNT];
    struct {
        uint32_t *at; // owned: positions of earlier requests that match on both eyes, ascending
        size_t count;
    } batch_matches[UVEA_ORIENTATION_COUNT]; // whatever was decided about them
};

enum uvea_policy_kind {
    UVEA_POLICY_UNIQUENESS,
    UVEA_POLICY_REAUTH,
    UVEA_POLICY_CHECK, // reset_check, recovery_check
};

// What was searched for. The search must have been given what the rules look at:
//   uniqueness  known = luc
//   reauth      target = target; known = {target} with use_or_rule, else nothing
//   check       neither
// earlier_blocks: by position in the search job's earlier list, whether that request was itself
// decided as UNIQUE_INSERT or REAUTH_UPDATE; only these keep a uniqueness request from insertion.
struct uvea_policy_job {
    enum uvea_policy_kind kind;
    const uint32_t *luc; // uniqueness: as uvea_policy_luc_set gave it
    size_t luc_count;
    uint32_t target;  // reauth: index
    bool use_or_rule; // reauth: one eye is enough
    bool skip_persistence;
    const bool *earlier_blocks;
    size_t earlier_count;
};

// outcome is zeroed on failure.
UVEA_MUST_USE enum uvea_error uvea_policy_decide(const struct uvea_policy *policy,
                                                 const struct uvea_policy_job *job,
                                                 const struct uvea_search_result *result,
                                                 struct uvea_outcome *outcome);

void uvea_policy_outcome_deinit(struct uvea_outcome *outcome);

#endif
