// Channels and locks.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/posix/state.h"

struct uvea_channel {
    size_t capacity;
    pthread_cond_t not_full;  // or shut
    pthread_cond_t not_empty; // or shut

    pthread_mutex_t lock; // of what follows
    bool shut;
    size_t first;
    size_t count;
    void *items[]; // ring
};

struct uvea_lock {
    pthread_mutex_t mutex;
};

static enum uvea_error init(struct uvea_channel *channel)
{
    if (pthread_mutex_init(&channel->lock, NULL) != 0) {
        return UVEA_ERR_MEMORY;
    }
    if (uvea_posix_cond_init(&channel->not_full) != UVEA_OK) {
        (void)pthread_mutex_destroy(&channel->lock);
        return UVEA_ERR_MEMORY;
    }
    if (uvea_posix_cond_init(&channel->not_empty) != UVEA_OK) {
        (void)pthread_cond_destroy(&channel->not_full);
        (void)pthread_mutex_destroy(&channel->lock);
        return UVEA_ERR_MEMORY;
    }
    return UVEA_OK;
}

enum uvea_error uvea_posix_op_channel_open(struct uvea_rt *rt, size_t capacity,
                                           struct uvea_channel **channel)
{
    (void)rt;
    UVEA_CHECK(capacity >= 1);
    size_t items;
    size_t bytes;
    if (__builtin_mul_overflow(capacity, sizeof(void *), &items) ||
        __builtin_add_overflow(items, sizeof(struct uvea_channel), &bytes)) {
        return UVEA_ERR_MEMORY;
    }
    struct uvea_channel *made = uvea_mem_alloc(1, bytes);
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->capacity = capacity;
    enum uvea_error error = init(made);
    if (error != UVEA_OK) {
        uvea_mem_free(made);
        return error;
    }
    *channel = made;
    return UVEA_OK;
}

enum uvea_error uvea_posix_op_channel_send(struct uvea_rt *rt, struct uvea_channel *channel,
                                           void *item, uint64_t deadline_ns)
{
    (void)rt;
    enum uvea_error error = UVEA_OK;
    (void)pthread_mutex_lock(&channel->lock);
    while (error == UVEA_OK && !channel->shut && channel->count == channel->capacity) {
        if (!uvea_posix_cond_wait(&channel->not_full, &channel->lock, deadline_ns) &&
            channel->count == channel->capacity) {
            error = UVEA_ERR_TIMEOUT;
        }
    }
    if (channel->shut) {
        error = UVEA_ERR_CLOSED;
    }
    if (error == UVEA_OK) {
        channel->items[(channel->first + channel->count) % channel->capacity] = item;
        channel->count++;
        (void)pthread_cond_signal(&channel->not_empty);
    }
    (void)pthread_mutex_unlock(&channel->lock);
    return error;
}

enum uvea_error uvea_posix_op_channel_recv(struct uvea_rt *rt, struct uvea_channel *channel,
                                           void **item, uint64_t deadline_ns)
{
    (void)rt;
    enum uvea_error error = UVEA_OK;
    (void)pthread_mutex_lock(&channel->lock);
    while (error == UVEA_OK && channel->count == 0) {
        if (channel->shut) {
            error = UVEA_ERR_CLOSED;
        } else if (!uvea_posix_cond_wait(&channel->not_empty, &channel->lock, deadline_ns) &&
                   channel->count == 0) {
            error = channel->shut ? UVEA_ERR_CLOSED : UVEA_ERR_TIMEOUT;
        }
    }
    if (error == UVEA_OK) {
        *item = channel->items[channel->first];
        channel->first = (channel->first + 1) % channel->capacity;
        channel->count--;
        (void)pthread_cond_signal(&channel->not_full);
    }
    (void)pthread_mutex_unlock(&channel->lock);
    return error;
}

void uvea_posix_op_channel_shut(struct uvea_rt *rt, struct uvea_channel *channel)
{
    (void)rt;
    (void)pthread_mutex_lock(&channel->lock);
    channel->shut = true;
    (void)pthread_cond_broadcast(&channel->not_full);
    (void)pthread_cond_broadcast(&channel->not_empty);
    (void)pthread_mutex_unlock(&channel->lock);
}

void uvea_posix_op_channel_close(struct uvea_rt *rt, struct uvea_channel *channel)
{
    (void)rt;
    (void)pthread_cond_destroy(&channel->not_full);
    (void)pthread_cond_destroy(&channel->not_empty);
    (void)pthread_mutex_destroy(&channel->lock);
    uvea_mem_free(channel);
}

enum uvea_error uvea_posix_op_lock_open(struct uvea_rt *rt, struct uvea_lock **lock)
{
    (void)rt;
    struct uvea_lock *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL || pthread_mutex_init(&made->mutex, NULL) != 0) {
        uvea_mem_free(made);
        return UVEA_ERR_MEMORY;
    }
    *lock = made;
    return UVEA_OK;
}

void uvea_posix_op_lock_take(struct uvea_rt *rt, struct uvea_lock *lock)
{
    (void)rt;
    UVEA_CHECK(pthread_mutex_lock(&lock->mutex) == 0);
}

void uvea_posix_op_lock_release(struct uvea_rt *rt, struct uvea_lock *lock)
{
    (void)rt;
    UVEA_CHECK(pthread_mutex_unlock(&lock->mutex) == 0);
}

void uvea_posix_op_lock_close(struct uvea_rt *rt, struct uvea_lock *lock)
{
    (void)rt;
    UVEA_CHECK(pthread_mutex_destroy(&lock->mutex) == 0);
    uvea_mem_free(lock);
}
