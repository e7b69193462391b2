#include "tests/kernel/spectral_check.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <stdio.h>
#include <string.h>

enum {
    POINTS = UVEA_TRANSFORM_POINTS,
    CHANNELS = UVEA_SPECTRUM_CHANNELS,
    ROTATIONS = UVEA_SPECTRAL_ROTATIONS,
    PRIME = UVEA_FIELD_PRIME,
    GUARD = 64, // values behind the scores that must stay as they are
};

const size_t spectral_check_counts[] = {0,  1,  2,  3,  4,  5,  7,  8,  9,   15,
                                        16, 17, 31, 32, 33, 63, 64, 65, 127, 130};
const size_t spectral_check_count_count =
    sizeof(spectral_check_counts) / sizeof(spectral_check_counts[0]);

// ---- spectra

static uint32_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*state >> 33);
}

static uint16_t canonical(int32_t value)
{
    return (uint16_t)((value % PRIME + PRIME) % PRIME);
}

// 25984 = 102 * 256 - 128 and -25985 = -102 * 256 + 127 have the largest bytes.
static const int32_t extremes[] = {26100, -26100, 25984, -25985, -128, 127, 26112 - 128, -1};
enum { EXTREMES = sizeof(extremes) / sizeof(extremes[0]) };

static void fill_random(uint64_t seed, struct uvea_spectrum *out)
{
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        out->values[i] = (uint16_t)(draw(&seed) % PRIME);
    }
}

static void fill_constant(int32_t value, struct uvea_spectrum *out)
{
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        out->values[i] = canonical(value);
    }
}

static void fill_extremes(uint64_t seed, struct uvea_spectrum *out)
{
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        out->values[i] = canonical(extremes[draw(&seed) % EXTREMES]);
    }
}

static void fill_not_canonical(uint64_t seed, struct uvea_spectrum *out)
{
    for (size_t i = 0; i < UVEA_SPECTRUM_VALUES; i++) {
        out->values[i] = (uint16_t)(PRIME + draw(&seed) % (65536 - PRIME));
    }
}

// Against a query of ones in channel 0, T[k] becomes what is wanted: with the sign of the inverse's
// table everywhere, so that one rotation sums 99 products of one sign.
static void fill_for_inverse(const int16_t table[99], int32_t positive, int32_t negative,
                             struct uvea_spectrum *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t k = 1; k < 100; k++) {
        out->values[CHANNELS * k] = canonical(table[k - 1] > 0 ? positive : negative);
    }
}

static void fill_records(struct uvea_spectrum records[SPECTRAL_CHECK_RECORDS])
{
    fill_random(1, &records[0]);
    fill_constant(0, &records[1]);
    fill_constant(26100, &records[2]);
    fill_constant(-26100, &records[3]);
    fill_constant(25984, &records[4]);
    fill_constant(-25985, &records[5]);
    fill_extremes(2, &records[6]);
    fill_not_canonical(3, &records[7]);
    fill_for_inverse(uvea_transform_cosine[0], 26100, -26100, &records[8]);
    fill_for_inverse(uvea_transform_sine[14], -128, 127, &records[9]);
    fill_for_inverse(uvea_transform_sine[6], 25984, -25985, &records[10]);
}

static void fill_queries(struct uvea_spectrum queries[SPECTRAL_CHECK_QUERIES])
{
    fill_random(4, &queries[0]);
    fill_constant(26100, &queries[1]);
    fill_constant(-128, &queries[2]);
    fill_constant(25984, &queries[3]);
    fill_constant(-25985, &queries[4]);
    fill_extremes(5, &queries[5]);
    fill_not_canonical(6, &queries[6]);
    memset(&queries[7], 0, sizeof(queries[7]));
    for (size_t k = 0; k < POINTS; k++) {
        queries[7].values[CHANNELS * k] = 1;
    }
}

// ---- the definition

// sum_k T[k] root^(-k rho), T[k] = sum over channels.
static void define(const struct uvea_spectrum *query, const struct uvea_spectrum *record,
                   uint16_t scores[ROTATIONS])
{
    uint64_t powers[POINTS] = {1};
    uint64_t spectrum[POINTS] = {0};
    for (size_t k = 0; k < POINTS; k++) {
        if (k > 0) {
            powers[k] = powers[k - 1] * UVEA_FIELD_ROOT % PRIME;
        }
        for (size_t c = 0; c < CHANNELS; c++) {
            spectrum[k] += (uint64_t)query->values[CHANNELS * k + c] *
                           record->values[CHANNELS * k + c] % PRIME;
        }
    }
    for (size_t rotation = 0; rotation < ROTATIONS; rotation++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < POINTS; k++) {
            // -k (rotation - 15) mod 200
            size_t exponent = k * (POINTS + 15 - rotation) % POINTS;
            sum += spectrum[k] % PRIME * powers[exponent];
        }
        scores[rotation] = (uint16_t)(sum % PRIME);
    }
}

void spectral_check_init(struct spectral_check *check)
{
    fill_records(check->records);
    fill_queries(check->queries);
    for (size_t q = 0; q < SPECTRAL_CHECK_QUERIES; q++) {
        for (size_t i = 0; i < SPECTRAL_CHECK_RECORDS; i++) {
            define(&check->queries[q], &check->records[i], check->want[q][i]);
        }
    }
}

// ---- a kernel

struct room {
    uint8_t *queries;
    uint8_t *tiles;
    uint16_t *scores;
    const void *query_at[SPECTRAL_CHECK_QUERIES];
    const void *tile_at[SPECTRAL_CHECK_COUNT_MAX];
};

// Which record stands at an index.
static size_t which(size_t index)
{
    return (index * 3 + index / SPECTRAL_CHECK_RECORDS) % SPECTRAL_CHECK_RECORDS;
}

static void fill_room(const struct spectral_check *check, const struct uvea_spectral_kernel *kernel,
                      size_t record_count, size_t query_count, struct room *room)
{
    size_t tiles = (record_count + kernel->tile_records - 1) / kernel->tile_records;
    size_t score_count = query_count * record_count * ROTATIONS + GUARD;
    room->queries = uvea_mem_alloc(query_count, kernel->query_bytes);
    room->tiles = uvea_mem_alloc(tiles, kernel->tile_bytes);
    room->scores = uvea_mem_alloc(score_count, sizeof(uint16_t));
    UVEA_CHECK(room->queries != NULL && room->tiles != NULL && room->scores != NULL);
    memset(room->scores, 0xA5, score_count * sizeof(uint16_t));
    for (size_t q = 0; q < query_count; q++) {
        room->query_at[q] = room->queries + q * kernel->query_bytes;
        kernel->query_put(room->queries + q * kernel->query_bytes, &check->queries[q]);
    }
    for (size_t i = 0; i < tiles; i++) {
        room->tile_at[i] = room->tiles + i * kernel->tile_bytes;
    }
    for (size_t i = 0; i < record_count; i++) {
        kernel->tile_put(room->tiles + i / kernel->tile_records * kernel->tile_bytes,
                         i % kernel->tile_records, &check->records[which(i)]);
    }
}

static bool compare(const struct spectral_check *check, const struct uvea_spectral_kernel *kernel,
                    size_t record_count, size_t query_count, const uint16_t *scores)
{
    for (size_t q = 0; q < query_count; q++) {
        for (size_t i = 0; i < record_count; i++, scores += ROTATIONS) {
            for (size_t rotation = 0; rotation < ROTATIONS; rotation++) {
                uint16_t want = check->want[q][which(i)][rotation];
                if (scores[rotation] != want) {
                    (void)fprintf(stderr,
                                  "kernel %s, %zu records, %zu queries: query %zu, record %zu "
                                  "(kind %zu), rotation index %zu: %u instead of %u\n",
                                  kernel->name, record_count, query_count, q, i, which(i), rotation,
                                  scores[rotation], want);
                    return false;
                }
            }
        }
    }
    for (size_t i = 0; i < GUARD; i++) {
        if (scores[i] != 0xA5A5) {
            (void)fprintf(stderr, "kernel %s, %zu records, %zu queries: written behind the end\n",
                          kernel->name, record_count, query_count);
            return false;
        }
    }
    return true;
}

bool spectral_check_run(const struct spectral_check *check,
                        const struct uvea_spectral_kernel *kernel, size_t record_count,
                        size_t query_count)
{
    struct room room;
    fill_room(check, kernel, record_count, query_count, &room);
    kernel->scores(room.query_at, query_count, room.tile_at, record_count, room.scores);
    bool equal = compare(check, kernel, record_count, query_count, room.scores);
    uvea_mem_free(room.queries);
    uvea_mem_free(room.tiles);
    uvea_mem_free(room.scores);
    return equal;
}
