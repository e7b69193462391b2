// Requests as they come from the topic. A message is an envelope (JSON) whose member Message is
// again a JSON text; what kind of request it is stands in the attribute message_type. Whether a
// message is well formed depends on its bytes alone, so that all three parties agree on it.
// Source: service.md 3.1, 3.2.
#ifndef UVEA_CORE_SERVICE_MESSAGE_H
#define UVEA_CORE_SERVICE_MESSAGE_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// name, message_type, result is ordered by this position within a batch
#define UVEA_MESSAGES(X)                                                                           \
    X(UNIQUENESS, "uniqueness", 0)                                                                 \
    X(REAUTH, "reauth", 1)                                                                         \
    X(IDENTITY_DELETION, "identity_deletion", 2)                                                   \
    X(RESET_CHECK, "reset_check", 3)                                                               \
    X(RESET_UPDATE, "reset_update", 4)                                                             \
    X(RECOVERY_CHECK, "recovery_check", 5)                                                         \
    X(RECOVERY_UPDATE, "recovery_update", 6)                                                       \
    X(MALFORMED, "malformed", 7)

enum uvea_message_kind {
#define UVEA_MESSAGE_ENUM(name, text, order) UVEA_MESSAGE_##name,
    UVEA_MESSAGES(UVEA_MESSAGE_ENUM)
#undef UVEA_MESSAGE_ENUM
        UVEA_MESSAGE_COUNT,
};

const char *uvea_message_kind_text(enum uvea_message_kind kind);
// UVEA_MESSAGE_COUNT for anything that is no kind of request; "malformed" is none.
enum uvea_message_kind uvea_message_kind_find(const char *text);
unsigned uvea_message_kind_order(enum uvea_message_kind kind);

enum {
    UVEA_MESSAGE_BYTES_MAX = 256 << 10, // an envelope
    UVEA_MESSAGE_ID_BYTES_MAX = 1024,   // of every id and key
    UVEA_MESSAGE_OR_RULE_MAX = 4096,    // serials in one list
};

// What the specification leaves open is decided thus: MessageId must not be empty; SequenceNumber
// is 1 to 40 digits whose value nothing uses (the topic counts for itself); every attribute must be
// an object with the strings Type and Value, and one of another Type than "String" counts as
// absent; TraceID and SpanID are bounded like ids; an integer is written without fraction and
// exponent. Ids and keys may be empty and hold any character but NUL.

// All zero holds nothing. Strings end with NUL, are valid UTF-8 and belong to `owner`. Those a kind
// does not have are "".
struct uvea_message {
    enum uvea_message_kind kind;
    uint32_t serial_id;     // as given, 0 included
    const char *malformed;  // MALFORMED: why, one sentence without the message's contents
    const char *message_id; // the envelope's MessageId; "" when it could not be read
    const char *id;         // signup_id, reauth_id or request_id
    const char *s3_key;
    uint32_t *or_rule_serial_ids;
    size_t or_rule_count;
    bool skip_persistence;
    bool has_mirror_flag; // full_face_mirror_attacks_detection_enabled is present
    bool mirror_flag;
    bool use_or_rule;
    bool disable_anonymized_stats; // kept, used by nothing (service.md 12, 8)
    const char *trace_id;          // attributes TraceID and SpanID, "" when absent
    const char *span_id;
    void *owner;
};

// Whether it names a serial: reauth, updates, deletion.
bool uvea_message_has_target(enum uvea_message_kind kind);
// Whether it comes with a share object.
bool uvea_message_has_shares(enum uvea_message_kind kind);
// Whether it is searched: uniqueness, reauth and the checks.
bool uvea_message_is_searched(enum uvea_message_kind kind);

// Anything that is not a well-formed request becomes MALFORMED: not a JSON object, members missing
// or of the wrong type, duplicate members, an unknown kind, numbers out of range, too long, not
// UTF-8. Unknown members are ignored; optional ones may be null. MEMORY is the only error.
UVEA_MUST_USE enum uvea_error uvea_message_parse(const uint8_t *bytes, size_t count,
                                                 struct uvea_message *message);
void uvea_message_deinit(struct uvea_message *message);

// Appends the envelope of a message as a client sends it, and a NUL behind it that len does not
// count: what uvea_message_parse reads back. Members that equal the default are left out; NULL
// stands for "". A message may be made by hand, without owner. USAGE, with json unchanged: it is
// MALFORMED, has no message id, or holds what uvea_message_parse would not take.
UVEA_MUST_USE enum uvea_error uvea_message_encode(const struct uvea_message *message,
                                                  struct uvea_buf *json);

#endif
