#include "core/mpc/scratch.h"

#include "core/base/mem.h"

#include <stdint.h>
#include <string.h>

enum {
    ALIGN = 64,
    BLOCK_BYTES_MIN = 1 << 16,
};

struct uvea_scratch_block {
    struct uvea_scratch_block *next;
    size_t capacity;
    uint8_t *bytes;
};

static void block_free(struct uvea_scratch_block *block)
{
    if (block == NULL) {
        return;
    }
    if (block->bytes != NULL) {
        uvea_mem_wipe(block->bytes, block->capacity);
    }
    uvea_mem_free(block->bytes);
    uvea_mem_free(block);
}

static struct uvea_scratch_block *block_new(size_t capacity)
{
    struct uvea_scratch_block *block = uvea_mem_alloc(1, sizeof(*block));
    if (block == NULL) {
        return NULL;
    }
    block->capacity = capacity;
    block->bytes = uvea_mem_alloc(capacity, 1);
    if (block->bytes == NULL) {
        block_free(block);
        return NULL;
    }
    return block;
}

static struct uvea_scratch_block **next_of(struct uvea_scratch *scratch)
{
    return scratch->current == NULL ? &scratch->first : &scratch->current->next;
}

// Makes a block with room for `bytes` current. Blocks above the current one hold nothing, so one
// that is too small is replaced by a larger one.
static enum uvea_error advance(struct uvea_scratch *scratch, size_t bytes)
{
    struct uvea_scratch_block **link = next_of(scratch);
    while (*link != NULL && (*link)->capacity < bytes) {
        struct uvea_scratch_block *small = *link;
        *link = small->next;
        block_free(small);
    }
    if (*link == NULL) {
        size_t least = scratch->current == NULL ? BLOCK_BYTES_MIN : 2 * scratch->current->capacity;
        *link = block_new(bytes > least ? bytes : least);
        if (*link == NULL) {
            return UVEA_ERR_MEMORY;
        }
    }
    scratch->current = *link;
    scratch->used = 0;
    return UVEA_OK;
}

void *uvea_scratch_take(struct uvea_scratch *scratch, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        return NULL;
    }
    bytes = (bytes + ALIGN) & ~(size_t)(ALIGN - 1);
    if (scratch->current == NULL || scratch->current->capacity - scratch->used < bytes) {
        if (advance(scratch, bytes) != UVEA_OK) {
            return NULL;
        }
    }
    void *taken = scratch->current->bytes + scratch->used;
    scratch->used += bytes;
    memset(taken, 0, bytes);
    return taken;
}

void uvea_scratch_deinit(struct uvea_scratch *scratch)
{
    while (scratch->first != NULL) {
        struct uvea_scratch_block *block = scratch->first;
        scratch->first = block->next;
        block_free(block);
    }
    *scratch = (struct uvea_scratch){0};
}
