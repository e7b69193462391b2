#include "core/service/endpoints.h"

#include "core/base/mem.h"
#include "core/iris/json.h"
#include "core/service/json.h"
#include "core/service/message.h"
#include "core/service/topic.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    STATUS_OK = 200,
    STATUS_BAD_REQUEST = 400,
    STATUS_NOT_FOUND = 404,
    STATUS_BAD_METHOD = 405,
    STATUS_CONFLICT = 409,
    STATUS_TOO_LARGE = 413,
    STATUS_BROKEN = 500,
    STATUS_UNAVAILABLE = 503,
};

// ---- answers

UVEA_PRINTF(3, 4)
static void answer(struct uvea_http_response *response, unsigned status, const char *format, ...)
{
    char text[sizeof(struct uvea_error_context) + 64];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    response->status = status;
    uvea_buf_clear(&response->body);
    if (uvea_buf_append(&response->body, text, strlen(text)) != UVEA_OK) {
        response->status = STATUS_BROKEN;
    }
}

// What went wrong on the party's own side.
static void answer_failure(struct uvea_http_response *response, enum uvea_error error,
                           const struct uvea_error_context *context)
{
    const unsigned status = error == UVEA_ERR_MEMORY ? STATUS_BROKEN : STATUS_UNAVAILABLE;

    answer(response, status, "%s",
           context->text[0] != '\0' ? context->text : uvea_error_text(error));
}

static void answer_json(struct uvea_http_response *response, const json_t *value)
{
    const struct uvea_error_context nothing = {{0}};
    const enum uvea_error error = uvea_service_append_json(value, &response->body);

    response->status = STATUS_OK;
    if (error != UVEA_OK) {
        answer_failure(response, error, &nothing);
    }
}

static bool is_method(const struct uvea_http_request *request, const char *method,
                      struct uvea_http_response *response)
{
    const bool same = strcmp(request->method, method) == 0;

    if (!same) {
        answer(response, STATUS_BAD_METHOD, "this path takes %s only", method);
    }
    return same;
}

// ---- paths and queries

// after and max, each at most once and in any order.
struct page_query {
    uint64_t after;
    uint64_t max;
};

static bool read_parameter(const char *text, size_t chars, const char *name, uint64_t *value,
                           bool *seen)
{
    const size_t name_chars = strlen(name);

    if (*seen || chars <= name_chars || memcmp(text, name, name_chars) != 0 ||
        text[name_chars] != '=') {
        return false;
    }
    *seen = true;
    return uvea_sequence_parse(text + name_chars + 1, chars - name_chars - 1, value);
}

// query: what stands behind '?', or NULL.
static bool read_page_query(const char *query, struct page_query *out)
{
    struct page_query page = {.max = UVEA_PAGE_ENTRIES_MAX};
    bool seen_after = false;
    bool seen_max = false;

    while (query != NULL) {
        const size_t chars = strcspn(query, "&");
        if (!read_parameter(query, chars, "after", &page.after, &seen_after) &&
            !read_parameter(query, chars, "max", &page.max, &seen_max)) {
            return false;
        }
        query = query[chars] == '&' ? query + chars + 1 : NULL;
    }
    if (page.max == 0) {
        return false;
    }
    page.max = page.max < UVEA_PAGE_ENTRIES_MAX ? page.max : UVEA_PAGE_ENTRIES_MAX;
    *out = page;
    return true;
}

static bool take_page_query(const char *query, struct page_query *out,
                            struct uvea_http_response *response)
{
    const bool good = read_page_query(query, out);

    if (!good) {
        answer(response, STATUS_BAD_REQUEST, "want after=N and max=N, each a number, max above 0");
    }
    return good;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~!$&'()*+,;=:@/", c) != NULL);
}

// A key as it stands in a path: what RFC 3986 allows in a segment, '/', and %XX for everything
// else. It must come out as UTF-8 without NUL.
static bool read_key(const char *text, char key[UVEA_STORE_KEY_BYTES_MAX + 1])
{
    size_t n = 0;
    json_t *string;

    while (*text != '\0') {
        if (n == UVEA_STORE_KEY_BYTES_MAX) {
            return false;
        }
        if (*text == '%') {
            const int high = hex_digit(text[1]);
            const int low = high < 0 ? -1 : hex_digit(text[2]);
            if (low < 0 || high * 16 + low == 0) {
                return false;
            }
            key[n++] = (char)(high * 16 + low);
            text += 3;
        } else if (is_plain(*text)) {
            key[n++] = *text++;
        } else {
            return false;
        }
    }
    key[n] = '\0';
    string = json_stringn(key, n);
    json_decref(string);
    return n > 0 && string != NULL;
}

// ---- PUT /v1/shares/KEY

static void put_share(const struct uvea_endpoints *endpoints, const char *path,
                      const struct uvea_http_request *request, struct uvea_http_response *response)
{
    struct uvea_error_context context = {{0}};
    char key[UVEA_STORE_KEY_BYTES_MAX + 1];
    enum uvea_error error;

    if (!is_method(request, "PUT", response)) {
        return;
    }
    if (!read_key(path, key)) {
        answer(response, STATUS_BAD_REQUEST, "the key is no UTF-8 text of 1 to %d bytes",
               UVEA_STORE_KEY_BYTES_MAX);
        return;
    }
    if (request->body_bytes > UVEA_STORE_OBJECT_BYTES_MAX) {
        answer(response, STATUS_TOO_LARGE, "a share object has at most %d bytes",
               UVEA_STORE_OBJECT_BYTES_MAX);
        return;
    }
    error =
        uvea_store_share_put(endpoints->store, key, request->body, request->body_bytes, &context);
    if (error == UVEA_ERR_USAGE) {
        answer(response, STATUS_CONFLICT, "another object is stored under this key");
        return;
    }
    if (error == UVEA_OK) {
        error = uvea_rt_point(endpoints->rt, UVEA_POINT_SHARE_STORED);
    }
    if (error != UVEA_OK) {
        answer_failure(response, error, &context);
        return;
    }
    answer(response, STATUS_OK, "stored");
}

// ---- POST /v1/requests

// The envelope's MessageId, or a sentence. *object keeps it.
static enum uvea_error read_message_id(const struct uvea_http_request *request, json_t **object,
                                       const char **message_id, struct uvea_error_context *context)
{
    size_t chars;

    UVEA_TRY(
        uvea_iris_load_object((const char *)request->body, request->body_bytes, object, context));
    UVEA_TRY(uvea_iris_get_string(*object, "MessageId", message_id, &chars, context));
    if (chars == 0 || chars > UVEA_MESSAGE_ID_BYTES_MAX || strlen(*message_id) != chars) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "MessageId is no text of 1 to %d bytes",
                              UVEA_MESSAGE_ID_BYTES_MAX);
    }
    return UVEA_OK;
}

// The id stands in it, so that an answer to something else is not taken for this one's.
static void answer_sequence(struct uvea_http_response *response, const char *message_id,
                            uint64_t sequence)
{
    char digits[UVEA_STORE_SEQUENCE_DIGITS + 1];
    json_t *object = json_object();

    uvea_sequence_print(sequence, digits);
    if (uvea_service_put(object, "message_id", json_string(message_id)) &&
        uvea_service_put(object, "sequence_number", json_string(digits))) {
        answer_json(response, object);
    } else {
        answer(response, STATUS_BROKEN, "%s", uvea_error_text(UVEA_ERR_MEMORY));
    }
    json_decref(object);
}

static void sequence_request(const struct uvea_endpoints *endpoints, const char *message_id,
                             const struct uvea_http_request *request,
                             struct uvea_http_response *response)
{
    struct uvea_error_context context = {{0}};
    uint64_t sequence;
    enum uvea_error error = uvea_store_topic_append(endpoints->store, message_id, request->body,
                                                    request->body_bytes, &sequence, &context);

    if (error == UVEA_OK) {
        error = uvea_rt_point(endpoints->rt, UVEA_POINT_REQUEST_SEQUENCED);
    }
    if (error != UVEA_OK) {
        answer_failure(response, error, &context);
        return;
    }
    answer_sequence(response, message_id, sequence);
}

static void post_request(const struct uvea_endpoints *endpoints,
                         const struct uvea_http_request *request,
                         struct uvea_http_response *response)
{
    struct uvea_error_context context = {{0}};
    json_t *object = NULL;
    const char *message_id;
    enum uvea_error error;

    if (!is_method(request, "POST", response)) {
        return;
    }
    if (!atomic_load(&endpoints->sequencing)) {
        answer(response, STATUS_UNAVAILABLE, "the party has not met its peers yet");
        return;
    }
    if (request->body_bytes > UVEA_MESSAGE_BYTES_MAX) {
        answer(response, STATUS_TOO_LARGE, "a request has at most %d bytes",
               UVEA_MESSAGE_BYTES_MAX);
        return;
    }
    error = read_message_id(request, &object, &message_id, &context);
    if (error == UVEA_OK) {
        sequence_request(endpoints, message_id, request, response);
    } else if (error == UVEA_ERR_MEMORY) {
        answer_failure(response, error, &context);
    } else {
        answer(response, STATUS_BAD_REQUEST, "%s", context.text);
    }
    json_decref(object);
}

// ---- GET /v1/topic

static void get_topic(const struct uvea_endpoints *endpoints, const char *query,
                      const struct uvea_http_request *request, struct uvea_http_response *response)
{
    struct uvea_error_context context = {{0}};
    struct uvea_topic_page *page;
    struct page_query wanted;
    enum uvea_error error;

    if (!is_method(request, "GET", response) || !take_page_query(query, &wanted, response)) {
        return;
    }
    page = uvea_mem_alloc(1, sizeof(*page));
    if (page == NULL) {
        answer_failure(response, UVEA_ERR_MEMORY, &context);
        return;
    }
    error =
        uvea_topic_page_read(endpoints->store, wanted.after, (size_t)wanted.max, page, &context);
    if (error == UVEA_OK) {
        error = uvea_topic_page_encode(page, &response->body);
    }
    response->status = STATUS_OK;
    if (error != UVEA_OK) {
        answer_failure(response, error, &context);
    }
    uvea_topic_page_deinit(page);
    uvea_mem_free(page);
}

// ---- GET /v1/results

struct result_page {
    json_t *array; // owned
    size_t bytes;
    bool full;
};

// The attributes are kept as text and go out as the object that they are.
static json_t *load_attributes(const char *text)
{
    struct uvea_error_context context;
    json_t *object;

    if (text == NULL) {
        return json_null();
    }
    return uvea_iris_load_object(text, strlen(text), &object, &context) == UVEA_OK ? object : NULL;
}

// A number as the topic writes it.
static json_t *digits_of(uint64_t number)
{
    char digits[UVEA_STORE_SEQUENCE_DIGITS + 1];

    uvea_sequence_print(number, digits);
    return json_string(digits);
}

static enum uvea_error add_result(void *arg, const struct uvea_store_result *result)
{
    struct result_page *page = arg;
    const size_t bytes = strlen(result->body);
    json_t *object;
    bool added;

    page->full = page->full || (page->bytes > 0 && page->bytes + bytes > UVEA_PAGE_BYTES_MAX);
    if (page->full) {
        return UVEA_OK;
    }
    page->bytes += bytes;
    object = json_object();
    added = uvea_service_put(object, "number", json_integer((json_int_t)result->number)) &&
            uvea_service_put(object, "sequence_number", digits_of(result->sequence)) &&
            uvea_service_put(object, "batch",
                             result->batch == 0 ? json_null() : digits_of(result->batch)) &&
            uvea_service_put(object, "message_type", json_string(result->type)) &&
            uvea_service_put(object, "attributes", load_attributes(result->attributes)) &&
            uvea_service_put(object, "body", json_string(result->body)) &&
            json_array_append(page->array, object) == 0;
    json_decref(object);
    return added ? UVEA_OK : UVEA_ERR_MEMORY;
}

static void get_results(const struct uvea_endpoints *endpoints, const char *query,
                        const struct uvea_http_request *request,
                        struct uvea_http_response *response)
{
    struct uvea_error_context context = {{0}};
    struct result_page page = {0};
    struct page_query wanted;
    json_t *object;
    enum uvea_error error;

    if (!is_method(request, "GET", response) || !take_page_query(query, &wanted, response)) {
        return;
    }
    page.array = json_array();
    error = uvea_store_results(endpoints->store, wanted.after, (size_t)wanted.max, add_result,
                               &page, &context);
    object = json_object();
    if (error == UVEA_OK && !uvea_service_put(object, "results", json_incref(page.array))) {
        error = UVEA_ERR_MEMORY;
    }
    if (error == UVEA_OK) {
        answer_json(response, object);
    } else {
        answer_failure(response, error, &context);
    }
    json_decref(object);
    json_decref(page.array);
}

// ---- which path

// Whether target's path is `path`; *query is what stands behind '?', or NULL.
static bool is_path(const char *target, const char *path, const char **query)
{
    const size_t chars = strlen(path);

    if (strncmp(target, path, chars) != 0 || (target[chars] != '\0' && target[chars] != '?')) {
        return false;
    }
    *query = target[chars] == '?' ? target + chars + 1 : NULL;
    return true;
}

static void handle_client(const struct uvea_endpoints *endpoints,
                          const struct uvea_http_request *request,
                          struct uvea_http_response *response)
{
    static const char shares[] = "/v1/shares/";
    const bool sequences = endpoints->party.index == UVEA_TOPIC_PARTY;
    const char *query;

    if (strncmp(request->target, shares, sizeof(shares) - 1) == 0) {
        put_share(endpoints, request->target + sizeof(shares) - 1, request, response);
    } else if (is_path(request->target, "/v1/results", &query)) {
        get_results(endpoints, query, request, response);
    } else if (sequences && is_path(request->target, "/v1/requests", &query) && query == NULL) {
        post_request(endpoints, request, response);
    } else if (sequences && is_path(request->target, "/v1/topic", &query)) {
        get_topic(endpoints, query, request, response);
    } else if (endpoints->more_paths != NULL) {
        endpoints->more_paths(endpoints->more_paths_arg, request, response);
    } else {
        answer(response, STATUS_NOT_FOUND, "no such path");
    }
}

void uvea_endpoints_handle(void *arg, const struct uvea_http_request *request,
                           struct uvea_http_response *response)
{
    const struct uvea_endpoints *endpoints = arg;

    if (endpoints->coord != NULL && uvea_coord_handle(endpoints->coord, request, response)) {
        return;
    }
    handle_client(endpoints, request, response);
}
