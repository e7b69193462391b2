#include "core/tls/reason.h"

#include "core/base/check.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

const char *uvea_tls_verdict_text(long verdict)
{
    switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return "certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return "certificate is not yet valid";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        return "certificate from another root";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return "certificate for another name";
    case X509_V_ERR_INVALID_PURPOSE:
        return "certificate for another use";
    default:
        return X509_verify_cert_error_string(verdict);
    }
}

struct words {
    int code;
    const char *text;
};

// What this side found.
static const struct words found[] = {
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "no certificate"},
    {SSL_R_WRONG_VERSION_NUMBER, "not TLS"},
    {SSL_R_HTTP_REQUEST, "not TLS but HTTP in the clear"},
    {SSL_R_HTTPS_PROXY_REQUEST, "not TLS but HTTP in the clear"},
    {SSL_R_UNKNOWN_PROTOCOL, "not TLS"},
    {SSL_R_PACKET_LENGTH_TOO_LONG, "not TLS"},
    {SSL_R_UNSUPPORTED_PROTOCOL, "protocol version"},
    {SSL_R_VERSION_TOO_LOW, "protocol version"},
    {SSL_R_NO_SHARED_CIPHER, "no common cipher"},
    {SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, "a record that is not authentic"},
    {SSL_R_BAD_RECORD_TYPE, "a record that is not authentic"},
    {SSL_R_EXCESSIVE_MESSAGE_SIZE, "a handshake message that is too long"},
};

// What the other side says it found: the alert's number. unsupported_certificate also tells of a
// wrong use, bad_certificate of a wrong name or one that is not yet valid.
static const struct words alerts[] = {
    {SSL_AD_HANDSHAKE_FAILURE, "nothing in common"},
    {SSL_AD_BAD_CERTIFICATE, "bad certificate"},
    {SSL_AD_UNSUPPORTED_CERTIFICATE, "unsupported certificate"},
    {SSL_AD_CERTIFICATE_REVOKED, "certificate is revoked"},
    {SSL_AD_CERTIFICATE_EXPIRED, "certificate has expired"},
    {SSL_AD_CERTIFICATE_UNKNOWN, "certificate is not accepted"},
    {SSL_AD_UNKNOWN_CA, "certificate from another root"},
    {SSL_AD_ACCESS_DENIED, "access denied"},
    {SSL_AD_PROTOCOL_VERSION, "protocol version"},
    {SSL_AD_INSUFFICIENT_SECURITY, "too little security"},
    {TLS13_AD_CERTIFICATE_REQUIRED, "no certificate"},
};

static const char *lookup(const struct words *table, size_t count, int code)
{
    for (size_t i = 0; i < count; i++) {
        if (table[i].code == code) {
            return table[i].text;
        }
    }
    return NULL;
}

// The oldest error that TLS itself reported, as later ones only say that it failed.
static unsigned long oldest_error(void)
{
    unsigned long oldest = 0;
    for (unsigned long code = ERR_get_error(); code != 0; code = ERR_get_error()) {
        if (oldest == 0 ||
            (ERR_GET_LIB(oldest) != ERR_LIB_SSL && ERR_GET_LIB(code) == ERR_LIB_SSL)) {
            oldest = code;
        }
    }
    return oldest;
}

static enum uvea_error alert_reason(int alert, bool handshake, char *text, size_t text_bytes)
{
    const char *words = lookup(alerts, UVEA_COUNT_OF(alerts), alert);
    if (words != NULL) {
        (void)snprintf(text, text_bytes, "the other side refused: %s", words);
        return UVEA_ERR_PEER;
    }
    (void)snprintf(text, text_bytes, "the other side gave up: %s",
                   SSL_alert_desc_string_long(alert));
    return handshake ? UVEA_ERR_PEER : UVEA_ERR_RESET;
}

static void verdict_reason(const SSL *ssl, const char *host, char *text, size_t text_bytes)
{
    long verdict = SSL_get_verify_result(ssl);
    bool name =
        verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
    (void)snprintf(text, text_bytes, "%s%s%s", uvea_tls_verdict_text(verdict),
                   name && host != NULL ? " than " : "", name && host != NULL ? host : "");
}

enum uvea_error uvea_tls_reason_take(const SSL *ssl, bool handshake, const char *host, char *text,
                                     size_t text_bytes)
{
    unsigned long error = oldest_error();
    int code = ERR_GET_REASON(error);
    if (ERR_GET_LIB(error) == ERR_LIB_SSL && code >= SSL_AD_REASON_OFFSET) {
        return alert_reason(code - SSL_AD_REASON_OFFSET, handshake, text, text_bytes);
    }
    if (ERR_GET_LIB(error) == ERR_LIB_SSL && code == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        verdict_reason(ssl, host, text, text_bytes);
        return UVEA_ERR_PEER;
    }
    const char *words =
        ERR_GET_LIB(error) == ERR_LIB_SSL ? lookup(found, UVEA_COUNT_OF(found), code) : NULL;
    if (words == NULL) {
        words = ERR_reason_error_string(error);
    }
    (void)snprintf(text, text_bytes, "%s", words != NULL ? words : "TLS failed");
    return handshake ? UVEA_ERR_PEER : UVEA_ERR_RESET;
}
