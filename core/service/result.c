#include "core/service/result.h"

#include <jansson.h>

// Sets a member whose value is owned; false when memory was short (then or for the value).
static bool put(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new_nocheck(object, name, value) == 0;
}

static json_t *id_array(const struct uvea_match_list *list)
{
    json_t *array = json_array();

    for (size_t i = 0; i < list->count; i++) {
        if (json_array_append_new(array, json_integer(list->serials[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

// An id list as an optional: null when hidden or empty.
static json_t *optional_ids(const struct uvea_match_list *list, bool shown)
{
    return shown && list->count > 0 ? id_array(list) : json_null();
}

static json_t *count_of(const struct uvea_match_list *list, bool shown)
{
    return json_integer(shown ? (json_int_t)list->total : 0);
}

static json_t *rotation_array(uint32_t strict)
{
    json_t *array = json_array();

    for (int r = 0; r < UVEA_ROTATION_COUNT; r++) {
        if ((strict >> r & 1) != 0 &&
            json_array_append_new(array, json_integer(r - UVEA_ROTATION_MAX)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *optional_rotations(const struct uvea_match_list *list, bool shown)
{
    json_t *array;

    if (!shown || list->count == 0) {
        return json_null();
    }
    array = json_array();
    for (size_t i = 0; i < list->count; i++) {
        if (json_array_append_new(array, rotation_array(list->strict[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static bool put_normal(json_t *object, const struct uvea_outcome *outcome)
{
    const struct uvea_orientation_matches *normal = &outcome->matches[UVEA_ORIENTATION_NORMAL];
    const struct uvea_match_list *left = &normal->partial[UVEA_EYE_LEFT];
    const struct uvea_match_list *right = &normal->partial[UVEA_EYE_RIGHT];
    const bool shown = outcome->partial_results;
    const bool inserted = outcome->decision == UVEA_DECISION_UNIQUE_INSERT;

    return put(object, "matched_serial_ids", inserted ? json_null() : id_array(&normal->full)) &&
           put(object, "matched_serial_ids_left", optional_ids(left, shown)) &&
           put(object, "matched_serial_ids_right", optional_ids(right, shown)) &&
           put(object, "partial_matches_count_right", count_of(right, shown)) &&
           put(object, "partial_matches_count_left", count_of(left, shown)) &&
           put(object, "partial_match_rotation_indices_left", optional_rotations(left, shown)) &&
           put(object, "partial_match_rotation_indices_right", optional_rotations(right, shown)) &&
           put(object, "matched_batch_request_ids", json_array());
}

static bool put_mirror(json_t *object, const struct uvea_outcome *outcome)
{
    const struct uvea_orientation_matches *mirror = &outcome->matches[UVEA_ORIENTATION_MIRROR];
    const struct uvea_match_list *left = &mirror->partial[UVEA_EYE_LEFT];
    const struct uvea_match_list *right = &mirror->partial[UVEA_EYE_RIGHT];
    const bool shown = outcome->partial_results;

    return put(object, "full_face_mirror_attack_detected", json_boolean(outcome->mirror_attack)) &&
           put(object, "full_face_mirror_matched_serial_ids", optional_ids(&mirror->full, true)) &&
           put(object, "full_face_mirror_matched_serial_ids_left", optional_ids(left, shown)) &&
           put(object, "full_face_mirror_matched_serial_ids_right", optional_ids(right, shown)) &&
           put(object, "full_face_mirror_partial_matches_count_left", count_of(left, shown)) &&
           put(object, "full_face_mirror_partial_matches_count_right", count_of(right, shown));
}

static bool put_success(json_t *object, struct uvea_party party, json_t *signup_id, uint32_t serial,
                        const struct uvea_outcome *outcome)
{
    const bool inserted = outcome->decision == UVEA_DECISION_UNIQUE_INSERT;
    const bool unique = inserted || outcome->decision == UVEA_DECISION_UNIQUE_INSERT_SKIPPED;

    return put(object, "node_id", json_integer(party.index)) &&
           put(object, "serial_id", inserted ? json_integer(serial) : json_null()) &&
           put(object, "is_match", json_boolean(!unique)) &&
           put(object, "signup_id", json_incref(signup_id)) && put_normal(object, outcome) &&
           put_mirror(object, outcome) && put(object, "error", json_null()) &&
           put(object, "error_reason", json_null());
}

// The members between signup_id and error, in order, but for the flag, which is a plain boolean.
static bool put_error_form(json_t *object, struct uvea_party party, json_t *signup_id,
                           const char *reason)
{
    static const char *const before_flag[] = {
        "matched_serial_ids",
        "matched_serial_ids_left",
        "matched_serial_ids_right",
        "partial_matches_count_right",
        "partial_matches_count_left",
        "partial_match_rotation_indices_left",
        "partial_match_rotation_indices_right",
        "matched_batch_request_ids",
    };
    static const char *const after_flag[] = {
        "full_face_mirror_matched_serial_ids",
        "full_face_mirror_matched_serial_ids_left",
        "full_face_mirror_matched_serial_ids_right",
        "full_face_mirror_partial_matches_count_left",
        "full_face_mirror_partial_matches_count_right",
    };
    bool ok = put(object, "node_id", json_integer(party.index)) &&
              put(object, "serial_id", json_null()) && put(object, "is_match", json_false()) &&
              put(object, "signup_id", json_incref(signup_id));

    for (size_t i = 0; ok && i < sizeof(before_flag) / sizeof(before_flag[0]); i++) {
        ok = put(object, before_flag[i], json_null());
    }
    ok = ok && put(object, "full_face_mirror_attack_detected", json_false());
    for (size_t i = 0; ok && i < sizeof(after_flag) / sizeof(after_flag[0]); i++) {
        ok = put(object, after_flag[i], json_null());
    }
    return ok && put(object, "error", json_true()) &&
           put(object, "error_reason", json_string(reason));
}

static enum uvea_error append_json(const json_t *object, struct uvea_buf *buf)
{
    const size_t flags = JSON_COMPACT | JSON_PRESERVE_ORDER;
    const size_t bytes = json_dumpb(object, NULL, 0, flags);

    if (bytes == 0) {
        return UVEA_ERR_MEMORY;
    }
    UVEA_TRY(uvea_buf_reserve(buf, bytes + 1));
    if (json_dumpb(object, (char *)buf->data + buf->len, bytes, flags) != bytes) {
        return UVEA_ERR_MEMORY;
    }
    buf->len += bytes;
    buf->data[buf->len] = '\0';
    return UVEA_OK;
}

bool uvea_result_text_valid(const char *text)
{
    json_t *string = json_string(text);
    const bool valid = string != NULL;

    json_decref(string);
    return valid;
}

// outcome NULL: the error form with reason.
static enum uvea_error encode(struct uvea_party party, const char *signup_id, uint32_t serial,
                              const struct uvea_outcome *outcome, const char *reason,
                              struct uvea_buf *buf)
{
    json_t *id = json_string(signup_id);
    json_t *object;
    enum uvea_error error;

    if (id == NULL) {
        return UVEA_ERR_FORMAT;
    }
    object = json_object();
    if (outcome != NULL ? put_success(object, party, id, serial, outcome)
                        : put_error_form(object, party, id, reason)) {
        error = append_json(object, buf);
    } else {
        error = UVEA_ERR_MEMORY;
    }
    json_decref(object);
    json_decref(id);
    return error;
}

enum uvea_error uvea_result_encode_uniqueness(struct uvea_party party, const char *signup_id,
                                              uint32_t serial, const struct uvea_outcome *outcome,
                                              struct uvea_buf *buf)
{
    return encode(party, signup_id, serial, outcome, NULL, buf);
}

enum uvea_error uvea_result_encode_uniqueness_error(struct uvea_party party, const char *signup_id,
                                                    const char *reason, struct uvea_buf *buf)
{
    return encode(party, signup_id, 0, NULL, reason, buf);
}
