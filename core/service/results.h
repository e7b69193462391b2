// Results as clients read them: JSON whose members stand in a fixed order and where an absent
// optional is null, never left out. But for node_id the three parties' texts are the same bytes.
//
// What the specification leaves open is decided thus:
// - an error form echoes id and serial_id as they were given, whatever is wrong with them; that of
// a
//   uniqueness request has serial_id null, that of a deletion success false;
// - the ids in matched_batch_request_ids stand in the order of arrival, those that match in the
// normal
//   orientation before those that match in a mirror;
// - hidden counts of a check are 0, as those of a uniqueness request are;
// - the target that a reauth adds to matched_serial_ids takes its place in the ascending list
// before
//   the list is cut;
// - in an error form of a check matched_serial_ids is null like the optional lists.
// Sources: service.md 4; 12, 3, 4 and 9.
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
// error_reason is set (a quarantined message has no other), and a NUL behind it that len does not
// count. A quarantined message gives
// {"message_id", "node_id", "error", "error_reason"}. buf is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_results_encode(struct uvea_party party,
                                                  const struct uvea_batch *batch, size_t at,
                                                  struct uvea_buf *buf);

// What a reader needs to know of any result: the echoed id (signup_id, reauth_id, request_id,
// message_id or "" for a deletion), node and error. Strings belong to the caller-released owner.
struct uvea_result_summary {
    char *id; // owned; release with uvea_mem_free
    unsigned node_id;
    bool error;
};
// FORMAT or LIMIT names what is wrong: not an object, members missing, of the wrong type,
// duplicate; a node_id that is no party; two ids; no id where it is no deletion; a reason without
// an error. summary is zeroed on failure.
UVEA_MUST_USE enum uvea_error uvea_results_read(const char *result, size_t bytes,
                                                struct uvea_result_summary *summary,
                                                struct uvea_error_context *context);

#endif
