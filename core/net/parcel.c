#include "core/net/parcel.h"

#include "core/base/mem.h"
#include "core/net/mesh.h"

// The least buffer is 64 bytes, and each of the two allocations is rounded up to 64.
_Static_assert(sizeof(struct uvea_parcel) + 3 * (size_t)64 <= UVEA_MESH_FRAME_OVERHEAD_BYTES,
               "the price of a parcel covers its bookkeeping");

static void parcel_free(struct uvea_parcel *parcel)
{
    // Frames carry seeds.
    uvea_mem_wipe(parcel->bytes.data, parcel->bytes.capacity);
    uvea_buf_deinit(&parcel->bytes);
    uvea_mem_free(parcel);
}

static void parcel_free_all(struct uvea_parcel *first)
{
    while (first != NULL) {
        struct uvea_parcel *next = first->next;
        parcel_free(first);
        first = next;
    }
}

// Prepends; true when the list was empty. The only other operation on a list is to take all of it,
// so a parcel that comes back in the meantime does no harm.
static bool list_add(_Atomic(struct uvea_parcel *) *list, struct uvea_parcel *parcel)
{
    struct uvea_parcel *old = atomic_load_explicit(list, memory_order_relaxed);
    do {
        parcel->next = old;
    } while (!atomic_compare_exchange_weak_explicit(list, &old, parcel, memory_order_release,
                                                    memory_order_relaxed));
    return old == NULL;
}

static struct uvea_parcel *list_take(_Atomic(struct uvea_parcel *) *list)
{
    return atomic_exchange_explicit(list, NULL, memory_order_acquire);
}

struct uvea_parcel *uvea_parcel_take(struct uvea_parcel_pool *pool)
{
    if (pool->spare == NULL) {
        pool->spare = list_take(&pool->returned);
    }
    struct uvea_parcel *parcel = pool->spare;
    if (parcel != NULL) {
        pool->spare = parcel->next;
        (void)atomic_fetch_sub(&pool->count, 1);
        parcel->next = NULL;
        uvea_buf_clear(&parcel->bytes);
        return parcel;
    }
    parcel = uvea_mem_alloc(1, sizeof(*parcel));
    if (parcel != NULL) {
        parcel->home = pool;
    }
    return parcel;
}

void uvea_parcel_give(struct uvea_parcel *parcel)
{
    if (parcel == NULL) {
        return;
    }
    struct uvea_parcel_pool *pool = parcel->home;
    if (atomic_fetch_add(&pool->count, 1) >= UVEA_PARCEL_POOL_MAX) {
        (void)atomic_fetch_sub(&pool->count, 1);
        parcel_free(parcel);
        return;
    }
    (void)list_add(&pool->returned, parcel);
}

void uvea_parcel_pool_deinit(struct uvea_parcel_pool *pool)
{
    parcel_free_all(list_take(&pool->returned));
    parcel_free_all(pool->spare);
    pool->spare = NULL;
}

static size_t price(size_t bytes)
{
    return bytes + UVEA_MESH_FRAME_OVERHEAD_BYTES;
}

bool uvea_budget_take(struct uvea_budget *budget, size_t bytes)
{
    size_t used = atomic_fetch_add(&budget->used, price(bytes));
    if (used > budget->bytes_max || price(bytes) > budget->bytes_max - used) {
        (void)atomic_fetch_sub(&budget->used, price(bytes));
        return false;
    }
    return true;
}

void uvea_budget_give(struct uvea_budget *budget, size_t bytes)
{
    (void)atomic_fetch_sub(&budget->used, price(bytes));
}

enum uvea_error uvea_parcel_queue_init(struct uvea_parcel_queue *queue, struct uvea_rt *rt)
{
    UVEA_TRY(uvea_rt_channel_open(rt, 1, &queue->wake));
    queue->rt = rt;
    return UVEA_OK;
}

void uvea_parcel_queue_deinit(struct uvea_parcel_queue *queue)
{
    parcel_free_all(list_take(&queue->pushed));
    parcel_free_all(queue->ready);
    queue->ready = NULL;
    if (queue->wake != NULL) {
        uvea_rt_channel_close(queue->rt, queue->wake);
        queue->wake = NULL;
    }
}

void uvea_parcel_push(struct uvea_parcel_queue *queue, struct uvea_parcel *parcel)
{
    if (list_add(&queue->pushed, parcel)) {
        // A full channel holds a token already, and a shut one wakes by itself.
        enum uvea_error ignored = uvea_rt_channel_send(queue->rt, queue->wake, queue, 0);
        (void)ignored;
    }
}

struct uvea_parcel *uvea_parcel_try_pop(struct uvea_parcel_queue *queue)
{
    if (queue->ready == NULL) {
        struct uvea_parcel *newest = list_take(&queue->pushed);
        while (newest != NULL) {
            struct uvea_parcel *older = newest->next;
            newest->next = queue->ready;
            queue->ready = newest;
            newest = older;
        }
    }
    struct uvea_parcel *oldest = queue->ready;
    if (oldest != NULL) {
        queue->ready = oldest->next;
        oldest->next = NULL;
    }
    return oldest;
}

enum uvea_error uvea_parcel_pop(struct uvea_parcel_queue *queue, uint64_t deadline_ns,
                                struct uvea_parcel **parcel)
{
    enum uvea_error error = UVEA_OK;
    for (;;) {
        struct uvea_parcel *oldest = uvea_parcel_try_pop(queue);
        if (oldest != NULL) {
            *parcel = oldest;
            return UVEA_OK;
        }
        if (error != UVEA_OK) {
            return error;
        }
        void *token;
        error = uvea_rt_channel_recv(queue->rt, queue->wake, &token, deadline_ns);
    }
}

void uvea_parcel_queue_shut(struct uvea_parcel_queue *queue)
{
    if (queue->wake != NULL) {
        uvea_rt_channel_shut(queue->rt, queue->wake);
    }
}
