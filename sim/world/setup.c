#include "sim/world/setup.h"

#include "sim/runtime/random.h"

#include <stdio.h>
#include <string.h>

const char *const uvea_setup_http_addresses[UVEA_PARTY_COUNT] = {"p0:8000", "p1:8000", "p2:8000"};
const char *const uvea_setup_mesh_addresses[UVEA_PARTY_COUNT] = {"p0:7000", "p1:7000", "p2:7000"};

static uint64_t option(const struct uvea_scenario *scenario, enum uvea_option which)
{
    return scenario->options[which];
}

// ---- the simulator

static struct uvea_sim_link_config link_of(const struct uvea_scenario *scenario)
{
    return (struct uvea_sim_link_config){
        .latency_ns = option(scenario, UVEA_OPTION_network_latency_us) * 1000,
        .jitter_ns = option(scenario, UVEA_OPTION_network_jitter_us) * 1000,
        .bandwidth_bits_s = option(scenario, UVEA_OPTION_network_bandwidth_mbit) * 1000000,
        .window_bytes = option(scenario, UVEA_OPTION_network_buffer_bytes),
        .piece_bytes_max = option(scenario, UVEA_OPTION_network_piece_bytes_max),
    };
}

void uvea_setup_sim(const struct uvea_scenario *scenario, struct uvea_sim_config *config)
{
    uvea_sim_config_init(config);
    config->seed = option(scenario, UVEA_OPTION_root_seed);
    config->network.link = link_of(scenario);
    config->step_budget = option(scenario, UVEA_OPTION_limits_steps);
    config->time_budget_ns = option(scenario, UVEA_OPTION_limits_sim_s) * UVEA_SECOND;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const uint64_t offset_ms =
            option(scenario, (enum uvea_option)(UVEA_OPTION_clocks_p0_offset_ms + party));
        config->nodes[party].clock_offset_ns = (int64_t)(offset_ms * UVEA_MS);
        config->nodes[party].clock_drift_ppm =
            (int32_t)option(scenario, (enum uvea_option)(UVEA_OPTION_clocks_p0_drift_ppm + party));
    }
}

// ---- a party

static struct uvea_mesh_config mesh_of(const struct uvea_scenario *scenario, unsigned index)
{
    struct uvea_mesh_config mesh = uvea_mesh_config_default(uvea_party_at(index));
    mesh.listen_address = uvea_setup_mesh_addresses[index];
    memcpy(mesh.dial_address, uvea_setup_mesh_addresses, sizeof(mesh.dial_address));
    mesh.session_count = (uint32_t)option(scenario, UVEA_OPTION_root_sessions);
    mesh.connection_count = (uint32_t)option(scenario, UVEA_OPTION_root_connections);
    mesh.value_bytes_max = option(scenario, UVEA_OPTION_network_value_bytes_max);
    mesh.recv_ns_max = option(scenario, UVEA_OPTION_network_recv_timeout_ms) * UVEA_MS;
    return mesh;
}

static struct uvea_policy policy_of(const struct uvea_scenario *scenario)
{
    return (struct uvea_policy){
        .luc_enabled = true,
        .luc_lookback_records = (uint32_t)option(scenario, UVEA_OPTION_service_lookback),
        .luc_serial_ids_from_request = option(scenario, UVEA_OPTION_service_or_rule) != 0,
        .return_partial_results = option(scenario, UVEA_OPTION_service_partial_results) != 0,
        .supermatch_limit = (uint32_t)option(scenario, UVEA_OPTION_service_supermatch_limit),
    };
}

static struct uvea_search_config search_of(const struct uvea_scenario *scenario)
{
    bool ring = option(scenario, UVEA_OPTION_root_scan) == 0;
    bool dense = option(scenario, UVEA_OPTION_root_predicate) == 0;
    bool full = option(scenario, UVEA_OPTION_root_field_predicate) == 0;
    return (struct uvea_search_config){
        .full_scan_eye = (enum uvea_eye)option(scenario, UVEA_OPTION_service_full_scan_eye),
        .path = ring ? UVEA_SEARCH_RING : UVEA_SEARCH_NTT,
        .form = dense ? UVEA_PREDICATE_DENSE : UVEA_PREDICATE_TWO_TERM,
        .field_form = full ? UVEA_FIELD_PREDICATE_FULL : UVEA_FIELD_PREDICATE_VALID_RANGE,
        .chunk_records_max = option(scenario, UVEA_OPTION_root_chunk_records),
    };
}

static enum uvea_error choose_kernels(const struct uvea_scenario *scenario, unsigned index,
                                      struct uvea_search_config *search,
                                      struct uvea_error_context *context)
{
    enum uvea_option which = (enum uvea_option)(UVEA_OPTION_kernels_p0 + index);
    char name[64];
    uvea_option_format(which, option(scenario, which), name);
    if (uvea_search_take_kernels(search, name) != UVEA_OK) {
        return uvea_error_set(context, UVEA_ERR_NOT_FOUND,
                              "kernels.p%u: this processor has no kernels '%s'", index, name);
    }
    return UVEA_OK;
}

enum uvea_error uvea_setup_keys(const struct uvea_scenario *scenario, unsigned index,
                                struct uvea_share_keys *keys)
{
    struct uvea_sim_random random;
    uint8_t seed[UVEA_SHARE_KEY_BYTES];
    char name[16];
    (void)snprintf(name, sizeof(name), "keys/p%u", index);
    uvea_sim_random_init(&random, option(scenario, UVEA_OPTION_root_seed), name);
    uvea_sim_random_fill(&random, seed, sizeof(seed));
    *keys = (struct uvea_share_keys){.has_previous = false};
    return uvea_share_key_pair_from_seed(seed, &keys->current);
}

// All but kernels and keys.
static void describe_node(const struct uvea_scenario *scenario, unsigned index,
                          struct uvea_node_config *config)
{
    *config = uvea_node_config_default(uvea_party_at(index));
    config->environment = "simulation";
    config->image_name = "uvea";
    config->mesh = mesh_of(scenario, index);
    config->prf = option(scenario, UVEA_OPTION_root_prf) == 0 ? UVEA_PRF_AES128 : UVEA_PRF_CHACHA8;
    config->search = search_of(scenario);
    config->policy = policy_of(scenario);
    config->gates = (struct uvea_gates){
        .enable_reauth = option(scenario, UVEA_OPTION_service_enable_reauth) != 0,
        .enable_reset = option(scenario, UVEA_OPTION_service_enable_reset) != 0,
        .enable_recovery = option(scenario, UVEA_OPTION_service_enable_recovery) != 0,
        .enable_deletion = option(scenario, UVEA_OPTION_service_enable_deletion) != 0,
    };
    config->batch_requests_max = (uint32_t)option(scenario, UVEA_OPTION_service_batch_requests_max);
    config->records_max = (uint32_t)option(scenario, UVEA_OPTION_service_record_limit);
    config->modifications_lookback =
        (uint32_t)option(scenario, UVEA_OPTION_service_modifications_lookback);
    config->cold_cache_records = option(scenario, UVEA_OPTION_service_cold_cache);
    config->http_address = uvea_setup_http_addresses[index];
    memcpy(config->peer_http_addresses, uvea_setup_http_addresses,
           sizeof(config->peer_http_addresses));
}

enum uvea_error uvea_setup_node(const struct uvea_scenario *scenario, unsigned index,
                                struct uvea_node_config *config, struct uvea_error_context *context)
{
    struct uvea_node_config described;
    describe_node(scenario, index, &described);
    UVEA_TRY(choose_kernels(scenario, index, &described.search, context));
    UVEA_TRY(uvea_setup_keys(scenario, index, &described.keys));
    *config = described;
    return UVEA_OK;
}

json_t *uvea_setup_common_config(const struct uvea_scenario *scenario)
{
    struct uvea_node_config config;
    describe_node(scenario, 0, &config);
    return uvea_node_common_config(&config);
}

// ---- the ledger

struct uvea_ledger_config uvea_setup_ledger(const struct uvea_scenario *scenario)
{
    return (struct uvea_ledger_config){
        .oracle =
            {
                .full_scan_eye =
                    (enum uvea_oracle_eye)option(scenario, UVEA_OPTION_service_full_scan_eye),
                .return_partial_results =
                    option(scenario, UVEA_OPTION_service_partial_results) != 0,
                .luc_enabled = true,
                .luc_lookback_records = (uint32_t)option(scenario, UVEA_OPTION_service_lookback),
                .luc_serial_ids_from_request = option(scenario, UVEA_OPTION_service_or_rule) != 0,
                .supermatch_limit =
                    (uint32_t)option(scenario, UVEA_OPTION_service_supermatch_limit),
            },
        .gates =
            {
                .reauth = option(scenario, UVEA_OPTION_service_enable_reauth) != 0,
                .reset = option(scenario, UVEA_OPTION_service_enable_reset) != 0,
                .recovery = option(scenario, UVEA_OPTION_service_enable_recovery) != 0,
                .deletion = option(scenario, UVEA_OPTION_service_enable_deletion) != 0,
            },
        .batch_requests_max = (uint32_t)option(scenario, UVEA_OPTION_service_batch_requests_max),
        .hostile = option(scenario, UVEA_OPTION_root_class) != 0,
    };
}
