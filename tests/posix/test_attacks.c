// Attacks on the HTTP interface of a live runtime under TLS: each is refused in bounded time and
// memory, with one line, while a real peer calls all the time.
#include "core/base/check.h"
#include "tests/posix/attacker.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif

enum {
    SILENT = 500,
    GROWTH_BYTES_MAX = 64 << 20,
    HANDSHAKE_MS_MAX = 1000,
    PAGE_BYTES = 4096,
};

static struct pki pki;
static struct web web;
static struct uvea_tls *server_tls;
static struct uvea_tls *client_tls;
static int today;
static unsigned lines_before;

// ---- the real peer

static pthread_t peer;
static atomic_bool peer_ends;
static atomic_uint peer_calls;
static atomic_uint peer_failures;

static void call_once(struct uvea_rt *rt)
{
    const struct uvea_http_request request = {.method = "POST", .target = "/real"};
    struct uvea_http_response response = {0};
    const enum uvea_error error = uvea_rt_http_call(rt, web.address, &request, &response,
                                                    uvea_rt_deadline_ns(rt, 20 * UVEA_SECOND));

    if (error != UVEA_OK || response.status != 200) {
        (void)atomic_fetch_add(&peer_failures, 1);
    }
    (void)atomic_fetch_add(&peer_calls, 1);
    uvea_http_response_deinit(&response);
}

static void *call_all_the_time(void *arg)
{
    const struct timespec pause = {.tv_nsec = 2000000};

    (void)arg;
    while (!atomic_load(&peer_ends)) {
        call_once(web.rt);
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

// One that has to connect first.
static void call_anew(void)
{
    struct uvea_posix_config config = uvea_posix_config_default();
    struct uvea_error_context context;
    struct uvea_rt *rt;

    config.tls = client_tls;
    assert_int_equal(uvea_posix_open(&config, &rt, &context), UVEA_OK);
    call_once(rt);
    uvea_posix_close(rt);
}

// ---- before and after each attack

static size_t resident_bytes(void)
{
    unsigned long all = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &all, &resident), 2);
    (void)fclose(file);
    return resident * PAGE_BYTES;
}

static size_t resident_before;

static void expect_lines(unsigned count)
{
    web_wait_lines(&web, lines_before + count);
    call_anew();
    assert_int_equal(web_line_count(&web), lines_before + count);
    assert_int_equal(atomic_load(&peer_failures), 0);
    lines_before += count;
#ifndef UNDER_SANITIZER
    assert_true(resident_bytes() < resident_before + GROWTH_BYTES_MAX);
#endif
}

static void expect_line(const char *says)
{
    web_wait_lines(&web, lines_before + 1);
    if (strstr(web.lines.text[lines_before], says) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", web.lines.text[lines_before], says);
    }
    expect_lines(1);
}

static struct uvea_tls *tls_of(const char *stem, enum pki_root root, const char *name)
{
    const struct pki_leaf leaf = {root, name, today - 1, today + 10};

    return pki_tls(&pki, stem, &leaf, NULL);
}

static int set_up(void **state)
{
    (void)state;
    today = (int)((time(NULL) - PKI_START) / PKI_DAY);
    pki_open(&pki);
    server_tls = tls_of("server", PKI_PARTY_1, "127.0.0.1");
    client_tls = tls_of("client", PKI_PARTY_0, "127.0.0.1");
    struct uvea_posix_config server = web_config(&web);
    struct uvea_posix_config client = uvea_posix_config_default();
    server.tls = server_tls;
    server.http_handshake_ns_max = HANDSHAKE_MS_MAX * UVEA_MS;
    client.tls = client_tls;
    web_open(&web, &server, &client);
    for (unsigned i = 0; i < 20; i++) {
        call_anew();
    }
    resident_before = resident_bytes();
    return pthread_create(&peer, NULL, call_all_the_time, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&peer_ends, true);
    (void)pthread_join(peer, NULL);
    web_close(&web);
    uvea_tls_close(client_tls);
    uvea_tls_close(server_tls);
    pki_close(&pki);
    return web.lines.count == lines_before && atomic_load(&peer_failures) == 0 ? 0 : -1;
}

// ---- callers with the wrong certificate, or none

static void be_refused(const char *stem, const char *says)
{
    struct attacker attacker;
    char text[256];

    attacker_open(&attacker, web.address, &pki, stem);
    attacker_say(&attacker, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 0);
    attacker_read_all(&attacker, text, sizeof(text));
    assert_string_equal(text, "");
    attacker_close(&attacker);
    expect_line(says);
}

// The same through our own client, which has to learn of it: in TLS 1.3 its handshake is over by
// then.
static void call_and_be_refused(enum pki_root root, const char *says)
{
    struct uvea_posix_config config = uvea_posix_config_default();
    const struct uvea_http_request request = {.method = "POST", .target = "/"};
    struct uvea_http_response response = {0};
    struct uvea_error_context context;
    struct uvea_tls *tls = tls_of("refused", root, "127.0.0.1");
    struct uvea_rt *rt;

    config.tls = tls;
    assert_int_equal(uvea_posix_open(&config, &rt, &context), UVEA_OK);
    assert_int_equal(uvea_rt_http_call(rt, web.address, &request, &response,
                                       uvea_rt_deadline_ns(rt, 20 * UVEA_SECOND)),
                     UVEA_ERR_PEER);
    uvea_posix_close(rt);
    uvea_tls_close(tls);
    expect_line(says);
}

static void test_another_root(void **state)
{
    (void)state;
    static const struct pki_leaf party = {PKI_STRANGER, "127.0.0.1", 0, 20000};
    static const struct pki_leaf client = {PKI_STRANGER, NULL, 0, 20000};
    pki_write_leaf(&pki, "stranger", &party);
    be_refused("stranger", "certificate from another root");
    pki_write_leaf(&pki, "stranger", &client);
    be_refused("stranger", "certificate from another root");
    call_and_be_refused(PKI_STRANGER, "certificate from another root");
}

static void test_dates(void **state)
{
    (void)state;
    const struct pki_leaf expired = {PKI_PARTY_0, "127.0.0.1", 0, today - 1};
    const struct pki_leaf early = {PKI_CLIENTS, NULL, today + 2, today + 3};
    pki_write_leaf(&pki, "expired", &expired);
    be_refused("expired", "certificate has expired");
    pki_write_leaf(&pki, "early", &early);
    be_refused("early", "certificate is not yet valid");
}

static void test_no_certificate(void **state)
{
    (void)state;
    be_refused(NULL, "no certificate");
}

static void test_an_old_version(void **state)
{
    (void)state;
    struct attacker attacker;
    attacker_open(&attacker, web.address, &pki, "client");
    assert_int_equal(SSL_set_max_proto_version(attacker.ssl, TLS1_2_VERSION), 1);
    attacker_say(&attacker, "", 0);
    attacker_close(&attacker);
    expect_line("protocol version");
}

// ---- servers with the wrong certificate, or none

static enum uvea_error call_error(const char *address)
{
    struct uvea_http_response response;
    const enum uvea_error error = web_call(&web, address, "POST", "/", "x", &response);

    assert_true(error != UVEA_OK && response.status == 0);
    return error;
}

static void be_a_server(struct uvea_tls *tls, const char *says)
{
    static struct web other;
    struct uvea_posix_config config;

    other = (struct web){0};
    config = web_config(&other);
    config.tls = tls;
    web_open(&other, &config, &config);
    assert_int_equal(call_error(other.address), UVEA_ERR_PEER);
    web_wait_lines(&other, 1);
    assert_non_null(strstr(other.lines.text[0], says));
    web_close(&other);
    assert_int_equal(other.asked, 0);
    assert_int_equal(other.lines.count, 1);
    uvea_tls_close(tls);
}

static void test_servers_that_are_not_ours(void **state)
{
    (void)state;
    be_a_server(tls_of("name", PKI_PARTY_1, "127.0.0.2"), "refused: bad certificate");
    be_a_server(tls_of("name", PKI_PARTY_1, "localhost"), "refused: bad certificate");
    be_a_server(tls_of("root", PKI_STRANGER, "127.0.0.1"),
                "refused: certificate from another root");
    be_a_server(tls_of("role", PKI_CLIENTS, NULL), "refused: certificate from another root");
    expect_lines(0);
}

static void test_a_server_without_tls(void **state)
{
    (void)state;
    static struct web other;
    struct uvea_posix_config config;
    other = (struct web){0};
    config = web_config(&other);
    web_open(&other, &config, &config);
    const enum uvea_error error = call_error(other.address);
    assert_true(error == UVEA_ERR_PEER || error == UVEA_ERR_CLOSED);
    web_close(&other);
    assert_int_equal(other.asked, 0);
    expect_lines(0);
}

// ---- bytes that are no handshake

static void be_raw(const void *bytes, size_t len, const char *says)
{
    char text[256];
    const int fd = web_dial(web.address);

    web_send(fd, bytes, len);
    (void)web_read_all(fd, text, sizeof(text));
    (void)close(fd);
    expect_line(says);
}

static void test_no_tls(void **state)
{
    (void)state;
    static const char http[] = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    static const uint8_t long_record[] = {0x16, 3, 1, 0xff, 0xff, 1, 0, 0, 0, 3, 3};
    static const uint8_t long_hello[] = {0x16, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff, 3, 3};
    static uint8_t zeros[1 << 20];
    be_raw(http, sizeof(http) - 1, "not TLS but HTTP in the clear");
    be_raw(zeros, sizeof(zeros), "not TLS");
    be_raw(long_record, sizeof(long_record), "");
    be_raw(long_hello, sizeof(long_hello), ""); // and then nothing
}

static void test_a_hello_byte_by_byte(void **state)
{
    (void)state;
    static uint8_t hello[4096];
    const struct timespec pause = {.tv_nsec = 50000000};
    const size_t len = attacker_hello(hello, sizeof(hello));
    const int fd = web_dial(web.address);
    for (size_t i = 0; i < len && web_line_count(&web) == lines_before; i++) {
        web_send(fd, hello + i, 1);
        (void)nanosleep(&pause, NULL);
    }
    (void)close(fd);
    expect_line("no TLS handshake within 1000 ms");
}

static void test_silent_ones(void **state)
{
    (void)state;
    static int fds[SILENT];
    for (unsigned i = 0; i < SILENT; i++) {
        fds[i] = web_dial(web.address);
    }
    call_anew();
    web_wait_lines(&web, lines_before + SILENT);
    for (unsigned i = 0; i < SILENT; i++) {
        const char *line = web.lines.text[lines_before + i];
        assert_true(strstr(line, "gave way") != NULL || strstr(line, "no TLS handshake") != NULL);
        (void)close(fds[i]);
    }
    expect_lines(SILENT);
}

// ---- a handshake that was overheard, and one that is changed on its way

static void call_through(struct wiretap *tap, enum uvea_error expected)
{
    struct uvea_posix_config config = uvea_posix_config_default();
    const struct uvea_http_request request = {.method = "POST", .target = "/through"};
    struct uvea_http_response response = {0};
    struct uvea_error_context context;
    struct uvea_rt *rt;

    config.tls = client_tls;
    assert_int_equal(uvea_posix_open(&config, &rt, &context), UVEA_OK);
    const enum uvea_error error = uvea_rt_http_call(rt, tap->address, &request, &response,
                                                    uvea_rt_deadline_ns(rt, 20 * UVEA_SECOND));
    assert_true(expected == UVEA_OK ? error == UVEA_OK : error != UVEA_OK);
    uvea_http_response_deinit(&response);
    uvea_posix_close(rt);
    wiretap_close(tap);
}

static void test_a_replayed_handshake(void **state)
{
    (void)state;
    static struct wiretap tap;
    const unsigned asked = web_asked(&web);
    wiretap_open(&tap, web.address, WIRETAP_NO_FLIP);
    call_through(&tap, UVEA_OK);
    assert_true(web_asked(&web) > asked && tap.said_bytes > 500);
    be_raw(tap.said, tap.said_bytes, "");
    // The hello alone would be a handshake of its own that does not end.
    assert_null(strstr(web.lines.text[lines_before - 1], "within"));
}

static void test_bytes_that_are_changed(void **state)
{
    (void)state;
    static struct wiretap tap;
    wiretap_open(&tap, web.address, WIRETAP_NO_FLIP);
    call_through(&tap, UVEA_OK);
    const int all = (int)tap.said_bytes;
    expect_lines(0);
    // In the hello, the certificate and its proof, then in the request, behind which comes the end.
    const int places[] = {all / 9, all / 4, all / 3, all / 2, 2 * all / 3, all - 40};
    for (size_t i = 0; i < UVEA_COUNT_OF(places); i++) {
        wiretap_open(&tap, web.address, places[i]);
        call_through(&tap, UVEA_ERR_RESET);
        expect_line("");
    }
}

// ---- callers that we know, with requests that we do not serve

static void ask_badly(const char *text, size_t filler, unsigned status, const char *says)
{
    static char answer[65536];
    struct attacker attacker;

    attacker_open(&attacker, web.address, &pki, "client");
    attacker_say(&attacker, text, filler);
    attacker_read_all(&attacker, answer, sizeof(answer));
    if (status != 0) {
        assert_int_equal(web_status_of(answer), status);
    }
    attacker_close(&attacker);
    expect_line(says);
}

static void test_bad_requests(void **state)
{
    (void)state;
    ask_badly("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", 0, 405, "405: only GET");
    ask_badly("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 67108865\r\n\r\n", 1000, 413, "413: ");
    ask_badly("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n", 8 << 20, 0,
              "413: ");
    ask_badly("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 10, 411, "411: ");
    ask_badly("GET / HTTP/1.1\r\nHost: x\r\nX: ", 8 << 20, 0, "no whole HTTP request");
    ask_badly("GET /", 8 << 20, 0, "no whole HTTP request");
    ask_badly("\r\n\r\n\r\n\r\n?\r\n\r\n", 0, 0, "no whole HTTP request");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_root),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_no_certificate),
        cmocka_unit_test(test_an_old_version),
        cmocka_unit_test(test_servers_that_are_not_ours),
        cmocka_unit_test(test_a_server_without_tls),
        cmocka_unit_test(test_no_tls),
        cmocka_unit_test(test_a_hello_byte_by_byte),
        cmocka_unit_test(test_silent_ones),
        cmocka_unit_test(test_a_replayed_handshake),
        cmocka_unit_test(test_bytes_that_are_changed),
        cmocka_unit_test(test_bad_requests),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
