#include "sim/tls/tls.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/tls/stream.h"
#include "core/tls/tls.h"
#include "sim/runtime/network.h"
#include "sim/tls/entropy.h"
#include "sim/tls/keys.h"

#include <stdio.h>
#include <string.h>

enum { HOST_BYTES = 64 };

struct side;

// A stream under TLS. Callers hold the simulator's stream below it and do not know of this.
struct covered {
    struct side *side;
    struct uvea_stream *stream;
    struct uvea_tls_stream *tls;
    struct covered *next;
};

// A party's runtime, with a few functions put in front of the simulator's.
struct side {
    const struct uvea_sim_tls *owner;
    struct uvea_rt *rt;
    const struct uvea_rt_ops *below;
    struct uvea_rt_ops ops;
    const char *own_address;
    const struct uvea_listener *listener; // the one at own_address, while it is open
    struct uvea_sim_library *library;
    struct uvea_tls *tls;
    struct covered *streams;
};

struct uvea_sim_tls {
    struct uvea_sim_keys keys;
    const char *addresses[UVEA_PARTY_COUNT];
    struct side sides[UVEA_PARTY_COUNT];
};

static struct side *side_of(struct uvea_rt *rt)
{
    return (struct side *)(void *)((char *)(void *)(uintptr_t)rt->ops - offsetof(struct side, ops));
}

static struct covered **find(struct side *side, const struct uvea_stream *stream)
{
    struct covered **at = &side->streams;
    while (*at != NULL && (*at)->stream != stream) {
        at = &(*at)->next;
    }
    return at;
}

// ---- the simulator's stream as what TLS goes over

static enum uvea_error carrier_read(void *arg, uint8_t *out, size_t capacity, size_t *got,
                                    uint64_t deadline_ns)
{
    const struct covered *covered = arg;
    const struct side *side = covered->side;
    return side->below->stream_read(side->rt, covered->stream, out, capacity, got, deadline_ns);
}

static enum uvea_error carrier_write(void *arg, const uint8_t *bytes, size_t len,
                                     uint64_t deadline_ns)
{
    const struct covered *covered = arg;
    const struct side *side = covered->side;
    return side->below->stream_write(side->rt, covered->stream, bytes, len, deadline_ns);
}

static void carrier_shut(void *arg, const uint8_t *last, size_t len)
{
    const struct covered *covered = arg;
    uvea_sim_stream_shut_behind(covered->side->rt, covered->stream, last, len);
}

static void carrier_close(void *arg)
{
    struct covered *covered = arg;
    covered->side->below->stream_close(covered->side->rt, covered->stream);
}

// Takes the stream over, on failure too.
static enum uvea_error cover(struct side *side, struct uvea_stream *stream, const char *host)
{
    struct covered *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        side->below->stream_close(side->rt, stream);
        return UVEA_ERR_MEMORY;
    }
    *made = (struct covered){.side = side, .stream = stream};
    struct uvea_tls_transport transport = {made, carrier_read, carrier_write, carrier_shut,
                                           carrier_close};
    enum uvea_error error = uvea_tls_stream_open(side->rt, side->tls, &transport, host, &made->tls);
    if (error != UVEA_OK) {
        uvea_mem_free(made);
        return error;
    }
    made->next = side->streams;
    side->streams = made;
    return UVEA_OK;
}

// ---- the functions in front

static enum uvea_error front_listen(struct uvea_rt *rt, const char *address,
                                    struct uvea_listener **listener)
{
    struct side *side = side_of(rt);
    UVEA_TRY(side->below->listen(rt, address, listener));
    if (strcmp(address, side->own_address) == 0) {
        side->listener = *listener;
    }
    return UVEA_OK;
}

static void front_listener_close(struct uvea_rt *rt, struct uvea_listener *listener)
{
    struct side *side = side_of(rt);
    if (side->listener == listener) {
        side->listener = NULL;
    }
    side->below->listener_close(rt, listener);
}

static enum uvea_error front_accept(struct uvea_rt *rt, struct uvea_listener *listener,
                                    struct uvea_stream **stream, uint64_t deadline_ns)
{
    struct side *side = side_of(rt);
    struct uvea_stream *accepted;
    UVEA_TRY(side->below->accept(rt, listener, &accepted, deadline_ns));
    if (listener == side->listener) {
        UVEA_TRY(cover(side, accepted, NULL));
    }
    *stream = accepted;
    return UVEA_OK;
}

static bool is_covered(const struct side *side, const char *address)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (strcmp(side->owner->addresses[i], address) == 0) {
            return true;
        }
    }
    return false;
}

static enum uvea_error front_dial(struct uvea_rt *rt, const char *address,
                                  struct uvea_stream **stream, uint64_t deadline_ns)
{
    struct side *side = side_of(rt);
    struct uvea_stream *dialled;
    UVEA_TRY(side->below->dial(rt, address, &dialled, deadline_ns));
    if (is_covered(side, address)) {
        char host[HOST_BYTES];
        (void)snprintf(host, sizeof(host), "%.*s", (int)strcspn(address, ":"), address);
        UVEA_TRY(cover(side, dialled, host));
    }
    *stream = dialled;
    return UVEA_OK;
}

static enum uvea_error front_read(struct uvea_rt *rt, struct uvea_stream *stream, uint8_t *out,
                                  size_t capacity, size_t *got, uint64_t deadline_ns)
{
    struct side *side = side_of(rt);
    const struct covered *covered = *find(side, stream);
    return covered != NULL ? uvea_tls_stream_read(covered->tls, out, capacity, got, deadline_ns)
                           : side->below->stream_read(rt, stream, out, capacity, got, deadline_ns);
}

static enum uvea_error front_write(struct uvea_rt *rt, struct uvea_stream *stream,
                                   const uint8_t *bytes, size_t len, uint64_t deadline_ns)
{
    struct side *side = side_of(rt);
    const struct covered *covered = *find(side, stream);
    return covered != NULL ? uvea_tls_stream_write(covered->tls, bytes, len, deadline_ns)
                           : side->below->stream_write(rt, stream, bytes, len, deadline_ns);
}

static enum uvea_error front_prove(struct uvea_rt *rt, struct uvea_stream *stream,
                                   struct uvea_party party)
{
    struct side *side = side_of(rt);
    const struct covered *covered = *find(side, stream);
    return covered != NULL ? uvea_tls_stream_prove(covered->tls, party)
                           : side->below->stream_prove(rt, stream, party);
}

static void front_reason(struct uvea_rt *rt, struct uvea_stream *stream,
                         struct uvea_error_context *reason)
{
    struct side *side = side_of(rt);
    const struct covered *covered = *find(side, stream);
    if (covered != NULL) {
        uvea_tls_stream_reason(covered->tls, reason);
    } else {
        side->below->stream_reason(rt, stream, reason);
    }
}

static void front_shut(struct uvea_rt *rt, struct uvea_stream *stream)
{
    struct side *side = side_of(rt);
    const struct covered *covered = *find(side, stream);
    if (covered != NULL) {
        uvea_tls_stream_shut(covered->tls);
    } else {
        side->below->stream_shut(rt, stream);
    }
}

static void front_close(struct uvea_rt *rt, struct uvea_stream *stream)
{
    struct side *side = side_of(rt);
    struct covered **at = find(side, stream);
    struct covered *covered = *at;
    if (covered == NULL) {
        side->below->stream_close(rt, stream);
        return;
    }
    *at = covered->next;
    uvea_tls_stream_close(covered->tls);
    uvea_mem_free(covered);
}

// ---- life

static void put_in_front(struct side *side)
{
    side->below = side->rt->ops;
    side->ops = *side->below;
    side->ops.listen = front_listen;
    side->ops.listener_close = front_listener_close;
    side->ops.accept = front_accept;
    side->ops.dial = front_dial;
    side->ops.stream_read = front_read;
    side->ops.stream_write = front_write;
    side->ops.stream_prove = front_prove;
    side->ops.stream_reason = front_reason;
    side->ops.stream_shut = front_shut;
    side->ops.stream_close = front_close;
    side->rt->ops = &side->ops;
}

static enum uvea_error side_open(struct uvea_sim_tls *owner, struct uvea_sim *sim, unsigned index,
                                 uint64_t seed, struct uvea_error_context *context)
{
    struct side *side = &owner->sides[index];
    char stream[16];
    (void)snprintf(stream, sizeof(stream), "tls/p%u", index);
    side->owner = owner;
    side->rt = uvea_sim_rt(sim, index);
    side->own_address = owner->addresses[index];
    if (uvea_sim_library_open(seed, stream, &side->library) != UVEA_OK) {
        return uvea_error_set(context, UVEA_ERR_CRYPTO,
                              "OpenSSL does not take random numbers from the simulator");
    }
    struct uvea_tls_config config = uvea_sim_keys_config(&owner->keys, index);
    config.clock = side->rt;
    config.library = uvea_sim_library_context(side->library);
    return uvea_tls_open(&config, &side->tls, context);
}

enum uvea_error uvea_sim_tls_open(struct uvea_sim *sim, uint64_t seed,
                                  const char *const addresses[UVEA_PARTY_COUNT],
                                  struct uvea_sim_tls **tls, struct uvea_error_context *context)
{
    struct uvea_sim_tls *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    memcpy(made->addresses, addresses, sizeof(made->addresses));
    enum uvea_error error;
    UVEA_TRY_CLEANUP(uvea_sim_keys_init(&made->keys, seed, context));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        UVEA_TRY_CLEANUP(side_open(made, sim, i, seed, context));
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        put_in_front(&made->sides[i]);
    }
    *tls = made;
    made = NULL;
cleanup:
    uvea_sim_tls_close(made);
    return error;
}

void uvea_sim_tls_close(struct uvea_sim_tls *tls)
{
    if (tls == NULL) {
        return;
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_tls_close(tls->sides[i].tls);
        uvea_sim_library_close(tls->sides[i].library);
    }
    uvea_sim_keys_deinit(&tls->keys);
    uvea_mem_free(tls);
}
