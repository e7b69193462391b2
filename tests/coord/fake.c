#include "tests/coord/fake.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <string.h>

static struct fake *of(struct uvea_rt *rt)
{
    return (struct fake *)rt;
}

static uint64_t fake_now(struct uvea_rt *rt)
{
    return of(rt)->now_ns;
}

static void stop_when_due(struct fake *fake)
{
    if (fake->stop_after != NULL && fake->now_ns >= fake->stop_at_ns) {
        uvea_coord_stop(fake->stop_after, UVEA_ERR_CLOSED, "asked to by the test");
    }
}

static enum uvea_error fake_sleep_until(struct uvea_rt *rt, uint64_t deadline_ns)
{
    struct fake *fake = of(rt);
    UVEA_CHECK(fake->locks_held == 0 && deadline_ns != UVEA_NEVER);
    fake->sleeps++;
    if (deadline_ns > fake->now_ns) {
        const uint64_t slept = deadline_ns - fake->now_ns;
        fake->longest_sleep_ns = slept > fake->longest_sleep_ns ? slept : fake->longest_sleep_ns;
        fake->now_ns = deadline_ns;
    }
    stop_when_due(fake);
    return UVEA_OK;
}

static enum uvea_error fake_entropy(struct uvea_rt *rt, uint8_t *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        of(rt)->drawn =
            of(rt)->drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        out[i] = (uint8_t)(of(rt)->drawn >> 56);
    }
    return UVEA_OK;
}

struct uvea_lock {
    bool held;
};

static enum uvea_error fake_lock_open(struct uvea_rt *rt, struct uvea_lock **lock)
{
    *lock = uvea_mem_alloc(1, sizeof(**lock));
    UVEA_CHECK(*lock != NULL);
    of(rt)->locks_open++;
    return UVEA_OK;
}

static void fake_lock_take(struct uvea_rt *rt, struct uvea_lock *lock)
{
    UVEA_CHECK(!lock->held);
    lock->held = true;
    of(rt)->locks_held++;
}

static void fake_lock_release(struct uvea_rt *rt, struct uvea_lock *lock)
{
    UVEA_CHECK(lock->held);
    lock->held = false;
    of(rt)->locks_held--;
}

static void fake_lock_close(struct uvea_rt *rt, struct uvea_lock *lock)
{
    if (lock != NULL) {
        UVEA_CHECK(!lock->held);
        of(rt)->locks_open--;
        uvea_mem_free(lock);
    }
}

static enum uvea_error fake_http_call(struct uvea_rt *rt, const char *address,
                                      const struct uvea_http_request *request,
                                      struct uvea_http_response *response, uint64_t deadline_ns)
{
    struct fake *fake = of(rt);
    UVEA_CHECK(fake->locks_held == 0 && deadline_ns != UVEA_NEVER);
    UVEA_CHECK(strcmp(request->method, "GET") == 0 && request->body_bytes == 0);
    fake->requests++;
    enum uvea_error error =
        fake->peer(fake, (unsigned)(address[0] - '0'), request->target, response);
    if (fake->now_ns > deadline_ns) {
        fake->now_ns = deadline_ns;
        uvea_http_response_deinit(response);
        error = UVEA_ERR_TIMEOUT;
    }
    stop_when_due(fake);
    return error;
}

static const struct uvea_rt_ops ops = {
    .now_ns = fake_now,
    .sleep_until = fake_sleep_until,
    .entropy = fake_entropy,
    .lock_open = fake_lock_open,
    .lock_take = fake_lock_take,
    .lock_release = fake_lock_release,
    .lock_close = fake_lock_close,
    .http_call = fake_http_call,
};

void fake_init(struct fake *fake, fake_peer_fn *peer, void *arg)
{
    *fake = (struct fake){.rt = {&ops}, .now_ns = 1000 * UVEA_SECOND, .peer = peer, .arg = arg};
}

struct uvea_coord_link fake_link(struct fake *fake)
{
    struct uvea_coord_link link = {
        .rt = &fake->rt,
        .party = uvea_party_at(0),
        .addresses = {"0", "1", "2"},
        .timing = uvea_coord_timing_default(),
    };
    UVEA_CHECK(uvea_coord_open(&fake->rt, link.party, "image", &link.coord) == UVEA_OK);
    return link;
}

void fake_link_close(struct uvea_coord_link *link)
{
    struct fake *fake = (struct fake *)link->rt;
    uvea_coord_close(link->coord);
    UVEA_CHECK(fake->locks_open == 0 && fake->locks_held == 0);
}

void fake_answer(struct uvea_http_response *response, unsigned status, const char *body)
{
    response->status = status;
    UVEA_CHECK(uvea_buf_append(&response->body, body, strlen(body)) == UVEA_OK);
}
