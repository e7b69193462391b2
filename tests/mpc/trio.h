// Three parties in one process, a thread each, joined by queues: what the tests of the protocols
// run on. Not for anything that ships.
#ifndef UVEA_TESTS_MPC_TRIO_H
#define UVEA_TESTS_MPC_TRIO_H

#include "core/mpc/session.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>

// One direction of one pair, values in order.
struct trio_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct trio_item *first;
    struct trio_item *last;
    bool closed;
};

struct trio_link {
    struct uvea_link link; // first
    struct trio_party *owner;
    struct trio_queue *out[UVEA_PEER_COUNT];
    struct trio_queue *in[UVEA_PEER_COUNT];
    struct uvea_buf frame[UVEA_PEER_COUNT];
    struct trio_item *held[UVEA_PEER_COUNT]; // what the last view of this peer points into
};

struct trio_rt {
    struct uvea_rt rt;      // first
    uint64_t charged_words; // UVEA_CHARGE_MPC_WORD so far
    uint64_t charges;       // calls
    uint64_t entropy;       // seeds are byte 0 = this, then zero; counted up by 3
};

struct trio_party {
    unsigned index;
    struct trio_rt rt;
    struct trio_link link;
    struct uvea_session session;
    EVP_MD_CTX *hash;    // over every value sent since trio_mark
    struct uvea_buf log; // the same values, back to back
    enum uvea_error error;
};

struct trio {
    struct trio_party party[UVEA_PARTY_COUNT];
    struct trio_queue queue[UVEA_PARTY_COUNT][UVEA_PEER_COUNT]; // [sender][towards]
};

// What a party does; runs in its own thread, so it must not use cmocka: it returns an error and
// leaves its results where arg says.
typedef enum uvea_error trio_fn(struct uvea_session *session, unsigned party, void *arg);

// Sessions with the seeds of wire.md 4 (byte 0 is the party index, the rest 0).
void trio_open(struct trio *trio, enum uvea_prf_kind kind, uint32_t session_id);
void trio_close(struct trio *trio);
// Runs fn at the three parties and waits for them; each one's error is in party[i].error. A party
// that fails closes its queues, so that the others do not wait for it.
void trio_try(struct trio *trio, trio_fn *fn, void *arg);
// The same, failing the test unless all three succeed.
void trio_run(struct trio *trio, trio_fn *fn, void *arg);
// Forgets the values sent so far and zeroes the traffic counters and charges.
void trio_mark(struct trio *trio);
// First 8 bytes of SHA-256 over the values a party sent since trio_mark or
// the last digest, big-endian. The party's own thread may call it.
uint64_t trio_digest(struct trio *trio, unsigned party);
// Fails the test unless both holders of each stream drew equally much.
void trio_assert_in_step(const struct trio *trio);

#endif
