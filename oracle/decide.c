#include "oracle/decide.h"

#include "core/base/mem.h"

#include <jansson.h>
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

// ---- search

// Everything one orientation's search reads; `query` is indexed by the database's eye.
struct search_input {
    const struct uvea_oracle_model *model;
    const bool *luc; // per record
    struct uvea_oracle_query query[UVEA_ORACLE_EYES];
};

static void search_deinit(struct uvea_oracle_search *search)
{
    uvea_mem_free(search->records);
    uvea_mem_free(search->passes);
    *search = (struct uvea_oracle_search){0};
}

static enum uvea_error pass_add(struct uvea_oracle_search *search,
                                const struct uvea_oracle_pass *pass)
{
    if (search->pass_count == search->pass_capacity) {
        size_t capacity = search->pass_capacity == 0 ? 64 : 2 * search->pass_capacity;
        struct uvea_oracle_pass *passes = uvea_mem_alloc(capacity, sizeof(*passes));
        if (passes == NULL) {
            return UVEA_ERR_MEMORY;
        }
        if (search->pass_count > 0) {
            memcpy(passes, search->passes, search->pass_count * sizeof(*passes));
        }
        uvea_mem_free(search->passes);
        search->passes = passes;
        search->pass_capacity = capacity;
    }
    search->passes[search->pass_count++] = *pass;
    return UVEA_OK;
}

// All rotations of one record on one eye.
static enum uvea_error evaluate(const struct search_input *in, uint32_t serial,
                                enum uvea_oracle_eye eye, struct uvea_oracle_search *search,
                                struct uvea_error_context *context)
{
    const struct uvea_oracle_template *stored = &in->model->records[serial - 1].eye[eye];
    struct uvea_oracle_record *record = &search->records[serial - 1];
    for (int i = 0; i < UVEA_ORACLE_ROTATIONS; i++) {
        struct uvea_oracle_counts counts;
        struct uvea_oracle_verdict verdict;
        uvea_oracle_count(&in->query[eye].at[i], stored, &counts);
        UVEA_TRY(uvea_oracle_judge(&counts, &verdict, context));
        if (verdict.strict) {
            record->strict[eye] |= UINT32_C(1) << i;
        }
        if (verdict.anonymous) {
            record->anonymous[eye] |= UINT32_C(1) << i;
            const struct uvea_oracle_pass pass = {
                .serial = serial,
                .eye = eye,
                .rotation = i - UVEA_ORACLE_ROTATION_MAX,
                .code_dot = counts.code_dot,
                .mask_dot = counts.mask_dot,
            };
            UVEA_TRY(pass_add(search, &pass));
        }
    }
    return UVEA_OK;
}

// P from the whole database, then D = P and the known candidates, on the other eye.
static enum uvea_error cascade(const struct search_input *in, struct uvea_oracle_search *search,
                               struct uvea_error_context *context)
{
    enum uvea_oracle_eye first = in->model->config.full_scan_eye;
    enum uvea_oracle_eye other = first == UVEA_ORACLE_LEFT ? UVEA_ORACLE_RIGHT : UVEA_ORACLE_LEFT;
    for (uint32_t serial = 1; serial <= search->record_count; serial++) {
        UVEA_TRY(evaluate(in, serial, first, search, context));
        struct uvea_oracle_record *record = &search->records[serial - 1];
        record->luc = in->luc[serial - 1];
        record->prefiltered = record->anonymous[first] != 0;
        record->second = record->prefiltered || record->luc;
    }
    for (uint32_t serial = 1; serial <= search->record_count; serial++) {
        if (search->records[serial - 1].second) {
            UVEA_TRY(evaluate(in, serial, other, search, context));
        }
    }
    return UVEA_OK;
}

// Both eyes for a search match, either eye for one of the LUC set.
static void conclude(const struct uvea_oracle_config *config, struct uvea_oracle_search *search)
{
    for (uint32_t i = 0; i < search->record_count; i++) {
        struct uvea_oracle_record *record = &search->records[i];
        bool left = record->strict[UVEA_ORACLE_LEFT] != 0;
        bool right = record->strict[UVEA_ORACLE_RIGHT] != 0;
        record->matched = (left && right) || (record->luc && (left || right));
        search->match_count += record->matched;
        search->partial_count[UVEA_ORACLE_LEFT] += left;
        search->partial_count[UVEA_ORACLE_RIGHT] += right;
    }
    for (unsigned eye = 0; eye < UVEA_ORACLE_EYES; eye++) {
        search->saturated[eye] =
            config->return_partial_results && search->partial_count[eye] > config->supermatch_limit;
    }
}

static enum uvea_error search_run(const struct search_input *in, struct uvea_oracle_search *out,
                                  struct uvea_error_context *context)
{
    enum uvea_error error;
    struct uvea_oracle_search search = {.run = true, .record_count = in->model->record_count};
    search.records = uvea_mem_alloc(search.record_count, sizeof(*search.records));
    if (search.records == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(cascade(in, &search, context));
    conclude(&in->model->config, &search);
    *out = search;
    search = (struct uvea_oracle_search){0};
cleanup:
    search_deinit(&search);
    return error;
}

// ---- the request

// The or-rule serials and the window of the N + 1 newest; a serial that is not live drops out.
static void mark_luc(const struct uvea_oracle_model *model,
                     const struct uvea_oracle_request *request, bool *luc)
{
    const struct uvea_oracle_config *config = &model->config;
    if (!config->luc_enabled) {
        return;
    }
    for (size_t i = 0; config->luc_serial_ids_from_request && i < request->or_rule_count; i++) {
        uint32_t serial = request->or_rule_serials[i];
        if (serial >= 1 && serial <= model->record_count) {
            luc[serial - 1] = true;
        }
    }
    if (config->luc_lookback_records == 0) {
        return;
    }
    uint64_t window = (uint64_t)config->luc_lookback_records + 1;
    for (uint32_t i = 0; i < model->record_count; i++) {
        if (model->record_count - i <= window) {
            luc[i] = true;
        }
    }
}

// In mirror orientation the query's right eye, mirrored, meets the database's left eyes.
static void prepare(const struct uvea_oracle_pair *pair, enum uvea_oracle_orientation orientation,
                    struct search_input *in)
{
    if (orientation == UVEA_ORACLE_NORMAL) {
        uvea_oracle_query_prepare(&pair->eye[UVEA_ORACLE_LEFT], &in->query[UVEA_ORACLE_LEFT]);
        uvea_oracle_query_prepare(&pair->eye[UVEA_ORACLE_RIGHT], &in->query[UVEA_ORACLE_RIGHT]);
        return;
    }
    struct uvea_oracle_template mirrored;
    uvea_oracle_mirror(&pair->eye[UVEA_ORACLE_RIGHT], &mirrored);
    uvea_oracle_query_prepare(&mirrored, &in->query[UVEA_ORACLE_LEFT]);
    uvea_oracle_mirror(&pair->eye[UVEA_ORACLE_LEFT], &mirrored);
    uvea_oracle_query_prepare(&mirrored, &in->query[UVEA_ORACLE_RIGHT]);
}

static bool search_hit(const struct uvea_oracle_search *search)
{
    return search->match_count > 0 || search->saturated[UVEA_ORACLE_LEFT] ||
           search->saturated[UVEA_ORACLE_RIGHT];
}

static void decide(const struct uvea_oracle_request *request, struct uvea_oracle_answer *answer)
{
    bool normal = search_hit(&answer->search[UVEA_ORACLE_NORMAL]);
    bool mirror = search_hit(&answer->search[UVEA_ORACLE_MIRROR]);
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
    struct search_input *in = uvea_mem_alloc(1, sizeof(*in));
    bool *luc = uvea_mem_alloc(model->record_count, sizeof(*luc));
    if (in == NULL || luc == NULL) {
        goto cleanup;
    }
    mark_luc(model, request, luc);
    in->model = model;
    in->luc = luc;
    for (unsigned o = 0; o < (request->mirror ? 2u : 1u); o++) {
        prepare(request->pair, (enum uvea_oracle_orientation)o, in);
        UVEA_TRY_CLEANUP(search_run(in, &result.search[o], context));
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
    uvea_mem_free(luc);
    uvea_mem_free(in);
    return error;
}

void uvea_oracle_answer_deinit(struct uvea_oracle_answer *answer)
{
    for (unsigned o = 0; o < UVEA_ORACLE_ORIENTATIONS; o++) {
        search_deinit(&answer->search[o]);
    }
    *answer = (struct uvea_oracle_answer){0};
}

// ---- the result

// Strict matches on one eye, or full matches.
enum list { LIST_LEFT = UVEA_ORACLE_LEFT, LIST_RIGHT = UVEA_ORACLE_RIGHT, LIST_FULL };

static bool listed(const struct uvea_oracle_record *record, enum list list)
{
    return list == LIST_FULL ? record->matched : record->strict[list] != 0;
}

// Turns *array into NULL when memory is short; put() reports that.
static void array_add(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value) != 0) {
        json_decref(*array);
        *array = NULL;
    }
}

static json_t *serial_list(const struct uvea_oracle_search *search, enum list list)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < search->record_count; i++) {
        if (json_array_size(array) < UVEA_ORACLE_IDS_MAX && listed(&search->records[i], list)) {
            array_add(&array, json_integer((json_int_t)i + 1));
        }
    }
    return array;
}

static json_t *rotation_list(uint32_t rotations)
{
    json_t *array = json_array();
    for (int i = 0; i < UVEA_ORACLE_ROTATIONS; i++) {
        if ((rotations >> i & 1) != 0) {
            array_add(&array, json_integer(i - UVEA_ORACLE_ROTATION_MAX));
        }
    }
    return array;
}

// One inner list for each serial of the same eye's list.
static json_t *rotation_lists(const struct uvea_oracle_search *search, enum list eye)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < search->record_count; i++) {
        if (json_array_size(array) < UVEA_ORACLE_IDS_MAX && listed(&search->records[i], eye)) {
            array_add(&array, rotation_list(search->records[i].strict[eye]));
        }
    }
    return array;
}

static json_t *null_when(bool absent, json_t *value)
{
    if (absent && value != NULL) {
        json_decref(value);
        return json_null();
    }
    return value;
}

static json_t *null_when_empty(json_t *array)
{
    return null_when(json_array_size(array) == 0, array);
}

struct result_writer {
    json_t *object;
    bool failed;
};

static void put(struct result_writer *out, const char *member, json_t *value)
{
    out->failed |= json_object_set_new(out->object, member, value) != 0;
}

// An eye's list, or null when it is empty or hidden.
static void put_partial(struct result_writer *out, const char *member, bool hidden,
                        const struct uvea_oracle_search *search, enum list eye)
{
    put(out, member, null_when(hidden, null_when_empty(serial_list(search, eye))));
}

static void put_count(struct result_writer *out, const char *member, bool hidden,
                      const struct uvea_oracle_search *search, enum uvea_oracle_eye eye)
{
    put(out, member, json_integer(hidden ? 0 : (json_int_t)search->partial_count[eye]));
}

static void put_normal(struct result_writer *out, const struct uvea_oracle_search *normal,
                       bool hidden)
{
    put_partial(out, "matched_serial_ids_left", hidden, normal, LIST_LEFT);
    put_partial(out, "matched_serial_ids_right", hidden, normal, LIST_RIGHT);
    put_count(out, "partial_matches_count_right", hidden, normal, UVEA_ORACLE_RIGHT);
    put_count(out, "partial_matches_count_left", hidden, normal, UVEA_ORACLE_LEFT);
    put(out, "partial_match_rotation_indices_left",
        null_when(hidden, null_when_empty(rotation_lists(normal, LIST_LEFT))));
    put(out, "partial_match_rotation_indices_right",
        null_when(hidden, null_when_empty(rotation_lists(normal, LIST_RIGHT))));
}

static void put_mirror(struct result_writer *out, const struct uvea_oracle_search *mirror,
                       bool hidden)
{
    put(out, "full_face_mirror_matched_serial_ids",
        null_when_empty(serial_list(mirror, LIST_FULL)));
    put_partial(out, "full_face_mirror_matched_serial_ids_left", hidden, mirror, LIST_LEFT);
    put_partial(out, "full_face_mirror_matched_serial_ids_right", hidden, mirror, LIST_RIGHT);
    put_count(out, "full_face_mirror_partial_matches_count_left", hidden, mirror, UVEA_ORACLE_LEFT);
    put_count(out, "full_face_mirror_partial_matches_count_right", hidden, mirror,
              UVEA_ORACLE_RIGHT);
}

enum uvea_error uvea_oracle_uniqueness_json(const struct uvea_oracle_config *config,
                                            const struct uvea_oracle_request *request,
                                            const struct uvea_oracle_answer *answer,
                                            unsigned node_id, struct uvea_buf *buf,
                                            struct uvea_error_context *context)
{
    const struct uvea_oracle_search *normal = &answer->search[UVEA_ORACLE_NORMAL];
    bool inserted = answer->decision == UVEA_ORACLE_INSERT;
    bool hidden = !config->return_partial_results;
    struct result_writer out = {.object = json_object()};

    json_t *signup_id = json_string(request->signup_id);
    if (signup_id == NULL) {
        json_decref(out.object);
        return uvea_error_set(context, UVEA_ERR_FORMAT, "signup_id is not UTF-8");
    }
    put(&out, "node_id", json_integer(node_id));
    put(&out, "serial_id", null_when(!inserted, json_integer(answer->serial)));
    put(&out, "is_match", json_boolean(answer->decision == UVEA_ORACLE_NO_MUTATION));
    put(&out, "signup_id", signup_id);
    put(&out, "matched_serial_ids", null_when(inserted, serial_list(normal, LIST_FULL)));
    put_normal(&out, normal, hidden);
    put(&out, "matched_batch_request_ids", json_array());
    put(&out, "full_face_mirror_attack_detected", json_boolean(answer->mirror_attack));
    put_mirror(&out, &answer->search[UVEA_ORACLE_MIRROR], hidden);
    put(&out, "error", json_null());
    put(&out, "error_reason", json_null());

    enum uvea_error error = UVEA_ERR_MEMORY;
    size_t len = out.failed ? 0 : json_dumpb(out.object, NULL, 0, JSON_COMPACT);
    char *text = len == 0 ? NULL : (char *)uvea_buf_extend(buf, len);
    if (text != NULL) {
        (void)json_dumpb(out.object, text, len, JSON_COMPACT);
        error = UVEA_OK;
    }
    json_decref(out.object);
    return error;
}
