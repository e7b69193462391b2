// Memory: the one place that allocates. Every function may fail and says so by returning NULL.
#ifndef UVEA_CORE_BASE_MEM_H
#define UVEA_CORE_BASE_MEM_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

// count * size bytes, zeroed, aligned to 64. NULL when memory is short or the product overflows.
// A count of 0 gives a valid pointer. Free with uvea_mem_free.
UVEA_MUST_USE void *uvea_mem_alloc(size_t count, size_t size);

// Frees; NULL is allowed.
void uvea_mem_free(void *memory);

// For tests and the simulator, which let allocations fail: hook is asked before each one, and false
// makes it fail. NULL for none, as a program that serves has it. Not to be changed while other
// threads allocate.
typedef bool uvea_mem_hook_fn(void *arg);
void uvea_mem_set_hook(uvea_mem_hook_fn *hook, void *arg);

// Overwrites secrets before they are released; not optimised away. NULL is allowed for 0 bytes.
void uvea_mem_wipe(void *memory, size_t bytes);

#endif
