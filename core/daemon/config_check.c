#include "core/daemon/config.h"
#include "core/net/mesh.h"
#include "core/scan/search.h"
#include "core/store/store.h"
#include "core/wire/frame.h"

#include <stdbool.h>
#include <string.h>

#define NUMBER(config, section, name) uvea_config_number(config, UVEA_KEY_##section##_##name)
#define TEXT(config, section, name) uvea_config_text(config, UVEA_KEY_##section##_##name)
#define WHAT(config, section, name) ((config)->values[UVEA_KEY_##section##_##name].what)

enum {
    SESSION_MULTIPLE = UVEA_SEARCH_SESSION_MULTIPLE,
    QUEUE_OVERHEAD_BYTES = UVEA_FRAME_SESSION_BYTES + UVEA_MESH_FRAME_OVERHEAD_BYTES,
};

static void check_mesh(const struct uvea_config *config, struct uvea_complaints *complaints)
{
    const uint64_t value_bytes = NUMBER(config, mesh, value_bytes_max);

    if (NUMBER(config, mesh, sessions) % SESSION_MULTIPLE != 0) {
        uvea_complain(complaints, "%s: %llu is not a multiple of %d", WHAT(config, mesh, sessions),
                      (unsigned long long)NUMBER(config, mesh, sessions), SESSION_MULTIPLE);
    }
    if (NUMBER(config, mesh, queue_bytes_max) < value_bytes + QUEUE_OVERHEAD_BYTES) {
        uvea_complain(complaints,
                      "%s: does not hold one value of mesh.value_bytes_max (%llu) and "
                      "%d bytes more",
                      WHAT(config, mesh, queue_bytes_max), (unsigned long long)value_bytes,
                      QUEUE_OVERHEAD_BYTES);
    }
}

static void check_order(const struct uvea_config *config, enum uvea_key least, enum uvea_key most,
                        struct uvea_complaints *complaints)
{
    char name[UVEA_KEY_CHARS_MAX];

    if (uvea_config_number(config, least) > uvea_config_number(config, most)) {
        uvea_key_name(most, name);
        uvea_complain(complaints, "%s: %llu is more than %s (%llu)", config->values[least].what,
                      (unsigned long long)uvea_config_number(config, least), name,
                      (unsigned long long)uvea_config_number(config, most));
    }
}

// ---- TLS

static void need_file(const struct uvea_config *config, enum uvea_key key, unsigned count,
                      struct uvea_complaints *complaints)
{
    char name[UVEA_KEY_CHARS_MAX];
    char variable[UVEA_KEY_CHARS_MAX];

    for (unsigned i = 0; i < count; i++) {
        if (uvea_config_of_party(config, key, i) == NULL) {
            uvea_key_name(key, name);
            uvea_key_variable(key, variable);
            uvea_complain(complaints, "%s is missing (%s); give it in a file or as %s", name,
                          uvea_key_info(key)->meaning, variable);
            return;
        }
    }
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strncmp(address, "localhost:", 10) == 0 ||
           strncmp(address, "[::1]:", 6) == 0;
}

static void need_loopback(const struct uvea_config *config, enum uvea_key key,
                          struct uvea_complaints *complaints)
{
    const unsigned count = uvea_key_is_list(key) ? UVEA_PARTY_COUNT : 1;

    for (unsigned i = 0; i < count; i++) {
        const char *address = uvea_config_of_party(config, key, i);

        if (!is_loopback(address)) {
            uvea_complain(complaints, "%s: '%s' is no loopback address, and %s switches TLS off",
                          config->values[key].what, address, WHAT(config, tls, enabled));
        }
    }
}

static void check_tls(const struct uvea_config *config, struct uvea_complaints *complaints)
{
    if (NUMBER(config, tls, enabled) != 0) {
        need_file(config, UVEA_KEY_tls_key, 1, complaints);
        need_file(config, UVEA_KEY_tls_certificate, 1, complaints);
        need_file(config, UVEA_KEY_tls_roots, UVEA_PARTY_COUNT, complaints);
        return;
    }
    need_loopback(config, UVEA_KEY_mesh_listen, complaints);
    need_loopback(config, UVEA_KEY_mesh_dial, complaints);
    need_loopback(config, UVEA_KEY_http_listen, complaints);
    need_loopback(config, UVEA_KEY_http_peers, complaints);
}

// ---- the store

static void check_store(const struct uvea_config *config, struct uvea_complaints *complaints)
{
    static const char in_schemas[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const bool sqlite = TEXT(config, store, sqlite) != NULL;
    const bool postgres = TEXT(config, store, postgres_url) != NULL;
    const char *schema = TEXT(config, store, schema);
    struct uvea_error_context context = {{0}};

    if (sqlite && postgres) {
        uvea_complain(complaints, "%s: store.postgres_url is given too; one store is meant",
                      WHAT(config, store, sqlite));
    } else if (!sqlite && !postgres) {
        uvea_complain(complaints, "store.sqlite is missing, and so is store.postgres_url; give one "
                                  "of them in a file or as UVEA__STORE__SQLITE or "
                                  "UVEA__STORE__POSTGRES_URL");
    }
    if (postgres) {
        uvea_complain_at(complaints, WHAT(config, store, postgres_url),
                         uvea_store_check_postgres_url(TEXT(config, store, postgres_url), &context),
                         &context);
    }
    if (strspn(schema, in_schemas) != strlen(schema)) {
        uvea_complain(complaints, "%s: '%s' holds more than letters, digits, '_' and '-'",
                      WHAT(config, store, schema), schema);
    }
}

void uvea_config_check(const struct uvea_config *config, struct uvea_complaints *complaints)
{
    check_mesh(config, complaints);
    check_tls(config, complaints);
    check_store(config, complaints);
    check_order(config, UVEA_KEY_service_ingest_backoff_min_ms,
                UVEA_KEY_service_ingest_backoff_max_ms, complaints);
    check_order(config, UVEA_KEY_coordination_lag_min_ms, UVEA_KEY_coordination_lag_max_ms,
                complaints);
}
