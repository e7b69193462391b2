// The ingest: a task that brings the topic's messages into this party's store, in whatever order
// and however often they come. Inside the module. Source: service.md 6.4.
#ifndef UVEA_CORE_SERVICE_INGEST_H
#define UVEA_CORE_SERVICE_INGEST_H

#include "core/base/error.h"
#include "core/coord/state.h"
#include "core/rt/rt.h"
#include "core/store/store.h"

#include <stdint.h>

// Borrows everything.
struct uvea_ingest_config {
    struct uvea_rt *rt;
    struct uvea_store *store;
    struct uvea_coord *coord;  // is stopped when the store fails
    const char *topic_address; // the sequencing party's server; NULL: this party sequences
    uint64_t attempt_ns;       // one pull
    uint64_t pause_ns;         // between two pulls that brought nothing
    uint64_t backoff_ns_min;   // after a pull that failed; doubles, and as much again at random
    uint64_t backoff_ns_max;
};

struct uvea_ingest;

UVEA_MUST_USE enum uvea_error uvea_ingest_open(const struct uvea_ingest_config *config,
                                               struct uvea_ingest **ingest);
// (blocks) Lets a pull in work end. NULL is allowed.
void uvea_ingest_close(struct uvea_ingest *ingest);

#endif
