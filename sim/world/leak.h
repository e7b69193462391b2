// Sees whether a share leaves its owner: looks for pieces of every party's raw shares in all that
// parties send to each other. A piece is eight bytes; one in 64 bytes of a share is known, so that
// any run of 72 bytes of it is found. Masked, weighted or transformed shares look like anything
// else and are not found: this catches a share that is sent, logged or stored away as it is.
#ifndef UVEA_SIM_WORLD_LEAK_H
#define UVEA_SIM_WORLD_LEAK_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/iris/share.h"

#include <stddef.h>
#include <stdint.h>

// All zero knows nothing; release with uvea_leak_deinit.
struct uvea_leak {
    struct uvea_buf pieces; // struct uvea_leak_piece one after the other
    size_t count;           // of them
    size_t sorted;          // so many are in order, the others behind them not yet
    uint64_t *filter;       // owned: a bit per hash of a piece
    uint64_t found;         // pieces seen on their way to another party
    unsigned from;          // of the first
    unsigned to;
    unsigned owner;
};

// What party `owner` holds of one request or record: both eyes.
UVEA_MUST_USE enum uvea_error uvea_leak_know(struct uvea_leak *leak, unsigned owner,
                                             const struct uvea_iris_upload *upload);
void uvea_leak_deinit(struct uvea_leak *leak);

// A uvea_sim_watch_fn; arg is the struct uvea_leak. Looks at what goes from party to party.
void uvea_leak_watch(void *arg, unsigned from, unsigned to, const uint8_t *bytes, size_t count);

#endif
