#include "core/base/check.h"
#include "core/base/plant.h"
#include "core/coord/wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CONFLICT = 409 }; // the peer is not there yet

static enum uvea_error refuse_conflict(struct uvea_party peer,
                                       const struct uvea_http_response *response,
                                       struct uvea_error_context *context)
{
    if (uvea_plant_active(UVEA_PLANT_FATAL_409) && response->status == CONFLICT) {
        return uvea_error_set(context, UVEA_ERR_PEER, "party %u answered with status %u",
                              peer.index, response->status);
    }
    return UVEA_OK;
}

// ---- size

struct size_poll {
    struct uvea_party peer;
    char target[64];
    uint64_t batch_id;
    uint32_t count;
};

static enum uvea_poll judge_size(struct size_poll *size, struct uvea_wait *wait,
                                 const struct uvea_http_response *response)
{
    struct uvea_error_context problem = {{0}};
    struct uvea_coord_size found = {0};

    if (response->status != 200) {
        uvea_wait_note_status(wait, size->peer, response->status);
        return response->status == CONFLICT ? UVEA_POLL_BEHIND : UVEA_POLL_SILENT;
    }
    if (uvea_coord_size_decode(response->body.data, response->body.len, &found, &problem) !=
        UVEA_OK) {
        uvea_wait_note_body(wait, size->peer, &problem);
        return UVEA_POLL_SILENT;
    }
    if (found.batch_id != size->batch_id) {
        uvea_wait_note(wait, "party %u answered about batch %" PRIu64 " instead of %" PRIu64,
                       size->peer.index, found.batch_id, size->batch_id);
        return UVEA_POLL_BEHIND;
    }
    size->count = found.count;
    return UVEA_POLL_DONE;
}

static enum uvea_error poll_size(void *arg, struct uvea_wait *wait, enum uvea_poll *poll,
                                 struct uvea_error_context *context)
{
    struct size_poll *size = arg;
    struct uvea_http_response response = {0};
    enum uvea_error error = UVEA_OK;

    *poll = UVEA_POLL_SILENT;
    if (uvea_wait_get(wait, size->peer, size->target, &response)) {
        *poll = judge_size(size, wait, &response);
        error = refuse_conflict(size->peer, &response, context);
        uvea_http_response_deinit(&response);
    }
    return error;
}

enum uvea_error uvea_coord_agree_size(const struct uvea_coord_link *link, uint64_t batch_id,
                                      uint32_t available, uint32_t *agreed,
                                      struct uvea_error_context *context)
{
    const uint32_t own = available < UVEA_COORD_ENTRIES_MAX ? available : UVEA_COORD_ENTRIES_MAX;
    uint32_t smallest = uvea_coord_publish_batch(link->coord, batch_id, own);
    char what[64];

    (void)snprintf(what, sizeof(what), "agreeing the size of batch %" PRIu64, batch_id);
    UVEA_TRY(uvea_coord_stopped(link->coord, context));
    for (int i = 0; i < UVEA_PEER_COUNT && smallest > 0; i++) {
        struct size_poll size = {.peer = uvea_party_peer(link->party, (enum uvea_peer)i),
                                 .batch_id = batch_id};
        struct uvea_wait wait;
        (void)snprintf(size.target, sizeof(size.target), "/batch-sync-state?batch_id=%" PRIu64,
                       batch_id);
        uvea_wait_init(&wait, link, what, link->timing.behind_ns, link->timing.silence_ns);
        UVEA_TRY(uvea_wait_until(&wait, poll_size, &size, context));
        smallest = size.count < smallest ? size.count : smallest;
    }
    *agreed = smallest;
    return UVEA_OK;
}

// ---- entries

struct entries_poll {
    struct uvea_party peer;
    const uint8_t *sha;
    struct uvea_coord_entries found;
};

static enum uvea_poll judge_entries(struct entries_poll *entries, struct uvea_wait *wait,
                                    const struct uvea_http_response *response)
{
    struct uvea_error_context problem = {{0}};

    if (response->status != 200) {
        uvea_wait_note_status(wait, entries->peer, response->status);
        return response->status == CONFLICT ? UVEA_POLL_BEHIND : UVEA_POLL_SILENT;
    }
    if (uvea_coord_entries_decode(response->body.data, response->body.len, &entries->found,
                                  &problem) != UVEA_OK) {
        uvea_wait_note_body(wait, entries->peer, &problem);
        return UVEA_POLL_SILENT;
    }
    if (memcmp(entries->found.sha, entries->sha, UVEA_COORD_SHA_BYTES) != 0) {
        uvea_wait_note(wait, "party %u shows the entries of another batch", entries->peer.index);
        return UVEA_POLL_BEHIND;
    }
    return UVEA_POLL_DONE;
}

static enum uvea_error poll_entries(void *arg, struct uvea_wait *wait, enum uvea_poll *poll,
                                    struct uvea_error_context *context)
{
    struct entries_poll *entries = arg;
    struct uvea_http_response response = {0};
    enum uvea_error error = UVEA_OK;

    *poll = UVEA_POLL_SILENT;
    if (uvea_wait_get(wait, entries->peer, "/batch-sync-entries", &response)) {
        *poll = judge_entries(entries, wait, &response);
        error = refuse_conflict(entries->peer, &response, context);
        uvea_http_response_deinit(&response);
    }
    return error;
}

enum uvea_error uvea_coord_agree_entries(const struct uvea_coord_link *link, uint64_t batch_id,
                                         bool *valid, size_t count,
                                         const uint8_t sha[UVEA_COORD_SHA_BYTES],
                                         struct uvea_error_context *context)
{
    bool all[UVEA_COORD_ENTRIES_MAX];
    char what[64];

    UVEA_CHECK(count >= 1 && count <= UVEA_COORD_ENTRIES_MAX);
    memcpy(all, valid, count * sizeof(*valid));
    (void)snprintf(what, sizeof(what), "agreeing the entries of batch %" PRIu64, batch_id);
    uvea_coord_publish_entries(link->coord, valid, count, sha);
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        struct entries_poll entries = {.peer = uvea_party_peer(link->party, (enum uvea_peer)i),
                                       .sha = sha};
        struct uvea_wait wait;
        uvea_wait_init(&wait, link, what, link->timing.behind_ns, link->timing.silence_ns);
        UVEA_TRY(uvea_wait_until(&wait, poll_entries, &entries, context));
        if (entries.found.count != count) {
            return uvea_error_set(context, UVEA_ERR_STATE,
                                  "%s: party %u has %zu entries, this party %zu, under one hash",
                                  what, entries.peer.index, entries.found.count, count);
        }
        for (size_t k = 0; k < count; k++) {
            all[k] = all[k] && entries.found.valid[k];
        }
    }
    memcpy(valid, all, count * sizeof(*valid));
    return UVEA_OK;
}
