#include "sim/tls/entropy.h"

#include "core/base/mem.h"

#include <limits.h>
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/rand.h>

#define GENERATOR "UVEA-SIM"
#define PROVIDER "uvea-sim"

enum { STRENGTH_BITS = 256 };

struct uvea_sim_library {
    OSSL_LIB_CTX *context;
    OSSL_PROVIDER *usual;
    OSSL_PROVIDER *own;
    struct uvea_sim_random random;
};

// OpenSSL gives a provider no argument at its start: the library that is being opened stands here.
static struct uvea_sim_library *opening;

// ---- the generator: all of a library's draw from one stream

struct generator {
    struct uvea_sim_library *library;
    int state;
};

static void *generator_new(void *provider, void *parent, const OSSL_DISPATCH *calls)
{
    (void)parent;
    (void)calls;
    struct generator *made = uvea_mem_alloc(1, sizeof(*made));
    if (made != NULL) {
        *made = (struct generator){provider, EVP_RAND_STATE_UNINITIALISED};
    }
    return made;
}

static void generator_free(void *generator)
{
    uvea_mem_free(generator);
}

static int generator_start(void *generator, unsigned strength, int resistance,
                           const unsigned char *text, size_t text_bytes, const OSSL_PARAM *params)
{
    (void)resistance;
    (void)text;
    (void)text_bytes;
    (void)params;
    ((struct generator *)generator)->state = EVP_RAND_STATE_READY;
    return strength <= STRENGTH_BITS;
}

static int generator_stop(void *generator)
{
    ((struct generator *)generator)->state = EVP_RAND_STATE_UNINITIALISED;
    return 1;
}

static int generator_draw(void *generator, unsigned char *out, size_t bytes, unsigned strength,
                          int resistance, const unsigned char *text, size_t text_bytes)
{
    (void)resistance;
    (void)text;
    (void)text_bytes;
    uvea_sim_random_fill(&((struct generator *)generator)->library->random, out, bytes);
    return strength <= STRENGTH_BITS;
}

static int generator_lock(void *generator)
{
    (void)generator; // one thread runs everything
    return 1;
}

static const OSSL_PARAM *generator_gettable(void *generator, void *provider)
{
    (void)generator;
    (void)provider;
    static const OSSL_PARAM known[] = {OSSL_PARAM_int(OSSL_RAND_PARAM_STATE, NULL),
                                       OSSL_PARAM_uint(OSSL_RAND_PARAM_STRENGTH, NULL),
                                       OSSL_PARAM_size_t(OSSL_RAND_PARAM_MAX_REQUEST, NULL),
                                       OSSL_PARAM_END};
    return known;
}

static int generator_get(void *generator, OSSL_PARAM params[])
{
    OSSL_PARAM *state = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STATE);
    OSSL_PARAM *strength = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_STRENGTH);
    OSSL_PARAM *most = OSSL_PARAM_locate(params, OSSL_RAND_PARAM_MAX_REQUEST);
    return (state == NULL ||
            OSSL_PARAM_set_int(state, ((struct generator *)generator)->state) == 1) &&
           (strength == NULL || OSSL_PARAM_set_uint(strength, STRENGTH_BITS) == 1) &&
           (most == NULL || OSSL_PARAM_set_size_t(most, INT_MAX) == 1);
}

static const OSSL_DISPATCH generator_calls[] = {
    {OSSL_FUNC_RAND_NEWCTX, (void (*)(void))generator_new},
    {OSSL_FUNC_RAND_FREECTX, (void (*)(void))generator_free},
    {OSSL_FUNC_RAND_INSTANTIATE, (void (*)(void))generator_start},
    {OSSL_FUNC_RAND_UNINSTANTIATE, (void (*)(void))generator_stop},
    {OSSL_FUNC_RAND_GENERATE, (void (*)(void))generator_draw},
    {OSSL_FUNC_RAND_ENABLE_LOCKING, (void (*)(void))generator_lock},
    {OSSL_FUNC_RAND_GETTABLE_CTX_PARAMS, (void (*)(void))generator_gettable},
    {OSSL_FUNC_RAND_GET_CTX_PARAMS, (void (*)(void))generator_get},
    {0, NULL},
};

// ---- the provider

static const OSSL_ALGORITHM *provider_query(void *provider, int operation, int *no_cache)
{
    (void)provider;
    static const OSSL_ALGORITHM generators[] = {
        {GENERATOR, "provider=" PROVIDER, generator_calls, "a stream of the simulator"},
        {NULL, NULL, NULL, NULL}};
    *no_cache = 0;
    return operation == OSSL_OP_RAND ? generators : NULL;
}

static int provider_start(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
                          const OSSL_DISPATCH **out, void **provider)
{
    (void)handle;
    (void)in;
    static const OSSL_DISPATCH calls[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))provider_query}, {0, NULL}};
    *out = calls;
    *provider = opening;
    return 1;
}

enum uvea_error uvea_sim_library_open(uint64_t seed, const char *name,
                                      struct uvea_sim_library **library)
{
    struct uvea_sim_library *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_sim_random_init(&made->random, seed, name);
    made->context = OSSL_LIB_CTX_new();
    opening = made;
    bool good = made->context != NULL &&
                OSSL_PROVIDER_add_builtin(made->context, PROVIDER, provider_start) == 1 &&
                (made->own = OSSL_PROVIDER_load(made->context, PROVIDER)) != NULL &&
                (made->usual = OSSL_PROVIDER_load(made->context, "default")) != NULL &&
                RAND_set_DRBG_type(made->context, GENERATOR, "provider=" PROVIDER, NULL, NULL) == 1;
    opening = NULL;
    ERR_clear_error();
    if (!good) {
        uvea_sim_library_close(made);
        return UVEA_ERR_CRYPTO;
    }
    *library = made;
    return UVEA_OK;
}

OSSL_LIB_CTX *uvea_sim_library_context(const struct uvea_sim_library *library)
{
    return library->context;
}

void uvea_sim_library_close(struct uvea_sim_library *library)
{
    if (library == NULL) {
        return;
    }
    if (library->usual != NULL) {
        (void)OSSL_PROVIDER_unload(library->usual);
    }
    if (library->own != NULL) {
        (void)OSSL_PROVIDER_unload(library->own);
    }
    OSSL_LIB_CTX_free(library->context);
    uvea_mem_free(library);
}
