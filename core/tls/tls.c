#include "core/tls/tls.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/tls/material.h"

#include <openssl/crypto.h>
#include <stdatomic.h>
#include <string.h>

enum { FILES = UVEA_PARTY_COUNT + 3 };

struct uvea_tls {
    struct uvea_tls_config config; // its names are owned
    CRYPTO_RWLOCK *lock;           // of material
    struct uvea_tls_material *material;
    atomic_uint_fast64_t generation; // of material
};

static void names_of(struct uvea_tls_config *config, const char **names[FILES])
{
    names[0] = &config->key_file;
    names[1] = &config->certificate_file;
    names[2] = &config->client_root_file;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        names[3 + i] = &config->party_root_files[i];
    }
}

// Replaces the borrowed names by copies; what could not be copied is NULL then.
static enum uvea_error own_names(struct uvea_tls_config *config)
{
    const char **names[FILES];
    names_of(config, names);
    enum uvea_error error = UVEA_OK;
    for (unsigned i = 0; i < FILES; i++) {
        if (*names[i] == NULL) {
            continue;
        }
        size_t bytes = strlen(*names[i]) + 1;
        char *copy = uvea_mem_alloc(bytes, 1);
        if (copy == NULL) {
            error = UVEA_ERR_MEMORY;
        } else {
            memcpy(copy, *names[i], bytes);
        }
        *names[i] = copy;
    }
    return error;
}

static void forget_names(struct uvea_tls_config *config)
{
    const char **names[FILES];
    names_of(config, names);
    for (unsigned i = 0; i < FILES; i++) {
        uvea_mem_free((void *)(uintptr_t)*names[i]);
    }
}

// The first sentence of several.
struct first {
    struct uvea_error_context *context;
    bool told;
};

static void keep_first(void *arg, enum uvea_tls_part part, enum uvea_error error,
                       const struct uvea_error_context *context)
{
    struct first *first = arg;
    (void)part;
    (void)error;
    if (!first->told && first->context != NULL) {
        *first->context = *context;
    }
    first->told = true;
}

enum uvea_error uvea_tls_open(const struct uvea_tls_config *config, struct uvea_tls **tls,
                              struct uvea_error_context *context)
{
    struct uvea_tls *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return UVEA_ERR_MEMORY;
    }
    made->config = *config;
    enum uvea_error error;
    UVEA_TRY_CLEANUP(own_names(&made->config));
    made->lock = CRYPTO_THREAD_lock_new();
    UVEA_TRY_CLEANUP(made->lock != NULL ? UVEA_OK : UVEA_ERR_MEMORY);
    UVEA_TRY_CLEANUP(uvea_tls_material_open(&made->config, keep_first,
                                            &(struct first){.context = context}, &made->material));
    *tls = made;
    made = NULL;
cleanup:
    uvea_tls_close(made);
    return error;
}

void uvea_tls_check(const struct uvea_tls_config *config, uvea_tls_fault_fn *fault, void *arg)
{
    struct uvea_tls_material *material = NULL;
    (void)!uvea_tls_material_open(config, fault, arg, &material);
    uvea_tls_material_release(material);
}

static struct uvea_tls_material *swap(struct uvea_tls *tls, struct uvea_tls_material *material)
{
    UVEA_CHECK(CRYPTO_THREAD_write_lock(tls->lock) == 1);
    struct uvea_tls_material *before = tls->material;
    tls->material = material;
    UVEA_CHECK(CRYPTO_THREAD_unlock(tls->lock) == 1);
    return before;
}

enum uvea_error uvea_tls_reload(struct uvea_tls *tls, struct uvea_error_context *context)
{
    struct uvea_tls_material *material;
    UVEA_TRY(uvea_tls_material_open(&tls->config, keep_first, &(struct first){.context = context},
                                    &material));
    uvea_tls_material_release(swap(tls, material));
    (void)atomic_fetch_add(&tls->generation, 1);
    return UVEA_OK;
}

uint64_t uvea_tls_generation(const struct uvea_tls *tls)
{
    return atomic_load(&tls->generation);
}

struct uvea_tls_material *uvea_tls_material_take(struct uvea_tls *tls)
{
    UVEA_CHECK(CRYPTO_THREAD_read_lock(tls->lock) == 1);
    struct uvea_tls_material *material = tls->material;
    (void)atomic_fetch_add(&material->references, 1);
    UVEA_CHECK(CRYPTO_THREAD_unlock(tls->lock) == 1);
    return material;
}

void uvea_tls_close(struct uvea_tls *tls)
{
    if (tls == NULL) {
        return;
    }
    uvea_tls_material_release(tls->material);
    CRYPTO_THREAD_lock_free(tls->lock);
    forget_names(&tls->config);
    uvea_mem_free(tls);
}
