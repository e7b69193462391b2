// Results as clients read them: JSON whose members stand in a fixed order and where an absent
// optional is null, never left out. But for node_id the three parties' texts are the same bytes.
// Source: service.md 4.
#ifndef UVEA_CORE_SERVICE_RESULT_H
#define UVEA_CORE_SERVICE_RESULT_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/scan/policy.h"

#include <stdbool.h>
#include <stdint.h>

// error_reason of a share that could not be read by at least one party.
#define UVEA_REASON_SHARES "failed_to_process_iris_shares"

// error_reason of a request whose text cannot be echoed.
#define UVEA_REASON_REQUEST "malformed_request"

// UTF-8 that a result can carry.
bool uvea_result_text_valid(const char *text);

// Appends a UniquenessResult, and a NUL behind it that len does not count. serial: of the new
// identity, read only when the decision is an insertion. FORMAT: signup_id is not UTF-8. buf is
// unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_result_encode_uniqueness(struct uvea_party party,
                                                            const char *signup_id, uint32_t serial,
                                                            const struct uvea_outcome *outcome,
                                                            struct uvea_buf *buf);

// Its error form.
UVEA_MUST_USE enum uvea_error uvea_result_encode_uniqueness_error(struct uvea_party party,
                                                                  const char *signup_id,
                                                                  const char *reason,
                                                                  struct uvea_buf *buf);

#endif
