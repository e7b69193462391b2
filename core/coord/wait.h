// How agreements wait: polls of peers with pauses in between, until the thing is so, the time is
// up, or the own party is being stopped.
#ifndef UVEA_CORE_COORD_WAIT_H
#define UVEA_CORE_COORD_WAIT_H

#include "core/base/error.h"
#include "core/coord/body.h"
#include "core/coord/coord.h"
#include "core/rt/rt.h"

#include <stdbool.h>
#include <stdint.h>

struct uvea_wait {
    const struct uvea_coord_link *link;
    const char *what;               // what is waited for, for the sentence
    uint64_t total_ns;              // how long in all
    uint64_t silence_ns;            // how long without a usable answer
    uint64_t deadline_ns;           // of the first
    uint64_t silent_until_ns;       // of the second
    uint64_t lag_ns;                // next pause while a peer is behind
    bool answered;                  // the last request got an answer, whatever its worth
    struct uvea_error_context last; // what came last
};

// silence_ns: UVEA_NEVER for no bound of that kind.
void uvea_wait_init(struct uvea_wait *wait, const struct uvea_coord_link *link, const char *what,
                    uint64_t total_ns, uint64_t silence_ns);

// What a poll came to. After BEHIND and SILENT, wait->last says why.
enum uvea_poll {
    UVEA_POLL_DONE,
    UVEA_POLL_BEHIND, // the peer answered, but is not there yet
    UVEA_POLL_SILENT, // no usable answer
};

// (blocks) Looks once. An error ends the wait.
typedef enum uvea_error uvea_poll_fn(void *arg, struct uvea_wait *wait, enum uvea_poll *poll,
                                     struct uvea_error_context *context);

// (blocks) Polls until DONE; looks between two polls, and every 100 ms of a pause, whether the own
// party is being stopped. TIMEOUT names what was waited for and what came last; otherwise the
// poll's error, or the reason why the own party is being stopped.
UVEA_MUST_USE enum uvea_error uvea_wait_until(struct uvea_wait *wait, uvea_poll_fn *fn, void *arg,
                                              struct uvea_error_context *context);

// (blocks) One GET of target, at most attempt_ns long and not beyond the wait. False when there was
// no answer at all; wait->last says why. The caller releases response.
UVEA_MUST_USE bool uvea_wait_get(struct uvea_wait *wait, struct uvea_party peer, const char *target,
                                 struct uvea_http_response *response);

// (blocks) The peer's /health, when it answered with a whole one.
UVEA_MUST_USE bool uvea_wait_get_health(struct uvea_wait *wait, struct uvea_party peer,
                                        struct uvea_coord_health *health);

// The sentence of an answer that is no use: its status, or what is wrong with its body.
void uvea_wait_note_status(struct uvea_wait *wait, struct uvea_party peer, unsigned status);
void uvea_wait_note_body(struct uvea_wait *wait, struct uvea_party peer,
                         const struct uvea_error_context *problem);
UVEA_PRINTF(2, 3)
void uvea_wait_note(struct uvea_wait *wait, const char *format, ...);

#endif
