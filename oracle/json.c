#include "oracle/json.h"

void uvea_oracle_json_begin(struct uvea_oracle_json *json)
{
    *json = (struct uvea_oracle_json){.object = json_object()};
}

enum uvea_error uvea_oracle_json_end(struct uvea_oracle_json *json, struct uvea_buf *buf,
                                     struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_ERR_MEMORY;
    if (json->not_text != NULL) {
        error = uvea_error_set(context, UVEA_ERR_FORMAT, "%s is not UTF-8", json->not_text);
    } else {
        size_t len = json->failed ? 0 : json_dumpb(json->object, NULL, 0, JSON_COMPACT);
        char *text = len == 0 ? NULL : (char *)uvea_buf_extend(buf, len);
        if (text != NULL) {
            (void)json_dumpb(json->object, text, len, JSON_COMPACT);
            error = UVEA_OK;
        }
    }
    json_decref(json->object);
    *json = (struct uvea_oracle_json){.object = NULL};
    return error;
}

static void put(struct uvea_oracle_json *json, const char *member, json_t *value)
{
    json->failed |= json_object_set_new(json->object, member, value) != 0;
}

void uvea_oracle_json_null(struct uvea_oracle_json *json, const char *member)
{
    put(json, member, json_null());
}

void uvea_oracle_json_bool(struct uvea_oracle_json *json, const char *member, bool value)
{
    put(json, member, json_boolean(value));
}

void uvea_oracle_json_number(struct uvea_oracle_json *json, const char *member, uint64_t value)
{
    put(json, member, json_integer((json_int_t)value));
}

static json_t *text(struct uvea_oracle_json *json, const char *member, const char *value)
{
    json_t *string = json_string(value);
    if (string == NULL && json->not_text == NULL) {
        json->not_text = member;
    }
    return string;
}

void uvea_oracle_json_text(struct uvea_oracle_json *json, const char *member, const char *value)
{
    put(json, member, text(json, member, value));
}

// Turns *array into NULL when memory is short; put() reports that.
static void array_add(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value) != 0) {
        json_decref(*array);
        *array = NULL;
    }
}

void uvea_oracle_json_texts(struct uvea_oracle_json *json, const char *member,
                            const char *const *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        array_add(&array, text(json, member, values[i]));
    }
    put(json, member, array);
}

static bool listed(const struct uvea_oracle_record *record, enum uvea_oracle_list list)
{
    return list == UVEA_ORACLE_LIST_FULL ? record->matched : record->strict[list] != 0;
}

void uvea_oracle_json_serials(struct uvea_oracle_json *json, const char *member,
                              const struct uvea_oracle_search *search, enum uvea_oracle_list list,
                              uint32_t extra, bool null_when_empty)
{
    json_t *array = json_array();
    for (uint32_t serial = 1; serial <= search->record_count; serial++) {
        if (json_array_size(array) < UVEA_ORACLE_IDS_MAX &&
            (serial == extra || listed(&search->records[serial - 1], list))) {
            array_add(&array, json_integer(serial));
        }
    }
    if (null_when_empty && array != NULL && json_array_size(array) == 0) {
        json_decref(array);
        array = json_null();
    }
    put(json, member, array);
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

void uvea_oracle_json_rotations(struct uvea_oracle_json *json, const char *member,
                                const struct uvea_oracle_search *search, enum uvea_oracle_eye eye)
{
    if (search->partial_count[eye] == 0) {
        uvea_oracle_json_null(json, member);
        return;
    }
    json_t *array = json_array();
    for (uint32_t i = 0; i < search->record_count; i++) {
        uint32_t strict = search->records[i].strict[eye];
        if (strict != 0 && json_array_size(array) < UVEA_ORACLE_IDS_MAX) {
            array_add(&array, rotation_list(strict));
        }
    }
    put(json, member, array);
}

// An eye's list, or null when it is empty or hidden.
static void put_partial(struct uvea_oracle_json *json, const char *member, bool hidden,
                        const struct uvea_oracle_search *search, enum uvea_oracle_list eye)
{
    if (hidden) {
        uvea_oracle_json_null(json, member);
    } else {
        uvea_oracle_json_serials(json, member, search, eye, 0, true);
    }
}

static void put_count(struct uvea_oracle_json *json, const char *member, bool hidden,
                      const struct uvea_oracle_search *search, enum uvea_oracle_eye eye)
{
    uvea_oracle_json_number(json, member, hidden ? 0 : search->partial_count[eye]);
}

void uvea_oracle_json_normal(struct uvea_oracle_json *json, const struct uvea_oracle_search *normal,
                             bool hidden)
{
    put_partial(json, "matched_serial_ids_left", hidden, normal, UVEA_ORACLE_LIST_LEFT);
    put_partial(json, "matched_serial_ids_right", hidden, normal, UVEA_ORACLE_LIST_RIGHT);
    put_count(json, "partial_matches_count_right", hidden, normal, UVEA_ORACLE_RIGHT);
    put_count(json, "partial_matches_count_left", hidden, normal, UVEA_ORACLE_LEFT);
    if (hidden) {
        uvea_oracle_json_null(json, "partial_match_rotation_indices_left");
        uvea_oracle_json_null(json, "partial_match_rotation_indices_right");
        return;
    }
    uvea_oracle_json_rotations(json, "partial_match_rotation_indices_left", normal,
                               UVEA_ORACLE_LEFT);
    uvea_oracle_json_rotations(json, "partial_match_rotation_indices_right", normal,
                               UVEA_ORACLE_RIGHT);
}

void uvea_oracle_json_mirror(struct uvea_oracle_json *json, const struct uvea_oracle_search *mirror,
                             bool hidden)
{
    uvea_oracle_json_serials(json, "full_face_mirror_matched_serial_ids", mirror,
                             UVEA_ORACLE_LIST_FULL, 0, true);
    put_partial(json, "full_face_mirror_matched_serial_ids_left", hidden, mirror,
                UVEA_ORACLE_LIST_LEFT);
    put_partial(json, "full_face_mirror_matched_serial_ids_right", hidden, mirror,
                UVEA_ORACLE_LIST_RIGHT);
    put_count(json, "full_face_mirror_partial_matches_count_left", hidden, mirror,
              UVEA_ORACLE_LEFT);
    put_count(json, "full_face_mirror_partial_matches_count_right", hidden, mirror,
              UVEA_ORACLE_RIGHT);
}
