// TLS over any byte stream of a runtime: the posix runtime puts it over sockets, the simulator over
// its own streams, with the same code. One task may read while another writes, as for every stream
// (core/rt/rt.h), whose contract the calls below keep.
//
// The end of data is only what the peer's close_notify says: a transport that ends without one is
// RESET, also between two records. Nothing is sent early, and no record is used before it is
// authenticated. Every byte that arrives is bounded work: handshake messages and records have
// OpenSSL's limits, and each call has its deadline.
#ifndef UVEA_CORE_TLS_STREAM_H
#define UVEA_CORE_TLS_STREAM_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/rt/rt.h"
#include "core/tls/tls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What may be left to say when a stream is shut.
enum { UVEA_TLS_LAST_BYTES_MAX = 256 };

// The stream below, with the contracts of read, write, shut and close in core/rt/rt.h. shut returns
// at once, yet `last`, len <= UVEA_TLS_LAST_BYTES_MAX bytes of it, still follow what was written;
// len is 0 when somebody is writing. close releases the transport.
struct uvea_tls_transport {
    void *arg;
    enum uvea_error (*read)(void *arg, uint8_t *out, size_t capacity, size_t *got,
                            uint64_t deadline_ns);
    enum uvea_error (*write)(void *arg, const uint8_t *bytes, size_t len, uint64_t deadline_ns);
    void (*shut)(void *arg, const uint8_t *last, size_t len);
    void (*close)(void *arg);
};

struct uvea_tls_stream;

// Takes the transport over, on failure too. host: the name or address that the listener's
// certificate must carry, when this side dials; NULL: this side listens, and asks for a
// certificate. Certificates are judged at rt's wall-clock time. Nothing is sent before the
// handshake.
UVEA_MUST_USE enum uvea_error uvea_tls_stream_open(struct uvea_rt *rt, struct uvea_tls *tls,
                                                   const struct uvea_tls_transport *transport,
                                                   const char *host,
                                                   struct uvea_tls_stream **stream);

// (blocks) The handshake; the first read or write does it too when it was not asked for. The other
// side must show a chain to one of the known roots (a listener: of any party or of clients; a
// dialler: of any party) that is valid now. PEER: it was refused, or refused this side (see
// uvea_tls_stream_reason); CLOSED, RESET, TIMEOUT as the transport.
UVEA_MUST_USE enum uvea_error uvea_tls_stream_handshake(struct uvea_tls_stream *stream,
                                                        uint64_t deadline_ns);

// After the handshake: whether the peer's chain verifies, now, against this party's root and no
// other. PEER when not.
UVEA_MUST_USE enum uvea_error uvea_tls_stream_prove(struct uvea_tls_stream *stream,
                                                    struct uvea_party party);

// After the handshake: whether the peer's chain verifies, now, against any party's root. What is
// not a party's is a client's.
bool uvea_tls_stream_is_party(struct uvea_tls_stream *stream);

// Contracts of uvea_rt_read, uvea_rt_write, uvea_rt_stream_shut and uvea_rt_stream_close. shut
// sends close_notify behind what was written, unless it interrupts a write: then the other side
// gets RESET, for it has not got all.
UVEA_MUST_USE enum uvea_error uvea_tls_stream_read(struct uvea_tls_stream *stream, uint8_t *out,
                                                   size_t capacity, size_t *got,
                                                   uint64_t deadline_ns);
UVEA_MUST_USE enum uvea_error uvea_tls_stream_write(struct uvea_tls_stream *stream,
                                                    const uint8_t *bytes, size_t len,
                                                    uint64_t deadline_ns);
void uvea_tls_stream_shut(struct uvea_tls_stream *stream);
void uvea_tls_stream_close(struct uvea_tls_stream *stream);

// Why the stream failed, for a log line: "certificate has expired", "no certificate", "not TLS".
// Empty while it has not. Never holds what a peer chose to send, except printable names.
void uvea_tls_stream_reason(const struct uvea_tls_stream *stream,
                            struct uvea_error_context *reason);

#endif
