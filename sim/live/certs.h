// Certificates for development and tests: a root of its own for each party and one for clients, and
// the leaves below them. Ed25519 throughout. Nobody keeps these roots safe: whoever reads the
// directory can be any party. Source: service.md 8 (mutual TLS between the parties).
//
// Files of a directory: p0-root.pem, p0-root.key.pem, ... client-root.pem, client-root.key.pem;
// leaves p0.pem, p0.key.pem, ... and NAME.pem, NAME.key.pem for client NAME.
#ifndef UVEA_SIM_LIVE_CERTS_H
#define UVEA_SIM_LIVE_CERTS_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- in memory

enum {
    UVEA_CERTS_NAMES_MAX = 16,
    UVEA_CERTS_NAME_CHARS_MAX = 253,       // a DNS name or an address
    UVEA_CERTS_COMMON_NAME_CHARS_MAX = 64, // a subject
    UVEA_CERTS_SEED_BYTES = 32,
};

// Seconds since 1970-01-01 UTC, both included; any window will do, so that tests can make
// certificates that are expired or not valid yet.
struct uvea_certs_window {
    int64_t from_s;
    int64_t to_s;
};

enum uvea_certs_role {
    UVEA_CERTS_ROOT,   // signs leaves, and itself
    UVEA_CERTS_PARTY,  // listens and dials: serverAuth and clientAuth; carries names
    UVEA_CERTS_CLIENT, // dials: clientAuth
};

// Everything is borrowed.
struct uvea_certs_plan {
    enum uvea_certs_role role;
    const char *common_name;  // of the subject, printable ASCII
    const char *const *names; // DNS names and IPv4 or IPv6 addresses (no port, no brackets)
    size_t name_count;        // at least one for a party, none otherwise
    struct uvea_certs_window window;
    const uint8_t *key_seed; // secret: 32 bytes, the key in full; NULL: a fresh random key
};

// Both PEM, no NUL at the end. The key is secret.
struct uvea_certs_pem {
    struct uvea_buf certificate;
    struct uvea_buf key;
};

// Wipes.
void uvea_certs_pem_deinit(struct uvea_certs_pem *pem);

// Adds to `out`, which is empty. issuer: a root; NULL exactly when a root is made. With a key_seed
// the same plan gives the same bytes. USAGE: a name that is none, too many, a window that ends
// before it begins; FORMAT: issuer holds no certificate and key; CRYPTO. out stays empty then.
UVEA_MUST_USE enum uvea_error uvea_certs_make(const struct uvea_certs_plan *plan,
                                              const struct uvea_certs_pem *issuer,
                                              struct uvea_certs_pem *out,
                                              struct uvea_error_context *context);

// ---- in a directory. Keys are written with mode 0600. Unless `overwrite`, a file that is there
// already is USAGE and nothing is written. IO and what uvea_certs_make says; sentences name the
// file.

// Makes the directory (0755) when it is not there, and the four roots.
UVEA_MUST_USE enum uvea_error uvea_certs_init(const char *directory,
                                              const struct uvea_certs_window *window,
                                              bool overwrite, struct uvea_error_context *context);

// The leaf of a party, below that party's root. NOT_FOUND: the root is not there.
UVEA_MUST_USE enum uvea_error uvea_certs_issue_party(const char *directory, struct uvea_party party,
                                                     const char *const *names, size_t name_count,
                                                     const struct uvea_certs_window *window,
                                                     bool overwrite,
                                                     struct uvea_error_context *context);

// The leaf of a client, below the clients' root. name: letters, digits, - and _, at most 32, and
// not p0, p1, p2 or one that ends in -root.
UVEA_MUST_USE enum uvea_error uvea_certs_issue_client(const char *directory, const char *name,
                                                      const struct uvea_certs_window *window,
                                                      bool overwrite,
                                                      struct uvea_error_context *context);

// DIRECTORY/STEM.pem and DIRECTORY/STEM.key.pem, where STEM is "p0-root", "client-root", "p0", or a
// client's name. USAGE: longer than a path may be.
UVEA_MUST_USE enum uvea_error uvea_certs_paths(const char *directory, const char *stem,
                                               char certificate[PATH_MAX], char key[PATH_MAX],
                                               struct uvea_error_context *context);

// ---- for people

// Appends lines about each certificate of a PEM file: subject, names, issuer, use, validity,
// SHA-256 fingerprint, key, and what is wrong with it at now_s. good: nothing is. NOT_FOUND,
// FORMAT: no such file, no certificate in it.
UVEA_MUST_USE enum uvea_error uvea_certs_describe(const char *file, int64_t now_s,
                                                  struct uvea_buf *text, bool *good,
                                                  struct uvea_error_context *context);

#endif
