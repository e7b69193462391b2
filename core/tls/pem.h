// PEM files of keys and certificates. Sentences name the file. Private to core/tls.
#ifndef UVEA_CORE_TLS_PEM_H
#define UVEA_CORE_TLS_PEM_H

#include "core/base/error.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

struct uvea_tls_config; // says where files are and by which OpenSSL they are read

enum {
    UVEA_TLS_FILE_BYTES_MAX = 1 << 20,
    UVEA_TLS_CHAIN_MAX = 8, // certificates of one file
};

// The certificates of a file, at least one and at most UVEA_TLS_CHAIN_MAX, owned by the caller.
// IO: missing or unreadable; FORMAT: empty, too long, no certificate in it, or a damaged one.
UVEA_MUST_USE enum uvea_error uvea_tls_read_certificates(const struct uvea_tls_config *config,
                                                         const char *file,
                                                         STACK_OF(X509) * *certificates,
                                                         struct uvea_error_context *context);

// The private key of a file that only its owner can read. USAGE when others can too, or when it is
// locked with a pass phrase; else as above.
UVEA_MUST_USE enum uvea_error uvea_tls_read_key(const struct uvea_tls_config *config,
                                                const char *file, EVP_PKEY **key,
                                                struct uvea_error_context *context);

#endif
