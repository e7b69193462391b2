// Whether the database fits into memory: told before it is loaded, so that a machine too small is
// refused with a sentence and not by the kernel, hours later.
#ifndef UVEA_CORE_DAEMON_MEMORY_H
#define UVEA_CORE_DAEMON_MEMORY_H

#include "core/base/error.h"
#include "core/service/node.h"

#include <stdint.h>

// What a party needs beside its records: sessions, buffers, stacks, libraries.
#define UVEA_MEMORY_WORK_BYTES (UINT64_C(128) << 20)

struct uvea_memory_need {
    uint64_t records;
    uint64_t scanned_bytes;  // the resident eye in the ring
    uint64_t spectral_bytes; // on the NTT path: the same eye as spectra
    uint64_t cold_bytes;     // cache, window and read-ahead of the other eye
    uint64_t total_bytes;    // of all, with the tables for records_max and UVEA_MEMORY_WORK_BYTES
};

// With this many records.
struct uvea_memory_need uvea_memory_need(const struct uvea_node_config *config, uint64_t records);

// How many records fit into so much memory, at most records_max.
uint64_t uvea_memory_records(const struct uvea_node_config *config, uint64_t bytes);

// The memory that this process can still have: what the machine says is available, and what is left
// of each cgroup it stands in, whichever is least. root: "" or, for tests, a folder that stands for
// /. UINT64_MAX when nothing can be found out.
uint64_t uvea_memory_available(const char *root);

// need against memory_bytes_max (0: no own bound) and what is available. LIMIT: the sentence has
// the numbers.
UVEA_MUST_USE enum uvea_error uvea_memory_check(const struct uvea_memory_need *need,
                                                uint64_t memory_bytes_max, uint64_t available,
                                                struct uvea_error_context *context);

#endif
