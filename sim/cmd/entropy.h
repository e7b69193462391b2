// Randomness of the operating system, for shares that must really hide something. The simulator
// never uses it: what a run does follows from its seed.
#ifndef UVEA_SIM_CMD_ENTROPY_H
#define UVEA_SIM_CMD_ENTROPY_H

#include "core/base/error.h"

#include <stddef.h>

// CRYPTO when the system gives none; out is then worthless. bytes at most 2^20.
UVEA_MUST_USE enum uvea_error uvea_cmd_entropy(void *out, size_t bytes);

#endif
