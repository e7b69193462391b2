// Three parties of one session in a simulation: a task each, joined by queues that lose nothing and
// add no delay, and a meter on every message. One seed gives one transcript.
#ifndef UVEA_SIM_GATE_TRIO_H
#define UVEA_SIM_GATE_TRIO_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/mpc/session.h"

#include <stdint.h>

// What one party sent, measured where its frames leave.
struct uvea_gate_meter {
    uint64_t messages;
    uint64_t frame_bytes; // session ids included
    uint64_t and_words;   // as the session counts them
    uint64_t layers;      // messages that carried AND gates
    uint64_t chain;       // the longest chain of messages, each sent after the one before it came
};

// What a party does. It keeps its results where arg says; session->party tells who it is.
typedef enum uvea_error uvea_gate_party_fn(struct uvea_session *session, void *arg);

struct uvea_gate_trio {
    uint64_t seed; // of the pairwise streams
    enum uvea_prf_kind prf;
    uint32_t session_id;
    uvea_gate_party_fn *fn;
    void *arg;
};

// Runs fn at the three parties until each has returned. meters: UVEA_PARTY_COUNT, or NULL. The
// error is that of the first party that failed by itself; STATE when they wait for each other for
// ever, or both holders of a stream have not drawn equally much from it.
UVEA_MUST_USE enum uvea_error uvea_gate_trio_run(const struct uvea_gate_trio *trio,
                                                 struct uvea_gate_meter *meters,
                                                 struct uvea_error_context *context);

#endif
