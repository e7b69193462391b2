#include "core/scan/spectral.h"

#include "core/base/mem.h"
#include "core/mpc/convert.h"
#include "core/scan/fanout.h"

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

static void put(struct uvea_spectral *spectral, size_t index, const struct uvea_spectrum *record)
{
    const size_t tile_records = spectral->kernel->tile_records;

    spectral->kernel->tile_put(spectral->tiles[index / tile_records], index % tile_records, record);
}

enum uvea_error uvea_spectral_insert(struct uvea_spectral *spectral,
                                     const struct uvea_spectrum *record)
{
    UVEA_TRY(reserve(spectral, spectral->count + 1));
    put(spectral, spectral->count, record);
    spectral->count++;
    return UVEA_OK;
}

// ---- all records at start-up

struct conversion {
    const struct uvea_spectral_load *load;
    struct uvea_spectral *spectral;
    size_t session_count;
};

// Records of one exchange: bounds what a session needs at a time to about 1 MB.
enum { STEP_RECORDS = 4 };

struct step {
    struct uvea_convert_source sources[STEP_RECORDS];
    struct uvea_field_eye eyes[STEP_RECORDS];
    struct uvea_spectrum spectrum;
};

static enum uvea_error convert_step(struct conversion *conversion, struct step *step, size_t first,
                                    size_t count, struct uvea_session *session)
{
    const struct uvea_spectral_load *load = conversion->load;

    for (size_t i = 0; i < count; i++) {
        const uint16_t *record =
            uvea_resident_record(load->resident, load->eye, (uint32_t)(first + i));
        step->sources[i] = (struct uvea_convert_source){
            .code = record,
            .mask = record + UVEA_SHARE_COEFFICIENTS,
        };
    }
    UVEA_TRY(uvea_mpc_convert_eyes(session, step->sources, count, step->eyes));
    for (size_t i = 0; i < count; i++) {
        uvea_spectrum_of_record(&step->eyes[i], &step->spectrum);
        put(conversion->spectral, first + i, &step->spectrum);
    }
    return UVEA_OK;
}

static enum uvea_error convert_batch(struct conversion *conversion, size_t first, size_t count,
                                     struct uvea_session *session)
{
    struct step *step = uvea_mem_alloc(1, sizeof(*step));
    enum uvea_error error = UVEA_OK;

    if (step == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t done = 0; done < count && error == UVEA_OK; done += STEP_RECORDS) {
        const size_t left = count - done;
        error = convert_step(conversion, step, first + done,
                             left < STEP_RECORDS ? left : STEP_RECORDS, session);
    }
    uvea_mem_wipe(step, sizeof(*step));
    uvea_mem_free(step);
    return error;
}

static enum uvea_error convert_item(void *arg, size_t item, struct uvea_error_context *context)
{
    struct conversion *conversion = arg;
    struct uvea_session *session = conversion->load->sessions[item % conversion->session_count];
    const size_t first = item * UVEA_SPECTRAL_BATCH_RECORDS;
    const size_t left = conversion->load->resident->count - first;
    const size_t count = left < UVEA_SPECTRAL_BATCH_RECORDS ? left : UVEA_SPECTRAL_BATCH_RECORDS;
    const enum uvea_error error = convert_batch(conversion, first, count, session);

    if (error != UVEA_OK && context != NULL) {
        *context = session->error;
    }
    return error;
}

enum uvea_error uvea_spectral_convert_all(const struct uvea_spectral_load *load,
                                          struct uvea_spectral *spectral,
                                          struct uvea_error_context *context)
{
    const size_t records = load->resident->count;
    const size_t items = (records + UVEA_SPECTRAL_BATCH_RECORDS - 1) / UVEA_SPECTRAL_BATCH_RECORDS;
    struct conversion conversion = {
        .load = load,
        .spectral = spectral,
        .session_count = load->session_count < UVEA_SPECTRAL_SESSIONS_MAX
                             ? load->session_count
                             : UVEA_SPECTRAL_SESSIONS_MAX,
    };

    if (records == 0) {
        return UVEA_OK;
    }
    UVEA_TRY(reserve(spectral, records));
    UVEA_TRY(uvea_fanout(load->rt, "spectral conversion", convert_item, &conversion, items,
                         conversion.session_count, context));
    spectral->count = records;
    return UVEA_OK;
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
    const enum uvea_eye other = scanned == UVEA_EYE_LEFT ? UVEA_EYE_RIGHT : UVEA_EYE_LEFT;
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
