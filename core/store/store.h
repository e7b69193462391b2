// What a party keeps for good: records, modifications, ingested requests, the topic, share objects,
// results and the spectral cache. One interface and one schema for two back ends, SQLite and
// PostgreSQL.
//
// Each call below is one transaction of its own: it happens wholly or not at all, also when the
// process dies in the middle, and when it has returned OK its effect is durable. Calls may come
// from several threads; they are carried out one after the other. None of them blocks on the
// runtime. A function that a call is given must not call the store nor block.
//
// Common errors: IO the back end failed (the sentence says what it said; the effect of the failed
// call is unknown until the store is opened again, and so every later call fails too), MEMORY,
// STATE what is stored contradicts itself or is not what was once stored, LIMIT a bound below was
// exceeded, USAGE a text is not UTF-8 or a number is not in 1..2^63-1. Share data is secret;
// sentences never hold any.
// Sources: service.md 6.
#ifndef UVEA_CORE_STORE_STORE_H
#define UVEA_CORE_STORE_STORE_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/iris/template.h"
#include "core/kernel/ring_kernel.h"
#include "core/rt/rt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uvea_store;

enum {
    UVEA_STORE_SEQUENCE_DIGITS = 40,       // a sequence number as text, padded with zeros
    UVEA_STORE_TYPE_CHARS_MAX = 31,        // of a request type
    UVEA_STORE_KEY_BYTES_MAX = 1024,       // of a share object's key and of a message id
    UVEA_STORE_BODY_BYTES_MAX = 1 << 20,   // of a topic message and of a result
    UVEA_STORE_OBJECT_BYTES_MAX = 4 << 20, // of a share object
    UVEA_STORE_SCHEMA_CHARS_MAX = 63,      // of a schema's name
    UVEA_STORE_GENERATION_BYTES = 16,
    UVEA_STORE_HASH_BYTES = 32,
};

// ---- opening

// path: a file, made when it does not exist. vfs: name of a registered SQLite VFS, or NULL for the
// system's. WAL, synchronous FULL, foreign keys on; exclusive locking, so that a second process is
// refused by name (IO). Reads the whole file once to see that it is sound (else STATE), and brings
// the schema up to date, in one transaction per version. FORMAT: the schema is newer than this
// program, or the file is no such database (both named); then nothing was written.
UVEA_MUST_USE enum uvea_error uvea_store_open_sqlite(struct uvea_rt *rt, const char *path,
                                                     const char *vfs, struct uvea_store **store,
                                                     struct uvea_error_context *context);

// url: a libpq connection string or URL. schema: 1 to 63 letters, digits, '_' and '-' only (else
// USAGE); made when it does not exist. Three parties may use one server with a schema each, and
// several may migrate at once. A schema belongs to one store at a time: another waits up to ten
// seconds for the first one's connection to end, so that what the first had begun is settled, and
// is then refused by name. The connection must be a direct one, not one of a pool. Errors as above.
UVEA_MUST_USE enum uvea_error uvea_store_open_postgres(struct uvea_rt *rt, const char *url,
                                                       const char *schema,
                                                       struct uvea_store **store,
                                                       struct uvea_error_context *context);
// Whether libpq understands url, without a connection. FORMAT: the sentence does not repeat the
// url, which may hold a password.
UVEA_MUST_USE enum uvea_error uvea_store_check_postgres_url(const char *url,
                                                            struct uvea_error_context *context);
// NULL is allowed.
void uvea_store_close(struct uvea_store *store);

// ---- records. An eye is UVEA_RECORD_COEFFICIENTS values: code, then the real half of the mask.

struct uvea_store_record {
    uint32_t serial;
    uint16_t version;
    const uint16_t *eye[UVEA_EYE_COUNT]; // NULL: that eye was not asked for
};

// count of records and the largest serial. They are equal unless the table has a gap.
UVEA_MUST_USE enum uvea_error uvea_store_count(struct uvea_store *store, uint64_t *count,
                                               uint64_t *serial_max,
                                               struct uvea_error_context *context);

// Sees one record; an error ends the call and becomes its result.
typedef enum uvea_error uvea_store_record_fn(void *arg, const struct uvea_store_record *record);

// The records first..first+count-1 that exist, ascending; the eyes whose bit (1 << eye) is in eyes.
UVEA_MUST_USE enum uvea_error uvea_store_read_records(struct uvea_store *store, uint32_t first,
                                                      uint32_t count, unsigned eyes,
                                                      uvea_store_record_fn *fn, void *arg,
                                                      struct uvea_error_context *context);

// One eye at exactly this version; NOT_FOUND otherwise (the sentence names serial and versions).
UVEA_MUST_USE enum uvea_error uvea_store_read_eye(struct uvea_store *store, enum uvea_eye eye,
                                                  uint32_t serial, uint16_t version,
                                                  uint16_t out[UVEA_RECORD_COEFFICIENTS],
                                                  struct uvea_error_context *context);

// Appends records as when a database is seeded: serials follow the largest one, version 0; those in
// records are not read.
UVEA_MUST_USE enum uvea_error uvea_store_seed(struct uvea_store *store,
                                              const struct uvea_store_record *records, size_t count,
                                              struct uvea_error_context *context);

// ---- modifications: one row for each request that was claimed, in the order of processing

// Strings end with NUL. When the store hands one out they are good until its function returns.
struct uvea_modification {
    uint64_t id;
    uint64_t sequence; // of the message it came from; not exchanged between parties
    uint64_t batch;  // of the first message of its batch; given by uvea_store_claim, 0 in rows that
                     // are older or come from a peer
    uint32_t serial; // 0: none
    bool completed;  // else IN_PROGRESS
    bool persisted;  // it changed a record
    const char *type;       // request type
    const char *s3_url;     // NULL: none
    const char *result;     // NULL: none yet
    const char *attributes; // NULL, or a JSON object that goes out beside the result; kept by this
                            // party alone and given by uvea_store_claim
};

typedef enum uvea_error uvea_modification_fn(void *arg,
                                             const struct uvea_modification *modification);

// The newest `count` modifications, ascending.
UVEA_MUST_USE enum uvea_error uvea_store_modifications(struct uvea_store *store, size_t count,
                                                       uvea_modification_fn *fn, void *arg,
                                                       struct uvea_error_context *context);

// ---- ingest: the topic's messages as this party has them, in order of sequence numbers 1, 2, 3...

struct uvea_store_message {
    uint64_t sequence; // >= 1
    const uint8_t *body;
    size_t body_bytes;
    bool valid; // false: quarantined; it is answered with an error all the same
};

typedef enum uvea_error uvea_store_message_fn(void *arg, const struct uvea_store_message *message);

// Stores messages in any order; those already there are left as they are. One at or below the
// frontier of persisted numbers counts as persisted at once.
UVEA_MUST_USE enum uvea_error uvea_store_ingest(struct uvea_store *store,
                                                const struct uvea_store_message *messages,
                                                size_t count, struct uvea_error_context *context);

struct uvea_store_ingest_state {
    uint64_t contiguous;    // all of 1..contiguous are here
    uint64_t pending;       // of those, unclaimed
    uint64_t max_persisted; // largest persisted number, 0 for none
};
UVEA_MUST_USE enum uvea_error uvea_store_ingest_state(struct uvea_store *store,
                                                      struct uvea_store_ingest_state *state,
                                                      struct uvea_error_context *context);

// The first `count` pending messages of the contiguous part, ascending.
UVEA_MUST_USE enum uvea_error uvea_store_pending(struct uvea_store *store, size_t count,
                                                 uvea_store_message_fn *fn, void *arg,
                                                 struct uvea_error_context *context);

// Claims these messages for a batch (compare and set: STATE when one is claimed already) and adds
// one modification IN_PROGRESS for each, in order, with the ids that follow the largest one;
// *first_id is the first. Together they are one batch. sequence, type, s3_url, serial and
// attributes are read.
UVEA_MUST_USE enum uvea_error uvea_store_claim(struct uvea_store *store, uint64_t batch_id,
                                               const struct uvea_modification *modifications,
                                               size_t count, uint64_t *first_id,
                                               struct uvea_error_context *context);

// After a restart: messages up to max_persisted count as persisted (also those still to come), and
// claims that were never persisted are released.
UVEA_MUST_USE enum uvea_error uvea_store_ingest_recover(struct uvea_store *store,
                                                        uint64_t max_persisted,
                                                        struct uvea_error_context *context);

// ---- the commit of a batch, and start-up repair

// Everything a batch changes, in one transaction: records inserted (their serials must follow the
// largest one, else STATE) and updated (in this order, versions as given; a row that does not exist
// or has that version already, or a later one, is STATE), modifications completed (STATE when one
// is not in progress), the frontier, messages persisted (STATE when one is not claimed).
struct uvea_store_commit {
    const struct uvea_store_record *inserts;
    size_t insert_count;
    const struct uvea_store_record *updates;
    size_t update_count;
    const struct uvea_modification *modifications; // serial, persisted, result; ids ascending
    size_t modification_count;
    const uint64_t *sequences; // of the claimed messages
    size_t sequence_count;
};
UVEA_MUST_USE enum uvea_error uvea_store_commit(struct uvea_store *store,
                                                const struct uvea_store_commit *commit,
                                                struct uvea_error_context *context);

// What start-up repair does to the modifications and records (service.md 6.3, step 5), in one
// transaction: rows written (inserted or replaced, completed; one that is there keeps its
// sequence, its batch, its attributes and the result it has), rows deleted (STATE when one is not
// in progress), records written at the version given (inserted or replaced).
struct uvea_store_repair {
    const struct uvea_modification *write;
    size_t write_count;
    const uint64_t *delete_ids;
    size_t delete_count;
    const struct uvea_store_record *records;
    size_t record_count;
};
UVEA_MUST_USE enum uvea_error uvea_store_repair(struct uvea_store *store,
                                                const struct uvea_store_repair *repair,
                                                struct uvea_error_context *context);

// Makes the database this party's for good. STATE when it is another's: its shares and results are
// not this one's, and nothing else tells.
UVEA_MUST_USE enum uvea_error uvea_store_own(struct uvea_store *store, struct uvea_party party,
                                             struct uvea_error_context *context);

// The largest modification id of the last commit (service.md 6.1, the frontier); 0 for none.
UVEA_MUST_USE enum uvea_error uvea_store_frontier(struct uvea_store *store, uint64_t *id,
                                                  struct uvea_error_context *context);

// ---- results, in the order of publication

// Publishes the results of these modifications in this order, each once ever: one that is published
// already is left as it is. STATE when one is not completed or has no result.
UVEA_MUST_USE enum uvea_error uvea_store_publish(struct uvea_store *store, const uint64_t *ids,
                                                 size_t count, struct uvea_error_context *context);

// Publishes what is completed but not published, among the newest `lookback` modifications: by type
// in the order of service.md 6.3 step 6 (types unknown there last), then by id. *replayed counts
// them.
UVEA_MUST_USE enum uvea_error uvea_store_replay(struct uvea_store *store, size_t lookback,
                                                size_t *replayed,
                                                struct uvea_error_context *context);

struct uvea_store_result {
    uint64_t number; // 1, 2, 3, ... in the order of publication, no gap
    uint64_t modification_id;
    uint64_t sequence;
    uint64_t batch; // as in the modification
    const char *type;
    const char *body;
    const char *attributes; // as in the modification
};
typedef enum uvea_error uvea_store_result_fn(void *arg, const struct uvea_store_result *result);

// Up to max results with a number above `after`, ascending.
UVEA_MUST_USE enum uvea_error uvea_store_results(struct uvea_store *store, uint64_t after,
                                                 size_t max, uvea_store_result_fn *fn, void *arg,
                                                 struct uvea_error_context *context);

// ---- the topic (the sequencing party only) and share objects

// Gives the message the next sequence number 1, 2, 3...; a message_id that was given one before
// gets the same again, whatever the body.
UVEA_MUST_USE enum uvea_error uvea_store_topic_append(struct uvea_store *store,
                                                      const char *message_id, const uint8_t *body,
                                                      size_t body_bytes, uint64_t *sequence,
                                                      struct uvea_error_context *context);

// Up to max messages with a number above `after`, ascending; valid is true in all.
UVEA_MUST_USE enum uvea_error uvea_store_topic_read(struct uvea_store *store, uint64_t after,
                                                    size_t max, uvea_store_message_fn *fn,
                                                    void *arg, struct uvea_error_context *context);

// The same bytes may be put again; others under the same key are USAGE, and the first stay.
UVEA_MUST_USE enum uvea_error uvea_store_share_put(struct uvea_store *store, const char *key,
                                                   const uint8_t *bytes, size_t count,
                                                   struct uvea_error_context *context);

// Appends the object to out; NOT_FOUND when there is none.
UVEA_MUST_USE enum uvea_error uvea_store_share_get(struct uvea_store *store, const char *key,
                                                   struct uvea_buf *out,
                                                   struct uvea_error_context *context);

// ---- the spectral cache: derived rows that may be dropped at any time (service.md 6.6)

struct uvea_spectral_row {
    uint32_t serial;
    uint16_t version;
    enum uvea_eye eye;
    unsigned char party;
    uint16_t format;
    uint8_t generation[UVEA_STORE_GENERATION_BYTES];
    const uint8_t *payload; // UVEA_PAYLOAD_BYTES when whole; read ones may have any length
    size_t payload_bytes;
    uint8_t hash[UVEA_STORE_HASH_BYTES]; // BLAKE3 of the payload
};
typedef enum uvea_error uvea_spectral_row_fn(void *arg, const struct uvea_spectral_row *row);

// The rows of one eye with serials first..first+count-1 that exist, ascending, as they are: the
// caller judges them. A row whose columns have not the right type or size is left out.
UVEA_MUST_USE enum uvea_error uvea_store_spectral_read(struct uvea_store *store, enum uvea_eye eye,
                                                       uint32_t first, uint32_t count,
                                                       uvea_spectral_row_fn *fn, void *arg,
                                                       struct uvea_error_context *context);

// Inserts or replaces.
UVEA_MUST_USE enum uvea_error uvea_store_spectral_write(struct uvea_store *store,
                                                        const struct uvea_spectral_row *rows,
                                                        size_t count,
                                                        struct uvea_error_context *context);

// Removes rows of serials above serial_max, which belong to records that never were committed.
UVEA_MUST_USE enum uvea_error uvea_store_spectral_trim(struct uvea_store *store,
                                                       uint32_t serial_max,
                                                       struct uvea_error_context *context);

#endif
