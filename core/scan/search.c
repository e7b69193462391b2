#include "core/scan/search.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/scan/fanout.h"

#include <string.h>

enum {
    ROTATIONS = UVEA_ROTATION_COUNT,
    QUARTERS = 4,
};

_Static_assert((int)UVEA_SEARCH_LANES_MAX <= (int)UVEA_FANOUT_TASKS_MAX, "a lane is a task");
_Static_assert((int)UVEA_SCORES_PER_RECORD == 2 * (int)ROTATIONS, "(C, m) for each rotation");

// ---- one list: one eye in one orientation

// What one lane works with, sized once for the largest chunk.
struct lane {
    struct uvea_session *session;
    const uint16_t **records;
    uint16_t *scores;       // secret: (C, m) in the ring
    uint16_t *field_scores; // secret: g in the field; NULL when the list goes through the ring
    size_t field_score_count;
    uint64_t *opened;
    uint32_t *positions; // of the chunk's candidates, inside the chunk
};

// What one chunk gave. Written by its lane only.
struct chunk {
    struct uvea_candidate *candidates;
    size_t candidate_count;
    struct uvea_share32 codes;
    struct uvea_share32 masks;
};

struct list {
    const struct uvea_search *search;
    const struct uvea_ring_query *query;
    const void *spectral_query; // NULL: through the ring
    enum uvea_eye eye;
    unsigned quarter;
    const uint32_t *indices; // NULL: the records 0..count-1
    size_t count;
    size_t chunk_records; // in every chunk but the last
    struct lane *lanes;
    size_t lane_count;
    struct chunk *chunks;
    size_t chunk_count;
};

static uint32_t list_index(const struct list *list, size_t at)
{
    return list->indices == NULL ? (uint32_t)at : list->indices[at];
}

size_t uvea_search_session_position(size_t session_count, enum uvea_eye eye, unsigned quarter,
                                    size_t lane)
{
    const size_t group = session_count / UVEA_SEARCH_SESSION_MULTIPLE;

    UVEA_CHECK(quarter < QUARTERS && lane < group);
    return 2 * (quarter * group + lane) + (eye == UVEA_EYE_RIGHT);
}

static void close_lane(struct lane *lane, size_t chunk_records)
{
    if (lane->scores != NULL) {
        uvea_mem_wipe(lane->scores, chunk_records * UVEA_SCORES_PER_RECORD * sizeof(*lane->scores));
    }
    if (lane->field_scores != NULL) {
        uvea_mem_wipe(lane->field_scores, lane->field_score_count * sizeof(*lane->field_scores));
    }
    uvea_mem_free(lane->records);
    uvea_mem_free(lane->scores);
    uvea_mem_free(lane->field_scores);
    uvea_mem_free(lane->opened);
    uvea_mem_free(lane->positions);
}

static void close_list(struct list *list)
{
    for (size_t i = 0; list->lanes != NULL && i < list->lane_count; i++) {
        close_lane(&list->lanes[i], list->chunk_records);
    }
    for (size_t i = 0; list->chunks != NULL && i < list->chunk_count; i++) {
        uvea_mem_free(list->chunks[i].candidates);
        uvea_share32_deinit(&list->chunks[i].codes);
        uvea_share32_deinit(&list->chunks[i].masks);
    }
    uvea_mem_free(list->lanes);
    uvea_mem_free(list->chunks);
}

static enum uvea_error open_lane(struct lane *lane, size_t chunk_records)
{
    lane->records = uvea_mem_alloc(chunk_records, sizeof(*lane->records));
    lane->scores = uvea_mem_alloc(chunk_records * UVEA_SCORES_PER_RECORD, sizeof(*lane->scores));
    lane->opened = uvea_mem_alloc(uvea_words_for(chunk_records * ROTATIONS), sizeof(*lane->opened));
    lane->positions = uvea_mem_alloc(chunk_records, sizeof(*lane->positions));
    if (lane->records == NULL || lane->scores == NULL || lane->opened == NULL ||
        lane->positions == NULL) {
        return UVEA_ERR_MEMORY;
    }
    return UVEA_OK;
}

// A chunk may begin inside a tile: its records before the chunk are scored along with it.
static enum uvea_error open_field_scores(const struct list *list, struct lane *lane)
{
    const size_t tile_records = list->search->config->spectral_kernel->tile_records;

    lane->field_score_count = (list->chunk_records + tile_records - 1) * ROTATIONS;
    lane->field_scores = uvea_mem_alloc(lane->field_score_count, sizeof(*lane->field_scores));
    return lane->field_scores == NULL ? UVEA_ERR_MEMORY : UVEA_OK;
}

// Cuts the list (not empty) into chunks and sets up its lanes. close_list also after a failure.
static enum uvea_error open_list(struct list *list)
{
    const struct uvea_search *search = list->search;
    const size_t group = search->session_count / UVEA_SEARCH_SESSION_MULTIPLE;
    const size_t chunk_max = search->config->chunk_records_max;
    size_t lanes = group < UVEA_SEARCH_LANES_MAX ? group : UVEA_SEARCH_LANES_MAX;

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
            search->session_count, list->eye, list->quarter, i)];
        UVEA_TRY(open_lane(&list->lanes[i], list->chunk_records));
        if (list->spectral_query != NULL) {
            UVEA_TRY(open_field_scores(list, &list->lanes[i]));
        }
    }
    return UVEA_OK;
}

// ---- one chunk

static void score_chunk(const struct list *list, struct lane *lane, size_t first, size_t count)
{
    // The planted fault leaves in place what the lane's previous chunk had for its first record.
    const size_t skip = uvea_plant_active(UVEA_PLANT_STALE_BUFFER) ? 1 : 0;

    for (size_t i = 0; i < count; i++) {
        lane->records[i] =
            uvea_resident_record(list->search->resident, list->eye, list_index(list, first + i));
    }
    list->search->config->kernel->scores(list->query, lane->records + skip, count - skip,
                                         lane->scores + skip * UVEA_SCORES_PER_RECORD);
    uvea_rt_charge(list->search->rt, UVEA_CHARGE_RING_SCORE, count);
}

// Scores whole tiles and gives where the chunk's own scores begin.
static const uint16_t *score_spectral_chunk(const struct list *list, struct lane *lane,
                                            size_t first, size_t count)
{
    const struct uvea_spectral *spectral = list->search->spectral;
    const size_t before = first % spectral->kernel->tile_records;

    spectral->kernel->scores(&list->spectral_query, 1,
                             (const void *const *)spectral->tiles +
                                 first / spectral->kernel->tile_records,
                             before + count, lane->field_scores);
    uvea_rt_charge(list->search->rt, UVEA_CHARGE_SPECTRAL_SCORE, count);
    return lane->field_scores + before * ROTATIONS;
}

// Opens the anonymous bits of a chunk. distances: what the dense ring predicate refreshed on the
// way, otherwise left empty.
static enum uvea_error judge_chunk(const struct list *list, struct lane *lane, size_t first,
                                   size_t count, struct uvea_share16 *distances)
{
    const struct uvea_search_config *config = list->search->config;

    if (list->spectral_query != NULL) {
        const uint16_t *scores = score_spectral_chunk(list, lane, first, count);
        return uvea_mpc_field_match(lane->session, config->field_form, scores, count * ROTATIONS,
                                    lane->opened);
    }
    score_chunk(list, lane, first, count);
    return uvea_mpc_anonymous_match(lane->session, config->form, lane->scores, count * ROTATIONS,
                                    lane->opened,
                                    config->form == UVEA_PREDICATE_DENSE ? distances : NULL);
}

// Puts the ring scores of the candidates, in their order, at the front of the lane's scores.
static void score_candidates(const struct list *list, struct lane *lane, const struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->candidate_count; i++) {
        lane->records[i] =
            uvea_resident_record(list->search->resident, list->eye, chunk->candidates[i].index);
        lane->positions[i] = (uint32_t)i;
    }
    list->search->config->kernel->scores(list->query, lane->records, chunk->candidate_count,
                                         lane->scores);
    uvea_rt_charge(list->search->rt, UVEA_CHARGE_RING_SCORE, chunk->candidate_count);
}

// The 31 opened bits of one record, bit r for rotation index r.
static uint32_t rotation_bits(const uint64_t *opened, size_t record)
{
    const size_t bit = record * ROTATIONS;
    const unsigned shift = bit % 64;
    uint64_t bits = opened[bit / 64] >> shift;

    if (shift > 64 - ROTATIONS) {
        bits |= opened[bit / 64 + 1] << (64 - shift);
    }
    return (uint32_t)(bits & ((UINT64_C(1) << ROTATIONS) - 1));
}

// Records of the chunk with a pass on any rotation, from the opened bits.
static enum uvea_error collect_candidates(const struct list *list, struct lane *lane, size_t first,
                                          size_t count, struct chunk *chunk)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        if (rotation_bits(lane->opened, i) != 0) {
            lane->positions[found++] = (uint32_t)i;
        }
    }
    if (found == 0) {
        return UVEA_OK;
    }
    chunk->candidates = uvea_mem_alloc(found, sizeof(*chunk->candidates));
    if (chunk->candidates == NULL) {
        return UVEA_ERR_MEMORY;
    }
    chunk->candidate_count = found;
    for (size_t i = 0; i < found; i++) {
        chunk->candidates[i] = (struct uvea_candidate){
            .index = list_index(list, first + lane->positions[i]),
            .anonymous = rotation_bits(lane->opened, lane->positions[i]),
        };
    }
    return UVEA_OK;
}

// Copies (C, M) of all rotations of the candidates out of interleaved pairs. record_of[i] is the
// place of candidate i in pairs, NULL: i itself.
static void deinterleave(const struct uvea_share16 *pairs, const uint32_t *record_of,
                         struct uvea_share16 *codes, struct uvea_share16 *masks)
{
    for (size_t j = 0; j < codes->count; j++) {
        const size_t candidate = j / ROTATIONS;
        const size_t record = record_of == NULL ? candidate : record_of[candidate];
        const size_t pair = 2 * (record * ROTATIONS + j % ROTATIONS);
        codes->a[j] = pairs->a[pair];
        codes->b[j] = pairs->b[pair];
        masks->a[j] = pairs->a[pair + 1];
        masks->b[j] = pairs->b[pair + 1];
    }
}

// Unless the predicate refreshed the distances by itself, do it now, for the candidates only.
// The kernel gives half the mask dot.
static enum uvea_error refresh_candidates(struct lane *lane, size_t candidate_count,
                                          struct uvea_share16 *pairs)
{
    const size_t count = candidate_count * UVEA_SCORES_PER_RECORD;
    uint16_t *additive = uvea_mem_alloc(count, sizeof(*additive));
    enum uvea_error error;

    if (additive == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t j = 0; j < count; j += 2) {
        const size_t record = lane->positions[j / UVEA_SCORES_PER_RECORD];
        const size_t from = record * UVEA_SCORES_PER_RECORD + j % UVEA_SCORES_PER_RECORD;
        additive[j] = lane->scores[from];
        additive[j + 1] = (uint16_t)(2u * lane->scores[from + 1]);
    }
    error = uvea_mpc_refresh(lane->session, additive, count, pairs);
    uvea_mem_wipe(additive, count * sizeof(*additive));
    uvea_mem_free(additive);
    return error;
}

// distances: what the dense predicate refreshed for the whole chunk; empty otherwise.
static enum uvea_error candidate_distances(struct lane *lane, size_t candidate_count,
                                           const struct uvea_share16 *distances,
                                           struct uvea_share16 *codes, struct uvea_share16 *masks)
{
    const size_t count = candidate_count * ROTATIONS;
    struct uvea_share16 pairs = {0};
    enum uvea_error error;

    UVEA_TRY_CLEANUP(uvea_share16_init(codes, count));
    UVEA_TRY_CLEANUP(uvea_share16_init(masks, count));
    if (distances->count > 0) {
        deinterleave(distances, lane->positions, codes, masks);
    } else {
        UVEA_TRY_CLEANUP(refresh_candidates(lane, candidate_count, &pairs));
        deinterleave(&pairs, NULL, codes, masks);
    }
cleanup:
    uvea_share16_deinit(&pairs);
    return error;
}

static enum uvea_error set_strict(const struct lane *lane, struct chunk *chunk,
                                  struct uvea_error_context *context)
{
    for (size_t i = 0; i < chunk->candidate_count; i++) {
        struct uvea_candidate *candidate = &chunk->candidates[i];
        candidate->strict = rotation_bits(lane->opened, i);
        if ((candidate->strict & ~candidate->anonymous) != 0) {
            return uvea_error_set(context, UVEA_ERR_STATE,
                                  "record %u matches strictly on a rotation that does not pass the "
                                  "anonymous threshold",
                                  (unsigned)candidate->index + 1);
        }
    }
    return UVEA_OK;
}

// Lifts the codes of the rotations that passed anonymously and keeps them with their lifted masks.
static enum uvea_error retain_distances(struct uvea_session *session, struct chunk *chunk,
                                        const struct uvea_share16 *codes,
                                        const struct uvea_share32 *masks)
{
    struct uvea_share16 passed = {0};
    enum uvea_error error;
    size_t count = 0;
    size_t to = 0;

    for (size_t i = 0; i < chunk->candidate_count; i++) {
        count += (size_t)__builtin_popcount(chunk->candidates[i].anonymous);
    }
    UVEA_TRY_CLEANUP(uvea_share16_init(&passed, count));
    UVEA_TRY_CLEANUP(uvea_share32_init(&chunk->masks, count));
    for (size_t j = 0; j < codes->count; j++) {
        if ((chunk->candidates[j / ROTATIONS].anonymous >> (j % ROTATIONS) & 1) == 0) {
            continue;
        }
        passed.a[to] = codes->a[j];
        passed.b[to] = codes->b[j];
        chunk->masks.a[to] = masks->a[j];
        chunk->masks.b[to] = masks->b[j];
        to++;
    }
    error = uvea_mpc_lift_signed_u32(session, &passed, &chunk->codes);
cleanup:
    uvea_share16_deinit(&passed);
    return error;
}

static enum uvea_error evaluate_candidates(struct lane *lane, const struct uvea_share16 *distances,
                                           struct chunk *chunk, struct uvea_error_context *context)
{
    struct uvea_share16 codes = {0};
    struct uvea_share16 masks = {0};
    struct uvea_share32 lifted = {0};
    enum uvea_error error;

    UVEA_TRY_CLEANUP(candidate_distances(lane, chunk->candidate_count, distances, &codes, &masks));
    UVEA_TRY_CLEANUP(uvea_mpc_lift_u32(lane->session, &masks, &lifted));
    UVEA_TRY_CLEANUP(uvea_mpc_strict_match(lane->session, &codes, &lifted, lane->opened));
    UVEA_TRY_CLEANUP(set_strict(lane, chunk, context));
    UVEA_TRY_CLEANUP(retain_distances(lane->session, chunk, &codes, &lifted));
cleanup:
    uvea_share16_deinit(&codes);
    uvea_share16_deinit(&masks);
    uvea_share32_deinit(&lifted);
    return error;
}

static enum uvea_error scan_chunk(void *arg, size_t at, struct uvea_error_context *context)
{
    struct list *list = arg;
    struct lane *lane = &list->lanes[at % list->lane_count];
    struct chunk *chunk = &list->chunks[at];
    const size_t first = at * list->chunk_records;
    const size_t left = list->count - first;
    const size_t count = left < list->chunk_records ? left : list->chunk_records;
    struct uvea_share16 distances = {0};
    enum uvea_error error;

    UVEA_TRY_CLEANUP(judge_chunk(list, lane, first, count, &distances));
    UVEA_TRY_CLEANUP(collect_candidates(list, lane, first, count, chunk));
    if (chunk->candidate_count > 0) {
        if (list->spectral_query != NULL) {
            score_candidates(list, lane, chunk);
        }
        UVEA_TRY_CLEANUP(evaluate_candidates(lane, &distances, chunk, context));
    }
cleanup:
    uvea_share16_deinit(&distances);
    if (error != UVEA_OK && context != NULL && context->text[0] == '\0') {
        *context = lane->session->error;
    }
    return error;
}

// ---- from chunks to the result of an eye

static void close_eye(struct uvea_eye_result *eye)
{
    uvea_mem_free(eye->candidates);
    uvea_share32_deinit(&eye->codes);
    uvea_share32_deinit(&eye->masks);
    *eye = (struct uvea_eye_result){0};
}

static void copy_shares(const struct uvea_share32 *from, struct uvea_share32 *to, size_t at)
{
    if (from->count > 0) {
        memcpy(to->a + at, from->a, from->count * sizeof(*to->a));
        memcpy(to->b + at, from->b, from->count * sizeof(*to->b));
    }
}

static enum uvea_error gather_chunks(const struct list *list, struct uvea_eye_result *eye)
{
    size_t candidates = 0;
    size_t distances = 0;

    for (size_t i = 0; i < list->chunk_count; i++) {
        candidates += list->chunks[i].candidate_count;
        distances += list->chunks[i].codes.count;
    }
    if (candidates == 0) {
        return UVEA_OK;
    }
    eye->candidates = uvea_mem_alloc(candidates, sizeof(*eye->candidates));
    if (eye->candidates == NULL) {
        return UVEA_ERR_MEMORY;
    }
    UVEA_TRY(uvea_share32_init(&eye->codes, distances));
    UVEA_TRY(uvea_share32_init(&eye->masks, distances));
    distances = 0;
    for (size_t i = 0; i < list->chunk_count; i++) {
        const struct chunk *chunk = &list->chunks[i];
        if (chunk->candidate_count == 0) {
            continue;
        }
        memcpy(eye->candidates + eye->candidate_count, chunk->candidates,
               chunk->candidate_count * sizeof(*chunk->candidates));
        eye->candidate_count += chunk->candidate_count;
        copy_shares(&chunk->codes, &eye->codes, distances);
        copy_shares(&chunk->masks, &eye->masks, distances);
        distances += chunk->codes.count;
    }
    return UVEA_OK;
}

// Only the scanned eye has spectra.
static bool goes_spectral(const struct uvea_search *search, enum uvea_eye eye)
{
    return search->config->path == UVEA_SEARCH_NTT && eye == search->config->full_scan_eye;
}

// (blocks) indices NULL: the first `count` records. An empty list costs no message.
static enum uvea_error scan_list(const struct uvea_search *search,
                                 const struct uvea_search_job *job, enum uvea_orientation way,
                                 enum uvea_eye eye, const uint32_t *indices, size_t count,
                                 struct uvea_eye_result *out, struct uvea_error_context *context)
{
    struct list list = {
        .search = search,
        .query = &job->query->eye[way][eye],
        .spectral_query = goes_spectral(search, eye) ? job->spectral_query->prepared[way] : NULL,
        .eye = eye,
        .quarter = way == UVEA_ORIENTATION_MIRROR ? 1 : 0,
        .indices = indices,
        .count = count,
    };
    enum uvea_error error;

    if (count == 0) {
        return UVEA_OK;
    }
    UVEA_TRY_CLEANUP(open_list(&list));
    UVEA_TRY_CLEANUP(uvea_fanout(search->rt, "scan lane", scan_chunk, &list, list.chunk_count,
                                 list.lane_count, context));
    UVEA_TRY_CLEANUP(gather_chunks(&list, out));
cleanup:
    close_list(&list);
    return error;
}

// ---- the cascade

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

    UVEA_TRY(scan_list(search, cascade->job, way, first, NULL, records, &eyes[first], context));
    UVEA_TRY(second_eye_list(&eyes[first], cascade->job, &indices, &count));
    error = scan_list(search, cascade->job, way, second, indices, count, &eyes[second], context);
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
            close_eye(&result->eye[way][eye]);
        }
    }
    *result = (struct uvea_search_result){0};
}
