// What the three parties agree on over their sessions, beside the protocols themselves: that their
// random streams are in step, that they saw and decided the same, that their databases are alike.
// Inside the module. Source: wire.md 6.15; service.md 8.6.
#ifndef UVEA_CORE_SERVICE_AGREE_H
#define UVEA_CORE_SERVICE_AGREE_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/mpc/session.h"
#include "core/rt/rt.h"

#include <stddef.h>
#include <stdint.h>

enum { UVEA_AGREE_DIGEST_BYTES = 32 };

// Borrows the sessions, which are idle; all but the drift check use the one at position 0.
struct uvea_agree {
    struct uvea_rt *rt;
    struct uvea_party party;
    struct uvea_session *const *sessions;
    size_t session_count;
};

// (blocks) All sessions' random streams are in step, else DRIFT.
UVEA_MUST_USE enum uvea_error uvea_agree_drift(const struct uvea_agree *agree,
                                               struct uvea_error_context *context);

// (blocks) The three parties hold the same digest of a batch, else STATE, which names the odd one
// when the other two agree. Bytes of 32 to next and prev.
UVEA_MUST_USE enum uvea_error uvea_agree_digest(const struct uvea_agree *agree, uint64_t batch_id,
                                                const uint8_t digest[UVEA_AGREE_DIGEST_BYTES],
                                                struct uvea_error_context *context);

// (blocks) The three databases hold the same records at the same versions, else STATE.
UVEA_MUST_USE enum uvea_error uvea_agree_state(const struct uvea_agree *agree, uint64_t checksum,
                                               struct uvea_error_context *context);

#endif
