#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/net/mesh_impl.h"

#include <string.h>

struct uvea_mesh_config uvea_mesh_config_default(struct uvea_party party)
{
    return (struct uvea_mesh_config){
        .party = party,
        .identity = {"alice", "bob", "charlie"},
        .session_count = 1,
        .connection_count = 1,
        .value_bytes_max = UVEA_VALUE_BYTES_MAX_DEFAULT,
        .queue_bytes_max = (size_t)256 << 20,
        .handshake_ns_max = 5 * UVEA_SECOND,
        .start_jitter_ns_max = 3 * UVEA_SECOND,
        .retry_delay_ns = 2 * UVEA_SECOND,
        .connect_ns_max = 60 * UVEA_SECOND,
        .recv_ns_max = 10 * UVEA_SECOND,
        .drain_ns_max = UVEA_SECOND,
    };
}

uint32_t uvea_mesh_first_id_after(uint32_t first_id, uint32_t session_count)
{
    uint32_t next;
    if (__builtin_add_overflow(first_id, session_count, &next)) {
        next = UINT32_MAX;
    }
    return next >= UINT32_MAX - session_count ? 0 : next;
}

// ---- configuration

static enum uvea_error check_identity(const char *identity, unsigned index,
                                      struct uvea_error_context *context)
{
    size_t bytes = identity == NULL ? 0 : strnlen(identity, UVEA_IDENTITY_BYTES_MAX + 1);
    if (bytes == 0 || bytes > UVEA_IDENTITY_BYTES_MAX || !uvea_identity_valid(identity, bytes)) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "mesh: identity of party %u: not 1 to %d bytes of UTF-8", index,
                              UVEA_IDENTITY_BYTES_MAX);
    }
    return UVEA_OK;
}

static enum uvea_error check_parties(const struct uvea_mesh_config *config,
                                     struct uvea_error_context *context)
{
    unsigned own = config->party.index;
    if (own >= UVEA_PARTY_COUNT) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "mesh: party %u is not 0, 1 or 2", own);
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        UVEA_TRY(check_identity(config->identity[i], i, context));
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        unsigned j = (i + 1) % UVEA_PARTY_COUNT;
        if (strcmp(config->identity[i], config->identity[j]) == 0) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "mesh: parties %u and %u have the same identity", i, j);
        }
        if (i != own && config->dial_address[i] == NULL &&
            strcmp(config->identity[own], config->identity[i]) > 0) {
            return uvea_error_set(context, UVEA_ERR_USAGE, "mesh: no address to dial party %u at",
                                  i);
        }
    }
    return config->listen_address != NULL
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_USAGE, "mesh: no address to listen at");
}

static enum uvea_error check_sizes(const struct uvea_mesh_config *config,
                                   struct uvea_error_context *context)
{
    if (config->session_count == 0 || config->session_count > UVEA_MESH_SESSION_COUNT_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "mesh: %u sessions; 1 to %d are possible",
                              config->session_count, UVEA_MESH_SESSION_COUNT_MAX);
    }
    if (config->connection_count == 0 ||
        config->connection_count > UVEA_MESH_CONNECTION_COUNT_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "mesh: %u connections; 1 to %d are possible",
                              config->connection_count, UVEA_MESH_CONNECTION_COUNT_MAX);
    }
    size_t most = (size_t)UINT32_MAX;
    if (config->value_bytes_max < UVEA_VALUE_FIXED_BYTES_MAX || config->value_bytes_max > most) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "mesh: values of up to %zu bytes; %d to %zu are possible",
                              config->value_bytes_max, UVEA_VALUE_FIXED_BYTES_MAX, most);
    }
    size_t least =
        config->value_bytes_max + UVEA_FRAME_SESSION_BYTES + UVEA_MESH_FRAME_OVERHEAD_BYTES;
    if (config->queue_bytes_max < least) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "mesh: a queue of %zu bytes does not hold one value; %zu are needed",
                              config->queue_bytes_max, least);
    }
    return UVEA_OK;
}

// ---- open and close

static enum uvea_error start(struct uvea_mesh *mesh)
{
    struct uvea_rt *rt = mesh->rt;
    size_t arrivals_max = UVEA_MESH_PENDING_MAX + (size_t)UVEA_PEER_COUNT * mesh->connection_count;
    UVEA_TRY(uvea_rt_channel_open(rt, UVEA_MESH_PENDING_MAX, &mesh->done));
    UVEA_TRY(uvea_rt_channel_open(rt, arrivals_max, &mesh->arrivals));
    UVEA_TRY(uvea_rt_channel_open(rt, 1, &mesh->stop));
    UVEA_TRY(uvea_rt_listen(rt, mesh->config.listen_address, &mesh->listener));
    return uvea_rt_spawn(rt, "net accept", uvea_mesh_accept_task, mesh, &mesh->acceptor);
}

enum uvea_error uvea_mesh_open(struct uvea_rt *rt, const struct uvea_mesh_config *config,
                               struct uvea_mesh **mesh, struct uvea_error_context *context)
{
    UVEA_TRY(check_parties(config, context));
    UVEA_TRY(check_sizes(config, context));
    struct uvea_mesh *opened = uvea_mem_alloc(1, sizeof(*opened));
    if (opened == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "mesh: out of memory");
    }
    opened->rt = rt;
    opened->config = *config;
    opened->connection_count = config->connection_count < config->session_count
                                   ? config->connection_count
                                   : config->session_count;
    enum uvea_error error = UVEA_ERR_MEMORY;
    opened->pending = uvea_mem_alloc(UVEA_MESH_PENDING_MAX, sizeof(struct uvea_pending));
    if (opened->pending != NULL) {
        error = start(opened);
    }
    if (error != UVEA_OK) {
        uvea_mesh_close(opened);
        return uvea_error_set(context, error, "mesh: listening at %s: %s", config->listen_address,
                              uvea_error_text(error));
    }
    *mesh = opened;
    return UVEA_OK;
}

void uvea_mesh_shut(struct uvea_mesh *mesh)
{
    atomic_store(&mesh->stopping, true);
    if (mesh->stop != NULL) {
        uvea_rt_channel_shut(mesh->rt, mesh->stop);
    }
    if (mesh->arrivals != NULL) {
        uvea_rt_channel_shut(mesh->rt, mesh->arrivals);
    }
    if (mesh->listener != NULL) {
        uvea_rt_listener_shut(mesh->rt, mesh->listener);
    }
}

void uvea_mesh_close(struct uvea_mesh *mesh)
{
    if (mesh == NULL) {
        return;
    }
    uvea_mesh_disconnect(mesh);
    uvea_mesh_shut(mesh);
    if (mesh->acceptor != NULL) {
        uvea_rt_join(mesh->rt, mesh->acceptor);
    }
    uvea_rt_listener_close(mesh->rt, mesh->listener);
    if (mesh->arrivals != NULL) {
        uvea_mesh_drop_arrivals(mesh);
    }
    uvea_rt_channel_close(mesh->rt, mesh->arrivals);
    uvea_rt_channel_close(mesh->rt, mesh->done);
    uvea_rt_channel_close(mesh->rt, mesh->stop);
    uvea_mem_free(mesh->pending);
    uvea_mem_free(mesh);
}

// ---- generations

static enum uvea_error send_position(struct uvea_mesh *mesh, struct uvea_link *link,
                                     enum uvea_peer peer, const uint8_t *key,
                                     struct uvea_error_context *context)
{
    struct uvea_buf *frame;
    enum uvea_error error = uvea_link_begin(link, peer, &frame);
    if (error == UVEA_OK) {
        error = uvea_value_append_prf_key(frame, key);
    }
    if (error == UVEA_OK) {
        error = uvea_link_end(link, peer);
    }
    if (error == UVEA_OK) {
        return UVEA_OK;
    }
    enum uvea_error failure = uvea_failure_get(&mesh->failure, context);
    return failure != UVEA_OK
               ? failure
               : uvea_error_set(context, error, "%s: validating a session: %s",
                                uvea_mesh_peer_name(mesh, peer), uvea_error_text(error));
}

static enum uvea_error recv_position(struct uvea_mesh *mesh, struct uvea_link *link,
                                     enum uvea_peer peer, const uint8_t *key,
                                     struct uvea_error_context *context)
{
    struct uvea_value value;
    UVEA_TRY(uvea_link_recv(link, peer, &value, context));
    uint8_t received[UVEA_PRF_KEY_BYTES];
    if (uvea_value_read_prf_key(&value, received, NULL) != UVEA_OK ||
        memcmp(received, key, sizeof(received)) != 0) {
        return uvea_error_set(context, UVEA_ERR_PEER,
                              "%s: a session does not validate: another position was received",
                              uvea_mesh_peer_name(mesh, peer));
    }
    return UVEA_OK;
}

// Position k, to and from both neighbours in ascending order of parties.
static enum uvea_error validate_session(struct uvea_mesh *mesh, uint32_t position,
                                        struct uvea_error_context *context)
{
    struct uvea_link *link = uvea_mesh_link(mesh, position);
    uint8_t key[UVEA_PRF_KEY_BYTES] = {0};
    uvea_store_le64(key, position);
    bool last = mesh->config.party.index == UVEA_PARTY_COUNT - 1;
    bool first = mesh->config.party.index == 0;
    // 0: 1 then 2; 1: 0 then 2; 2: 0 then 1.
    enum uvea_peer low = first || last ? UVEA_PEER_NEXT : UVEA_PEER_PREV;
    const enum uvea_peer order[UVEA_PEER_COUNT] = {low, low == UVEA_PEER_NEXT ? UVEA_PEER_PREV
                                                                              : UVEA_PEER_NEXT};
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        UVEA_TRY(send_position(mesh, link, order[i], key, context));
    }
    for (size_t i = 0; i < UVEA_PEER_COUNT; i++) {
        UVEA_TRY(recv_position(mesh, link, order[i], key, context));
    }
    return UVEA_OK;
}

static enum uvea_error validate(struct uvea_mesh *mesh, struct uvea_error_context *context)
{
    for (uint32_t k = 0; k < mesh->config.session_count; k++) {
        if (atomic_load(&mesh->stopping)) {
            return uvea_error_set(context, UVEA_ERR_CLOSED,
                                  "validating sessions: the mesh has been shut");
        }
        UVEA_TRY(validate_session(mesh, k, context));
    }
    atomic_store(&mesh->generation->validating, false);
    return UVEA_OK;
}

// A neighbour is ahead: the next attempt begins where it is.
static void adopt_first_id(struct uvea_mesh *mesh)
{
    uint32_t seen = atomic_load(&mesh->seen_first_id);
    if (seen > mesh->first_id && seen < UINT32_MAX - mesh->config.session_count) {
        mesh->first_id = seen;
    }
}

static enum uvea_error open_generation(struct uvea_mesh *mesh, struct uvea_error_context *context)
{
    size_t count = (size_t)UVEA_PEER_COUNT * mesh->connection_count;
    struct uvea_stream **streams = uvea_mem_alloc(count, sizeof(struct uvea_stream *));
    if (streams == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "connecting: out of memory");
    }
    enum uvea_error error = uvea_mesh_gather(mesh, mesh->connection_count, streams, context);
    if (error == UVEA_OK) {
        error = uvea_generation_open(mesh, streams, &mesh->generation);
        if (error != UVEA_OK) {
            error = uvea_error_set(context, error, "connecting: setting up: %s",
                                   uvea_error_text(error));
        }
    }
    uvea_mem_free(streams);
    return error;
}

enum uvea_error uvea_mesh_connect(struct uvea_mesh *mesh, struct uvea_error_context *context)
{
    UVEA_CHECK(mesh->generation == NULL);
    atomic_store(&mesh->failure.state, UVEA_FAILURE_NONE);
    atomic_store(&mesh->seen_first_id, mesh->first_id);
    enum uvea_error error = open_generation(mesh, context);
    if (error == UVEA_OK) {
        error = validate(mesh, context);
    }
    if (error != UVEA_OK) {
        uvea_generation_close(mesh->generation);
        mesh->generation = NULL;
        adopt_first_id(mesh);
        return error;
    }
    return UVEA_OK;
}

void uvea_mesh_disconnect(struct uvea_mesh *mesh)
{
    if (mesh->generation != NULL) {
        uvea_generation_close(mesh->generation);
        mesh->generation = NULL;
        mesh->first_id = uvea_mesh_first_id_after(mesh->first_id, mesh->config.session_count);
    }
}

void uvea_mesh_abort(struct uvea_mesh *mesh, enum uvea_error error, const char *reason)
{
    UVEA_CHECK(mesh->generation != NULL && error != UVEA_OK);
    uvea_generation_fail(mesh->generation, error, reason);
}

enum uvea_error uvea_mesh_failure(const struct uvea_mesh *mesh, struct uvea_error_context *context)
{
    return uvea_failure_get(&mesh->failure, context);
}

uint32_t uvea_mesh_session_count(const struct uvea_mesh *mesh)
{
    return mesh->config.session_count;
}

uint32_t uvea_mesh_session_id(const struct uvea_mesh *mesh, uint32_t position)
{
    UVEA_CHECK(mesh->generation != NULL && position < mesh->config.session_count);
    return mesh->generation->first_id + position;
}

struct uvea_link *uvea_mesh_link(struct uvea_mesh *mesh, uint32_t position)
{
    UVEA_CHECK(mesh->generation != NULL && position < mesh->config.session_count);
    return &mesh->generation->links[position].link;
}

struct uvea_mesh_counters uvea_mesh_counters(const struct uvea_mesh *mesh)
{
    return (struct uvea_mesh_counters){
        .bytes_sent = atomic_load(&mesh->bytes_sent),
        .bytes_received = atomic_load(&mesh->bytes_received),
        .frames_dropped = atomic_load(&mesh->frames_dropped),
        .refused = atomic_load(&mesh->refused),
        .waited_ns = atomic_load(&mesh->waited_ns),
    };
}

uint64_t uvea_mesh_bytes_sent(const struct uvea_mesh *mesh)
{
    return atomic_load(&mesh->bytes_sent);
}
