#include "core/scan/cold.h"
#include "core/service/json.h"
#include "core/service/node_impl.h"

#include <inttypes.h>

struct uvea_node_config uvea_node_config_default(struct uvea_party party)
{
    return (struct uvea_node_config){
        .party = party,
        .environment = "dev",
        .image_name = "uvea",
        .mesh = uvea_mesh_config_default(party),
        .prf = UVEA_PRF_AES128,
        .search =
            {
                .full_scan_eye = UVEA_EYE_LEFT,
                .chunk_records_max = UVEA_SEARCH_CHUNK_RECORDS,
            },
        .policy =
            {
                .luc_enabled = true,
                .luc_lookback_records = 500,
                .luc_serial_ids_from_request = true,
                .return_partial_results = true,
                .supermatch_limit = UVEA_POLICY_SUPERMATCH_DEFAULT,
            },
        .gates =
            {
                .enable_reauth = true,
                .enable_reset = true,
                .enable_recovery = true,
                .enable_deletion = true,
            },
        .batch_requests_max = 1,
        .records_max = 18 * 1000 * 1000,
        .modifications_lookback = 328,
        .cold_cache_records = UVEA_COLD_CACHE_RECORDS,
        .timing = uvea_coord_timing_default(),
        .processing_ns_max = 600 * UVEA_SECOND,
        .drain_ns_max = 10 * UVEA_SECOND,
        .ingest_ns = 20 * UVEA_MS,
        .ingest_backoff_ns_min = 200 * UVEA_MS,
        .ingest_backoff_ns_max = 5 * UVEA_SECOND,
    };
}

// ---- bounds

static enum uvea_error check_range(const char *name, uint64_t value, uint64_t low, uint64_t high,
                                   struct uvea_error_context *context)
{
    if (value < low || value > high) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "%s is %" PRIu64 ", want %" PRIu64 " to %" PRIu64, name, value, low,
                              high);
    }
    return UVEA_OK;
}

static enum uvea_error check_given(const char *name, const void *value,
                                   struct uvea_error_context *context)
{
    if (value == NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s is missing", name);
    }
    return UVEA_OK;
}

static enum uvea_error check_addresses(const struct uvea_node_config *config,
                                       struct uvea_error_context *context)
{
    UVEA_TRY(check_given("environment", config->environment, context));
    UVEA_TRY(check_given("image_name", config->image_name, context));
    UVEA_TRY(check_given("http_address", config->http_address, context));
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        if (i != config->party.index) {
            UVEA_TRY(check_given("peer_http_addresses", config->peer_http_addresses[i], context));
        }
    }
    return UVEA_OK;
}

static enum uvea_error check_search(const struct uvea_node_config *config,
                                    struct uvea_error_context *context)
{
    const uint32_t sessions = config->mesh.session_count;

    if (sessions == 0 || sessions % UVEA_SEARCH_SESSION_MULTIPLE != 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "mesh.session_count is %" PRIu32 ", want a multiple of %d", sessions,
                              UVEA_SEARCH_SESSION_MULTIPLE);
    }
    UVEA_TRY(check_range("mesh.session_count", sessions, 1, UVEA_SEARCH_SESSIONS_MAX, context));
    UVEA_TRY(check_given("search.kernel", config->search.kernel, context));
    if (config->search.path == UVEA_SEARCH_NTT) {
        UVEA_TRY(check_given("search.spectral_kernel", config->search.spectral_kernel, context));
    }
    UVEA_TRY(check_range("search.full_scan_eye", config->search.full_scan_eye, UVEA_EYE_LEFT,
                         UVEA_EYE_RIGHT, context));
    return check_range("search.chunk_records_max", config->search.chunk_records_max, 1,
                       UVEA_SEARCH_CHUNK_RECORDS, context);
}

static enum uvea_error check_times(const struct uvea_node_config *config,
                                   struct uvea_error_context *context)
{
    const uint64_t max = UVEA_NEVER - 1;

    UVEA_TRY(check_range("processing_ns_max", config->processing_ns_max, 1, max, context));
    UVEA_TRY(check_range("drain_ns_max", config->drain_ns_max, 0, max, context));
    UVEA_TRY(check_range("ingest_ns", config->ingest_ns, 1, max, context));
    UVEA_TRY(check_range("ingest_backoff_ns_min", config->ingest_backoff_ns_min, 1,
                         config->ingest_backoff_ns_max, context));
    return check_range("ingest_backoff_ns_max", config->ingest_backoff_ns_max, 1, max / 4, context);
}

enum uvea_error uvea_node_check_config(const struct uvea_node_config *config,
                                       struct uvea_error_context *context)
{
    UVEA_TRY(check_range("party", config->party.index, 0, UVEA_PARTY_COUNT - 1, context));
    if (config->party.index != config->mesh.party.index) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "party %u was given the mesh of party %u",
                              config->party.index, config->mesh.party.index);
    }
    UVEA_TRY(check_addresses(config, context));
    UVEA_TRY(check_search(config, context));
    UVEA_TRY(check_range("batch_requests_max", config->batch_requests_max, 1,
                         UVEA_BATCH_REQUESTS_MAX, context));
    UVEA_TRY(
        check_range("records_max", config->records_max, 1, UVEA_RESIDENT_RECORDS_MAX, context));
    UVEA_TRY(check_range("modifications_lookback", config->modifications_lookback, 1,
                         UVEA_SYNC_MODIFICATIONS_MAX, context));
    UVEA_TRY(check_range("cold_cache_records", config->cold_cache_records, 0, UVEA_COLD_RECORDS_MAX,
                         context));
    UVEA_TRY(check_range("policy.luc_lookback_records", config->policy.luc_lookback_records, 0,
                         UVEA_COLD_RECORDS_MAX - 1, context));
    return check_times(config, context);
}

// ---- what the parties must have in common: the reference's names where it has one

static bool put_number(json_t *object, const char *name, uint64_t value)
{
    return uvea_service_put(object, name, json_integer((json_int_t)value));
}

static bool put_flag(json_t *object, const char *name, bool value)
{
    return uvea_service_put(object, name, json_boolean(value));
}

static bool put_text(json_t *object, const char *name, const char *value)
{
    return uvea_service_put(object, name, json_string(value));
}

static bool put_search(json_t *object, const struct uvea_node_config *config)
{
    const struct uvea_search_config *search = &config->search;
    const bool left = search->full_scan_eye == UVEA_EYE_LEFT;

    return put_text(object, "full_scan_side", left ? "Left" : "Right") &&
           put_text(object, "scan_path", search->path == UVEA_SEARCH_NTT ? "ntt" : "ring") &&
           put_text(object, "predicate_form",
                    search->form == UVEA_PREDICATE_DENSE ? "dense" : "two-term") &&
           put_text(object, "field_predicate_form",
                    search->field_form == UVEA_FIELD_PREDICATE_FULL ? "full" : "valid-range") &&
           put_number(object, "scan_chunk_records", search->chunk_records_max) &&
           put_number(object, "mpc_session_count", config->mesh.session_count) &&
           put_text(object, "prf", config->prf == UVEA_PRF_AES128 ? "aes128" : "chacha8");
}

static bool put_policy(json_t *object, const struct uvea_policy *policy)
{
    return put_flag(object, "luc_enabled", policy->luc_enabled) &&
           put_number(object, "luc_lookback_records", policy->luc_lookback_records) &&
           put_flag(object, "luc_serial_ids_from_smpc_request",
                    policy->luc_serial_ids_from_request) &&
           put_flag(object, "return_partial_results", policy->return_partial_results) &&
           put_number(object, "hnsw_param_ef_supermatch", policy->supermatch_limit);
}

static bool put_gates(json_t *object, const struct uvea_gates *gates)
{
    return put_flag(object, "enable_reauth", gates->enable_reauth) &&
           put_flag(object, "enable_reset", gates->enable_reset) &&
           put_flag(object, "enable_recovery", gates->enable_recovery) &&
           put_flag(object, "enable_deletion", gates->enable_deletion);
}

json_t *uvea_node_common_config(const struct uvea_node_config *config)
{
    json_t *object = json_object();

    if (put_text(object, "environment", config->environment) && put_search(object, config) &&
        put_policy(object, &config->policy) && put_gates(object, &config->gates) &&
        put_number(object, "max_batch_size", config->batch_requests_max) &&
        put_number(object, "max_db_size", config->records_max) &&
        put_number(object, "max_modifications_lookback", config->modifications_lookback)) {
        return object;
    }
    json_decref(object);
    return NULL;
}
