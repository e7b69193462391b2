#include "core/scan/spectral.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/mpc/convert.h"

#include <string.h>

// ---- records

enum uvea_error uvea_spectral_init(struct uvea_spectral *spectral,
                                   const struct uvea_spectral_kernel *kernel, size_t records_max)
{
    if (records_max == 0 || records_max > UVEA_RESIDENT_RECORDS_MAX) {
        return UVEA_ERR_USAGE;
    }
    const size_t slots = (records_max + kernel->tile_records - 1) / kernel->tile_records;
    void **tiles = uvea_mem_alloc(slots, sizeof(*tiles));
    if (tiles == NULL) {
        return UVEA_ERR_MEMORY;
    }
    *spectral = (struct uvea_spectral){.kernel = kernel, .tiles = tiles, .tile_slots = slots};
    return UVEA_OK;
}

void uvea_spectral_deinit(struct uvea_spectral *spectral)
{
    for (size_t i = 0; i < spectral->tile_slots && spectral->tiles[i] != NULL; i++) {
        uvea_mem_wipe(spectral->tiles[i], spectral->kernel->tile_bytes);
        uvea_mem_free(spectral->tiles[i]);
    }
    uvea_mem_free(spectral->tiles);
    *spectral = (struct uvea_spectral){0};
}

// Makes the tiles that hold the records below count.
static enum uvea_error reserve(struct uvea_spectral *spectral, size_t count)
{
    const size_t tile_records = spectral->kernel->tile_records;
    const size_t tiles = (count + tile_records - 1) / tile_records;

    if (tiles > spectral->tile_slots) {
        return UVEA_ERR_LIMIT;
    }
    for (size_t i = tiles; i-- > 0 && spectral->tiles[i] == NULL;) {
        spectral->tiles[i] = uvea_mem_alloc(1, spectral->kernel->tile_bytes);
        if (spectral->tiles[i] == NULL) {
            return UVEA_ERR_MEMORY;
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_spectral_grow(struct uvea_spectral *spectral, size_t count)
{
    UVEA_TRY(reserve(spectral, count));
    spectral->count = count > spectral->count ? count : spectral->count;
    return UVEA_OK;
}

void uvea_spectral_set(struct uvea_spectral *spectral, size_t index,
                       const struct uvea_spectrum *record)
{
    const size_t tile_records = spectral->kernel->tile_records;

    UVEA_CHECK(index < spectral->count);
    spectral->kernel->tile_put(spectral->tiles[index / tile_records], index % tile_records, record);
}

// ---- conversion

void uvea_spectral_deletion_dummy(struct uvea_spectrum *out)
{
    // One value at each position: nothing but the frequency 0 of each channel, which is its sum.
    memset(out, 0, sizeof(*out));
    for (size_t channel = 0; channel < UVEA_SPECTRUM_CHANNELS; channel++) {
        out->values[channel] = UVEA_TRANSFORM_POINTS;
    }
}

// Records of one exchange: bounds what a session needs at a time to about 1 MB.
enum { STEP_RECORDS = 4 };

struct step {
    struct uvea_convert_source sources[STEP_RECORDS];
    struct uvea_field_eye eyes[STEP_RECORDS];
};

static enum uvea_error convert_step(struct uvea_session *session, const uint16_t *const *eyes,
                                    size_t count, struct step *step, struct uvea_spectrum *out)
{
    for (size_t i = 0; i < count; i++) {
        step->sources[i] = (struct uvea_convert_source){
            .code = eyes[i],
            .mask = eyes[i] + UVEA_SHARE_COEFFICIENTS,
        };
    }
    UVEA_TRY(uvea_mpc_convert_eyes(session, step->sources, count, step->eyes));
    for (size_t i = 0; i < count; i++) {
        uvea_spectrum_of_record(&step->eyes[i], &out[i]);
    }
    return UVEA_OK;
}

enum uvea_error uvea_spectral_convert(struct uvea_session *session, const uint16_t *const *eyes,
                                      size_t count, struct uvea_spectrum *out)
{
    struct step *step = uvea_mem_alloc(1, sizeof(*step));
    enum uvea_error error = step == NULL ? UVEA_ERR_MEMORY : UVEA_OK;

    for (size_t done = 0; done < count && error == UVEA_OK; done += STEP_RECORDS) {
        const size_t left = count - done;
        error = convert_step(session, eyes + done, left < STEP_RECORDS ? left : STEP_RECORDS, step,
                             out + done);
    }
    if (step != NULL) {
        uvea_mem_wipe(step, sizeof(*step));
        uvea_mem_free(step);
    }
    if (error != UVEA_OK) {
        uvea_mem_wipe(out, count * sizeof(*out));
    }
    return error;
}

// ---- queries

struct query_work {
    struct uvea_field_eye eyes[UVEA_ORIENTATION_COUNT]; // the scanned eye, the other eye
    struct uvea_spectrum spectrum;
};

static enum uvea_error prepare(struct uvea_session *session, const struct uvea_field_eye *eye,
                               const struct uvea_spectral_kernel *kernel,
                               struct uvea_spectrum *scratch, void **prepared)
{
    *prepared = uvea_mem_alloc(1, kernel->query_bytes);
    if (*prepared == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_spectrum_of_query(session->party, eye, scratch);
    kernel->query_put(*prepared, scratch);
    return UVEA_OK;
}

static enum uvea_error convert_query(struct uvea_session *session,
                                     const struct uvea_iris_upload *upload, enum uvea_eye scanned,
                                     bool mirror, const struct uvea_spectral_kernel *kernel,
                                     struct query_work *work, struct uvea_spectral_query *query)
{
    const enum uvea_eye other = uvea_eye_other(scanned);
    const struct uvea_convert_source sources[UVEA_ORIENTATION_COUNT] = {
        {upload->eye[scanned].code, upload->eye[scanned].mask},
        {upload->eye[other].code, upload->eye[other].mask},
    };

    UVEA_TRY(uvea_mpc_convert_eyes(session, sources, mirror ? 2 : 1, work->eyes));
    uvea_spectrum_of_record(&work->eyes[0], query->record);
    UVEA_TRY(prepare(session, &work->eyes[0], kernel, &work->spectrum,
                     &query->prepared[UVEA_ORIENTATION_NORMAL]));
    if (!mirror) {
        return UVEA_OK;
    }
    uvea_field_eye_mirror(&work->eyes[1]);
    return prepare(session, &work->eyes[1], kernel, &work->spectrum,
                   &query->prepared[UVEA_ORIENTATION_MIRROR]);
}

enum uvea_error uvea_spectral_query_convert(struct uvea_session *session,
                                            const struct uvea_iris_upload *upload,
                                            enum uvea_eye scanned_eye, bool mirror,
                                            const struct uvea_spectral_kernel *kernel,
                                            struct uvea_spectral_query *query)
{
    struct query_work *work = uvea_mem_alloc(1, sizeof(*work));
    enum uvea_error error = UVEA_ERR_MEMORY;

    *query = (struct uvea_spectral_query){
        .prepared_bytes = kernel->query_bytes,
        .record = uvea_mem_alloc(1, sizeof(*query->record)),
    };
    if (work != NULL && query->record != NULL) {
        error = convert_query(session, upload, scanned_eye, mirror, kernel, work, query);
    }
    if (work != NULL) {
        uvea_mem_wipe(work, sizeof(*work));
        uvea_mem_free(work);
    }
    if (error != UVEA_OK) {
        uvea_spectral_query_deinit(query);
    }
    return error;
}

static void wipe_free(void *memory, size_t bytes)
{
    if (memory != NULL) {
        uvea_mem_wipe(memory, bytes);
        uvea_mem_free(memory);
    }
}

void uvea_spectral_query_deinit(struct uvea_spectral_query *query)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        wipe_free(query->prepared[way], query->prepared_bytes);
    }
    wipe_free(query->record, sizeof(*query->record));
    *query = (struct uvea_spectral_query){0};
}
