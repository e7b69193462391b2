#include "sim/gate/trio.h"

#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/wire/frame.h"
#include "sim/runtime/random.h"
#include "sim/runtime/sim.h"

#include <stdbool.h>

// No protocol sends so many messages ahead of what it waits for.
enum { QUEUE_MESSAGES = 16 };

struct message {
    struct uvea_buf frame;
    uint64_t chain;
};

struct party_link {
    struct uvea_link link; // first
    struct uvea_rt *rt;
    const struct uvea_session *session;
    struct uvea_channel *out[UVEA_PEER_COUNT]; // this party's, by peer
    struct uvea_channel *in[UVEA_PEER_COUNT];
    uint32_t session_id;
    struct uvea_buf frame[UVEA_PEER_COUNT];
    struct message *held[UVEA_PEER_COUNT]; // what the last view from this peer points into
    struct uvea_gate_meter meter;
};

struct trio;

struct member {
    struct trio *trio;
    struct uvea_party party;
    struct party_link link;
    uint64_t drawn[UVEA_PEER_COUNT]; // from the stream shared with that peer, at the end
    enum uvea_error error;
    struct uvea_error_context reason;
};

struct trio {
    const struct uvea_gate_trio *plan;
    struct uvea_sim *sim;
    struct uvea_channel *queue[UVEA_PARTY_COUNT][UVEA_PEER_COUNT]; // [sender][towards]
    struct member members[UVEA_PARTY_COUNT];
};

// ---- the link

static enum uvea_error link_begin(struct uvea_link *link, enum uvea_peer peer,
                                  struct uvea_buf **frame)
{
    struct party_link *self = (struct party_link *)link;
    uvea_buf_clear(&self->frame[peer]);
    UVEA_TRY(uvea_frame_begin(&self->frame[peer], self->session_id));
    *frame = &self->frame[peer];
    return UVEA_OK;
}

static void message_free(struct message *message)
{
    if (message != NULL) {
        uvea_buf_deinit(&message->frame);
        uvea_mem_free(message);
    }
}

static enum uvea_error link_end(struct uvea_link *link, enum uvea_peer peer)
{
    struct party_link *self = (struct party_link *)link;
    struct message *message = uvea_mem_alloc(1, sizeof(*message));
    if (message == NULL) {
        return UVEA_ERR_MEMORY;
    }
    message->frame = self->frame[peer];
    message->chain = self->meter.chain + 1;
    self->frame[peer] = (struct uvea_buf){0};
    self->meter.messages++;
    self->meter.frame_bytes += message->frame.len;
    self->meter.layers += self->session->traffic.and_words > self->meter.and_words;
    self->meter.and_words = self->session->traffic.and_words;
    enum uvea_error error =
        uvea_rt_channel_send(self->rt, self->out[peer], message, uvea_rt_now_ns(self->rt));
    if (error != UVEA_OK) {
        message_free(message);
    }
    return error;
}

// What this party sends from now on is behind this message in a chain.
static void link_follow(struct party_link *self, const struct message *message)
{
    if (message->chain > self->meter.chain) {
        self->meter.chain = message->chain;
    }
}

static enum uvea_error link_recv(struct uvea_link *link, enum uvea_peer peer,
                                 struct uvea_value *value, struct uvea_error_context *context)
{
    struct party_link *self = (struct party_link *)link;
    message_free(self->held[peer]);
    self->held[peer] = NULL;
    void *item;
    enum uvea_error error = uvea_rt_channel_recv(self->rt, self->in[peer], &item, UVEA_NEVER);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "the peer has stopped");
    }
    struct message *message = item;
    self->held[peer] = message;
    link_follow(self, message);
    const struct uvea_buf *frame = &message->frame;
    if (frame->len < UVEA_FRAME_SESSION_BYTES || uvea_load_le32(frame->data) != self->session_id) {
        return uvea_error_set(context, UVEA_ERR_PEER, "a frame of another session");
    }
    return uvea_value_decode(frame->data + UVEA_FRAME_SESSION_BYTES,
                             frame->len - UVEA_FRAME_SESSION_BYTES, value, context);
}

static const struct uvea_link_ops link_ops = {link_begin, link_end, link_recv};

// ---- a party

static void draw_seed(const struct uvea_gate_trio *plan, unsigned party,
                      uint8_t seed[UVEA_PRF_SEED_BYTES])
{
    static const char *const names[UVEA_PARTY_COUNT] = {"gate/prf/0", "gate/prf/1", "gate/prf/2"};
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, plan->seed, names[party]);
    uvea_sim_random_fill(&random, seed, UVEA_PRF_SEED_BYTES);
}

static enum uvea_error member_work(struct member *member, struct uvea_session *session)
{
    const struct uvea_gate_trio *plan = member->trio->plan;
    uint8_t own[UVEA_PRF_SEED_BYTES];
    uint8_t prev[UVEA_PRF_SEED_BYTES];
    draw_seed(plan, member->party.index, own);
    draw_seed(plan, uvea_party_peer(member->party, UVEA_PEER_PREV).index, prev);
    member->link.session = session;
    UVEA_TRY(uvea_session_init_seeded(session, member->link.rt, &member->link.link, member->party,
                                      plan->session_id, plan->prf, own, prev));
    UVEA_TRY(plan->fn(session, plan->arg));
    member->drawn[UVEA_PEER_NEXT] = uvea_prg_bytes_drawn(session->prf.my);
    member->drawn[UVEA_PEER_PREV] = uvea_prg_bytes_drawn(session->prf.prev);
    return UVEA_OK;
}

// A party that has failed is waited for by nobody.
static void member_run(void *arg)
{
    struct member *member = arg;
    struct uvea_session session = {.id = 0};
    member->error = member_work(member, &session);
    member->reason = session.error;
    uvea_session_deinit(&session);
    for (unsigned peer = 0; member->error != UVEA_OK && peer < UVEA_PEER_COUNT; peer++) {
        uvea_rt_channel_shut(member->link.rt, member->link.out[peer]);
    }
}

// ---- the three

static enum uvea_error open_queues(struct trio *trio, struct uvea_rt *rt)
{
    for (unsigned sender = 0; sender < UVEA_PARTY_COUNT; sender++) {
        for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
            UVEA_TRY(uvea_rt_channel_open(rt, QUEUE_MESSAGES, &trio->queue[sender][peer]));
        }
    }
    return UVEA_OK;
}

static void join(struct trio *trio, unsigned index, struct uvea_rt *rt)
{
    struct uvea_party party = uvea_party_at(index);
    unsigned next = uvea_party_peer(party, UVEA_PEER_NEXT).index;
    unsigned prev = uvea_party_peer(party, UVEA_PEER_PREV).index;
    trio->members[index] = (struct member){
        .trio = trio,
        .party = party,
        .link = {.link.ops = &link_ops, .rt = rt, .session_id = trio->plan->session_id},
    };
    struct party_link *link = &trio->members[index].link;
    link->out[UVEA_PEER_NEXT] = trio->queue[index][UVEA_PEER_NEXT];
    link->out[UVEA_PEER_PREV] = trio->queue[index][UVEA_PEER_PREV];
    link->in[UVEA_PEER_NEXT] = trio->queue[next][UVEA_PEER_PREV];
    link->in[UVEA_PEER_PREV] = trio->queue[prev][UVEA_PEER_NEXT];
}

// One node for all three: the queues of a simulation belong to one. Time stands still in it.
static enum uvea_error trio_open(struct trio *trio, struct uvea_error_context *context)
{
    struct uvea_sim_config config;
    uvea_sim_config_init(&config);
    config.seed = trio->plan->seed;
    config.node_count = 1;
    config.step_budget = UINT64_MAX;
    for (unsigned what = 0; what < UVEA_CHARGE_COUNT; what++) {
        config.cost_ns[what] = 0;
    }
    UVEA_TRY(uvea_sim_open(&config, &trio->sim, context));
    struct uvea_rt *rt = uvea_sim_rt(trio->sim, 0);
    UVEA_TRY(open_queues(trio, rt));
    for (unsigned index = 0; index < UVEA_PARTY_COUNT; index++) {
        join(trio, index, rt);
    }
    for (unsigned index = 0; index < UVEA_PARTY_COUNT; index++) {
        UVEA_TRY(uvea_sim_start(trio->sim, 0, "party", member_run, &trio->members[index]));
    }
    return UVEA_OK;
}

// A queue's items belong to nobody once the simulation is closed, so they are taken out before.
static void drain(struct uvea_rt *rt, struct uvea_channel *queue)
{
    void *item;
    uvea_rt_channel_shut(rt, queue);
    while (uvea_rt_channel_recv(rt, queue, &item, UVEA_NEVER) == UVEA_OK) {
        message_free(item);
    }
}

static void trio_close(struct trio *trio)
{
    for (unsigned party = 0; trio->sim != NULL && party < UVEA_PARTY_COUNT; party++) {
        for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
            if (trio->queue[party][peer] != NULL) {
                drain(uvea_sim_rt(trio->sim, 0), trio->queue[party][peer]);
            }
        }
    }
    uvea_sim_close(trio->sim);
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
            message_free(trio->members[party].link.held[peer]);
            uvea_buf_deinit(&trio->members[party].link.frame[peer]);
        }
    }
    uvea_mem_free(trio);
}

// A party that only saw its peer stop is not the one to ask.
static enum uvea_error find_failure(const struct trio *trio, struct uvea_error_context *context)
{
    const struct member *found = NULL;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct member *member = &trio->members[party];
        if (member->error != UVEA_OK && (found == NULL || found->error == UVEA_ERR_CLOSED)) {
            found = member;
        }
    }
    if (found == NULL) {
        return UVEA_OK;
    }
    return uvea_error_set(context, found->error, "party %u: %s: %.400s", found->party.index,
                          uvea_error_text(found->error), found->reason.text);
}

static enum uvea_error find_drift(const struct trio *trio, struct uvea_error_context *context)
{
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct member *member = &trio->members[party];
        unsigned next = uvea_party_peer(member->party, UVEA_PEER_NEXT).index;
        if (member->drawn[UVEA_PEER_NEXT] != trio->members[next].drawn[UVEA_PEER_PREV]) {
            return uvea_error_set(context, UVEA_ERR_STATE,
                                  "parties %u and %u have drawn differently from their stream",
                                  party, next);
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_gate_trio_run(const struct uvea_gate_trio *plan,
                                   struct uvea_gate_meter *meters,
                                   struct uvea_error_context *context)
{
    struct trio *trio = uvea_mem_alloc(1, sizeof(*trio));
    if (trio == NULL) {
        return UVEA_ERR_MEMORY;
    }
    trio->plan = plan;
    struct uvea_sim_outcome outcome;
    enum uvea_error error;
    UVEA_TRY_CLEANUP(trio_open(trio, context));
    uvea_sim_run(trio->sim, &outcome);
    UVEA_TRY_CLEANUP(find_failure(trio, context));
    if (outcome.end != UVEA_SIM_FINISHED) {
        error = uvea_error_set(context, UVEA_ERR_STATE, "the parties wait for each other: %.300s",
                               outcome.blocked);
        goto cleanup;
    }
    error = find_drift(trio, context);
    for (unsigned party = 0; meters != NULL && party < UVEA_PARTY_COUNT; party++) {
        meters[party] = trio->members[party].link.meter;
    }
cleanup:
    trio_close(trio);
    return error;
}
