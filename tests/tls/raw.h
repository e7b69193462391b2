// The other side of a connection, written with OpenSSL alone, so that it can do what core/tls never
// does: speak without a certificate, in an older version, end without saying so.
#ifndef UVEA_TESTS_TLS_RAW_H
#define UVEA_TESTS_TLS_RAW_H

#include "tests/tls/pair.h"

#include <openssl/ssl.h>

struct raw {
    struct side *side;
    SSL_CTX *context;
    SSL *ssl;
};

// It believes everybody. stem: its certificate; NULL: it has none.
void raw_open(struct raw *raw, struct side *side, const struct pki *pki, const char *stem);
void raw_close(struct raw *raw);

// Does what `step` does until OpenSSL no longer wants to read; false when it failed.
bool raw_handshake(struct raw *raw);
bool raw_write(struct raw *raw, size_t from, size_t bytes);
// How many bytes of the pattern came before the end, a failure, or `most`.
size_t raw_read(struct raw *raw, size_t from, size_t most);
// What OpenSSL has left to say, not yet sent.
size_t raw_take(struct raw *raw, uint8_t *out, size_t capacity);
void raw_flush(struct raw *raw);

#endif
