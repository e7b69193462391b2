// HTTP connections are kept, and certificates are read anew meanwhile: nobody is served for long by
// what was believed before.
#include "tests/posix/web.h"
#include "tests/tls/pki.h"

static struct pki pki;
static struct web web;
static struct uvea_tls *server_tls;
static struct uvea_tls *client_tls;

static const struct pki_leaf party_leaf = {PKI_PARTY_0, "127.0.0.1", -1, 36500};
static const struct pki_leaf client_leaf = {PKI_CLIENTS, NULL, -1, 36500};

static int set_up(void **state)
{
    (void)state;
    static struct uvea_posix_config config;
    static struct uvea_posix_config client_config;
    pki_open(&pki);
    web = (struct web){0};
    server_tls = pki_tls(&pki, "party", &party_leaf, NULL);
    client_tls = pki_tls(&pki, "client", &client_leaf, NULL);
    config = web_config(&web);
    config.tls = server_tls;
    client_config = uvea_posix_config_default();
    client_config.tls = client_tls;
    web_open(&web, &config, &client_config);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    web_close(&web);
    uvea_tls_close(client_tls);
    uvea_tls_close(server_tls);
    pki_close(&pki);
    return 0;
}

static void expect_call(enum uvea_error expected)
{
    struct uvea_http_response response = {0};
    assert_int_equal(web_call(&web, web.address, "GET", "/", NULL, &response), expected);
    uvea_http_response_deinit(&response);
}

static void reload(struct uvea_tls *tls)
{
    struct uvea_error_context context = {{0}};
    if (uvea_tls_reload(tls, &context) != UVEA_OK) {
        fail_msg("%s", context.text);
    }
}

// A stranger's certificate is refused by the server; on the connection that is kept it would not
// be noticed.
static void test_calls_show_the_new_certificate(void **state)
{
    (void)state;
    struct pki_leaf leaf = client_leaf;
    expect_call(UVEA_OK);
    leaf.root = PKI_STRANGER;
    pki_write_leaf(&pki, "client", &leaf);
    reload(client_tls);
    expect_call(UVEA_ERR_PEER);
    web_lines_wait(&web.lines, 1);
    pki_write_leaf(&pki, "client", &client_leaf);
    reload(client_tls);
    expect_call(UVEA_OK);
    expect_call(UVEA_OK);
    assert_int_equal(web_asked(&web), 3);
}

// The root of the clients is another one from now on: one more request, then the door is shut.
static void test_a_root_that_is_gone(void **state)
{
    (void)state;
    expect_call(UVEA_OK);
    assert_int_equal(rename(pki_path(&pki, "stranger.pem"), pki_path(&pki, "clients.pem")), 0);
    reload(server_tls);
    expect_call(UVEA_OK);
    expect_call(UVEA_ERR_PEER);
    web_lines_wait(&web.lines, 1);
    assert_int_equal(web_asked(&web), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_calls_show_the_new_certificate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_root_that_is_gone, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
