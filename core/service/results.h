// Results as clients read them: JSON whose members stand in a fixed order and where an absent
// optional is null, never left out. But for node_id the three parties' texts are the same bytes.
// Source: service.md 4.
#ifndef UVEA_CORE_SERVICE_RESULTS_H
#define UVEA_CORE_SERVICE_RESULTS_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/service/batch.h"

#include <stddef.h>
#include <stdint.h>

// Reasons, as clients read them.
#define UVEA_REASON_SHARES "failed_to_process_iris_shares"
#define UVEA_REASON_MALFORMED "malformed_request"
#define UVEA_REASON_DUPLICATE_SERIAL "duplicate serial_id in batch"
#define UVEA_REASON_UNKNOWN_SERIAL "unknown serial_id"
#define UVEA_REASON_NO_LUC "LUC is not enabled for use_or_rule"
#define UVEA_REASON_REAUTH "Reauth is disabled"
#define UVEA_REASON_DELETION "Identity deletions are disabled"
#define UVEA_REASON_RESET_CHECK "reset_check is disabled"
#define UVEA_REASON_RESET_UPDATE "reset_update is disabled"
#define UVEA_REASON_RECOVERY_CHECK "recovery_check is disabled"
#define UVEA_REASON_RECOVERY_UPDATE "recovery_update is disabled"

// Appends the result of entry `at` of a processed batch, by its kind, or its error form when
// error_reason is set, and a NUL behind it that len does not count. A quarantined message gives
// {"message_id", "node_id", "error", "error_reason"}. buf is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_results_encode(struct uvea_party party,
                                                  const struct uvea_batch *batch, size_t at,
                                                  struct uvea_buf *buf);

// The same result as another party would publish it: node_id replaced, everything else as it is.
// FORMAT: result is not an object with a number node_id.
UVEA_MUST_USE enum uvea_error uvea_results_readdress(const char *result, struct uvea_party party,
                                                     struct uvea_buf *buf);

// What a reader needs to know of any result: the echoed id (signup_id, reauth_id, request_id,
// message_id or "" for a deletion), node and error. Strings belong to the caller-released owner.
struct uvea_result_summary {
    char *id; // owned; release with uvea_mem_free
    unsigned node_id;
    bool error;
};
// FORMAT names what is wrong: not an object, members missing, of the wrong type, duplicate.
UVEA_MUST_USE enum uvea_error uvea_results_read(const char *result, size_t bytes,
                                                struct uvea_result_summary *summary,
                                                struct uvea_error_context *context);

#endif
