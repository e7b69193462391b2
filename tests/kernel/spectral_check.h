// Compares spectral kernels with the definition of their scores, written out with % and no table.
// Needs nothing but the C library, so that it also runs where no test framework is at hand.
#ifndef UVEA_TESTS_KERNEL_SPECTRAL_CHECK_H
#define UVEA_TESTS_KERNEL_SPECTRAL_CHECK_H

#include "core/kernel/spectral_kernel.h"

// Spectra to score: random ones, zero, and residues that make every partial sum of a kernel as
// large as it gets. Some values are not even canonical.
enum {
    SPECTRAL_CHECK_RECORDS = 11,
    SPECTRAL_CHECK_QUERIES = UVEA_SPECTRAL_QUERIES_MAX,
    SPECTRAL_CHECK_COUNT_MAX = 130,
};

struct spectral_check {
    struct uvea_spectrum records[SPECTRAL_CHECK_RECORDS];
    struct uvea_spectrum queries[SPECTRAL_CHECK_QUERIES];
    uint16_t want[SPECTRAL_CHECK_QUERIES][SPECTRAL_CHECK_RECORDS][UVEA_SPECTRAL_ROTATIONS];
};

// About 400 KB: allocate. Also computes what the scores must be.
void spectral_check_init(struct spectral_check *check);

// Record counts around every tile size.
extern const size_t spectral_check_counts[];
extern const size_t spectral_check_count_count;

// Scores record_count (up to 130) records with query_count (1..8) queries. False, with a sentence
// on stderr, when a score is wrong or anything was written next to the scores.
bool spectral_check_run(const struct spectral_check *check,
                        const struct uvea_spectral_kernel *kernel, size_t record_count,
                        size_t query_count);

#endif
