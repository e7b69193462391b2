#include "core/daemon/monitor.h"

#include <time.h>

static const char *const outcome_texts[] = {
#define OUTCOME_TEXT(name, text) text,
    UVEA_OUTCOMES(OUTCOME_TEXT)
#undef OUTCOME_TEXT
};

const char *uvea_outcome_text(enum uvea_outcome_kind outcome)
{
    return outcome_texts[outcome];
}

uint64_t uvea_monitor_uptime_s(const struct uvea_monitor *monitor)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * UVEA_SECOND + (uint64_t)now.tv_nsec;

    return now_ns > monitor->started_ns ? (now_ns - monitor->started_ns) / UVEA_SECOND : 0;
}

// ---- the node

static void see_listening(void *arg, const char *what, const char *address)
{
    struct uvea_monitor *monitor = arg;
    struct uvea_log_line line;

    uvea_log_begin(monitor->log, &line, UVEA_LOG_INFO, "listening");
    uvea_log_text(&line, "what", what);
    uvea_log_text(&line, "address", address);
    uvea_log_end(&line);
}

static void see_begun(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct uvea_monitor *monitor = arg;

    (void)party;
    (void)batch;
    monitor->begun_ns = uvea_rt_now_ns(monitor->rt);
    monitor->comparisons = uvea_node_stats(monitor->node).comparisons;
}

static enum uvea_outcome_kind outcome_of(const struct uvea_batch_entry *entry)
{
    if (entry->error_reason != NULL) {
        return UVEA_OUTCOME_ERROR;
    }
    switch (entry->mutation) {
    case UVEA_MUTATION_INSERT:
        return UVEA_OUTCOME_INSERTED;
    case UVEA_MUTATION_UPDATE:
        return UVEA_OUTCOME_UPDATED;
    default:
        return UVEA_OUTCOME_UNCHANGED;
    }
}

static void see_committed(void *arg, struct uvea_party party, const struct uvea_batch *batch)
{
    struct uvea_monitor *monitor = arg;
    uint64_t counts[UVEA_OUTCOME_COUNT] = {0};
    struct uvea_log_line line;

    (void)party;
    for (size_t i = 0; i < batch->count; i++) {
        counts[outcome_of(&batch->entries[i])]++;
    }
    uvea_log_begin(monitor->log, &line, UVEA_LOG_INFO, "batch");
    uvea_log_number(&line, "batch", batch->id);
    uvea_log_number(&line, "requests", batch->count);
    uvea_log_number(&line, "first_sequence", batch->entries[0].sequence);
    for (unsigned i = 0; i < UVEA_OUTCOME_COUNT; i++) {
        atomic_fetch_add(&monitor->outcomes[i], counts[i]);
        uvea_log_number(&line, outcome_texts[i], counts[i]);
    }
    uvea_log_number(&line, "comparisons",
                    uvea_node_stats(monitor->node).comparisons - monitor->comparisons);
    uvea_log_number(&line, "ms", (uvea_rt_now_ns(monitor->rt) - monitor->begun_ns) / UVEA_MS);
    uvea_log_end(&line);
}

// ---- the runtime

static const char *sentence_of(enum uvea_error error, const struct uvea_error_context *context)
{
    return context->text[0] != '\0' ? context->text : uvea_error_text(error);
}

static void see_mesh_refusal(void *arg, enum uvea_error error,
                             const struct uvea_error_context *context)
{
    struct uvea_monitor *monitor = arg;

    atomic_fetch_add(&monitor->mesh_refused, 1);
    uvea_log_refusal(monitor->log, UVEA_LOG_MESH, sentence_of(error, context));
}

static void see_http_refusal(void *arg, const struct uvea_error_context *why)
{
    struct uvea_monitor *monitor = arg;

    uvea_log_refusal(monitor->log, UVEA_LOG_HTTP, sentence_of(UVEA_ERR_PEER, why));
}

// Phases of a start are few; other points come with every request.
static bool is_phase(enum uvea_point point)
{
    return point == UVEA_POINT_SYNC_EXCHANGED || point == UVEA_POINT_ROLLED_FORWARD ||
           point == UVEA_POINT_REPLAYED || point == UVEA_POINT_INGEST_RECOVERED ||
           point == UVEA_POINT_LOADED || point == UVEA_POINT_READY;
}

static void see_point(void *arg, enum uvea_point point)
{
    struct uvea_monitor *monitor = arg;
    struct uvea_log_line line;
    const bool ready = point == UVEA_POINT_READY;
    const bool phase = is_phase(point);

    uvea_log_begin(monitor->log, &line, phase ? UVEA_LOG_INFO : UVEA_LOG_DEBUG,
                   ready   ? "ready"
                   : phase ? "phase"
                           : "point");
    if (!ready) {
        uvea_log_text(&line, "point", uvea_point_text(point));
    }
    if (phase) {
        uvea_log_number(&line, "uptime_s", uvea_monitor_uptime_s(monitor));
    }
    uvea_log_end(&line);
}

void uvea_monitor_attach(struct uvea_monitor *monitor, struct uvea_settings *settings)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    monitor->started_ns = (uint64_t)now.tv_sec * UVEA_SECOND + (uint64_t)now.tv_nsec;
    monitor->config = &settings->node;
    settings->node.observer = (struct uvea_node_observer){
        .arg = monitor,
        .listening = see_listening,
        .begun = see_begun,
        .committed = see_committed,
    };
    settings->node.more_paths = uvea_metrics_handle;
    settings->node.more_paths_arg = monitor;
    settings->node.mesh.refused = see_mesh_refusal;
    settings->node.mesh.refused_arg = monitor;
    settings->posix.refused = see_http_refusal;
    settings->posix.point = see_point;
    settings->posix.arg = monitor;
}
