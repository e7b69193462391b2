#include "tests/mpc/trio.h"

#include "core/base/mem.h"
#include "tests/mpc/cmocka_all.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { WAIT_SECONDS = 60 };

struct trio_item {
    struct trio_item *next;
    size_t len;
    uint8_t bytes[];
};

// ---- link

static enum uvea_error link_begin(struct uvea_link *link, enum uvea_peer peer,
                                  struct uvea_buf **frame)
{
    struct trio_link *self = (struct trio_link *)link;
    // A session id stands before the value, as in a real frame.
    uvea_buf_clear(&self->frame[peer]);
    UVEA_TRY(uvea_buf_append(&self->frame[peer], "\7\0\0\0", 4));
    *frame = &self->frame[peer];
    return UVEA_OK;
}

static void queue_push(struct trio_queue *queue, struct trio_item *item)
{
    pthread_mutex_lock(&queue->lock);
    if (queue->last == NULL) {
        queue->first = item;
    } else {
        queue->last->next = item;
    }
    queue->last = item;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static enum uvea_error link_end(struct uvea_link *link, enum uvea_peer peer)
{
    struct trio_link *self = (struct trio_link *)link;
    const uint8_t *value = self->frame[peer].data + 4;
    size_t len = self->frame[peer].len - 4;
    struct trio_item *item = uvea_mem_alloc(1, sizeof(*item) + len);
    if (item == NULL) {
        return UVEA_ERR_MEMORY;
    }
    item->len = len;
    memcpy(item->bytes, value, len);
    queue_push(self->out[peer], item);
    if (EVP_DigestUpdate(self->owner->hash, value, len) != 1) {
        return UVEA_ERR_CRYPTO;
    }
    return uvea_buf_append(&self->owner->log, value, len);
}

static struct trio_item *queue_pop(struct trio_queue *queue)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SECONDS;
    pthread_mutex_lock(&queue->lock);
    int waited = 0;
    while (queue->first == NULL && !queue->closed && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
    }
    struct trio_item *item = queue->first;
    if (item != NULL) {
        queue->first = item->next;
        if (queue->first == NULL) {
            queue->last = NULL;
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return item;
}

static enum uvea_error link_recv(struct uvea_link *link, enum uvea_peer peer,
                                 struct uvea_value *value, struct uvea_error_context *context)
{
    struct trio_link *self = (struct trio_link *)link;
    uvea_mem_free(self->held[peer]);
    self->held[peer] = queue_pop(self->in[peer]);
    if (self->held[peer] == NULL) {
        return uvea_error_set(context, UVEA_ERR_CLOSED, "the peer is gone");
    }
    return uvea_value_decode(self->held[peer]->bytes, self->held[peer]->len, value, context);
}

static const struct uvea_link_ops link_ops = {link_begin, link_end, link_recv};

// ---- runtime

static void rt_charge(struct uvea_rt *rt, enum uvea_charge what, uint64_t units)
{
    struct trio_rt *self = (struct trio_rt *)rt;
    if (what == UVEA_CHARGE_MPC_WORD) {
        self->charged_words += units;
        self->charges++;
    }
}

static enum uvea_error rt_entropy(struct uvea_rt *rt, uint8_t *out, size_t bytes)
{
    struct trio_rt *self = (struct trio_rt *)rt;
    memset(out, 0, bytes);
    out[0] = (uint8_t)self->entropy;
    self->entropy += UVEA_PARTY_COUNT;
    return UVEA_OK;
}

static const struct uvea_rt_ops rt_ops = {.charge = rt_charge, .entropy = rt_entropy};

// ---- trio

static void queue_open(struct trio_queue *queue)
{
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
}

static void queue_close(struct trio_queue *queue)
{
    while (queue->first != NULL) {
        struct trio_item *item = queue->first;
        queue->first = item->next;
        uvea_mem_free(item);
    }
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->changed);
}

static void party_open(struct trio *trio, unsigned index, enum uvea_prf_kind kind,
                       uint32_t session_id)
{
    struct trio_party *party = &trio->party[index];
    struct uvea_party me = uvea_party_at(index);
    unsigned next = uvea_party_peer(me, UVEA_PEER_NEXT).index;
    unsigned prev = uvea_party_peer(me, UVEA_PEER_PREV).index;
    party->index = index;
    party->rt = (struct trio_rt){.rt = {&rt_ops}, .entropy = index};
    party->link.link.ops = &link_ops;
    party->link.owner = party;
    party->link.out[UVEA_PEER_NEXT] = &trio->queue[index][UVEA_PEER_NEXT];
    party->link.out[UVEA_PEER_PREV] = &trio->queue[index][UVEA_PEER_PREV];
    party->link.in[UVEA_PEER_NEXT] = &trio->queue[next][UVEA_PEER_PREV];
    party->link.in[UVEA_PEER_PREV] = &trio->queue[prev][UVEA_PEER_NEXT];
    party->hash = EVP_MD_CTX_new();
    const uint8_t own[UVEA_PRF_SEED_BYTES] = {(uint8_t)index};
    const uint8_t theirs[UVEA_PRF_SEED_BYTES] = {(uint8_t)prev};
    assert_int_equal(uvea_session_init_seeded(&party->session, &party->rt.rt, &party->link.link, me,
                                              session_id, kind, own, theirs),
                     UVEA_OK);
}

void trio_open(struct trio *trio, enum uvea_prf_kind kind, uint32_t session_id)
{
    *trio = (struct trio){0};
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        queue_open(&trio->queue[i][UVEA_PEER_NEXT]);
        queue_open(&trio->queue[i][UVEA_PEER_PREV]);
        party_open(trio, i, kind, session_id);
    }
    trio_mark(trio);
}

void trio_close(struct trio *trio)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct trio_party *party = &trio->party[i];
        uvea_session_deinit(&party->session);
        EVP_MD_CTX_free(party->hash);
        uvea_buf_deinit(&party->log);
        for (unsigned peer = 0; peer < UVEA_PEER_COUNT; peer++) {
            queue_close(&trio->queue[i][peer]);
            uvea_buf_deinit(&party->link.frame[peer]);
            uvea_mem_free(party->link.held[peer]);
        }
    }
}

struct job {
    struct trio_party *party;
    trio_fn *fn;
    void *arg;
};

static void *job_run(void *arg)
{
    struct job *job = arg;
    struct trio_party *party = job->party;
    party->error = job->fn(&party->session, party->index, job->arg);
    for (unsigned peer = 0; party->error != UVEA_OK && peer < UVEA_PEER_COUNT; peer++) {
        struct trio_queue *queue = party->link.out[peer];
        pthread_mutex_lock(&queue->lock);
        queue->closed = true;
        pthread_cond_signal(&queue->changed);
        pthread_mutex_unlock(&queue->lock);
    }
    return NULL;
}

void trio_try(struct trio *trio, trio_fn *fn, void *arg)
{
    pthread_t threads[UVEA_PARTY_COUNT];
    struct job jobs[UVEA_PARTY_COUNT];
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        jobs[i] = (struct job){&trio->party[i], fn, arg};
        assert_int_equal(pthread_create(&threads[i], NULL, job_run, &jobs[i]), 0);
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        pthread_join(threads[i], NULL);
    }
}

void trio_run(struct trio *trio, trio_fn *fn, void *arg)
{
    trio_try(trio, fn, arg);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (trio->party[i].error != UVEA_OK) {
            fail_msg("party %u: %s: %s", i, uvea_error_name(trio->party[i].error),
                     trio->party[i].session.error.text);
        }
    }
}

void trio_mark(struct trio *trio)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct trio_party *party = &trio->party[i];
        assert_int_equal(EVP_DigestInit_ex(party->hash, EVP_sha256(), NULL), 1);
        uvea_buf_clear(&party->log);
        party->session.traffic = (struct uvea_traffic){0};
        party->rt.charged_words = 0;
        party->rt.charges = 0;
    }
}

uint64_t trio_digest(struct trio *trio, unsigned party)
{
    uint8_t digest[EVP_MAX_MD_SIZE] = {0};
    EVP_MD_CTX *hash = trio->party[party].hash;
    bool good = EVP_DigestFinal_ex(hash, digest, NULL) == 1 &&
                EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1;
    uint64_t first = 0;
    for (unsigned i = 0; i < 8; i++) {
        first = first << 8 | digest[i];
    }
    return good ? first : 0;
}

void trio_assert_in_step(const struct trio *trio)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_session *mine = &trio->party[i].session;
        const struct uvea_session *next = &trio->party[(i + 1) % UVEA_PARTY_COUNT].session;
        assert_int_equal(uvea_prg_bytes_drawn(mine->prf.my), uvea_prg_bytes_drawn(next->prf.prev));
    }
}
