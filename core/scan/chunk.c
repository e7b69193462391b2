#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/scan/list.h"

#include <string.h>

enum { ROTATIONS = UVEA_ROTATION_COUNT };

_Static_assert((int)UVEA_SCORES_PER_RECORD == 2 * (int)ROTATIONS, "(C, m) for each rotation");

// Points the lane's records at items first..first+count-1 of the list; of the cold eye at most
// UVEA_SCAN_PIECE_RECORDS, which are read into the lane's piece.
static enum uvea_error find_records(const struct uvea_scan_list *list, struct uvea_scan_lane *lane,
                                    size_t first, size_t count, struct uvea_error_context *context)
{
    const struct uvea_search *search = list->search;

    for (size_t i = 0; i < count; i++) {
        const uint32_t index = uvea_scan_list_index(list, first + i);
        switch (list->source) {
        case UVEA_SCAN_RESIDENT:
            lane->records[i] = uvea_resident_record(search->resident, index);
            break;
        case UVEA_SCAN_EARLIER:
            lane->records[i] = list->earlier[index].eye[list->eye];
            break;
        case UVEA_SCAN_COLD:
            lane->records[i] = lane->piece + i * UVEA_RECORD_COEFFICIENTS;
            UVEA_TRY(uvea_cold_read(search->cold, index + 1,
                                    uvea_resident_version(search->resident, index),
                                    lane->piece + i * UVEA_RECORD_COEFFICIENTS, context));
            break;
        }
    }
    return UVEA_OK;
}

static enum uvea_error score_chunk(const struct uvea_scan_list *list, struct uvea_scan_lane *lane,
                                   size_t first, size_t count, struct uvea_error_context *context)
{
    const size_t piece_max = list->source == UVEA_SCAN_COLD ? UVEA_SCAN_PIECE_RECORDS : count;

    for (size_t done = 0; done < count; done += piece_max) {
        const size_t left = count - done;
        const size_t piece = left < piece_max ? left : piece_max;
        // The planted fault leaves in place what the lane's previous chunk had for its first
        // record.
        const size_t skip = done == 0 && uvea_plant_active(UVEA_PLANT_STALE_BUFFER) ? 1 : 0;
        UVEA_TRY(find_records(list, lane, first + done, piece, context));
        list->search->config->kernel->scores(list->queries[0], lane->records + skip, piece - skip,
                                             lane->scores + (done + skip) * UVEA_SCORES_PER_RECORD);
    }
    uvea_rt_charge(list->search->rt, UVEA_CHARGE_RING_SCORE, count);
    return UVEA_OK;
}

// Scores whole tiles for all ways in one pass over them, and gives where the chunk's own scores,
// way after way, begin.
static const uint16_t *score_spectral_chunk(const struct uvea_scan_list *list,
                                            struct uvea_scan_lane *lane, size_t first, size_t count)
{
    const struct uvea_spectral *spectral = list->search->spectral;
    const size_t before = first % spectral->kernel->tile_records;
    uint16_t *scores = lane->field_scores + before * ROTATIONS;

    spectral->kernel->scores(list->spectral_queries, list->way_count,
                             (const void *const *)spectral->tiles +
                                 first / spectral->kernel->tile_records,
                             before + count, lane->field_scores);
    // The scores of the records before the chunk stand between those of one way and the next.
    for (size_t way = 1; before > 0 && way < list->way_count; way++) {
        memmove(scores + way * count * ROTATIONS, scores + way * (before + count) * ROTATIONS,
                count * ROTATIONS * sizeof(*scores));
    }
    uvea_rt_charge(list->search->rt, UVEA_CHARGE_SPECTRAL_SCORE, count * list->way_count);
    return scores;
}

// Opens the anonymous bits of a chunk. distances: what the dense ring predicate refreshed on the
// way, otherwise left empty.
static enum uvea_error judge_scores(const struct uvea_scan_list *list, struct uvea_scan_lane *lane,
                                    const uint16_t *field_scores, size_t count,
                                    struct uvea_share16 *distances)
{
    const struct uvea_search_config *config = list->search->config;

    if (list->spectral) {
        return uvea_mpc_field_match(lane->session, config->field_form, field_scores,
                                    list->way_count * count * ROTATIONS, lane->opened);
    }
    return uvea_mpc_anonymous_match(lane->session, config->form, lane->scores, count * ROTATIONS,
                                    lane->opened,
                                    config->form == UVEA_PREDICATE_DENSE ? distances : NULL);
}

static enum uvea_error judge_chunk(const struct uvea_scan_list *list, struct uvea_scan_lane *lane,
                                   size_t first, size_t count, struct uvea_share16 *distances,
                                   struct uvea_error_context *context)
{
    struct uvea_stages *stages = list->source == UVEA_SCAN_RESIDENT ? list->search->stages : NULL;
    uint64_t since_ns = uvea_stages_now_ns(stages);
    const uint16_t *field_scores = NULL;
    enum uvea_error error;

    if (list->spectral) {
        field_scores = score_spectral_chunk(list, lane, first, count);
    } else {
        UVEA_TRY(score_chunk(list, lane, first, count, context));
    }
    since_ns = uvea_stages_add(stages, UVEA_STAGE_SCORE, since_ns);
    error = judge_scores(list, lane, field_scores, count, distances);
    (void)uvea_stages_add(stages, UVEA_STAGE_PREDICATE, since_ns);
    return error;
}

// Puts the ring scores of the candidates, in their order, at the front of the lane's scores.
static void score_candidates(const struct uvea_scan_list *list, struct uvea_scan_lane *lane,
                             const struct uvea_scan_chunk *chunk)
{
    size_t first = 0;

    for (size_t i = 0; i < chunk->candidate_count; i++) {
        lane->records[i] = uvea_resident_record(list->search->resident, chunk->candidates[i].index);
        lane->positions[i] = (uint32_t)i;
    }
    for (size_t way = 0; way < list->way_count; way++) {
        list->search->config->kernel->scores(list->queries[way], lane->records + first,
                                             chunk->way_candidates[way],
                                             lane->scores + first * UVEA_SCORES_PER_RECORD);
        first += chunk->way_candidates[way];
    }
    uvea_rt_charge(list->search->rt, UVEA_CHARGE_RING_SCORE, chunk->candidate_count);
}

// The 31 opened bits of one comparison, bit r for rotation index r.
static uint32_t rotation_bits(const uint64_t *opened, size_t comparison)
{
    const size_t bit = comparison * ROTATIONS;
    const unsigned shift = bit % 64;
    uint64_t bits = opened[bit / 64] >> shift;

    if (shift > 64 - ROTATIONS) {
        bits |= opened[bit / 64 + 1] << (64 - shift);
    }
    return (uint32_t)(bits & ((UINT64_C(1) << ROTATIONS) - 1));
}

// Finds the comparisons with a pass on any rotation, from the opened bits.
static size_t find_candidates(const struct uvea_scan_list *list, struct uvea_scan_lane *lane,
                              size_t count, struct uvea_scan_chunk *chunk)
{
    size_t found = 0;

    for (size_t way = 0; way < list->way_count; way++) {
        const size_t before = found;
        for (size_t i = way * count; i < (way + 1) * count; i++) {
            if (rotation_bits(lane->opened, i) != 0) {
                lane->positions[found++] = (uint32_t)i;
            }
        }
        chunk->way_candidates[way] = found - before;
    }
    return found;
}

static enum uvea_error collect_candidates(const struct uvea_scan_list *list,
                                          struct uvea_scan_lane *lane, size_t first, size_t count,
                                          struct uvea_scan_chunk *chunk)
{
    const size_t found = find_candidates(list, lane, count, chunk);

    if (found == 0) {
        return UVEA_OK;
    }
    chunk->candidates = uvea_mem_alloc(found, sizeof(*chunk->candidates));
    if (chunk->candidates == NULL) {
        chunk->way_candidates[0] = 0;
        chunk->way_candidates[1] = 0;
        return UVEA_ERR_MEMORY;
    }
    for (size_t way = 0; way < list->way_count; way++) {
        for (size_t i = 0; i < chunk->way_candidates[way]; i++) {
            const size_t position = lane->positions[chunk->candidate_count];
            chunk->candidates[chunk->candidate_count++] = (struct uvea_candidate){
                .index = uvea_scan_list_index(list, first + position - way * count),
                .anonymous = rotation_bits(lane->opened, position),
            };
        }
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
static enum uvea_error refresh_candidates(struct uvea_scan_lane *lane, size_t candidate_count,
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
static enum uvea_error candidate_distances(struct uvea_scan_lane *lane, size_t candidate_count,
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

static enum uvea_error set_strict(const struct uvea_scan_lane *lane, bool in_batch,
                                  struct uvea_scan_chunk *chunk, struct uvea_error_context *context)
{
    for (size_t i = 0; i < chunk->candidate_count; i++) {
        struct uvea_candidate *candidate = &chunk->candidates[i];
        candidate->strict = rotation_bits(lane->opened, i);
        if ((candidate->strict & ~candidate->anonymous) != 0) {
            return uvea_error_set(context, UVEA_ERR_STATE,
                                  "%s %u matches strictly on a rotation that does not pass the "
                                  "anonymous threshold",
                                  in_batch ? "earlier request" : "record",
                                  (unsigned)candidate->index + 1);
        }
    }
    return UVEA_OK;
}

// Lifts the codes of the rotations that passed anonymously and keeps them with their lifted masks.
static enum uvea_error retain_distances(struct uvea_session *session, struct uvea_scan_chunk *chunk,
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

// The distances of earlier requests are no statistics: they are not kept.
static enum uvea_error evaluate_candidates(const struct uvea_scan_list *list,
                                           struct uvea_scan_lane *lane,
                                           const struct uvea_share16 *distances,
                                           struct uvea_scan_chunk *chunk,
                                           struct uvea_error_context *context)
{
    struct uvea_share16 codes = {0};
    struct uvea_share16 masks = {0};
    struct uvea_share32 lifted = {0};
    const bool in_batch = list->source == UVEA_SCAN_EARLIER;
    enum uvea_error error;

    UVEA_TRY_CLEANUP(candidate_distances(lane, chunk->candidate_count, distances, &codes, &masks));
    UVEA_TRY_CLEANUP(uvea_mpc_lift_u32(lane->session, &masks, &lifted));
    UVEA_TRY_CLEANUP(uvea_mpc_strict_match(lane->session, &codes, &lifted, lane->opened));
    UVEA_TRY_CLEANUP(set_strict(lane, in_batch, chunk, context));
    if (!in_batch) {
        UVEA_TRY_CLEANUP(retain_distances(lane->session, chunk, &codes, &lifted));
    }
cleanup:
    uvea_share16_deinit(&codes);
    uvea_share16_deinit(&masks);
    uvea_share32_deinit(&lifted);
    return error;
}

// What passed on the scanned eye will be read from the other one, while other lanes still scan.
static void prefetch_candidates(const struct uvea_search *search,
                                const struct uvea_scan_chunk *chunk)
{
    for (size_t i = 0; i < chunk->candidate_count; i++) {
        const uint32_t serial = chunk->candidates[i].index + 1;
        const uint16_t version =
            uvea_resident_version(search->resident, chunk->candidates[i].index);
        uvea_cold_prefetch(search->cold, &serial, &version, 1);
    }
}

// Looks closely at what passed.
static enum uvea_error follow_candidates(const struct uvea_scan_list *list,
                                         struct uvea_scan_lane *lane,
                                         const struct uvea_share16 *distances,
                                         struct uvea_scan_chunk *chunk,
                                         struct uvea_error_context *context)
{
    if (chunk->candidate_count == 0) {
        return UVEA_OK;
    }
    if (list->spectral) {
        score_candidates(list, lane, chunk);
    }
    UVEA_TRY(evaluate_candidates(list, lane, distances, chunk, context));
    if (list->source == UVEA_SCAN_RESIDENT) {
        prefetch_candidates(list->search, chunk);
    }
    return UVEA_OK;
}

static enum uvea_error run_chunk(const struct uvea_scan_list *list, struct uvea_scan_lane *lane,
                                 size_t at, struct uvea_error_context *context)
{
    static const enum uvea_stage stages[] = {
        [UVEA_SCAN_RESIDENT] = UVEA_STAGE_CANDIDATES,
        [UVEA_SCAN_COLD] = UVEA_STAGE_OTHER_EYE,
        [UVEA_SCAN_EARLIER] = UVEA_STAGE_EARLIER,
    };
    struct uvea_scan_chunk *chunk = &list->chunks[at];
    const size_t first = at * list->chunk_records;
    const size_t left = list->count - first;
    const size_t count = left < list->chunk_records ? left : list->chunk_records;
    struct uvea_share16 distances = {0};
    uint64_t since_ns = uvea_stages_now_ns(list->search->stages);
    enum uvea_error error;

    UVEA_TRY_CLEANUP(judge_chunk(list, lane, first, count, &distances, context));
    if (list->source == UVEA_SCAN_RESIDENT) {
        since_ns = uvea_stages_now_ns(list->search->stages);
    }
    UVEA_TRY_CLEANUP(collect_candidates(list, lane, first, count, chunk));
    UVEA_TRY_CLEANUP(follow_candidates(list, lane, &distances, chunk, context));
    (void)uvea_stages_add(list->search->stages, stages[list->source], since_ns);
cleanup:
    uvea_share16_deinit(&distances);
    return error;
}

enum uvea_error uvea_scan_chunk_run(void *arg, size_t at, struct uvea_error_context *context)
{
    struct uvea_scan_list *list = arg;
    struct uvea_scan_lane *lane = &list->lanes[at % list->lane_count];
    const enum uvea_error error = run_chunk(list, lane, at, context);

    if (error != UVEA_OK && context != NULL && context->text[0] == '\0') {
        *context = lane->session->error;
    }
    return error;
}
