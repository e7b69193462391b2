#include "tests/scan/fixture.h"

#include "core/base/mem.h"
#include "tests/support/cmocka.h"

#include <string.h>

// ---- templates

static bool get_bit(const uint64_t *plane, size_t bit)
{
    return (plane[bit / 64] >> (bit % 64) & 1) != 0;
}

static void toggle_bit(uint64_t *plane, size_t bit)
{
    plane[bit / 64] ^= UINT64_C(1) << (bit % 64);
}

static void random_template(struct uvea_chacha *rng, struct uvea_template *out)
{
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        out->code[i] = uvea_chacha_next_u64(rng);
        out->mask[i] = UINT64_MAX;
    }
    for (size_t i = 0; i < UVEA_IRIS_BITS / 20; i++) {
        const size_t real = 2 * (size_t)(uvea_chacha_next_u32(rng) % (UVEA_IRIS_BITS / 2));
        if (get_bit(out->mask, real)) {
            toggle_bit(out->mask, real);
            toggle_bit(out->mask, real + 1);
        }
    }
}

void fixture_pair(struct uvea_chacha *rng, struct uvea_template_pair *out)
{
    random_template(rng, &out->eye[UVEA_EYE_LEFT]);
    random_template(rng, &out->eye[UVEA_EYE_RIGHT]);
}

void fixture_flip(struct uvea_chacha *rng, struct uvea_template *template, size_t count)
{
    uint64_t flipped[UVEA_IRIS_WORDS] = {0};

    while (count > 0) {
        const size_t bit = uvea_chacha_next_u32(rng) % UVEA_IRIS_BITS;
        if (get_bit(template->mask, bit) && !get_bit(flipped, bit)) {
            toggle_bit(template->code, bit);
            toggle_bit(flipped, bit);
            count--;
        }
    }
}

void fixture_mirror_pair(const struct uvea_template_pair *in, struct uvea_template_pair *out)
{
    uvea_iris_mirror(&in->eye[UVEA_EYE_RIGHT], &out->eye[UVEA_EYE_LEFT]);
    uvea_iris_mirror(&in->eye[UVEA_EYE_LEFT], &out->eye[UVEA_EYE_RIGHT]);
}

static uint16_t draw_u16(void *arg)
{
    return (uint16_t)uvea_chacha_next_u32(arg);
}

void fixture_split(struct uvea_chacha *rng, const struct uvea_template_pair *in,
                   struct uvea_iris_upload out[UVEA_PARTY_COUNT])
{
    struct uvea_iris_share *shares = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*shares));

    assert_non_null(shares);
    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        uvea_iris_split(&in->eye[eye], draw_u16, rng, shares);
        for (int party = 0; party < UVEA_PARTY_COUNT; party++) {
            out[party].eye[eye] = shares[party];
        }
    }
    uvea_mem_free(shares);
}

// ---- databases

void fixture_insert(struct uvea_resident *resident, struct uvea_cold *cold, enum uvea_eye scanned,
                    const struct uvea_iris_upload *upload)
{
    const enum uvea_eye other = uvea_eye_other(scanned);
    uint16_t *record = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*record));
    uint32_t index;

    assert_non_null(record);
    uvea_scan_record_of_share(&upload->eye[other], record);
    assert_int_equal(uvea_cold_put(cold, (uint32_t)resident->count + 1, 0, record), UVEA_OK);
    uvea_scan_record_of_share(&upload->eye[scanned], record);
    assert_int_equal(uvea_resident_insert(resident, record, 0, &index), UVEA_OK);
    uvea_mem_free(record);
}

static enum uvea_error nothing_stored(void *arg, uint32_t serial, uint16_t version,
                                      uint16_t out[UVEA_RECORD_COEFFICIENTS],
                                      struct uvea_error_context *context)
{
    (void)arg;
    (void)out;
    return uvea_error_set(context, UVEA_ERR_NOT_FOUND, "record %u, version %u is not stored",
                          (unsigned)serial, version);
}

struct uvea_cold *fixture_cold(struct uvea_rt *rt)
{
    const struct uvea_cold_config config = {.rt = rt, .read = nothing_stored};
    struct uvea_cold *cold = NULL;

    assert_int_equal(uvea_cold_open(&config, &cold), UVEA_OK);
    return cold;
}

// ---- plaintext search

static struct fixture_score score(const struct uvea_template *query,
                                  const struct uvea_template *record)
{
    int32_t valid = 0;
    int32_t different = 0;

    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        const uint64_t both = query->mask[i] & record->mask[i];
        valid += __builtin_popcountll(both);
        different += __builtin_popcountll((query->code[i] ^ record->code[i]) & both);
    }
    return (struct fixture_score){.code = valid - 2 * different, .mask = valid};
}

static void rotate_all(const struct uvea_template *query,
                       struct uvea_template rotated[UVEA_ROTATION_COUNT])
{
    for (int r = 0; r < UVEA_ROTATION_COUNT; r++) {
        uvea_iris_rotate(query, r - UVEA_ROTATION_MAX, &rotated[r]);
    }
}

static void search_eye(const struct uvea_template_pair *database, const uint32_t *indices,
                       size_t count, enum uvea_eye eye, const struct uvea_template *query,
                       struct fixture_eye *out)
{
    struct uvea_template *rotated = uvea_mem_alloc(UVEA_ROTATION_COUNT, sizeof(*rotated));

    out->candidates = uvea_mem_alloc(count, sizeof(*out->candidates));
    out->distances = uvea_mem_alloc(count * UVEA_ROTATION_COUNT, sizeof(*out->distances));
    assert_non_null(rotated);
    assert_non_null(out->candidates);
    assert_non_null(out->distances);
    rotate_all(query, rotated);
    for (size_t i = 0; i < count; i++) {
        struct uvea_candidate candidate = {.index = indices[i]};
        for (int r = 0; r < UVEA_ROTATION_COUNT; r++) {
            const struct fixture_score s = score(&rotated[r], &database[indices[i]].eye[eye]);
            if (4 * s.code >= s.mask) {
                candidate.anonymous |= UINT32_C(1) << r;
                out->distances[out->distance_count++] = s;
            }
            if (INT64_C(65536) * s.code >= INT64_C(20316) * s.mask) {
                candidate.strict |= UINT32_C(1) << r;
            }
        }
        if (candidate.anonymous != 0) {
            out->candidates[out->candidate_count++] = candidate;
        }
    }
    uvea_mem_free(rotated);
}

static bool is_candidate(const struct fixture_eye *eye, uint32_t index)
{
    for (size_t i = 0; i < eye->candidate_count; i++) {
        if (eye->candidates[i].index == index) {
            return true;
        }
    }
    return false;
}

static void search_orientation(const struct uvea_template_pair *database, size_t count,
                               const struct uvea_template_pair *query, enum uvea_eye first,
                               const uint32_t *known, size_t known_count, uint32_t target,
                               struct fixture_eye *out, uint64_t *comparisons)
{
    const enum uvea_eye second = uvea_eye_other(first);
    uint32_t *indices = uvea_mem_alloc(count, sizeof(*indices));
    size_t chosen = 0;

    assert_non_null(indices);
    for (size_t i = 0; i < count; i++) {
        indices[i] = (uint32_t)i;
    }
    search_eye(database, indices, count, first, &query->eye[first], &out[first]);
    for (size_t i = 0; i < count; i++) {
        bool wanted = i == target || is_candidate(&out[first], (uint32_t)i);
        for (size_t k = 0; k < known_count; k++) {
            wanted = wanted || known[k] == i;
        }
        if (wanted) {
            indices[chosen++] = (uint32_t)i;
        }
    }
    search_eye(database, indices, chosen, second, &query->eye[second], &out[second]);
    *comparisons += count + chosen;
    uvea_mem_free(indices);
}

void fixture_search(const struct uvea_template_pair *database, size_t count,
                    const struct uvea_template_pair *query, enum uvea_eye full_scan_eye,
                    bool mirror, const uint32_t *known, size_t known_count, uint32_t target,
                    struct fixture_result *out)
{
    struct uvea_template_pair mirrored;

    *out = (struct fixture_result){0};
    search_orientation(database, count, query, full_scan_eye, known, known_count, target,
                       out->eye[UVEA_ORIENTATION_NORMAL], &out->comparisons);
    if (mirror) {
        fixture_mirror_pair(query, &mirrored);
        search_orientation(database, count, &mirrored, full_scan_eye, known, known_count,
                           UVEA_SEARCH_NO_TARGET, out->eye[UVEA_ORIENTATION_MIRROR],
                           &out->comparisons);
    }
}

void fixture_result_deinit(struct fixture_result *result)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            uvea_mem_free(result->eye[way][eye].candidates);
            uvea_mem_free(result->eye[way][eye].distances);
        }
    }
}

// ---- comparison

// Party i holds (x_i, x_{i-1}).
static void assert_opens_to(const struct uvea_share32 *const shares[UVEA_PARTY_COUNT], size_t at,
                            int32_t want)
{
    uint32_t sum = 0;

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(shares[i]->b[at], shares[(i + 2) % UVEA_PARTY_COUNT]->a[at]);
        sum += shares[i]->a[at];
    }
    assert_int_equal((int32_t)sum, want);
}

static void assert_distances(const struct fixture_eye *want,
                             const struct uvea_eye_result *const got[UVEA_PARTY_COUNT])
{
    const struct uvea_share32 *codes[UVEA_PARTY_COUNT];
    const struct uvea_share32 *masks[UVEA_PARTY_COUNT];

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        codes[i] = &got[i]->codes;
        masks[i] = &got[i]->masks;
        assert_int_equal(codes[i]->count, want->distance_count);
        assert_int_equal(masks[i]->count, want->distance_count);
    }
    for (size_t j = 0; j < want->distance_count; j++) {
        assert_opens_to(codes, j, want->distances[j].code);
        assert_opens_to(masks, j, want->distances[j].mask);
    }
}

static void assert_candidates(const struct fixture_eye *want,
                              const struct uvea_eye_result *const got[UVEA_PARTY_COUNT])
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(got[i]->candidate_count, want->candidate_count);
        for (size_t c = 0; c < want->candidate_count; c++) {
            assert_int_equal(got[i]->candidates[c].index, want->candidates[c].index);
            assert_int_equal(got[i]->candidates[c].anonymous, want->candidates[c].anonymous);
            assert_int_equal(got[i]->candidates[c].strict, want->candidates[c].strict);
        }
    }
}

void fixture_assert_equal(const struct fixture_result *want,
                          const struct uvea_search_result got[UVEA_PARTY_COUNT])
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            const struct uvea_eye_result *eyes[UVEA_PARTY_COUNT] = {
                &got[0].eye[way][eye], &got[1].eye[way][eye], &got[2].eye[way][eye]};
            assert_candidates(&want->eye[way][eye], eyes);
            assert_distances(&want->eye[way][eye], eyes);
        }
    }
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(got[i].comparisons, want->comparisons);
    }
}

static bool matches_strictly(const struct fixture_eye *eye, uint32_t index)
{
    for (size_t i = 0; i < eye->candidate_count; i++) {
        if (eye->candidates[i].index == index) {
            return eye->candidates[i].strict != 0;
        }
    }
    return false;
}

static void assert_positions(const struct fixture_eye want[UVEA_EYE_COUNT],
                             const struct uvea_search_batch *got)
{
    const struct fixture_eye *left = &want[UVEA_EYE_LEFT];
    size_t at = 0;

    for (size_t i = 0; i < left->candidate_count; i++) {
        const uint32_t index = left->candidates[i].index;
        if (left->candidates[i].strict != 0 && matches_strictly(&want[UVEA_EYE_RIGHT], index)) {
            assert_true(at < got->count);
            assert_int_equal(got->at[at++], index);
        }
    }
    assert_int_equal(got->count, at);
}

void fixture_assert_batch(const struct fixture_result *want,
                          const struct uvea_search_result got[UVEA_PARTY_COUNT])
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            const struct uvea_eye_result *eyes[UVEA_PARTY_COUNT] = {&got[0].batch[way].eye[eye],
                                                                    &got[1].batch[way].eye[eye],
                                                                    &got[2].batch[way].eye[eye]};
            assert_candidates(&want->eye[way][eye], eyes);
            for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
                assert_int_equal(eyes[i]->codes.count + eyes[i]->masks.count, 0);
            }
        }
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            assert_positions(want->eye[way], &got[i].batch[way]);
        }
    }
}
