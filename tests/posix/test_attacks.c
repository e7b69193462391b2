// Attacks on the HTTP interface of a live runtime under TLS: each is refused in bounded time and
// memory, with one line, while a real peer calls all the time.
#include "core/base/check.h"
#include "tests/posix/target.h"

#include <stdatomic.h>
#include <time.h>

enum { HANDSHAKE_MS_MAX = 2000 };

static struct pki pki;
static struct web web;
static struct uvea_tls *server_tls;
static struct uvea_tls *client_tls;
static struct target target;

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

// ---- around all of them

static void check(void)
{
    call_anew();
    assert_int_equal(atomic_load(&peer_failures), 0);
}

static struct uvea_tls *tls_of(const char *stem, enum pki_root root, const char *name)
{
    const struct pki_leaf leaf = {root, name, target.today - 1, target.today + 10};

    return pki_tls(&pki, stem, &leaf, NULL);
}

static int set_up(void **state)
{
    (void)state;
    target = (struct target){
        .address = web.address,
        .pki = &pki,
        .lines = &web.lines,
        .check = check,
        .tells_timeout = "no TLS handshake within 2000 ms",
        .today = (int)((time(NULL) - PKI_START) / PKI_DAY),
    };
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
    target_init(&target);
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
    return web.lines.count == target.seen && atomic_load(&peer_failures) == 0 ? 0 : -1;
}

// ---- callers with the wrong certificate, or none

static void test_wrong_certificates(void **state)
{
    (void)state;
    target_meets_wrong_certificates(&target);
}

// Our own client has to learn of it: in TLS 1.3 its handshake is over before it is judged.
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
    target_expect_line(&target, says);
}

static void test_our_client_with_a_wrong_certificate(void **state)
{
    (void)state;
    call_and_be_refused(PKI_STRANGER, "certificate from another root");
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
    web_lines_wait(&other.lines, 1);
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
    target_expect_lines(&target, 0);
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
    target_expect_lines(&target, 0);
}

// ---- bytes that are no handshake

static void test_no_tls(void **state)
{
    (void)state;
    target_meets_what_is_not_tls(&target);
}

static void test_a_hello_byte_by_byte(void **state)
{
    (void)state;
    target_meets_slow_hello(&target);
}

static void test_silent_ones(void **state)
{
    (void)state;
    target_meets_silent_ones(&target, 500, call_anew);
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
    target_meets_bytes(&target, tap.said, tap.said_bytes, "");
    // The hello alone would be a handshake of its own that does not end.
    assert_null(strstr(web.lines.text[target.seen - 1], "within"));
}

static void test_bytes_that_are_changed(void **state)
{
    (void)state;
    static struct wiretap tap;
    wiretap_open(&tap, web.address, WIRETAP_NO_FLIP);
    call_through(&tap, UVEA_OK);
    const int all = (int)tap.said_bytes;
    target_expect_lines(&target, 0);
    // In the hello, the certificate and its proof, then in the request, behind which comes the end.
    const int places[] = {all / 9, all / 4, all / 3, all / 2, 2 * all / 3, all - 40};
    for (size_t i = 0; i < UVEA_COUNT_OF(places); i++) {
        wiretap_open(&tap, web.address, places[i]);
        call_through(&tap, UVEA_ERR_RESET);
        target_expect_line(&target, "");
    }
}

// ---- callers that we know, with requests that we do not serve

static void test_bad_requests(void **state)
{
    (void)state;
    target_meets_bad_requests(&target, "client");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_certificates),
        cmocka_unit_test(test_our_client_with_a_wrong_certificate),
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
