#include "core/scan/search.h"

#include "core/base/mem.h"
#include "core/scan/fanout.h"
#include "core/scan/list.h"

// The ascending union of the candidates of eye S, the known ones and, seen straight, the target.
static enum uvea_error second_eye_list(const struct uvea_eye_result *first,
                                       const struct uvea_search_job *job, enum uvea_orientation way,
                                       uint32_t **indices, size_t *count)
{
    uint32_t *list = uvea_mem_alloc(first->candidate_count + job->known_count + 1, sizeof(*list));
    uint32_t target = way == UVEA_ORIENTATION_NORMAL ? job->target : UINT32_MAX;
    size_t i = 0;
    size_t k = 0;
    size_t n = 0;

    if (list == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (;;) {
        const uint32_t scanned =
            i < first->candidate_count ? first->candidates[i].index : UINT32_MAX;
        const uint32_t known = k < job->known_count ? job->known[k] : UINT32_MAX;
        uint32_t index = scanned < known ? scanned : known;
        index = target < index ? target : index;
        if (index == UINT32_MAX) {
            break;
        }
        i += scanned == index;
        k += known == index;
        target = target == index ? UINT32_MAX : target;
        list[n++] = index;
    }
    *indices = list;
    *count = n;
    return UVEA_OK;
}

// What runs at once, on sessions of its own each: both orientations over the database, or one pass
// for both, then both over the earlier requests.
enum { PARTS_MAX = 2 * UVEA_ORIENTATION_COUNT };

struct cascade {
    const struct uvea_search *search;
    const struct uvea_search_job *job;
    struct uvea_search_result *result;
    size_t ways;
    size_t ways_at_once;                      // of the database's scan
    uint64_t records[UVEA_ORIENTATION_COUNT]; // compared, on either eye
    uint64_t earlier[UVEA_ORIENTATION_COUNT];
};

// Phase 1, in ways_at_once orientations from the given one on.
static enum uvea_error scan_first_eye(struct cascade *cascade, enum uvea_orientation way,
                                      struct uvea_error_context *context)
{
    const struct uvea_search *search = cascade->search;
    const enum uvea_eye first = search->config->full_scan_eye;
    struct uvea_eye_result *eyes[UVEA_ORIENTATION_COUNT];
    const struct uvea_scan_range range = {
        .way = way,
        .way_count = cascade->ways_at_once,
        .eye = first,
        .count = search->resident->count,
    };

    for (size_t i = 0; i < cascade->ways_at_once; i++) {
        eyes[i] = &cascade->result->eye[way + i][first];
        cascade->records[way + i] = range.count;
    }
    return uvea_scan_list_run(search, cascade->job, &range, eyes, context);
}

// Phase 2, one orientation.
static enum uvea_error scan_second_eye(void *arg, size_t item, struct uvea_error_context *context)
{
    struct cascade *cascade = arg;
    const enum uvea_orientation way = (enum uvea_orientation)item;
    const enum uvea_eye first = cascade->search->config->full_scan_eye;
    const enum uvea_eye second = uvea_eye_other(first);
    struct uvea_eye_result *eyes = cascade->result->eye[way];
    struct uvea_eye_result *const out = &eyes[second];
    struct uvea_scan_range range = {.way = way, .way_count = 1, .eye = second};
    uint32_t *indices;
    enum uvea_error error;

    UVEA_TRY(second_eye_list(&eyes[first], cascade->job, way, &indices, &range.count));
    range.indices = indices;
    error = uvea_scan_list_run(cascade->search, cascade->job, &range, &out, context);
    uvea_mem_free(indices);
    cascade->records[way] += range.count;
    return error;
}

static enum uvea_error search_records(struct cascade *cascade, enum uvea_orientation way,
                                      struct uvea_error_context *context)
{
    UVEA_TRY(scan_first_eye(cascade, way, context));
    return cascade->ways_at_once == 1
               ? scan_second_eye(cascade, way, context)
               : uvea_fanout(cascade->search->rt, "second eye", scan_second_eye, cascade,
                             cascade->ways_at_once, UVEA_ORIENTATION_COUNT, context);
}

// Positions that match strictly on eye T are a subset of those looked at, the candidates of eye S.
static enum uvea_error match_earlier(struct uvea_search_batch *batch, enum uvea_eye first,
                                     enum uvea_eye second)
{
    const struct uvea_eye_result *s = &batch->eye[first];
    const struct uvea_eye_result *t = &batch->eye[second];
    size_t i = 0;

    batch->at = uvea_mem_alloc(t->candidate_count, sizeof(*batch->at));
    if (batch->at == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t j = 0; j < t->candidate_count; j++) {
        while (s->candidates[i].index != t->candidates[j].index) {
            i++;
        }
        if (s->candidates[i].strict != 0 && t->candidates[j].strict != 0) {
            batch->at[batch->count++] = t->candidates[j].index;
        }
    }
    return UVEA_OK;
}

static enum uvea_error search_earlier(struct cascade *cascade, enum uvea_orientation way,
                                      struct uvea_error_context *context)
{
    const struct uvea_search *search = cascade->search;
    const enum uvea_eye first = search->config->full_scan_eye;
    const enum uvea_eye second = uvea_eye_other(first);
    struct uvea_search_batch *batch = &cascade->result->batch[way];
    struct uvea_eye_result *const outs[UVEA_EYE_COUNT] = {&batch->eye[0], &batch->eye[1]};
    struct uvea_scan_range range = {
        .way = way,
        .way_count = 1,
        .eye = first,
        .in_batch = true,
        .count = cascade->job->earlier_count,
    };
    uint32_t *indices;
    enum uvea_error error;

    UVEA_TRY(uvea_scan_list_run(search, cascade->job, &range, &outs[first], context));
    cascade->earlier[way] = range.count;
    range.eye = second;
    range.count = batch->eye[first].candidate_count;
    indices = uvea_mem_alloc(range.count, sizeof(*indices));
    if (indices == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < range.count; i++) {
        indices[i] = batch->eye[first].candidates[i].index;
    }
    range.indices = indices;
    error = uvea_scan_list_run(search, cascade->job, &range, &outs[second], context);
    uvea_mem_free(indices);
    cascade->earlier[way] += range.count;
    return error == UVEA_OK ? match_earlier(batch, first, second) : error;
}

static enum uvea_error run_part(void *arg, size_t part, struct uvea_error_context *context)
{
    struct cascade *cascade = arg;
    const size_t scans = cascade->ways / cascade->ways_at_once;

    return part < scans ? search_records(cascade, (enum uvea_orientation)part, context)
                        : search_earlier(cascade, (enum uvea_orientation)(part - scans), context);
}

static enum uvea_error check_job(const struct uvea_search *search,
                                 const struct uvea_search_job *job,
                                 struct uvea_error_context *context)
{
    for (size_t i = 0; i < job->known_count; i++) {
        if (job->known[i] >= search->resident->count ||
            (i > 0 && job->known[i - 1] >= job->known[i])) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "known candidates must be ascending records, entry %zu is not",
                                  i);
        }
    }
    if (job->target != UVEA_SEARCH_NO_TARGET && job->target >= search->resident->count) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "target %u of %zu records",
                              (unsigned)job->target, search->resident->count);
    }
    if (job->earlier_count > UVEA_SEARCH_EARLIER_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%zu earlier requests: at most %d",
                              job->earlier_count, UVEA_SEARCH_EARLIER_MAX);
    }
    return UVEA_OK;
}

static enum uvea_error check_call(const struct uvea_search *search,
                                  const struct uvea_search_job *job,
                                  struct uvea_error_context *context)
{
    const size_t sessions = search->session_count;
    const size_t chunk = search->config->chunk_records_max;

    if (sessions == 0 || sessions % UVEA_SEARCH_SESSION_MULTIPLE != 0 ||
        sessions > UVEA_SEARCH_SESSIONS_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "%zu sessions: want a multiple of %d, at most %d", sessions,
                              UVEA_SEARCH_SESSION_MULTIPLE, UVEA_SEARCH_SESSIONS_MAX);
    }
    if (chunk == 0 || chunk > UVEA_SEARCH_CHUNK_RECORDS) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "chunks of %zu records: want 1..%d", chunk,
                              UVEA_SEARCH_CHUNK_RECORDS);
    }
    if (search->config->path == UVEA_SEARCH_NTT &&
        (search->spectral == NULL || job->spectral_query == NULL ||
         search->spectral->count != search->resident->count)) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "the NTT path wants spectra of all %zu records and of the query",
                              search->resident->count);
    }
    if (search->cold == NULL && search->resident->count > 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "nowhere to read the other eye from");
    }
    return check_job(search, job, context);
}

enum uvea_error uvea_search_run(const struct uvea_search *search, const struct uvea_search_job *job,
                                struct uvea_search_result *result,
                                struct uvea_error_context *context)
{
    // Reading a record is what a scan of spectra waits for, so they are read once; the ring's
    // kernels wait for nothing, and its orientations keep the reference's transcript.
    const size_t ways = job->mirror ? 2 : 1;
    const size_t at_once = search->config->path == UVEA_SEARCH_NTT ? ways : 1;
    struct cascade cascade = {
        .search = search, .job = job, .result = result, .ways = ways, .ways_at_once = at_once};
    size_t parts = ways / at_once;
    enum uvea_error error;

    *result = (struct uvea_search_result){0};
    if (context != NULL) {
        context->text[0] = '\0';
    }
    UVEA_TRY(check_call(search, job, context));
    parts += job->earlier_count > 0 ? ways : 0;
    error =
        uvea_fanout(search->rt, "scan orientation", run_part, &cascade, parts, PARTS_MAX, context);
    if (search->cold != NULL) {
        uvea_cold_release_prefetched(search->cold);
    }
    if (error != UVEA_OK) {
        uvea_search_result_deinit(result);
        return error;
    }
    for (size_t way = 0; way < ways; way++) {
        result->comparisons += cascade.records[way] + cascade.earlier[way];
    }
    return UVEA_OK;
}

void uvea_search_result_deinit(struct uvea_search_result *result)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            uvea_eye_result_deinit(&result->eye[way][eye]);
            uvea_eye_result_deinit(&result->batch[way].eye[eye]);
        }
        uvea_mem_free(result->batch[way].at);
    }
    *result = (struct uvea_search_result){0};
}
