// What a person wants to know of a certificate.
#include "core/base/mem.h"
#include "core/posix/file.h"
#include "sim/live/certs.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

enum { PEM_BYTES_MAX = 1 << 20, SECURITY_BITS_MIN = 112 };

// ---- what it says

static void print_names(BIO *out, X509 *certificate)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    BIO_printf(out, "names        ");
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        BIO_printf(out, "%s", i == 0 ? "" : ", ");
        GENERAL_NAME_print(out, sk_GENERAL_NAME_value(names, i));
    }
    BIO_printf(out, "%s\n", names == NULL ? "none" : "");
    GENERAL_NAMES_free(names);
}

static bool may_serve(X509 *certificate)
{
    return X509_check_ca(certificate) == 0 &&
           (X509_get_extended_key_usage(certificate) & XKU_SSL_SERVER) != 0;
}

static void print_use(BIO *out, X509 *certificate)
{
    const uint32_t use = X509_get_extended_key_usage(certificate);
    if (X509_check_ca(certificate) != 0) {
        BIO_printf(out, "use          signs certificates\n");
    } else {
        BIO_printf(out, "use          %s%s%s\n", (use & XKU_SSL_SERVER) != 0 ? "listens" : "",
                   (use & XKU_SSL_SERVER) != 0 && (use & XKU_SSL_CLIENT) != 0 ? ", " : "",
                   (use & XKU_SSL_CLIENT) != 0 ? "dials" : "");
    }
}

static void print_fingerprint(BIO *out, X509 *certificate)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned bytes = 0;
    if (X509_digest(certificate, EVP_sha256(), digest, &bytes) != 1) {
        bytes = 0;
    }
    BIO_printf(out, "fingerprint  SHA-256 ");
    for (unsigned i = 0; i < bytes; i++) {
        BIO_printf(out, "%s%02X", i == 0 ? "" : ":", digest[i]);
    }
    BIO_printf(out, "\n");
}

static void print_facts(BIO *out, X509 *certificate)
{
    const EVP_PKEY *key = X509_get0_pubkey(certificate);
    BIO_printf(out, "subject      ");
    X509_NAME_print_ex(out, X509_get_subject_name(certificate), 0, XN_FLAG_ONELINE);
    BIO_printf(out, "\n");
    print_names(out, certificate);
    BIO_printf(out, "issuer       ");
    X509_NAME_print_ex(out, X509_get_issuer_name(certificate), 0, XN_FLAG_ONELINE);
    BIO_printf(out, "\n");
    print_use(out, certificate);
    BIO_printf(out, "valid        ");
    ASN1_TIME_print(out, X509_get0_notBefore(certificate));
    BIO_printf(out, " to ");
    ASN1_TIME_print(out, X509_get0_notAfter(certificate));
    BIO_printf(out, "\n");
    print_fingerprint(out, certificate);
    BIO_printf(out, "key          %s, %d bits\n", key != NULL ? EVP_PKEY_get0_type_name(key) : "?",
               key != NULL ? EVP_PKEY_get_bits(key) : 0);
}

// ---- what is wrong with it

struct findings {
    BIO *out;
    unsigned count;
};

static UVEA_PRINTF(2, 3) void found(struct findings *findings, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    BIO_printf(findings->out, "%s", findings->count++ == 0 ? "now          " : "; ");
    BIO_vprintf(findings->out, format, args);
    va_end(args);
}

static void judge_window(struct findings *findings, X509 *certificate, const ASN1_TIME *now)
{
    int days = 0;
    int seconds = 0;
    if (ASN1_TIME_diff(&days, &seconds, now, X509_get0_notBefore(certificate)) == 1 &&
        (days > 0 || seconds > 0)) {
        found(findings, "not valid yet, for another %d days and %d s", days, seconds);
    }
    if (ASN1_TIME_diff(&days, &seconds, now, X509_get0_notAfter(certificate)) == 1 &&
        (days < 0 || seconds < 0)) {
        found(findings, "expired %d days and %d s ago", -days, -seconds);
    }
}

static bool has_names(X509 *certificate)
{
    return X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1) >= 0;
}

static void judge_strength(struct findings *findings, X509 *certificate)
{
    const EVP_PKEY *key = X509_get0_pubkey(certificate);
    int bits = 0;
    if (key == NULL || EVP_PKEY_get_security_bits(key) < SECURITY_BITS_MIN) {
        found(findings, "its key is weak or unknown");
    }
    if (X509_get_signature_info(certificate, NULL, NULL, &bits, NULL) != 1 ||
        bits < SECURITY_BITS_MIN) {
        found(findings, "its signature is weak or unknown");
    }
}

static bool judge(BIO *out, X509 *certificate, const ASN1_TIME *now)
{
    struct findings findings = {.out = out};
    const bool root = X509_check_ca(certificate) != 0;
    judge_window(&findings, certificate, now);
    judge_strength(&findings, certificate);
    if (may_serve(certificate) && !has_names(certificate)) {
        found(&findings, "it listens but names no host");
    }
    if (!root && X509_self_signed(certificate, 0) == 1) {
        found(&findings, "it is signed by itself and no root");
    }
    if (!root &&
        (X509_get_extended_key_usage(certificate) & (XKU_SSL_SERVER | XKU_SSL_CLIENT)) == 0) {
        found(&findings, "it may neither listen nor dial");
    }
    BIO_printf(out, "%s\n", findings.count == 0 ? "now          good" : "");
    return findings.count == 0;
}

// ---- the file

// OpenSSL also reads a certificate between other things, such as a key.
static size_t describe_all(BIO *in, BIO *out, const ASN1_TIME *now, bool *good)
{
    size_t count = 0;
    for (;;) {
        X509 *certificate = PEM_read_bio_X509(in, NULL, NULL, NULL);
        if (certificate == NULL) {
            return count;
        }
        BIO_printf(out, "%s", count == 0 ? "" : "\n");
        print_facts(out, certificate);
        *good = judge(out, certificate, now) && *good;
        X509_free(certificate);
        count++;
    }
}

static enum uvea_error describe(const struct uvea_buf *pem, int64_t now_s, struct uvea_buf *text,
                                bool *good)
{
    enum uvea_error error = UVEA_ERR_CRYPTO;
    BIO *in = BIO_new_mem_buf(pem->data, (int)pem->len);
    BIO *out = BIO_new(BIO_s_mem());
    ASN1_TIME *now = ASN1_TIME_set(NULL, now_s);
    bool all_good = true;
    char *bytes;
    if (in == NULL || out == NULL || now == NULL) {
        goto cleanup;
    }
    if (describe_all(in, out, now, &all_good) == 0) {
        error = UVEA_ERR_FORMAT;
        goto cleanup;
    }
    long len = BIO_get_mem_data(out, &bytes);
    UVEA_TRY_CLEANUP(uvea_buf_append(text, bytes, (size_t)len));
    *good = all_good;
cleanup:
    ASN1_TIME_free(now);
    BIO_free(in);
    BIO_free(out);
    return error;
}

enum uvea_error uvea_certs_describe(const char *file, int64_t now_s, struct uvea_buf *text,
                                    bool *good, struct uvea_error_context *context)
{
    struct uvea_buf pem = {0};
    enum uvea_error error = uvea_file_read(file, PEM_BYTES_MAX, &pem, context);
    if (error == UVEA_OK) {
        error = describe(&pem, now_s, text, good);
        if (error != UVEA_OK) {
            error = uvea_error_set(context, error, "%s: %s", file,
                                   error == UVEA_ERR_FORMAT ? "holds no certificate in PEM"
                                                            : uvea_error_text(error));
        }
    }
    if (pem.data != NULL) {
        uvea_mem_wipe(pem.data, pem.capacity); // there may be a key beside it
    }
    uvea_buf_deinit(&pem);
    return error;
}
