#include "core/posix/drain.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/posix/state.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_BYTES = 64 << 10, // forgotten at a time
    CLOSING_LOOK_MS = 10,  // how often it is asked whether all has been acknowledged
};

struct entry {
    int fd;
    uint64_t deadline_ns;
    size_t rest_len;
    uint8_t rest[UVEA_TLS_LAST_BYTES_MAX];
};

struct uvea_posix_drain {
    uint64_t for_ns_max;
    int wake_fd;
    pthread_t thread;
    uint8_t *forgotten; // of the thread

    pthread_mutex_t lock; // of what follows
    bool closing;
    size_t count;
    struct entry entries[UVEA_POSIX_DRAIN_MAX]; // oldest first
};

// With the lock.
static void drop(struct uvea_posix_drain *drain, size_t at)
{
    (void)close(drain->entries[at].fd);
    drain->count--;
    memmove(&drain->entries[at], &drain->entries[at + 1],
            (drain->count - at) * sizeof(drain->entries[0]));
}

void uvea_posix_drain_add(struct uvea_posix_drain *drain, int fd, const uint8_t *rest, size_t len)
{
    UVEA_CHECK(len <= UVEA_TLS_LAST_BYTES_MAX);
    (void)pthread_mutex_lock(&drain->lock);
    if (drain->count == UVEA_POSIX_DRAIN_MAX) {
        drop(drain, 0);
    }
    struct entry *entry = &drain->entries[drain->count++];
    entry->fd = fd;
    entry->deadline_ns = uvea_posix_now_ns() + drain->for_ns_max;
    entry->rest_len = len;
    if (len > 0) {
        memcpy(entry->rest, rest, len);
    }
    (void)pthread_mutex_unlock(&drain->lock);
    uvea_posix_wake(drain->wake_fd);
}

// ---- the thread

// Sends what is left. False: it is broken.
static bool push(struct entry *entry)
{
    if (entry->rest_len == 0) {
        return true;
    }
    ssize_t sent = send(entry->fd, entry->rest, entry->rest_len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    }
    entry->rest_len -= (size_t)sent;
    memmove(entry->rest, entry->rest + sent, entry->rest_len);
    if (entry->rest_len == 0) {
        (void)shutdown(entry->fd, SHUT_WR);
    }
    return true;
}

// Reads what has come. False: the other side has ended, or it is broken.
static bool swallow(struct uvea_posix_drain *drain, const struct entry *entry)
{
    ssize_t got = recv(entry->fd, drain->forgotten, READ_BYTES, MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

// When the runtime closes nobody waits for the other side to end, only for it to have got all.
static bool acknowledged(const struct entry *entry)
{
    int queued = 0;
    return entry->rest_len == 0 && (ioctl(entry->fd, SIOCOUTQ, &queued) != 0 || queued == 0);
}

static bool over(struct uvea_posix_drain *drain, struct entry *entry, uint64_t now_ns)
{
    if (now_ns >= entry->deadline_ns || !push(entry)) {
        return true;
    }
    // An end that comes before the rest is sent does not hinder it.
    return (!swallow(drain, entry) && entry->rest_len == 0) ||
           (drain->closing && acknowledged(entry));
}

// Looks after all of them, and says what to wait for. Gives how many descriptors that is; 0: done.
static size_t look(struct uvea_posix_drain *drain, struct pollfd *fds, int *wait_ms)
{
    uint64_t now_ns = uvea_posix_now_ns();
    uint64_t next_ns = UVEA_NEVER;
    (void)pthread_mutex_lock(&drain->lock);
    for (size_t i = 0; i < drain->count;) {
        if (over(drain, &drain->entries[i], now_ns)) {
            drop(drain, i);
        } else {
            i++;
        }
    }
    for (size_t i = 0; i < drain->count; i++) {
        const struct entry *entry = &drain->entries[i];
        next_ns = entry->deadline_ns < next_ns ? entry->deadline_ns : next_ns;
        fds[1 + i] = (struct pollfd){.fd = entry->fd,
                                     .events = (short)(entry->rest_len > 0 ? POLLOUT : POLLIN)};
    }
    size_t count = drain->count;
    bool closing = drain->closing;
    (void)pthread_mutex_unlock(&drain->lock);
    *wait_ms = -1;
    if (count > 0) {
        uint64_t left_ns = next_ns > now_ns ? next_ns - now_ns : 0;
        *wait_ms = closing ? CLOSING_LOOK_MS : (int)(left_ns / UVEA_MS) + 1;
    }
    return closing && count == 0 ? 0 : count + 1;
}

static void *run(void *arg)
{
    struct uvea_posix_drain *drain = arg;
    struct pollfd fds[1 + UVEA_POSIX_DRAIN_MAX];
    fds[0] = (struct pollfd){.fd = drain->wake_fd, .events = POLLIN};
    int wait_ms;
    for (size_t count = look(drain, fds, &wait_ms); count > 0; count = look(drain, fds, &wait_ms)) {
        (void)poll(fds, count, wait_ms);
        uint64_t ignored;
        ssize_t got = read(drain->wake_fd, &ignored, sizeof(ignored));
        (void)got; // it is readable or it is not
    }
    return NULL;
}

// ---- life

static void release(struct uvea_posix_drain *drain)
{
    if (drain->wake_fd >= 0) {
        (void)close(drain->wake_fd);
    }
    (void)pthread_mutex_destroy(&drain->lock);
    uvea_mem_free(drain->forgotten);
    uvea_mem_free(drain);
}

enum uvea_error uvea_posix_drain_open(uint64_t for_ns_max, struct uvea_posix_drain **drain)
{
    struct uvea_posix_drain *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL || pthread_mutex_init(&made->lock, NULL) != 0) {
        uvea_mem_free(made);
        return UVEA_ERR_MEMORY;
    }
    made->for_ns_max = for_ns_max;
    made->forgotten = uvea_mem_alloc(READ_BYTES, 1);
    made->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made->forgotten == NULL || made->wake_fd < 0 ||
        pthread_create(&made->thread, NULL, run, made) != 0) {
        release(made);
        return UVEA_ERR_MEMORY;
    }
    *drain = made;
    return UVEA_OK;
}

void uvea_posix_drain_close(struct uvea_posix_drain *drain)
{
    if (drain == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&drain->lock);
    drain->closing = true;
    (void)pthread_mutex_unlock(&drain->lock);
    uvea_posix_wake(drain->wake_fd);
    (void)pthread_join(drain->thread, NULL);
    release(drain);
}
