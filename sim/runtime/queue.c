#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/runtime/state.h"

#include <string.h>

enum uvea_error uvea_sim_queue_reserve(struct uvea_sim_queue *queue, size_t events)
{
    if (queue->reserved + events > queue->capacity) {
        size_t capacity = 2 * (queue->reserved + events) + 64;
        struct uvea_sim_queue_entry *heap = uvea_mem_alloc(capacity, sizeof(*heap));
        if (heap == NULL) {
            return UVEA_ERR_MEMORY;
        }
        if (queue->count > 0) {
            memcpy(heap, queue->heap, queue->count * sizeof(*heap));
        }
        uvea_mem_free(queue->heap);
        queue->heap = heap;
        queue->capacity = capacity;
    }
    queue->reserved += events;
    return UVEA_OK;
}

void uvea_sim_queue_release(struct uvea_sim_queue *queue, size_t events)
{
    UVEA_CHECK(queue->reserved >= events && queue->reserved - events >= queue->count);
    queue->reserved -= events;
}

void uvea_sim_queue_deinit(struct uvea_sim_queue *queue)
{
    uvea_mem_free(queue->heap);
    *queue = (struct uvea_sim_queue){0};
}

static bool earlier(const struct uvea_sim_queue_entry *a, const struct uvea_sim_queue_entry *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->sequence < b->sequence;
}

static void put(struct uvea_sim_queue *queue, size_t index, struct uvea_sim_queue_entry entry)
{
    queue->heap[index] = entry;
    entry.event->place = index + 1;
}

static void sift_up(struct uvea_sim_queue *queue, size_t index, struct uvea_sim_queue_entry entry)
{
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (!earlier(&entry, &queue->heap[parent])) {
            break;
        }
        put(queue, index, queue->heap[parent]);
        index = parent;
    }
    put(queue, index, entry);
}

static void sift_down(struct uvea_sim_queue *queue, size_t index, struct uvea_sim_queue_entry entry)
{
    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= queue->count) {
            break;
        }
        if (child + 1 < queue->count && earlier(&queue->heap[child + 1], &queue->heap[child])) {
            child++;
        }
        if (!earlier(&queue->heap[child], &entry)) {
            break;
        }
        put(queue, index, queue->heap[child]);
        index = child;
    }
    put(queue, index, entry);
}

void uvea_sim_queue_cancel(struct uvea_sim_queue *queue, struct uvea_sim_event *event)
{
    if (event->place == 0) {
        return;
    }
    size_t index = event->place - 1;
    event->place = 0;
    struct uvea_sim_queue_entry last = queue->heap[--queue->count];
    if (index == queue->count) {
        return;
    }
    if (index > 0 && earlier(&last, &queue->heap[(index - 1) / 2])) {
        sift_up(queue, index, last);
    } else {
        sift_down(queue, index, last);
    }
}

void uvea_sim_queue_schedule(struct uvea_sim_queue *queue, struct uvea_sim_event *event,
                             uint64_t time_ns)
{
    uvea_sim_queue_cancel(queue, event);
    UVEA_CHECK(queue->count < queue->reserved);
    struct uvea_sim_queue_entry entry = {time_ns, queue->sequence++, event};
    sift_up(queue, queue->count++, entry);
}

uint64_t uvea_sim_queue_next_ns(const struct uvea_sim_queue *queue)
{
    return queue->count == 0 ? UVEA_NEVER : queue->heap[0].time_ns;
}

struct uvea_sim_event *uvea_sim_queue_pop(struct uvea_sim_queue *queue)
{
    UVEA_CHECK(queue->count > 0);
    struct uvea_sim_event *event = queue->heap[0].event;
    uvea_sim_queue_cancel(queue, event);
    return event;
}
