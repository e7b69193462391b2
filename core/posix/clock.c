// Clocks, sleeping, entropy, and what is only counted.
#include "core/base/check.h"
#include "core/posix/state.h"

#include <errno.h>
#include <limits.h>
#include <openssl/rand.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    UVEA_CHECK(clock_gettime(clock, &now) == 0);
    return (uint64_t)now.tv_sec * UVEA_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t uvea_posix_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

enum uvea_error uvea_posix_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return UVEA_ERR_MEMORY;
    }
    bool good = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(cond, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return good ? UVEA_OK : UVEA_ERR_MEMORY;
}

bool uvea_posix_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline_ns)
{
    if (deadline_ns == UVEA_NEVER) {
        UVEA_CHECK(pthread_cond_wait(cond, lock) == 0);
        return true;
    }
    struct timespec until = {(time_t)(deadline_ns / UVEA_SECOND),
                             (long)(deadline_ns % UVEA_SECOND)};
    int result = pthread_cond_timedwait(cond, lock, &until);
    UVEA_CHECK(result == 0 || result == ETIMEDOUT);
    return result == 0;
}

uint64_t uvea_posix_op_now_ns(struct uvea_rt *rt)
{
    (void)rt;
    return uvea_posix_now_ns();
}

uint64_t uvea_posix_op_wall_ns(struct uvea_rt *rt)
{
    (void)rt;
    return read_clock(CLOCK_REALTIME);
}

enum uvea_error uvea_posix_op_sleep_until(struct uvea_rt *rt, uint64_t deadline_ns)
{
    struct uvea_posix *posix = uvea_posix_of(rt);
    (void)pthread_mutex_lock(&posix->lock);
    while (!posix->stopped && uvea_posix_cond_wait(&posix->woken, &posix->lock, deadline_ns)) {
    }
    bool stopped = posix->stopped;
    (void)pthread_mutex_unlock(&posix->lock);
    return stopped ? UVEA_ERR_CLOSED : UVEA_OK;
}

void uvea_posix_op_charge(struct uvea_rt *rt, enum uvea_charge what, uint64_t units)
{
    (void)atomic_fetch_add_explicit(&uvea_posix_of(rt)->tally.charged[what], units,
                                    memory_order_relaxed);
}

enum uvea_error uvea_posix_op_point(struct uvea_rt *rt, enum uvea_point point)
{
    struct uvea_posix *posix = uvea_posix_of(rt);
    (void)atomic_fetch_add_explicit(&posix->tally.points[point], 1, memory_order_relaxed);
    if (posix->config.point != NULL) {
        posix->config.point(posix->config.arg, point);
    }
    return UVEA_OK;
}

enum uvea_error uvea_posix_op_entropy(struct uvea_rt *rt, uint8_t *out, size_t bytes)
{
    (void)rt;
    while (bytes > 0) {
        size_t part = bytes < INT_MAX ? bytes : INT_MAX;
        if (RAND_priv_bytes(out, (int)part) != 1) {
            return UVEA_ERR_CRYPTO;
        }
        out += part;
        bytes -= part;
    }
    return UVEA_OK;
}
