// Requests as a party takes them, and its answers. Sources: service.md 3.2, 4.1.
#ifndef UVEA_CORE_SERVICE_REQUEST_H
#define UVEA_CORE_SERVICE_REQUEST_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/scan/policy.h"
#include "core/scan/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum uvea_request_kind {
    UVEA_REQUEST_UNIQUENESS,
};

// All pointers are borrowed and stay good until the response is out or the party has ended.
// Everything is equal on all three parties but the shares, which are this party's own and secret.
struct uvea_uniqueness_request {
    const char *signup_id; // UTF-8, ends with NUL
    const uint8_t *shares; // the plaintext JSON of service.md 5.3
    size_t shares_bytes;
    const uint32_t *or_rule_serial_ids;
    size_t or_rule_count;
    bool skip_persistence;
    bool mirror_detection; // full_face_mirror_attacks_detection_enabled is present and true
};

struct uvea_request {
    enum uvea_request_kind kind;
    union {
        struct uvea_uniqueness_request uniqueness;
    };
};

// What a party did since it started.
struct uvea_party_stats {
    uint64_t requests;    // answered, errors included
    uint64_t errors;      // answered with the error form
    uint64_t comparisons; // as in uvea_search_result
    uint64_t messages;    // sent on sessions
    uint64_t value_bytes; // sent on sessions, as in uvea_traffic
    uint64_t bytes_sent;  // of data frames, session ids included
    uint64_t and_words;
};

// One answer. The receiver owns it.
// json is what a client gets. outcome and search are for judges and statistics: all their contents
// are public but for search's retained shares. An error answer has both all zero.
struct uvea_response {
    const struct uvea_request *request;
    struct uvea_buf json;              // one object, without a newline; json.data[json.len] is NUL
    const char *error_reason;          // NULL when there is no error; a literal
    struct uvea_error_context refusal; // why this party could not read its share, else empty
    uint32_t serial;                   // given to the new identity; 0 when none was
    struct uvea_outcome outcome;
    struct uvea_search_result search;
    struct uvea_party_stats stats; // after this request
};

// Wipes the retained shares; NULL is allowed.
void uvea_response_free(struct uvea_response *response);

#endif
