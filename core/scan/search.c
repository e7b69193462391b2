#include "core/scan/search.h"

#include "core/base/mem.h"
#include "core/scan/fanout.h"
#include "core/scan/list.h"

// The ascending union of the candidates of eye S and the known ones.
static enum uvea_error second_eye_list(const struct uvea_eye_result *first,
                                       const struct uvea_search_job *job, uint32_t **indices,
                                       size_t *count)
{
    uint32_t *list = uvea_mem_alloc(first->candidate_count + job->known_count, sizeof(*list));
    size_t i = 0;
    size_t k = 0;
    size_t n = 0;

    if (list == NULL) {
        return UVEA_ERR_MEMORY;
    }
    while (i < first->candidate_count || k < job->known_count) {
        const uint32_t scanned =
            i < first->candidate_count ? first->candidates[i].index : UINT32_MAX;
        const uint32_t known = k < job->known_count ? job->known[k] : UINT32_MAX;
        const uint32_t index = scanned < known ? scanned : known;
        i += scanned == index;
        k += known == index;
        list[n++] = index;
    }
    *indices = list;
    *count = n;
    return UVEA_OK;
}

struct cascade {
    const struct uvea_search *search;
    const struct uvea_search_job *job;
    struct uvea_search_result *result;
    uint64_t comparisons[UVEA_ORIENTATION_COUNT];
};

// One orientation: its own sessions, so both run at once.
static enum uvea_error run_cascade(void *arg, size_t item, struct uvea_error_context *context)
{
    struct cascade *cascade = arg;
    const struct uvea_search *search = cascade->search;
    const enum uvea_orientation way = (enum uvea_orientation)item;
    const enum uvea_eye first = search->config->full_scan_eye;
    const enum uvea_eye second = first == UVEA_EYE_LEFT ? UVEA_EYE_RIGHT : UVEA_EYE_LEFT;
    struct uvea_eye_result *eyes = cascade->result->eye[way];
    const size_t records = search->resident->count;
    uint32_t *indices;
    size_t count;
    enum uvea_error error;

    UVEA_TRY(
        uvea_scan_list_run(search, cascade->job, way, first, NULL, records, &eyes[first], context));
    UVEA_TRY(second_eye_list(&eyes[first], cascade->job, &indices, &count));
    error = uvea_scan_list_run(search, cascade->job, way, second, indices, count, &eyes[second],
                               context);
    uvea_mem_free(indices);
    cascade->comparisons[way] = (uint64_t)records + count;
    return error;
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
    for (size_t i = 0; i < job->known_count; i++) {
        if (job->known[i] >= search->resident->count ||
            (i > 0 && job->known[i - 1] >= job->known[i])) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "known candidates must be ascending records, entry %zu is not",
                                  i);
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_search_run(const struct uvea_search *search, const struct uvea_search_job *job,
                                struct uvea_search_result *result,
                                struct uvea_error_context *context)
{
    struct cascade cascade = {.search = search, .job = job, .result = result};
    enum uvea_error error;

    *result = (struct uvea_search_result){0};
    if (context != NULL) {
        context->text[0] = '\0';
    }
    UVEA_TRY(check_call(search, job, context));
    error = uvea_fanout(search->rt, "scan orientation", run_cascade, &cascade, job->mirror ? 2 : 1,
                        UVEA_ORIENTATION_COUNT, context);
    if (error != UVEA_OK) {
        uvea_search_result_deinit(result);
        return error;
    }
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        result->comparisons += cascade.comparisons[way];
    }
    return UVEA_OK;
}

void uvea_search_result_deinit(struct uvea_search_result *result)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        for (int eye = 0; eye < UVEA_EYE_COUNT; eye++) {
            uvea_eye_result_deinit(&result->eye[way][eye]);
        }
    }
    *result = (struct uvea_search_result){0};
}
