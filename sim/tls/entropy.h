// An OpenSSL library context of its own, whose random numbers come from a stream of the simulator.
// It is a provider, as OpenSSL wants it; linked into the simulator only.
#ifndef UVEA_SIM_TLS_ENTROPY_H
#define UVEA_SIM_TLS_ENTROPY_H

#include "core/base/error.h"
#include "sim/runtime/random.h"

#include <openssl/types.h>

struct uvea_sim_library;

// Draws from the stream `name` of the seed.
UVEA_MUST_USE enum uvea_error uvea_sim_library_open(uint64_t seed, const char *name,
                                                    struct uvea_sim_library **library);
OSSL_LIB_CTX *uvea_sim_library_context(const struct uvea_sim_library *library);
// Nothing made in it is left. NULL is allowed.
void uvea_sim_library_close(struct uvea_sim_library *library);

#endif
