// The control channel: one connection to each neighbour beside the data plane, for barriers and
// short messages between the steps of a service. Used by one task at a time. Frame: u32
// little-endian length, one encoded value of at most 1 MiB. Any error is final: close it and open
// another. Source: wire.md 3.
//
// It is made through the mesh's dial and accept path with connection id 0, which data connections
// use as well: all three parties must open it while none is in uvea_mesh_connect. Opening it right
// after connect has returned is safe: nobody returns before everyone's data connections stand.
#ifndef UVEA_CORE_NET_CONTROL_H
#define UVEA_CORE_NET_CONTROL_H

#include "core/base/error.h"
#include "core/base/party.h"
#include "core/net/mesh.h"
#include "core/wire/value.h"

#include <stdint.h>

struct uvea_control;

// (blocks) Errors as uvea_mesh_connect. It outlives disconnect, not the mesh.
UVEA_MUST_USE enum uvea_error uvea_control_open(struct uvea_mesh *mesh,
                                                struct uvea_control **control,
                                                struct uvea_error_context *context);

// NULL is allowed; nobody may be using it.
void uvea_control_close(struct uvea_control *control);

// Wakes whoever waits, with CLOSED. From any task, more than once.
void uvea_control_shut(struct uvea_control *control);

// (blocks) One encoded value; returns when the stream has taken all of it. LIMIT before any byte
// leaves when it is longer than UVEA_CONTROL_BYTES_MAX; that error alone is not final.
UVEA_MUST_USE enum uvea_error uvea_control_send(struct uvea_control *control, enum uvea_peer peer,
                                                const uint8_t *value, size_t value_bytes,
                                                uint64_t deadline_ns,
                                                struct uvea_error_context *context);

// (blocks) The next value from peer: a view that lives until the next recv from the same peer.
UVEA_MUST_USE enum uvea_error uvea_control_recv(struct uvea_control *control, enum uvea_peer peer,
                                                struct uvea_value *value, uint64_t deadline_ns,
                                                struct uvea_error_context *context);

// (blocks) All three parties have come here: sends Bytes("ok") to next, then prev; receives from
// next, then prev. PEER when something else arrives.
UVEA_MUST_USE enum uvea_error uvea_control_barrier(struct uvea_control *control,
                                                   uint64_t deadline_ns,
                                                   struct uvea_error_context *context);

#endif
