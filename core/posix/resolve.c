// Names to addresses. The system's resolver knows no deadline, so names are looked up by a thread
// that may be left behind; numbers need none.
#include "core/base/mem.h"
#include "core/posix/state.h"

#include <netdb.h>
#include <sys/socket.h>

enum { LOOKUPS_MAX = 16 }; // of the process, at once

static atomic_uint lookups;

struct lookup {
    struct uvea_posix_address address;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t changed;
    unsigned holders; // the last one releases it
    bool done;
    int result;
    struct addrinfo *list;
};

static int look_up(const struct uvea_posix_address *address, int flags, struct addrinfo **list)
{
    struct addrinfo wanted = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};
    return getaddrinfo(address->host, address->port, &wanted, list);
}

static enum uvea_error meaning(int result)
{
    return result == 0 ? UVEA_OK : result == EAI_MEMORY ? UVEA_ERR_MEMORY : UVEA_ERR_NOT_FOUND;
}

// With the lock, which it gives back.
static void let_go(struct lookup *lookup)
{
    bool last = --lookup->holders == 0;
    (void)pthread_mutex_unlock(&lookup->lock);
    if (last) {
        if (lookup->list != NULL) {
            freeaddrinfo(lookup->list);
        }
        (void)pthread_cond_destroy(&lookup->changed);
        (void)pthread_mutex_destroy(&lookup->lock);
        uvea_mem_free(lookup);
    }
}

static void *look_up_task(void *arg)
{
    struct lookup *lookup = arg;
    struct addrinfo *list = NULL;
    int result = look_up(&lookup->address, 0, &list);
    (void)atomic_fetch_sub(&lookups, 1);
    (void)pthread_mutex_lock(&lookup->lock);
    lookup->done = true;
    lookup->result = result;
    lookup->list = result == 0 ? list : NULL;
    (void)pthread_cond_broadcast(&lookup->changed);
    let_go(lookup);
    return NULL;
}

static struct lookup *lookup_make(const struct uvea_posix_address *address)
{
    struct lookup *lookup = uvea_mem_alloc(1, sizeof(*lookup));
    if (lookup == NULL || pthread_mutex_init(&lookup->lock, NULL) != 0) {
        uvea_mem_free(lookup);
        return NULL;
    }
    if (uvea_posix_cond_init(&lookup->changed) != UVEA_OK) {
        (void)pthread_mutex_destroy(&lookup->lock);
        uvea_mem_free(lookup);
        return NULL;
    }
    lookup->address = *address;
    return lookup;
}

// Starts the thread, which holds the lookup as the caller does.
static enum uvea_error lookup_start(struct lookup *lookup)
{
    if (atomic_fetch_add(&lookups, 1) >= LOOKUPS_MAX) {
        (void)atomic_fetch_sub(&lookups, 1);
        return UVEA_ERR_LIMIT;
    }
    pthread_t thread;
    lookup->holders = 2;
    if (pthread_create(&thread, NULL, look_up_task, lookup) != 0) {
        (void)atomic_fetch_sub(&lookups, 1);
        lookup->holders = 1;
        return UVEA_ERR_MEMORY;
    }
    (void)pthread_detach(thread);
    return UVEA_OK;
}

enum uvea_error uvea_posix_resolve(const struct uvea_posix_address *address, struct addrinfo **list,
                                   uint64_t deadline_ns)
{
    if (look_up(address, AI_NUMERICHOST, list) == 0) {
        return UVEA_OK;
    }
    struct lookup *lookup = lookup_make(address);
    if (lookup == NULL) {
        return UVEA_ERR_MEMORY;
    }
    lookup->holders = 1;
    enum uvea_error error = lookup_start(lookup);
    (void)pthread_mutex_lock(&lookup->lock);
    while (error == UVEA_OK && !lookup->done) {
        if (!uvea_posix_cond_wait(&lookup->changed, &lookup->lock, deadline_ns) && !lookup->done) {
            error = UVEA_ERR_TIMEOUT;
        }
    }
    if (error == UVEA_OK) {
        error = meaning(lookup->result);
    }
    if (error == UVEA_OK) {
        *list = lookup->list;
        lookup->list = NULL;
    }
    let_go(lookup);
    return error;
}
