// The HTTP server is full: who holds a client's certificate cannot keep a party out, nor take the
// place of one.
#include "core/base/check.h"
#include "tests/posix/web.h"
#include "tests/tls/pki.h"

enum { ROOM = 3, CLIENTS = 6 };

static const struct pki_leaf server_leaf = {PKI_PARTY_0, "127.0.0.1", -1, 36500};
static const struct pki_leaf peer_leaf = {PKI_PARTY_1, "127.0.0.1", -1, 36500};
static const struct pki_leaf client_leaf = {PKI_CLIENTS, NULL, -1, 36500};

// One that has called once and keeps its connection.
struct caller {
    struct uvea_tls *tls;
    struct uvea_rt *rt;
};

static void call(const struct web *web, const struct caller *caller)
{
    const struct uvea_http_request request = {.method = "GET", .target = "/"};
    struct uvea_http_response response = {0};
    assert_int_equal(uvea_rt_http_call(caller->rt, web->address, &request, &response,
                                       uvea_rt_deadline_ns(caller->rt, 60 * UVEA_SECOND)),
                     UVEA_OK);
    assert_int_equal(response.status, 200);
    uvea_http_response_deinit(&response);
}

static void caller_open(struct caller *caller, const struct web *web, struct uvea_tls *tls)
{
    struct uvea_posix_config config = uvea_posix_config_default();
    struct uvea_error_context context = {{0}};
    config.tls = tls;
    caller->tls = tls;
    assert_int_equal(uvea_posix_open(&config, &caller->rt, &context), UVEA_OK);
    call(web, caller);
}

static void caller_close(struct caller *caller)
{
    uvea_posix_close(caller->rt);
    uvea_tls_close(caller->tls);
}

static void test_clients_do_not_take_a_partys_place(void **state)
{
    (void)state;
    static struct pki pki;
    static struct web web;
    struct caller peer;
    struct caller clients[CLIENTS];
    pki_open(&pki);
    web = (struct web){0};
    struct uvea_posix_config config = web_config(&web);
    config.http_connections_max = ROOM;
    config.tls = pki_tls(&pki, "server", &server_leaf, NULL);
    web_open(&web, &config, &config);
    caller_open(&peer, &web, pki_tls(&pki, "peer", &peer_leaf, NULL));
    for (unsigned i = 0; i < CLIENTS; i++) {
        caller_open(&clients[i], &web, pki_tls(&pki, "client", &client_leaf, NULL));
        call(&web, &peer); // on the connection it has had from the start
    }
    web_lines_wait(&web.lines, CLIENTS + 1 - ROOM);
    caller_close(&peer);
    for (unsigned i = 0; i < CLIENTS; i++) {
        caller_close(&clients[i]);
    }
    web_close(&web);
    uvea_tls_close(config.tls);
    pki_close(&pki);
    assert_int_equal(web.lines.count, CLIENTS + 1 - ROOM);
    for (unsigned i = 0; i < web.lines.count; i++) {
        assert_non_null(strstr(web.lines.text[i], "idle or slow"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clients_do_not_take_a_partys_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
