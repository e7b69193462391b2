// How often keys were asked for lately, estimated in bounded memory: a count-min sketch of small
// counters that are halved from time to time, so that what was popular once is forgotten. Inside
// the module. The same calls give the same estimates on every machine.
// Source: Einziger, Friedman, Manes, "TinyLFU: A Highly Efficient Cache Admission Policy".
#ifndef UVEA_CORE_SCAN_FREQUENCY_H
#define UVEA_CORE_SCAN_FREQUENCY_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { UVEA_FREQUENCY_MAX = 15 }; // estimates end here

// All zero counts nothing and estimates 0.
struct uvea_frequency {
    uint8_t *counters; // owned
    size_t width;      // of a row, a power of two
    uint64_t recorded; // since the last halving
    uint64_t period;
};

// entries: how many keys the cache holds that asks, 1 or more.
UVEA_MUST_USE enum uvea_error uvea_frequency_init(struct uvea_frequency *frequency, size_t entries);
void uvea_frequency_deinit(struct uvea_frequency *frequency);

void uvea_frequency_record(struct uvea_frequency *frequency, uint64_t key);
unsigned uvea_frequency_estimate(const struct uvea_frequency *frequency, uint64_t key);

#endif
