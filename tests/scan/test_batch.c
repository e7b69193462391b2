// Requests of one batch compared with the earlier ones, against the plaintext.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/scan/search.h"
#include "tests/scan/world.h"
#include "tests/support/cmocka.h"

enum {
    BATCH_MAX = 64,
    RECORDS = 3,
    FIRST_ID = 7,
};

enum relation {
    SAME,
    TURNED,     // a few columns, in opposite directions, and some noise
    NEAR,       // anonymous on one eye, strict on the other
    LEFT_ONLY,  // a stranger's right eye
    RIGHT_ONLY, // a stranger's left eye
    MIRRORED,
    MIRRORED_LEFT,
    RELATIONS,
};

struct request {
    struct uvea_template_pair pair;
    struct uvea_iris_upload upload[UVEA_PARTY_COUNT];
    uint16_t record[UVEA_PARTY_COUNT][UVEA_EYE_COUNT][UVEA_RECORD_COEFFICIENTS];
};

struct batch {
    struct world *world;
    struct uvea_chacha rng;
    struct cluster cluster;
    struct uvea_template_pair pairs[BATCH_MAX];
    struct request *requests;
    struct uvea_search_earlier earlier[UVEA_PARTY_COUNT][BATCH_MAX];
    size_t count;
};

static struct batch *open_batch(size_t count, size_t sessions,
                                const struct uvea_search_config *config)
{
    struct batch *batch = uvea_mem_alloc(1, sizeof(*batch));

    assert_non_null(batch);
    batch->count = count;
    batch->requests = uvea_mem_alloc(count, sizeof(*batch->requests));
    assert_non_null(batch->requests);
    uvea_chacha_init_seeded(&batch->rng, 500 + count);
    for (size_t i = 0; i < count; i++) {
        fixture_pair(&batch->rng, &batch->pairs[i]);
    }
    cluster_open(&batch->cluster, sessions, FIRST_ID, UVEA_PRF_AES128);
    batch->world = world_related(RECORDS);
    world_load(batch->world, &batch->cluster, config->full_scan_eye, NULL);
    if (config->path == UVEA_SEARCH_NTT) {
        world_convert(batch->world, &batch->cluster, config);
    }
    return batch;
}

static void close_batch(struct batch *batch)
{
    world_free(batch->world);
    cluster_close(&batch->cluster);
    uvea_mem_free(batch->requests);
    uvea_mem_free(batch);
}

static void relate(struct batch *batch, size_t from, size_t to, enum relation relation)
{
    const struct uvea_template_pair *one = &batch->pairs[from];
    struct uvea_template_pair *other = &batch->pairs[to];
    struct uvea_template_pair mirrored;

    fixture_mirror_pair(one, &mirrored);
    switch (relation) {
    case SAME:
        *other = *one;
        break;
    case TURNED:
        *other = *one;
        world_rotate_eye(other, UVEA_EYE_LEFT, 4);
        world_rotate_eye(other, UVEA_EYE_RIGHT, -UVEA_ROTATION_MAX);
        fixture_flip(&batch->rng, &other->eye[UVEA_EYE_LEFT], 2000);
        break;
    case NEAR:
        *other = *one;
        fixture_flip(&batch->rng, &other->eye[to % UVEA_EYE_COUNT], 4150);
        break;
    case LEFT_ONLY:
        other->eye[UVEA_EYE_LEFT] = one->eye[UVEA_EYE_LEFT];
        break;
    case RIGHT_ONLY:
        other->eye[UVEA_EYE_RIGHT] = one->eye[UVEA_EYE_RIGHT];
        break;
    case MIRRORED:
        *other = mirrored;
        break;
    case MIRRORED_LEFT:
        other->eye[UVEA_EYE_LEFT] = mirrored.eye[UVEA_EYE_LEFT];
        break;
    case RELATIONS:
        break;
    }
}

static void share(struct batch *batch)
{
    for (size_t r = 0; r < batch->count; r++) {
        struct request *request = &batch->requests[r];
        request->pair = batch->pairs[r];
        fixture_split(&batch->rng, &request->pair, request->upload);
        for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
            for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
                uvea_scan_record_of_share(&request->upload[i].eye[eye], request->record[i][eye]);
                batch->earlier[i][r].eye[eye] = request->record[i][eye];
            }
        }
    }
}

static void prepare(struct batch *batch, size_t at, const struct uvea_search_config *config)
{
    struct world *world = batch->world;

    world->query = batch->pairs[at];
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        world->upload[i] = batch->requests[at].upload[i];
        assert_int_equal(
            uvea_scan_query_prepare(uvea_party_at(i), &world->upload[i], true, &world->prepared[i]),
            UVEA_OK);
    }
    if (config->path == UVEA_SEARCH_NTT) {
        world_convert_query(world, &batch->cluster, config);
    }
}

// Searches request `at`, compares everything with the plaintext, and gives how many earlier ones
// match in each orientation.
static void search_one(struct batch *batch, size_t at, bool mirror,
                       const struct uvea_search_config *config,
                       size_t matches[UVEA_ORIENTATION_COUNT])
{
    struct world *world = batch->world;
    struct uvea_search_job jobs[UVEA_PARTY_COUNT];
    struct uvea_search_result results[UVEA_PARTY_COUNT];
    struct fixture_result want;
    struct fixture_result want_batch;

    prepare(batch, at, config);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        jobs[i] = (struct uvea_search_job){
            .query = &world->prepared[i],
            .spectral_query = &world->spectral_query[i],
            .mirror = mirror,
            .target = UVEA_SEARCH_NO_TARGET,
            .earlier = batch->earlier[i],
            .earlier_count = at,
        };
    }
    world_search(world, &batch->cluster, config, jobs, results);
    fixture_search(world->records, world->count, &batch->pairs[at], config->full_scan_eye, mirror,
                   NULL, 0, UVEA_SEARCH_NO_TARGET, &want);
    fixture_search(batch->pairs, at, &batch->pairs[at], config->full_scan_eye, mirror, NULL, 0,
                   UVEA_SEARCH_NO_TARGET, &want_batch);
    want.comparisons += want_batch.comparisons;
    fixture_assert_equal(&want, results);
    fixture_assert_batch(&want_batch, results);
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        matches[way] = results[0].batch[way].count;
    }
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_search_result_deinit(&results[i]);
        assert_null(results[i].batch[0].at);
    }
    fixture_result_deinit(&want);
    fixture_result_deinit(&want_batch);
}

static const struct uvea_search_config ring_configs[] = {
    {
        .full_scan_eye = UVEA_EYE_LEFT,
        .form = UVEA_PREDICATE_DENSE,
        .kernel = &uvea_ring_kernel_portable,
        .chunk_records_max = UVEA_SEARCH_CHUNK_RECORDS,
    },
    {
        .full_scan_eye = UVEA_EYE_RIGHT,
        .form = UVEA_PREDICATE_TWO_TERM,
        .kernel = &uvea_ring_kernel_portable,
        .chunk_records_max = 5,
    },
};

static const struct uvea_search_config ntt_config = {
    .full_scan_eye = UVEA_EYE_LEFT,
    .path = UVEA_SEARCH_NTT,
    .form = UVEA_PREDICATE_DENSE,
    .field_form = UVEA_FIELD_PREDICATE_VALID_RANGE,
    .kernel = &uvea_ring_kernel_portable,
    .spectral_kernel = &uvea_spectral_kernel_portable,
    .chunk_records_max = 4,
};

// ---- twins

// Requests `from` and `to` are related and all others strangers: only `to` finds anything, and
// finds it where it is.
static void twins_are_found(size_t count, size_t from, size_t to, enum relation relation,
                            const struct uvea_search_config *config)
{
    struct batch *batch = open_batch(count, 16, config);
    const bool straight = relation == SAME || relation == TURNED;

    relate(batch, from, to, relation);
    share(batch);
    for (size_t at = 0; at < count; at++) {
        size_t matches[UVEA_ORIENTATION_COUNT];
        search_one(batch, at, true, config, matches);
        assert_int_equal(matches[UVEA_ORIENTATION_NORMAL], at == to && straight);
        assert_int_equal(matches[UVEA_ORIENTATION_MIRROR], at == to && relation == MIRRORED);
    }
    close_batch(batch);
}

static void twins_are_found_at_the_edges_of_a_batch(void **state)
{
    static const size_t counts[] = {2, 3, 5};

    (void)state;
    for (size_t c = 0; c < UVEA_COUNT_OF(counts); c++) {
        const size_t count = counts[c];
        for (int relation = 0; relation < RELATIONS; relation++) {
            const struct uvea_search_config *config = &ring_configs[(c + (size_t)relation) % 2];
            twins_are_found(count, 0, 1, (enum relation)relation, config);
            twins_are_found(count, 0, count - 1, (enum relation)relation, config);
            twins_are_found(count, count - 2, count - 1, (enum relation)relation, config);
        }
    }
}

static void twins_are_found_on_the_ntt_path(void **state)
{
    (void)state;
    twins_are_found(4, 0, 1, SAME, &ntt_config);
    twins_are_found(4, 0, 3, MIRRORED, &ntt_config);
    twins_are_found(4, 2, 3, TURNED, &ntt_config);
    twins_are_found(4, 1, 3, NEAR, &ntt_config);
}

// The largest batch, on many lanes, with every relation in it.
static void a_full_batch_agrees_with_plaintext(void **state)
{
    struct batch *batch = open_batch(BATCH_MAX, 24, &ring_configs[1]);
    size_t found[UVEA_ORIENTATION_COUNT] = {0};

    (void)state;
    relate(batch, 0, 1, SAME);
    relate(batch, 0, BATCH_MAX - 1, TURNED);
    relate(batch, BATCH_MAX - 3, BATCH_MAX - 2, MIRRORED);
    for (size_t i = 5; i < 40; i += 5) {
        relate(batch, i, i + 3, (enum relation)(i / 5 - 1));
    }
    share(batch);
    for (size_t at = 0; at < BATCH_MAX; at++) {
        size_t matches[UVEA_ORIENTATION_COUNT];
        search_one(batch, at, true, &ring_configs[1], matches);
        found[UVEA_ORIENTATION_NORMAL] += matches[UVEA_ORIENTATION_NORMAL];
        found[UVEA_ORIENTATION_MIRROR] += matches[UVEA_ORIENTATION_MIRROR];
    }
    // 1 with 0; 63 with 0 and 1; 8 with 5; 13 with 10.
    assert_int_equal(found[UVEA_ORIENTATION_NORMAL], 5);
    assert_int_equal(found[UVEA_ORIENTATION_MIRROR], 2);
    close_batch(batch);
}

// ---- sessions

static uint64_t quarter_messages(const struct batch *batch, unsigned quarter)
{
    uint64_t messages = 0;

    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        for (size_t lane = 0; lane < batch->cluster.session_count / 8; lane++) {
            messages += batch->cluster
                            .at[0][uvea_search_session_position(batch->cluster.session_count,
                                                                (enum uvea_eye)eye, quarter, lane)]
                            ->traffic.messages;
        }
    }
    return messages;
}

// The first request costs nothing on the batch's quarters, and the mirror's is used only when it is
// asked for.
static void earlier_requests_have_quarters_of_their_own(void **state)
{
    struct batch *batch = open_batch(3, 16, &ring_configs[0]);
    size_t matches[UVEA_ORIENTATION_COUNT];
    uint64_t database;

    (void)state;
    share(batch);
    search_one(batch, 0, true, &ring_configs[0], matches);
    assert_true(quarter_messages(batch, 0) > 0 && quarter_messages(batch, 1) > 0);
    assert_int_equal(quarter_messages(batch, 2) + quarter_messages(batch, 3), 0);
    database = quarter_messages(batch, 1);
    search_one(batch, 1, false, &ring_configs[0], matches);
    assert_int_equal(quarter_messages(batch, 1), database);
    assert_true(quarter_messages(batch, 2) > 0);
    assert_int_equal(quarter_messages(batch, 3), 0);
    search_one(batch, 2, true, &ring_configs[0], matches);
    assert_true(quarter_messages(batch, 3) > 0);
    close_batch(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twins_are_found_at_the_edges_of_a_batch),
        cmocka_unit_test(twins_are_found_on_the_ntt_path),
        cmocka_unit_test(a_full_batch_agrees_with_plaintext),
        cmocka_unit_test(earlier_requests_have_quarters_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
