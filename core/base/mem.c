#include "core/base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

static uvea_mem_hook_fn *alloc_hook;
static void *alloc_hook_arg;

void uvea_mem_set_hook(uvea_mem_hook_fn *hook, void *arg)
{
    alloc_hook = hook;
    alloc_hook_arg = arg;
}

void *uvea_mem_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGN) {
        return NULL;
    }
    if (alloc_hook != NULL && !alloc_hook(alloc_hook_arg)) {
        return NULL;
    }
    bytes = (bytes + ALIGN) & ~(size_t)(ALIGN - 1);
    void *memory = aligned_alloc(ALIGN, bytes);
    if (memory != NULL) {
        memset(memory, 0, bytes);
    }
    return memory;
}

void uvea_mem_free(void *memory)
{
    free(memory);
}

void uvea_mem_wipe(void *memory, size_t bytes)
{
    if (bytes > 0) {
        explicit_bzero(memory, bytes);
    }
}
