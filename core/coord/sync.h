// The states that parties exchange at start-up, and what each does about the differences: pure
// functions, the same on all three. Sources: service.md 6.3, 6.4, 8.1.
#ifndef UVEA_CORE_COORD_SYNC_H
#define UVEA_CORE_COORD_SYNC_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/store/store.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UVEA_SYNC_MODIFICATIONS_MAX = 4096 }; // in one state, and bound of the look-back

// All zero is an empty state. The texts of modifications belong to it.
struct uvea_sync_state {
    uint64_t db_len;
    struct uvea_modification *modifications; // ascending ids
    size_t modification_count;
    bool has_next_sequence;
    uint64_t next_sequence;
    bool has_max_persisted;
    uint64_t max_persisted;
    json_t *common_config; // an object
};

void uvea_sync_state_deinit(struct uvea_sync_state *state);

// Copies a modification behind the others. LIMIT after UVEA_SYNC_MODIFICATIONS_MAX.
UVEA_MUST_USE enum uvea_error uvea_sync_state_add(struct uvea_sync_state *state,
                                                  const struct uvea_modification *modification);

// Appends the JSON of /startup-sync: db_len, modifications, next_sns_sequence_num, common_config,
// graph_mutation_bytes, max_persisted_sequence_number, dh_nonce.
UVEA_MUST_USE enum uvea_error uvea_sync_state_encode(const struct uvea_sync_state *state,
                                                     struct uvea_buf *json);
// FORMAT or LIMIT names the member. state is all zero before, and on failure.
UVEA_MUST_USE enum uvea_error uvea_sync_state_decode(const uint8_t *json, size_t bytes,
                                                     struct uvea_sync_state *state,
                                                     struct uvea_error_context *context);

// STATE names the first member that differs (by its path), both values, and the parties.
UVEA_MUST_USE enum uvea_error
uvea_sync_check_config(const struct uvea_sync_state states[UVEA_PARTY_COUNT],
                       struct uvea_error_context *context);

// What one party has to do: rows to write (completed, result already rewritten to its own node_id)
// and rows to delete. apply says which written rows change a record: the record is then to be made
// from the share object (or the dummy) and written as service.md 6.3 step 5 says.
struct uvea_sync_plan {
    struct uvea_modification *write; // texts owned
    size_t write_count;
    uint64_t *delete_ids;
    size_t delete_count;
    uint64_t max_persisted; // over all parties, for the ingest
};

void uvea_sync_plan_deinit(struct uvea_sync_plan *plan);

// states[p] is party p's; the plan is for `own`. STATE, naming ids and parties: copies of one id
// that contradict each other, completed ids further apart than lookback, a persisted row without
// what it needs; record counts that the plans do not bring together.
UVEA_MUST_USE enum uvea_error
uvea_sync_make_plan(const struct uvea_sync_state states[UVEA_PARTY_COUNT], struct uvea_party own,
                    size_t lookback, struct uvea_sync_plan *plan,
                    struct uvea_error_context *context);

#endif
