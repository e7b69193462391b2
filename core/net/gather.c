// Gathering the connections of a generation: dialling the neighbours with a smaller identity,
// waiting for those with a greater one, until every connection stands or the time is over.
//
// What belongs together is told by an attempt number: a stream that was agreed on for an earlier
// attempt is closed, never used. A second stream for the same connection replaces the first, whose
// dialler must have given it up.
#include "core/base/mem.h"
#include "core/net/mesh_impl.h"

#include <stdio.h>
#include <string.h>

struct dialler {
    struct uvea_mesh *mesh;
    struct uvea_channel *stop; // shut when the attempt is over
    uint64_t deadline_ns;
    uint32_t attempt;
    enum uvea_peer side;
    uint32_t connection_id;
    struct uvea_task *task;
    enum uvea_error error; // of the last try
    struct uvea_error_context context;
};

struct gathering {
    struct uvea_mesh *mesh;
    uint32_t ids;
    uint32_t attempt;
    uint64_t deadline_ns;
    struct uvea_stream **streams;
    struct uvea_channel *stop;
    struct dialler *diallers; // [side * ids + id]; task is NULL where the neighbour dials
    struct dialler *gave_up;  // met what no second try can cure
};

static const char *peer_identity(const struct uvea_mesh *mesh, enum uvea_peer side)
{
    return mesh->config.identity[uvea_party_peer(mesh->config.party, side).index];
}

bool uvea_mesh_dials(const struct uvea_mesh *mesh, enum uvea_peer side)
{
    return strcmp(mesh->config.identity[mesh->config.party.index], peer_identity(mesh, side)) > 0;
}

const char *uvea_mesh_peer_name(const struct uvea_mesh *mesh, enum uvea_peer side)
{
    static const char *const names[UVEA_PARTY_COUNT] = {"party 0", "party 1", "party 2"};
    return names[uvea_party_peer(mesh->config.party, side).index];
}

enum uvea_error uvea_mesh_prove(struct uvea_mesh *mesh, struct uvea_stream *stream,
                                enum uvea_peer side, struct uvea_error_context *context)
{
    struct uvea_party peer = uvea_party_peer(mesh->config.party, side);
    enum uvea_error error = uvea_rt_stream_prove(mesh->rt, stream, peer);
    return error == UVEA_OK ? UVEA_OK
                            : uvea_error_set(context, error, "its certificate is not that of %s",
                                             uvea_mesh_peer_name(mesh, side));
}

void uvea_mesh_add_reason(struct uvea_mesh *mesh, struct uvea_stream *stream,
                          struct uvea_error_context *context)
{
    struct uvea_error_context reason;
    uvea_rt_stream_reason(mesh->rt, stream, &reason);
    size_t len = strlen(context->text);
    if (reason.text[0] != '\0') {
        (void)snprintf(context->text + len, sizeof(context->text) - len, " (%s)", reason.text);
    }
}

enum uvea_error uvea_mesh_deliver(struct uvea_mesh *mesh, struct uvea_arrival what,
                                  uint64_t deadline_ns)
{
    enum uvea_error error = UVEA_ERR_MEMORY;
    struct uvea_arrival *arrival = uvea_mem_alloc(1, sizeof(*arrival));
    if (arrival != NULL) {
        *arrival = what;
        error = uvea_rt_channel_send(mesh->rt, mesh->arrivals, arrival, deadline_ns);
    }
    if (error != UVEA_OK) {
        uvea_rt_stream_close(mesh->rt, what.stream);
        uvea_mem_free(arrival);
    }
    return error;
}

void uvea_mesh_drop_arrivals(struct uvea_mesh *mesh)
{
    void *item;
    while (uvea_rt_channel_recv(mesh->rt, mesh->arrivals, &item, 0) == UVEA_OK) {
        struct uvea_arrival *arrival = item;
        uvea_rt_stream_close(mesh->rt, arrival->stream);
        uvea_mem_free(arrival);
    }
}

// ---- dialling

// (blocks) Sleeps unless the attempt ends. False: it has.
static bool pause(struct dialler *dialler, uint64_t delay_ns)
{
    void *nothing;
    struct uvea_rt *rt = dialler->mesh->rt;
    return uvea_rt_channel_recv(rt, dialler->stop, &nothing, uvea_rt_deadline_ns(rt, delay_ns)) ==
           UVEA_ERR_TIMEOUT;
}

static enum uvea_error dial_once(struct dialler *dialler)
{
    struct uvea_mesh *mesh = dialler->mesh;
    struct uvea_rt *rt = mesh->rt;
    uint64_t deadline_ns = uvea_rt_deadline_ns(rt, mesh->config.handshake_ns_max);
    deadline_ns = deadline_ns < dialler->deadline_ns ? deadline_ns : dialler->deadline_ns;
    const char *address =
        mesh->config.dial_address[uvea_party_peer(mesh->config.party, dialler->side).index];
    struct uvea_stream *stream;
    enum uvea_error error = uvea_rt_dial(rt, address, &stream, deadline_ns);
    if (error != UVEA_OK) {
        return uvea_error_set(&dialler->context, error, "dialling %s: %s", address,
                              uvea_error_text(error));
    }
    error = uvea_handshake_dial(rt, stream, mesh->config.identity[mesh->config.party.index],
                                dialler->connection_id, deadline_ns, &dialler->context);
    if (error == UVEA_OK) {
        error = uvea_mesh_prove(mesh, stream, dialler->side, &dialler->context);
    }
    if (error != UVEA_OK) {
        uvea_mesh_add_reason(mesh, stream, &dialler->context);
        uvea_rt_stream_close(rt, stream);
        return error;
    }
    struct uvea_arrival arrival = {.stream = stream,
                                   .attempt = dialler->attempt,
                                   .side = dialler->side,
                                   .connection_id = dialler->connection_id};
    return uvea_mesh_deliver(mesh, arrival, dialler->deadline_ns);
}

// What no second try can cure. Tells the gathering task, which gives up.
static bool fatal(struct dialler *dialler)
{
    if (dialler->error != UVEA_ERR_USAGE && dialler->error != UVEA_ERR_MEMORY) {
        return false;
    }
    struct uvea_arrival arrival = {.attempt = dialler->attempt,
                                   .side = dialler->side,
                                   .connection_id = dialler->connection_id};
    enum uvea_error ignored = uvea_mesh_deliver(dialler->mesh, arrival, dialler->deadline_ns);
    (void)ignored; // then the deadline ends the attempt
    return true;
}

static void dial_task(void *arg)
{
    struct dialler *dialler = arg;
    struct uvea_mesh *mesh = dialler->mesh;
    uint8_t random[sizeof(uint64_t)];
    dialler->error = uvea_rt_entropy(mesh->rt, random, sizeof(random));
    if (dialler->error != UVEA_OK) {
        dialler->error = uvea_error_set(&dialler->context, dialler->error, "drawing the delay: %s",
                                        uvea_error_text(dialler->error));
        return;
    }
    uint64_t jitter_ns;
    memcpy(&jitter_ns, random, sizeof(jitter_ns));
    if (mesh->config.start_jitter_ns_max < UINT64_MAX) {
        jitter_ns %= mesh->config.start_jitter_ns_max + 1;
    }
    bool going = pause(dialler, jitter_ns);
    while (going) {
        dialler->error = dial_once(dialler);
        going = dialler->error != UVEA_OK && !fatal(dialler) &&
                pause(dialler, mesh->config.retry_delay_ns);
    }
}

// ---- collecting

static struct dialler *dialler_of(struct gathering *gathering, enum uvea_peer side, uint32_t id)
{
    return &gathering->diallers[(size_t)side * gathering->ids + id];
}

static void prepare_diallers(struct gathering *gathering)
{
    for (unsigned side = 0; side < UVEA_PEER_COUNT; side++) {
        for (uint32_t id = 0; id < gathering->ids; id++) {
            *dialler_of(gathering, side, id) =
                (struct dialler){.mesh = gathering->mesh,
                                 .stop = gathering->stop,
                                 .deadline_ns = gathering->deadline_ns,
                                 .attempt = gathering->attempt,
                                 .side = side,
                                 .connection_id = id};
        }
    }
}

static enum uvea_error start_diallers(struct gathering *gathering)
{
    struct uvea_mesh *mesh = gathering->mesh;
    for (size_t i = 0; i < (size_t)UVEA_PEER_COUNT * gathering->ids; i++) {
        struct dialler *dialler = &gathering->diallers[i];
        if (uvea_mesh_dials(mesh, dialler->side)) {
            UVEA_TRY(uvea_rt_spawn(mesh->rt, "net dial", dial_task, dialler, &dialler->task));
        }
    }
    return UVEA_OK;
}

static void stop_diallers(struct gathering *gathering)
{
    struct uvea_rt *rt = gathering->mesh->rt;
    uvea_rt_channel_shut(rt, gathering->stop);
    for (size_t i = 0; i < (size_t)UVEA_PEER_COUNT * gathering->ids; i++) {
        if (gathering->diallers[i].task != NULL) {
            uvea_rt_join(rt, gathering->diallers[i].task);
            gathering->diallers[i].task = NULL;
        }
    }
}

// The connection to blame: the one that cannot be dialled, or else the first that is missing.
static struct dialler *culprit(struct gathering *gathering)
{
    if (gathering->gave_up != NULL) {
        return gathering->gave_up;
    }
    size_t i = 0;
    while (i + 1 < (size_t)UVEA_PEER_COUNT * gathering->ids && gathering->streams[i] != NULL) {
        i++;
    }
    return &gathering->diallers[i];
}

static enum uvea_error name_culprit(struct gathering *gathering, enum uvea_error error,
                                    struct uvea_error_context *context)
{
    const struct dialler *dialler = culprit(gathering);
    const char *cause = dialler->context.text;
    if (cause[0] == '\0') {
        cause = uvea_mesh_dials(gathering->mesh, dialler->side) ? "it was not dialled yet"
                                                                : "it did not call";
    }
    return uvea_error_set(context, error, "could not connect to %s, connection %u: %s: %.300s",
                          uvea_mesh_peer_name(gathering->mesh, dialler->side),
                          dialler->connection_id, uvea_error_text(error), cause);
}

// Takes one arrival. *filled: a connection that was missing now stands. Fails when a dialler gave
// up.
static enum uvea_error collect(struct gathering *gathering, struct uvea_arrival arrival,
                               bool *filled)
{
    struct uvea_rt *rt = gathering->mesh->rt;
    *filled = false;
    if (arrival.attempt != gathering->attempt || arrival.connection_id >= gathering->ids) {
        uvea_rt_stream_close(rt, arrival.stream);
        return UVEA_OK;
    }
    if (arrival.stream == NULL) {
        gathering->gave_up = dialler_of(gathering, arrival.side, arrival.connection_id);
        return gathering->gave_up->error;
    }
    struct uvea_stream **slot =
        &gathering->streams[(size_t)arrival.side * gathering->ids + arrival.connection_id];
    *filled = *slot == NULL;
    uvea_rt_stream_close(rt, *slot);
    *slot = arrival.stream;
    return UVEA_OK;
}

static enum uvea_error collect_all(struct gathering *gathering)
{
    struct uvea_mesh *mesh = gathering->mesh;
    size_t missing = (size_t)UVEA_PEER_COUNT * gathering->ids;
    while (missing > 0) {
        void *item;
        UVEA_TRY(uvea_rt_channel_recv(mesh->rt, mesh->arrivals, &item, gathering->deadline_ns));
        struct uvea_arrival arrival = *(struct uvea_arrival *)item;
        uvea_mem_free(item);
        bool filled;
        UVEA_TRY(collect(gathering, arrival, &filled));
        missing -= filled ? 1 : 0;
    }
    return UVEA_OK;
}

static enum uvea_error run(struct gathering *gathering, struct uvea_error_context *context)
{
    struct uvea_mesh *mesh = gathering->mesh;
    uvea_mesh_drop_arrivals(mesh);
    prepare_diallers(gathering);
    atomic_store(&mesh->wanted, (uint64_t)gathering->attempt << 32 | gathering->ids);
    enum uvea_error error = start_diallers(gathering);
    if (error == UVEA_OK) {
        error = collect_all(gathering);
    }
    atomic_store(&mesh->wanted, 0);
    stop_diallers(gathering);
    uvea_mesh_drop_arrivals(mesh);
    if (error == UVEA_OK) {
        return UVEA_OK;
    }
    error = name_culprit(gathering, error, context);
    for (size_t i = 0; i < (size_t)UVEA_PEER_COUNT * gathering->ids; i++) {
        uvea_rt_stream_close(mesh->rt, gathering->streams[i]);
        gathering->streams[i] = NULL;
    }
    return error;
}

enum uvea_error uvea_mesh_gather(struct uvea_mesh *mesh, uint32_t ids, struct uvea_stream **streams,
                                 struct uvea_error_context *context)
{
    if (atomic_load(&mesh->stopping)) {
        return uvea_error_set(context, UVEA_ERR_CLOSED, "connecting: the mesh has been shut");
    }
    size_t count = (size_t)UVEA_PEER_COUNT * ids;
    memset(streams, 0, count * sizeof(struct uvea_stream *));
    struct gathering gathering = {
        .mesh = mesh,
        .ids = ids,
        .attempt = ++mesh->attempt,
        .deadline_ns = uvea_rt_deadline_ns(mesh->rt, mesh->config.connect_ns_max),
        .streams = streams,
        .diallers = uvea_mem_alloc(count, sizeof(struct dialler)),
    };
    if (gathering.diallers == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "connecting: out of memory");
    }
    enum uvea_error error = uvea_rt_channel_open(mesh->rt, 1, &gathering.stop);
    if (error == UVEA_OK) {
        error = run(&gathering, context);
    } else {
        error = uvea_error_set(context, error, "connecting: %s", uvea_error_text(error));
    }
    uvea_rt_channel_close(mesh->rt, gathering.stop);
    uvea_mem_free(gathering.diallers);
    return error;
}
