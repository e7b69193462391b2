// The gate: named checks which show that the NTT path and the ring path are the same function, from
// the field up to whole scenarios. Every check draws from the seed alone, so that one seed gives
// the same cases everywhere. Sources: ntt.md; the plaintext and the oracle are what both paths are
// held against.
#ifndef UVEA_SIM_GATE_GATE_H
#define UVEA_SIM_GATE_GATE_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum uvea_gate_status {
    UVEA_GATE_PASS,
    UVEA_GATE_WRONG,
    UVEA_GATE_SKIPPED, // nothing of the check could run on this machine
};

const char *uvea_gate_status_text(enum uvea_gate_status status);

enum { UVEA_GATE_SKIPS_MAX = 16 };

// A part of a check that this machine cannot run.
struct uvea_gate_skip {
    char part[48];    // "kernel avx512"
    char reason[112]; // one sentence without its full stop
};

struct uvea_gate_result {
    const char *name;
    enum uvea_gate_status status;
    uint64_t cases;     // comparisons with the right answer that were made
    uint64_t wrong;     // of those, the ones that failed
    char reason[512];   // the first of them, empty for a pass
    char covered[1024]; // what was covered, one sentence
    struct uvea_gate_skip skips[UVEA_GATE_SKIPS_MAX];
    size_t skip_count;
};

// Called now and then with how much of a check is done.
typedef void uvea_gate_progress_fn(void *arg, const char *name, uint64_t done, uint64_t total);

struct uvea_gate_options {
    uint64_t seed;
    uvea_gate_progress_fn *progress; // or NULL
    void *progress_arg;
};

// The checks in the order in which they build on each other; 0..count-1.
size_t uvea_gate_count(void);
const char *uvea_gate_name(size_t check);
// One line.
const char *uvea_gate_summary(size_t check);
// uvea_gate_count() when there is none of that name.
size_t uvea_gate_find(const char *name);

// Runs one check. A wrong answer is no error, and neither is a protocol that failed: both are in
// the result. Only MEMORY, IO and CRYPTO are errors: the machine could not run the check.
UVEA_MUST_USE enum uvea_error uvea_gate_run(size_t check, const struct uvea_gate_options *options,
                                            struct uvea_gate_result *result,
                                            struct uvea_error_context *context);

#endif
