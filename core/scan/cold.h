// The eye that is not scanned, read record by record when a search reaches it. Where a record comes
// from never changes what is read: tried in order are the overlay of what was changed in memory and
// is not committed yet, the window of the newest records, what was fetched ahead, a bounded cache
// with frequency-aware admission, and the store. All of it is secret but serials and versions.
// Any number of a party's tasks may read and fetch ahead at once. Source: service.md 7.
#ifndef UVEA_CORE_SCAN_COLD_H
#define UVEA_CORE_SCAN_COLD_H

#include "core/base/error.h"
#include "core/kernel/ring_kernel.h"
#include "core/rt/rt.h"

#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_COLD_CACHE_RECORDS = 4096,    // usual cache_records
    UVEA_COLD_PREFETCH_RECORDS = 4096, // reserved at most; more are not fetched ahead
    UVEA_COLD_RECORDS_MAX = 1 << 20,   // bound on cache_records and window_records
};

// Reads one record of the eye at exactly this version; NOT_FOUND when it is not there. Several
// tasks may call it at once.
typedef enum uvea_error uvea_cold_read_fn(void *arg, uint32_t serial, uint16_t version,
                                          uint16_t out[UVEA_RECORD_COEFFICIENTS],
                                          struct uvea_error_context *context);

struct uvea_cold_config {
    struct uvea_rt *rt;    // for a lock; NULL: tasks of one thread only
    size_t cache_records;  // 0: no cache
    size_t window_records; // newest serials kept: look-back + 1, or 0
    uvea_cold_read_fn *read;
    void *arg;
};

struct uvea_cold_stats {
    uint64_t overlay;
    uint64_t window;
    uint64_t prefetched;
    uint64_t cached;
    uint64_t stored;
};

struct uvea_cold;

UVEA_MUST_USE enum uvea_error uvea_cold_open(const struct uvea_cold_config *config,
                                             struct uvea_cold **cold);
// Wipes and frees. NULL is allowed.
void uvea_cold_close(struct uvea_cold *cold);

// A record was inserted or changed in memory: it stands in the overlay, newest version per serial,
// until it is acknowledged. A new serial (version 0, beyond all in the window) enters the window; a
// gap starts the window anew. Drops older versions everywhere. Nothing is put while reads are in
// work. MEMORY: nothing has changed.
UVEA_MUST_USE enum uvea_error uvea_cold_put(struct uvea_cold *cold, uint32_t serial,
                                            uint16_t version,
                                            const uint16_t eye[UVEA_RECORD_COEFFICIENTS]);

// The record is committed at exactly this version and may leave the overlay.
void uvea_cold_acknowledge(struct uvea_cold *cold, uint32_t serial, uint16_t version);

// Fetches ahead what is not at hand, as far as there is room; errors are left for the read. Reads
// the store at once, in the caller: for a task beside which others go on.
void uvea_cold_prefetch(struct uvea_cold *cold, const uint32_t *serials, const uint16_t *versions,
                        size_t count);
// What was fetched ahead and never read goes.
void uvea_cold_release_prefetched(struct uvea_cold *cold);

// Fail closed: an error of the store is the error of the read; out is then zeroed, and context
// names serial and version.
UVEA_MUST_USE enum uvea_error uvea_cold_read(struct uvea_cold *cold, uint32_t serial,
                                             uint16_t version,
                                             uint16_t out[UVEA_RECORD_COEFFICIENTS],
                                             struct uvea_error_context *context);

// Where reads were answered from.
struct uvea_cold_stats uvea_cold_stats(const struct uvea_cold *cold);

#endif
