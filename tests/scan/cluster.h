// Three parties with many sessions each, in one process on threads, joined by queues.
#ifndef UVEA_TESTS_SCAN_CLUSTER_H
#define UVEA_TESTS_SCAN_CLUSTER_H

#include "core/rt/rt.h"
#include "core/scan/search.h"
#include "tests/mpc/trio.h"

#include <stdatomic.h>

// Tasks are threads.
struct cluster_rt {
    struct uvea_rt rt; // first
    _Atomic uint64_t scores;
    _Atomic uint64_t spectral_scores;
    _Atomic uint64_t spawned;
    _Atomic uint64_t now_ns;   // moves on whenever somebody asks
    struct uvea_stages stages; // of all searches
};

void cluster_rt_init(struct cluster_rt *rt);

struct cluster {
    struct trio *sessions; // by position; session ids start at first_id
    size_t session_count;
    struct cluster_rt rt[UVEA_PARTY_COUNT];
    struct uvea_session **at[UVEA_PARTY_COUNT];
};

void cluster_open(struct cluster *cluster, size_t session_count, uint32_t first_id,
                  enum uvea_prf_kind kind);
void cluster_close(struct cluster *cluster);

// What one party does, in its own thread: no cmocka assertions.
typedef enum uvea_error cluster_fn(struct cluster *cluster, unsigned party, void *arg,
                                   struct uvea_error_context *context);

struct cluster_outcome {
    enum uvea_error error;
    struct uvea_error_context context;
};

// All three at once; waits for them.
void cluster_try(struct cluster *cluster, cluster_fn *fn, void *arg,
                 struct cluster_outcome outcomes[UVEA_PARTY_COUNT]);
// The same, failing the test unless all succeed and all random streams are in step afterwards.
void cluster_run(struct cluster *cluster, cluster_fn *fn, void *arg);

// The three parties' searches; all by party.
struct cluster_search {
    const struct uvea_search_config *config;
    const struct uvea_resident *databases;
    struct uvea_cold *const *colds;
    const struct uvea_spectral *spectra; // NULL on the ring path
    const struct uvea_search_job *jobs;
    struct uvea_search_result *results;
};
void cluster_search(struct cluster *cluster, const struct cluster_search *search);
void cluster_try_search(struct cluster *cluster, const struct cluster_search *search,
                        struct cluster_outcome outcomes[UVEA_PARTY_COUNT]);

#endif
