#include "tests/scan/world.h"

#include "core/base/mem.h"
#include "tests/support/cmocka.h"

#include <string.h>

struct world *world_alloc(void)
{
    struct world *world = uvea_mem_alloc(1, sizeof(*world));

    assert_non_null(world);
    return world;
}

void world_free(struct world *world)
{
    world_unload(world);
    uvea_mem_free(world);
}

// ---- sharing

void world_share_record(struct world *world, struct uvea_chacha *rng, size_t index)
{
    struct uvea_iris_upload *uploads = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*uploads));

    assert_non_null(uploads);
    fixture_split(rng, &world->records[index], uploads);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            uvea_scan_record_of_share(&uploads[i].eye[eye], world->store[i].eye[eye][index]);
        }
    }
    uvea_mem_free(uploads);
}

void world_share_query(struct world *world, struct uvea_chacha *rng)
{
    fixture_split(rng, &world->query, world->upload);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(
            uvea_scan_query_prepare(uvea_party_at(i), &world->upload[i], true, &world->prepared[i]),
            UVEA_OK);
    }
}

void world_share(struct world *world, struct uvea_chacha *rng)
{
    for (size_t r = 0; r < world->count; r++) {
        world_share_record(world, rng, r);
    }
    world_share_query(world, rng);
}

// ---- databases

static enum uvea_error read_store(void *arg, uint32_t serial, uint16_t version,
                                  uint16_t out[UVEA_RECORD_COEFFICIENTS],
                                  struct uvea_error_context *context)
{
    struct world_store *store = arg;

    store->reads++;
    if (serial == store->fails_at) {
        return uvea_error_set(context, UVEA_ERR_IO, "the store is gone");
    }
    if (serial == 0 || serial > WORLD_RECORDS_MAX || store->version[serial - 1] != version) {
        return uvea_error_set(context, UVEA_ERR_NOT_FOUND, "no such version");
    }
    memcpy(out, store->eye[store->cold][serial - 1], UVEA_RECORD_COEFFICIENTS * sizeof(*out));
    return UVEA_OK;
}

void world_load(struct world *world, struct cluster *cluster, enum uvea_eye scanned,
                const struct uvea_cold_config *config)
{
    uint32_t index;

    world_unload(world);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct world_store *store = &world->store[i];
        struct uvea_cold_config cold = {0};
        if (config != NULL) {
            cold = *config;
        }
        cold.rt = &cluster->rt[i].rt;
        cold.read = read_store;
        cold.arg = store;
        store->cold = uvea_eye_other(scanned);
        assert_int_equal(uvea_cold_open(&cold, &world->cold[i]), UVEA_OK);
        assert_int_equal(uvea_resident_init(&world->resident[i], WORLD_RECORDS_MAX), UVEA_OK);
        for (size_t r = 0; r < world->count; r++) {
            assert_int_equal(uvea_resident_insert(&world->resident[i], store->eye[scanned][r],
                                                  store->version[r], &index),
                             UVEA_OK);
        }
    }
}

void world_unload(struct world *world)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (world->spectral[i].tiles != NULL) {
            uvea_spectral_deinit(&world->spectral[i]);
        }
        uvea_spectral_query_deinit(&world->spectral_query[i]);
        uvea_resident_deinit(&world->resident[i]);
        uvea_cold_close(world->cold[i]);
        world->cold[i] = NULL;
    }
}

// ---- spectra

struct conversion {
    struct world *world;
    const struct uvea_search_config *config;
    const uint16_t *eye[UVEA_PARTY_COUNT];
    struct uvea_spectrum *spectrum[UVEA_PARTY_COUNT];
};

static enum uvea_error convert_records(struct cluster *cluster, unsigned party, void *arg,
                                       struct uvea_error_context *context)
{
    const struct conversion *conversion = arg;
    const struct uvea_resident *resident = &conversion->world->resident[party];
    struct uvea_spectral *spectral = &conversion->world->spectral[party];
    struct uvea_spectrum *spectrum = uvea_mem_alloc(1, sizeof(*spectrum));
    enum uvea_error error;

    (void)context;
    if (spectrum == NULL) {
        return UVEA_ERR_MEMORY;
    }
    UVEA_TRY_CLEANUP(uvea_spectral_grow(spectral, resident->count));
    for (uint32_t i = 0; i < resident->count; i++) {
        const uint16_t *eye = uvea_resident_record(resident, i);
        UVEA_TRY_CLEANUP(uvea_spectral_convert(cluster->at[party][0], &eye, 1, spectrum));
        uvea_spectral_set(spectral, i, spectrum);
    }
cleanup:
    uvea_mem_free(spectrum);
    return error;
}

static enum uvea_error convert_query(struct cluster *cluster, unsigned party, void *arg,
                                     struct uvea_error_context *context)
{
    const struct conversion *conversion = arg;

    (void)context;
    return uvea_spectral_query_convert(
        cluster->at[party][0], &conversion->world->upload[party], conversion->config->full_scan_eye,
        true, conversion->config->spectral_kernel, &conversion->world->spectral_query[party]);
}

static enum uvea_error convert_eye(struct cluster *cluster, unsigned party, void *arg,
                                   struct uvea_error_context *context)
{
    const struct conversion *conversion = arg;

    (void)context;
    return uvea_spectral_convert(cluster->at[party][1], &conversion->eye[party], 1,
                                 conversion->spectrum[party]);
}

void world_convert(struct world *world, struct cluster *cluster,
                   const struct uvea_search_config *config)
{
    struct conversion conversion = {.world = world, .config = config};

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_equal(
            uvea_spectral_init(&world->spectral[i], config->spectral_kernel, WORLD_RECORDS_MAX),
            UVEA_OK);
    }
    cluster_run(cluster, convert_records, &conversion);
}

void world_convert_query(struct world *world, struct cluster *cluster,
                         const struct uvea_search_config *config)
{
    struct conversion conversion = {.world = world, .config = config};

    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_spectral_query_deinit(&world->spectral_query[i]);
    }
    cluster_run(cluster, convert_query, &conversion);
}

// ---- changes

struct change {
    uint16_t eye[UVEA_EYE_COUNT][UVEA_RECORD_COEFFICIENTS];
    struct uvea_spectrum spectrum;
};

static void apply(struct world *world, int party, size_t index, struct change *change,
                  const struct uvea_search_config *config)
{
    const enum uvea_eye scanned = config->full_scan_eye;
    const enum uvea_eye other = uvea_eye_other(scanned);
    struct uvea_resident *resident = &world->resident[party];
    const uint16_t version = (uint16_t)(uvea_resident_version(resident, (uint32_t)index) + 1);

    assert_int_equal(
        uvea_cold_put(world->cold[party], (uint32_t)index + 1, version, change->eye[other]),
        UVEA_OK);
    assert_int_equal(uvea_resident_update(resident, (uint32_t)index, change->eye[scanned], version),
                     UVEA_OK);
    if (config->path == UVEA_SEARCH_NTT) {
        uvea_spectral_set(&world->spectral[party], index, &change->spectrum);
    }
}

void world_update(struct world *world, struct cluster *cluster, struct uvea_chacha *rng,
                  size_t index, const struct uvea_search_config *config)
{
    struct uvea_iris_upload *uploads = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*uploads));
    struct change *changes = uvea_mem_alloc(UVEA_PARTY_COUNT, sizeof(*changes));
    struct conversion conversion = {.world = world, .config = config};

    assert_non_null(uploads);
    assert_non_null(changes);
    fixture_split(rng, &world->records[index], uploads);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            uvea_scan_record_of_share(&uploads[i].eye[eye], changes[i].eye[eye]);
        }
        conversion.eye[i] = changes[i].eye[config->full_scan_eye];
        conversion.spectrum[i] = &changes[i].spectrum;
    }
    if (config->path == UVEA_SEARCH_NTT) {
        cluster_run(cluster, convert_eye, &conversion);
    }
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        apply(world, i, index, &changes[i], config);
    }
    uvea_mem_free(uploads);
    uvea_mem_free(changes);
}

void world_delete(struct world *world, size_t index, const struct uvea_search_config *config)
{
    struct uvea_iris_share *share = uvea_mem_alloc(1, sizeof(*share));
    struct change *change = uvea_mem_alloc(1, sizeof(*change));

    assert_non_null(share);
    assert_non_null(change);
    uvea_spectral_deletion_dummy(&change->spectrum);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_iris_deletion_dummy(uvea_party_at(i), share);
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            uvea_scan_record_of_share(share, change->eye[eye]);
        }
        apply(world, (int)i, index, change, config);
    }
    for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
        memset(world->records[index].eye[eye].code, 0, sizeof(world->records[index].eye[eye].code));
        memset(world->records[index].eye[eye].mask, 0xff,
               sizeof(world->records[index].eye[eye].mask));
    }
    uvea_mem_free(share);
    uvea_mem_free(change);
}

// ---- searching

void world_search(struct world *world, struct cluster *cluster,
                  const struct uvea_search_config *config, const struct uvea_search_job *jobs,
                  struct uvea_search_result *results)
{
    const struct cluster_search search = {
        .config = config,
        .databases = world->resident,
        .colds = world->cold,
        .spectra = config->path == UVEA_SEARCH_NTT ? world->spectral : NULL,
        .jobs = jobs,
        .results = results,
    };

    cluster_search(cluster, &search);
}

// ---- populations

void world_rotate_eye(struct uvea_template_pair *pair, enum uvea_eye eye, int columns)
{
    const struct uvea_template before = pair->eye[eye];

    uvea_iris_rotate(&before, columns, &pair->eye[eye]);
}

// What record `index` has to do with the query; a record is random to begin with.
static void relate(struct uvea_chacha *rng, size_t index, const struct uvea_template_pair *query,
                   struct uvea_template_pair *record)
{
    struct uvea_template_pair mirrored;

    fixture_mirror_pair(query, &mirrored);
    switch (index) {
    case 0: // left eye passes anonymously only
        *record = *query;
        fixture_flip(rng, &record->eye[UVEA_EYE_LEFT], 4150);
        break;
    case 1: // seen from the left eye, a stranger
        record->eye[UVEA_EYE_RIGHT] = query->eye[UVEA_EYE_RIGHT];
        break;
    case 2:
        *record = mirrored;
        break;
    case 3: // both rotated as far as is searched, in opposite directions
        *record = *query;
        world_rotate_eye(record, UVEA_EYE_LEFT, -UVEA_ROTATION_MAX);
        world_rotate_eye(record, UVEA_EYE_RIGHT, UVEA_ROTATION_MAX);
        break;
    case 4: // one column too far on one eye
        *record = *query;
        world_rotate_eye(record, UVEA_EYE_RIGHT, UVEA_ROTATION_MAX + 1);
        break;
    case 5: // mirrored left eye only, rotated
        record->eye[UVEA_EYE_LEFT] = mirrored.eye[UVEA_EYE_LEFT];
        world_rotate_eye(record, UVEA_EYE_LEFT, 6);
        break;
    default:
        if (index % 11 == 0) {
            *record = *query;
            world_rotate_eye(record, UVEA_EYE_LEFT, (int)(index % 13) - 6);
            fixture_flip(rng, &record->eye[UVEA_EYE_RIGHT], 4200);
        }
        break;
    }
}

struct world *world_related(size_t count)
{
    struct world *world = world_alloc();
    struct uvea_chacha rng;

    uvea_chacha_init_seeded(&rng, 1000 + count);
    world->count = count;
    fixture_pair(&rng, &world->query);
    for (size_t i = 0; i < count; i++) {
        fixture_pair(&rng, &world->records[i]);
        if (i + 1 < count) {
            relate(&rng, i, &world->query, &world->records[i]);
        } else {
            world->records[i] = world->query;
        }
    }
    world_share(world, &rng);
    return world;
}
