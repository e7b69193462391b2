#include "core/service/uniqueness.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/iris/share.h"
#include "core/scan/query.h"
#include "core/service/result.h"

// What a request needs while it is in work. Secret, and too large for a stack.
struct work {
    struct uvea_iris_upload upload;
    struct uvea_scan_query query;
    uint16_t record[UVEA_RECORD_COEFFICIENTS];
    struct uvea_spectral_query spectral_query; // all zero on the ring path
};

static bool is_refusal(enum uvea_error error)
{
    return error == UVEA_ERR_FORMAT || error == UVEA_ERR_LIMIT;
}

// Reads this party's share and learns whether all three could. A refused share is no failure.
static enum uvea_error take_upload(struct uvea_engine *engine,
                                   const struct uvea_uniqueness_request *request,
                                   struct uvea_iris_upload *upload, struct uvea_response *response,
                                   bool *all_valid, struct uvea_error_context *context)
{
    enum uvea_error error;

    uvea_rt_charge(engine->rt, UVEA_CHARGE_SHARE_BYTE, request->shares_bytes);
    error = uvea_iris_decode_upload(engine->party, request->shares, request->shares_bytes, upload,
                                    &response->refusal);
    if (error != UVEA_OK && !is_refusal(error)) {
        return error;
    }
    return uvea_engine_agree_valid(engine, error == UVEA_OK, all_valid, context);
}

static enum uvea_error search_and_decide(struct uvea_engine *engine,
                                         const struct uvea_uniqueness_request *request,
                                         const struct work *work, struct uvea_response *response,
                                         struct uvea_error_context *context)
{
    struct uvea_search_job job = {
        .query = &work->query,
        .spectral_query = &work->spectral_query,
        .mirror = request->mirror_detection,
        .target = UVEA_SEARCH_NO_TARGET,
    };
    struct uvea_policy_job rules = {
        .kind = UVEA_POLICY_UNIQUENESS,
        .skip_persistence = request->skip_persistence,
    };
    uint32_t *luc = NULL;
    size_t luc_count = 0;
    enum uvea_error error;

    UVEA_TRY_CLEANUP(uvea_policy_luc_set(engine->policy, request->or_rule_serial_ids,
                                         request->or_rule_count, engine->resident->count, &luc,
                                         &luc_count));
    job.known = luc;
    job.known_count = luc_count;
    UVEA_TRY_CLEANUP(uvea_search_run(&engine->search, &job, &response->search, context));
    engine->comparisons += response->search.comparisons;
    rules.luc = luc;
    rules.luc_count = luc_count;
    UVEA_TRY_CLEANUP(
        uvea_policy_decide(engine->policy, &rules, &response->search, &response->outcome));
cleanup:
    uvea_mem_free(luc);
    return error;
}

// The resident record last: spectrum and other eye are only looked at together with it.
static enum uvea_error enrol(struct uvea_engine *engine, struct work *work)
{
    const enum uvea_eye scanned = engine->search.config->full_scan_eye;
    const enum uvea_eye other = scanned == UVEA_EYE_LEFT ? UVEA_EYE_RIGHT : UVEA_EYE_LEFT;
    uint32_t index;

    if (engine->spectral != NULL) {
        UVEA_TRY(uvea_spectral_insert(engine->spectral, work->spectral_query.record));
    }
    uvea_scan_record_of_share(&work->upload.eye[other], work->record);
    UVEA_TRY(
        uvea_cold_put(engine->search.cold, (uint32_t)engine->resident->count + 1, 0, work->record));
    uvea_scan_record_of_share(&work->upload.eye[scanned], work->record);
    return uvea_resident_insert(engine->resident, work->record, 0, &index);
}

// On the NTT path the query's scanned eye is converted too, on the session of the agreements.
static enum uvea_error prepare_query(struct uvea_engine *engine,
                                     const struct uvea_uniqueness_request *request,
                                     struct work *work, struct uvea_error_context *context)
{
    const struct uvea_search_config *config = engine->search.config;
    struct uvea_session *session = engine->search.sessions[0];
    enum uvea_error error;

    UVEA_TRY(uvea_scan_query_prepare(engine->party, &work->upload, request->mirror_detection,
                                     &work->query));
    if (engine->spectral == NULL) {
        return UVEA_OK;
    }
    error = uvea_spectral_query_convert(session, &work->upload, config->full_scan_eye,
                                        request->mirror_detection, config->spectral_kernel,
                                        &work->spectral_query);
    if (error != UVEA_OK && context != NULL) {
        *context = session->error;
    }
    return error;
}

// Nothing is changed or answered before the three parties found themselves in step. The text is
// made before the insertion too, so that what can still fail comes first.
static enum uvea_error commit(struct uvea_engine *engine,
                              const struct uvea_uniqueness_request *request, struct work *work,
                              struct uvea_response *response, struct uvea_error_context *context)
{
    const bool insert = response->outcome.decision == UVEA_DECISION_UNIQUE_INSERT;
    const uint32_t serial = insert ? (uint32_t)engine->resident->count + 1 : 0;

    UVEA_TRY(uvea_engine_check_drift(engine, context));
    UVEA_TRY(uvea_engine_check_outcome(engine, &response->search, &response->outcome, context));
    UVEA_TRY(uvea_result_encode_uniqueness(engine->party, request->signup_id, serial,
                                           &response->outcome, &response->json));
    if (insert) {
        const enum uvea_error error = enrol(engine, work);
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "cannot insert record %u: %s", (unsigned)serial,
                                  uvea_error_text(error));
        }
    }
    response->serial = serial;
    return uvea_engine_check_state(engine, context);
}

static enum uvea_error answer_error(struct uvea_engine *engine, const char *signup_id,
                                    const char *reason, struct uvea_response *response)
{
    engine->errors++;
    response->error_reason = reason;
    return uvea_result_encode_uniqueness_error(engine->party, signup_id, reason, &response->json);
}

static enum uvea_error process(struct uvea_engine *engine,
                               const struct uvea_uniqueness_request *request, struct work *work,
                               struct uvea_response *response, struct uvea_error_context *context)
{
    bool all_valid;

    UVEA_TRY(take_upload(engine, request, &work->upload, response, &all_valid, context));
    if (!all_valid) {
        return answer_error(engine, request->signup_id, UVEA_REASON_SHARES, response);
    }
    UVEA_TRY(prepare_query(engine, request, work, context));
    UVEA_TRY(search_and_decide(engine, request, work, response, context));
    return commit(engine, request, work, response, context);
}

enum uvea_error uvea_uniqueness_process(struct uvea_engine *engine,
                                        const struct uvea_uniqueness_request *request,
                                        struct uvea_response *response,
                                        struct uvea_error_context *context)
{
    struct work *work;
    enum uvea_error error;

    UVEA_CHECK(!(uvea_plant_active(UVEA_PLANT_CRASH) && engine->party.index == 1));
    engine->requests++;
    // Depends on nothing but what all parties were sent, so they need not agree on it.
    if (!uvea_result_text_valid(request->signup_id)) {
        return answer_error(engine, "", UVEA_REASON_REQUEST, response);
    }
    work = uvea_mem_alloc(1, sizeof(*work));
    if (work == NULL) {
        return UVEA_ERR_MEMORY;
    }
    error = process(engine, request, work, response, context);
    uvea_spectral_query_deinit(&work->spectral_query);
    uvea_mem_wipe(work, sizeof(*work));
    uvea_mem_free(work);
    return error;
}
