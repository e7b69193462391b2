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
    _Atomic uint64_t spawned;
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

// The three parties' searches at once; fails the test unless all succeed. results and databases by
// party. Afterwards all random streams must be in step.
void cluster_search(struct cluster *cluster, const struct uvea_search_config *config,
                    const struct uvea_resident *databases, const struct uvea_search_job *jobs,
                    struct uvea_search_result *results);

#endif
