// The ledger: the judge of a whole run. It is told of every message that a client sends, with its
// templates in the clear, and of all that the parties process, commit and answer; it keeps the
// oracle's model beside them and reports what does not agree. Each check is made as soon as it can
// be, so that a run stops where it went wrong; what can only be known at the end (one answer each,
// nothing left over, records put together from shares) is checked by uvea_ledger_finish.
//
// How it follows the parties: a batch's composition is its message sequences in order. It is ruled
// on when the first party has processed it, against the model as it stands, and applied at the
// first sign that it was committed: a commit seen, or, because a process can die between its commit
// and the onlooker, a batch or a result that comes after it. From then on no other composition may
// hold any of its sequences.
//
// Where nobody can look on (a live cluster), results are the second source: each names the batch it
// was processed in. A batch is ruled on and applied when the results of all its messages have been
// read from some party, and one of a later batch, or of all that was offered, as well. What is
// answered is judged as before; what the parties opened and retained is not seen, and the oracle's
// stands for it in the hash.
//
// Calls from onlookers have no result; the first failure (memory, the oracle's own fault) is kept.
// Allocations made here are the judge's, not the party's in whose task the call is made: the world
// has to keep memory faults from them.
#ifndef UVEA_SIM_WORLD_LEDGER_H
#define UVEA_SIM_WORLD_LEDGER_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "oracle/service.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uvea_batch;
struct uvea_expectation;
struct uvea_ledger;
struct uvea_store;

struct uvea_ledger_config {
    struct uvea_oracle_config oracle;
    struct uvea_oracle_gates gates;
    uint32_t batch_requests_max;
    bool hostile;      // disks may lose what they held: a number may then be given a second time
    bool from_results; // results are the only source; not with hostile
};

UVEA_MUST_USE enum uvea_error uvea_ledger_open(const struct uvea_ledger_config *config,
                                               struct uvea_ledger **ledger);
// NULL is allowed.
void uvea_ledger_close(struct uvea_ledger *ledger);

// Enrols at version 0, before anything is processed.
UVEA_MUST_USE enum uvea_error
uvea_ledger_seed(struct uvea_ledger *ledger, const struct uvea_oracle_pair *pair, uint32_t *serial);

// The model after all that is known to be committed: what a client may enrol against.
const struct uvea_oracle_service *uvea_ledger_model(const struct uvea_ledger *ledger);

// ---- the client's side

// A message is about to be sent for the first time; its MessageId is `key`. The order and what it
// points to are copied. order->pair is NULL when the shares are bad for at least one party.
// order->message_id: what a MALFORMED one's result echoes, "" when its MessageId cannot be read
// although it has one. expect: borrowed until the ledger is closed, or NULL; what the plan says the
// ruling is. USAGE: the key was offered before.
UVEA_MUST_USE enum uvea_error uvea_ledger_offer(struct uvea_ledger *ledger, const char *key,
                                                const struct uvea_oracle_order *order,
                                                const struct uvea_expectation *expect);

// The client was told the message's sequence number. The same may be told again; another number for
// the same key, or the same number for another, is a violation.
void uvea_ledger_accept(struct uvea_ledger *ledger, const char *key, uint64_t sequence);

// As a client reads it. body: JSON of `bytes` bytes without a NUL. type: the attribute
// message_type. batch: the sequence number of the first message of its batch; 0: not told.
struct uvea_ledger_read {
    uint64_t number;
    uint64_t sequence;
    uint64_t batch;
    const char *type;
    const char *body;
    size_t bytes;
};

// A client read this result from a party's store, in whatever order and however often.
void uvea_ledger_result(struct uvea_ledger *ledger, struct uvea_party party,
                        const struct uvea_ledger_read *result);

// What became of an offered message. ruled is false until its batch is known to be committed.
struct uvea_ledger_outcome {
    bool ruled;
    uint64_t sequence;        // 0: not known yet
    const char *error_reason; // NULL: none
    bool matched;             // as in struct uvea_oracle_ruling
    uint32_t serial;
};
// NOT_FOUND when it was not offered.
UVEA_MUST_USE enum uvea_error uvea_ledger_outcome(const struct uvea_ledger *ledger, const char *key,
                                                  struct uvea_ledger_outcome *outcome);

// One offered message and what is known of its answer. Bodies are empty where nothing is: `right`
// as the oracle has it, `read` as a client read it.
struct uvea_ledger_answer {
    const char *key;
    const char *kind; // its message_type
    uint64_t sequence;
    bool ruled;
    const struct uvea_buf *right[UVEA_PARTY_COUNT];
    const struct uvea_buf *read[UVEA_PARTY_COUNT];
};
typedef enum uvea_error uvea_ledger_answer_fn(void *arg, const struct uvea_ledger_answer *answer);

// Shows all of them in the order of offering; an error ends the call and becomes its result.
UVEA_MUST_USE enum uvea_error uvea_ledger_answers(const struct uvea_ledger *ledger,
                                                  uvea_ledger_answer_fn *fn, void *arg);

// Gives what clients do and read from now on to a second ledger as well, which is open as long;
// NULL: to none any more. Its failures are its own.
void uvea_ledger_repeat(struct uvea_ledger *ledger, struct uvea_ledger *second);

// ---- the parties' side. The first argument (arg) of the last three is the ledger: they are what
// struct uvea_node_observer calls.

// A process of this party is about to run; the one before it is gone.
void uvea_ledger_started(struct uvea_ledger *ledger, struct uvea_party party);

void uvea_ledger_processed(void *arg, struct uvea_party party, const struct uvea_batch *batch);
void uvea_ledger_committed(void *arg, struct uvea_party party, const struct uvea_batch *batch);
void uvea_ledger_published(void *arg, struct uvea_party party, const struct uvea_batch *batch);

// ---- verdicts

// What is wrong. LIVENESS: something was not done, which may only be judged when faults have ended
// and time was given. EXPECTATION: the oracle's ruling is not what the plan expects.
enum uvea_ledger_kind {
    UVEA_LEDGER_SAFETY,
    UVEA_LEDGER_LIVENESS,
    UVEA_LEDGER_EXPECTATION,
    UVEA_LEDGER_KINDS,
};

struct uvea_ledger_verdict {
    uint64_t violations[UVEA_LEDGER_KINDS];
    enum uvea_ledger_kind first; // of the sentence
    char reason[400];            // the first violation, one sentence; "" when there is none
    uint64_t disagreements;      // messages whose parties' results differ beyond node_id
    uint64_t mismatches;         // results and opened values that are not the oracle's
    uint64_t accepted;           // messages that are known to have a sequence number
    uint64_t committed;          // messages known to be committed
    uint64_t results;            // that clients have read, of 3 x accepted
    uint64_t errors;             // of the committed, those answered with an error
    uint32_t records;            // in the model
    uint64_t batches;            // committed
    uint64_t joined;             // searches whose three parties' shares were put together
};
struct uvea_ledger_verdict uvea_ledger_verdict(const struct uvea_ledger *ledger);

// Whether anything is wrong, failures of the ledger itself included: the run can stop.
bool uvea_ledger_wrong(const struct uvea_ledger *ledger);

// The first failure of the ledger itself; OK when there was none.
UVEA_MUST_USE enum uvea_error uvea_ledger_failure(const struct uvea_ledger *ledger,
                                                  struct uvea_error_context *context);

// Whether the clients have read every party's result of every offered message: the run is over.
bool uvea_ledger_complete(const struct uvea_ledger *ledger);

// ---- the end

// The whole ledger check, once, when the parties stand still. stores: each party's, open. Every
// accepted message has one result per party, equal but for node_id and equal to the ruling's;
// counts, ids and versions of the three stores are equal; every record put together from the shares
// of each of the three pairs of parties is the model's; every modification is completed and says
// what was ruled; no message is pending. Errors: what a store reported, MEMORY.
UVEA_MUST_USE enum uvea_error uvea_ledger_finish(struct uvea_ledger *ledger,
                                                 struct uvea_store *const stores[UVEA_PARTY_COUNT],
                                                 struct uvea_error_context *context);

enum { UVEA_LEDGER_HASH_BYTES = 32 };
// SHA-256 over what clients read and what the parties opened for it, by sequence: per message the
// three results and the candidates with their rotations, anonymous and strict. The same for every
// path of the scan and for every course of faults that leads to the same batches. Messages up to
// number `after` are left out.
UVEA_MUST_USE enum uvea_error uvea_ledger_hash(const struct uvea_ledger *ledger, uint64_t after,
                                               uint8_t hash[UVEA_LEDGER_HASH_BYTES]);

#endif
