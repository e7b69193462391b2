// What is told of a party's life while it lives: log lines as things happen, and numbers for
// GET /metrics. Its functions are called by the node and the runtime, from any of their threads.
#ifndef UVEA_CORE_DAEMON_MONITOR_H
#define UVEA_CORE_DAEMON_MONITOR_H

#include "core/daemon/log.h"
#include "core/daemon/settings.h"
#include "core/posix/posix.h"
#include "core/service/node.h"
#include "core/tls/tls.h"

#include <stdatomic.h>
#include <stdint.h>

// What became of a request.
#define UVEA_OUTCOMES(OUTCOME)                                                                     \
    OUTCOME(INSERTED, "inserted")                                                                  \
    OUTCOME(UPDATED, "updated")                                                                    \
    OUTCOME(UNCHANGED, "unchanged") /* matched, checked, or asked not to be kept */                \
    OUTCOME(ERROR, "error")

#define UVEA_OUTCOME_ENUM(name, text) UVEA_OUTCOME_##name,
enum uvea_outcome_kind { UVEA_OUTCOMES(UVEA_OUTCOME_ENUM) UVEA_OUTCOME_COUNT };
#undef UVEA_OUTCOME_ENUM

const char *uvea_outcome_text(enum uvea_outcome_kind outcome);

struct uvea_monitor {
    struct uvea_log *log;
    const char *version; // literals, for the label of a metric
    const char *build;
    const struct uvea_node_config *config;
    uint64_t started_ns; // wall clock
    struct uvea_rt *rt;  // known before the node runs, like the next three
    struct uvea_node *node;
    struct uvea_tls *tls; // NULL without TLS
    uint64_t need_bytes;  // of memory, as it was reported at the start
    uint64_t begun_ns;    // when the batch in work was begun
    uint64_t comparisons; // before it
    atomic_uint_fast64_t outcomes[UVEA_OUTCOME_COUNT];
    atomic_uint_fast64_t mesh_refused;
};

// Has the monitor told of everything that the two configurations can tell.
void uvea_monitor_attach(struct uvea_monitor *monitor, struct uvea_settings *settings);

// Seconds since the start, by the wall clock.
uint64_t uvea_monitor_uptime_s(const struct uvea_monitor *monitor);

// ---- metrics.c

// A uvea_http_handler_fn; arg is the monitor. GET /metrics in Prometheus' text format 0.0.4; other
// paths are 404.
void uvea_metrics_handle(void *arg, const struct uvea_http_request *request,
                         struct uvea_http_response *response);

#endif
