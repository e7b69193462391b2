#include "core/coord/wait.h"

#include "core/base/endian.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { STOP_LOOK_MS = 100 };

struct uvea_coord_timing uvea_coord_timing_default(void)
{
    return (struct uvea_coord_timing){
        .lag_ns_min = 5 * UVEA_MS,
        .lag_ns_max = 100 * UVEA_MS,
        .transport_ns = UVEA_SECOND,
        .attempt_ns = 10 * UVEA_SECOND,
        .startup_ns = 300 * UVEA_SECOND,
        .silence_ns = 60 * UVEA_SECOND,
        .behind_ns = 600 * UVEA_SECOND,
        .idle_ns = 20 * UVEA_MS,
        .heartbeat_ns = 2 * UVEA_SECOND,
        .heartbeat_initial_retries = 10,
        .heartbeat_failures = 3,
    };
}

void uvea_wait_init(struct uvea_wait *wait, const struct uvea_coord_link *link, const char *what,
                    uint64_t total_ns, uint64_t silence_ns)
{
    *wait = (struct uvea_wait){
        .link = link,
        .what = what,
        .total_ns = total_ns,
        .silence_ns = silence_ns,
        .deadline_ns = uvea_rt_deadline_ns(link->rt, total_ns),
        .silent_until_ns = uvea_rt_deadline_ns(link->rt, silence_ns),
        .lag_ns = link->timing.lag_ns_min,
        .last = {"nothing yet"},
    };
}

// ---- pauses

// ns, give or take a half, so that parties that failed together do not come back together.
static enum uvea_error vary(struct uvea_rt *rt, uint64_t ns, uint64_t *varied)
{
    uint8_t bytes[4];

    UVEA_TRY(uvea_rt_entropy(rt, bytes, sizeof(bytes)));
    const uint64_t part = uvea_load_le32(bytes);
    *varied = ns / 2 + (ns >> 16) * (part >> 16) + (((ns & 0xffff) * (part >> 16)) >> 16);
    return UVEA_OK;
}

// Looks every 100 ms whether the own party is being stopped.
static enum uvea_error pause_until(const struct uvea_coord_link *link, uint64_t end,
                                   struct uvea_error_context *context)
{
    for (;;) {
        UVEA_TRY(uvea_coord_stopped(link->coord, context));
        const uint64_t now = uvea_rt_now_ns(link->rt);
        if (now >= end) {
            return UVEA_OK;
        }
        const uint64_t left = end - now;
        const enum uvea_error error = uvea_rt_sleep_ns(
            link->rt, left < STOP_LOOK_MS * UVEA_MS ? left : STOP_LOOK_MS * UVEA_MS);
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "pausing: %s", uvea_error_text(error));
        }
    }
}

// In ns, but not beyond the wait's bounds.
static uint64_t earliest(const struct uvea_wait *wait, uint64_t ns)
{
    const uint64_t bound =
        wait->deadline_ns < wait->silent_until_ns ? wait->deadline_ns : wait->silent_until_ns;
    const uint64_t then = uvea_rt_deadline_ns(wait->link->rt, ns);

    return then < bound ? then : bound;
}

static uint64_t whole_seconds(uint64_t ns)
{
    return ns / UVEA_SECOND;
}

static enum uvea_error check_time(const struct uvea_wait *wait, struct uvea_error_context *context)
{
    const uint64_t now = uvea_rt_now_ns(wait->link->rt);

    if (now >= wait->deadline_ns) {
        return uvea_error_set(context, UVEA_ERR_TIMEOUT,
                              "%s: not so after %" PRIu64 " s; what came last: %.300s", wait->what,
                              whole_seconds(wait->total_ns), wait->last.text);
    }
    if (now >= wait->silent_until_ns) {
        return uvea_error_set(context, UVEA_ERR_TIMEOUT,
                              "%s: no usable answer for %" PRIu64 " s; what came last: %.300s",
                              wait->what, whole_seconds(wait->silence_ns), wait->last.text);
    }
    return UVEA_OK;
}

static enum uvea_error pause_after(struct uvea_wait *wait, enum uvea_poll poll,
                                   struct uvea_error_context *context)
{
    const struct uvea_coord_timing *timing = &wait->link->timing;
    struct uvea_rt *rt = wait->link->rt;
    uint64_t pause = timing->transport_ns;

    if (poll == UVEA_POLL_BEHIND) {
        wait->silent_until_ns = uvea_rt_deadline_ns(rt, wait->silence_ns);
        pause = wait->lag_ns;
        wait->lag_ns = 2 * pause < timing->lag_ns_max ? 2 * pause : timing->lag_ns_max;
    } else {
        wait->lag_ns = timing->lag_ns_min;
    }
    UVEA_TRY(check_time(wait, context));
    const enum uvea_error error = vary(rt, pause, &pause);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "%s: %s", wait->what, uvea_error_text(error));
    }
    UVEA_TRY(pause_until(wait->link, earliest(wait, pause), context));
    return check_time(wait, context);
}

enum uvea_error uvea_wait_until(struct uvea_wait *wait, uvea_poll_fn *fn, void *arg,
                                struct uvea_error_context *context)
{
    for (;;) {
        enum uvea_poll poll = UVEA_POLL_SILENT;
        UVEA_TRY(uvea_coord_stopped(wait->link->coord, context));
        UVEA_TRY(fn(arg, wait, &poll, context));
        if (poll == UVEA_POLL_DONE) {
            return UVEA_OK;
        }
        UVEA_TRY(pause_after(wait, poll, context));
    }
}

// ---- requests

void uvea_wait_note(struct uvea_wait *wait, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(wait->last.text, sizeof(wait->last.text), format, args);
    va_end(args);
}

void uvea_wait_note_status(struct uvea_wait *wait, struct uvea_party peer, unsigned status)
{
    uvea_wait_note(wait, "party %u answered with status %u", peer.index, status);
}

void uvea_wait_note_body(struct uvea_wait *wait, struct uvea_party peer,
                         const struct uvea_error_context *problem)
{
    uvea_wait_note(wait, "party %u answered with a body that is no use: %.300s", peer.index,
                   problem->text);
}

bool uvea_wait_get(struct uvea_wait *wait, struct uvea_party peer, const char *target,
                   struct uvea_http_response *response)
{
    const struct uvea_coord_link *link = wait->link;
    const struct uvea_http_request request = {.method = "GET", .target = target};
    const enum uvea_error error =
        uvea_rt_http_call(link->rt, link->addresses[peer.index], &request, response,
                          earliest(wait, link->timing.attempt_ns));
    wait->answered = error == UVEA_OK;
    if (error != UVEA_OK) {
        uvea_wait_note(wait, "GET %s of party %u: %s", target, peer.index, uvea_error_text(error));
    }
    return error == UVEA_OK;
}

bool uvea_wait_get_health(struct uvea_wait *wait, struct uvea_party peer,
                          struct uvea_coord_health *health)
{
    struct uvea_http_response response = {0};
    struct uvea_error_context problem = {{0}};
    bool whole = false;

    if (!uvea_wait_get(wait, peer, "/health", &response)) {
        return false;
    }
    if (response.status != 200) {
        uvea_wait_note_status(wait, peer, response.status);
    } else if (uvea_coord_health_decode(response.body.data, response.body.len, health, &problem) !=
               UVEA_OK) {
        uvea_wait_note_body(wait, peer, &problem);
    } else {
        whole = true;
    }
    uvea_http_response_deinit(&response);
    return whole;
}
