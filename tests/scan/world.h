// A database in the clear, the same as the three parties store it, and a query: for tests that
// search it over shares and compare with the plaintext.
#ifndef UVEA_TESTS_SCAN_WORLD_H
#define UVEA_TESTS_SCAN_WORLD_H

#include "tests/scan/cluster.h"
#include "tests/scan/fixture.h"

enum { WORLD_RECORDS_MAX = 130 };

// What one party stores.
struct world_store {
    uint16_t eye[UVEA_EYE_COUNT][WORLD_RECORDS_MAX][UVEA_RECORD_COEFFICIENTS];
    uint16_t version[WORLD_RECORDS_MAX];
    enum uvea_eye cold; // the eye that is read from here
    uint32_t fails_at;  // serial that cannot be read; 0: none
    _Atomic uint64_t reads;
};

// 40 MB.
struct world {
    struct uvea_template_pair records[WORLD_RECORDS_MAX];
    size_t count;
    struct uvea_template_pair query;
    struct world_store store[UVEA_PARTY_COUNT];
    struct uvea_resident resident[UVEA_PARTY_COUNT];
    struct uvea_cold *cold[UVEA_PARTY_COUNT];
    struct uvea_spectral spectral[UVEA_PARTY_COUNT];
    struct uvea_iris_upload upload[UVEA_PARTY_COUNT]; // the query's, after world_share
    struct uvea_scan_query prepared[UVEA_PARTY_COUNT];
    struct uvea_spectral_query spectral_query[UVEA_PARTY_COUNT];
};

// records, count and query are the caller's to fill.
struct world *world_alloc(void);
void world_free(struct world *world);

// Shares all records, and the query.
void world_share(struct world *world, struct uvea_chacha *rng);
// Shares one record as it stands now, under its current version, into the stores only.
void world_share_record(struct world *world, struct uvea_chacha *rng, size_t index);
// Shares the query as it stands now.
void world_share_query(struct world *world, struct uvea_chacha *rng);

// Opens databases anew from the stores: the scanned eye resident, the other one cold. cluster: for
// locks; config: sizes, the rest is filled in. NULL: neither cache nor window.
void world_load(struct world *world, struct cluster *cluster, enum uvea_eye scanned,
                const struct uvea_cold_config *config);
void world_unload(struct world *world);

// On the NTT path, after world_load: converts all records; converts the query as shared, mirrored
// too.
void world_convert(struct world *world, struct cluster *cluster,
                   const struct uvea_search_config *config);
void world_convert_query(struct world *world, struct cluster *cluster,
                         const struct uvea_search_config *config);

// Puts the pair of records[index], or a deleted identity's dummy, in a record's place at the next
// version, in the databases as they are loaded; the stores know nothing of it.
void world_update(struct world *world, struct cluster *cluster, struct uvea_chacha *rng,
                  size_t index, const struct uvea_search_config *config);
void world_delete(struct world *world, size_t index, const struct uvea_search_config *config);

// The three parties search with these jobs; on the NTT path with what was converted.
void world_search(struct world *world, struct cluster *cluster,
                  const struct uvea_search_config *config, const struct uvea_search_job *jobs,
                  struct uvea_search_result *results);

// A population with every relation to the query that matters to a search, from a seed.
struct world *world_related(size_t count);

// Turns one eye of a pair by columns.
void world_rotate_eye(struct uvea_template_pair *pair, enum uvea_eye eye, int columns);

#endif
