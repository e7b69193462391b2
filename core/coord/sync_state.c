#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/coord/json.h"
#include "core/coord/sync.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char in_progress[] = "IN_PROGRESS";
static const char completed[] = "COMPLETED";

// ---- what a state owns

static enum uvea_error copy_text(const char *text, const char **copy)
{
    if (text == NULL) {
        *copy = NULL;
        return UVEA_OK;
    }
    const size_t bytes = strlen(text) + 1;
    char *memory = uvea_mem_alloc(bytes, 1);
    if (memory == NULL) {
        return UVEA_ERR_MEMORY;
    }
    memcpy(memory, text, bytes);
    *copy = memory;
    return UVEA_OK;
}

static void free_text(const char *text)
{
    uvea_mem_free((void *)text);
}

void uvea_modification_release(struct uvea_modification *modification)
{
    free_text(modification->type);
    free_text(modification->s3_url);
    free_text(modification->result);
    free_text(modification->attributes);
    *modification = (struct uvea_modification){0};
}

enum uvea_error uvea_modification_copy(const struct uvea_modification *modification,
                                       struct uvea_modification *copy)
{
    struct uvea_modification made = *modification;
    enum uvea_error error;

    made.type = made.s3_url = made.result = made.attributes = NULL;
    UVEA_TRY_CLEANUP(copy_text(modification->type, &made.type));
    UVEA_TRY_CLEANUP(copy_text(modification->s3_url, &made.s3_url));
    UVEA_TRY_CLEANUP(copy_text(modification->result, &made.result));
    UVEA_TRY_CLEANUP(copy_text(modification->attributes, &made.attributes));
    *copy = made;

cleanup:
    if (error != UVEA_OK) {
        uvea_modification_release(&made);
    }
    return error;
}

void uvea_sync_state_deinit(struct uvea_sync_state *state)
{
    for (size_t i = 0; i < state->modification_count; i++) {
        uvea_modification_release(&state->modifications[i]);
    }
    uvea_mem_free(state->modifications);
    json_decref(state->common_config);
    *state = (struct uvea_sync_state){0};
}

// The list has room for a power of two, at least 16.
static enum uvea_error make_room(struct uvea_sync_state *state)
{
    const size_t count = state->modification_count;
    const bool full = count == 0 || (count >= 16 && (count & (count - 1)) == 0);

    if (!full) {
        return UVEA_OK;
    }
    const size_t room = count == 0 ? 16 : 2 * count;
    struct uvea_modification *wider = uvea_mem_alloc(room, sizeof(*wider));
    if (wider == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (count > 0) {
        memcpy(wider, state->modifications, count * sizeof(*wider));
    }
    uvea_mem_free(state->modifications);
    state->modifications = wider;
    return UVEA_OK;
}

enum uvea_error uvea_sync_state_add(struct uvea_sync_state *state,
                                    const struct uvea_modification *modification)
{
    if (state->modification_count == UVEA_SYNC_MODIFICATIONS_MAX) {
        return UVEA_ERR_LIMIT;
    }
    UVEA_TRY(make_room(state));
    UVEA_TRY(
        uvea_modification_copy(modification, &state->modifications[state->modification_count]));
    state->modification_count++;
    return UVEA_OK;
}

// ---- writing

static enum uvea_error append_modification(const struct uvea_modification *modification,
                                           struct uvea_buf *json)
{
    UVEA_TRY(uvea_coord_append(json, "{\"id\":"));
    UVEA_TRY(uvea_coord_append_number(json, modification->id));
    UVEA_TRY(uvea_coord_append(json, ",\"serial_id\":"));
    if (modification->serial == 0) {
        UVEA_TRY(uvea_coord_append(json, "null"));
    } else {
        UVEA_TRY(uvea_coord_append_number(json, modification->serial));
    }
    UVEA_TRY(uvea_coord_append(json, ",\"request_type\":"));
    UVEA_TRY(uvea_coord_append_string(json, modification->type));
    UVEA_TRY(uvea_coord_append(json, ",\"s3_url\":"));
    UVEA_TRY(uvea_coord_append_string(json, modification->s3_url));
    UVEA_TRY(uvea_coord_append(json, ",\"status\":"));
    UVEA_TRY(uvea_coord_append_string(json, modification->completed ? completed : in_progress));
    UVEA_TRY(uvea_coord_append(json, modification->persisted ? ",\"persisted\":true"
                                                             : ",\"persisted\":false"));
    UVEA_TRY(uvea_coord_append(json, ",\"result_message_body\":"));
    UVEA_TRY(uvea_coord_append_string(json, modification->result));
    return uvea_coord_append(json, ",\"graph_mutation\":null}");
}

static enum uvea_error append_state(const struct uvea_sync_state *state, struct uvea_buf *json)
{
    UVEA_TRY(uvea_coord_append(json, "{\"db_len\":"));
    UVEA_TRY(uvea_coord_append_number(json, state->db_len));
    UVEA_TRY(uvea_coord_append(json, ",\"modifications\":["));
    for (size_t i = 0; i < state->modification_count; i++) {
        UVEA_TRY(uvea_coord_append(json, i == 0 ? "" : ","));
        UVEA_TRY(append_modification(&state->modifications[i], json));
    }
    UVEA_TRY(uvea_coord_append(json, "],\"next_sns_sequence_num\":"));
    if (state->has_next_sequence) {
        UVEA_TRY(uvea_coord_append_number(json, state->next_sequence));
    } else {
        UVEA_TRY(uvea_coord_append(json, "null"));
    }
    UVEA_TRY(uvea_coord_append(json, ",\"common_config\":"));
    UVEA_TRY(uvea_coord_append_value(json, state->common_config));
    UVEA_TRY(uvea_coord_append(json, ",\"graph_mutation_bytes\":[]"
                                     ",\"max_persisted_sequence_number\":"));
    if (state->has_max_persisted) {
        char digits[UVEA_STORE_SEQUENCE_DIGITS + 1];
        (void)snprintf(digits, sizeof(digits), "%0*" PRIu64, UVEA_STORE_SEQUENCE_DIGITS,
                       state->max_persisted);
        UVEA_TRY(uvea_coord_append_string(json, digits));
    } else {
        UVEA_TRY(uvea_coord_append(json, "null"));
    }
    return uvea_coord_append(json, ",\"dh_nonce\":null}");
}

enum uvea_error uvea_sync_state_encode(const struct uvea_sync_state *state, struct uvea_buf *json)
{
    const size_t before = json->len;

    UVEA_CHECK(json_is_object(state->common_config));
    const enum uvea_error error = append_state(state, json);
    if (error != UVEA_OK) {
        json->len = before;
    }
    return error;
}

// ---- reading

static enum uvea_error read_status(const json_t *object, bool *is_completed,
                                   struct uvea_error_context *context)
{
    const char *status = NULL;

    UVEA_TRY(uvea_coord_json_string(object, "status", sizeof(in_progress), &status, context));
    *is_completed = strcmp(status, completed) == 0;
    if (!*is_completed && strcmp(status, in_progress) != 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "member status is not %s or %s",
                              in_progress, completed);
    }
    return UVEA_OK;
}

static enum uvea_error read_modification(const json_t *object, struct uvea_modification *out,
                                         struct uvea_error_context *context)
{
    bool has_serial = false;
    uint64_t serial = 0;

    if (!json_is_object(object)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "not an object");
    }
    UVEA_TRY(uvea_coord_json_number(object, "id", INT64_MAX, &out->id, context));
    UVEA_TRY(uvea_coord_json_number_or_null(object, "serial_id", UINT32_MAX, &has_serial, &serial,
                                            context));
    if (out->id == 0 || (has_serial && serial == 0)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "member %s is 0",
                              out->id == 0 ? "id" : "serial_id");
    }
    out->serial = (uint32_t)serial;
    UVEA_TRY(uvea_coord_json_string(object, "request_type", UVEA_STORE_TYPE_CHARS_MAX, &out->type,
                                    context));
    UVEA_TRY(uvea_coord_json_string_or_null(object, "s3_url", UVEA_STORE_KEY_BYTES_MAX,
                                            &out->s3_url, context));
    UVEA_TRY(read_status(object, &out->completed, context));
    UVEA_TRY(uvea_coord_json_bool(object, "persisted", &out->persisted, context));
    return uvea_coord_json_string_or_null(object, "result_message_body", UVEA_STORE_BODY_BYTES_MAX,
                                          &out->result, context);
}

static enum uvea_error read_modifications(const json_t *object, struct uvea_sync_state *state,
                                          struct uvea_error_context *context)
{
    const json_t *list = NULL;
    uint64_t last = 0;

    UVEA_TRY(uvea_coord_json_array(object, "modifications", UVEA_SYNC_MODIFICATIONS_MAX, &list,
                                   context));
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct uvea_error_context inner = {{0}};
        struct uvea_modification found = {0};
        enum uvea_error error = read_modification(json_array_get(list, i), &found, &inner);
        if (error == UVEA_OK && found.id <= last) {
            error = uvea_error_set(&inner, UVEA_ERR_FORMAT, "member id is not more than before");
        }
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "member modifications, entry %zu: %.300s", i,
                                  inner.text);
        }
        last = found.id;
        error = uvea_sync_state_add(state, &found);
        if (error != UVEA_OK) {
            return uvea_error_set(context, error, "member modifications: out of memory");
        }
    }
    return UVEA_OK;
}

// A number of up to 40 digits, padded with zeros.
static enum uvea_error read_max_persisted(const json_t *object, struct uvea_sync_state *state,
                                          struct uvea_error_context *context)
{
    static const char name[] = "max_persisted_sequence_number";
    const char *digits = NULL;

    UVEA_TRY(
        uvea_coord_json_string_or_null(object, name, UVEA_STORE_SEQUENCE_DIGITS, &digits, context));
    if (digits == NULL) {
        return UVEA_OK;
    }
    while (digits[0] == '0' && digits[1] != '\0') {
        digits++;
    }
    const enum uvea_error error = uvea_coord_digits(digits, &state->max_persisted);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "member %s %s", name,
                              error == UVEA_ERR_LIMIT ? "is more than 2^64 - 1"
                                                      : "is not a number");
    }
    state->has_max_persisted = true;
    return UVEA_OK;
}

static enum uvea_error read_state(json_t *object, struct uvea_sync_state *state,
                                  struct uvea_error_context *context)
{
    json_t *config = json_object_get(object, "common_config");

    UVEA_TRY(uvea_coord_json_number(object, "db_len", UINT64_MAX, &state->db_len, context));
    UVEA_TRY(read_modifications(object, state, context));
    // The reference writes up to 2^128 - 1 here.
    UVEA_TRY(uvea_coord_json_number_or_null(object, "next_sns_sequence_num", UINT64_MAX,
                                            &state->has_next_sequence, &state->next_sequence,
                                            context));
    UVEA_TRY(read_max_persisted(object, state, context));
    if (!json_is_object(config)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "member common_config is not an object");
    }
    state->common_config = json_incref(config);
    return UVEA_OK;
}

enum uvea_error uvea_sync_state_decode(const uint8_t *json, size_t bytes,
                                       struct uvea_sync_state *state,
                                       struct uvea_error_context *context)
{
    json_t *object = NULL;

    UVEA_TRY(uvea_coord_json_load(json, bytes, UVEA_HTTP_BODY_BYTES_MAX, &object, context));
    const enum uvea_error error = read_state(object, state, context);
    if (error != UVEA_OK) {
        uvea_sync_state_deinit(state);
    }
    json_decref(object);
    return error;
}
