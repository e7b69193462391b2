#include "tests/kernel/ring_check.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <stdio.h>
#include <string.h>

enum { GUARD = UVEA_SCORES_PER_RECORD }; // values behind the scores that must stay as they are

const size_t ring_check_counts[] = {0, 1, 2, 3, 4, 5, 63, 64, 65, 127, 129, 130};
const size_t ring_check_count_count = sizeof(ring_check_counts) / sizeof(ring_check_counts[0]);

static void fill(uint64_t *state, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
        out[i] = (uint16_t)(*state >> 48);
    }
}

static uint16_t plain_dot(const uint16_t *padded, const uint16_t *row, size_t chunks,
                          size_t rotation)
{
    uint64_t sum = 0;
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        for (size_t i = 0; i < 800; i++) {
            size_t from = 60 + (i + 1600 - 4 * (rotation + 200 - 15)) % 800;
            sum += (uint64_t)padded[920 * chunk + from] * row[800 * chunk + i];
        }
    }
    return (uint16_t)sum;
}

void ring_check_init(struct ring_check *check)
{
    uint64_t state = 8;
    uint16_t *share = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*share));
    UVEA_CHECK(share != NULL);
    fill(&state, share, UVEA_RECORD_COEFFICIENTS);
    uvea_ring_query_prepare(uvea_party_at(1), share, share + UVEA_SHARE_COEFFICIENTS,
                            &check->query);
    uvea_mem_free(share);
    for (size_t i = 0; i < RING_CHECK_RECORDS; i++) {
        fill(&state, check->records[i], UVEA_RECORD_COEFFICIENTS);
    }
    memset(check->records[RING_CHECK_RECORDS - 1], 0xFF, sizeof(check->records[0]));
    for (size_t i = 0; i < RING_CHECK_RECORDS; i++) {
        for (size_t rotation = 0; rotation < UVEA_ROTATION_COUNT; rotation++) {
            check->want[i][2 * rotation] =
                plain_dot(check->query.code, check->records[i], UVEA_CODE_CHUNKS, rotation);
            check->want[i][2 * rotation + 1] =
                plain_dot(check->query.mask, check->records[i] + UVEA_SHARE_COEFFICIENTS,
                          UVEA_MASK_CHUNKS, rotation);
        }
    }
}

// Which record stands at an index.
static size_t which(size_t index)
{
    return (index * 3 + index / RING_CHECK_RECORDS) % RING_CHECK_RECORDS;
}

static bool compare(const struct ring_check *check, const char *name, size_t record_count,
                    const uint16_t *scores)
{
    for (size_t i = 0; i < record_count * UVEA_SCORES_PER_RECORD; i++) {
        size_t record = i / UVEA_SCORES_PER_RECORD;
        uint16_t want = check->want[which(record)][i % UVEA_SCORES_PER_RECORD];
        if (scores[i] != want) {
            (void)fprintf(stderr,
                          "ring kernel %s, %zu records: record %zu, score %zu: %u instead of %u\n",
                          name, record_count, record, i % UVEA_SCORES_PER_RECORD, scores[i], want);
            return false;
        }
    }
    for (size_t i = 0; i < GUARD; i++) {
        if (scores[record_count * UVEA_SCORES_PER_RECORD + i] != 0xA5A5) {
            (void)fprintf(stderr, "ring kernel %s, %zu records: written behind the end\n", name,
                          record_count);
            return false;
        }
    }
    return true;
}

bool ring_check_run(const struct ring_check *check, const struct uvea_ring_kernel *kernel,
                    size_t record_count)
{
    const uint16_t *records[RING_CHECK_COUNT_MAX];
    size_t score_count = record_count * UVEA_SCORES_PER_RECORD + GUARD;
    uint16_t *scores = uvea_mem_alloc(score_count, sizeof(*scores));
    UVEA_CHECK(scores != NULL && record_count <= RING_CHECK_COUNT_MAX);
    for (size_t i = 0; i < record_count; i++) {
        records[i] = check->records[which(i)];
    }
    memset(scores, 0xA5, score_count * sizeof(*scores));
    kernel->scores(&check->query, records, record_count, scores);
    bool equal = compare(check, kernel->name, record_count, scores);
    uvea_mem_free(scores);
    return equal;
}
