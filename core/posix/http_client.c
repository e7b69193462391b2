// Calls, over connections that are kept: each is an easy handle of libcurl with one connection.
#include "core/base/mem.h"
#include "core/posix/http_curl.h"
#include "core/posix/state.h"

#include <curl/curl.h>
#include <string.h>

enum {
    KEPT_MAX = 16, // connections for later calls, to all addresses; the oldest goes first
    METHOD_BYTES_MAX = 15,
    TARGET_BYTES_MAX = 4095,
};

struct uvea_posix_http {
    pthread_mutex_t lock;                   // of what follows
    struct uvea_posix_curl *kept[KEPT_MAX]; // in the order of their last use
    size_t kept_count;
};

// ---- opening and closing

enum uvea_error uvea_posix_http_open(struct uvea_posix *posix, struct uvea_error_context *context)
{
    struct uvea_posix_http *http = uvea_mem_alloc(1, sizeof(*http));

    if (http == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "out of memory");
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        uvea_mem_free(http);
        return uvea_error_set(context, UVEA_ERR_MEMORY, "libcurl cannot be initialized");
    }
    (void)pthread_mutex_init(&http->lock, NULL);
    posix->http = http;
    return UVEA_OK;
}

void uvea_posix_http_deinit(struct uvea_posix *posix)
{
    struct uvea_posix_http *http = posix->http;

    if (http == NULL) {
        return;
    }
    for (size_t i = 0; i < http->kept_count; i++) {
        uvea_posix_curl_close(http->kept[i]);
    }
    (void)pthread_mutex_destroy(&http->lock);
    curl_global_cleanup();
    uvea_mem_free(http);
    posix->http = NULL;
}

// ---- connections that are kept

static struct uvea_posix_curl *kept_remove(struct uvea_posix_http *http, size_t index)
{
    struct uvea_posix_curl *curl = http->kept[index];

    http->kept_count--;
    memmove(http->kept + index, http->kept + index + 1,
            (http->kept_count - index) * sizeof(struct uvea_posix_curl *));
    return curl;
}

// The one last used for this address, or NULL.
static struct uvea_posix_curl *kept_take(struct uvea_posix_http *http, const char *address)
{
    struct uvea_posix_curl *curl = NULL;

    (void)pthread_mutex_lock(&http->lock);
    for (size_t i = http->kept_count; i-- > 0 && curl == NULL;) {
        if (strcmp(uvea_posix_curl_address(http->kept[i]), address) == 0) {
            curl = kept_remove(http, i);
        }
    }
    (void)pthread_mutex_unlock(&http->lock);
    return curl;
}

static void kept_give(struct uvea_posix_http *http, struct uvea_posix_curl *curl)
{
    struct uvea_posix_curl *oldest = NULL;

    (void)pthread_mutex_lock(&http->lock);
    if (http->kept_count == KEPT_MAX) {
        oldest = kept_remove(http, 0);
    }
    http->kept[http->kept_count++] = curl;
    (void)pthread_mutex_unlock(&http->lock);
    uvea_posix_curl_close(oldest);
}

// ---- calls

// What goes into a request's first line as it is: printable, without spaces.
static bool is_plain(const char *text, size_t bytes_max)
{
    const size_t bytes = strnlen(text, bytes_max + 1);

    for (size_t i = 0; i < bytes; i++) {
        if (text[i] <= ' ' || text[i] > '~') {
            return false;
        }
    }
    return bytes > 0 && bytes <= bytes_max;
}

static enum uvea_error check(const struct uvea_http_request *request)
{
    if (!is_plain(request->method, METHOD_BYTES_MAX) ||
        !is_plain(request->target, TARGET_BYTES_MAX) || request->target[0] != '/') {
        return UVEA_ERR_USAGE;
    }
    return request->body_bytes > UVEA_HTTP_BODY_BYTES_MAX ? UVEA_ERR_LIMIT : UVEA_OK;
}

enum uvea_error uvea_posix_op_http_call(struct uvea_rt *rt, const char *address,
                                        const struct uvea_http_request *request,
                                        struct uvea_http_response *response, uint64_t deadline_ns)
{
    struct uvea_posix *posix = uvea_posix_of(rt);

    UVEA_TRY(check(request));
    struct uvea_posix_curl *curl = kept_take(posix->http, address);
    if (curl != NULL && !uvea_posix_curl_is_current(curl)) {
        uvea_posix_curl_close(curl);
        curl = NULL;
    }
    if (curl == NULL) {
        UVEA_TRY(uvea_posix_curl_open(posix, address, &curl));
    }
    (void)atomic_fetch_add(&posix->tally.http_requests_made, 1);
    const enum uvea_error error = uvea_posix_curl_call(curl, request, response, deadline_ns);
    if (error == UVEA_OK) {
        kept_give(posix->http, curl);
    } else {
        uvea_posix_curl_close(curl);
    }
    return error;
}
