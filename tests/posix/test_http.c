// HTTP calls over real sockets, in the clear: the cases of tests/sim/test_http.c, and what libcurl
// must not do by itself.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "tests/posix/raw_server.h"
#include "tests/posix/web.h"

#include <stdlib.h>
#include <unistd.h>

static void open_plain(struct web *web)
{
    const struct uvea_posix_config config = web_config(web);

    *web = (struct web){0};
    web_open(web, &config, &config);
}

static void expect(struct web *web, const char *address, const char *method, enum uvea_error error,
                   unsigned status)
{
    struct uvea_http_response response;
    const char *body = strcmp(method, "GET") == 0 ? NULL : "x";

    assert_int_equal(web_call(web, address, method, "/", body, &response), error);
    assert_int_equal(response.status, status);
    assert_true(error == UVEA_OK || response.body.data == NULL);
    uvea_http_response_deinit(&response);
}

// ---- honest answers

static void call_with_body(struct web *web, size_t bytes)
{
    struct uvea_buf body = {0};
    struct uvea_http_response response = {0};
    uint8_t *at = uvea_buf_extend(&body, bytes);

    assert_true(at != NULL || bytes == 0);
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    const struct uvea_http_request request = {
        .method = "PUT", .target = "/things?a=b", .body = body.data, .body_bytes = bytes};
    assert_int_equal(uvea_rt_http_call(web->rt, web->address, &request, &response, UVEA_NEVER),
                     UVEA_OK);
    assert_int_equal(response.status, 200);
    assert_int_equal(response.body.len, bytes + 16);
    assert_memory_equal(response.body.data, "PUT /things?a=b\n", 16);
    assert_true(bytes == 0 || memcmp(response.body.data + 16, body.data, bytes) == 0);
    uvea_http_response_deinit(&response);
    uvea_buf_deinit(&body);
}

static void test_bodies(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 65536, 65537, 3000000, 20000000};
    static struct web web;
    open_plain(&web);
    for (size_t i = 0; i < UVEA_COUNT_OF(sizes); i++) {
        call_with_body(&web, sizes[i]);
    }
    web_close(&web);
    assert_int_equal(web.asked, UVEA_COUNT_OF(sizes));
    assert_int_equal(web.lines.count, 0);
}

static void test_statuses(void **state)
{
    (void)state;
    static const unsigned statuses[] = {200, 204, 302, 404, 409, 429, 500, 503, 599};
    static struct web web;
    open_plain(&web);
    for (size_t i = 0; i < UVEA_COUNT_OF(statuses); i++) {
        struct uvea_http_response response;
        char target[32];
        (void)snprintf(target, sizeof(target), "/status/%u", statuses[i]);
        assert_int_equal(web_call(&web, web.address, "GET", target, NULL, &response), UVEA_OK);
        assert_int_equal(response.status, statuses[i]);
        uvea_http_response_deinit(&response);
    }
    web_close(&web);
}

static void test_calls_that_cannot_be_made(void **state)
{
    (void)state;
    static struct web web;
    static char long_target[5000];
    struct uvea_http_response response = {0};
    struct uvea_http_request request = {.method = "GET", .target = "/"};
    char nobody[WEB_ADDRESS_BYTES];
    open_plain(&web);
    web_free_address(nobody);
    expect(&web, nobody, "GET", UVEA_ERR_NOT_FOUND, 0);
    expect(&web, "nobody.invalid:80", "GET", UVEA_ERR_NOT_FOUND, 0);
    expect(&web, "nobody", "GET", UVEA_ERR_USAGE, 0);
    expect(&web, web.address, "", UVEA_ERR_USAGE, 0);
    expect(&web, web.address, "GET / HTTP/1.1\r\nX:", UVEA_ERR_USAGE, 0);
    memset(long_target, '/', sizeof(long_target) - 1);
    request.target = long_target;
    assert_int_equal(uvea_rt_http_call(web.rt, web.address, &request, &response, UVEA_NEVER),
                     UVEA_ERR_USAGE);
    request.target = "/ HTTP/1.1\r\nX: y\r\n\r\n";
    assert_int_equal(uvea_rt_http_call(web.rt, web.address, &request, &response, UVEA_NEVER),
                     UVEA_ERR_USAGE);
    request.target = "/";
    request.body_bytes = UVEA_HTTP_BODY_BYTES_MAX + 1;
    assert_int_equal(uvea_rt_http_call(web.rt, web.address, &request, &response, UVEA_NEVER),
                     UVEA_ERR_LIMIT);
    request.body_bytes = 0;
    assert_int_equal(uvea_rt_http_call(web.rt, web.address, &request, &response, 0),
                     UVEA_ERR_TIMEOUT);
    web_close(&web);
    assert_int_equal(web.asked, 0);
}

// ---- several at once

static void *call_held(void *arg)
{
    struct web *web = arg;
    struct uvea_http_response response;
    const enum uvea_error error = web_call(web, web->address, "POST", "/held", "x", &response);
    const bool good = error == UVEA_OK && response.status == 200;

    uvea_http_response_deinit(&response);
    return good ? web : NULL;
}

static void test_requests_run_at_once(void **state)
{
    (void)state;
    static struct web web;
    pthread_t threads[20];
    open_plain(&web);
    web.hold_until = UVEA_COUNT_OF(threads); // nobody is answered before all have asked
    for (size_t i = 0; i < UVEA_COUNT_OF(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call_held, &web), 0);
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(threads); i++) {
        void *good;
        assert_int_equal(pthread_join(threads[i], &good), 0);
        assert_non_null(good);
    }
    for (unsigned i = 0; i < 40; i++) { // by turns over those of the 20 that were kept
        expect(&web, web.address, "POST", UVEA_OK, 200);
    }
    web_close(&web);
}

// ---- connections that are kept

static const struct raw_answer kept[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", RAW_KEEP},
    {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", RAW_KEEP},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", RAW_KEEP},
    {"HTTP/1.1 204 No Content\r\n\r\n", RAW_KEEP},
    {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n", RAW_KEEP},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", RAW_CLOSE},
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", RAW_CLOSE}, // ends it without saying so
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", RAW_KEEP},
};

static void test_connections_are_used_again(void **state)
{
    (void)state;
    static const unsigned statuses[] = {200, 404, 200, 204, 302, 200, 200, 200};
    static struct web web;
    struct raw_server server;
    assert_int_equal(setenv("http_proxy", "http://127.0.0.1:9/", 1), 0); // is not asked
    open_plain(&web);
    raw_open(&server, kept, UVEA_COUNT_OF(kept));
    for (size_t i = 0; i < UVEA_COUNT_OF(statuses); i++) {
        expect(&web, server.address, i % 2 == 0 ? "POST" : "GET", UVEA_OK, statuses[i]);
        raw_wait_ended(&server, i < 5 ? 0 : i == 5 ? 1 : 2); // so that the end has arrived
    }
    web_close(&web);
    raw_close(&server);
    assert_int_equal(unsetenv("http_proxy"), 0);
    assert_int_equal(server.accepted, 3);
    assert_int_equal(server.requests, UVEA_COUNT_OF(statuses));
}

// A connection that was used before ends when the request has arrived: it may have been carried
// out, so nobody but the caller may decide to send it again.
static void test_no_request_is_repeated(void **state)
{
    (void)state;
    static const char *const methods[] = {"POST", "PUT", "GET"};
    static struct web web;
    open_plain(&web);
    for (unsigned i = 0; i < 2 * UVEA_COUNT_OF(methods); i++) {
        const bool reset = i % 2 == 1;
        const struct raw_answer answers[] = {
            {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", RAW_KEEP},
            {"", reset ? RAW_RESET : RAW_CLOSE},
            {"HTTP/1.1 201 OK\r\nContent-Length: 2\r\n\r\nok", RAW_KEEP},
        };
        struct uvea_http_response response;
        struct raw_server server;
        raw_open(&server, answers, UVEA_COUNT_OF(answers));
        expect(&web, server.address, methods[i / 2], UVEA_OK, 200);
        const enum uvea_error error =
            web_call(&web, server.address, methods[i / 2], "/", "x", &response);
        assert_true(error == UVEA_ERR_CLOSED || error == UVEA_ERR_RESET);
        assert_int_equal(response.status, 0);
        expect(&web, server.address, methods[i / 2], UVEA_OK, 201);
        raw_close(&server);
        assert_int_equal(server.requests, 3);
    }
    web_close(&web);
}

// ---- peers that do not speak it

struct odd {
    struct raw_answer answer;
    enum uvea_error error;
};

static const struct odd odds[] = {
    {{"", RAW_CLOSE}, UVEA_ERR_CLOSED},
    {{"", RAW_RESET}, UVEA_ERR_RESET},
    {{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"half\":", RAW_CLOSE}, UVEA_ERR_CLOSED},
    {{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", RAW_CLOSE}, UVEA_ERR_CLOSED},
    {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", RAW_CLOSE}, UVEA_ERR_CLOSED},
    {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", RAW_CLOSE},
     UVEA_ERR_CLOSED},
    {{"HTTP/1.1 200 OK\r\nContent-Le", RAW_CLOSE}, UVEA_ERR_CLOSED},
    {{"HTTP/1.1 200 OK\r\nA: b\r\n", RAW_CLOSE}, UVEA_ERR_CLOSED},
    {{"HTTP/1.1 100 Continue\r\n\r\n", RAW_CLOSE}, UVEA_ERR_CLOSED},
    {{"SSH-2.0-OpenSSH_9.2\r\n", RAW_CLOSE}, UVEA_ERR_FORMAT},
    {{"uvan", RAW_CLOSE}, UVEA_ERR_FORMAT},
    {{"HTTP/1.1 20\r\n\r\n", RAW_CLOSE}, UVEA_ERR_FORMAT},
    {{"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", RAW_KEEP}, UVEA_ERR_FORMAT},
    {{"HTTP/3.7 200 OK\r\n\r\n", RAW_CLOSE}, UVEA_ERR_FORMAT},
    {{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab", RAW_CLOSE}, UVEA_ERR_RESET},
    {{"HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n", RAW_KEEP}, UVEA_ERR_LIMIT},
    {{"HTTP/1.1 200 OK\r\n\r\n", RAW_FLOOD}, UVEA_ERR_LIMIT},
    {{"HTTP/1.1 200 OK\r\nA: ", RAW_FLOOD}, UVEA_ERR_FORMAT},
};

static void test_answers_that_are_none(void **state)
{
    (void)state;
    static struct web web;
    open_plain(&web);
    for (unsigned i = 0; i < UVEA_COUNT_OF(odds); i++) {
        struct raw_server server;
        raw_open(&server, &odds[i].answer, 1);
        expect(&web, server.address, "GET", odds[i].error, 0);
        raw_close(&server);
        assert_int_equal(server.requests, 1);
    }
    web_close(&web);
}

// ---- deadlines and the end

static void test_deadline_covers_the_whole(void **state)
{
    (void)state;
    static const char *const begun[] = {"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"};
    static struct web web;
    open_plain(&web);
    for (unsigned i = 0; i < UVEA_COUNT_OF(begun); i++) {
        const struct raw_answer hung = {begun[i], RAW_KEEP};
        const struct uvea_http_request request = {.method = "POST", .target = "/"};
        struct uvea_http_response response = {0};
        struct raw_server server;
        raw_open(&server, &hung, 1);
        const uint64_t deadline_ns = uvea_rt_deadline_ns(web.rt, 100 * UVEA_MS);
        assert_int_equal(
            uvea_rt_http_call(web.rt, server.address, &request, &response, deadline_ns),
            UVEA_ERR_TIMEOUT);
        assert_true(uvea_rt_now_ns(web.rt) >= deadline_ns);
        raw_close(&server);
    }
    web_close(&web);
}

static void *call_for_ever(void *arg)
{
    struct web *web = arg;
    struct uvea_http_response response;

    (void)!web_call(web, web->address, "POST", "/held", "x", &response);
    return NULL;
}

static void test_stop_ends_calls(void **state)
{
    (void)state;
    static struct web web;
    pthread_t thread;
    open_plain(&web);
    web.hold_until = 2;
    assert_int_equal(pthread_create(&thread, NULL, call_for_ever, &web), 0);
    web_wait_asked(&web, 1);
    uvea_posix_stop(web.rt);
    assert_int_equal(pthread_join(thread, NULL), 0); // and is not answered before
    expect(&web, web.address, "GET", UVEA_ERR_CLOSED, 0);
    assert_int_equal(web.asked, 1);
    web_release(&web);
    web_close(&web);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_calls_that_cannot_be_made),
        cmocka_unit_test(test_requests_run_at_once),
        cmocka_unit_test(test_connections_are_used_again),
        cmocka_unit_test(test_no_request_is_repeated),
        cmocka_unit_test(test_answers_that_are_none),
        cmocka_unit_test(test_deadline_covers_the_whole),
        cmocka_unit_test(test_stop_ends_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
