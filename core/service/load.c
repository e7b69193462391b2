// The database in memory and the sessions that search it.
#include "core/base/mem.h"
#include "core/scan/fanout.h"
#include "core/service/node_impl.h"
#include "core/service/record.h"

#include <inttypes.h>

enum { LOAD_RECORDS = 64 }; // read from the store at a time

static enum uvea_eye scanned_eye(const struct uvea_node *node)
{
    return node->config.search.full_scan_eye;
}

// ---- records

static enum uvea_error load_record(void *arg, const struct uvea_store_record *record)
{
    struct uvea_node *node = arg;
    uint32_t index;

    if (record->serial != node->resident.count + 1) {
        return UVEA_ERR_STATE;
    }
    return uvea_resident_insert(&node->resident, record->eye[scanned_eye(node)], record->version,
                                &index);
}

// The eye that stays in the store.
static enum uvea_error read_cold(void *arg, uint32_t serial, uint16_t version,
                                 uint16_t out[UVEA_RECORD_COEFFICIENTS],
                                 struct uvea_error_context *context)
{
    struct uvea_node *node = arg;
    const enum uvea_eye eye = uvea_eye_other(scanned_eye(node));

    return uvea_store_read_eye(node->store, eye, serial, version, out, context);
}

static enum uvea_error open_cold(struct uvea_node *node)
{
    const struct uvea_policy *policy = &node->config.policy;
    const struct uvea_cold_config config = {
        .rt = node->rt,
        .cache_records = node->config.cold_cache_records,
        .window_records = policy->luc_enabled && policy->luc_lookback_records > 0
                              ? (size_t)policy->luc_lookback_records + 1
                              : 0,
        .read = read_cold,
        .arg = node,
    };

    return uvea_cold_open(&config, &node->cold);
}

enum uvea_error uvea_node_load(struct uvea_node *node, struct uvea_error_context *context)
{
    const unsigned eyes = 1u << scanned_eye(node);
    uint64_t count;
    uint64_t serial_max;

    UVEA_TRY(uvea_store_count(node->store, &count, &serial_max, context));
    UVEA_TRY(uvea_resident_init(&node->resident, node->config.records_max));
    for (uint64_t first = 1; first <= count; first += LOAD_RECORDS) {
        UVEA_TRY(uvea_store_read_records(node->store, (uint32_t)first, LOAD_RECORDS, eyes,
                                         load_record, node, context));
    }
    if (node->resident.count != count || count != serial_max) {
        return uvea_error_set(context, UVEA_ERR_STATE,
                              "%zu of %" PRIu64 " records are loaded, the largest serial is "
                              "%" PRIu64,
                              node->resident.count, count, serial_max);
    }
    UVEA_TRY(open_cold(node));
    return uvea_rt_point(node->rt, UVEA_POINT_LOADED);
}

// ---- sessions

// wire.md 4: before the sessions have streams of their own, so on a session that has none.
static enum uvea_error share_seed(struct uvea_node *node, struct uvea_error_context *context)
{
    struct uvea_session bare = {
        .rt = node->rt,
        .link = uvea_mesh_link(node->mesh, 0),
        .party = node->config.party,
        .id = uvea_mesh_session_id(node->mesh, 0),
    };

    return uvea_session_report(&bare, uvea_session_shared_seed(&bare, node->process.run_seed),
                               context);
}

static enum uvea_error bring_up_session(void *arg, size_t position,
                                        struct uvea_error_context *context)
{
    struct uvea_node *node = arg;
    struct uvea_session *session = &node->sessions[position];
    const enum uvea_error error = uvea_session_init(
        session, node->rt, uvea_mesh_link(node->mesh, (uint32_t)position), node->config.party,
        uvea_mesh_session_id(node->mesh, (uint32_t)position), node->config.prf);

    return uvea_session_report(session, error, context);
}

static enum uvea_error open_sessions(struct uvea_node *node, struct uvea_error_context *context)
{
    const size_t count = node->config.mesh.session_count;

    node->sessions = uvea_mem_alloc(count, sizeof(*node->sessions));
    node->session_at = uvea_mem_alloc(count, sizeof(struct uvea_session *));
    if (node->sessions == NULL || node->session_at == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        node->session_at[i] = &node->sessions[i];
    }
    node->session_count = count;
    UVEA_TRY(share_seed(node, context));
    return uvea_fanout(node->rt, "session seeds", bring_up_session, node, count,
                       UVEA_FANOUT_TASKS_MAX, context);
}

enum uvea_error uvea_node_connect(struct uvea_node *node, struct uvea_error_context *context)
{
    const struct uvea_guard_config guard = {
        .rt = node->rt,
        .coord = node->coord,
        .batch_ns_max = node->config.processing_ns_max,
        .drain_ns_max = node->config.drain_ns_max,
    };
    struct uvea_guard_config over_mesh = guard;

    UVEA_TRY(uvea_mesh_open(node->rt, &node->config.mesh, &node->mesh, context));
    uvea_node_say_listening(node, "mesh", node->config.mesh.listen_address);
    over_mesh.mesh = node->mesh;
    UVEA_TRY(uvea_guard_open(&over_mesh, &node->guard));
    UVEA_TRY(uvea_mesh_connect(node->mesh, context));
    UVEA_TRY(uvea_control_open(node->mesh, &node->control, context));
    uvea_guard_enter(node->guard, UVEA_GUARD_STARTING);
    return open_sessions(node, context);
}

// ---- what searches

static void set_up_process(struct uvea_node *node)
{
    struct uvea_process *process = &node->process;

    process->rt = node->rt;
    process->party = node->config.party;
    process->policy = &node->config.policy;
    process->resident = &node->resident;
    process->cold = node->cold;
    process->spectral = node->config.search.path == UVEA_SEARCH_NTT ? &node->spectral : NULL;
    process->search = (struct uvea_search){
        .rt = node->rt,
        .config = &node->config.search,
        .resident = &node->resident,
        .cold = node->cold,
        .spectral = process->spectral,
        .sessions = node->session_at,
        .session_count = node->session_count,
        .stages = &node->stages,
    };
    process->stages = &node->stages;
    process->agree = (struct uvea_agree){
        .rt = node->rt,
        .party = node->config.party,
        .sessions = node->session_at,
        .session_count = node->session_count,
    };
    uvea_record_dummy(process->party, &process->dummy);
}

// The states agree by now, so all parties load the same records.
static enum uvea_error load_spectra(struct uvea_node *node, struct uvea_error_context *context)
{
    const struct uvea_spectral_load load = {
        .rt = node->rt,
        .sessions = node->session_at,
        .session_count = node->session_count,
        .resident = &node->resident,
    };

    if (node->process.spectral == NULL) {
        return UVEA_OK;
    }
    UVEA_TRY(uvea_spectral_init(&node->spectral, node->config.search.spectral_kernel,
                                node->config.records_max));
    return uvea_spectral_cache_load(&load, node->store, node->config.party, scanned_eye(node),
                                    &node->spectral, &node->process.spectral_cache, NULL, context);
}

enum uvea_error uvea_node_prepare(struct uvea_node *node, struct uvea_error_context *context)
{
    set_up_process(node);
    UVEA_TRY(
        uvea_agree_state(&node->process.agree, uvea_resident_checksum(&node->resident), context));
    return load_spectra(node, context);
}

void uvea_node_unload(struct uvea_node *node)
{
    for (size_t i = 0; i < node->session_count; i++) {
        uvea_session_deinit(&node->sessions[i]);
    }
    uvea_mem_free(node->sessions);
    uvea_mem_free(node->session_at);
    node->sessions = NULL;
    node->session_at = NULL;
    node->session_count = 0;
    uvea_control_close(node->control);
    uvea_guard_close(node->guard);
    uvea_mesh_close(node->mesh);
    node->control = NULL;
    node->guard = NULL;
    node->mesh = NULL;
    uvea_spectral_deinit(&node->spectral);
    uvea_cold_close(node->cold);
    node->cold = NULL;
    uvea_resident_deinit(&node->resident);
    uvea_mem_wipe(&node->process, sizeof(node->process));
}
