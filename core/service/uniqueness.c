#include "core/service/uniqueness.h"

#include "core/base/mem.h"
#include "core/iris/share.h"
#include "core/scan/query.h"
#include "core/service/result.h"

// What a request needs while it is in work. Secret, and too large for a stack.
struct work {
    struct uvea_iris_upload upload;
    struct uvea_scan_query query;
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
                                         const struct uvea_scan_query *query,
                                         struct uvea_response *response,
                                         struct uvea_error_context *context)
{
    struct uvea_search_job job = {.query = query, .mirror = request->mirror_detection};
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
    UVEA_TRY_CLEANUP(uvea_policy_decide_uniqueness(engine->policy, luc, luc_count,
                                                   request->skip_persistence, &response->search,
                                                   &response->outcome));
cleanup:
    uvea_mem_free(luc);
    return error;
}

// Nothing is changed or answered before the three parties found themselves in step. The text is
// made before the insertion too, so that what can still fail comes first.
static enum uvea_error commit(struct uvea_engine *engine,
                              const struct uvea_uniqueness_request *request,
                              const struct uvea_iris_upload *upload, struct uvea_response *response,
                              struct uvea_error_context *context)
{
    const bool insert = response->outcome.decision == UVEA_DECISION_UNIQUE_INSERT;
    const uint32_t serial = insert ? (uint32_t)engine->resident->count + 1 : 0;
    uint32_t index;

    UVEA_TRY(uvea_engine_check_drift(engine, context));
    UVEA_TRY(uvea_engine_check_outcome(engine, &response->search, &response->outcome, context));
    UVEA_TRY(uvea_result_encode_uniqueness(engine->party, request->signup_id, serial,
                                           &response->outcome, &response->json));
    if (insert) {
        const enum uvea_error error = uvea_resident_insert(engine->resident, upload, &index);
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
    UVEA_TRY(uvea_scan_query_prepare(engine->party, &work->upload, request->mirror_detection,
                                     &work->query));
    UVEA_TRY(search_and_decide(engine, request, &work->query, response, context));
    return commit(engine, request, &work->upload, response, context);
}

enum uvea_error uvea_uniqueness_process(struct uvea_engine *engine,
                                        const struct uvea_uniqueness_request *request,
                                        struct uvea_response *response,
                                        struct uvea_error_context *context)
{
    struct work *work;
    enum uvea_error error;

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
    uvea_mem_wipe(work, sizeof(*work));
    uvea_mem_free(work);
    return error;
}
