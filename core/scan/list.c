#include "core/scan/list.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/scan/fanout.h"

#include <stdbool.h>
#include <string.h>

enum {
    ROTATIONS = UVEA_ROTATION_COUNT,
    PIECE_COEFFICIENTS = UVEA_SCAN_PIECE_RECORDS * UVEA_RECORD_COEFFICIENTS,
    PIECE_BYTES = 2 * PIECE_COEFFICIENTS,
};

_Static_assert((int)UVEA_SEARCH_LANES_MAX <= (int)UVEA_FANOUT_TASKS_MAX, "a lane is a task");

// ---- setting up

size_t uvea_search_session_position(size_t session_count, enum uvea_eye eye, unsigned quarter,
                                    size_t lane)
{
    const size_t group = session_count / UVEA_SEARCH_SESSION_MULTIPLE;

    UVEA_CHECK(quarter < UVEA_SCAN_QUARTERS && lane < group);
    return 2 * (quarter * group + lane) + (eye == UVEA_EYE_RIGHT);
}

// How many comparisons a chunk has at most.
static size_t chunk_comparisons(const struct uvea_scan_list *list)
{
    return list->chunk_records * list->way_count;
}

static void close_lane(struct uvea_scan_lane *lane, size_t comparisons)
{
    if (lane->scores != NULL) {
        uvea_mem_wipe(lane->scores, comparisons * UVEA_SCORES_PER_RECORD * sizeof(*lane->scores));
    }
    if (lane->field_scores != NULL) {
        uvea_mem_wipe(lane->field_scores, lane->field_score_count * sizeof(*lane->field_scores));
    }
    if (lane->piece != NULL) {
        uvea_mem_wipe(lane->piece, PIECE_BYTES);
    }
    uvea_mem_free(lane->records);
    uvea_mem_free(lane->piece);
    uvea_mem_free(lane->scores);
    uvea_mem_free(lane->field_scores);
    uvea_mem_free(lane->opened);
    uvea_mem_free(lane->positions);
}

static void close_list(struct uvea_scan_list *list)
{
    for (size_t i = 0; list->lanes != NULL && i < list->lane_count; i++) {
        close_lane(&list->lanes[i], chunk_comparisons(list));
    }
    for (size_t i = 0; list->chunks != NULL && i < list->chunk_count; i++) {
        uvea_mem_free(list->chunks[i].candidates);
        uvea_share32_deinit(&list->chunks[i].codes);
        uvea_share32_deinit(&list->chunks[i].masks);
    }
    uvea_mem_free(list->lanes);
    uvea_mem_free(list->chunks);
}

static enum uvea_error open_lane(struct uvea_scan_lane *lane, size_t comparisons)
{
    lane->records = uvea_mem_alloc(comparisons, sizeof(*lane->records));
    lane->scores = uvea_mem_alloc(comparisons * UVEA_SCORES_PER_RECORD, sizeof(*lane->scores));
    lane->opened = uvea_mem_alloc(uvea_words_for(comparisons * ROTATIONS), sizeof(*lane->opened));
    lane->positions = uvea_mem_alloc(comparisons, sizeof(*lane->positions));
    if (lane->records == NULL || lane->scores == NULL || lane->opened == NULL ||
        lane->positions == NULL) {
        return UVEA_ERR_MEMORY;
    }
    return UVEA_OK;
}

// A chunk may begin inside a tile: its records before the chunk are scored along with it.
static enum uvea_error open_field_scores(const struct uvea_scan_list *list,
                                         struct uvea_scan_lane *lane)
{
    const size_t tile_records = list->search->config->spectral_kernel->tile_records;

    lane->field_score_count =
        list->way_count * (list->chunk_records + tile_records - 1) * ROTATIONS;
    lane->field_scores = uvea_mem_alloc(lane->field_score_count, sizeof(*lane->field_scores));
    return lane->field_scores == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
}

static enum uvea_error open_piece(struct uvea_scan_lane *lane)
{
    lane->piece = uvea_mem_alloc(PIECE_COEFFICIENTS, sizeof(*lane->piece));
    return lane->piece == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
}

// Cuts the list (not empty) into chunks and sets up its lanes. close_list also after a failure.
static enum uvea_error open_list(struct uvea_scan_list *list)
{
    const struct uvea_search *search = list->search;
    const size_t group = search->session_count / UVEA_SEARCH_SESSION_MULTIPLE;
    const size_t chunk_max = search->config->chunk_records_max;
    const size_t sessions = group * list->way_count;
    size_t lanes = sessions < UVEA_SEARCH_LANES_MAX ? sessions : UVEA_SEARCH_LANES_MAX;

    list->chunk_records = list->count < chunk_max ? list->count : chunk_max;
    list->chunk_count = list->count / chunk_max + (list->count % chunk_max != 0);
    lanes = lanes < list->chunk_count ? lanes : list->chunk_count;
    list->chunks = uvea_mem_alloc(list->chunk_count, sizeof(*list->chunks));
    list->lanes = uvea_mem_alloc(lanes, sizeof(*list->lanes));
    if (list->chunks == NULL || list->lanes == NULL) {
        return UVEA_ERR_MEMORY;
    }
    list->lane_count = lanes;
    for (size_t i = 0; i < lanes; i++) {
        list->lanes[i].session = search->sessions[uvea_search_session_position(
            search->session_count, list->eye, list->quarter + (unsigned)(i % list->way_count),
            i / list->way_count)];
        UVEA_TRY(open_lane(&list->lanes[i], chunk_comparisons(list)));
        if (list->spectral) {
            UVEA_TRY(open_field_scores(list, &list->lanes[i]));
        }
        if (list->source == UVEA_SCAN_COLD) {
            UVEA_TRY(open_piece(&list->lanes[i]));
        }
    }
    return UVEA_OK;
}

// ---- from chunks to the result of an eye

void uvea_eye_result_deinit(struct uvea_eye_result *eye)
{
    uvea_mem_free(eye->candidates);
    uvea_share32_deinit(&eye->codes);
    uvea_share32_deinit(&eye->masks);
    *eye = (struct uvea_eye_result){0};
}

// Part of a chunk's result: what belongs to one of its ways.
struct portion {
    const struct uvea_candidate *candidates;
    size_t candidate_count;
    size_t distance_first;
    size_t distance_count; // 0 where the chunk kept none
};

static size_t count_passes(const struct uvea_candidate *candidates, size_t count)
{
    size_t passes = 0;

    for (size_t i = 0; i < count; i++) {
        passes += (size_t)__builtin_popcount(candidates[i].anonymous);
    }
    return passes;
}

static struct portion portion_of(const struct uvea_scan_chunk *chunk, size_t way)
{
    const size_t first = way == 0 ? 0 : chunk->way_candidates[0];
    struct portion portion = {
        .candidates = chunk->candidates + first,
        .candidate_count = chunk->way_candidates[way],
    };

    if (portion.candidate_count > 0 && chunk->codes.count > 0) {
        portion.distance_first = count_passes(chunk->candidates, first);
        portion.distance_count = count_passes(portion.candidates, portion.candidate_count);
    }
    return portion;
}

static void copy_shares(const struct uvea_share32 *from, const struct portion *portion,
                        struct uvea_share32 *to, size_t at)
{
    if (portion->distance_count > 0) {
        const size_t bytes = portion->distance_count * sizeof(*to->a);
        memcpy(to->a + at, from->a + portion->distance_first, bytes);
        memcpy(to->b + at, from->b + portion->distance_first, bytes);
    }
}

static enum uvea_error open_eye(const struct uvea_scan_list *list, size_t way,
                                struct uvea_eye_result *eye)
{
    size_t candidates = 0;
    size_t distances = 0;

    for (size_t i = 0; i < list->chunk_count; i++) {
        const struct portion portion = portion_of(&list->chunks[i], way);
        candidates += portion.candidate_count;
        distances += portion.distance_count;
    }
    if (candidates == 0) {
        return UVEA_OK;
    }
    eye->candidates = uvea_mem_alloc(candidates, sizeof(*eye->candidates));
    if (eye->candidates == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (distances > 0) {
        UVEA_TRY(uvea_share32_init(&eye->codes, distances));
        UVEA_TRY(uvea_share32_init(&eye->masks, distances));
    }
    return UVEA_OK;
}

static enum uvea_error gather_chunks(const struct uvea_scan_list *list, size_t way,
                                     struct uvea_eye_result *eye)
{
    size_t distances = 0;

    UVEA_TRY(open_eye(list, way, eye));
    for (size_t i = 0; i < list->chunk_count; i++) {
        const struct uvea_scan_chunk *chunk = &list->chunks[i];
        const struct portion portion = portion_of(chunk, way);
        if (portion.candidate_count == 0) {
            continue;
        }
        memcpy(eye->candidates + eye->candidate_count, portion.candidates,
               portion.candidate_count * sizeof(*portion.candidates));
        eye->candidate_count += portion.candidate_count;
        copy_shares(&chunk->codes, &portion, &eye->codes, distances);
        copy_shares(&chunk->masks, &portion, &eye->masks, distances);
        distances += portion.distance_count;
    }
    return UVEA_OK;
}

static enum uvea_scan_source source_of(const struct uvea_search *search,
                                       const struct uvea_scan_range *range)
{
    if (range->in_batch) {
        return UVEA_SCAN_EARLIER;
    }
    return range->eye == search->config->full_scan_eye ? UVEA_SCAN_RESIDENT : UVEA_SCAN_COLD;
}

static void set_queries(struct uvea_scan_list *list, const struct uvea_search_job *job,
                        enum uvea_orientation first)
{
    for (size_t way = 0; way < list->way_count; way++) {
        list->queries[way] = &job->query->eye[first + way][list->eye];
        if (list->spectral) {
            list->spectral_queries[way] = job->spectral_query->prepared[first + way];
        }
    }
}

enum uvea_error uvea_scan_list_run(const struct uvea_search *search,
                                   const struct uvea_search_job *job,
                                   const struct uvea_scan_range *range,
                                   struct uvea_eye_result *const *out,
                                   struct uvea_error_context *context)
{
    const enum uvea_scan_source source = source_of(search, range);
    struct uvea_scan_list list = {
        .search = search,
        .way_count = range->way_count,
        // Only the scanned eye has spectra.
        .spectral = search->config->path == UVEA_SEARCH_NTT && source == UVEA_SCAN_RESIDENT,
        .source = source,
        .earlier = job->earlier,
        .eye = range->eye,
        .quarter = (range->in_batch ? 2 : 0) + (range->way == UVEA_ORIENTATION_MIRROR ? 1 : 0),
        .indices = range->indices,
        .count = range->count,
    };
    enum uvea_error error;

    UVEA_CHECK(list.way_count == 1 ||
               (list.way_count == 2 && list.spectral && range->way == UVEA_ORIENTATION_NORMAL));
    if (range->count == 0) {
        return UVEA_OK;
    }
    set_queries(&list, job, range->way);
    UVEA_TRY_CLEANUP(open_list(&list));
    UVEA_TRY_CLEANUP(uvea_fanout(search->rt, "scan lane", uvea_scan_chunk_run, &list,
                                 list.chunk_count, list.lane_count, context));
    for (size_t way = 0; way < list.way_count; way++) {
        UVEA_TRY_CLEANUP(gather_chunks(&list, way, out[way]));
    }
cleanup:
    close_list(&list);
    return error;
}
