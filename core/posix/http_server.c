// The HTTP server's own thread: takes connections, ends those that are late, and keeps their
// number.
#include "core/base/mem.h"
#include "core/posix/http_state.h"

#include <stdio.h>
#include <string.h>

enum {
    TICK_NS_MIN = 5 * 1000 * 1000,
    TICK_NS_MAX = 250 * 1000 * 1000,
    TICKS = 8,      // in each of the times that are watched
    CUT_SPARE = 16, // connections that were cut and are not gone yet, beside those allowed
};

// ---- the list

static void list_add(struct uvea_http_server *server, struct uvea_posix_connection *connection)
{
    struct uvea_posix_connection **at = &server->oldest;

    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = connection;
}

static void list_remove(struct uvea_http_server *server,
                        const struct uvea_posix_connection *connection)
{
    struct uvea_posix_connection **at = &server->oldest;

    while (*at != connection) {
        at = &(*at)->next;
    }
    *at = connection->next;
}

// With the lock. Releases those that are over; what it waits for is a thread's very end.
static void reap(struct uvea_http_server *server)
{
    struct uvea_posix_connection **at = &server->oldest;

    while (*at != NULL) {
        struct uvea_posix_connection *connection = *at;
        if (!connection->finished || connection->exchanges > 0) {
            at = &connection->next;
            continue;
        }
        *at = connection->next;
        (void)pthread_join(connection->thread, NULL);
        uvea_mem_free(connection);
    }
}

// With the lock; those that somebody has ended count as well when all is true.
static size_t count(const struct uvea_http_server *server, bool all)
{
    size_t n = 0;

    for (const struct uvea_posix_connection *c = server->oldest; c != NULL; c = c->next) {
        n += all || (!c->ending && !c->finished);
    }
    return n;
}

// ---- one more

// Who gives way first when there are too many.
enum rank {
    UNPROVED, // the oldest
    IDLE,     // a client that has asked for nothing, for longest
    SLOW,     // a client whose request is not whole, or its answer not taken, for longest
    STAYS,    // a party, and whoever waits for an answer to be made
};

static enum rank rank_of(const struct uvea_posix_connection *c)
{
    if (c->ending || c->finished || (c->proved && (c->of_party || c->in_work))) {
        return STAYS;
    }
    return !c->proved ? UNPROVED : c->begun || c->answering ? SLOW : IDLE;
}

// With the lock. NULL when all stay.
static struct uvea_posix_connection *first_to_give_way(const struct uvea_http_server *server)
{
    struct uvea_posix_connection *first = NULL;
    enum rank least = STAYS;

    for (struct uvea_posix_connection *c = server->oldest; c != NULL; c = c->next) {
        const enum rank rank = rank_of(c);
        if (rank < least ||
            (first != NULL && rank == least && rank != UNPROVED && c->since_ns < first->since_ns)) {
            first = c;
            least = rank;
        }
    }
    return first;
}

// Ends one when there are too many. False when all stay.
static bool make_room(struct uvea_http_server *server)
{
    struct uvea_posix_connection *late = NULL;
    bool proved = false;

    (void)pthread_mutex_lock(&server->lock);
    const bool full = count(server, false) >= server->posix->config.http_connections_max;
    if (full) {
        late = first_to_give_way(server);
    }
    if (late != NULL) {
        late->ending = true; // and so it stays in the list until it is told
        proved = late->proved;
    }
    (void)pthread_mutex_unlock(&server->lock);
    if (late == NULL) {
        return !full;
    }
    uvea_posix_connection_refuse(late, "gave way to a newer connection %s",
                                 proved ? "while it was idle or slow" : "before it proved itself");
    (void)pthread_mutex_lock(&server->lock);
    uvea_posix_connection_cut(late);
    (void)pthread_mutex_unlock(&server->lock);
    return true;
}

// With the lock. Those that were ended gently and are not done after that time.
static void cut_ended(struct uvea_http_server *server, uint64_t patience_ns)
{
    const uint64_t now_ns = uvea_posix_now_ns();

    for (struct uvea_posix_connection *c = server->oldest; c != NULL; c = c->next) {
        if (c->ended_ns != 0 && !c->finished && now_ns - c->ended_ns >= patience_ns) {
            uvea_posix_connection_cut(c);
        }
    }
}

// Those that were cut end at once, but by threads of their own.
static void wait_for_cuts(struct uvea_http_server *server)
{
    const size_t all_max = (size_t)server->posix->config.http_connections_max + CUT_SPARE;

    (void)pthread_mutex_lock(&server->lock);
    reap(server);
    while (count(server, true) > all_max && !server->closing) {
        cut_ended(server, 0);
        (void)uvea_posix_cond_wait(&server->changed, &server->lock,
                                   uvea_posix_now_ns() + TICK_NS_MAX);
        reap(server);
    }
    (void)pthread_mutex_unlock(&server->lock);
}

static void admit(struct uvea_http_server *server, struct uvea_posix_socket *socket,
                  const char peer[UVEA_POSIX_ADDRESS_BYTES])
{
    struct uvea_posix_connection *connection = uvea_mem_alloc(1, sizeof(*connection));

    if (connection == NULL) {
        struct uvea_posix_connection nobody = {.server = server};
        (void)memcpy(nobody.peer, peer, sizeof(nobody.peer));
        uvea_posix_connection_refuse(&nobody, "no memory to serve it");
        uvea_posix_socket_close(socket);
        return;
    }
    *connection = (struct uvea_posix_connection){
        .server = server, .socket = socket, .pair_fd = -1, .number = ++server->taken};
    (void)memcpy(connection->peer, peer, sizeof(connection->peer));
    if (!make_room(server)) {
        uvea_posix_connection_refuse(connection, "there are %u connections, as many as may be",
                                     (unsigned)server->posix->config.http_connections_max);
        uvea_posix_socket_close(socket);
        uvea_mem_free(connection);
        return;
    }
    wait_for_cuts(server);
    (void)pthread_mutex_lock(&server->lock);
    list_add(server, connection);
    (void)pthread_mutex_unlock(&server->lock);
    if (uvea_posix_connection_start(connection) != UVEA_OK) {
        uvea_posix_connection_refuse(connection, "no memory or thread to serve it");
        (void)pthread_mutex_lock(&server->lock);
        list_remove(server, connection);
        (void)pthread_mutex_unlock(&server->lock);
        uvea_mem_free(connection);
    }
}

// ---- those that are late

// With the lock. One whose request, or the taking of whose answer, is overdue; or NULL.
static struct uvea_posix_connection *late_one(struct uvea_http_server *server)
{
    const uint64_t idle_ns = server->posix->config.http_idle_ns_max;
    const uint64_t now_ns = uvea_posix_now_ns();
    struct uvea_posix_connection *c = server->oldest;

    while (c != NULL && (c->pair_fd < 0 || c->in_work || c->ending || c->finished ||
                         now_ns - c->since_ns < idle_ns)) {
        c = c->next;
    }
    return c;
}

static void end_late_ones(struct uvea_http_server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    reap(server);
    cut_ended(server, server->posix->config.drain_ns_max);
    struct uvea_posix_connection *late = late_one(server);
    while (late != NULL) {
        const bool amiss = late->begun || !late->proved;
        const bool answering = late->answering;
        late->ending = true;
        (void)pthread_mutex_unlock(&server->lock);
        if (amiss) {
            uvea_posix_connection_refuse_late(late, answering ? "its answer was not taken"
                                                              : "no whole request");
        }
        (void)pthread_mutex_lock(&server->lock);
        uvea_posix_connection_end(late);
        late = late_one(server);
    }
    (void)pthread_mutex_unlock(&server->lock);
}

// ---- the thread

// Once for each time that no connection can be taken, however long it lasts.
static void tell_hindered(struct uvea_http_server *server, enum uvea_error error)
{
    const struct uvea_posix_config *config = &server->posix->config;
    struct uvea_error_context why;

    (void)atomic_fetch_add(&server->posix->tally.http_refused, 1);
    if (error == UVEA_ERR_LIMIT) {
        (void)snprintf(why.text, sizeof(why.text), "no descriptor left to take a connection");
    } else {
        (void)snprintf(why.text, sizeof(why.text), "a connection cannot be taken: %s",
                       uvea_error_text(error));
    }
    if (config->refused != NULL) {
        config->refused(config->arg, &why);
    }
}

// What it lacks comes back when a connection ends, or from elsewhere.
static void wait_to_retry(struct uvea_http_server *server, uint64_t for_ns)
{
    (void)pthread_mutex_lock(&server->lock);
    (void)uvea_posix_cond_wait(&server->changed, &server->lock, uvea_posix_now_ns() + for_ns);
    (void)pthread_mutex_unlock(&server->lock);
}

static void *take_connections(void *arg)
{
    struct uvea_http_server *server = arg;
    const uint64_t fine_ns = server->posix->config.http_idle_ns_max / TICKS;
    const uint64_t tick_ns = fine_ns < TICK_NS_MIN   ? TICK_NS_MIN
                             : fine_ns > TICK_NS_MAX ? TICK_NS_MAX
                                                     : fine_ns;
    enum uvea_error error = UVEA_OK;
    bool hindered = false;

    while (error != UVEA_ERR_CLOSED) {
        struct uvea_posix_socket *socket = NULL;
        char peer[UVEA_POSIX_ADDRESS_BYTES];
        error = uvea_posix_listener_accept(server->listener, &socket, peer,
                                           uvea_posix_now_ns() + tick_ns);
        const bool before = hindered;
        hindered = error != UVEA_OK && error != UVEA_ERR_TIMEOUT && error != UVEA_ERR_CLOSED;
        if (error == UVEA_OK) {
            admit(server, socket, peer);
        } else if (hindered) {
            if (!before) {
                tell_hindered(server, error);
            }
            wait_to_retry(server, tick_ns);
        }
        end_late_ones(server);
    }
    return NULL;
}

// ---- opening and closing

// What was made of it; no thread of it runs.
static void release(struct uvea_http_server *server)
{
    if (server->daemon != NULL) {
        MHD_stop_daemon(server->daemon);
    }
    uvea_posix_listener_close(server->listener);
    (void)pthread_cond_destroy(&server->changed);
    (void)pthread_mutex_destroy(&server->lock);
    uvea_mem_free(server);
}

enum uvea_error uvea_posix_op_http_serve(struct uvea_rt *rt, const char *address,
                                         uvea_http_handler_fn *handler, void *arg,
                                         struct uvea_http_server **server)
{
    struct uvea_http_server *made = uvea_mem_alloc(1, sizeof(*made));

    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->posix = uvea_posix_of(rt);
    made->handler = handler;
    made->arg = arg;
    enum uvea_error error = uvea_posix_cond_init(&made->changed);
    if (error != UVEA_OK) {
        uvea_mem_free(made);
        return error;
    }
    (void)pthread_mutex_init(&made->lock, NULL);
    UVEA_TRY_CLEANUP(uvea_posix_listener_open(made->posix, address, &made->listener));
    made->daemon = uvea_posix_http_daemon(made);
    error = made->daemon != NULL ? UVEA_OK : UVEA_ERR_MEMORY;
    if (error == UVEA_OK) {
        error = uvea_posix_thread_start(&made->thread, take_connections, made);
    }
    if (error == UVEA_OK) {
        *server = made;
        return UVEA_OK;
    }
cleanup:
    release(made);
    return error;
}

// With the lock. An answer that is being made is waited for.
static void end_all(struct uvea_http_server *server)
{
    for (struct uvea_posix_connection *c = server->oldest; c != NULL; c = c->next) {
        if (!c->in_work && !c->finished && !c->ending) {
            uvea_posix_connection_end(c);
        }
    }
}

// Each has the drain's time to leave, from when its answer was made.
static void end_connections(struct uvea_http_server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    while (server->oldest != NULL) {
        end_all(server);
        cut_ended(server, server->posix->config.drain_ns_max);
        (void)uvea_posix_cond_wait(&server->changed, &server->lock,
                                   uvea_posix_now_ns() + TICK_NS_MIN);
        reap(server);
    }
    (void)pthread_mutex_unlock(&server->lock);
}

void uvea_posix_op_http_close(struct uvea_rt *rt, struct uvea_http_server *server)
{
    (void)rt;
    (void)pthread_mutex_lock(&server->lock);
    server->closing = true;
    (void)pthread_mutex_unlock(&server->lock);
    uvea_posix_listener_shut(server->listener);
    (void)pthread_join(server->thread, NULL);
    uvea_posix_listener_close(server->listener); // who waits to be taken learns it now
    server->listener = NULL;
    end_connections(server);
    release(server);
}
