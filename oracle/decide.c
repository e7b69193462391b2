#include "oracle/decide.h"

#include "core/base/mem.h"
#include "oracle/json.h"
#include "oracle/search.h"

#include <string.h>

// ---- the database

void uvea_oracle_model_init(struct uvea_oracle_model *model,
                            const struct uvea_oracle_config *config)
{
    *model = (struct uvea_oracle_model){.config = *config};
}

void uvea_oracle_model_deinit(struct uvea_oracle_model *model)
{
    uvea_mem_free(model->records);
    *model = (struct uvea_oracle_model){0};
}

// Makes room for one more record, so that the insert that follows a search cannot fail.
static enum uvea_error model_reserve(struct uvea_oracle_model *model)
{
    if (model->record_count < model->record_capacity) {
        return UVEA_OK;
    }
    if (model->record_capacity > UINT32_MAX / 4) {
        return UVEA_ERR_LIMIT;
    }
    uint32_t capacity = model->record_capacity == 0 ? 64 : 2 * model->record_capacity;
    struct uvea_oracle_pair *records = uvea_mem_alloc(capacity, sizeof(*records));
    if (records == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (model->record_count > 0) {
        memcpy(records, model->records, model->record_count * sizeof(*records));
    }
    uvea_mem_free(model->records);
    model->records = records;
    model->record_capacity = capacity;
    return UVEA_OK;
}

enum uvea_error uvea_oracle_model_insert(struct uvea_oracle_model *model,
                                         const struct uvea_oracle_pair *pair, uint32_t *serial)
{
    UVEA_TRY(model_reserve(model));
    model->records[model->record_count++] = *pair;
    if (serial != NULL) {
        *serial = model->record_count;
    }
    return UVEA_OK;
}

// ---- the request

// The or-rule serials and the window of the N + 1 newest; a serial that is not live drops out.
static void mark_luc(const struct uvea_oracle_model *model,
                     const struct uvea_oracle_request *request, bool *luc)
{
    const struct uvea_oracle_config *config = &model->config;
    if (config->luc_enabled && config->luc_serial_ids_from_request) {
        uvea_oracle_search_name(request->or_rule_serials, request->or_rule_count,
                                model->record_count, luc);
    }
    uvea_oracle_search_lookback(config, model->record_count, luc);
}

static void decide(const struct uvea_oracle_request *request, struct uvea_oracle_answer *answer)
{
    bool normal = uvea_oracle_search_hit(&answer->search[UVEA_ORACLE_NORMAL]);
    bool mirror = uvea_oracle_search_hit(&answer->search[UVEA_ORACLE_MIRROR]);
    answer->mirror_attack = mirror && !normal;
    if (normal || mirror) {
        answer->decision = UVEA_ORACLE_NO_MUTATION;
    } else if (request->skip_persistence) {
        answer->decision = UVEA_ORACLE_INSERT_SKIPPED;
    } else {
        answer->decision = UVEA_ORACLE_INSERT;
    }
}

enum uvea_error uvea_oracle_uniqueness(struct uvea_oracle_model *model,
                                       const struct uvea_oracle_request *request,
                                       struct uvea_oracle_answer *answer,
                                       struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_ERR_MEMORY;
    struct uvea_oracle_answer result = {0};
    struct uvea_oracle_search_input *in = uvea_mem_alloc(1, sizeof(*in));
    bool *luc = uvea_mem_alloc(model->record_count, sizeof(*luc));
    const struct uvea_oracle_pair **records =
        uvea_mem_alloc(model->record_count, sizeof(const struct uvea_oracle_pair *));
    if (in == NULL || luc == NULL || records == NULL) {
        goto cleanup;
    }
    for (uint32_t i = 0; i < model->record_count; i++) {
        records[i] = &model->records[i];
    }
    mark_luc(model, request, luc);
    in->config = &model->config;
    in->records = records;
    in->record_count = model->record_count;
    in->luc = luc;
    for (unsigned o = 0; o < (request->mirror ? 2u : 1u); o++) {
        uvea_oracle_search_prepare(request->pair, (enum uvea_oracle_orientation)o, in);
        UVEA_TRY_CLEANUP(uvea_oracle_search_run(in, &result.search[o], context));
    }
    decide(request, &result);
    if (result.decision == UVEA_ORACLE_INSERT) {
        UVEA_TRY_CLEANUP(uvea_oracle_model_insert(model, request->pair, &result.serial));
    }
    *answer = result;
    result = (struct uvea_oracle_answer){0};
    error = UVEA_OK;
cleanup:
    uvea_oracle_answer_deinit(&result);
    uvea_mem_free(records);
    uvea_mem_free(luc);
    uvea_mem_free(in);
    return error;
}

void uvea_oracle_answer_deinit(struct uvea_oracle_answer *answer)
{
    for (unsigned o = 0; o < UVEA_ORACLE_ORIENTATIONS; o++) {
        uvea_oracle_search_deinit(&answer->search[o]);
    }
    *answer = (struct uvea_oracle_answer){0};
}

// ---- the result

enum uvea_error uvea_oracle_uniqueness_json(const struct uvea_oracle_config *config,
                                            const struct uvea_oracle_request *request,
                                            const struct uvea_oracle_answer *answer,
                                            unsigned node_id, struct uvea_buf *buf,
                                            struct uvea_error_context *context)
{
    const struct uvea_oracle_search *normal = &answer->search[UVEA_ORACLE_NORMAL];
    bool hidden = !config->return_partial_results;
    struct uvea_oracle_json out;
    uvea_oracle_json_begin(&out);
    uvea_oracle_json_number(&out, "node_id", node_id);
    if (answer->decision == UVEA_ORACLE_INSERT) {
        uvea_oracle_json_number(&out, "serial_id", answer->serial);
    } else {
        uvea_oracle_json_null(&out, "serial_id");
    }
    uvea_oracle_json_bool(&out, "is_match", answer->decision == UVEA_ORACLE_NO_MUTATION);
    uvea_oracle_json_text(&out, "signup_id", request->signup_id);
    if (answer->decision == UVEA_ORACLE_INSERT) {
        uvea_oracle_json_null(&out, "matched_serial_ids");
    } else {
        uvea_oracle_json_serials(&out, "matched_serial_ids", normal, UVEA_ORACLE_LIST_FULL, 0,
                                 false);
    }
    uvea_oracle_json_normal(&out, normal, hidden);
    uvea_oracle_json_texts(&out, "matched_batch_request_ids", NULL, 0);
    uvea_oracle_json_bool(&out, "full_face_mirror_attack_detected", answer->mirror_attack);
    uvea_oracle_json_mirror(&out, &answer->search[UVEA_ORACLE_MIRROR], hidden);
    uvea_oracle_json_null(&out, "error");
    uvea_oracle_json_null(&out, "error_reason");
    return uvea_oracle_json_end(&out, buf, context);
}
