// The parties' roots and leaves, made from the seed, and kept in memory.
#ifndef UVEA_SIM_TLS_KEYS_H
#define UVEA_SIM_TLS_KEYS_H

#include "core/base/party.h"
#include "core/tls/tls.h"
#include "sim/live/certs.h"

struct uvea_sim_keys {
    struct uvea_certs_pem roots[UVEA_PARTY_COUNT];
    struct uvea_certs_pem leaves[UVEA_PARTY_COUNT];
    struct uvea_tls_files files;
};

// Ed25519, valid whatever a simulated clock shows; the leaf of party i carries the name of node i.
// keys stays where it is, as its files point to it.
UVEA_MUST_USE enum uvea_error uvea_sim_keys_init(struct uvea_sim_keys *keys, uint64_t seed,
                                                 struct uvea_error_context *context);
void uvea_sim_keys_deinit(struct uvea_sim_keys *keys);

// What uvea_tls_open needs for a party, but for clock and library.
struct uvea_tls_config uvea_sim_keys_config(const struct uvea_sim_keys *keys, unsigned party);

#endif
