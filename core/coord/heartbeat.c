#include "core/base/mem.h"
#include "core/coord/wait.h"

#include <inttypes.h>

struct watch {
    const struct uvea_coord_link *link;
    struct uvea_party peer;
    struct uvea_channel *ending; // shut when the heartbeat is closed; nothing is ever sent
    struct uvea_task *task;
    bool seen;                 // the peer has answered once
    uint32_t failures;         // in a row
    uint64_t useless_until_ns; // how long answers may be of no use
};

struct uvea_heartbeat {
    struct uvea_coord_link link;
    struct uvea_channel *ending;
    struct watch watches[UVEA_PEER_COUNT];
};

// No answer at all counts; one that is no use does not, but may not go on for ever.
static void judge_silence(struct watch *watch, const struct uvea_wait *wait)
{
    const struct uvea_coord_timing *timing = &watch->link->timing;
    struct uvea_coord *coord = watch->link->coord;
    const uint32_t allowed =
        watch->seen ? timing->heartbeat_failures : timing->heartbeat_initial_retries;
    const enum uvea_error error = watch->seen ? UVEA_ERR_CLOSED : UVEA_ERR_TIMEOUT;

    watch->failures = wait->answered ? 0 : watch->failures + 1;
    if (watch->failures >= allowed) {
        uvea_coord_stop(coord, error,
                        "party %u is gone: %u heartbeats without an answer; what came last: %.300s",
                        watch->peer.index, watch->failures, wait->last.text);
    } else if (uvea_rt_now_ns(watch->link->rt) >= watch->useless_until_ns) {
        uvea_coord_stop(coord, error,
                        "party %u is not well: no usable heartbeat for %" PRIu64
                        " s; what came last: %.300s",
                        watch->peer.index, timing->silence_ns / UVEA_SECOND, wait->last.text);
    }
}

static void judge_answer(struct watch *watch, const struct uvea_coord_health *health)
{
    struct uvea_coord *coord = watch->link->coord;

    watch->seen = true;
    watch->failures = 0;
    watch->useless_until_ns = uvea_rt_deadline_ns(watch->link->rt, watch->link->timing.silence_ns);
    if (!uvea_coord_is_verified(coord, watch->peer, health->boot.text)) {
        uvea_coord_stop(coord, UVEA_ERR_RESET,
                        "party %u was started anew; this party has to be too", watch->peer.index);
    } else if (health->shutting_down) {
        uvea_coord_stop(coord, UVEA_ERR_CLOSED, "party %u is shutting down", watch->peer.index);
    }
}

static void watch_task(void *arg)
{
    struct watch *watch = arg;
    struct uvea_rt *rt = watch->link->rt;
    enum uvea_error error = UVEA_ERR_TIMEOUT;

    while (error == UVEA_ERR_TIMEOUT && uvea_coord_stopped(watch->link->coord, NULL) == UVEA_OK) {
        struct uvea_coord_health health = {0};
        struct uvea_wait wait;
        uvea_wait_init(&wait, watch->link, "heartbeat", watch->link->timing.attempt_ns, UVEA_NEVER);
        if (uvea_wait_get_health(&wait, watch->peer, &health)) {
            judge_answer(watch, &health);
        } else {
            judge_silence(watch, &wait);
        }
        void *item;
        error = uvea_rt_channel_recv(rt, watch->ending, &item,
                                     uvea_rt_deadline_ns(rt, watch->link->timing.heartbeat_ns));
    }
}

enum uvea_error uvea_heartbeat_open(const struct uvea_coord_link *link,
                                    struct uvea_heartbeat **heartbeat)
{
    struct uvea_heartbeat *opened = uvea_mem_alloc(1, sizeof(*opened));
    enum uvea_error error;

    if (opened == NULL) {
        return UVEA_ERR_MEMORY;
    }
    opened->link = *link;
    UVEA_TRY_CLEANUP(uvea_rt_channel_open(link->rt, 1, &opened->ending));
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        struct watch *watch = &opened->watches[i];
        watch->link = &opened->link;
        watch->peer = uvea_party_peer(link->party, (enum uvea_peer)i);
        watch->ending = opened->ending;
        watch->useless_until_ns = uvea_rt_deadline_ns(link->rt, link->timing.silence_ns);
        UVEA_TRY_CLEANUP(uvea_rt_spawn(link->rt, "heartbeat", watch_task, watch, &watch->task));
    }
    *heartbeat = opened;

cleanup:
    if (error != UVEA_OK) {
        uvea_heartbeat_close(opened);
    }
    return error;
}

void uvea_heartbeat_close(struct uvea_heartbeat *heartbeat)
{
    if (heartbeat == NULL) {
        return;
    }
    struct uvea_rt *rt = heartbeat->link.rt;
    if (heartbeat->ending != NULL) {
        uvea_rt_channel_shut(rt, heartbeat->ending);
    }
    for (int i = 0; i < UVEA_PEER_COUNT; i++) {
        if (heartbeat->watches[i].task != NULL) {
            uvea_rt_join(rt, heartbeat->watches[i].task);
        }
    }
    uvea_rt_channel_close(rt, heartbeat->ending);
    uvea_mem_free(heartbeat);
}
