// Words for what OpenSSL finds wrong. Private to core/tls and core/posix.
#ifndef UVEA_CORE_TLS_REASON_H
#define UVEA_CORE_TLS_REASON_H

#include "core/base/error.h"

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

// An X509_V_ value: "certificate has expired". A constant string.
const char *uvea_tls_verdict_text(long verdict);

// What the oldest error in OpenSSL's queue of this thread says about a connection, which it then
// empties. handshake: during one. PEER: this side or the other one refused; RESET: what came is
// damaged. host: whom this side dialled, or NULL.
UVEA_MUST_USE enum uvea_error uvea_tls_reason_take(const SSL *ssl, bool handshake, const char *host,
                                                   char *text, size_t text_bytes);

#endif
