// The part of the runtime that a store uses: a lock and a wall clock. Any other call crashes.
#ifndef UVEA_TESTS_STORE_FAKE_RT_H
#define UVEA_TESTS_STORE_FAKE_RT_H

#include "core/rt/rt.h"

#include <pthread.h>
#include <stdlib.h>

struct uvea_lock {
    pthread_mutex_t mutex;
};

static inline uint64_t uvea_test_wall_ns(struct uvea_rt *rt)
{
    (void)rt;
    return UINT64_C(1700000000) * UVEA_SECOND;
}

static inline enum uvea_error uvea_test_lock_open(struct uvea_rt *rt, struct uvea_lock **lock)
{
    (void)rt;
    *lock = malloc(sizeof(**lock));
    if (*lock == NULL || pthread_mutex_init(&(*lock)->mutex, NULL) != 0) {
        abort();
    }
    return UVEA_OK;
}

static inline void uvea_test_lock_take(struct uvea_rt *rt, struct uvea_lock *lock)
{
    (void)rt;
    if (pthread_mutex_lock(&lock->mutex) != 0) {
        abort();
    }
}

static inline void uvea_test_lock_release(struct uvea_rt *rt, struct uvea_lock *lock)
{
    (void)rt;
    if (pthread_mutex_unlock(&lock->mutex) != 0) {
        abort();
    }
}

static inline void uvea_test_lock_close(struct uvea_rt *rt, struct uvea_lock *lock)
{
    (void)rt;
    (void)pthread_mutex_destroy(&lock->mutex);
    free(lock);
}

// Has no state: one serves every store of a process.
static inline struct uvea_rt *uvea_test_rt(void)
{
    static const struct uvea_rt_ops ops = {
        .wall_ns = uvea_test_wall_ns,
        .lock_open = uvea_test_lock_open,
        .lock_take = uvea_test_lock_take,
        .lock_release = uvea_test_lock_release,
        .lock_close = uvea_test_lock_close,
    };
    static struct uvea_rt rt = {&ops};
    return &rt;
}

#endif
