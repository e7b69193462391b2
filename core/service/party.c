#include "core/service/party.h"

#include "core/base/mem.h"
#include "core/mpc/session.h"
#include "core/net/control.h"
#include "core/scan/fanout.h"
#include "core/service/engine.h"
#include "core/service/uniqueness.h"

struct party_run {
    struct uvea_rt *rt;
    const struct uvea_party_config *config;
    struct uvea_mesh *mesh;
    struct uvea_control *control;
    struct uvea_session *sessions;    // by position; owned
    struct uvea_session **session_at; // the same as pointers; owned
    size_t session_count;             // 0 until the sessions may be looked at
    uint64_t answered;
    struct uvea_spectral spectral; // of the scanned eye, on the NTT path
    struct uvea_engine engine;
};

// ---- coming up

static enum uvea_error check_config(const struct uvea_party_config *config,
                                    struct uvea_error_context *context)
{
    const uint32_t sessions = config->mesh.session_count;

    if (config->party.index != config->mesh.party.index) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "party %u was given the mesh of party %u",
                              config->party.index, config->mesh.party.index);
    }
    if (sessions == 0 || sessions % UVEA_SEARCH_SESSION_MULTIPLE != 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%u sessions: want a multiple of %d",
                              (unsigned)sessions, UVEA_SEARCH_SESSION_MULTIPLE);
    }
    return UVEA_OK;
}

// wire.md 4: before the sessions have streams of their own, so on a session that has none.
static enum uvea_error share_seed(struct party_run *run, struct uvea_error_context *context)
{
    struct uvea_session bare = {
        .rt = run->rt,
        .link = uvea_mesh_link(run->mesh, 0),
        .party = run->config->party,
        .id = uvea_mesh_session_id(run->mesh, 0),
    };
    const enum uvea_error error = uvea_session_shared_seed(&bare, run->engine.run_seed);

    if (error != UVEA_OK && context != NULL) {
        *context = bare.error;
    }
    return error;
}

static enum uvea_error bring_up_session(void *arg, size_t position,
                                        struct uvea_error_context *context)
{
    struct party_run *run = arg;
    struct uvea_session *session = &run->sessions[position];
    const enum uvea_error error = uvea_session_init(
        session, run->rt, uvea_mesh_link(run->mesh, (uint32_t)position), run->config->party,
        uvea_mesh_session_id(run->mesh, (uint32_t)position), run->config->prf);

    if (error != UVEA_OK && context != NULL) {
        *context = session->error;
    }
    return error;
}

static enum uvea_error open_sessions(struct party_run *run, struct uvea_error_context *context)
{
    const size_t count = run->config->mesh.session_count;

    run->sessions = uvea_mem_alloc(count, sizeof(*run->sessions));
    run->session_at = uvea_mem_alloc(count, sizeof(*run->session_at));
    if (run->sessions == NULL || run->session_at == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        run->session_at[i] = &run->sessions[i];
    }
    run->session_count = count;
    UVEA_TRY(share_seed(run, context));
    return uvea_fanout(run->rt, "session seeds", bring_up_session, run, count,
                       UVEA_FANOUT_TASKS_MAX, context);
}

static void set_up_engine(struct party_run *run, struct uvea_resident *resident,
                          struct uvea_cold *cold)
{
    struct uvea_engine *engine = &run->engine;

    engine->rt = run->rt;
    engine->party = run->config->party;
    engine->policy = &run->config->policy;
    engine->resident = resident;
    engine->spectral = run->config->search.path == UVEA_SEARCH_NTT ? &run->spectral : NULL;
    engine->search = (struct uvea_search){
        .rt = run->rt,
        .config = &run->config->search,
        .resident = resident,
        .cold = cold,
        .spectral = engine->spectral,
        .sessions = run->session_at,
        .session_count = run->session_count,
    };
}

// The states agree by now, so all parties convert the same records.
static enum uvea_error convert_records(struct party_run *run, const struct uvea_resident *resident,
                                       struct uvea_error_context *context)
{
    const struct uvea_search_config *search = &run->config->search;
    const struct uvea_spectral_load load = {
        .rt = run->rt,
        .sessions = run->session_at,
        .session_count = run->session_count,
        .resident = resident,
    };

    if (run->engine.spectral == NULL) {
        return UVEA_OK;
    }
    UVEA_TRY(uvea_spectral_init(&run->spectral, search->spectral_kernel, resident->records_max));
    return uvea_spectral_convert_all(&load, &run->spectral, context);
}

static enum uvea_error come_up(struct party_run *run, struct uvea_resident *resident,
                               struct uvea_cold *cold, struct uvea_error_context *context)
{
    UVEA_TRY(check_config(run->config, context));
    UVEA_TRY(uvea_mesh_open(run->rt, &run->config->mesh, &run->mesh, context));
    UVEA_TRY(uvea_mesh_connect(run->mesh, context));
    UVEA_TRY(uvea_control_open(run->mesh, &run->control, context));
    UVEA_TRY(open_sessions(run, context));
    set_up_engine(run, resident, cold);
    UVEA_TRY(uvea_engine_check_state(&run->engine, context));
    return convert_records(run, resident, context);
}

// ---- serving

static struct uvea_party_stats count_stats(const struct party_run *run)
{
    struct uvea_party_stats stats = {
        .requests = run->answered,
        .errors = run->engine.errors,
        .comparisons = run->engine.comparisons,
        .bytes_sent = run->mesh == NULL ? 0 : uvea_mesh_bytes_sent(run->mesh),
    };

    for (size_t i = 0; i < run->session_count; i++) {
        const struct uvea_traffic *traffic = &run->sessions[i].traffic;
        stats.messages += traffic->messages;
        stats.value_bytes += traffic->value_bytes;
        stats.and_words += traffic->and_words;
    }
    return stats;
}

static enum uvea_error process(struct party_run *run, const struct uvea_request *request,
                               struct uvea_response *response, struct uvea_error_context *context)
{
    switch (request->kind) {
    case UVEA_REQUEST_UNIQUENESS:
        return uvea_uniqueness_process(&run->engine, &request->uniqueness, response, context);
    }
    return uvea_error_set(context, UVEA_ERR_USAGE, "unknown kind of request %d",
                          (int)request->kind);
}

static enum uvea_error answer(struct party_run *run, const struct uvea_request *request,
                              struct uvea_channel *responses, struct uvea_error_context *context)
{
    struct uvea_response *response = uvea_mem_alloc(1, sizeof(*response));
    enum uvea_error error;

    if (response == NULL) {
        return UVEA_ERR_MEMORY;
    }
    response->request = request;
    UVEA_TRY_CLEANUP(process(run, request, response, context));
    run->answered++;
    response->stats = count_stats(run);
    error = uvea_rt_channel_send(run->rt, responses, response, UVEA_NEVER);
    if (error != UVEA_OK) {
        error = uvea_error_set(context, error, "nobody takes responses any more");
    }
cleanup:
    if (error != UVEA_OK) {
        uvea_response_free(response);
    }
    return error;
}

static enum uvea_error serve(struct party_run *run, struct uvea_channel *requests,
                             struct uvea_channel *responses, struct uvea_error_context *context)
{
    for (;;) {
        void *item;
        const enum uvea_error error = uvea_rt_channel_recv(run->rt, requests, &item, UVEA_NEVER);
        if (error == UVEA_ERR_CLOSED) {
            return UVEA_OK;
        }
        UVEA_TRY(error);
        UVEA_TRY(answer(run, item, responses, context));
    }
}

// ---- going down

// Nobody may close a connection that another party still works on, so all three meet first.
static enum uvea_error part(struct party_run *run, struct uvea_error_context *context)
{
    return uvea_control_barrier(
        run->control, uvea_rt_deadline_ns(run->rt, run->config->mesh.recv_ns_max), context);
}

static void close_run(struct party_run *run)
{
    for (size_t i = 0; i < run->session_count; i++) {
        uvea_session_deinit(&run->sessions[i]);
    }
    uvea_mem_free(run->sessions);
    uvea_mem_free(run->session_at);
    uvea_spectral_deinit(&run->spectral);
    uvea_control_close(run->control);
    uvea_mesh_close(run->mesh);
    uvea_mem_wipe(run->engine.run_seed, sizeof(run->engine.run_seed));
}

enum uvea_error uvea_party_run(struct uvea_rt *rt, const struct uvea_party_config *config,
                               struct uvea_resident *resident, struct uvea_cold *cold,
                               struct uvea_channel *requests, struct uvea_channel *responses,
                               struct uvea_party_stats *stats, struct uvea_error_context *context)
{
    struct party_run run = {.rt = rt, .config = config};
    enum uvea_error error;

    if (context != NULL) {
        context->text[0] = '\0';
    }
    UVEA_TRY_CLEANUP(come_up(&run, resident, cold, context));
    UVEA_TRY_CLEANUP(serve(&run, requests, responses, context));
    UVEA_TRY_CLEANUP(part(&run, context));
cleanup:
    if (error != UVEA_OK && context != NULL && context->text[0] == '\0') {
        error = uvea_error_set(context, error, "party %u: %s", config->party.index,
                               uvea_error_text(error));
    }
    *stats = count_stats(&run);
    close_run(&run);
    uvea_rt_channel_shut(rt, responses);
    return error;
}
