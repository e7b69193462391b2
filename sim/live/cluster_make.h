// Makes what a cluster of three uvead on one machine, or three, is started from: keys,
// certificates, one configuration for each party, cluster.yaml, and the proxy's file when there is
// one between them.
//
// Files below the directory: pki/ (sim/live/certs.h; the client's name is "client"), p0/uvead.yaml,
// p0/share.key, p0/store.db, ..., cluster.yaml, proxy.yaml. Ports from BASE: HTTP of party i at
// BASE+i, MPC at BASE+10+i; through the proxy, what party i dials of party j: MPC at
// BASE+20+3i+j, HTTP at BASE+40+3i+j.
#ifndef UVEA_SIM_LIVE_CLUSTER_MAKE_H
#define UVEA_SIM_LIVE_CLUSTER_MAKE_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "sim/scenario/scenario.h"

#include <stdbool.h>
#include <stdint.h>

enum { UVEA_CLUSTER_PORTS = 64 };

// Everything is borrowed.
struct uvea_cluster_plan {
    const char *directory;
    const struct uvea_scenario *scenario; // its options become the configurations
    const char *postgres_url; // NULL: SQLite files; else schemas p0, p1, p2 of this database
    const char *hosts[UVEA_PARTY_COUNT]; // a name or an IPv4 address of each party's machine
    uint32_t port;                       // BASE, at most 65535 - UVEA_CLUSTER_PORTS
    bool through_proxy;                  // all hosts are the same
    bool overwrite;
    int64_t now_s;    // seconds since 1970-01-01 UTC, for the certificates
    const char *uvea; // absolute names of the programs, for the commands of cluster.yaml
    const char *uvead;
};

// USAGE: an option that uvead cannot have, a host that is none, or files that are there already and
// are not to be overwritten; IO, CRYPTO. Sentences name the option or the file.
UVEA_MUST_USE enum uvea_error uvea_cluster_make(const struct uvea_cluster_plan *plan,
                                                struct uvea_error_context *context);

#endif
