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

// A copy that owns its texts, and its release. copy is unchanged on failure (MEMORY).
UVEA_MUST_USE enum uvea_error uvea_modification_copy(const struct uvea_modification *modification,
                                                     struct uvea_modification *copy);
void uvea_modification_release(struct uvea_modification *modification);

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

// What one party has to do: rows to write (completed, result already rewritten to its own node_id;
// sequence and attributes are this party's) and rows to delete. A written row that is persisted
// changes a record, which is then to be made from the share object (or is the dummy) and written as
// service.md 6.3 step 5 says: uniqueness inserts it at version 0, everything else is version + 1.
struct uvea_sync_plan {
    struct uvea_modification *write; // texts owned
    size_t write_count;
    uint64_t *delete_ids;
    size_t delete_count;
    uint64_t max_persisted; // over all parties, for the ingest
};

// All zero is an empty plan.
void uvea_sync_plan_deinit(struct uvea_sync_plan *plan);

// states[p] is party p's; the plan is for `own`. lookback is how many modifications a state shows,
// the same everywhere and no fewer than a batch has requests. Every party finds the same faults.
// STATE, naming ids and parties: copies of one id that contradict each other (completed ones also
// in what they changed), completed ids further apart than lookback, rows that a party has lost, a
// persisted row without what it needs, a serial that does not fit the party's records, record
// counts that the plans do not bring together.
UVEA_MUST_USE enum uvea_error
uvea_sync_make_plan(const struct uvea_sync_state states[UVEA_PARTY_COUNT], struct uvea_party own,
                    size_t lookback, struct uvea_sync_plan *plan,
                    struct uvea_error_context *context);

// Appends the same result as another party would publish it, with a NUL behind it that len does not
// count: the member node_id replaced, every other byte as it is. FORMAT: result is no object with a
// number node_id at its top. buf is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_sync_readdress(const char *result, struct uvea_party party,
                                                  struct uvea_buf *buf,
                                                  struct uvea_error_context *context);

#endif
