// One request to a cluster, from its share object to the three answers, over the HTTP interface of
// core/service/node.h and any runtime.
#ifndef UVEA_SIM_LIVE_SUBMIT_H
#define UVEA_SIM_LIVE_SUBMIT_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/rt.h"
#include "core/service/message.h"

#include <stdbool.h>
#include <stdint.h>

// Borrowed, all of it.
struct uvea_submit {
    struct uvea_rt *rt;
    const char *addresses[UVEA_PARTY_COUNT]; // of the parties' HTTP servers
    const struct uvea_message *message;
    const struct uvea_buf *object; // JSON for message->s3_key; NULL when the kind has none
    uint64_t deadline_ns;          // of each call below, by rt's clock
};

// (blocks) Gives the object, when there is one, to all three parties. TIMEOUT: a party was not
// reached in time; USAGE: it refused, or the id was used before; the sentence names party and
// status.
UVEA_MUST_USE enum uvea_error uvea_submit_upload(const struct uvea_submit *submit,
                                                 struct uvea_error_context *context);

// (blocks) Gives the request to party 0. Sent again with the same MessageId it gets the same
// number. Errors as of uvea_submit_upload.
UVEA_MUST_USE enum uvea_error uvea_submit_post(const struct uvea_submit *submit, uint64_t *sequence,
                                               struct uvea_error_context *context);

// (blocks) Waits for each party's answer to what has this sequence number: its JSON text and a NUL
// that len does not count, appended to the party's buffer. read: number of the last of each party's
// results that is not to be looked at, 0 for none; it moves on to the answer. A party that is not
// reached is asked again. TIMEOUT names the first that has none, and how asking it went last;
// answers that came are kept.
UVEA_MUST_USE enum uvea_error uvea_submit_await(const struct uvea_submit *submit, uint64_t sequence,
                                                uint64_t read[UVEA_PARTY_COUNT],
                                                struct uvea_buf answers[UVEA_PARTY_COUNT],
                                                struct uvea_error_context *context);

// Whether three answers are the same but for node_id.
bool uvea_submit_agree(const struct uvea_buf answers[UVEA_PARTY_COUNT]);

#endif
