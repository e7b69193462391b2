#include "tests/net/raw_peer.h"

#include "core/base/check.h"
#include "core/base/endian.h"

#include <stdio.h>
#include <string.h>

void raw_peer_open(struct raw_peer *peer, struct trio_party *party)
{
    peer->party = party;
    TRIO_EXPECT(party->trio,
                uvea_rt_listen(party->rt, party->trio->mesh[party->index].listen_address,
                               &peer->listener) == UVEA_OK);
}

static enum uvea_error greet(struct raw_connection *connection)
{
    struct uvea_rt *rt = connection->peer->party->rt;
    struct uvea_stream *stream = connection->stream;
    uint8_t *hello = connection->hello;
    UVEA_TRY(uvea_rt_read_exact(rt, stream, hello, 4, UVEA_NEVER));
    UVEA_TRY(uvea_rt_write(rt, stream, hello, 4, UVEA_NEVER));
    UVEA_TRY(uvea_rt_read_exact(rt, stream, hello + 4, 4, UVEA_NEVER));
    size_t identity_bytes = uvea_load_be32(hello + 4);
    UVEA_CHECK(identity_bytes <= sizeof(connection->hello) - 8);
    UVEA_TRY(uvea_rt_read_exact(rt, stream, hello + 8, identity_bytes, UVEA_NEVER));
    connection->id = uvea_load_be32(hello);
    connection->hello_bytes = 8 + identity_bytes;
    return uvea_rt_write(rt, stream, (const uint8_t *)"2ok", 3, UVEA_NEVER);
}

static enum uvea_error answer(struct raw_connection *connection, const uint8_t *bytes, size_t len,
                              size_t seen)
{
    struct raw_peer *peer = connection->peer;
    struct uvea_rt *rt = peer->party->rt;
    if (peer->echo_bytes == 0) {
        return uvea_rt_write(rt, connection->stream, bytes, len, UVEA_NEVER);
    }
    size_t left = seen < peer->echo_bytes ? peer->echo_bytes - seen : 0;
    size_t echo = len < left ? len : left;
    UVEA_TRY(uvea_rt_write(rt, connection->stream, bytes, echo, UVEA_NEVER));
    if (left > 0 && echo == left) {
        UVEA_TRY(
            uvea_rt_write(rt, connection->stream, peer->attack, peer->attack_bytes, UVEA_NEVER));
        if (peer->end_after_attack) {
            uvea_rt_stream_shut(rt, connection->stream);
        }
    }
    return UVEA_OK;
}

static void connection_task(void *arg)
{
    struct raw_connection *connection = arg;
    struct uvea_rt *rt = connection->peer->party->rt;
    connection->end = greet(connection);
    size_t seen = 0;
    while (connection->end == UVEA_OK) {
        uint8_t bytes[512];
        size_t got;
        connection->end =
            uvea_rt_read(rt, connection->stream, bytes, sizeof(bytes), &got, UVEA_NEVER);
        if (connection->end != UVEA_OK || got == 0) {
            break;
        }
        size_t room = RAW_RECORD_MAX - connection->record_bytes;
        size_t kept = got < room ? got : room;
        memcpy(connection->record + connection->record_bytes, bytes, kept);
        connection->record_bytes += kept;
        connection->end = answer(connection, bytes, got, seen);
        seen += got;
    }
    uvea_rt_stream_shut(rt, connection->stream);
}

void raw_peer_serve(struct raw_peer *peer, unsigned count)
{
    struct uvea_rt *rt = peer->party->rt;
    unsigned first = peer->count;
    UVEA_CHECK(first + count <= RAW_CONNECTIONS_MAX);
    for (unsigned i = first; i < first + count; i++) {
        struct raw_connection *connection = &peer->connections[i];
        connection->peer = peer;
        enum uvea_error error = uvea_rt_accept(rt, peer->listener, &connection->stream, UVEA_NEVER);
        UVEA_CHECK(error == UVEA_OK);
        error = uvea_rt_spawn(rt, "raw", connection_task, connection, &connection->task);
        UVEA_CHECK(error == UVEA_OK);
    }
    peer->count += count;
    for (unsigned i = first; i < first + count; i++) {
        uvea_rt_join(rt, peer->connections[i].task);
        uvea_rt_stream_close(rt, peer->connections[i].stream);
    }
}

void raw_peer_close(struct raw_peer *peer)
{
    uvea_rt_listener_close(peer->party->rt, peer->listener);
}

const struct raw_connection *raw_peer_find(const struct raw_peer *peer, uint32_t id)
{
    for (unsigned i = peer->count; i > 0; i--) {
        if (peer->connections[i - 1].id == id) {
            return &peer->connections[i - 1];
        }
    }
    return NULL;
}
