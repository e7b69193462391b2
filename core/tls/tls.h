// Who this program is and whom it believes, over TLS: keys, certificates and the roots of the
// parties. Mutual, TLS 1.3 (1.2 only when allowed by name), no session tickets, no resumption, no
// renegotiation. Each party has a root of its own, and a peer is believed to be party i only when
// its chain verifies against party i's root alone. Sources: wire.md 3; service.md 8.
#ifndef UVEA_CORE_TLS_TLS_H
#define UVEA_CORE_TLS_TLS_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/party.h"

#include <stdbool.h>
#include <stdint.h>

struct uvea_rt;

// Gives the contents of a file, as memory does that was never written to a disk. IO, MEMORY.
struct uvea_tls_files {
    void *arg;
    enum uvea_error (*read)(void *arg, const char *file, struct uvea_buf *contents);
};

// PEM files, borrowed during the calls that read them. Private keys must not be readable by others
// than their owner (USAGE names the file and its mode).
struct uvea_tls_config {
    const char *key_file;
    const char *certificate_file;                   // the leaf, then its intermediates
    const char *party_root_files[UVEA_PARTY_COUNT]; // in party order; the first certificate of each
    const char *client_root_file; // whose holders may call the HTTP interface; NULL: nobody
    int own_party; // 0..2: the leaf must verify against that root at start; -1: a client
    bool allow_tls_1_2;
    // For the simulator, all NULL otherwise:
    struct uvea_rt *clock;              // by whose wall clock the files are judged
    const struct uvea_tls_files *files; // in place of the file system
    struct ossl_lib_ctx_st *library;    // OpenSSL's own, with its random numbers
};

struct uvea_tls;

// Reads everything. USAGE, IO, FORMAT, CRYPTO: the sentence names the file and what is wrong with
// it: missing, unreadable, empty, no PEM, the key does not belong to the certificate, the leaf is
// expired, not yet valid, or not from the own party's root (roots in another order end here), a
// root is expired, not yet valid or none (it may not sign others, or another one signed it), two
// parties with one root. When several things are wrong, the first of them.
UVEA_MUST_USE enum uvea_error uvea_tls_open(const struct uvea_tls_config *config,
                                            struct uvea_tls **tls,
                                            struct uvea_error_context *context);

enum uvea_tls_part {
    UVEA_TLS_KEY,
    UVEA_TLS_CERTIFICATE,
    UVEA_TLS_ROOTS,
    UVEA_TLS_CLIENT_ROOT,
};

// Told of one thing that is wrong, with the part of the configuration that it is found in. context:
// as from uvea_tls_open; empty for lack of memory.
typedef void uvea_tls_fault_fn(void *arg, enum uvea_tls_part part, enum uvea_error error,
                               const struct uvea_error_context *context);

// Reads everything as uvea_tls_open does, and tells all that is wrong.
void uvea_tls_check(const struct uvea_tls_config *config, uvea_tls_fault_fn *fault, void *arg);

// Reads the files anew. Streams opened from now on use them; those under way keep theirs, unless
// their owner asks for the generation and ends them. On failure everything stays as it was. From
// any thread.
UVEA_MUST_USE enum uvea_error uvea_tls_reload(struct uvea_tls *tls,
                                              struct uvea_error_context *context);

// How often the files have been read anew so far. From any thread.
uint64_t uvea_tls_generation(const struct uvea_tls *tls);

// What is in force, for an operator: of the own leaf certificate. From any thread.
struct uvea_tls_facts {
    int64_t not_after_s;  // seconds since 1970
    char not_after[24];   // "2027-01-31T12:00:00Z"
    char fingerprint[65]; // SHA-256 of the certificate, lower-case hexadecimal
};
void uvea_tls_facts(struct uvea_tls *tls, struct uvea_tls_facts *facts);

// No stream of it is open. Wipes the key. NULL is allowed.
void uvea_tls_close(struct uvea_tls *tls);

#endif
