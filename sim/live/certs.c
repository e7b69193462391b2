#include "sim/live/certs.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <string.h>

void uvea_certs_pem_deinit(struct uvea_certs_pem *pem)
{
    if (pem->key.data != NULL) {
        uvea_mem_wipe(pem->key.data, pem->key.capacity);
    }
    uvea_buf_deinit(&pem->key);
    uvea_buf_deinit(&pem->certificate);
}

// ---- names

static bool is_address(const char *name)
{
    ASN1_OCTET_STRING *octets = a2i_IPADDRESS(name);
    ASN1_OCTET_STRING_free(octets);
    return octets != NULL;
}

// One label of a DNS name: letters, digits and inner hyphens.
static bool good_label(const char *label, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool edge = i == 0 || i + 1 == len;
        if (isalnum((unsigned char)label[i]) == 0 && (label[i] != '-' || edge)) {
            return false;
        }
    }
    return len >= 1 && len <= 63;
}

// A last label of digits alone would be half an address.
static bool is_dns_name(const char *name)
{
    const char *label = name;
    for (;;) {
        size_t len = strcspn(label, ".");
        if (!good_label(label, len)) {
            return false;
        }
        if (label[len] == '\0') {
            return strspn(label, "0123456789") < len;
        }
        label += len + 1;
    }
}

static enum uvea_error check_name(const char *name, struct uvea_error_context *context)
{
    if (strlen(name) <= UVEA_CERTS_NAME_CHARS_MAX && (is_address(name) || is_dns_name(name))) {
        return UVEA_OK;
    }
    return uvea_error_set(context, UVEA_ERR_USAGE,
                          "'%.80s' is no DNS name and no IP address (no port, no brackets)", name);
}

static enum uvea_error check_common_name(const char *name, struct uvea_error_context *context)
{
    size_t len = strlen(name);
    bool good = len >= 1 && len <= UVEA_CERTS_COMMON_NAME_CHARS_MAX;
    for (size_t i = 0; i < len; i++) {
        good = good && name[i] >= ' ' && name[i] <= '~';
    }
    return good ? UVEA_OK
                : uvea_error_set(context, UVEA_ERR_USAGE,
                                 "a subject has 1 to %d printable characters",
                                 UVEA_CERTS_COMMON_NAME_CHARS_MAX);
}

static enum uvea_error check_plan(const struct uvea_certs_plan *plan,
                                  struct uvea_error_context *context)
{
    UVEA_TRY(check_common_name(plan->common_name, context));
    UVEA_CHECK(plan->role == UVEA_CERTS_PARTY || plan->name_count == 0);
    if (plan->role == UVEA_CERTS_PARTY &&
        (plan->name_count < 1 || plan->name_count > UVEA_CERTS_NAMES_MAX)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "a party's certificate has 1 to %d names",
                              UVEA_CERTS_NAMES_MAX);
    }
    for (size_t i = 0; i < plan->name_count; i++) {
        UVEA_TRY(check_name(plan->names[i], context));
    }
    if (plan->window.from_s > plan->window.to_s) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "the validity ends before it begins");
    }
    return UVEA_OK;
}

// ---- the certificate

// Functions of OpenSSL that succeed with 1.
#define TRY_CRYPTO(expr)                                                                           \
    do {                                                                                           \
        if ((expr) != 1) {                                                                         \
            return UVEA_ERR_CRYPTO;                                                                \
        }                                                                                          \
    } while (0)

static enum uvea_error make_key(const uint8_t *seed, EVP_PKEY **key)
{
    *key = seed != NULL
               ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, UVEA_CERTS_SEED_BYTES)
               : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    return *key != NULL ? UVEA_OK : UVEA_ERR_CRYPTO;
}

// Twenty bytes that follow from everything else, so that a seed decides the whole certificate and
// two different certificates never share a number.
static enum uvea_error set_serial(X509 *certificate, const struct uvea_certs_plan *plan,
                                  EVP_PKEY *key)
{
    enum { SERIAL_BYTES = 20, KEY_BYTES = 32 };
    struct {
        uint8_t public_key[KEY_BYTES];
        int64_t window[2];
    } input;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    size_t bytes = sizeof(input.public_key);
    input.window[0] = plan->window.from_s;
    input.window[1] = plan->window.to_s;
    TRY_CRYPTO(EVP_PKEY_get_raw_public_key(key, input.public_key, &bytes));
    TRY_CRYPTO(EVP_Q_digest(NULL, "SHA256", NULL, &input, sizeof(input), digest, NULL));
    digest[0] = (digest[0] & 0x3f) | 0x40; // positive, and always as long
    BIGNUM *number = BN_bin2bn(digest, SERIAL_BYTES, NULL);
    bool good =
        number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return good ? UVEA_OK : UVEA_ERR_CRYPTO;
}

static enum uvea_error set_window(X509 *certificate, const struct uvea_certs_window *window)
{
    bool good = ASN1_TIME_set(X509_getm_notBefore(certificate), window->from_s) != NULL &&
                ASN1_TIME_set(X509_getm_notAfter(certificate), window->to_s) != NULL;
    return good ? UVEA_OK : UVEA_ERR_CRYPTO;
}

static enum uvea_error set_subject(X509 *certificate, const char *common_name)
{
    X509_NAME *name = X509_get_subject_name(certificate);
    TRY_CRYPTO(X509_NAME_add_entry_by_txt(name, "O", MBSTRING_ASC,
                                          (const unsigned char *)"uvea development", -1, -1, 0));
    TRY_CRYPTO(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                          (const unsigned char *)common_name, -1, -1, 0));
    return UVEA_OK;
}

static enum uvea_error add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool good = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return good ? UVEA_OK : UVEA_ERR_CRYPTO;
}

static enum uvea_error add_usage(X509 *certificate, X509 *issuer, enum uvea_certs_role role)
{
    static const char *const constraints[] = {
        [UVEA_CERTS_ROOT] = "critical,CA:TRUE,pathlen:0",
        [UVEA_CERTS_PARTY] = "critical,CA:FALSE",
        [UVEA_CERTS_CLIENT] = "critical,CA:FALSE",
    };
    static const char *const uses[] = {
        [UVEA_CERTS_ROOT] = NULL,
        [UVEA_CERTS_PARTY] = "serverAuth,clientAuth",
        [UVEA_CERTS_CLIENT] = "clientAuth",
    };
    const char *key_use =
        role == UVEA_CERTS_ROOT ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature";
    UVEA_TRY(add_extension(certificate, issuer, NID_basic_constraints, constraints[role]));
    UVEA_TRY(add_extension(certificate, issuer, NID_key_usage, key_use));
    if (uses[role] != NULL) {
        UVEA_TRY(add_extension(certificate, issuer, NID_ext_key_usage, uses[role]));
    }
    UVEA_TRY(add_extension(certificate, issuer, NID_subject_key_identifier, "hash"));
    return add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
}

static enum uvea_error add_name(GENERAL_NAMES *names, const char *text)
{
    GENERAL_NAME *name =
        a2i_GENERAL_NAME(NULL, NULL, NULL, is_address(text) ? GEN_IPADD : GEN_DNS, text, 0);
    if (name != NULL && sk_GENERAL_NAME_push(names, name) > 0) {
        return UVEA_OK;
    }
    GENERAL_NAME_free(name);
    return UVEA_ERR_CRYPTO;
}

static enum uvea_error add_names(X509 *certificate, const char *const *texts, size_t count)
{
    enum uvea_error error = UVEA_OK;
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    if (names == NULL) {
        return UVEA_ERR_CRYPTO;
    }
    for (size_t i = 0; i < count && error == UVEA_OK; i++) {
        error = add_name(names, texts[i]);
    }
    if (error == UVEA_OK && count > 0 &&
        X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) != 1) {
        error = UVEA_ERR_CRYPTO;
    }
    GENERAL_NAMES_free(names);
    return error;
}

// issuer may be the certificate itself.
static enum uvea_error fill(X509 *certificate, const struct uvea_certs_plan *plan, EVP_PKEY *key,
                            X509 *issuer, EVP_PKEY *issuer_key)
{
    TRY_CRYPTO(X509_set_version(certificate, X509_VERSION_3));
    TRY_CRYPTO(X509_set_pubkey(certificate, key));
    UVEA_TRY(set_serial(certificate, plan, key));
    UVEA_TRY(set_window(certificate, &plan->window));
    UVEA_TRY(set_subject(certificate, plan->common_name));
    TRY_CRYPTO(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)));
    UVEA_TRY(add_usage(certificate, issuer, plan->role));
    UVEA_TRY(add_names(certificate, plan->names, plan->name_count));
    return X509_sign(certificate, issuer_key, NULL) > 0 ? UVEA_OK : UVEA_ERR_CRYPTO;
}

// ---- PEM

static enum uvea_error take_bio(BIO *bio, struct uvea_buf *out)
{
    char *bytes;
    long len = BIO_get_mem_data(bio, &bytes);
    return len > 0 ? uvea_buf_append(out, bytes, (size_t)len) : UVEA_ERR_CRYPTO;
}

// The BIO's own memory is wiped when it is freed: it is made to hold secrets.
static enum uvea_error write_pem(X509 *certificate, EVP_PKEY *key, struct uvea_certs_pem *out)
{
    enum uvea_error error = UVEA_ERR_CRYPTO;
    BIO *certificate_bio = BIO_new(BIO_s_mem());
    BIO *key_bio = BIO_new(BIO_s_secmem());
    if (certificate_bio == NULL || key_bio == NULL ||
        PEM_write_bio_X509(certificate_bio, certificate) != 1 ||
        PEM_write_bio_PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL) != 1) {
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(take_bio(certificate_bio, &out->certificate));
    UVEA_TRY_CLEANUP(take_bio(key_bio, &out->key));
cleanup:
    BIO_free(certificate_bio);
    BIO_free(key_bio);
    return error;
}

static enum uvea_error read_pem(const struct uvea_certs_pem *pem, X509 **certificate,
                                EVP_PKEY **key, struct uvea_error_context *context)
{
    BIO *bio = BIO_new_mem_buf(pem->certificate.data, (int)pem->certificate.len);
    *certificate = bio != NULL ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    bio = BIO_new_mem_buf(pem->key.data, (int)pem->key.len);
    // The empty pass phrase keeps OpenSSL from asking for one.
    *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"") : NULL;
    BIO_free(bio);
    if (*certificate == NULL) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "the issuer's certificate cannot be read");
    }
    if (*key == NULL) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "the issuer's key cannot be read");
    }
    if (X509_check_private_key(*certificate, *key) != 1) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "the issuer's key is not that of its certificate");
    }
    if (X509_check_ca(*certificate) != 1) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "the issuer may not sign certificates");
    }
    return UVEA_OK;
}

enum uvea_error uvea_certs_make(const struct uvea_certs_plan *plan,
                                const struct uvea_certs_pem *issuer, struct uvea_certs_pem *out,
                                struct uvea_error_context *context)
{
    UVEA_CHECK((issuer == NULL) == (plan->role == UVEA_CERTS_ROOT));
    UVEA_CHECK(out->certificate.len == 0 && out->key.len == 0);
    UVEA_TRY(check_plan(plan, context));
    enum uvea_error error;
    X509 *signer = NULL;
    EVP_PKEY *signer_key = NULL;
    EVP_PKEY *key = NULL;
    X509 *certificate = X509_new();
    if (certificate == NULL) {
        error = UVEA_ERR_CRYPTO;
        goto cleanup;
    }
    if (issuer != NULL) {
        UVEA_TRY_CLEANUP(read_pem(issuer, &signer, &signer_key, context));
    }
    UVEA_TRY_CLEANUP(make_key(plan->key_seed, &key));
    UVEA_TRY_CLEANUP(fill(certificate, plan, key, signer != NULL ? signer : certificate,
                          signer != NULL ? signer_key : key));
    UVEA_TRY_CLEANUP(write_pem(certificate, key, out));
cleanup:
    X509_free(certificate);
    X509_free(signer);
    EVP_PKEY_free(key);
    EVP_PKEY_free(signer_key);
    if (error == UVEA_ERR_CRYPTO) {
        error = uvea_error_set(context, error, "the certificate of %s could not be made",
                               plan->common_name);
    }
    if (error != UVEA_OK) {
        uvea_certs_pem_deinit(out);
    }
    return error;
}
