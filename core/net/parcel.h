// Parcels: frames on their way between a session's task and a connection's task.
// A queue never makes its pusher wait; a budget bounds the bytes in it; a pool gives a parcel's
// memory back to where the next one will be needed. Private to core/net.
#ifndef UVEA_CORE_NET_PARCEL_H
#define UVEA_CORE_NET_PARCEL_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/rt/rt.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// Parcels kept for reuse, per session, neighbour and direction. A session rarely has more under
// way.
enum { UVEA_PARCEL_POOL_MAX = 4 };

struct uvea_parcel_pool;

struct uvea_parcel {
    struct uvea_parcel *next;
    struct uvea_parcel_pool *home;
    struct uvea_buf bytes;
};

// All zero is empty. One task takes; any task gives.
struct uvea_parcel_pool {
    _Atomic(struct uvea_parcel *) returned;
    atomic_uint count;
    struct uvea_parcel *spare; // the taker's own
};

// An empty parcel, NULL when memory is short.
struct uvea_parcel *uvea_parcel_take(struct uvea_parcel_pool *pool);
// To its home, or freed when enough are there. NULL is allowed.
void uvea_parcel_give(struct uvea_parcel *parcel);
void uvea_parcel_pool_deinit(struct uvea_parcel_pool *pool);

// Bytes held, and how many may be.
struct uvea_budget {
    atomic_size_t used;
    size_t bytes_max;
};

// A parcel's price: its bytes and the bookkeeping around them, so that many small frames are
// bounded as well as few large ones.
bool uvea_budget_take(struct uvea_budget *budget, size_t bytes);
void uvea_budget_give(struct uvea_budget *budget, size_t bytes);

// First in, first out. Any task pushes; one task pops.
struct uvea_parcel_queue {
    struct uvea_rt *rt;
    _Atomic(struct uvea_parcel *) pushed; // newest first
    struct uvea_parcel *ready;            // oldest first; the popper's own
    struct uvea_channel *wake;
};

UVEA_MUST_USE enum uvea_error uvea_parcel_queue_init(struct uvea_parcel_queue *queue,
                                                     struct uvea_rt *rt);
// Frees what is still queued. All zero is allowed.
void uvea_parcel_queue_deinit(struct uvea_parcel_queue *queue);
void uvea_parcel_push(struct uvea_parcel_queue *queue, struct uvea_parcel *parcel);
// NULL when empty.
struct uvea_parcel *uvea_parcel_try_pop(struct uvea_parcel_queue *queue);
// (blocks) TIMEOUT at the deadline. After shut: what is queued, then CLOSED.
UVEA_MUST_USE enum uvea_error uvea_parcel_pop(struct uvea_parcel_queue *queue, uint64_t deadline_ns,
                                              struct uvea_parcel **parcel);
// From any task, more than once. All zero is allowed.
void uvea_parcel_queue_shut(struct uvea_parcel_queue *queue);

#endif
