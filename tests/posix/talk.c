#include "tests/posix/talk.h"

#include "core/base/check.h"
#include "core/mpc/session.h"
#include "core/wire/value.h"

#include <stdio.h>

static uint8_t said(unsigned from, uint32_t position, size_t at)
{
    return (uint8_t)((from + 1) * 2654435761u + position * 40503u + at * 97u + (at >> 8));
}

static bool send_one(struct uvea_mesh *mesh, struct uvea_party party, uint32_t position,
                     enum uvea_peer peer, size_t bytes)
{
    struct uvea_link *link = uvea_mesh_link(mesh, position);
    struct uvea_buf content = {0};
    uint8_t *at = uvea_buf_extend(&content, bytes);
    UVEA_CHECK(at != NULL);
    for (size_t i = 0; i < bytes; i++) {
        at[i] = said(party.index, position, i);
    }
    struct uvea_buf *frame;
    bool good = uvea_link_begin(link, peer, &frame) == UVEA_OK &&
                uvea_value_append_bytes(frame, content.data, bytes) == UVEA_OK &&
                uvea_link_end(link, peer) == UVEA_OK;
    uvea_buf_deinit(&content);
    return good;
}

static bool expect_one(struct uvea_mesh *mesh, struct uvea_party party, uint32_t position,
                       enum uvea_peer peer, size_t bytes)
{
    struct uvea_error_context context = {{0}};
    struct uvea_value value;
    unsigned from = uvea_party_peer(party, peer).index;
    if (uvea_link_recv(uvea_mesh_link(mesh, position), peer, &value, &context) != UVEA_OK) {
        (void)fprintf(stderr, "party %u: %s\n", party.index, context.text);
        return false;
    }
    bool same = value.kind == UVEA_VALUE_BYTES && value.body_bytes == bytes;
    for (size_t i = 0; same && i < bytes; i++) {
        same = value.body[i] == said(from, position, i);
    }
    return same;
}

bool talk_once(struct uvea_mesh *mesh, struct uvea_party party, uint32_t position, size_t bytes)
{
    return send_one(mesh, party, position, UVEA_PEER_NEXT, bytes) &&
           send_one(mesh, party, position, UVEA_PEER_PREV, bytes) &&
           expect_one(mesh, party, position, UVEA_PEER_PREV, bytes) &&
           expect_one(mesh, party, position, UVEA_PEER_NEXT, bytes);
}

static bool compute(struct uvea_rt *rt, struct uvea_mesh *mesh, struct uvea_party party,
                    uint32_t position)
{
    struct uvea_session session;
    uint8_t seed[UVEA_PRF_SEED_BYTES];
    enum uvea_error error =
        uvea_session_init(&session, rt, uvea_mesh_link(mesh, position), party,
                          uvea_mesh_session_id(mesh, position), UVEA_PRF_AES128);
    if (error == UVEA_OK) {
        error = uvea_session_shared_seed(&session, seed);
    }
    if (error == UVEA_OK) {
        error = uvea_session_check_drift(&session);
    }
    if (error == UVEA_OK) {
        error = uvea_session_check_state(&session, 7, position);
    }
    uvea_session_deinit(&session);
    return error == UVEA_OK;
}

bool talk(struct uvea_rt *rt, struct uvea_mesh *mesh, struct uvea_party party)
{
    static const size_t lengths[] = {0, 1, 31, 32768, 3, 400000, 5};
    bool good = true;
    for (uint32_t position = 0; good && position < uvea_mesh_session_count(mesh); position++) {
        for (size_t i = 0; good && i < UVEA_COUNT_OF(lengths); i++) {
            good = talk_once(mesh, party, position, lengths[i]);
        }
        good = good && compute(rt, mesh, party, position);
    }
    return good;
}
