// Sockets that were shut: one thread sends what is left of them, says that nothing follows, reads
// what still comes and forgets it, and closes when the other side has ended too or time is up.
#ifndef UVEA_CORE_POSIX_DRAIN_H
#define UVEA_CORE_POSIX_DRAIN_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

// At once; one more ends the oldest.
enum { UVEA_POSIX_DRAIN_MAX = 256 };

struct uvea_posix_drain;

// for_ns_max: from uvea_posix_drain_add.
UVEA_MUST_USE enum uvea_error uvea_posix_drain_open(uint64_t for_ns_max,
                                                    struct uvea_posix_drain **drain);

// Takes over a descriptor of the socket; rest: at most UVEA_TLS_LAST_BYTES_MAX bytes, copied.
void uvea_posix_drain_add(struct uvea_posix_drain *drain, int fd, const uint8_t *rest, size_t len);

// (blocks) Waits for all of them. NULL is allowed.
void uvea_posix_drain_close(struct uvea_posix_drain *drain);

#endif
