#include "core/base/mem.h"
#include "core/scan/query.h"
#include "tests/scan/fixture.h"
#include "tests/support/cmocka.h"

#include <string.h>

struct space {
    struct uvea_template_pair pair;
    struct uvea_template_pair mirrored;
    struct uvea_iris_upload upload[UVEA_PARTY_COUNT];
    struct uvea_iris_upload record[UVEA_PARTY_COUNT];
    struct uvea_scan_query query[UVEA_PARTY_COUNT];
    uint16_t eye[UVEA_PARTY_COUNT][UVEA_RECORD_COEFFICIENTS];
    uint16_t scores[UVEA_PARTY_COUNT][UVEA_SCORES_PER_RECORD];
};

static int set_up(void **state)
{
    struct space *space = uvea_mem_alloc(1, sizeof(*space));
    struct uvea_chacha rng;

    if (space == NULL) {
        return -1;
    }
    uvea_chacha_init_seeded(&rng, 11);
    fixture_pair(&rng, &space->pair);
    fixture_mirror_pair(&space->pair, &space->mirrored);
    fixture_split(&rng, &space->pair, space->upload);
    *state = space;
    return 0;
}

static int tear_down(void **state)
{
    uvea_mem_free(*state);
    return 0;
}

// (C, half M) of the prepared query against one eye of `records`, unrotated, put together from the
// three parties.
static struct fixture_score combined_score(struct space *space, enum uvea_orientation way,
                                           enum uvea_eye eye)
{
    const size_t unrotated = 2 * (size_t)UVEA_ROTATION_MAX;
    uint16_t code = 0;
    uint16_t mask = 0;

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_iris_share *share = &space->record[i].eye[eye];
        const uint16_t *record = space->eye[i];
        memcpy(space->eye[i], share->code, sizeof(share->code));
        memcpy(space->eye[i] + UVEA_SHARE_COEFFICIENTS, share->mask,
               UVEA_MASK_COEFFICIENTS * sizeof(share->mask[0]));
        uvea_ring_kernel_portable.scores(&space->query[i].eye[way][eye], &record, 1,
                                         space->scores[i]);
        code = (uint16_t)(code + space->scores[i][unrotated]);
        mask = (uint16_t)(mask + space->scores[i][unrotated + 1]);
    }
    return (struct fixture_score){(int16_t)code, 2 * (int32_t)mask};
}

static void assert_same_eye(struct fixture_score score, bool same)
{
    assert_in_range(score.mask, 9000, 12800);
    if (same) {
        assert_int_equal(score.code, score.mask);
    } else {
        assert_in_range(score.code + 1000, 0, 2000);
    }
}

// Against the same pair as records: each eye meets itself, in the normal orientation only.
static void normal_query_meets_its_own_eyes(void **state)
{
    struct space *space = *state;

    memcpy(space->record, space->upload, sizeof(space->record));
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(
            uvea_scan_query_prepare(uvea_party_at(i), &space->upload[i], true, &space->query[i]),
            UVEA_OK);
    }
    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        assert_same_eye(combined_score(space, UVEA_ORIENTATION_NORMAL, (enum uvea_eye)eye), true);
        assert_same_eye(combined_score(space, UVEA_ORIENTATION_MIRROR, (enum uvea_eye)eye), false);
    }
}

// Against the face in a mirror: the right eye's mirror image stands where the left eye is.
static void mirror_query_meets_the_face_in_the_mirror(void **state)
{
    struct space *space = *state;
    struct uvea_chacha rng;

    uvea_chacha_init_seeded(&rng, 12);
    fixture_split(&rng, &space->mirrored, space->record);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(
            uvea_scan_query_prepare(uvea_party_at(i), &space->upload[i], true, &space->query[i]),
            UVEA_OK);
    }
    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        assert_same_eye(combined_score(space, UVEA_ORIENTATION_NORMAL, (enum uvea_eye)eye), false);
        assert_same_eye(combined_score(space, UVEA_ORIENTATION_MIRROR, (enum uvea_eye)eye), true);
    }
}

static void mirror_half_is_left_alone_unless_asked_for(void **state)
{
    struct space *space = *state;
    struct uvea_scan_query *query = &space->query[0];
    struct uvea_ring_query before;

    memset(query, 0x5a, sizeof(*query));
    memcpy(&before, &query->eye[UVEA_ORIENTATION_MIRROR][UVEA_EYE_LEFT], sizeof(before));
    assert_int_equal(uvea_scan_query_prepare(uvea_party_at(0), &space->upload[0], false, query),
                     UVEA_OK);
    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        assert_memory_equal(&query->eye[UVEA_ORIENTATION_MIRROR][eye], &before, sizeof(before));
        assert_memory_not_equal(&query->eye[UVEA_ORIENTATION_NORMAL][eye], &before, sizeof(before));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_query_meets_its_own_eyes),
        cmocka_unit_test(mirror_query_meets_the_face_in_the_mirror),
        cmocka_unit_test(mirror_half_is_left_alone_unless_asked_for),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
