// Compares ring kernels with the definition of their scores. Like spectral_check.h, needs nothing
// but the C library.
#ifndef UVEA_TESTS_KERNEL_RING_CHECK_H
#define UVEA_TESTS_KERNEL_RING_CHECK_H

#include "core/kernel/ring_kernel.h"

enum { RING_CHECK_RECORDS = 7, RING_CHECK_COUNT_MAX = 130 };

// A query and records of random values; in the last record all products wrap.
struct ring_check {
    struct uvea_ring_query query;
    uint16_t records[RING_CHECK_RECORDS][UVEA_RECORD_COEFFICIENTS];
    uint16_t want[RING_CHECK_RECORDS][UVEA_SCORES_PER_RECORD];
};

// About 400 KB: allocate. Also computes what the scores must be.
void ring_check_init(struct ring_check *check);

extern const size_t ring_check_counts[];
extern const size_t ring_check_count_count;

// Scores record_count (up to 130) records. False, with a sentence on stderr, when a score is wrong
// or anything was written next to the scores.
bool ring_check_run(const struct ring_check *check, const struct uvea_ring_kernel *kernel,
                    size_t record_count);

#endif
