// Three parties on the loopback, each with a posix runtime, keys and a mesh of its own.
#ifndef UVEA_TESTS_POSIX_FLEET_H
#define UVEA_TESTS_POSIX_FLEET_H

#include "core/net/mesh.h"
#include "tests/posix/rig.h"

struct fleet_party {
    struct fleet *fleet;
    unsigned index;
    struct uvea_tls *tls;
    struct uvea_rt *rt;
    struct uvea_mesh *mesh;
};

struct fleet {
    struct fleet_party parties[UVEA_PARTY_COUNT];
    struct uvea_mesh_config mesh[UVEA_PARTY_COUNT]; // a test may change them before fleet_meshes
    char addresses[UVEA_PARTY_COUNT][32];
};

typedef void fleet_fn(struct fleet_party *party);

// Runtimes with TLS and default mesh configurations with short waits; no mesh yet.
void fleet_open(struct fleet *fleet, struct pki *pki);
void fleet_meshes(struct fleet *fleet);
// Runs fn at all three, a task each, to the end.
void fleet_run(struct fleet *fleet, fleet_fn *fn);
void fleet_close(struct fleet *fleet);

// uvea_mesh_connect, expected to succeed.
void fleet_connect(struct fleet_party *party);

#endif
