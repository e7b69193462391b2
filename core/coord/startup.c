#include "core/coord/wait.h"

#include <stdio.h>

// One wait for one peer, or for both.
struct meeting {
    struct uvea_party peer;
    struct uvea_coord_id boot; // of the incarnation that the last poll spoke with
};

static enum uvea_error anew(struct uvea_error_context *context, struct uvea_party peer,
                            const char *what)
{
    return uvea_error_set(context, UVEA_ERR_RESET, "%s: party %u was started anew meanwhile", what,
                          peer.index);
}

// ---- barrier A

static enum uvea_error remember(struct uvea_wait *wait, struct uvea_party peer,
                                const struct uvea_coord_health *health,
                                struct uvea_error_context *context)
{
    struct uvea_coord *coord = wait->link->coord;

    if (health->ready && !uvea_coord_health_lists(health, uvea_coord_boot_id(coord))) {
        return uvea_error_set(context, UVEA_ERR_RESET,
                              "%s: party %u is ready already and does not know this party: it "
                              "belongs to an older fleet and has to be started anew too",
                              wait->what, peer.index);
    }
    const enum uvea_error error = uvea_coord_verify_peer(coord, peer, health->boot.text);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "%s: party %u: more than %d incarnations of peers",
                              wait->what, peer.index, UVEA_COORD_PEERS_MAX);
    }
    return UVEA_OK;
}

// Hears from the peer and remembers who it is; DONE when it is neither silent nor shutting down.
static enum uvea_error meet_once(struct uvea_wait *wait, struct uvea_party peer,
                                 struct uvea_coord_health *health, enum uvea_poll *poll,
                                 struct uvea_error_context *context)
{
    *poll = UVEA_POLL_SILENT;
    if (!uvea_wait_get_health(wait, peer, health)) {
        return UVEA_OK;
    }
    *poll = UVEA_POLL_BEHIND;
    if (health->shutting_down) {
        uvea_wait_note(wait, "party %u is shutting down", peer.index);
        return UVEA_OK;
    }
    UVEA_TRY(remember(wait, peer, health, context));
    *poll = UVEA_POLL_DONE;
    return UVEA_OK;
}

static enum uvea_error poll_meet(void *arg, struct uvea_wait *wait, enum uvea_poll *poll,
                                 struct uvea_error_context *context)
{
    const struct uvea_party *peer = arg;
    struct uvea_coord_health health = {0};

    return meet_once(wait, *peer, &health, poll, context);
}

static struct uvea_party peer_of(const struct uvea_coord_link *link, enum uvea_peer peer)
{
    return uvea_party_peer(link->party, peer);
}

enum uvea_error uvea_coord_meet(const struct uvea_coord_link *link,
                                struct uvea_error_context *context)
{
    struct uvea_wait wait;

    uvea_wait_init(&wait, link, "hearing from both peers", link->timing.startup_ns, UVEA_NEVER);
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        struct uvea_party peer = peer_of(link, (enum uvea_peer)i);
        UVEA_TRY(uvea_wait_until(&wait, poll_meet, &peer, context));
    }
    return UVEA_OK;
}

// ---- barrier B

static enum uvea_error poll_see_all(void *arg, struct uvea_wait *wait, enum uvea_poll *poll,
                                    struct uvea_error_context *context)
{
    const char *own = uvea_coord_boot_id(wait->link->coord);
    struct uvea_coord_health health[UVEA_PEER_COUNT] = {0};

    (void)arg;
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        UVEA_TRY(
            meet_once(wait, peer_of(wait->link, (enum uvea_peer)i), &health[i], poll, context));
        if (*poll != UVEA_POLL_DONE) {
            return UVEA_OK;
        }
    }
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        const unsigned index = peer_of(wait->link, (enum uvea_peer)i).index;
        const bool knows_us = uvea_coord_health_lists(&health[i], own);
        if (!knows_us || !uvea_coord_health_lists(&health[i], health[1 - i].boot.text)) {
            uvea_wait_note(wait, "party %u has not yet heard from party %u", index,
                           knows_us ? peer_of(wait->link, (enum uvea_peer)(1 - i)).index
                                    : wait->link->party.index);
            *poll = UVEA_POLL_BEHIND;
            return UVEA_OK;
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_coord_see_all(const struct uvea_coord_link *link,
                                   struct uvea_error_context *context)
{
    struct uvea_wait wait;

    uvea_wait_init(&wait, link, "being known to both peers", link->timing.startup_ns, UVEA_NEVER);
    return uvea_wait_until(&wait, poll_see_all, NULL, context);
}

// ---- exchange of states

struct exchange {
    struct uvea_party peer;
    struct uvea_sync_state *state;
};

static enum uvea_error poll_state(void *arg, struct uvea_wait *wait, enum uvea_poll *poll,
                                  struct uvea_error_context *context)
{
    const struct exchange *exchange = arg;
    struct uvea_http_response response = {0};
    struct uvea_error_context problem = {{0}};

    *poll = UVEA_POLL_SILENT;
    if (!uvea_wait_get(wait, exchange->peer, "/startup-sync", &response)) {
        return UVEA_OK;
    }
    enum uvea_error error = UVEA_OK;
    if (response.status != 200) {
        uvea_wait_note_status(wait, exchange->peer, response.status);
    } else {
        error = uvea_sync_state_decode(response.body.data, response.body.len, exchange->state,
                                       &problem);
        *poll = error == UVEA_OK ? UVEA_POLL_DONE : UVEA_POLL_SILENT;
    }
    uvea_http_response_deinit(&response);
    if (error == UVEA_ERR_MEMORY) {
        return uvea_error_set(context, error, "%s: out of memory", wait->what);
    }
    if (error != UVEA_OK) {
        uvea_wait_note_body(wait, exchange->peer, &problem);
    }
    return UVEA_OK;
}

// A boot id is never used again: when the peer is now who it was when it was met, then the state in
// between came from it too.
static enum uvea_error poll_same(void *arg, struct uvea_wait *wait, enum uvea_poll *poll,
                                 struct uvea_error_context *context)
{
    const struct exchange *exchange = arg;
    struct uvea_coord_health health = {0};

    *poll = UVEA_POLL_SILENT;
    if (!uvea_wait_get_health(wait, exchange->peer, &health)) {
        return UVEA_OK;
    }
    if (!uvea_coord_is_verified(wait->link->coord, exchange->peer, health.boot.text)) {
        return anew(context, exchange->peer, wait->what);
    }
    *poll = UVEA_POLL_DONE;
    return UVEA_OK;
}

enum uvea_error uvea_coord_exchange(const struct uvea_coord_link *link,
                                    struct uvea_sync_state states[UVEA_PARTY_COUNT],
                                    struct uvea_error_context *context)
{
    struct uvea_wait wait;

    uvea_wait_init(&wait, link, "exchanging start-up states", link->timing.startup_ns, UVEA_NEVER);
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        const struct uvea_party peer = peer_of(link, (enum uvea_peer)i);
        struct exchange exchange = {.peer = peer, .state = &states[peer.index]};
        UVEA_TRY(uvea_wait_until(&wait, poll_state, &exchange, context));
        UVEA_TRY(uvea_wait_until(&wait, poll_same, &exchange, context));
    }
    return UVEA_OK;
}

// ---- ready

static enum uvea_error poll_ready(void *arg, struct uvea_wait *wait, enum uvea_poll *poll,
                                  struct uvea_error_context *context)
{
    const struct uvea_party *peer = arg;
    struct uvea_coord_health health = {0};

    *poll = UVEA_POLL_SILENT;
    if (!uvea_wait_get_health(wait, *peer, &health)) {
        return UVEA_OK;
    }
    if (!uvea_coord_is_verified(wait->link->coord, *peer, health.boot.text)) {
        return anew(context, *peer, wait->what);
    }
    if (health.shutting_down) {
        return uvea_error_set(context, UVEA_ERR_CLOSED, "%s: party %u is shutting down", wait->what,
                              peer->index);
    }
    *poll = health.ready ? UVEA_POLL_DONE : UVEA_POLL_BEHIND;
    uvea_wait_note(wait, "party %u is not ready", peer->index);
    return UVEA_OK;
}

enum uvea_error uvea_coord_await_ready(const struct uvea_coord_link *link,
                                       struct uvea_error_context *context)
{
    struct uvea_wait wait;

    uvea_wait_init(&wait, link, "waiting for both peers to be ready", link->timing.startup_ns,
                   UVEA_NEVER);
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        struct uvea_party peer = peer_of(link, (enum uvea_peer)i);
        UVEA_TRY(uvea_wait_until(&wait, poll_ready, &peer, context));
    }
    return UVEA_OK;
}
