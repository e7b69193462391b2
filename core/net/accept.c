// Accepting: every inbound stream gets a task and a deadline of its own, so that a silent or
// hostile connector costs a slot for a while and nothing else. A stream that is refused is closed
// by its task at once; the task itself is joined before the next stream is taken, and when none
// comes at most the time of a handshake later.
#include "core/net/mesh_impl.h"

#include <string.h>

enum { SHOWN_MAX = 40 }; // of an identity that a stranger chose

static const uint64_t accept_retry_ns = 100 * UVEA_MS;

// The identity as it may stand in a message: printable ASCII, shortened.
static void show_identity(const struct uvea_hello *hello, char out[SHOWN_MAX + 1])
{
    size_t n = hello->identity_bytes < SHOWN_MAX ? hello->identity_bytes : SHOWN_MAX;
    for (size_t i = 0; i < n; i++) {
        char c = hello->identity[i];
        out[i] = (char)(c >= ' ' && c <= '~' ? c : '?');
    }
    out[n] = '\0';
}

static bool names(const struct uvea_hello *hello, const char *identity)
{
    return strlen(identity) == hello->identity_bytes &&
           memcmp(identity, hello->identity, hello->identity_bytes) == 0;
}

// Which neighbour is calling: one that dials this party.
static enum uvea_error find_side(const struct uvea_mesh *mesh, const struct uvea_hello *hello,
                                 enum uvea_peer *side, struct uvea_error_context *context)
{
    char shown[SHOWN_MAX + 1];
    show_identity(hello, shown);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (!names(hello, mesh->config.identity[i])) {
            continue;
        }
        struct uvea_party caller = uvea_party_at(i);
        enum uvea_peer found = uvea_party_side(mesh->config.party, caller);
        if (caller.index == mesh->config.party.index || uvea_mesh_dials(mesh, found)) {
            return uvea_error_set(context, UVEA_ERR_PEER, "\"%s\" does not dial party %u", shown,
                                  mesh->config.party.index);
        }
        *side = found;
        return UVEA_OK;
    }
    return uvea_error_set(context, UVEA_ERR_PEER, "unknown identity \"%s\"", shown);
}

// From a handshake that is under way to what becomes of it: who comes first says. True: the caller.
static bool settle(struct uvea_pending *pending, enum uvea_pending_state state)
{
    enum uvea_pending_state expected = UVEA_PENDING_TALKING;
    return atomic_compare_exchange_strong(&pending->state, &expected, state);
}

// What the accept task ended it for.
static enum uvea_error say_ended(const struct uvea_pending *pending,
                                 struct uvea_error_context *context)
{
    return atomic_load(&pending->state) == UVEA_PENDING_STOPPED
               ? uvea_error_set(context, UVEA_ERR_CLOSED, "handshake: ended, as the mesh stops")
               : uvea_error_set(context, UVEA_ERR_LIMIT,
                                "handshake: ended for a newer one, as %d were under way",
                                UVEA_MESH_PENDING_MAX);
}

static enum uvea_error let_in(struct uvea_pending *pending, const struct uvea_hello *hello,
                              uint64_t deadline_ns, struct uvea_error_context *context)
{
    struct uvea_mesh *mesh = pending->mesh;
    enum uvea_peer side = UVEA_PEER_NEXT;
    UVEA_TRY(find_side(mesh, hello, &side, context));
    UVEA_TRY(uvea_mesh_prove(mesh, pending->stream, side, context));
    uint64_t wanted = atomic_load(&mesh->wanted);
    if (hello->connection_id >= (uint32_t)wanted) {
        return uvea_error_set(context, UVEA_ERR_NOT_FOUND, "%s: connection %u is not waited for",
                              uvea_mesh_peer_name(mesh, side), hello->connection_id);
    }
    enum uvea_error error = uvea_handshake_accept(mesh->rt, pending->stream, deadline_ns);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "%s, connection %u: handshake: letting it in: %s",
                              uvea_mesh_peer_name(mesh, side), hello->connection_id,
                              uvea_error_text(error));
    }
    struct uvea_arrival arrival = {.stream = pending->stream,
                                   .attempt = (uint32_t)(wanted >> 32),
                                   .side = side,
                                   .connection_id = hello->connection_id};
    pending->stream = NULL;
    error = uvea_mesh_deliver(mesh, arrival, deadline_ns);
    return error == UVEA_OK
               ? UVEA_OK
               : uvea_error_set(context, error, "%s, connection %u: nobody collected it",
                                uvea_mesh_peer_name(mesh, side), hello->connection_id);
}

static enum uvea_error talk(struct uvea_pending *pending, struct uvea_error_context *context)
{
    struct uvea_mesh *mesh = pending->mesh;
    uint64_t deadline_ns = uvea_rt_deadline_ns(mesh->rt, mesh->config.handshake_ns_max);
    struct uvea_hello hello;
    enum uvea_error error =
        uvea_handshake_listen(mesh->rt, pending->stream, &hello, deadline_ns, context);
    if (!settle(pending, UVEA_PENDING_DECIDED)) {
        return say_ended(pending, context);
    }
    return error != UVEA_OK ? error : let_in(pending, &hello, deadline_ns, context);
}

static void tell(struct uvea_mesh *mesh, enum uvea_error error,
                 const struct uvea_error_context *context)
{
    (void)atomic_fetch_add(&mesh->refused, 1);
    if (mesh->config.refused != NULL) {
        mesh->config.refused(mesh->config.refused_arg, error, context);
    }
}

// Closes the stream, unless the accept task has ended it: that one may not be through with it.
static void refuse(struct uvea_pending *pending, enum uvea_error error,
                   struct uvea_error_context *context)
{
    struct uvea_mesh *mesh = pending->mesh;
    if (pending->stream != NULL) {
        uvea_mesh_add_reason(mesh, pending->stream, context);
    }
    if (atomic_load(&pending->state) == UVEA_PENDING_DECIDED) {
        uvea_rt_stream_close(mesh->rt, pending->stream);
        pending->stream = NULL;
    }
    tell(mesh, error, context);
}

static void pending_task(void *arg)
{
    struct uvea_pending *pending = arg;
    struct uvea_mesh *mesh = pending->mesh;
    struct uvea_error_context context = {{0}};
    enum uvea_error error = talk(pending, &context);
    if (error != UVEA_OK) {
        refuse(pending, error, &context);
    }
    // There is room for every slot: this neither waits nor fails before the mesh is closed.
    error = uvea_rt_channel_send(mesh->rt, mesh->done, pending, UVEA_NEVER);
    (void)error;
}

static void release(struct uvea_pending *pending)
{
    struct uvea_mesh *mesh = pending->mesh;
    uvea_rt_join(mesh->rt, pending->task);
    uvea_rt_stream_close(mesh->rt, pending->stream);
    *pending = (struct uvea_pending){0};
    mesh->pending_count--;
}

static void release_ended(struct uvea_mesh *mesh)
{
    void *ended;
    while (uvea_rt_channel_recv(mesh->rt, mesh->done, &ended, 0) == UVEA_OK) {
        release(ended);
    }
}

static struct uvea_pending *oldest_talking(struct uvea_mesh *mesh)
{
    struct uvea_pending *oldest = NULL;
    for (size_t i = 0; i < UVEA_MESH_PENDING_MAX; i++) {
        struct uvea_pending *pending = &mesh->pending[i];
        if (pending->order != 0 && atomic_load(&pending->state) == UVEA_PENDING_TALKING &&
            (oldest == NULL || pending->order < oldest->order)) {
            oldest = pending;
        }
    }
    return oldest;
}

// state: why.
static void end_pending(struct uvea_pending *pending, enum uvea_pending_state state)
{
    if (settle(pending, state)) {
        uvea_rt_stream_shut(pending->mesh->rt, pending->stream);
    }
}

static void evict_oldest(struct uvea_mesh *mesh)
{
    struct uvea_pending *oldest = oldest_talking(mesh);
    if (oldest != NULL) {
        end_pending(oldest, UVEA_PENDING_EVICTED);
    }
}

static struct uvea_pending *free_slot(struct uvea_mesh *mesh)
{
    for (size_t i = 0; i < UVEA_MESH_PENDING_MAX; i++) {
        if (mesh->pending[i].order == 0) {
            return &mesh->pending[i];
        }
    }
    return NULL;
}

// (blocks) A free slot, at the price of the oldest handshake when there is none. NULL: stopping.
static struct uvea_pending *take_slot(struct uvea_mesh *mesh)
{
    struct uvea_pending *slot = free_slot(mesh);
    while (slot == NULL) {
        void *ended;
        evict_oldest(mesh);
        if (uvea_rt_channel_recv(mesh->rt, mesh->done, &ended, UVEA_NEVER) != UVEA_OK) {
            return NULL;
        }
        release(ended);
        slot = free_slot(mesh);
    }
    return slot;
}

static void begin_pending(struct uvea_mesh *mesh, struct uvea_pending *slot,
                          struct uvea_stream *stream)
{
    *slot = (struct uvea_pending){.mesh = mesh, .stream = stream, .order = ++mesh->arrivals_count};
    mesh->pending_count++;
    enum uvea_error error =
        uvea_rt_spawn(mesh->rt, "net handshake", pending_task, slot, &slot->task);
    if (error != UVEA_OK) {
        struct uvea_error_context context;
        error = uvea_error_set(&context, error, "handshake: no memory or thread for it");
        (void)settle(slot, UVEA_PENDING_DECIDED);
        refuse(slot, error, &context);
        *slot = (struct uvea_pending){0};
        mesh->pending_count--;
    }
}

// (blocks) TIMEOUT: nobody came, and those that have ended were let go.
static enum uvea_error accept_one(struct uvea_mesh *mesh)
{
    uint64_t deadline_ns = mesh->pending_count == 0
                               ? UVEA_NEVER
                               : uvea_rt_deadline_ns(mesh->rt, mesh->config.handshake_ns_max);
    struct uvea_stream *stream;
    enum uvea_error error = uvea_rt_accept(mesh->rt, mesh->listener, &stream, deadline_ns);
    release_ended(mesh);
    UVEA_TRY(error);
    struct uvea_pending *slot = take_slot(mesh);
    if (slot == NULL) {
        uvea_rt_stream_close(mesh->rt, stream);
        return UVEA_ERR_CLOSED;
    }
    begin_pending(mesh, slot, stream);
    return UVEA_OK;
}

// Once for each time that none can be taken, however long it lasts.
static void tell_hindered(struct uvea_mesh *mesh, enum uvea_error error)
{
    struct uvea_error_context context;
    error = error == UVEA_ERR_LIMIT
                ? uvea_error_set(&context, error, "no descriptor left to take a connection")
                : uvea_error_set(&context, error, "a connection cannot be taken: %s",
                                 uvea_error_text(error));
    tell(mesh, error, &context);
}

// (blocks) A little. False: stopping.
static bool wait_to_retry(struct uvea_mesh *mesh)
{
    void *nothing;
    return uvea_rt_channel_recv(mesh->rt, mesh->stop, &nothing,
                                uvea_rt_deadline_ns(mesh->rt, accept_retry_ns)) == UVEA_ERR_TIMEOUT;
}

static void accept_all(struct uvea_mesh *mesh)
{
    bool hindered = false;
    enum uvea_error error = accept_one(mesh);
    while (error != UVEA_ERR_CLOSED) {
        bool again = error != UVEA_OK && error != UVEA_ERR_TIMEOUT;
        if (again && !hindered) {
            tell_hindered(mesh, error);
        }
        hindered = again;
        error = hindered && !wait_to_retry(mesh) ? UVEA_ERR_CLOSED : accept_one(mesh);
    }
}

void uvea_mesh_accept_task(void *arg)
{
    struct uvea_mesh *mesh = arg;
    accept_all(mesh);
    for (size_t i = 0; i < UVEA_MESH_PENDING_MAX; i++) {
        struct uvea_pending *pending = &mesh->pending[i];
        if (pending->order != 0) {
            end_pending(pending, UVEA_PENDING_STOPPED);
            release(pending);
        }
    }
}
