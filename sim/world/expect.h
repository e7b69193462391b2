// What a scenario says the right answer is, held against what the oracle ruled: a mistake in either
// is seen.
#ifndef UVEA_SIM_WORLD_EXPECT_H
#define UVEA_SIM_WORLD_EXPECT_H

#include "oracle/service.h"
#include "sim/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// Whether the ruling is what was expected. If not, reason gets the first difference: a part of a
// sentence such as "expected match true, the oracle says otherwise".
bool uvea_expect_met(const struct uvea_expectation *expect, const struct uvea_oracle_ruling *ruling,
                     char *reason, size_t bytes);

#endif
