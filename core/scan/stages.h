// Where a party's time goes, stage by stage, since its start. Stages of the main task follow each
// other and are wall time; stages of the lanes run side by side, and are added up over all lanes.
// Any task may add and read at once.
#ifndef UVEA_CORE_SCAN_STAGES_H
#define UVEA_CORE_SCAN_STAGES_H

#include "core/rt/rt.h"

#include <stdatomic.h>
#include <stdint.h>

// name, text in metrics
#define UVEA_STAGES(STAGE)                                                                         \
    /* of the main task */                                                                         \
    STAGE(IDLE, "idle")           /* no request is there */                                        \
    STAGE(RECEPTION, "reception") /* size and entries of a batch are agreed on */                  \
    STAGE(QUERY, "query")         /* queries are prepared and converted */                         \
    STAGE(SEARCH, "search")                                                                        \
    STAGE(DECISION, "decision") /* decided, compared with the peers, applied in memory */          \
    STAGE(COMMIT, "commit")                                                                        \
    STAGE(PUBLISH, "publish")                                                                      \
    /* of the lanes */                                                                             \
    STAGE(SCORE, "score")           /* score kernels over the scanned eye */                       \
    STAGE(PREDICATE, "predicate")   /* thresholds of the scanned eye, with the waiting in them */  \
    STAGE(CANDIDATES, "candidates") /* what passed there is looked at closely */                   \
    STAGE(OTHER_EYE, "other_eye")   /* everything about the eye that is not scanned */             \
    STAGE(EARLIER, "earlier")       /* earlier requests of the batch */                            \
    /* of the sessions, inside the others */                                                       \
    STAGE(WAIT, "wait") /* for a message from a peer */

#define UVEA_STAGE_ENUM(name, text) UVEA_STAGE_##name,
enum uvea_stage { UVEA_STAGES(UVEA_STAGE_ENUM) UVEA_STAGE_COUNT };
#undef UVEA_STAGE_ENUM

const char *uvea_stage_text(enum uvea_stage stage);

struct uvea_stages {
    struct uvea_rt *rt;
    atomic_uint_fast64_t ns[UVEA_STAGE_COUNT];
};

// stages: NULL measures nothing and asks for no time.
uint64_t uvea_stages_now_ns(const struct uvea_stages *stages);
// Adds what has passed since since_ns, and gives the time it is.
uint64_t uvea_stages_add(struct uvea_stages *stages, enum uvea_stage stage, uint64_t since_ns);

#endif
