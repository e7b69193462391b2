// Inside a TLS stream. Private to core/tls.
//
// OpenSSL never touches the transport: it reads records from `in` and leaves records in `out`, both
// in memory, under the lock. Whoever has the turn takes them from `out` and writes them, without
// the lock; so records never overtake each other, and a peer that does not read holds up no reader.
// Only the reader fills `in`, and during the handshake the one who does it, who has the turn.
#ifndef UVEA_CORE_TLS_STREAM_IMPL_H
#define UVEA_CORE_TLS_STREAM_IMPL_H

#include "core/base/buf.h"
#include "core/tls/material.h"
#include "core/tls/stream.h"

#include <openssl/ssl.h>
#include <stdbool.h>

enum {
    UVEA_TLS_HELLO_BYTES = 4 << 10, // read at once during the handshake: strangers get no more
    UVEA_TLS_READ_BYTES = 64 << 10, // and after it
    // Records are sent when so much of them has come together.
    UVEA_TLS_SEND_BYTES = 64 << 10,
    // What OpenSSL may leave in `out` before it is sent: a peer that makes it answer without ever
    // reading breaks the stream.
    UVEA_TLS_OUT_BYTES_MAX = 2 * UVEA_TLS_SEND_BYTES,
    UVEA_TLS_RECORD_BYTES = 16 << 10, // of plaintext
    UVEA_TLS_HOST_BYTES = 256,
    UVEA_TLS_REASON_BYTES = 192 + UVEA_TLS_HOST_BYTES,
};

struct uvea_tls_stream {
    struct uvea_rt *rt;
    struct uvea_tls_material *material;
    struct uvea_tls_transport transport;
    // Each holds an item while somebody has it. Who does the handshake has both: whoever waits for
    // its end waits for the first one, which no writer takes again and again.
    struct uvea_channel *opening;
    struct uvea_channel *turn;
    struct uvea_lock *lock; // of all below but `in` and `sending`
    SSL *ssl;
    bool listens;
    bool ready;   // the handshake is done
    bool writing; // a shut comes in the middle of something
    bool shut;
    bool ended;                // the other side has said so
    enum uvea_error failed;    // of everything, for good
    enum uvea_error unwritten; // of writing
    char host[UVEA_TLS_HOST_BYTES];
    char reason[UVEA_TLS_REASON_BYTES];
    struct uvea_buf out;

    struct uvea_buf sending; // of whoever has the turn
    uint8_t *in;
    size_t in_capacity;
    size_t in_at;
    size_t in_len;
};

// OpenSSL's view of `in` and `out`. NULL when memory is short.
BIO *uvea_tls_bio_open(struct uvea_tls_stream *stream);

#endif
