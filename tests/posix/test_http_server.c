// The HTTP server, asked by raw sockets: what it refuses and how, limits, ends.
#include "core/base/check.h"
#include "tests/posix/web.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void open_plain(struct web *web)
{
    const struct uvea_posix_config config = web_config(web);

    web_open(web, &config, &config);
}

// ---- whole requests

static void test_requests_in_a_row(void **state)
{
    (void)state;
    static struct web web;
    static char text[4096];
    web = (struct web){0};
    open_plain(&web);
    const int fd = web_dial(web.address);
    web_say(fd, "GET /a?b=%20c HTTP/1.1\r\nHost: x\r\n\r\n"
                "PUT /d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz"
                "POST /status/409 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    (void)web_read_all(fd, text, sizeof(text));
    assert_non_null(strstr(text, "GET /a?b=%20c\n"));
    assert_non_null(strstr(text, "PUT /d\nxyz"));
    assert_non_null(strstr(text, "HTTP/1.1 409 "));
    (void)close(fd);
    web_close(&web);
    assert_int_equal(web.asked, 3);
    assert_int_equal(web.lines.count, 0);
}

// ---- what is refused

struct bad {
    const char *head;
    size_t filler_bytes; // behind it
    unsigned status;     // 0: any, or none
    const char *line;
};

static const struct bad bads[] = {
    {"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", 0, 405, "405: only GET"},
    {"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", 0, 405, "405: only GET"},
    {"TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 0, 405, "405: only GET"},
    {"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 0, 405, "405: only GET"},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 67108865\r\n\r\n", 100, 413, "413: "},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 67108865\r\n\r\n", 4 << 20, 413, "413: "},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n", 100, 413, ""},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n", 100, 0, ""},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 100, 400, ""},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", 4, 400,
     "400: "},
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 100, 411, "411: "},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 0,
     411, "411: "},
    {"GET / HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", 0, 400, "400: want one Host"},
    {"GET /", 5000, 0, ""},
    {"GET / HTTP/1.1\r\nHost: x\r\nX: ", 1 << 20, 0, ""},
    {"GARBAGE\r\n\r\n", 0, 0, ""},
    {"\x16\x03\x01\x02\x01\x01 a hello of TLS\r\n\r\n", 0, 0, ""},
};

static void ask_badly(struct web *web, const struct bad *bad, unsigned nth)
{
    static char text[65536];
    char *filler = calloc(1, bad->filler_bytes + 1);
    const int fd = web_dial(web->address);

    assert_non_null(filler);
    memset(filler, 'x', bad->filler_bytes);
    web_say(fd, bad->head);
    web_send(fd, filler, bad->filler_bytes);
    if (bad->filler_bytes == 5000) {
        web_say(fd, " HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    (void)web_read_all(fd, text, sizeof(text));
    if (bad->status != 0) {
        assert_int_equal(web_status_of(text), bad->status);
    } else {
        assert_true(web_status_of(text) == 0 || web_status_of(text) >= 400);
    }
    (void)close(fd);
    free(filler);
    web_lines_wait(&web->lines, nth + 1);
    assert_non_null(strstr(web->lines.text[nth], bad->line));
    assert_int_equal(strncmp(web->lines.text[nth], "127.0.0.1:", 10), 0);
}

static void test_bad_requests(void **state)
{
    (void)state;
    static struct web web;
    struct uvea_http_response response;
    web = (struct web){0};
    open_plain(&web);
    for (unsigned i = 0; i < UVEA_COUNT_OF(bads); i++) {
        ask_badly(&web, &bads[i], i);
    }
    assert_int_equal(web.asked, 0);
    assert_int_equal(web_call(&web, web.address, "GET", "/", NULL, &response), UVEA_OK);
    uvea_http_response_deinit(&response);
    web_close(&web);
    assert_int_equal(web.lines.count, UVEA_COUNT_OF(bads)); // one each
}

// ---- times and numbers

static void test_unfinished_requests_are_ended(void **state)
{
    (void)state;
    static const char *const begun[] = {
        "", "GET / HT", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"};
    static struct web web;
    char text[256];
    web = (struct web){0};
    struct uvea_posix_config config = web_config(&web);
    config.http_idle_ns_max = 1500 * UVEA_MS;
    web_open(&web, &config, &config);
    for (unsigned i = 0; i < UVEA_COUNT_OF(begun); i++) {
        const int fd = web_dial(web.address);
        web_say(fd, begun[i]);
        assert_int_equal(web_read_all(fd, text, sizeof(text)), 0);
        (void)close(fd);
        web_lines_wait(&web.lines, i + 1);
        assert_non_null(strstr(web.lines.text[i], "no whole request within 1500 ms"));
    }
    const int fd = web_dial(web.address); // idle after a request: ended as well, nothing to tell
    web_say(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(web_read_all(fd, text, sizeof(text)) > 0);
    (void)close(fd);
    web_close(&web);
    assert_int_equal(web.lines.count, UVEA_COUNT_OF(begun));
}

// Asks for as much as it sends, and reads nothing.
static int ask_and_not_read(struct web *web)
{
    enum { BYTES = 8 << 20 }; // more than sockets hold, the one here being told to hold little
    const int little = 4096;
    char *body = calloc(1, BYTES);
    const int fd = web_dial(web->address);

    assert_non_null(body);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little)), 0);
    web_say(fd, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n");
    web_send(fd, body, BYTES);
    free(body);
    web_wait_asked(web, 1);
    return fd;
}

static void test_an_answer_that_nobody_takes(void **state)
{
    (void)state;
    static struct web web;
    web = (struct web){0};
    struct uvea_posix_config config = web_config(&web);
    config.http_idle_ns_max = 3 * UVEA_SECOND; // also to be read in, on a busy machine
    config.drain_ns_max = 100 * UVEA_MS;
    web_open(&web, &config, &config);
    const int fd = ask_and_not_read(&web);
    web_lines_wait(&web.lines, 1);
    assert_non_null(strstr(web.lines.text[0], "its answer was not taken within 3000 ms"));
    web_close(&web);
    (void)close(fd);
}

static void test_close_does_not_wait_for_slow_readers(void **state)
{
    (void)state;
    static struct web web;
    struct timespec from;
    struct timespec to;
    web = (struct web){0};
    struct uvea_posix_config config = web_config(&web);
    config.http_idle_ns_max = 3600 * UVEA_SECOND;
    config.drain_ns_max = 100 * UVEA_MS;
    web_open(&web, &config, &config);
    const int fd = ask_and_not_read(&web);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &from), 0);
    web_close(&web);
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &to), 0);
    assert_true(to.tv_sec - from.tv_sec < 60); // and not an hour
    (void)close(fd);
}

static void test_bodies_have_a_bound(void **state)
{
    (void)state;
    static struct web web;
    static const unsigned statuses[] = {200, 413};
    char text[4096];
    web = (struct web){0};
    struct uvea_posix_config config = web_config(&web);
    config.http_body_bytes_max = 3;
    web_open(&web, &config, &config);
    for (unsigned i = 0; i < UVEA_COUNT_OF(statuses); i++) {
        const int fd = web_dial(web.address);
        web_say(fd, i == 0 ? "PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: "
                             "3\r\n\r\nabc"
                           : "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd");
        (void)web_read_all(fd, text, sizeof(text));
        assert_int_equal(web_status_of(text), statuses[i]);
        (void)close(fd);
    }
    web_close(&web);
}

// Announced and never sent: as much as the server takes at once.
static void test_short_bodies_are_not_kept_out_by_long_ones(void **state)
{
    (void)state;
    static const char announced[] = "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                                    "Content-Length: 67108864\r\n\r\n";
    static struct web web;
    struct uvea_http_response response = {0};
    char text[4096];
    int fds[4];
    web = (struct web){0};
    open_plain(&web);
    for (unsigned i = 0; i < UVEA_COUNT_OF(fds); i++) {
        fds[i] = web_dial(web.address);
        web_say(fds[i], announced);
        assert_true(recv(fds[i], text, 12, MSG_WAITALL) == 12);
        assert_memory_equal(text, "HTTP/1.1 100", 12); // go on
    }
    const int one_more = web_dial(web.address);
    web_say(one_more, announced);
    (void)web_read_all(one_more, text, sizeof(text));
    assert_int_equal(web_status_of(text), 503);
    (void)close(one_more);
    assert_int_equal(web_call(&web, web.address, "POST", "/", "short", &response), UVEA_OK);
    assert_int_equal(response.status, 200);
    uvea_http_response_deinit(&response);
    for (unsigned i = 0; i < UVEA_COUNT_OF(fds); i++) {
        (void)close(fds[i]);
    }
    web_close(&web);
}

static void test_the_oldest_silent_one_gives_way(void **state)
{
    (void)state;
    static struct web web;
    struct uvea_http_response response;
    char text[16];
    int fds[6];
    web = (struct web){0};
    struct uvea_posix_config config = web_config(&web);
    config.http_connections_max = 4;
    web_open(&web, &config, &config);
    for (unsigned i = 0; i < UVEA_COUNT_OF(fds); i++) {
        fds[i] = web_dial(web.address);
    }
    web_lines_wait(&web.lines, 2);
    assert_int_equal(web_call(&web, web.address, "GET", "/", NULL, &response), UVEA_OK);
    uvea_http_response_deinit(&response);
    web_lines_wait(&web.lines, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(web_read_all(fds[i], text, sizeof(text)), 0);
        assert_non_null(strstr(web.lines.text[i], "gave way"));
    }
    for (unsigned i = 0; i < UVEA_COUNT_OF(fds); i++) {
        (void)close(fds[i]);
    }
    web_close(&web);
    assert_int_equal(web.lines.count, 3);
}

// Again until there is an answer: one that was answered just now may still be in work.
static void ask_until_answered(const struct web *web)
{
    char text[1024];
    size_t got = 0;
    while (got == 0) {
        const int fd = web_dial(web->address);
        web_say(fd, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        got = web_read_all(fd, text, sizeof(text));
        (void)close(fd);
    }
    assert_int_equal(web_status_of(text), 200);
}

static void test_who_asks_for_nothing_gives_way(void **state)
{
    (void)state;
    static struct web web;
    char text[1024];
    web = (struct web){.hold_until = UINT_MAX};
    struct uvea_posix_config config = web_config(&web);
    config.http_connections_max = 2;
    web_open(&web, &config, &config);
    const int idle = web_dial(web.address);
    web_say(idle, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(recv(idle, text, sizeof(text), 0) > 0);
    const int waiting = web_dial(web.address);
    web_say(waiting, "GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
    web_wait_asked(&web, 2);
    ask_until_answered(&web);
    const unsigned lines = web_lines_count(&web.lines);
    assert_non_null(strstr(web.lines.text[lines - 1], "idle or slow"));
    (void)web_read_all(idle, text, sizeof(text)); // to the end
    web_release(&web);
    (void)close(idle);
    (void)close(waiting);
    web_close(&web);
}

static void test_full_of_those_that_wait_for_answers(void **state)
{
    (void)state;
    static struct web web;
    char text[256];
    int fds[2];
    web = (struct web){.hold_until = UINT_MAX};
    struct uvea_posix_config config = web_config(&web);
    config.http_connections_max = 2;
    web_open(&web, &config, &config);
    for (unsigned i = 0; i < UVEA_COUNT_OF(fds); i++) {
        fds[i] = web_dial(web.address);
        web_say(fds[i], "GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
        web_wait_asked(&web, i + 1);
    }
    const int one_more = web_dial(web.address);
    assert_int_equal(web_read_all(one_more, text, sizeof(text)), 0);
    web_lines_wait(&web.lines, 1);
    assert_non_null(strstr(web.lines.text[0], "there are 2 connections"));
    (void)close(one_more);
    web_release(&web);
    for (unsigned i = 0; i < UVEA_COUNT_OF(fds); i++) {
        (void)close(fds[i]);
    }
    web_close(&web);
}

// ---- the end

struct closing {
    struct web *web;
    bool done;
};

static void *close_server(void *arg)
{
    struct closing *closing = arg;

    uvea_rt_http_close(closing->web->server_rt, closing->web->server);
    closing->web->server = NULL;
    closing->done = closing->web->in_work == 0;
    return NULL;
}

// There may be connections that the server has not taken yet: they end with the others.
static void test_close_waits_for_what_is_in_work(void **state)
{
    (void)state;
    static struct web web;
    char text[1024];
    pthread_t thread;
    web = (struct web){.hold_until = 2};
    struct closing closing = {.web = &web};
    open_plain(&web);
    const int fd = web_dial(web.address);
    const int silent = web_dial(web.address);
    web_say(fd, "GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
    web_wait_asked(&web, 1);
    assert_int_equal(pthread_create(&thread, NULL, close_server, &closing), 0);
    (void)web_read_all(silent, text, sizeof(text)); // the server has begun to close
    web_release(&web);
    assert_true(web_read_all(fd, text, sizeof(text)) > 0);
    assert_int_equal(web_status_of(text), 200);
    assert_non_null(strstr(text, "GET /held\n"));
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(closing.done);
    (void)close(fd);
    (void)close(silent);
    web_close(&web);
    assert_int_equal(web.lines.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_in_a_row),
        cmocka_unit_test(test_bad_requests),
        cmocka_unit_test(test_unfinished_requests_are_ended),
        cmocka_unit_test(test_an_answer_that_nobody_takes),
        cmocka_unit_test(test_close_does_not_wait_for_slow_readers),
        cmocka_unit_test(test_bodies_have_a_bound),
        cmocka_unit_test(test_short_bodies_are_not_kept_out_by_long_ones),
        cmocka_unit_test(test_the_oldest_silent_one_gives_way),
        cmocka_unit_test(test_who_asks_for_nothing_gives_way),
        cmocka_unit_test(test_full_of_those_that_wait_for_answers),
        cmocka_unit_test(test_close_waits_for_what_is_in_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
