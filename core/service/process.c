#include "core/service/process.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/scan/query.h"
#include "core/service/digest.h"
#include "core/service/record.h"
#include "core/service/results.h"

#include <inttypes.h>
#include <string.h>

// What an entry needs while its batch is in work, by its position. Secret.
struct item {
    struct uvea_scan_query *query;             // owned; of searched kinds
    struct uvea_spectral_query spectral_query; // the same, on the NTT path
    struct uvea_spectrum *spectrum;            // owned; of an update without a search, on that path
    uint32_t *luc;                             // owned: candidates by the LUC rule
    size_t luc_count;
    bool *blocks;    // owned: by position in the list of earlier requests
    size_t *earlier; // owned: their positions in the batch
    size_t earlier_count;
};

struct work {
    struct uvea_process *process;
    struct uvea_batch *batch;
    struct item *items;            // owned
    struct uvea_spectrum *deleted; // owned: of the dummy; NULL on the ring path
    struct uvea_error_context *context;
};

static bool is_alive(const struct uvea_batch_entry *entry)
{
    return entry->error_reason == NULL;
}

static bool is_searched(const struct uvea_batch_entry *entry)
{
    return is_alive(entry) && uvea_message_is_searched(entry->message.kind);
}

static enum uvea_eye scanned_eye(const struct uvea_process *process)
{
    return process->search.config->full_scan_eye;
}

static enum uvea_eye other_eye(const struct uvea_process *process)
{
    return uvea_eye_other(scanned_eye(process));
}

void uvea_process_record(const struct uvea_process *process, const struct uvea_batch_entry *entry,
                         const uint16_t *eye[UVEA_EYE_COUNT])
{
    const bool deletion = entry->message.kind == UVEA_MESSAGE_IDENTITY_DELETION;

    uvea_record_view(deletion ? &process->dummy : entry->upload, eye);
}

// ---- queries

static enum uvea_error prepare_search(struct work *work, size_t at)
{
    const struct uvea_process *process = work->process;
    struct uvea_session *session = process->search.sessions[0];
    const struct uvea_batch_entry *entry = &work->batch->entries[at];
    struct item *item = &work->items[at];

    item->query = uvea_mem_alloc(1, sizeof(*item->query));
    if (item->query == NULL) {
        return UVEA_ERR_MEMORY;
    }
    UVEA_TRY(
        uvea_scan_query_prepare(process->party, entry->upload, work->batch->mirror, item->query));
    if (process->spectral == NULL) {
        return UVEA_OK;
    }
    return uvea_session_report(
        session,
        uvea_spectral_query_convert(session, entry->upload, scanned_eye(process),
                                    work->batch->mirror, process->search.config->spectral_kernel,
                                    &item->spectral_query),
        work->context);
}

static enum uvea_error prepare_update(struct work *work, size_t at)
{
    const struct uvea_process *process = work->process;
    struct uvea_session *session = process->search.sessions[0];
    const struct uvea_batch_entry *entry = &work->batch->entries[at];
    const uint16_t *eye = uvea_record_eye(&entry->upload->eye[scanned_eye(process)]);
    struct item *item = &work->items[at];

    if (process->spectral == NULL) {
        return UVEA_OK;
    }
    item->spectrum = uvea_mem_alloc(1, sizeof(*item->spectrum));
    if (item->spectrum == NULL) {
        return UVEA_ERR_MEMORY;
    }
    return uvea_session_report(session, uvea_spectral_convert(session, &eye, 1, item->spectrum),
                               work->context);
}

static enum uvea_error prepare(struct work *work)
{
    if (work->process->spectral != NULL) {
        work->deleted = uvea_mem_alloc(1, sizeof(*work->deleted));
        if (work->deleted == NULL) {
            return UVEA_ERR_MEMORY;
        }
        uvea_spectral_deletion_dummy(work->deleted);
    }
    for (size_t i = 0; i < work->batch->count; i++) {
        const struct uvea_batch_entry *entry = &work->batch->entries[i];
        if (is_searched(entry)) {
            UVEA_TRY(prepare_search(work, i));
        } else if (is_alive(entry) && uvea_message_has_shares(entry->message.kind)) {
            UVEA_TRY(prepare_update(work, i));
        }
    }
    return UVEA_OK;
}

// ---- changes in memory

static const struct uvea_spectrum *spectrum_of(const struct work *work, size_t at)
{
    const struct uvea_batch_entry *entry = &work->batch->entries[at];

    if (entry->message.kind == UVEA_MESSAGE_IDENTITY_DELETION) {
        return work->deleted;
    }
    return uvea_message_is_searched(entry->message.kind) ? work->items[at].spectral_query.record
                                                         : work->items[at].spectrum;
}

static enum uvea_error store_spectrum(struct work *work, size_t at)
{
    struct uvea_spectral_cache *cache = &work->process->spectral_cache;
    const struct uvea_batch_entry *entry = &work->batch->entries[at];

    if (entry->message.kind == UVEA_MESSAGE_IDENTITY_DELETION) {
        return uvea_spectral_cache_put_deletion(cache, entry->serial, entry->version,
                                                work->context);
    }
    return uvea_spectral_cache_put(cache, entry->serial, entry->version, spectrum_of(work, at),
                                   work->context);
}

// Spectra first: they are only looked at together with a record of the resident database.
static enum uvea_error apply_spectrum(struct work *work, size_t at)
{
    struct uvea_process *process = work->process;
    const struct uvea_batch_entry *entry = &work->batch->entries[at];

    if (process->spectral == NULL) {
        return UVEA_OK;
    }
    UVEA_TRY(store_spectrum(work, at));
    UVEA_TRY(uvea_spectral_grow(process->spectral, entry->serial));
    uvea_spectral_set(process->spectral, entry->serial - 1, spectrum_of(work, at));
    return UVEA_OK;
}

static enum uvea_error apply_record(struct work *work, size_t at)
{
    struct uvea_process *process = work->process;
    const struct uvea_batch_entry *entry = &work->batch->entries[at];
    const uint16_t *eye[UVEA_EYE_COUNT];
    uint32_t index;

    uvea_process_record(process, entry, eye);
    UVEA_TRY(uvea_cold_put(process->cold, entry->serial, entry->version, eye[other_eye(process)]));
    if (entry->mutation == UVEA_MUTATION_UPDATE) {
        return uvea_resident_update(process->resident, entry->serial - 1, eye[scanned_eye(process)],
                                    entry->version);
    }
    return uvea_resident_insert(process->resident, eye[scanned_eye(process)], entry->version,
                                &index);
}

static enum uvea_error apply(struct work *work, size_t at)
{
    const struct uvea_batch_entry *entry = &work->batch->entries[at];
    enum uvea_error error = apply_spectrum(work, at);

    if (error == UVEA_OK) {
        error = apply_record(work, at);
    }
    if (error != UVEA_OK && work->context != NULL && work->context->text[0] == '\0') {
        return uvea_error_set(work->context, error, "cannot write record %" PRIu32 ": %s",
                              entry->serial, uvea_error_text(error));
    }
    return error;
}

// The named record as the request leaves it.
static enum uvea_error plan_update(struct work *work, size_t at)
{
    struct uvea_batch_entry *entry = &work->batch->entries[at];
    const uint16_t version =
        uvea_resident_version(work->process->resident, entry->message.serial_id - 1);

    if (version >= UVEA_RECORD_VERSION_MAX) {
        return uvea_error_set(work->context, UVEA_ERR_LIMIT,
                              "record %" PRIu32 " has no version left", entry->message.serial_id);
    }
    entry->mutation = UVEA_MUTATION_UPDATE;
    entry->serial = entry->message.serial_id;
    entry->version = (uint16_t)(version + 1);
    return UVEA_OK;
}

static bool is_deletion(const struct uvea_batch_entry *entry)
{
    return is_alive(entry) && entry->message.kind == UVEA_MESSAGE_IDENTITY_DELETION;
}

// Deletions come before every search of their batch.
static enum uvea_error delete_all(struct work *work)
{
    for (size_t i = 0; i < work->batch->count; i++) {
        if (is_deletion(&work->batch->entries[i])) {
            UVEA_TRY(plan_update(work, i));
            UVEA_TRY(apply(work, i));
        }
    }
    return uvea_rt_point(work->process->rt, UVEA_POINT_DELETED);
}

static enum uvea_error apply_all(struct work *work)
{
    for (size_t i = 0; i < work->batch->count; i++) {
        const struct uvea_batch_entry *entry = &work->batch->entries[i];
        if (entry->mutation != UVEA_MUTATION_NONE && !is_deletion(entry)) {
            UVEA_TRY(apply(work, i));
        }
    }
    return uvea_rt_point(work->process->rt, UVEA_POINT_APPLIED);
}

// ---- searches

// The searched entries before this one: what it is compared with.
static enum uvea_error list_earlier(struct work *work, size_t at,
                                    struct uvea_search_earlier *earlier)
{
    struct item *item = &work->items[at];

    item->earlier = uvea_mem_alloc(at, sizeof(*item->earlier));
    item->blocks = uvea_mem_alloc(at, sizeof(*item->blocks));
    if (item->earlier == NULL || item->blocks == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < at; i++) {
        const struct uvea_batch_entry *entry = &work->batch->entries[i];
        if (is_searched(entry)) {
            uvea_record_view(entry->upload, earlier[item->earlier_count].eye);
            item->earlier[item->earlier_count++] = i;
        }
    }
    return UVEA_OK;
}

static enum uvea_error search_with(struct work *work, size_t at,
                                   const struct uvea_search_earlier *earlier)
{
    struct uvea_process *process = work->process;
    struct uvea_batch_entry *entry = &work->batch->entries[at];
    const struct item *item = &work->items[at];
    const struct uvea_message *message = &entry->message;
    const bool reauth = message->kind == UVEA_MESSAGE_REAUTH;
    const uint32_t target = reauth ? message->serial_id - 1 : UVEA_SEARCH_NO_TARGET;
    const struct uvea_search_job job = {
        .query = item->query,
        .spectral_query = process->spectral == NULL ? NULL : &item->spectral_query,
        .mirror = work->batch->mirror,
        .known = reauth && message->use_or_rule ? &target : item->luc,
        .known_count = reauth && message->use_or_rule ? 1 : item->luc_count,
        .target = target,
        .earlier = earlier,
        .earlier_count = item->earlier_count,
    };

    UVEA_TRY(uvea_search_run(&process->search, &job, &entry->search, work->context));
    process->comparisons += entry->search.comparisons;
    return uvea_rt_point(process->rt, UVEA_POINT_SEARCHED);
}

static enum uvea_error list_luc(struct work *work, size_t at)
{
    const struct uvea_message *message = &work->batch->entries[at].message;
    struct item *item = &work->items[at];

    if (message->kind != UVEA_MESSAGE_UNIQUENESS) {
        return UVEA_OK;
    }
    return uvea_policy_luc_set(work->process->policy, message->or_rule_serial_ids,
                               message->or_rule_count, work->batch->record_count, &item->luc,
                               &item->luc_count);
}

static enum uvea_error search(struct work *work, size_t at)
{
    struct uvea_search_earlier *earlier = uvea_mem_alloc(at, sizeof(*earlier));
    enum uvea_error error;

    if (earlier == NULL) {
        return UVEA_ERR_MEMORY;
    }
    UVEA_TRY_CLEANUP(list_earlier(work, at, earlier));
    UVEA_TRY_CLEANUP(list_luc(work, at));
    UVEA_TRY_CLEANUP(search_with(work, at, earlier));
cleanup:
    uvea_mem_free(earlier);
    return error;
}

static enum uvea_error search_all(struct work *work)
{
    for (size_t i = 0; i < work->batch->count; i++) {
        if (is_searched(&work->batch->entries[i])) {
            UVEA_TRY(search(work, i));
        }
    }
    return UVEA_OK;
}

// ---- decisions

static enum uvea_policy_kind policy_kind(enum uvea_message_kind kind)
{
    switch (kind) {
    case UVEA_MESSAGE_UNIQUENESS:
        return UVEA_POLICY_UNIQUENESS;
    case UVEA_MESSAGE_REAUTH:
        return UVEA_POLICY_REAUTH;
    default:
        return UVEA_POLICY_CHECK;
    }
}

// Earlier requests are named by their position in the batch from here on.
static void name_batch_matches(const struct item *item, struct uvea_outcome *outcome)
{
    for (int way = 0; way < UVEA_ORIENTATION_COUNT; way++) {
        for (size_t i = 0; i < outcome->batch_matches[way].count; i++) {
            uint32_t *at = &outcome->batch_matches[way].at[i];
            *at = (uint32_t)item->earlier[*at];
        }
    }
}

static enum uvea_error decide(struct work *work, size_t at)
{
    const struct uvea_process *process = work->process;
    struct uvea_batch_entry *entry = &work->batch->entries[at];
    const struct uvea_message *message = &entry->message;
    struct item *item = &work->items[at];
    const struct uvea_policy_job job = {
        .kind = policy_kind(message->kind),
        .luc = item->luc,
        .luc_count = item->luc_count,
        .target = message->kind == UVEA_MESSAGE_REAUTH ? message->serial_id - 1 : 0,
        .use_or_rule = message->use_or_rule,
        .skip_persistence = message->skip_persistence,
        .earlier_blocks = item->blocks,
        .earlier_count = item->earlier_count,
    };

    for (size_t i = 0; i < item->earlier_count; i++) {
        const enum uvea_decision decision = work->batch->entries[item->earlier[i]].outcome.decision;
        item->blocks[i] =
            decision == UVEA_DECISION_UNIQUE_INSERT || decision == UVEA_DECISION_REAUTH_UPDATE;
    }
    UVEA_TRY(uvea_policy_decide(process->policy, &job, &entry->search, &entry->outcome));
    name_batch_matches(item, &entry->outcome);
    return UVEA_OK;
}

// The first serial whose record is the dummy, or 0.
static uint32_t deleted_serial(const struct uvea_process *process)
{
    const uint16_t *dummy = uvea_record_eye(&process->dummy.eye[scanned_eye(process)]);

    for (uint32_t index = 0; index < process->resident->count; index++) {
        if (memcmp(uvea_resident_record(process->resident, index), dummy,
                   UVEA_RESIDENT_RECORD_BYTES) == 0) {
            return index + 1;
        }
    }
    return 0;
}

static enum uvea_error plan_insert(struct work *work, struct uvea_batch_entry *entry,
                                   uint32_t *records)
{
    const size_t records_max = work->process->resident->records_max;

    if (uvea_plant_active(UVEA_PLANT_SERIAL_REUSED) && deleted_serial(work->process) != 0) {
        entry->mutation = UVEA_MUTATION_UPDATE;
        entry->serial = deleted_serial(work->process);
        entry->version =
            (uint16_t)(uvea_resident_version(work->process->resident, entry->serial - 1) + 1);
        return UVEA_OK;
    }

    if (*records >= records_max) {
        return uvea_error_set(work->context, UVEA_ERR_LIMIT,
                              "cannot insert record %" PRIu32 ": the database holds %zu at most",
                              *records + 1, records_max);
    }
    entry->mutation = UVEA_MUTATION_INSERT;
    entry->serial = ++*records;
    entry->version = 0;
    return UVEA_OK;
}

// What becomes of an entry that is decided, or needs no decision.
static enum uvea_error plan(struct work *work, size_t at, uint32_t *records)
{
    struct uvea_batch_entry *entry = &work->batch->entries[at];

    switch (entry->message.kind) {
    case UVEA_MESSAGE_UNIQUENESS:
        return entry->outcome.decision == UVEA_DECISION_UNIQUE_INSERT
                   ? plan_insert(work, entry, records)
                   : UVEA_OK;
    case UVEA_MESSAGE_REAUTH:
        return entry->outcome.decision == UVEA_DECISION_REAUTH_UPDATE &&
                       !entry->message.skip_persistence
                   ? plan_update(work, at)
                   : UVEA_OK;
    case UVEA_MESSAGE_RESET_UPDATE:
    case UVEA_MESSAGE_RECOVERY_UPDATE:
        return plan_update(work, at);
    default:
        return UVEA_OK;
    }
}

static enum uvea_error decide_all(struct work *work)
{
    uint32_t records = (uint32_t)work->process->resident->count;

    for (size_t i = 0; i < work->batch->count; i++) {
        if (is_searched(&work->batch->entries[i])) {
            UVEA_TRY(decide(work, i));
        }
        if (is_alive(&work->batch->entries[i])) {
            UVEA_TRY(plan(work, i, &records));
        }
    }
    return UVEA_OK;
}

// Nothing but deletions is changed before the three parties found themselves in step.
static enum uvea_error compare(const struct work *work)
{
    const struct uvea_process *process = work->process;
    uint8_t digest[UVEA_AGREE_DIGEST_BYTES];

    UVEA_TRY(uvea_agree_drift(&process->agree, work->context));
    UVEA_TRY(uvea_batch_digest(work->batch, process->run_seed, digest));
    UVEA_TRY(uvea_agree_digest(&process->agree, work->batch->id, digest, work->context));
    return uvea_rt_point(process->rt, UVEA_POINT_DECIDED);
}

static enum uvea_error encode_all(const struct work *work)
{
    for (size_t i = 0; i < work->batch->count; i++) {
        UVEA_TRY(uvea_results_encode(work->process->party, work->batch, i,
                                     &work->batch->entries[i].result));
    }
    return UVEA_OK;
}

// ---- the whole

static enum uvea_error run(struct work *work)
{
    const struct uvea_process *process = work->process;
    uint64_t since_ns = uvea_stages_now_ns(process->stages);

    UVEA_CHECK(!(uvea_plant_active(UVEA_PLANT_CRASH) && process->party.index == 1));
    UVEA_TRY(uvea_agree_state(&process->agree, uvea_resident_checksum(process->resident),
                              work->context));
    UVEA_TRY(prepare(work));
    UVEA_TRY(delete_all(work));
    since_ns = uvea_stages_add(process->stages, UVEA_STAGE_QUERY, since_ns);
    UVEA_TRY(search_all(work));
    since_ns = uvea_stages_add(process->stages, UVEA_STAGE_SEARCH, since_ns);
    UVEA_TRY(decide_all(work));
    UVEA_TRY(compare(work));
    UVEA_TRY(apply_all(work));
    UVEA_TRY(uvea_agree_state(&process->agree, uvea_resident_checksum(process->resident),
                              work->context));
    UVEA_TRY(encode_all(work));
    (void)uvea_stages_add(process->stages, UVEA_STAGE_DECISION, since_ns);
    return UVEA_OK;
}

static void wipe_and_free(void *memory, size_t bytes)
{
    if (memory != NULL) {
        uvea_mem_wipe(memory, bytes);
        uvea_mem_free(memory);
    }
}

static void close_work(struct work *work)
{
    for (size_t i = 0; i < work->batch->count; i++) {
        struct item *item = &work->items[i];
        wipe_and_free(item->query, sizeof(*item->query));
        uvea_spectral_query_deinit(&item->spectral_query);
        wipe_and_free(item->spectrum, sizeof(*item->spectrum));
        uvea_mem_free(item->luc);
        uvea_mem_free(item->blocks);
        uvea_mem_free(item->earlier);
    }
    uvea_mem_free(work->items);
    uvea_mem_free(work->deleted);
}

enum uvea_error uvea_process_batch(struct uvea_process *process, struct uvea_batch *batch,
                                   struct uvea_error_context *context)
{
    struct work work = {.process = process, .batch = batch, .context = context};
    enum uvea_error error;

    if (context != NULL) {
        context->text[0] = '\0';
    }
    work.items = uvea_mem_alloc(batch->count, sizeof(*work.items));
    if (work.items == NULL) {
        return UVEA_ERR_MEMORY;
    }
    error = run(&work);
    close_work(&work);
    return error;
}
