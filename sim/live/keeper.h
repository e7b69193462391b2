// Keeps three parties running while somebody waits for them: asks each how it is, and starts those
// at whose address nobody listens. When one party ends its peers do too, so that nobody may be left
// to start them. Over any runtime; all in the caller's task.
#ifndef UVEA_SIM_LIVE_KEEPER_H
#define UVEA_SIM_LIVE_KEEPER_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/rt.h"
#include "sim/live/replay.h"
#include "sim/world/outcome.h"

#include <stdbool.h>
#include <stdint.h>

struct uvea_keeper_party {
    bool ready;
    uint64_t absent_ns;             // since when nobody listens, or when it was last started; 0
    unsigned starts;                // since the last progress
    char how[UVEA_OUTCOME_CHARS];   // the last time it was asked
    struct uvea_error_context said; // of its last start; empty when that was good
};

// Given: the first four; borrowed. The others are all zero before the first call. heard: some
// party has answered something, also to others; set it when it is known.
struct uvea_keeper {
    struct uvea_rt *rt;
    const char *const *addresses; // of the parties' HTTP servers
    const struct uvea_replay_control *control;
    bool (*interrupted)(void); // or NULL
    struct uvea_keeper_party parties[UVEA_PARTY_COUNT];
    bool heard;
    uint64_t looked_ns; // when all were last asked; 0: never
    uint64_t progress;
};

// (blocks) Cheap when called often: asks once a second. A party that nobody has reached for three
// seconds is started, if it can be, and again three seconds later; none before some party has been
// heard: nobody's cluster is started unasked. progress: a number that rises whenever something was
// achieved. TIMEOUT: one was started ten times in a row and nothing was achieved meanwhile; the
// sentence says how often which was, or how its command fails. CLOSED: interrupted.
UVEA_MUST_USE enum uvea_error uvea_keeper_attend(struct uvea_keeper *keeper, uint64_t progress,
                                                 struct uvea_error_context *reason);

bool uvea_keeper_interrupted(const struct uvea_keeper *keeper);

// (blocks) Starts a party now. That it fails is remembered, and tried again by the above.
void uvea_keeper_start(struct uvea_keeper *keeper, unsigned party);

// Whether all were ready when last asked.
bool uvea_keeper_all_ready(const struct uvea_keeper *keeper);

// Which were not ready when last asked, and why: "party 1: nobody listens, party 2: status 503".
// Empty when all were.
void uvea_keeper_describe(const struct uvea_keeper *keeper, struct uvea_error_context *text);

#endif
