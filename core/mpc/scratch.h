// A session's working memory: a stack of zeroed arrays, kept from one operation to the next, so
// that a session in its stride allocates nothing. What is taken is always zero: nothing of an
// earlier, longer operation shows through.
#ifndef UVEA_CORE_MPC_SCRATCH_H
#define UVEA_CORE_MPC_SCRATCH_H

#include "core/base/error.h"

#include <stddef.h>

struct uvea_scratch_block;

// All zero is an empty stack. Holds secrets.
struct uvea_scratch {
    struct uvea_scratch_block *first;
    struct uvea_scratch_block *current; // NULL: nothing is taken
    size_t used;                        // bytes taken of current
};

// A height of the stack.
struct uvea_scratch_mark {
    struct uvea_scratch_block *current;
    size_t used;
};

// count * size zero bytes, aligned to 64, until the stack is released below them. NULL when memory
// is short. A count of 0 gives a valid pointer.
UVEA_MUST_USE void *uvea_scratch_take(struct uvea_scratch *scratch, size_t count, size_t size);

static inline struct uvea_scratch_mark uvea_scratch_mark(const struct uvea_scratch *scratch)
{
    return (struct uvea_scratch_mark){scratch->current, scratch->used};
}

// Gives back all that was taken since the mark; marks are released in reverse order.
static inline void uvea_scratch_release(struct uvea_scratch *scratch, struct uvea_scratch_mark mark)
{
    scratch->current = mark.current;
    scratch->used = mark.used;
}

// Wipes and frees.
void uvea_scratch_deinit(struct uvea_scratch *scratch);

#endif
