// Templates, their shares, and the plaintext search that the scan over shares must agree with.
// For tests of the scan and the service.
#ifndef UVEA_TESTS_SCAN_FIXTURE_H
#define UVEA_TESTS_SCAN_FIXTURE_H

#include "core/base/chacha.h"
#include "core/iris/share.h"
#include "core/iris/template.h"
#include "core/scan/cold.h"
#include "core/scan/resident.h"
#include "core/scan/search.h"

#include <stddef.h>
#include <stdint.h>

// Random code, a tenth of the mask pairs cleared. Neighbouring columns do not correlate, so a
// template matches itself at one rotation only.
void fixture_pair(struct uvea_chacha *rng, struct uvea_template_pair *out);

// Inverts `count` code bits at valid positions, chosen at random, each once.
void fixture_flip(struct uvea_chacha *rng, struct uvea_template *template, size_t count);

// in seen in a mirror: eyes exchanged and mirrored.
void fixture_mirror_pair(const struct uvea_template_pair *in, struct uvea_template_pair *out);

// The three parties' uploads of a pair.
void fixture_split(struct uvea_chacha *rng, const struct uvea_template_pair *in,
                   struct uvea_iris_upload out[UVEA_PARTY_COUNT]);

// Puts an upload into a database: its scanned eye into resident, the other one into cold's overlay.
void fixture_insert(struct uvea_resident *resident, struct uvea_cold *cold, enum uvea_eye scanned,
                    const struct uvea_iris_upload *upload);
// A cold eye that keeps what is put into it and has nothing else. rt: as in uvea_cold_config.
struct uvea_cold *fixture_cold(struct uvea_rt *rt);

// Dot products of one comparison.
struct fixture_score {
    int32_t code;
    int32_t mask;
};

// One eye of the search in the clear: candidates, and the distances behind their anonymous bits.
struct fixture_eye {
    struct uvea_candidate *candidates; // owned
    size_t candidate_count;
    struct fixture_score *distances; // owned
    size_t distance_count;
};

struct fixture_result {
    struct fixture_eye eye[UVEA_ORIENTATION_COUNT][UVEA_EYE_COUNT];
    uint64_t comparisons;
};

// service.md 2.2-2.5 over templates. target: as in uvea_search_job.
void fixture_search(const struct uvea_template_pair *database, size_t count,
                    const struct uvea_template_pair *query, enum uvea_eye full_scan_eye,
                    bool mirror, const uint32_t *known, size_t known_count, uint32_t target,
                    struct fixture_result *out);
void fixture_result_deinit(struct fixture_result *result);

// Fails the test unless the three parties' results say what the plaintext says, and their retained
// shares are replicated shares of its distances.
void fixture_assert_equal(const struct fixture_result *want,
                          const struct uvea_search_result got[UVEA_PARTY_COUNT]);

// The same for the comparison with earlier requests: want is the search over them as a database.
// Nothing is retained. comparisons is not looked at.
void fixture_assert_batch(const struct fixture_result *want,
                          const struct uvea_search_result got[UVEA_PARTY_COUNT]);

#endif
