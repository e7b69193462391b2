// A running cluster as those see it who use it from outside: one file, cluster.yaml.
//
//   parties:                  # three, in party order
//     - http: 127.0.0.1:8000  # where clients call
//       root: pki/p0-root.pem # the only root its certificate is believed under
//       share_public_key: ... # base64; its shares are sealed to it
//       store: p0/store.db    # optional: SQLite file or postgres:// URL, for whoever checks it
//       schema: p0            # with a URL only
//       log: p0/uvead.log     # optional: where its output goes, for sentences
//       start: command        # optional, as stop and kill: run by a shell in the file's folder
//   client:
//     key: pki/client.key.pem
//     certificate: pki/client.pem
//
// Relative paths are relative to the folder of the file.
#ifndef UVEA_SIM_LIVE_CLUSTER_H
#define UVEA_SIM_LIVE_CLUSTER_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/service/share_object.h"
#include "core/tls/tls.h"

#include <stdint.h>

struct uvea_cluster_party {
    char *http; // "host:port"
    char *root; // a path
    uint8_t share_public_key[UVEA_SHARE_KEY_BYTES];
    char *store; // a path or a URL; NULL, as the following, when not given
    char *schema;
    char *log; // a path
    char *start;
    char *stop;
    char *kill;
};

// All texts are owned; paths are ready to be opened. All zero is none.
struct uvea_cluster {
    char *folder; // of the file
    struct uvea_cluster_party parties[UVEA_PARTY_COUNT];
    char *client_key;
    char *client_certificate;
};

// NOT_FOUND, IO, LIMIT, FORMAT: the sentence names file, line and key. Nothing is allocated on
// failure. Roots, key and certificate must be there and readable, and are not looked into.
UVEA_MUST_USE enum uvea_error uvea_cluster_load(const char *file, struct uvea_cluster *cluster,
                                                struct uvea_error_context *context);
void uvea_cluster_deinit(struct uvea_cluster *cluster);

// What a client of the cluster shows and believes; borrows from the cluster.
struct uvea_tls_config uvea_cluster_tls(const struct uvea_cluster *cluster);

#endif
