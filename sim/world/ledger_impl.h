// Inside the ledger.
#ifndef UVEA_SIM_WORLD_LEDGER_IMPL_H
#define UVEA_SIM_WORLD_LEDGER_IMPL_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/service/batch.h"
#include "oracle/service.h"
#include "sim/world/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One offered message. It stays where it is until the ledger is closed.
struct uvea_ledger_entry {
    char *key;                             // owned
    struct uvea_oracle_order order;        // owns id, message_id, pair, or_rule_serials
    const struct uvea_expectation *expect; // NULL: none
    uint64_t sequence;                     // 0: not known
    uint64_t batch; // first message of its batch: as ruled, or before that as a result names it
    bool ruled;     // committed; what follows is known then
    struct uvea_ledger_outcome outcome;      // when ruled
    bool persisted;                          // when ruled: it changes a record
    struct uvea_buf right[UVEA_PARTY_COUNT]; // the results that the oracle gives
    uint8_t opened[UVEA_LEDGER_HASH_BYTES];  // of the candidates
    struct {
        uint64_t number; // 0: not read
        struct uvea_buf body;
    } read[UVEA_PARTY_COUNT]; // by clients
    bool disagreed;           // counted
};

// The retained distances of one party's search, copied: they are put together when all three have
// processed the batch.
struct uvea_ledger_eye {
    uint32_t *values; // owned: codes a, codes b, masks a, masks b, count each
    size_t count;
};

struct uvea_ledger_search {
    struct uvea_ledger_eye eye[UVEA_ORIENTATION_COUNT][UVEA_EYE_COUNT];
};

// A batch as some party has processed it: messages first..first+count-1 on top of all before.
struct uvea_ledger_trial {
    uint64_t first;
    size_t count;
    struct uvea_oracle_order orders[UVEA_ORACLE_BATCH_MAX]; // borrowed from the entries
    struct uvea_oracle_ruling rulings[UVEA_ORACLE_BATCH_MAX];
    uint8_t opened[UVEA_ORACLE_BATCH_MAX][UVEA_LEDGER_HASH_BYTES];
    bool has_opened;
    uint32_t record_count; // of the model it was ruled against
    bool committed;
    struct {
        bool processed; // by the party's present process
        uint64_t batch_id;
        uint64_t modification_id;
        struct uvea_ledger_search *searches; // owned, count of them; NULL: none
    } party[UVEA_PARTY_COUNT];
};

// What a party's present process has done.
struct uvea_ledger_life {
    uint64_t committed_before; // known to be committed when it started
    uint64_t batch_id;         // of the last batch processed; 0: none
    uint64_t first;            // of that batch
    size_t count;
    bool committed; // that batch
    bool published;
    uint64_t committed_last; // by any of the party's processes: the last message
};

struct uvea_ledger {
    struct uvea_ledger_config config;
    struct uvea_ledger *second; // borrowed, NULL: none
    struct uvea_oracle_service model;
    struct uvea_ledger_entry **entries; // owned, in order of offering
    size_t entry_count;
    size_t entry_capacity;
    struct uvea_ledger_entry **by_sequence; // of sequences 1..sequence_capacity; NULL: unknown
    uint64_t sequence_capacity;
    uint64_t sequence_max;          // the largest known
    uint64_t committed;             // messages 1..committed are known to be committed
    bool begun;                     // something was processed
    struct uvea_ledger_trial *last; // the batch committed last; NULL: none yet
    // Of what comes next, by count - 1. Which of them is carried out shows when it is committed.
    struct uvea_ledger_trial *trials[UVEA_ORACLE_BATCH_MAX];
    struct uvea_ledger_life life[UVEA_PARTY_COUNT];
    struct {
        uint64_t *sequences; // of results 1..capacity; 0: not read
        uint64_t capacity;
    } numbers[UVEA_PARTY_COUNT];
    struct uvea_ledger_verdict verdict;
    enum uvea_error failure;
    struct uvea_error_context failed;
};

// Counts a violation; the first one's sentence is kept.
UVEA_PRINTF(3, 4)
void uvea_ledger_fault(struct uvea_ledger *ledger, enum uvea_ledger_kind kind, const char *format,
                       ...);

// Keeps the first failure of the ledger itself; OK is none.
void uvea_ledger_fail(struct uvea_ledger *ledger, enum uvea_error error,
                      const struct uvea_error_context *context);

// NULL when the number was given to nothing known.
struct uvea_ledger_entry *uvea_ledger_at(const struct uvea_ledger *ledger, uint64_t sequence);

// The message that has this number: the one it was given to, or the first without number whose
// MessageId reads so. NULL: nobody sent it.
struct uvea_ledger_entry *uvea_ledger_bind(struct uvea_ledger *ledger, uint64_t sequence,
                                           const char *message_id);

// Room for `count` elements at the end of what an array holds. *capacity counts elements.
UVEA_MUST_USE enum uvea_error uvea_ledger_grow(void **array, uint64_t *capacity, uint64_t count,
                                               size_t size);

// Takes what the trial of `count` messages was ruled to be as done.
void uvea_ledger_commit(struct uvea_ledger *ledger, size_t count);

// There is a sign that message `sequence` is committed; exactly: and that the one after it is not.
// If one trial alone can have done it, takes that as done. False when none can.
bool uvea_ledger_infer(struct uvea_ledger *ledger, uint64_t sequence, bool exactly);

// Rules on what first, count and orders say; false after a failure.
bool uvea_ledger_trial_rule(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial);
void uvea_ledger_trial_free(struct uvea_ledger_trial *trial);

// A party's result, the first that was read of it, names this batch: carries out the batches that
// are complete by that. For ledgers that know results only.
void uvea_ledger_form(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry,
                      struct uvea_party party, uint64_t batch);

// What a party opened for one request, against the ruling. Its distances are kept for when all
// three parties have processed the batch.
void uvea_ledger_opened(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial, size_t at,
                        struct uvea_party party, const struct uvea_batch_entry *got);
UVEA_MUST_USE enum uvea_error uvea_ledger_opened_hash(const struct uvea_search_result *search,
                                                      uint8_t hash[UVEA_LEDGER_HASH_BYTES]);
// The same of what the oracle says is to be opened.
UVEA_MUST_USE enum uvea_error uvea_ledger_ruled_hash(const struct uvea_oracle_ruling *ruling,
                                                     uint8_t hash[UVEA_LEDGER_HASH_BYTES]);
// Puts the three parties' distances together, when there are three, and forgets them.
void uvea_ledger_join(struct uvea_ledger *ledger, struct uvea_ledger_trial *trial);
void uvea_ledger_searches_free(struct uvea_ledger_search *searches, size_t count);

// Results that clients have read, against each other and, once ruled, the oracle's.
void uvea_ledger_compare(struct uvea_ledger *ledger, struct uvea_ledger_entry *entry,
                         struct uvea_party party);

// The first member in which two JSON objects differ, for a sentence; "form" when there is none.
void uvea_ledger_member(const struct uvea_buf *got, const struct uvea_buf *want, char name[64]);

#endif
