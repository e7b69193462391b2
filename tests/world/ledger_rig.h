// Three puppets in place of parties, for tests of the ledger: they do what is right, unless a test
// spoils it.
#ifndef UVEA_TESTS_WORLD_LEDGER_RIG_H
#define UVEA_TESTS_WORLD_LEDGER_RIG_H

#include "core/service/batch.h"
#include "oracle/service.h"
#include "sim/world/ledger.h"
#include "tests/world/fake_store.h"

#include <stdbool.h>
#include <stdint.h>

enum { RIG_MESSAGES_MAX = 40 };

struct rig {
    struct uvea_ledger *ledger;
    struct uvea_oracle_service model; // as the puppets have it
    struct uvea_oracle_order orders[RIG_MESSAGES_MAX];
    struct uvea_oracle_pair pairs[RIG_MESSAGES_MAX];
    char keys[RIG_MESSAGES_MAX][16];
    char results[RIG_MESSAGES_MAX][3][2048]; // of applied messages, as each party has them
    bool persisted[RIG_MESSAGES_MAX];
    uint32_t serials[RIG_MESSAGES_MAX];
    uint64_t batches[RIG_MESSAGES_MAX]; // first messages of theirs, as results name them
    size_t sent;
    size_t applied;
    uint64_t batch_id[3]; // of each party's process
    uint64_t numbers[3];  // results that were read from each party
    uint64_t random;
};

// Serial s holds random_pair(s).
struct rig *rig_open(uint32_t records);
// With a ledger that is told of results only.
struct rig *rig_open_blind(uint32_t records);
void rig_close(struct rig *rig);

// Offers the next message, with key and MessageId "m-N", and sequence number N, which nobody was
// told yet. pair: NULL for bad shares or none.
struct uvea_oracle_order *rig_offer(struct rig *rig, enum uvea_oracle_kind kind, uint32_t serial,
                                    const struct uvea_oracle_pair *pair);
// And tells its number.
void rig_send(struct rig *rig, enum uvea_oracle_kind kind, uint32_t serial,
              const struct uvea_oracle_pair *pair);
// A pair that nobody has.
const struct uvea_oracle_pair *rig_fresh(struct rig *rig);

// What the three puppets make of the next `count` messages.
struct rig_batch {
    struct uvea_batch batch[3];
    struct uvea_oracle_ruling rulings[UVEA_ORACLE_BATCH_MAX];
    size_t first; // position of its first message
    size_t count;
};
void rig_process(struct rig *rig, size_t count, struct rig_batch *out);
void rig_batch_free(struct rig_batch *batch);

// Tells the ledger.
void rig_processed(struct rig *rig, struct rig_batch *batch, unsigned party);
void rig_committed(struct rig *rig, struct rig_batch *batch, unsigned party);
void rig_published(struct rig *rig, struct rig_batch *batch, unsigned party);
// Every party's process ends and another starts.
void rig_restart(struct rig *rig);
// The puppets' model moves on.
void rig_apply(struct rig *rig, const struct rig_batch *batch);
// A client reads a message's result, once it is applied, as the party's next one.
void rig_read(struct rig *rig, unsigned party, size_t at);

// All of it for the next `count` messages: processed, committed, published, read by clients.
void rig_do(struct rig *rig, size_t count);

// The stores that the puppets end with.
void rig_stores(struct rig *rig, struct uvea_store *stores[3]);
void rig_stores_free(struct uvea_store *stores[3]);

// Nothing is wrong so far.
void rig_expect_good(const struct rig *rig);
// Something is, of this kind, and the sentence says this.
void rig_expect_wrong(const struct rig *rig, enum uvea_ledger_kind kind, const char *says);

#endif
