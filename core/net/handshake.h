// The connection handshake: who is calling, and which of its connections this is. Runs over a fresh
// stream (after TLS, where there is any) before the first data byte; integers are big-endian here.
//
//   dialler  -> listener   u32 connection id
//   listener -> dialler    the same four bytes
//   dialler  -> listener   u32 identity length, identity (UTF-8)
//   listener -> dialler    "2ok", or the end of the stream
//
// Every call (blocks) until deadline_ns and reads exact lengths: neither side can be tripped by how
// the bytes are cut up. On an error the stream is to be closed. Source: wire.md 3.
#ifndef UVEA_CORE_NET_HANDSHAKE_H
#define UVEA_CORE_NET_HANDSHAKE_H

#include "core/base/error.h"
#include "core/rt/rt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_IDENTITY_BYTES_MAX = 128,
    UVEA_HANDSHAKE_TOKEN_BYTES = 3,
};

// What the listener was told.
struct uvea_hello {
    uint32_t connection_id;
    size_t identity_bytes;
    char identity[UVEA_IDENTITY_BYTES_MAX + 1]; // also terminated by a zero byte
};

// Well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
bool uvea_identity_valid(const char *identity, size_t bytes);

// The dialler's side, from the first byte to the token. identity: at most UVEA_IDENTITY_BYTES_MAX
// bytes. PEER: another echo or another token. CLOSED, RESET, TIMEOUT as the stream.
UVEA_MUST_USE enum uvea_error uvea_handshake_dial(struct uvea_rt *rt, struct uvea_stream *stream,
                                                  const char *identity, uint32_t connection_id,
                                                  uint64_t deadline_ns,
                                                  struct uvea_error_context *context);

// The listener's side up to the decision. LIMIT: the identity is longer than allowed (none of its
// bytes are read). FORMAT: it is not UTF-8. hello is unchanged on failure.
UVEA_MUST_USE enum uvea_error uvea_handshake_listen(struct uvea_rt *rt, struct uvea_stream *stream,
                                                    struct uvea_hello *hello, uint64_t deadline_ns,
                                                    struct uvea_error_context *context);

// The listener accepts: writes the token. To refuse, close the stream instead.
UVEA_MUST_USE enum uvea_error uvea_handshake_accept(struct uvea_rt *rt, struct uvea_stream *stream,
                                                    uint64_t deadline_ns);

#endif
