#include "core/tls/material.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/rt/rt.h"
#include "core/tls/pem.h"
#include "core/tls/reason.h"

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

// A client's leaf is judged by others; its dates can be looked at.
static int judge_dates(const X509 *leaf, const int64_t *wall_s)
{
    time_t at = wall_s != NULL ? (time_t)*wall_s : 0;
    time_t *when = wall_s != NULL ? &at : NULL;
    int begun = X509_cmp_time(X509_get0_notBefore(leaf), when);
    int over = X509_cmp_time(X509_get0_notAfter(leaf), when);
    if (begun == 0 || over == 0) {
        return X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD;
    }
    return begun > 0  ? X509_V_ERR_CERT_NOT_YET_VALID
           : over < 0 ? X509_V_ERR_CERT_HAS_EXPIRED
                      : X509_V_OK;
}

static enum uvea_error check_own_leaf(const struct uvea_tls_material *material,
                                      const struct uvea_tls_config *config,
                                      struct uvea_error_context *context)
{
    X509 *leaf = sk_X509_value(material->chain, 0);
    int64_t wall_s = 0;
    if (config->clock != NULL) {
        wall_s = (int64_t)(uvea_rt_wall_ns(config->clock) / UVEA_SECOND);
    }
    const int64_t *when = config->clock != NULL ? &wall_s : NULL;
    if (config->own_party < 0) {
        int verdict = judge_dates(leaf, when);
        return verdict == X509_V_OK
                   ? UVEA_OK
                   : uvea_error_set(context, UVEA_ERR_USAGE, "%s: %s", config->certificate_file,
                                    uvea_tls_verdict_text(verdict));
    }
    int verdict = uvea_tls_material_judge(material, uvea_party_at((unsigned)config->own_party),
                                          leaf, material->chain, when);
    return verdict == X509_V_OK
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_USAGE, "%s, by %s as the root of party %d: %s",
                                config->certificate_file,
                                config->party_root_files[config->own_party], config->own_party,
                                uvea_tls_verdict_text(verdict));
}

// ---- reading

static const char *root_file(const struct uvea_tls_config *config, unsigned i)
{
    return i == CLIENTS ? config->client_root_file : config->party_root_files[i];
}

static enum uvea_error read_root(const struct uvea_tls_config *config, const char *file,
                                 X509 **root, struct uvea_error_context *context)
{
    STACK_OF(X509) *certificates = NULL;
    UVEA_TRY(uvea_tls_read_certificates(config, file, &certificates, context));
    *root = sk_X509_shift(certificates);
    sk_X509_pop_free(certificates, X509_free);
    return UVEA_OK;
}

// Whoever holds one key is one: two parties with it, or a party and the clients, could not be told
// apart.
static enum uvea_error check_distinct(const struct uvea_tls_material *material, unsigned last,
                                      const struct uvea_tls_config *config,
                                      struct uvea_error_context *context)
{
    const EVP_PKEY *key = X509_get0_pubkey(material->roots[last]);
    if (key == NULL) {
        ERR_clear_error();
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: its public key is of no known kind",
                              root_file(config, last));
    }
    for (unsigned i = 0; i < last; i++) {
        if (EVP_PKEY_eq(X509_get0_pubkey(material->roots[i]), key) == 1) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "%s and %s have one key; each party has a root of its own, and "
                                  "so have the clients",
                                  root_file(config, i), root_file(config, last));
        }
    }
    ERR_clear_error();
    return UVEA_OK;
}

static enum uvea_error read_roots(struct uvea_tls_material *material,
                                  const struct uvea_tls_config *config,
                                  struct uvea_error_context *context)
{
    for (unsigned i = 0; i < UVEA_COUNT_OF(material->roots); i++) {
        const char *file = root_file(config, i);
        if (file == NULL) {
            UVEA_CHECK(i == CLIENTS);
            continue;
        }
        UVEA_TRY(read_root(config, file, &material->roots[i], context));
        UVEA_TRY(check_distinct(material, i, config, context));
        if (i == CLIENTS) {
            continue;
        }
        material->stores[i] = X509_STORE_new();
        if (material->stores[i] == NULL ||
            X509_STORE_add_cert(material->stores[i], material->roots[i]) != 1) {
            return uvea_error_set(context, UVEA_ERR_CRYPTO, "%s: cannot be used as a root", file);
        }
    }
    return UVEA_OK;
}

static enum uvea_error read_own(struct uvea_tls_material *material,
                                const struct uvea_tls_config *config,
                                struct uvea_error_context *context)
{
    UVEA_TRY(uvea_tls_read_key(config, config->key_file, &material->key, context));
    UVEA_TRY(
        uvea_tls_read_certificates(config, config->certificate_file, &material->chain, context));
    bool belongs = X509_check_private_key(sk_X509_value(material->chain, 0), material->key) == 1;
    ERR_clear_error();
    return belongs ? UVEA_OK
                   : uvea_error_set(context, UVEA_ERR_USAGE, "%s: not the key of %s",
                                    config->key_file, config->certificate_file);
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

static enum uvea_error make_contexts(struct uvea_tls_material *material,
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

enum uvea_error uvea_tls_material_open(const struct uvea_tls_config *config,
                                       struct uvea_tls_material **material,
                                       struct uvea_error_context *context)
{
    UVEA_CHECK(config->own_party < UVEA_PARTY_COUNT);
    struct uvea_tls_material *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    atomic_init(&made->references, 1);
    made->library = config->library;
    enum uvea_error error;
    UVEA_TRY_CLEANUP(read_own(made, config, context));
    UVEA_TRY_CLEANUP(read_roots(made, config, context));
    UVEA_TRY_CLEANUP(check_own_leaf(made, config, context));
    UVEA_TRY_CLEANUP(make_contexts(made, config, context));
    *material = made;
    made = NULL;
cleanup:
    uvea_tls_material_release(made);
    return error;
}
