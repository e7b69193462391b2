// What uvea_tls_open and uvea_tls_reload accept, and what they say when they do not.
#include "core/tls/material.h"
#include "tests/support/cmocka.h"
#include "tests/tls/pki.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pki pki;
// Judged by the system's clock: from 2025 on, for fifty years.
static const struct pki_leaf leaf = {PKI_PARTY_1, "p1", -10, 18000};

static int set_up(void **state)
{
    (void)state;
    pki_open(&pki);
    pki_write_leaf(&pki, "own", &leaf);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pki_close(&pki);
    return 0;
}

static void expect_open(const struct uvea_tls_config *config, enum uvea_error expected,
                        const char *part)
{
    struct uvea_tls *tls = NULL;
    struct uvea_error_context context = {{0}};
    assert_int_equal(uvea_tls_open(config, &tls, &context), expected);
    if (expected != UVEA_OK && strstr(context.text, part) == NULL) {
        fail_msg("it says: %s", context.text);
    }
    assert_true((tls != NULL) == (expected == UVEA_OK));
    uvea_tls_close(tls);
}

static void put(const char *file, const char *text)
{
    FILE *stream = fopen(pki_path(&pki, file), "w");
    assert_non_null(stream);
    (void)fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static void test_good_files(void **state)
{
    (void)state;
    struct uvea_tls_config config = pki_config(&pki, "own", 1, NULL);
    expect_open(&config, UVEA_OK, "");
    config.client_root_file = NULL;
    config.allow_tls_1_2 = true;
    expect_open(&config, UVEA_OK, "");
    static const struct pki_leaf client = {PKI_CLIENTS, NULL, -10, 18000};
    pki_write_leaf(&pki, "client", &client);
    config = pki_config(&pki, "client", -1, NULL);
    expect_open(&config, UVEA_OK, "");
}

static void test_roots_in_another_order(void **state)
{
    (void)state;
    struct uvea_tls_config config = pki_config(&pki, "own", 1, NULL);
    const char *first = config.party_root_files[1];
    config.party_root_files[1] = config.party_root_files[2];
    config.party_root_files[2] = first;
    expect_open(&config, UVEA_ERR_USAGE,
                "root2.pem as the root of party 1: certificate from another root");
    config = pki_config(&pki, "own", 0, NULL);
    expect_open(&config, UVEA_ERR_USAGE, "root of party 0: certificate from another root");
}

static void test_one_root_for_two(void **state)
{
    (void)state;
    struct uvea_tls_config config = pki_config(&pki, "own", 1, NULL);
    config.party_root_files[2] = config.party_root_files[0];
    expect_open(&config, UVEA_ERR_USAGE, "root0.pem have one key");
    config = pki_config(&pki, "own", 1, NULL);
    config.client_root_file = config.party_root_files[2];
    expect_open(&config, UVEA_ERR_USAGE, "root2.pem have one key");
}

static void test_dates(void **state)
{
    (void)state;
    static const struct pki_leaf expired = {PKI_PARTY_1, "p1", -10, -1};
    static const struct pki_leaf early = {PKI_PARTY_1, "p1", 15000, 18000};
    static const struct pki_leaf client = {PKI_CLIENTS, NULL, -10, -1};
    pki_write_leaf(&pki, "expired", &expired);
    pki_write_leaf(&pki, "early", &early);
    pki_write_leaf(&pki, "old", &client);
    struct uvea_tls_config config = pki_config(&pki, "expired", 1, NULL);
    expect_open(&config, UVEA_ERR_USAGE, "expired.pem, by ");
    expect_open(&config, UVEA_ERR_USAGE, "certificate has expired");
    config = pki_config(&pki, "early", 1, NULL);
    expect_open(&config, UVEA_ERR_USAGE, "certificate is not yet valid");
    config = pki_config(&pki, "old", -1, NULL);
    expect_open(&config, UVEA_ERR_USAGE, "old.pem: certificate has expired");
}

static void set_name(X509_NAME *name, const char *text)
{
    assert_int_equal(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                                (const unsigned char *)text, -1, -1, 0),
                     1);
}

// May sign others, and is signed by one that is not in the file.
static void write_intermediate(const char *file)
{
    EVP_PKEY *own = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    EVP_PKEY *issuer = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    X509 *made = X509_new();
    X509_EXTENSION *may_sign =
        X509V3_EXT_conf_nid(NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
    FILE *stream = fopen(pki_path(&pki, file), "w");
    assert_true(stream != NULL && made != NULL && X509_set_version(made, X509_VERSION_3) == 1);
    set_name(X509_get_subject_name(made), "intermediate");
    set_name(X509_get_issuer_name(made), "issuer");
    assert_non_null(ASN1_TIME_set(X509_getm_notBefore(made), PKI_START));
    assert_non_null(ASN1_TIME_set(X509_getm_notAfter(made), PKI_START + 18000 * PKI_DAY));
    assert_int_equal(X509_set_pubkey(made, own), 1);
    assert_int_equal(X509_add_ext(made, may_sign, -1), 1);
    assert_true(X509_sign(made, issuer, NULL) > 0);
    assert_int_equal(PEM_write_X509(stream, made), 1);
    assert_int_equal(fclose(stream), 0);
    X509_EXTENSION_free(may_sign);
    X509_free(made);
    EVP_PKEY_free(issuer);
    EVP_PKEY_free(own);
}

// As a root, of a party or of the clients.
static void expect_root(const char *file, const char *sentence)
{
    struct uvea_tls_config config = pki_config(&pki, "own", 1, NULL);
    config.party_root_files[2] = pki_path(&pki, file);
    expect_open(&config, UVEA_ERR_USAGE, sentence);
    config = pki_config(&pki, "own", 1, NULL);
    config.client_root_file = pki_path(&pki, file);
    expect_open(&config, UVEA_ERR_USAGE, sentence);
    config = pki_config(&pki, "own", 1, NULL);
    config.party_root_files[1] = pki_path(&pki, file);
    expect_open(&config, UVEA_ERR_USAGE, sentence);
}

static void test_roots_that_are_none(void **state)
{
    (void)state;
    pki_write_root(&pki, "over.pem", -10, -1);
    pki_write_root(&pki, "early.pem", 15000, 18000);
    expect_root("over.pem", "over.pem: certificate has expired");
    expect_root("early.pem", "early.pem: certificate is not yet valid");
    write_intermediate("between.pem");
    expect_root("between.pem", "between.pem: no root: a certificate that another one signed");
    expect_root("own.pem", "own.pem: no root: a certificate that may not sign others");
}

struct told {
    unsigned count[UVEA_TLS_CLIENT_ROOT + 1];
    char text[2048];
};

static void tell(void *arg, enum uvea_tls_part part, enum uvea_error error,
                 const struct uvea_error_context *context)
{
    struct told *told = arg;
    size_t at = strlen(told->text);
    assert_int_not_equal(error, UVEA_OK);
    told->count[part]++;
    (void)snprintf(told->text + at, sizeof(told->text) - at, "%s\n", context->text);
}

static void expect_told(const struct uvea_tls_config *config, const unsigned counts[4],
                        const char *part)
{
    struct told told = {.text = ""};
    uvea_tls_check(config, tell, &told);
    for (unsigned i = 0; i < 4; i++) {
        if (told.count[i] != counts[i] || strstr(told.text, part) == NULL) {
            fail_msg("of part %u: %u, wanted %u and %s: %s", i, told.count[i], counts[i], part,
                     told.text);
        }
    }
}

// What depends on something that is wrong is not told as well.
static void test_all_is_told(void **state)
{
    (void)state;
    struct uvea_tls_config config = pki_config(&pki, "own", 1, NULL);
    expect_told(&config, (const unsigned[4]){0, 0, 0, 0}, "");
    config.key_file = "none";
    config.certificate_file = "no";
    config.party_root_files[0] = "nil";
    config.party_root_files[1] = "null";
    config.client_root_file = "nothing";
    expect_told(&config, (const unsigned[4]){1, 1, 2, 1}, "null: No such file or directory\n");
    config = pki_config(&pki, "own", 1, NULL);
    config.party_root_files[0] = pki_path(&pki, "own.pem");
    config.party_root_files[1] = "null";
    expect_told(&config, (const unsigned[4]){0, 0, 2, 0}, "may not sign others\n");
    config = pki_config(&pki, "own", 0, NULL);
    config.party_root_files[2] = "null";
    expect_told(&config, (const unsigned[4]){0, 1, 1, 0}, "root of party 0: ");
}

static void test_keys(void **state)
{
    (void)state;
    pki_write_leaf(&pki, "other", &leaf);
    struct uvea_tls_config config = pki_config(&pki, "own", 1, NULL);
    config.key_file = pki_path(&pki, "other.key.pem");
    expect_open(&config, UVEA_ERR_USAGE, "other.key.pem: not the key of ");
    assert_int_equal(chmod(config.key_file, 0640), 0);
    expect_open(&config, UVEA_ERR_USAGE, "other.key.pem: mode 0640 lets others");
    config.key_file = pki_path(&pki, "nowhere.pem");
    expect_open(&config, UVEA_ERR_IO, "nowhere.pem: No such file or directory");
    config.key_file = pki.directory;
    expect_open(&config, UVEA_ERR_IO, "not a file");
    put("empty.pem", "");
    config.key_file = pki_path(&pki, "empty.pem");
    expect_open(&config, UVEA_ERR_FORMAT, "empty.pem: empty");
    config.key_file = pki_path(&pki, "own.pem");
    assert_int_equal(chmod(config.key_file, 0600), 0);
    expect_open(&config, UVEA_ERR_FORMAT, "own.pem: no private key in PEM form");
}

static void test_a_locked_key(void **state)
{
    (void)state;
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    FILE *stream = fopen(pki_path(&pki, "locked.pem"), "w");
    assert_non_null(stream);
    assert_int_equal(fchmod(fileno(stream), 0600), 0);
    assert_int_equal(PEM_write_PrivateKey(stream, key, EVP_aes_128_cbc(),
                                          (const unsigned char *)"secret", 6, NULL, NULL),
                     1);
    assert_int_equal(fclose(stream), 0);
    EVP_PKEY_free(key);
    struct uvea_tls_config config = pki_config(&pki, "own", 1, NULL);
    config.key_file = pki_path(&pki, "locked.pem");
    expect_open(&config, UVEA_ERR_USAGE, "locked.pem: the key is locked with a pass phrase");
}

static void test_certificates(void **state)
{
    (void)state;
    struct uvea_tls_config config = pki_config(&pki, "own", 1, NULL);
    put("text.pem", "no certificate at all\n");
    config.party_root_files[2] = pki_path(&pki, "text.pem");
    expect_open(&config, UVEA_ERR_FORMAT, "text.pem: no certificate in PEM form");
    put("damaged.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    config.party_root_files[2] = pki_path(&pki, "damaged.pem");
    expect_open(&config, UVEA_ERR_FORMAT, "damaged.pem: certificate 1 is damaged");
    config = pki_config(&pki, "own", 1, NULL);
    config.client_root_file = pki_path(&pki, "missing.pem");
    expect_open(&config, UVEA_ERR_IO, "missing.pem: No such file");
}

static void test_reload_keeps_what_works(void **state)
{
    (void)state;
    pki_write_leaf(&pki, "renewed", &leaf);
    struct uvea_tls_config config = pki_config(&pki, "renewed", 1, NULL);
    struct uvea_error_context context = {{0}};
    struct uvea_tls *tls;
    assert_int_equal(uvea_tls_open(&config, &tls, &context), UVEA_OK);
    struct uvea_tls_material *before = uvea_tls_material_take(tls);
    put("renewed.pem", "gone\n");
    assert_int_equal(uvea_tls_reload(tls, &context), UVEA_ERR_FORMAT);
    struct uvea_tls_material *now = uvea_tls_material_take(tls);
    assert_ptr_equal(now, before);
    uvea_tls_material_release(now);
    pki_write_leaf(&pki, "renewed", &leaf);
    assert_int_equal(uvea_tls_reload(tls, &context), UVEA_OK);
    now = uvea_tls_material_take(tls);
    assert_ptr_not_equal(now, before);
    assert_int_equal(atomic_load(&before->references), 1);
    uvea_tls_material_release(now);
    uvea_tls_material_release(before);
    uvea_tls_close(tls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_roots_in_another_order),
        cmocka_unit_test(test_one_root_for_two),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_roots_that_are_none),
        cmocka_unit_test(test_all_is_told),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_a_locked_key),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_reload_keeps_what_works),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
