// Whoever calls an HTTP server of the posix runtime under TLS without being one of us: OpenSSL and
// sockets alone, so that it can do what core/tls never does.
#ifndef UVEA_TESTS_POSIX_ATTACKER_H
#define UVEA_TESTS_POSIX_ATTACKER_H

#include "tests/posix/web.h"
#include "tests/tls/pki.h"

#include <openssl/ssl.h>
#include <stddef.h>
#include <stdint.h>

struct attacker {
    SSL_CTX *context;
    SSL *ssl;
    int fd;
};

// Connected, the handshake not begun. It believes everybody. stem: its certificate; NULL: none.
void attacker_open(struct attacker *attacker, const char *address, const struct pki *pki,
                   const char *stem);
void attacker_close(struct attacker *attacker);

// Shakes hands, as far as it can tell, and sends this.
void attacker_send(struct attacker *attacker, const uint8_t *bytes, size_t len);
// The same with text and filler times 'x', until it is refused.
void attacker_say(struct attacker *attacker, const char *text, size_t filler);
// Reads to the end, whatever it is; out ends with NUL.
void attacker_read_all(struct attacker *attacker, char *out, size_t capacity);

// The first flight of a handshake: how many bytes of it are in out.
size_t attacker_hello(uint8_t *out, size_t capacity);

// ---- between a client and a server

enum { WIRETAP_BYTES = 64 << 10, WIRETAP_NO_FLIP = -1 };

// Carries one connection on and writes down what the client says.
struct wiretap {
    char address[WEB_ADDRESS_BYTES]; // where the client is to go
    const char *to;
    int flip_at; // the byte of the client's that arrives with another bit
    int listen_fd;
    int client_fd;
    int server_fd;
    pthread_t thread;
    size_t said_bytes;
    uint8_t said[WIRETAP_BYTES];
};

void wiretap_open(struct wiretap *tap, const char *to, int flip_at);
// Ends the connection and waits for its end.
void wiretap_close(struct wiretap *tap);

#endif
