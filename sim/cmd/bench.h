// What `uvea bench` measures. Machines differ: these are measurements, not tests.
#ifndef UVEA_SIM_CMD_BENCH_H
#define UVEA_SIM_CMD_BENCH_H

#include "core/base/error.h"
#include "core/kernel/spectral_kernel.h"

#include <stddef.h>

enum {
    UVEA_BENCH_ORIENTATIONS = 2, // a query is a pair: as it is, and mirrored
    UVEA_BENCH_RECORDS_MAX = 1 << 20,
    UVEA_BENCH_QUERIES_MAX = UVEA_SPECTRAL_QUERIES_MAX / UVEA_BENCH_ORIENTATIONS,
    UVEA_BENCH_THREADS_MAX = 256,
};

struct uvea_bench_arguments {
    size_t records;
    size_t queries; // in one pass, beside one alone
    size_t threads;
};

// The calling thread's processor time in seconds: wall time on an idle machine, and still fair on a
// busy one.
double uvea_bench_now_s(void);

// Measures every kernel the processor supports and prints a table to standard output. MEMORY when
// the records do not fit, IO when no thread could be started.
UVEA_MUST_USE enum uvea_error uvea_bench_kernel(const struct uvea_bench_arguments *arguments,
                                                struct uvea_error_context *context);

// What the anonymous predicates cost a party per comparison (all 31 rotations), as a table on
// standard output: three parties take turns on one thread, messages cost nothing but their copying.
UVEA_MUST_USE enum uvea_error uvea_bench_predicate(struct uvea_error_context *context);

// Processor seconds that the private conversion of one eye takes one party: three parties take
// turns on one thread, 16 eyes at once, messages cost nothing.
UVEA_MUST_USE enum uvea_error uvea_bench_conversion(double *seconds,
                                                    struct uvea_error_context *context);

#endif
