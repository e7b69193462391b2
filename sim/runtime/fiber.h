// Fibers: separate stacks on one thread, switched by hand. One pool belongs to one scheduler, which
// runs on the stack that called resume; a fiber yields back to it and never to another fiber.
//
// A stack is mapped with a guard page below it, so that an overflow ends the process instead of
// corrupting a neighbour; stacks are reused and their mappings live as long as the pool. errno is
// kept per fiber. OpenSSL's error queue is emptied at each yield: read it before waiting.
// AddressSanitizer, ThreadSanitizer and valgrind are told of every stack and switch.
#ifndef UVEA_SIM_RUNTIME_FIBER_H
#define UVEA_SIM_RUNTIME_FIBER_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct uvea_sim_fiber;
struct uvea_sim_fiber_pool;

typedef void uvea_sim_fiber_fn(void *arg);

enum { UVEA_SIM_FIBER_STACK_BYTES = 256 * 1024 };

// stack_bytes: usable bytes of each stack, rounded up to pages; 0 means the default above. Builds
// with AddressSanitizer map four times as much.
UVEA_MUST_USE enum uvea_error uvea_sim_fiber_pool_open(size_t stack_bytes,
                                                       struct uvea_sim_fiber_pool **pool);

// Fibers that have not finished are dropped where they stand. NULL is allowed.
void uvea_sim_fiber_pool_close(struct uvea_sim_fiber_pool *pool);

// Usable bytes of each stack of this pool.
size_t uvea_sim_fiber_pool_stack_bytes(const struct uvea_sim_fiber_pool *pool);

// The deepest use of any stack so far in bytes, counted in whole resident pages (pages that were
// swapped out are not seen).
size_t uvea_sim_fiber_pool_depth_bytes(const struct uvea_sim_fiber_pool *pool);

// Prepares fn(arg) to start at the first resume.
UVEA_MUST_USE enum uvea_error uvea_sim_fiber_open(struct uvea_sim_fiber_pool *pool,
                                                  uvea_sim_fiber_fn *fn, void *arg,
                                                  struct uvea_sim_fiber **fiber);

// Runs the fiber until it yields or returns. Returns true when its function has returned; the
// fiber's memory then went back to the pool and the handle is dead.
UVEA_MUST_USE bool uvea_sim_fiber_resume(struct uvea_sim_fiber *fiber);

// Gives up a fiber that was never resumed; the handle is dead.
void uvea_sim_fiber_cancel(struct uvea_sim_fiber *fiber);

// From inside the running fiber of this pool: back to the caller of resume.
void uvea_sim_fiber_yield(struct uvea_sim_fiber_pool *pool);

// Whether the caller is on a fiber of this pool.
bool uvea_sim_fiber_running(const struct uvea_sim_fiber_pool *pool);

#endif
