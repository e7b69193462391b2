#include "core/posix/http_curl.h"

#include "core/base/mem.h"
#include "core/posix/state.h"
#include "core/tls/material.h"

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>

enum {
    // Less than a server waits for the next request, so that the two seldom meet.
    IDLE_SECONDS_MAX = 25,
    // After that a peer has to show its certificate again.
    LIFETIME_SECONDS_MAX = 3600,
    ADDRESS_BYTES_MAX = UVEA_POSIX_HOST_BYTES + 8,
    TIMEOUT_MS_MAX = INT32_MAX,
    HEAD_BYTES_MAX = 64 << 10,
    STATUS_MIN = 100,
    STATUS_MAX = 599,
};

struct uvea_posix_curl {
    struct uvea_posix *posix;
    CURL *easy;
    struct curl_slist *headers;
    struct uvea_posix_address parts; // of address
    char address[ADDRESS_BYTES_MAX];
    uint64_t generation; // of the TLS files, when its connection was made
    bool alerted;        // one of the two sides has ended TLS with a reproach

    // of the call under way
    struct uvea_buf body;
    enum uvea_error failed; // why the transfer was given up, OK when it was not by us
    bool sent;              // the request, once
    size_t head_bytes;      // of all headers so far
    bool head_ended;        // the empty line behind the headers has come
};

// ---- what libcurl asks and tells

static size_t take_header(char *bytes, size_t size, size_t count, void *arg)
{
    struct uvea_posix_curl *curl = arg;

    (void)size; // always 1
    curl->head_bytes += count;
    if (curl->head_bytes > HEAD_BYTES_MAX) {
        curl->failed = UVEA_ERR_FORMAT;
        return 0;
    }
    if (count > 5 && memcmp(bytes, "HTTP/", 5) == 0) {
        curl->head_ended = false; // what came before was an interim answer
    } else if (count <= 2) {
        curl->head_ended = true;
    }
    return count;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct uvea_posix_curl *curl = arg;

    (void)size; // always 1
    if (count > UVEA_HTTP_BODY_BYTES_MAX - curl->body.len) {
        curl->failed = UVEA_ERR_LIMIT;
    } else {
        curl->failed = uvea_buf_append(&curl->body, bytes, count);
    }
    return curl->failed == UVEA_OK ? count : 0;
}

static int before_sending(void *arg, char *remote, char *local, int remote_port, int local_port)
{
    struct uvea_posix_curl *curl = arg;

    (void)remote;
    (void)local;
    (void)remote_port;
    (void)local_port;
    if (curl->sent) {
        curl->failed = UVEA_ERR_CLOSED;
        return CURL_PREREQFUNC_ABORT;
    }
    curl->sent = true;
    return CURL_PREREQFUNC_OK;
}

static bool is_stopped(struct uvea_posix *posix)
{
    (void)pthread_mutex_lock(&posix->lock);
    const bool stopped = posix->stopped;
    (void)pthread_mutex_unlock(&posix->lock);
    return stopped;
}

static int on_progress(void *arg, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                       curl_off_t up)
{
    struct uvea_posix_curl *curl = arg;

    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    if (is_stopped(curl->posix)) {
        curl->failed = UVEA_ERR_CLOSED;
    }
    return curl->failed != UVEA_OK;
}

static void on_tls(const SSL *ssl, int where, int alert)
{
    struct uvea_posix_curl *curl = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    if ((where & SSL_CB_ALERT) != 0 && (alert & 0xff) != SSL_AD_CLOSE_NOTIFY) {
        curl->alerted = true;
    }
}

// libcurl looks at the name as well, but only after it has accepted the certificate.
static bool demand_name(const struct uvea_posix_curl *curl, SSL_CTX *context)
{
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(context);

    return X509_VERIFY_PARAM_set1_ip_asc(param, curl->parts.host) == 1 ||
           X509_VERIFY_PARAM_set1_host(param, curl->parts.host, 0) == 1;
}

// The same rules as for every other stream, and no root but the parties'.
static enum uvea_error apply_rules(struct uvea_tls *tls, SSL_CTX *context)
{
    struct uvea_tls_material *material = uvea_tls_material_take(tls);
    const bool allow_tls_1_2 =
        SSL_CTX_get_min_proto_version(material->contexts[UVEA_TLS_DIALS]) == TLS1_2_VERSION;
    const enum uvea_error error =
        uvea_tls_material_apply(material, UVEA_TLS_DIALS, allow_tls_1_2, context);

    uvea_tls_material_release(material);
    return error;
}

static CURLcode prepare_tls(CURL *easy, void *context, void *arg)
{
    struct uvea_posix_curl *curl = arg;

    (void)easy;
    curl->alerted = false;
    curl->generation = uvea_tls_generation(curl->posix->config.tls); // or one before
    curl->failed = apply_rules(curl->posix->config.tls, context);
    if (curl->failed == UVEA_OK && !demand_name(curl, context)) {
        curl->failed = UVEA_ERR_CRYPTO;
    }
    if (curl->failed != UVEA_OK) {
        return CURLE_ABORTED_BY_CALLBACK;
    }
    (void)SSL_CTX_set_app_data((SSL_CTX *)context, curl);
    SSL_CTX_set_info_callback(context, on_tls);
    return CURLE_OK;
}

// ---- opening and closing

// Every option by name, so that none depends on how libcurl was built or on the environment.
static bool set_up_transfer(struct uvea_posix_curl *curl)
{
    CURL *easy = curl->easy;

    return curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_MAXCONNECTS, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_SECONDS_MAX) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, (long)LIFETIME_SECONDS_MAX) ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE,
                            (curl_off_t)UVEA_HTTP_BODY_BYTES_MAX) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTPHEADER, curl->headers) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HEADERDATA, curl) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_WRITEDATA, curl) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_sending) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PREREQDATA, curl) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_XFERINFODATA, curl) == CURLE_OK;
}

static bool set_up_peer(struct uvea_posix_curl *curl)
{
    const bool secure = curl->posix->config.tls != NULL;
    const char *scheme = secure ? "https" : "http";
    char url[ADDRESS_BYTES_MAX + 16];
    CURL *easy = curl->easy;

    (void)snprintf(url, sizeof(url), "%s://%s/", scheme, curl->address);
    return curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, scheme) == CURLE_OK &&
           (!secure || (curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
                        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
                        curl_easy_setopt(easy, CURLOPT_CAINFO, NULL) == CURLE_OK &&
                        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK &&
                        curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L) == CURLE_OK &&
                        curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L) == CURLE_OK &&
                        curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, prepare_tls) == CURLE_OK &&
                        curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, curl) == CURLE_OK));
}

enum uvea_error uvea_posix_curl_open(struct uvea_posix *posix, const char *address,
                                     struct uvea_posix_curl **curl)
{
    struct uvea_posix_address parts;

    UVEA_TRY(uvea_posix_address_parse(address, &parts));
    struct uvea_posix_curl *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->posix = posix;
    made->parts = parts;
    (void)snprintf(made->address, sizeof(made->address), "%s", address);
    made->easy = curl_easy_init();
    // libcurl would announce a form, and ask before it sends a long body.
    made->headers = curl_slist_append(NULL, "Content-Type: application/octet-stream");
    if (made->easy == NULL || made->headers == NULL ||
        curl_slist_append(made->headers, "Expect:") == NULL || !set_up_transfer(made) ||
        !set_up_peer(made)) {
        uvea_posix_curl_close(made);
        return UVEA_ERR_MEMORY;
    }
    *curl = made;
    return UVEA_OK;
}

void uvea_posix_curl_close(struct uvea_posix_curl *curl)
{
    if (curl == NULL) {
        return;
    }
    curl_easy_cleanup(curl->easy);
    curl_slist_free_all(curl->headers);
    uvea_mem_free(curl);
}

const char *uvea_posix_curl_address(const struct uvea_posix_curl *curl)
{
    return curl->address;
}

bool uvea_posix_curl_is_current(const struct uvea_posix_curl *curl)
{
    const struct uvea_tls *tls = curl->posix->config.tls;

    return tls == NULL || curl->generation == uvea_tls_generation(tls);
}

// ---- one call

static bool set_up_call(struct uvea_posix_curl *curl, const struct uvea_http_request *request,
                        long timeout_ms)
{
    CURL *easy = curl->easy;
    const bool bare = request->body_bytes == 0 && strcmp(request->method, "GET") == 0;

    if (curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms) != CURLE_OK ||
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms) != CURLE_OK ||
        curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, request->target) != CURLE_OK) {
        return false;
    }
    if (bare) {
        return curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L) == CURLE_OK &&
               curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, NULL) == CURLE_OK;
    }
    return curl_easy_setopt(easy, CURLOPT_POST, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_bytes) ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                            request->body != NULL ? (const char *)request->body : "") == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method) == CURLE_OK;
}

// What a failure of TLS comes to: a refusal by either side, or a connection that broke meanwhile.
static enum uvea_error judge(const struct uvea_posix_curl *curl, CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return UVEA_OK;
    case CURLE_URL_MALFORMAT:
        return UVEA_ERR_USAGE;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
        return UVEA_ERR_NOT_FOUND;
    case CURLE_OPERATION_TIMEDOUT:
        return UVEA_ERR_TIMEOUT;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        return curl->alerted ? UVEA_ERR_PEER : UVEA_ERR_RESET;
    case CURLE_SSL_CONNECT_ERROR:
        return curl->alerted ? UVEA_ERR_PEER : UVEA_ERR_CLOSED;
    case CURLE_PEER_FAILED_VERIFICATION:
        return UVEA_ERR_PEER;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
        return curl->alerted ? UVEA_ERR_PEER : UVEA_ERR_CLOSED;
    case CURLE_FILESIZE_EXCEEDED:
        return UVEA_ERR_LIMIT;
    case CURLE_OUT_OF_MEMORY: // also a header without an end
        return curl->sent && !curl->head_ended ? UVEA_ERR_FORMAT : UVEA_ERR_MEMORY;
    case CURLE_UNSUPPORTED_PROTOCOL: // an answer of HTTP/0.9, which has no first line
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
        return UVEA_ERR_FORMAT;
    default:
        return UVEA_ERR_IO;
    }
}

static enum uvea_error perform(struct uvea_posix_curl *curl, long *status)
{
    const CURLcode code = curl_easy_perform(curl->easy);

    if (curl->failed != UVEA_OK) {
        return curl->failed;
    }
    UVEA_TRY(judge(curl, code));
    if (!curl->head_ended) {
        return UVEA_ERR_CLOSED; // which libcurl takes for an answer without a body
    }
    if (curl_easy_getinfo(curl->easy, CURLINFO_RESPONSE_CODE, status) != CURLE_OK ||
        *status < STATUS_MIN || *status > STATUS_MAX) {
        return UVEA_ERR_FORMAT;
    }
    return UVEA_OK;
}

// 0 for none: libcurl counts whole milliseconds, and waits for a part of one as for all of it.
static long timeout_ms_until(uint64_t deadline_ns, uint64_t now_ns)
{
    const uint64_t ms = (deadline_ns - now_ns - 1) / UVEA_MS + 1;

    if (deadline_ns == UVEA_NEVER) {
        return 0;
    }
    return (long)(ms < TIMEOUT_MS_MAX ? ms : TIMEOUT_MS_MAX);
}

enum uvea_error uvea_posix_curl_call(struct uvea_posix_curl *curl,
                                     const struct uvea_http_request *request,
                                     struct uvea_http_response *response, uint64_t deadline_ns)
{
    const uint64_t now_ns = uvea_posix_now_ns();
    long status = 0;

    if (is_stopped(curl->posix)) {
        return UVEA_ERR_CLOSED;
    }
    if (deadline_ns <= now_ns) {
        return UVEA_ERR_TIMEOUT;
    }
    if (!set_up_call(curl, request, timeout_ms_until(deadline_ns, now_ns))) {
        return UVEA_ERR_MEMORY;
    }
    curl->failed = UVEA_OK;
    curl->sent = false;
    curl->head_bytes = 0;
    curl->head_ended = false;
    const enum uvea_error error = perform(curl, &status);
    if (error == UVEA_OK) {
        response->status = (unsigned)status;
        response->body = curl->body;
    } else {
        uvea_buf_deinit(&curl->body);
    }
    curl->body = (struct uvea_buf){0};
    return error;
}
