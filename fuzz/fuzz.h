// A fuzz target is one file that defines this function; fuzz/driver.c calls it, once per input and
// many times in one process, so it must leave no state behind.
#ifndef UVEA_FUZZ_FUZZ_H
#define UVEA_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

// data has exactly len bytes: reading one more is seen by the address sanitizer. Returns 0. A
// property that does not hold aborts (UVEA_CHECK).
int uvea_fuzz_one(const uint8_t *data, size_t len);

#endif
