// Certificates as OpenSSL itself judges them: chains, names, uses, windows.
#include "core/base/check.h"
#include "sim/live/certs.h"
#include "tests/support/cmocka.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

enum { FROM = 1700000000, TO = 1800000000, DURING = 1750000000 };

static const struct uvea_certs_window window = {FROM, TO};
static struct uvea_error_context context;

static struct uvea_certs_pem make(const struct uvea_certs_plan *plan,
                                  const struct uvea_certs_pem *issuer)
{
    struct uvea_certs_pem pem = {0};
    assert_int_equal(uvea_certs_make(plan, issuer, &pem, &context), UVEA_OK);
    return pem;
}

static struct uvea_certs_pem make_root(const char *name)
{
    const struct uvea_certs_plan plan = {
        .role = UVEA_CERTS_ROOT, .common_name = name, .window = window};
    return make(&plan, NULL);
}

static const char *const names[] = {"localhost", "p0.example.org", "127.0.0.1", "::1"};

static const struct uvea_certs_plan party_plan = {.role = UVEA_CERTS_PARTY,
                                                  .common_name = "party 0",
                                                  .names = names,
                                                  .name_count = UVEA_COUNT_OF(names),
                                                  .window = {FROM, TO}};

static X509 *parse(const struct uvea_certs_pem *pem)
{
    BIO *bio = BIO_new_mem_buf(pem->certificate.data, (int)pem->certificate.len);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    assert_non_null(certificate);
    return certificate;
}

// What OpenSSL says of the leaf below this root, and no other, at a time and for a purpose.
static int verify(const struct uvea_certs_pem *leaf, const struct uvea_certs_pem *root, time_t when,
                  int purpose)
{
    X509 *leaf_certificate = parse(leaf);
    X509 *root_certificate = parse(root);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    assert_int_equal(X509_STORE_add_cert(store, root_certificate), 1);
    assert_int_equal(X509_STORE_CTX_init(ctx, store, leaf_certificate, NULL), 1);
    X509_STORE_CTX_set_time(ctx, 0, when);
    X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(ctx), X509_V_FLAG_X509_STRICT);
    assert_int_equal(X509_STORE_CTX_set_purpose(ctx, purpose), 1);
    (void)X509_verify_cert(ctx);
    const int result = X509_STORE_CTX_get_error(ctx);
    X509_STORE_CTX_free(ctx);
    X509_STORE_free(store);
    X509_free(leaf_certificate);
    X509_free(root_certificate);
    return result;
}

static void a_party_verifies_under_its_own_root_alone(void **state)
{
    (void)state;
    struct uvea_certs_pem root = make_root("root of party 0");
    struct uvea_certs_pem other = make_root("root of party 0"); // the name does not help
    struct uvea_certs_pem leaf = make(&party_plan, &root);
    assert_int_equal(verify(&leaf, &root, DURING, X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(verify(&leaf, &root, DURING, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
    assert_int_not_equal(verify(&leaf, &other, DURING, X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(verify(&root, &root, DURING, X509_PURPOSE_ANY), X509_V_OK);
    uvea_certs_pem_deinit(&root);
    uvea_certs_pem_deinit(&other);
    uvea_certs_pem_deinit(&leaf);
}

static void windows_begin_and_end(void **state)
{
    (void)state;
    struct uvea_certs_pem root = make_root("root");
    struct uvea_certs_plan plan = party_plan;
    plan.window = (struct uvea_certs_window){DURING, DURING + 60};
    struct uvea_certs_pem leaf = make(&plan, &root);
    assert_int_equal(verify(&leaf, &root, DURING - 1, X509_PURPOSE_SSL_SERVER),
                     X509_V_ERR_CERT_NOT_YET_VALID);
    assert_int_equal(verify(&leaf, &root, DURING, X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(verify(&leaf, &root, DURING + 61, X509_PURPOSE_SSL_SERVER),
                     X509_V_ERR_CERT_HAS_EXPIRED);
    uvea_certs_pem_deinit(&root);
    uvea_certs_pem_deinit(&leaf);
}

static void names_are_those_asked_for(void **state)
{
    (void)state;
    struct uvea_certs_pem root = make_root("root");
    struct uvea_certs_pem leaf = make(&party_plan, &root);
    X509 *certificate = parse(&leaf);
    assert_int_equal(X509_check_host(certificate, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(certificate, "p0.example.org", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(certificate, "p1.example.org", 0, 0, NULL), 0);
    assert_int_equal(X509_check_host(certificate, "party 0", 0, 0, NULL), 0);
    assert_int_equal(X509_check_ip_asc(certificate, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(certificate, "::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(certificate, "127.0.0.2", 0), 0);
    X509_free(certificate);
    uvea_certs_pem_deinit(&root);
    uvea_certs_pem_deinit(&leaf);
}

static void a_client_cannot_listen_and_a_leaf_cannot_sign(void **state)
{
    (void)state;
    struct uvea_certs_pem root = make_root("root of clients");
    const struct uvea_certs_plan plan = {
        .role = UVEA_CERTS_CLIENT, .common_name = "replay", .window = window};
    struct uvea_certs_pem leaf = make(&plan, &root);
    struct uvea_certs_pem below = {0};
    assert_int_equal(verify(&leaf, &root, DURING, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
    assert_int_not_equal(verify(&leaf, &root, DURING, X509_PURPOSE_SSL_SERVER), X509_V_OK);
    assert_int_equal(uvea_certs_make(&plan, &leaf, &below, &context), UVEA_ERR_FORMAT);
    assert_string_equal(context.text, "the issuer may not sign certificates");
    assert_int_equal(below.certificate.len + below.key.len, 0);
    uvea_certs_pem_deinit(&root);
    uvea_certs_pem_deinit(&leaf);
}

static void a_seed_decides_every_byte(void **state)
{
    (void)state;
    static const uint8_t seeds[2][UVEA_CERTS_SEED_BYTES] = {{1}, {2}};
    const struct uvea_certs_plan root_plan = {
        .role = UVEA_CERTS_ROOT, .common_name = "root", .window = window, .key_seed = seeds[0]};
    struct uvea_certs_plan plan = party_plan;
    plan.key_seed = seeds[1];
    struct uvea_certs_pem roots[2] = {make(&root_plan, NULL), make(&root_plan, NULL)};
    struct uvea_certs_pem leaves[2] = {make(&plan, &roots[0]), make(&plan, &roots[1])};
    assert_int_equal(leaves[0].certificate.len, leaves[1].certificate.len);
    assert_memory_equal(leaves[0].certificate.data, leaves[1].certificate.data,
                        leaves[0].certificate.len);
    struct uvea_certs_pem fresh = make(&party_plan, &roots[0]);
    assert_true(fresh.key.len != leaves[0].key.len ||
                memcmp(fresh.key.data, leaves[0].key.data, fresh.key.len) != 0);
    uvea_certs_pem_deinit(&fresh);
    for (unsigned i = 0; i < 2; i++) {
        uvea_certs_pem_deinit(&roots[i]);
        uvea_certs_pem_deinit(&leaves[i]);
    }
}

static void refuse_name(const char *name)
{
    struct uvea_certs_pem root = make_root("root");
    struct uvea_certs_pem out = {0};
    struct uvea_certs_plan plan = party_plan;
    plan.names = &name;
    plan.name_count = 1;
    if (uvea_certs_make(&plan, &root, &out, &context) != UVEA_ERR_USAGE) {
        fail_msg("'%s' was taken as a name", name);
    }
    assert_int_equal(out.certificate.len + out.key.len, 0);
    uvea_certs_pem_deinit(&root);
}

static void what_is_no_name_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",      "a..b",      ".a",    "a.",        "-a",      "a-",   "a b",       "127.0.0.1:80",
        "[::1]", "1.2.3.256", "1.2.3", "*.example", "a,DNS:b", "a\nb", "h\xc3\xa4",
    };
    for (size_t i = 0; i < UVEA_COUNT_OF(bad); i++) {
        refuse_name(bad[i]);
    }
    char label[65];
    memset(label, 'a', sizeof(label) - 1);
    label[sizeof(label) - 1] = '\0';
    refuse_name(label);
    struct uvea_certs_pem root = make_root("root");
    struct uvea_certs_pem out = {0};
    struct uvea_certs_plan plan = party_plan;
    plan.window = (struct uvea_certs_window){TO, FROM};
    assert_int_equal(uvea_certs_make(&plan, &root, &out, &context), UVEA_ERR_USAGE);
    plan = party_plan;
    plan.name_count = 0;
    assert_int_equal(uvea_certs_make(&plan, &root, &out, &context), UVEA_ERR_USAGE);
    plan = party_plan;
    plan.common_name = "";
    assert_int_equal(uvea_certs_make(&plan, &root, &out, &context), UVEA_ERR_USAGE);
    uvea_certs_pem_deinit(&root);
}

static void a_foreign_key_does_not_sign(void **state)
{
    (void)state;
    struct uvea_certs_pem root = make_root("root");
    struct uvea_certs_pem other = make_root("other");
    struct uvea_certs_pem out = {0};
    const struct uvea_certs_pem mixed = {.certificate = root.certificate, .key = other.key};
    assert_int_equal(uvea_certs_make(&party_plan, &mixed, &out, &context), UVEA_ERR_FORMAT);
    assert_string_equal(context.text, "the issuer's key is not that of its certificate");
    const struct uvea_certs_pem swapped = {.certificate = root.key, .key = root.certificate};
    assert_int_equal(uvea_certs_make(&party_plan, &swapped, &out, &context), UVEA_ERR_FORMAT);
    assert_string_equal(context.text, "the issuer's certificate cannot be read");
    uvea_certs_pem_deinit(&root);
    uvea_certs_pem_deinit(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_party_verifies_under_its_own_root_alone),
        cmocka_unit_test(windows_begin_and_end),
        cmocka_unit_test(names_are_those_asked_for),
        cmocka_unit_test(a_client_cannot_listen_and_a_leaf_cannot_sign),
        cmocka_unit_test(a_seed_decides_every_byte),
        cmocka_unit_test(what_is_no_name_is_refused),
        cmocka_unit_test(a_foreign_key_does_not_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
