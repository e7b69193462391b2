// The oracle's model of the whole service: every kind of request, in batches, over a database in
// the clear. Written from service.md 2-4, 3.6, 11 and the advice of 12 alone; core/scan and
// core/service are written from the same text, and the two must be able to disagree.
//
// A batch is decided against the model as it stands and applied in a second step, so that a batch
// which the parties had to form anew can be decided again.
#ifndef UVEA_ORACLE_SERVICE_H
#define UVEA_ORACLE_SERVICE_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "oracle/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UVEA_ORACLE_BATCH_MAX = 64 };

enum uvea_oracle_kind {
    UVEA_ORACLE_UNIQUENESS,
    UVEA_ORACLE_REAUTH,
    UVEA_ORACLE_DELETION,
    UVEA_ORACLE_RESET_CHECK,
    UVEA_ORACLE_RESET_UPDATE,
    UVEA_ORACLE_RECOVERY_CHECK,
    UVEA_ORACLE_RECOVERY_UPDATE,
    UVEA_ORACLE_MALFORMED,
};

// What the service is configured to do beyond struct uvea_oracle_config.
struct uvea_oracle_gates {
    bool reauth;
    bool reset;
    bool recovery;
    bool deletion;
};

// A record: its pair and version. A deleted one holds the dummy.
struct uvea_oracle_identity {
    struct uvea_oracle_pair pair;
    uint16_t version;
    bool deleted; // since it was last written by an update or reauth
};

struct uvea_oracle_service {
    struct uvea_oracle_config config;
    struct uvea_oracle_gates gates;
    struct uvea_oracle_identity *records; // owned; serial s is records[s - 1]
    uint32_t record_count;
    uint32_t record_capacity;
};

void uvea_oracle_service_init(struct uvea_oracle_service *service,
                              const struct uvea_oracle_config *config,
                              const struct uvea_oracle_gates *gates);
void uvea_oracle_service_deinit(struct uvea_oracle_service *service);

// Enrols at version 0, as when a database is loaded.
UVEA_MUST_USE enum uvea_error uvea_oracle_service_seed(struct uvea_oracle_service *service,
                                                       const struct uvea_oracle_pair *pair,
                                                       uint32_t *serial);

// One request as the service was given it. Members that the kind has not are ignored.
struct uvea_oracle_order {
    enum uvea_oracle_kind kind;
    const char *id;                      // signup_id, reauth_id, request_id
    const char *message_id;              // MALFORMED: what its result echoes
    const struct uvea_oracle_pair *pair; // what was shared out; NULL: the shares were not good
    uint32_t serial_id;
    const uint32_t *or_rule_serials;
    size_t or_rule_count;
    bool has_mirror_flag;
    bool mirror_flag;
    bool use_or_rule;
    bool skip_persistence;
};

// What becomes of it. All zero is none.
struct uvea_oracle_ruling {
    const char *error_reason; // NULL or a literal
    struct uvea_oracle_search search[UVEA_ORACLE_ORIENTATIONS];
    uint32_t batch_matches[UVEA_ORACLE_ORIENTATIONS][UVEA_ORACLE_BATCH_MAX]; // earlier positions
    uint32_t batch_match_count[UVEA_ORACLE_ORIENTATIONS];
    bool matched;       // uniqueness: not unique; reauth: the rule holds; check: some full match
    bool mirror_attack; // uniqueness
    bool inserts;       // a new record `serial` at version 0
    bool updates;       // record `serial` gets `version`, and the pair (deletion: the dummy)
    uint32_t serial;    // inserted, or named by the request, also by a refused one; 0 for none
    uint16_t version;
};

// Decides a batch of 1..UVEA_ORACLE_BATCH_MAX orders. rulings: count of them, all zero before;
// release each. The model is not changed.
UVEA_MUST_USE enum uvea_error uvea_oracle_rule(const struct uvea_oracle_service *service,
                                               const struct uvea_oracle_order *orders, size_t count,
                                               struct uvea_oracle_ruling *rulings,
                                               struct uvea_error_context *context);
void uvea_oracle_ruling_deinit(struct uvea_oracle_ruling *ruling);

// Carries the rulings out. The model is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_oracle_apply(struct uvea_oracle_service *service,
                                                const struct uvea_oracle_order *orders,
                                                size_t count,
                                                const struct uvea_oracle_ruling *rulings);

// Appends the result that party node_id publishes for order `at`: compact JSON, no newline.
UVEA_MUST_USE enum uvea_error uvea_oracle_result(const struct uvea_oracle_service *service,
                                                 const struct uvea_oracle_order *orders,
                                                 size_t count,
                                                 const struct uvea_oracle_ruling *rulings,
                                                 size_t at, unsigned node_id, struct uvea_buf *buf,
                                                 struct uvea_error_context *context);

// The service's message_type of a kind, for example "reset_check".
const char *uvea_oracle_kind_text(enum uvea_oracle_kind kind);

#endif
