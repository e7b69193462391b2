#include "core/daemon/settings.h"

#include "core/base/mem.h"
#include "core/daemon/file.h"
#include "core/store/store.h"

#include <sched.h>
#include <string.h>

#define NUMBER(section, name) uvea_config_number(config, UVEA_KEY_##section##_##name)
#define TEXT(section, name) uvea_config_text(config, UVEA_KEY_##section##_##name)
#define MS(section, name) (NUMBER(section, name) * UVEA_MS)
#define FLAG(section, name) (NUMBER(section, name) != 0)

static struct uvea_mesh_config mesh_of(const struct uvea_config *config)
{
    struct uvea_mesh_config mesh =
        uvea_mesh_config_default(uvea_party_at((unsigned)NUMBER(root, party)));

    mesh.listen_address = TEXT(mesh, listen);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        mesh.dial_address[i] = uvea_config_of_party(config, UVEA_KEY_mesh_dial, i);
    }
    mesh.session_count = (uint32_t)NUMBER(mesh, sessions);
    mesh.connection_count = (uint32_t)NUMBER(mesh, connections);
    mesh.value_bytes_max = NUMBER(mesh, value_bytes_max);
    mesh.queue_bytes_max = NUMBER(mesh, queue_bytes_max);
    mesh.handshake_ns_max = MS(mesh, handshake_ms);
    mesh.start_jitter_ns_max = MS(mesh, start_jitter_ms);
    mesh.retry_delay_ns = MS(mesh, retry_ms);
    mesh.connect_ns_max = MS(mesh, connect_ms);
    mesh.recv_ns_max = MS(mesh, recv_ms);
    mesh.drain_ns_max = MS(mesh, drain_ms);
    return mesh;
}

// The order of the choices is that of the enumerations.
static struct uvea_search_config search_of(const struct uvea_config *config)
{
    return (struct uvea_search_config){
        .full_scan_eye = (enum uvea_eye)NUMBER(scan, full_scan_eye),
        .path = NUMBER(scan, path) == 0 ? UVEA_SEARCH_RING : UVEA_SEARCH_NTT,
        .form = NUMBER(scan, predicate) == 0 ? UVEA_PREDICATE_DENSE : UVEA_PREDICATE_TWO_TERM,
        .field_form = NUMBER(scan, field_predicate) == 0 ? UVEA_FIELD_PREDICATE_FULL
                                                         : UVEA_FIELD_PREDICATE_VALID_RANGE,
        .chunk_records_max = NUMBER(scan, chunk_records),
    };
}

static struct uvea_policy policy_of(const struct uvea_config *config)
{
    return (struct uvea_policy){
        .luc_enabled = FLAG(service, luc),
        .luc_lookback_records = (uint32_t)NUMBER(service, lookback),
        .luc_serial_ids_from_request = FLAG(service, or_rule),
        .return_partial_results = FLAG(service, partial_results),
        .supermatch_limit = (uint32_t)NUMBER(service, supermatch_limit),
    };
}

static struct uvea_coord_timing timing_of(const struct uvea_config *config)
{
    return (struct uvea_coord_timing){
        .lag_ns_min = MS(coordination, lag_min_ms),
        .lag_ns_max = MS(coordination, lag_max_ms),
        .transport_ns = MS(coordination, transport_ms),
        .attempt_ns = MS(coordination, attempt_ms),
        .startup_ns = MS(coordination, startup_ms),
        .silence_ns = MS(coordination, silence_ms),
        .behind_ns = MS(coordination, behind_ms),
        .idle_ns = MS(coordination, idle_ms),
        .heartbeat_ns = MS(coordination, heartbeat_ms),
        .heartbeat_initial_retries = (uint32_t)NUMBER(coordination, heartbeat_initial_retries),
        .heartbeat_failures = (uint32_t)NUMBER(coordination, heartbeat_failures),
    };
}

static struct uvea_node_config node_of(const struct uvea_config *config)
{
    struct uvea_node_config node =
        uvea_node_config_default(uvea_party_at((unsigned)NUMBER(root, party)));

    node.environment = TEXT(root, environment);
    node.image_name = TEXT(root, image_name);
    node.mesh = mesh_of(config);
    node.prf = NUMBER(root, prf) == 0 ? UVEA_PRF_AES128 : UVEA_PRF_CHACHA8;
    node.search = search_of(config);
    node.policy = policy_of(config);
    node.gates = (struct uvea_gates){
        .enable_reauth = FLAG(service, enable_reauth),
        .enable_reset = FLAG(service, enable_reset),
        .enable_recovery = FLAG(service, enable_recovery),
        .enable_deletion = FLAG(service, enable_deletion),
    };
    node.batch_requests_max = (uint32_t)NUMBER(service, batch_requests_max);
    node.records_max = (uint32_t)NUMBER(service, records_max);
    node.modifications_lookback = (uint32_t)NUMBER(service, modifications_lookback);
    node.cold_cache_records = NUMBER(service, cold_cache_records);
    node.http_address = TEXT(http, listen);
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        node.peer_http_addresses[i] = uvea_config_of_party(config, UVEA_KEY_http_peers, i);
    }
    node.timing = timing_of(config);
    node.processing_ns_max = MS(service, processing_ms);
    node.drain_ns_max = MS(service, drain_ms);
    node.ingest_ns = MS(service, ingest_ms);
    node.ingest_backoff_ns_min = MS(service, ingest_backoff_min_ms);
    node.ingest_backoff_ns_max = MS(service, ingest_backoff_max_ms);
    return node;
}

static struct uvea_tls_config tls_of(const struct uvea_config *config)
{
    struct uvea_tls_config tls = {
        .key_file = TEXT(tls, key),
        .certificate_file = TEXT(tls, certificate),
        .client_root_file = TEXT(tls, client_root),
        .own_party = (int)NUMBER(root, party),
        .allow_tls_1_2 = FLAG(tls, allow_tls_1_2),
    };

    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        tls.party_root_files[i] = uvea_config_of_party(config, UVEA_KEY_tls_roots, i);
    }
    return tls;
}

static void set_posix(const struct uvea_config *config, struct uvea_settings *settings)
{
    const char *cpus = TEXT(scan, cpus);

    settings->posix = uvea_posix_config_default();
    settings->posix.http_connections_max = (uint32_t)NUMBER(http, connections_max);
    settings->posix.http_handshake_ns_max = MS(http, handshake_ms);
    settings->posix.http_idle_ns_max = MS(http, idle_ms);
    settings->posix.http_body_bytes_max = UVEA_STORE_OBJECT_BYTES_MAX; // the longest that is taken
    settings->posix.cpus = settings->cpus;
    settings->posix.cpu_count = cpus != NULL ? uvea_key_cpus(cpus, settings->cpus) : 0;
}

// ---- what needs a look at files and at the machine

struct tls_check {
    const struct uvea_config *config;
    struct uvea_complaints *complaints;
};

static void complain_of_tls(void *arg, enum uvea_tls_part part, enum uvea_error error,
                            const struct uvea_error_context *context)
{
    static const enum uvea_key keys[] = {
        [UVEA_TLS_KEY] = UVEA_KEY_tls_key,
        [UVEA_TLS_CERTIFICATE] = UVEA_KEY_tls_certificate,
        [UVEA_TLS_ROOTS] = UVEA_KEY_tls_roots,
        [UVEA_TLS_CLIENT_ROOT] = UVEA_KEY_tls_client_root,
    };
    const struct tls_check *check = arg;

    uvea_complain_at(check->complaints, check->config->values[keys[part]].what, error, context);
}

static void check_tls(const struct uvea_config *config, const struct uvea_settings *settings,
                      struct uvea_complaints *complaints)
{
    struct tls_check check = {.config = config, .complaints = complaints};

    if (settings->with_tls) {
        uvea_tls_check(&settings->tls, complain_of_tls, &check);
    }
}

static void read_key(const struct uvea_config *config, enum uvea_key key,
                     struct uvea_share_key_pair *pair, struct uvea_complaints *complaints)
{
    struct uvea_error_context context = {{0}};
    const enum uvea_error error =
        uvea_file_read_share_key(uvea_config_text(config, key), pair, &context);

    uvea_complain_at(complaints, config->values[key].what, error, &context);
}

static void read_keys(const struct uvea_config *config, struct uvea_share_keys *keys,
                      struct uvea_complaints *complaints)
{
    read_key(config, UVEA_KEY_keys_share_key, &keys->current, complaints);
    keys->has_previous = TEXT(keys, previous_share_key) != NULL;
    if (keys->has_previous) {
        read_key(config, UVEA_KEY_keys_previous_share_key, &keys->previous, complaints);
    }
}

static void take_kernels(const struct uvea_config *config, struct uvea_search_config *search,
                         struct uvea_complaints *complaints)
{
    char name[UVEA_KEY_CHARS_MAX];

    uvea_key_format(UVEA_KEY_scan_kernels, NUMBER(scan, kernels), name);
    if (uvea_search_take_kernels(search, name) != UVEA_OK) {
        uvea_complain(complaints, "%s: this processor has no kernels '%s'",
                      config->values[UVEA_KEY_scan_kernels].what, name);
    }
}

// Those that this process may run on.
static void check_cpus(const struct uvea_config *config, const struct uvea_settings *settings,
                       struct uvea_complaints *complaints)
{
    cpu_set_t allowed;

    CPU_ZERO(&allowed);
    if (settings->posix.cpu_count > 0 && sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        uvea_complain(complaints, "%s: the processors of this machine cannot be found out",
                      config->values[UVEA_KEY_scan_cpus].what);
        return;
    }
    for (size_t i = 0; i < settings->posix.cpu_count; i++) {
        if (!CPU_ISSET(settings->cpus[i], &allowed)) {
            uvea_complain(complaints, "%s: processor %u is not there or not for this process",
                          config->values[UVEA_KEY_scan_cpus].what, settings->cpus[i]);
        }
    }
}

void uvea_settings_make(const struct uvea_config *config, struct uvea_settings *settings,
                        struct uvea_complaints *complaints)
{
    *settings = (struct uvea_settings){
        .node = node_of(config),
        .tls = tls_of(config),
        .with_tls = FLAG(tls, enabled),
    };
    set_posix(config, settings);
    check_cpus(config, settings, complaints);
    take_kernels(config, &settings->node.search, complaints);
    check_tls(config, settings, complaints);
    read_keys(config, &settings->node.keys, complaints);
}

void uvea_settings_deinit(struct uvea_settings *settings)
{
    uvea_mem_wipe(settings, sizeof(*settings));
}
