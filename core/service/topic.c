#include "core/service/topic.h"

#include "core/base/mem.h"
#include "core/iris/json.h"
#include "core/service/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- sequence numbers as text

void uvea_sequence_print(uint64_t sequence, char text[UVEA_STORE_SEQUENCE_DIGITS + 1])
{
    (void)snprintf(text, UVEA_STORE_SEQUENCE_DIGITS + 1, "%0*" PRIu64, UVEA_STORE_SEQUENCE_DIGITS,
                   sequence);
}

bool uvea_sequence_parse(const char *text, size_t chars, uint64_t *sequence)
{
    uint64_t value = 0;

    if (chars == 0 || chars > UVEA_STORE_SEQUENCE_DIGITS) {
        return false;
    }
    for (size_t i = 0; i < chars; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > ((uint64_t)INT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *sequence = value;
    return true;
}

// ---- pages

void uvea_topic_page_deinit(struct uvea_topic_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        uvea_mem_free(page->messages[i].body);
    }
    *page = (struct uvea_topic_page){0};
}

static enum uvea_error add(struct uvea_topic_page *page, uint64_t sequence, const void *body,
                           size_t body_bytes)
{
    uint8_t *copy = uvea_mem_alloc(body_bytes, 1);

    if (copy == NULL) {
        return UVEA_ERR_MEMORY;
    }
    memcpy(copy, body, body_bytes);
    page->messages[page->count++] =
        (struct uvea_topic_message){.sequence = sequence, .body = copy, .body_bytes = body_bytes};
    page->bytes += body_bytes;
    return UVEA_OK;
}

static enum uvea_error add_stored(void *arg, const struct uvea_store_message *message)
{
    struct uvea_topic_page *page = arg;

    page->full =
        page->full || (page->count > 0 && page->bytes + message->body_bytes > UVEA_PAGE_BYTES_MAX);
    if (page->full) {
        return UVEA_OK;
    }
    return add(page, message->sequence, message->body, message->body_bytes);
}

enum uvea_error uvea_topic_page_read(struct uvea_store *store, uint64_t after, size_t max,
                                     struct uvea_topic_page *page,
                                     struct uvea_error_context *context)
{
    const size_t count = max < UVEA_PAGE_ENTRIES_MAX ? max : UVEA_PAGE_ENTRIES_MAX;
    const enum uvea_error error =
        uvea_store_topic_read(store, after, count, add_stored, page, context);

    if (error != UVEA_OK) {
        uvea_topic_page_deinit(page);
    }
    return error;
}

static enum uvea_error add_encoded(const struct uvea_topic_message *message, json_t *array)
{
    char digits[UVEA_STORE_SEQUENCE_DIGITS + 1];
    json_t *body = json_stringn((const char *)message->body, message->body_bytes);
    json_t *object;
    bool added;

    if (body == NULL) {
        return UVEA_ERR_FORMAT;
    }
    uvea_sequence_print(message->sequence, digits);
    object = json_object();
    added = uvea_service_put(object, "sequence_number", json_string(digits)) &&
            uvea_service_put(object, "body", json_incref(body)) &&
            json_array_append(array, object) == 0;
    json_decref(object);
    json_decref(body);
    return added ? UVEA_OK : UVEA_ERR_MEMORY;
}

enum uvea_error uvea_topic_page_encode(const struct uvea_topic_page *page, struct uvea_buf *json)
{
    json_t *array = json_array();
    json_t *object = NULL;
    enum uvea_error error = UVEA_OK;

    for (size_t i = 0; error == UVEA_OK && i < page->count; i++) {
        error = add_encoded(&page->messages[i], array);
    }
    UVEA_TRY_CLEANUP(error);
    object = json_object();
    error = uvea_service_put(object, "messages", json_incref(array))
                ? uvea_service_append_json(object, json)
                : UVEA_ERR_MEMORY;
cleanup:
    json_decref(object);
    json_decref(array);
    return error;
}

static enum uvea_error add_decoded(struct uvea_topic_page *page, const json_t *entry,
                                   struct uvea_error_context *context)
{
    const json_t *number = json_object_get(entry, "sequence_number");
    const json_t *body = json_object_get(entry, "body");
    uint64_t sequence;

    if (!json_is_string(number) || !json_is_string(body) ||
        !uvea_sequence_parse(json_string_value(number), json_string_length(number), &sequence) ||
        sequence == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "topic: message %zu of the page has no sequence number or body",
                              page->count);
    }
    if (page->count > 0 && page->bytes + json_string_length(body) > UVEA_PAGE_BYTES_MAX) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "topic: a page of more than %d bytes",
                              UVEA_PAGE_BYTES_MAX);
    }
    if (json_string_length(body) > UVEA_STORE_BODY_BYTES_MAX) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "topic: message %" PRIu64 " has %zu bytes",
                              sequence, json_string_length(body));
    }
    return add(page, sequence, json_string_value(body), json_string_length(body));
}

enum uvea_error uvea_topic_page_decode(const uint8_t *json, size_t bytes,
                                       struct uvea_topic_page *page,
                                       struct uvea_error_context *context)
{
    json_t *object;
    const json_t *messages;
    size_t i;
    const json_t *entry;
    enum uvea_error error;

    UVEA_TRY(uvea_iris_load_object((const char *)json, bytes, &object, context));
    messages = json_object_get(object, "messages");
    if (!json_is_array(messages) || json_array_size(messages) > UVEA_PAGE_ENTRIES_MAX) {
        error = uvea_error_set(context, UVEA_ERR_FORMAT,
                               "topic: the page has no list of at most %d messages",
                               UVEA_PAGE_ENTRIES_MAX);
        goto cleanup;
    }
    json_array_foreach(messages, i, entry)
    {
        UVEA_TRY_CLEANUP(add_decoded(page, entry, context));
    }
    error = UVEA_OK;
cleanup:
    if (error != UVEA_OK) {
        uvea_topic_page_deinit(page);
    }
    json_decref(object);
    return error;
}
