#include "core/daemon/wipe.h"

#include "core/base/mem.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

// What stands before each piece that is handed out; as long as the strictest alignment.
union head {
    size_t bytes; // of the whole, with the head
    max_align_t align;
};

static void *take(size_t bytes)
{
    union head *head =
        bytes <= SIZE_MAX - sizeof(*head) ? uvea_mem_alloc(1, sizeof(*head) + bytes) : NULL;

    if (head == NULL) {
        return NULL;
    }
    head->bytes = sizeof(*head) + bytes;
    return head + 1;
}

static void give_back(void *memory)
{
    union head *head = memory;

    if (head == NULL) {
        return;
    }
    head--;
    uvea_mem_wipe(head, head->bytes);
    uvea_mem_free(head);
}

void uvea_wipe_json(void)
{
    json_set_alloc_funcs(take, give_back);
}
