// A batch: the requests that the three parties process together, and what becomes of each.
// Sources: service.md 2.7, 3.4-3.6, 6.2; 12 for what differs from the reference.
#ifndef UVEA_CORE_SERVICE_BATCH_H
#define UVEA_CORE_SERVICE_BATCH_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/iris/share.h"
#include "core/scan/policy.h"
#include "core/scan/search.h"
#include "core/service/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UVEA_BATCH_REQUESTS_MAX = 64 };

// What a request does to the records.
enum uvea_mutation {
    UVEA_MUTATION_NONE,
    UVEA_MUTATION_INSERT, // a new serial at version 0
    UVEA_MUTATION_UPDATE, // the target's version + 1: reauth, reset, recovery, deletion
};

// Filled from top to bottom as the request goes through its stages. error_reason, once set, is the
// same on all three parties: nothing further is done and the result is the error form.
struct uvea_batch_entry {
    // claimed
    uint64_t sequence;
    struct uvea_message message;
    const char *error_reason; // NULL or a literal
    uint64_t modification_id;
    // entries agreed
    struct uvea_iris_upload *upload; // this party's shares, secret, owned; NULL when there are none
    bool shares_valid;               // this party could read them; then: all three could
    struct uvea_error_context refusal; // why this party could not
    // processed
    struct uvea_search_result search; // of searched kinds
    struct uvea_outcome outcome;      // of searched kinds; batch matches are positions in the batch
    enum uvea_mutation mutation;
    uint32_t serial;        // the modification's: of the inserted or named record; 0 for none
    uint16_t version;       // of that record after the mutation
    struct uvea_buf result; // JSON, NUL behind it
};

// All zero is an empty batch.
struct uvea_batch {
    uint64_t id;                      // of this process life, from 1
    struct uvea_batch_entry *entries; // owned, in order of arrival
    size_t count;
    bool mirror;           // the batch-level flag: the last uniqueness request that carries it
    uint32_t record_count; // of the database when the batch was begun
};

// count entries, all zero. LIMIT: more than UVEA_BATCH_REQUESTS_MAX. The caller sets record_count.
UVEA_MUST_USE enum uvea_error uvea_batch_init(struct uvea_batch *batch, uint64_t id, size_t count);
// Wipes shares and frees.
void uvea_batch_deinit(struct uvea_batch *batch);

// Which requests a service takes.
struct uvea_gates {
    bool enable_reauth;
    bool enable_reset;
    bool enable_recovery;
    bool enable_deletion;
};

// Intake of entry `at`, whose message is parsed, given those before it, which are admitted already:
// sets error_reason by the gates and validations of service.md 3.4 and 12 (5: a serial that does
// not exist when the batch begins), and the batch's mirror flag. Depends on what all parties share
// only.
//
// Checks in this order: malformed; gate; use_or_rule without the LUC rule for serials from requests
// (reauth); unknown serial; a serial that an admitted entry before it names too. Where service.md
// leaves it open: an entry rejected here is none that a later one could repeat; one whose shares
// turn out bad afterwards is, because shares are judged when the whole batch is admitted. Which
// serial the or-rule list of a uniqueness request names is not judged; the search drops those that
// do not exist. A mirror flag counts with the uniqueness request that carries it, whatever becomes
// of its shares.
void uvea_batch_admit(struct uvea_batch *batch, size_t at, const struct uvea_gates *gates,
                      const struct uvea_policy *policy);

// SHA-256 over the message ids of all entries in order, one behind the other; a quarantined one
// counts with its sequence number in decimal.
UVEA_MUST_USE enum uvea_error uvea_batch_sha(const struct uvea_batch *batch, uint8_t sha[32]);

#endif
