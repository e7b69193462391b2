// What was read from the files of a struct uvea_tls_config at one time: immutable, counted, and
// shared by the streams opened while it was the newest. Private to core/tls and core/posix.
#ifndef UVEA_CORE_TLS_MATERIAL_H
#define UVEA_CORE_TLS_MATERIAL_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/tls/tls.h"

#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdint.h>

enum uvea_tls_role {
    UVEA_TLS_DIALS,   // believes the roots of the parties
    UVEA_TLS_LISTENS, // those and the root of the clients, if there is one
    UVEA_TLS_ROLE_COUNT,
};

struct uvea_tls_material {
    atomic_uint references;
    OSSL_LIB_CTX *library;                  // borrowed; NULL: the process's
    EVP_PKEY *key;                          // secret
    STACK_OF(X509) * chain;                 // the leaf first
    X509 *roots[UVEA_PARTY_COUNT + 1];      // the last one is the clients', NULL for none
    X509_STORE *stores[UVEA_PARTY_COUNT];   // each with that party's root alone
    SSL_CTX *contexts[UVEA_TLS_ROLE_COUNT]; // set up by uvea_tls_material_apply
};

// Reads the files and checks what uvea_tls_open promises. Everything that is wrong is told to
// `fault`; the first of it is returned.
UVEA_MUST_USE enum uvea_error uvea_tls_material_open(const struct uvea_tls_config *config,
                                                     uvea_tls_fault_fn *fault, void *arg,
                                                     struct uvea_tls_material **material);
// The last step of it: the contexts.
UVEA_MUST_USE enum uvea_error uvea_tls_material_make_contexts(struct uvea_tls_material *material,
                                                              const struct uvea_tls_config *config,
                                                              struct uvea_error_context *context);

// The newest of tls, to be released by the caller. From any thread.
struct uvea_tls_material *uvea_tls_material_take(struct uvea_tls *tls);
// The last one wipes it. NULL is allowed.
void uvea_tls_material_release(struct uvea_tls_material *material);

// Sets up a context with everything this project asks of TLS: versions, ciphers, no tickets, no
// resumption, own key and chain, whom to believe, a certificate from the other side.
UVEA_MUST_USE enum uvea_error uvea_tls_material_apply(const struct uvea_tls_material *material,
                                                      enum uvea_tls_role role, bool allow_tls_1_2,
                                                      SSL_CTX *context);

// Whether a chain (leaf, then what else was sent; NULL allowed) leads to the party's root alone.
// wall_s: seconds since 1970, or NULL for now. X509_V_OK or another X509_V_ value.
int uvea_tls_material_judge(const struct uvea_tls_material *material, struct uvea_party party,
                            X509 *leaf, STACK_OF(X509) * others, const int64_t *wall_s);

#endif
