#include "core/tls/material.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/tls/pem.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

enum {
    CLIENTS = UVEA_PARTY_COUNT, // the index of their root
    SECURITY_LEVEL = 2,         // 112 bits: OpenSSL's measure
    CERTIFICATE_MESSAGE_BYTES_MAX = 32 << 10,
};

void uvea_tls_material_release(struct uvea_tls_material *material)
{
    if (material == NULL || atomic_fetch_sub(&material->references, 1) != 1) {
        return;
    }
    for (unsigned i = 0; i < UVEA_TLS_ROLE_COUNT; i++) {
        SSL_CTX_free(material->contexts[i]);
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        X509_STORE_free(material->stores[i]);
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(material->roots); i++) {
        X509_free(material->roots[i]);
    }
    sk_X509_pop_free(material->chain, X509_free);
    EVP_PKEY_free(material->key); // OpenSSL wipes it
    uvea_mem_free(material);
}

// ---- judging a chain

int uvea_tls_material_judge(const struct uvea_tls_material *material, struct uvea_party party,
                            X509 *leaf, STACK_OF(X509) * others, const int64_t *wall_s)
{
    ERR_clear_error();
    int result = X509_V_ERR_OUT_OF_MEM;
    X509_STORE_CTX *judge = X509_STORE_CTX_new_ex(material->library, NULL);
    if (judge != NULL &&
        X509_STORE_CTX_init(judge, material->stores[party.index], leaf, others) == 1) {
        if (wall_s != NULL) {
            X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(judge), (time_t)*wall_s);
        }
        result = X509_verify_cert(judge) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(judge);
        if (result == X509_V_OK && X509_STORE_CTX_get_error(judge) != X509_V_OK) {
            result = X509_STORE_CTX_get_error(judge);
        }
    }
    X509_STORE_CTX_free(judge);
    ERR_clear_error();
    return result;
}

// ---- contexts

static bool set_rules(SSL_CTX *context, bool allow_tls_1_2)
{
    static const unsigned char session_context[] = "uvea";
    SSL_CTX_set_security_level(context, SECURITY_LEVEL);
    (void)SSL_CTX_clear_options(context, SSL_OP_LEGACY_SERVER_CONNECT);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
                                           SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    (void)SSL_CTX_set_mode(context,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_max_cert_list(context, CERTIFICATE_MESSAGE_BYTES_MAX);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_verify_depth(context, UVEA_TLS_CHAIN_MAX);
    return SSL_CTX_set_min_proto_version(context,
                                         allow_tls_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_num_tickets(context, 0) == 1 &&
           SSL_CTX_set_session_id_context(context, session_context, sizeof(session_context) - 1) ==
               1 &&
           SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1 &&
           SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
           SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                             "TLS_CHACHA20_POLY1305_SHA256") == 1;
}

enum uvea_error uvea_tls_material_apply(const struct uvea_tls_material *material,
                                        enum uvea_tls_role role, bool allow_tls_1_2,
                                        SSL_CTX *context)
{
    bool good = set_rules(context, allow_tls_1_2);
    X509_STORE *believed = X509_STORE_new();
    size_t roots = role == UVEA_TLS_LISTENS ? CLIENTS + 1 : CLIENTS;
    for (size_t i = 0; i < roots && believed != NULL; i++) {
        good = good && (material->roots[i] == NULL ||
                        X509_STORE_add_cert(believed, material->roots[i]) == 1);
    }
    if (believed == NULL) {
        good = false;
    } else {
        SSL_CTX_set_cert_store(context, believed); // takes it over
    }
    STACK_OF(X509) *others = sk_X509_dup(material->chain);
    if (others != NULL) {
        X509 *leaf = sk_X509_shift(others);
        good = good && SSL_CTX_use_cert_and_key(context, leaf, material->key, others, 1) == 1;
    }
    good = good && others != NULL;
    sk_X509_free(others);
    ERR_clear_error();
    return good ? UVEA_OK : UVEA_ERR_CRYPTO;
}

enum uvea_error uvea_tls_material_make_contexts(struct uvea_tls_material *material,
                                                const struct uvea_tls_config *config,
                                                struct uvea_error_context *context)
{
    for (unsigned role = 0; role < UVEA_TLS_ROLE_COUNT; role++) {
        SSL_CTX *made = SSL_CTX_new_ex(config->library, NULL, TLS_method());
        if (made == NULL) {
            ERR_clear_error();
            return uvea_error_set(context, UVEA_ERR_CRYPTO, "OpenSSL gives no TLS context");
        }
        material->contexts[role] = made;
        if (uvea_tls_material_apply(material, role, config->allow_tls_1_2, made) != UVEA_OK) {
            return uvea_error_set(context, UVEA_ERR_CRYPTO,
                                  "%s: OpenSSL does not accept this key or certificate for TLS",
                                  config->certificate_file);
        }
    }
    return UVEA_OK;
}
