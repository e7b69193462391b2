#include "sim/tls/keys.h"

#include "core/base/mem.h"
#include "sim/runtime/random.h"

#include <stdio.h>
#include <string.h>

static const char *const node_names[UVEA_PARTY_COUNT] = {"p0", "p1", "p2"};
static const char *const root_files[UVEA_PARTY_COUNT] = {"root/p0", "root/p1", "root/p2"};
static const char *const leaf_files[UVEA_PARTY_COUNT] = {"leaf/p0", "leaf/p1", "leaf/p2"};
static const char *const key_files[UVEA_PARTY_COUNT] = {"key/p0", "key/p1", "key/p2"};

// From 1970 to 9999: simulated clocks step.
static const struct uvea_certs_window always = {0, INT64_C(253402300799)};

static enum uvea_error give(void *arg, const char *file, struct uvea_buf *contents)
{
    const struct uvea_sim_keys *keys = arg;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_buf *found =
            strcmp(file, root_files[i]) == 0   ? &keys->roots[i].certificate
            : strcmp(file, leaf_files[i]) == 0 ? &keys->leaves[i].certificate
            : strcmp(file, key_files[i]) == 0  ? &keys->leaves[i].key
                                               : NULL;
        if (found != NULL) {
            return uvea_buf_append(contents, found->data, found->len);
        }
    }
    return UVEA_ERR_NOT_FOUND;
}

static enum uvea_error make(uint64_t seed, const char *file, struct uvea_certs_plan plan,
                            const struct uvea_certs_pem *issuer, struct uvea_certs_pem *out,
                            struct uvea_error_context *context)
{
    struct uvea_sim_random random;
    uint8_t key[UVEA_CERTS_SEED_BYTES];
    char stream[32];
    (void)snprintf(stream, sizeof(stream), "tls/%s", file);
    uvea_sim_random_init(&random, seed, stream);
    uvea_sim_random_fill(&random, key, sizeof(key));
    plan.key_seed = key;
    plan.window = always;
    enum uvea_error error = uvea_certs_make(&plan, issuer, out, context);
    uvea_mem_wipe(key, sizeof(key));
    return error;
}

enum uvea_error uvea_sim_keys_init(struct uvea_sim_keys *keys, uint64_t seed,
                                   struct uvea_error_context *context)
{
    *keys = (struct uvea_sim_keys){.files = {keys, give}};
    enum uvea_error error = UVEA_OK;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        struct uvea_certs_plan root = {.role = UVEA_CERTS_ROOT, .common_name = root_files[i]};
        struct uvea_certs_plan leaf = {.role = UVEA_CERTS_PARTY,
                                       .common_name = node_names[i],
                                       .names = &node_names[i],
                                       .name_count = 1};
        UVEA_TRY_CLEANUP(make(seed, root_files[i], root, NULL, &keys->roots[i], context));
        UVEA_TRY_CLEANUP(
            make(seed, leaf_files[i], leaf, &keys->roots[i], &keys->leaves[i], context));
    }
cleanup:
    if (error != UVEA_OK) {
        uvea_sim_keys_deinit(keys);
    }
    return error;
}

void uvea_sim_keys_deinit(struct uvea_sim_keys *keys)
{
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        uvea_certs_pem_deinit(&keys->roots[i]);
        uvea_certs_pem_deinit(&keys->leaves[i]);
    }
}

struct uvea_tls_config uvea_sim_keys_config(const struct uvea_sim_keys *keys, unsigned party)
{
    struct uvea_tls_config config = {.key_file = key_files[party],
                                     .certificate_file = leaf_files[party],
                                     .own_party = (int)party,
                                     .files = &keys->files};
    memcpy(config.party_root_files, root_files, sizeof(root_files));
    return config;
}
