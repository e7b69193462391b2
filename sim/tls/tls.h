// Real TLS over simulated streams: the connections between parties are put under core/tls, with
// certificates made from the seed. Everything in it is decided by the seed: OpenSSL draws its
// random numbers from streams of the simulator and judges certificates by the nodes' wall clocks,
// and no ticket carries a time. HTTP stays in the clear. TLS costs no simulated time.
#ifndef UVEA_SIM_TLS_TLS_H
#define UVEA_SIM_TLS_TLS_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "sim/runtime/sim.h"

struct uvea_sim_tls;

// Nodes 0 to 2 are the parties; from now on what they accept at, or dial to, one of the addresses
// is under TLS. Before the run; addresses are borrowed.
UVEA_MUST_USE enum uvea_error uvea_sim_tls_open(struct uvea_sim *sim, uint64_t seed,
                                                const char *const addresses[UVEA_PARTY_COUNT],
                                                struct uvea_sim_tls **tls,
                                                struct uvea_error_context *context);

// After uvea_sim_close. NULL is allowed.
void uvea_sim_tls_close(struct uvea_sim_tls *tls);

#endif
