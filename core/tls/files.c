// From the files of a configuration to what is made of them; all that is wrong with them is told.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/rt/rt.h"
#include "core/tls/material.h"
#include "core/tls/pem.h"
#include "core/tls/reason.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

enum { CLIENTS = UVEA_PARTY_COUNT }; // the index of their root

struct reading {
    struct uvea_tls_material *material;
    const struct uvea_tls_config *config;
    uvea_tls_fault_fn *fault;
    void *arg;
    enum uvea_error first; // of the faults
    int64_t wall_s;
    const int64_t *when; // wall_s, or NULL for now
};

// Passes a failure on; whether there was none.
static bool passes(struct reading *reading, enum uvea_tls_part part, enum uvea_error error,
                   const struct uvea_error_context *context)
{
    if (error == UVEA_OK) {
        return true;
    }
    reading->first = reading->first == UVEA_OK ? error : reading->first;
    reading->fault(reading->arg, part, error, context);
    return false;
}

// ---- dates

static int judge_dates(const struct reading *reading, const X509 *certificate)
{
    time_t at = reading->when != NULL ? (time_t)*reading->when : 0;
    time_t *when = reading->when != NULL ? &at : NULL;
    int begun = X509_cmp_time(X509_get0_notBefore(certificate), when);
    int over = X509_cmp_time(X509_get0_notAfter(certificate), when);
    if (begun == 0 || over == 0) {
        return X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD;
    }
    return begun > 0  ? X509_V_ERR_CERT_NOT_YET_VALID
           : over < 0 ? X509_V_ERR_CERT_HAS_EXPIRED
                      : X509_V_OK;
}

static enum uvea_error check_dates(const struct reading *reading, const X509 *certificate,
                                   const char *file, struct uvea_error_context *context)
{
    int verdict = judge_dates(reading, certificate);
    return verdict == X509_V_OK ? UVEA_OK
                                : uvea_error_set(context, UVEA_ERR_USAGE, "%s: %s", file,
                                                 uvea_tls_verdict_text(verdict));
}

// ---- roots

static const char *root_file(const struct reading *reading, unsigned i)
{
    return i == CLIENTS ? reading->config->client_root_file : reading->config->party_root_files[i];
}

static enum uvea_error read_root(const struct reading *reading, unsigned i,
                                 struct uvea_error_context *context)
{
    STACK_OF(X509) *certificates = NULL;
    UVEA_TRY(
        uvea_tls_read_certificates(reading->config, root_file(reading, i), &certificates, context));
    reading->material->roots[i] = sk_X509_shift(certificates);
    sk_X509_pop_free(certificates, X509_free);
    return UVEA_OK;
}

// A chain is followed up to a certificate that signs itself and may sign others.
static enum uvea_error check_root(const struct reading *reading, unsigned i,
                                  struct uvea_error_context *context)
{
    const char *file = root_file(reading, i);
    X509 *root = reading->material->roots[i];
    ERR_clear_error();
    bool signs_others = X509_check_ca(root) != 0;
    bool signs_itself = (X509_get_extension_flags(root) & EXFLAG_SS) != 0;
    ERR_clear_error();
    if (!signs_others) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "%s: no root: a certificate that may not sign others", file);
    }
    if (!signs_itself) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "%s: no root: a certificate that another one signed", file);
    }
    return check_dates(reading, root, file, context);
}

// Whoever holds one key is one: two parties with it, or a party and the clients, could not be told
// apart.
static enum uvea_error check_distinct(const struct reading *reading, unsigned last,
                                      struct uvea_error_context *context)
{
    X509 *const *roots = reading->material->roots;
    const EVP_PKEY *key = X509_get0_pubkey(roots[last]);
    if (key == NULL) {
        ERR_clear_error();
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: its public key is of no known kind",
                              root_file(reading, last));
    }
    for (unsigned i = 0; i < last; i++) {
        if (roots[i] != NULL && EVP_PKEY_eq(X509_get0_pubkey(roots[i]), key) == 1) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "%s and %s have one key; each party has a root of its own, and "
                                  "so have the clients",
                                  root_file(reading, i), root_file(reading, last));
        }
    }
    ERR_clear_error();
    return UVEA_OK;
}

static enum uvea_error make_store(const struct reading *reading, unsigned i,
                                  struct uvea_error_context *context)
{
    struct uvea_tls_material *material = reading->material;
    material->stores[i] = X509_STORE_new();
    return material->stores[i] != NULL &&
                   X509_STORE_add_cert(material->stores[i], material->roots[i]) == 1
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_CRYPTO, "%s: cannot be used as a root",
                                root_file(reading, i));
}

static enum uvea_error take_root(const struct reading *reading, unsigned i,
                                 struct uvea_error_context *context)
{
    UVEA_TRY(read_root(reading, i, context));
    UVEA_TRY(check_distinct(reading, i, context));
    UVEA_TRY(check_root(reading, i, context));
    return i == CLIENTS ? UVEA_OK : make_store(reading, i, context);
}

static void take_roots(struct reading *reading)
{
    for (unsigned i = 0; i < UVEA_COUNT_OF(reading->material->roots); i++) {
        struct uvea_error_context context = {{0}};
        if (root_file(reading, i) == NULL) {
            UVEA_CHECK(i == CLIENTS);
            continue;
        }
        (void)passes(reading, i == CLIENTS ? UVEA_TLS_CLIENT_ROOT : UVEA_TLS_ROOTS,
                     take_root(reading, i, &context), &context);
    }
}

// ---- the own key and certificate

static enum uvea_error check_pair(const struct reading *reading, struct uvea_error_context *context)
{
    const struct uvea_tls_material *material = reading->material;
    bool belongs = X509_check_private_key(sk_X509_value(material->chain, 0), material->key) == 1;
    ERR_clear_error();
    return belongs ? UVEA_OK
                   : uvea_error_set(context, UVEA_ERR_USAGE, "%s: not the key of %s",
                                    reading->config->key_file, reading->config->certificate_file);
}

static void take_own(struct reading *reading)
{
    const struct uvea_tls_config *config = reading->config;
    struct uvea_tls_material *material = reading->material;
    struct uvea_error_context context = {{0}};
    bool key =
        passes(reading, UVEA_TLS_KEY,
               uvea_tls_read_key(config, config->key_file, &material->key, &context), &context);
    context.text[0] = '\0';
    bool chain = passes(
        reading, UVEA_TLS_CERTIFICATE,
        uvea_tls_read_certificates(config, config->certificate_file, &material->chain, &context),
        &context);
    if (key && chain) {
        (void)passes(reading, UVEA_TLS_KEY, check_pair(reading, &context), &context);
    }
}

// A client's leaf is judged by others; its dates can be looked at.
static enum uvea_error check_leaf(const struct reading *reading, struct uvea_error_context *context)
{
    const struct uvea_tls_config *config = reading->config;
    const struct uvea_tls_material *material = reading->material;
    X509 *leaf = sk_X509_value(material->chain, 0);
    if (config->own_party < 0) {
        return check_dates(reading, leaf, config->certificate_file, context);
    }
    int verdict = uvea_tls_material_judge(material, uvea_party_at((unsigned)config->own_party),
                                          leaf, material->chain, reading->when);
    return verdict == X509_V_OK
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_USAGE, "%s, by %s as the root of party %d: %s",
                                config->certificate_file,
                                config->party_root_files[config->own_party], config->own_party,
                                uvea_tls_verdict_text(verdict));
}

// A leaf is not judged by a root that is no good itself.
static void judge_leaf(struct reading *reading)
{
    const struct uvea_tls_material *material = reading->material;
    const int own = reading->config->own_party;
    struct uvea_error_context context = {{0}};
    if (material->chain != NULL && (own < 0 || material->stores[own] != NULL)) {
        (void)passes(reading, UVEA_TLS_CERTIFICATE, check_leaf(reading, &context), &context);
    }
}

// ---- all of it

static void make_contexts(struct reading *reading)
{
    struct uvea_error_context context = {{0}};
    (void)passes(reading, UVEA_TLS_CERTIFICATE,
                 uvea_tls_material_make_contexts(reading->material, reading->config, &context),
                 &context);
}

enum uvea_error uvea_tls_material_open(const struct uvea_tls_config *config,
                                       uvea_tls_fault_fn *fault, void *arg,
                                       struct uvea_tls_material **material)
{
    UVEA_CHECK(config->own_party < UVEA_PARTY_COUNT);
    struct reading reading = {.config = config, .fault = fault, .arg = arg};
    reading.material = uvea_mem_alloc(1, sizeof(*reading.material));
    if (reading.material == NULL) {
        fault(arg, UVEA_TLS_KEY, UVEA_ERR_MEMORY, &(struct uvea_error_context){{0}});
        return UVEA_ERR_MEMORY;
    }
    atomic_init(&reading.material->references, 1);
    reading.material->library = config->library;
    if (config->clock != NULL) {
        reading.wall_s = (int64_t)(uvea_rt_wall_ns(config->clock) / UVEA_SECOND);
        reading.when = &reading.wall_s;
    }
    take_own(&reading);
    take_roots(&reading);
    judge_leaf(&reading);
    if (reading.first == UVEA_OK) {
        make_contexts(&reading);
    }
    if (reading.first != UVEA_OK) {
        uvea_tls_material_release(reading.material);
        return reading.first;
    }
    *material = reading.material;
    return UVEA_OK;
}
