#include "core/coord/body.h"

#include "core/coord/json.h"

#include <string.h>

bool uvea_coord_id_valid(const char *text)
{
    size_t i = 0;

    for (; i < UVEA_COORD_UUID_CHARS && text[i] != '\0'; i++) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        const bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (dash ? text[i] != '-' : !digit) {
            return false;
        }
    }
    return i == UVEA_COORD_UUID_CHARS && text[i] == '\0';
}

// ---- /health

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

enum uvea_error uvea_coord_health_encode(const struct uvea_coord_health *health,
                                         struct uvea_buf *json)
{
    UVEA_TRY(uvea_coord_append(json, "{\"image_name\":"));
    UVEA_TRY(uvea_coord_append_string(json, health->image_name));
    UVEA_TRY(uvea_coord_append(json, ",\"uuid\":\""));
    UVEA_TRY(uvea_coord_append(json, health->boot.text));
    UVEA_TRY(uvea_coord_append(json, "\",\"shutting_down\":"));
    UVEA_TRY(uvea_coord_append(json, truth(health->shutting_down)));
    UVEA_TRY(uvea_coord_append(json, ",\"verified_peers\":["));
    for (size_t i = 0; i < health->verified_count; i++) {
        UVEA_TRY(uvea_coord_append(json, i == 0 ? "\"" : ",\""));
        UVEA_TRY(uvea_coord_append(json, health->verified[i].text));
        UVEA_TRY(uvea_coord_append(json, "\""));
    }
    UVEA_TRY(uvea_coord_append(json, "],\"is_ready\":"));
    UVEA_TRY(uvea_coord_append(json, truth(health->ready)));
    return uvea_coord_append(json, "}");
}

static enum uvea_error read_id(const char *text, const char *name, struct uvea_coord_id *id,
                               struct uvea_error_context *context)
{
    if (text == NULL || !uvea_coord_id_valid(text)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "member %s: not a UUID", name);
    }
    memcpy(id->text, text, sizeof(id->text));
    return UVEA_OK;
}

static enum uvea_error read_health(const json_t *object, struct uvea_coord_health *health,
                                   struct uvea_error_context *context)
{
    const char *text = NULL;
    const json_t *listed = NULL;

    UVEA_TRY(
        uvea_coord_json_string(object, "image_name", UVEA_COORD_IMAGE_BYTES_MAX, &text, context));
    UVEA_TRY(uvea_coord_json_string(object, "uuid", UVEA_COORD_UUID_CHARS, &text, context));
    UVEA_TRY(read_id(text, "uuid", &health->boot, context));
    UVEA_TRY(uvea_coord_json_bool(object, "shutting_down", &health->shutting_down, context));
    UVEA_TRY(uvea_coord_json_bool(object, "is_ready", &health->ready, context));
    UVEA_TRY(
        uvea_coord_json_array(object, "verified_peers", UVEA_COORD_LISTED_MAX, &listed, context));
    health->verified_count = json_array_size(listed);
    for (size_t i = 0; i < health->verified_count; i++) {
        UVEA_TRY(read_id(json_string_value(json_array_get(listed, i)), "verified_peers",
                         &health->verified[i], context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_coord_health_decode(const uint8_t *json, size_t bytes,
                                         struct uvea_coord_health *health,
                                         struct uvea_error_context *context)
{
    struct uvea_coord_health found = {0};
    json_t *object = NULL;

    UVEA_TRY(uvea_coord_json_load(json, bytes, UVEA_COORD_BODY_BYTES_MAX, &object, context));
    const enum uvea_error error = read_health(object, &found, context);
    json_decref(object);
    if (error == UVEA_OK) {
        *health = found;
    }
    return error;
}

bool uvea_coord_health_lists(const struct uvea_coord_health *health, const char *boot_id)
{
    for (size_t i = 0; i < health->verified_count; i++) {
        if (strcmp(health->verified[i].text, boot_id) == 0) {
            return true;
        }
    }
    return false;
}

// ---- /batch-sync-state

enum uvea_error uvea_coord_size_encode(const struct uvea_coord_size *size, struct uvea_buf *json)
{
    UVEA_TRY(uvea_coord_append(json, "{\"messages_to_poll\":"));
    UVEA_TRY(uvea_coord_append_number(json, size->count));
    UVEA_TRY(uvea_coord_append(json, ",\"batch_id\":"));
    UVEA_TRY(uvea_coord_append_number(json, size->batch_id));
    return uvea_coord_append(json, "}");
}

static enum uvea_error read_size(const json_t *object, struct uvea_coord_size *size,
                                 struct uvea_error_context *context)
{
    uint64_t count = 0;

    UVEA_TRY(uvea_coord_json_number(object, "messages_to_poll", UINT32_MAX, &count, context));
    UVEA_TRY(uvea_coord_json_number(object, "batch_id", UINT64_MAX, &size->batch_id, context));
    size->count = (uint32_t)count;
    return UVEA_OK;
}

enum uvea_error uvea_coord_size_decode(const uint8_t *json, size_t bytes,
                                       struct uvea_coord_size *size,
                                       struct uvea_error_context *context)
{
    struct uvea_coord_size found = {0};
    json_t *object = NULL;

    UVEA_TRY(uvea_coord_json_load(json, bytes, UVEA_COORD_BODY_BYTES_MAX, &object, context));
    const enum uvea_error error = read_size(object, &found, context);
    json_decref(object);
    if (error == UVEA_OK) {
        *size = found;
    }
    return error;
}

// ---- /batch-sync-entries

enum uvea_error uvea_coord_entries_encode(const struct uvea_coord_entries *entries,
                                          struct uvea_buf *json)
{
    UVEA_TRY(uvea_coord_append(json, "{\"valid_entries\":["));
    for (size_t i = 0; i < entries->count; i++) {
        UVEA_TRY(uvea_coord_append(json, i == 0 ? "" : ","));
        UVEA_TRY(uvea_coord_append(json, truth(entries->valid[i])));
    }
    UVEA_TRY(uvea_coord_append(json, "],\"batch_sha\":["));
    for (size_t i = 0; i < UVEA_COORD_SHA_BYTES; i++) {
        UVEA_TRY(uvea_coord_append(json, i == 0 ? "" : ","));
        UVEA_TRY(uvea_coord_append_number(json, entries->sha[i]));
    }
    return uvea_coord_append(json, "]}");
}

static enum uvea_error read_entries(const json_t *object, struct uvea_coord_entries *entries,
                                    struct uvea_error_context *context)
{
    const json_t *valid = NULL;
    const json_t *sha = NULL;

    UVEA_TRY(
        uvea_coord_json_array(object, "valid_entries", UVEA_COORD_ENTRIES_MAX, &valid, context));
    UVEA_TRY(uvea_coord_json_array(object, "batch_sha", UVEA_COORD_SHA_BYTES, &sha, context));
    entries->count = json_array_size(valid);
    for (size_t i = 0; i < entries->count; i++) {
        const json_t *bit = json_array_get(valid, i);
        if (!json_is_boolean(bit)) {
            return uvea_error_set(context, UVEA_ERR_FORMAT,
                                  "member valid_entries: entry %zu is not true or false", i);
        }
        entries->valid[i] = json_is_true(bit);
    }
    if (json_array_size(sha) != UVEA_COORD_SHA_BYTES) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "member batch_sha: %zu entries, not %d",
                              json_array_size(sha), UVEA_COORD_SHA_BYTES);
    }
    for (size_t i = 0; i < UVEA_COORD_SHA_BYTES; i++) {
        const json_t *byte = json_array_get(sha, i);
        const json_int_t value = json_is_integer(byte) ? json_integer_value(byte) : -1;
        if (value < 0 || value > UINT8_MAX) {
            return uvea_error_set(context, UVEA_ERR_FORMAT,
                                  "member batch_sha: entry %zu is not a byte", i);
        }
        entries->sha[i] = (uint8_t)value;
    }
    return UVEA_OK;
}

enum uvea_error uvea_coord_entries_decode(const uint8_t *json, size_t bytes,
                                          struct uvea_coord_entries *entries,
                                          struct uvea_error_context *context)
{
    struct uvea_coord_entries found = {0};
    json_t *object = NULL;

    UVEA_TRY(uvea_coord_json_load(json, bytes, UVEA_COORD_BODY_BYTES_MAX, &object, context));
    const enum uvea_error error = read_entries(object, &found, context);
    json_decref(object);
    if (error == UVEA_OK) {
        *entries = found;
    }
    return error;
}
