#include "core/daemon/daemon.h"

#include "core/daemon/descriptors.h"
#include "core/daemon/memory.h"
#include "core/daemon/monitor.h"
#include "core/daemon/settings.h"
#include "core/daemon/wipe.h"
#include "core/posix/signals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct daemon {
    const struct uvea_daemon_options *options;
    struct uvea_config config;
    struct uvea_settings settings;
    struct uvea_log log;
    struct uvea_monitor monitor;
    struct uvea_rt *rt;
    struct uvea_store *store;
    struct uvea_signals signals;
    // Reached by signals: changed by others only while they hold them.
    struct uvea_tls *tls;   // NULL without TLS, and before it is open
    struct uvea_node *node; // NULL before it is open and after it has run
    int stop_signal;        // the last that asked for a stop, 0 for none
};

// ---- signals

static const char *signal_name(int signal)
{
    return signal == SIGTERM ? "SIGTERM" : "SIGINT";
}

static void on_stop(void *arg, int signal)
{
    struct daemon *daemon = arg;

    const bool again = daemon->stop_signal != 0;
    daemon->stop_signal = signal;
    if (!again && daemon->node != NULL) {
        uvea_node_stop(daemon->node, signal_name(signal));
    }
    uvea_log_say(&daemon->log, again ? UVEA_LOG_WARN : UVEA_LOG_INFO,
                 again ? "ended at once" : "stopping", signal_name(signal));
    if (again) {
        _exit(UVEA_DAEMON_SIGNAL + signal);
    }
}

static void say_certificate(struct daemon *daemon, const char *event)
{
    struct uvea_tls_facts facts;
    struct uvea_log_line line;

    uvea_tls_facts(daemon->tls, &facts);
    uvea_log_begin(&daemon->log, &line, UVEA_LOG_INFO, event);
    uvea_log_text(&line, "not_after", facts.not_after);
    uvea_log_text(&line, "sha256", facts.fingerprint);
    uvea_log_end(&line);
}

static void on_reload(void *arg)
{
    struct daemon *daemon = arg;
    struct uvea_error_context context = {{0}};

    if (daemon->tls == NULL) {
        uvea_log_say(&daemon->log, UVEA_LOG_WARN, "reload", "there is no TLS to reload");
        return;
    }
    const enum uvea_error error = uvea_tls_reload(daemon->tls, &context);
    if (error == UVEA_OK) {
        say_certificate(daemon, "certificates reloaded");
    } else {
        uvea_log_say(&daemon->log, UVEA_LOG_ERROR, "certificates kept",
                     context.text[0] != '\0' ? context.text : uvea_error_text(error));
    }
}

// ---- the process

// A core dump, or a debugger of the same user, would have keys and shares.
static void forbid_dumps(bool forbidden)
{
    struct rlimit limit;

    (void)prctl(PR_SET_DUMPABLE, forbidden ? 0 : 1, 0, 0, 0);
    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = forbidden ? 0 : limit.rlim_max;
        (void)setrlimit(RLIMIT_CORE, &limit);
    }
}

// One event for each line.
static void say_complaints(struct uvea_log *log, const struct uvea_complaints *complaints)
{
    const char *text = (const char *)complaints->text.data;
    size_t at = 0;

    while (at < complaints->text.len) {
        char sentence[sizeof(struct uvea_error_context)];
        const char *end = memchr(text + at, '\n', complaints->text.len - at);
        const size_t bytes = end != NULL ? (size_t)(end - text) - at : complaints->text.len - at;

        (void)snprintf(sentence, sizeof(sentence), "%.*s", (int)bytes, text + at);
        uvea_log_say(log, UVEA_LOG_ERROR, "configuration", sentence);
        at += bytes + 1;
    }
}

// false: it was no good, and that was said.
static bool configure(struct daemon *daemon)
{
    struct uvea_complaints complaints = {.count = 0};

    uvea_log_init(&daemon->log, STDERR_FILENO);
    uvea_config_read(daemon->options->file, daemon->options->environment, &daemon->config,
                     &complaints);
    if (complaints.count == 0) {
        uvea_settings_make(&daemon->config, &daemon->settings, &complaints);
    }
    const bool good = complaints.count == 0;
    say_complaints(&daemon->log, &complaints);
    uvea_complaints_deinit(&complaints);
    if (good) {
        const struct uvea_config *config = &daemon->config;

        uvea_log_set(&daemon->log,
                     (enum uvea_log_level)uvea_config_number(config, UVEA_KEY_log_level),
                     (uint32_t)uvea_config_number(config, UVEA_KEY_log_refusals_per_minute));
    }
    return good;
}

static void say_starting(struct daemon *daemon)
{
    const struct uvea_node_config *node = &daemon->settings.node;
    const bool postgres = uvea_config_text(&daemon->config, UVEA_KEY_store_postgres_url) != NULL;
    struct uvea_log_line line;

    uvea_log_begin(&daemon->log, &line, UVEA_LOG_INFO, "starting");
    uvea_log_text(&line, "version", daemon->options->version);
    uvea_log_text(&line, "build", daemon->options->build);
    uvea_log_number(&line, "party", node->party.index);
    uvea_log_text(&line, "environment", node->environment);
    uvea_log_text(&line, "mesh", node->mesh.listen_address);
    uvea_log_text(&line, "http", node->http_address);
    uvea_log_text(&line, "store", postgres ? "postgres" : "sqlite");
    uvea_log_text(&line, "scan", node->search.path == UVEA_SEARCH_NTT ? "ntt" : "ring");
    uvea_log_text(&line, "ring_kernel", node->search.kernel->name);
    uvea_log_text(&line, "spectral_kernel", node->search.spectral_kernel->name);
    uvea_log_number(&line, "sessions", node->mesh.session_count);
    uvea_log_number(&line, "cpus", daemon->settings.posix.cpu_count);
    uvea_log_flag(&line, "tls", daemon->settings.with_tls);
    uvea_log_end(&line);
}

static enum uvea_daemon_exit fail(struct daemon *daemon, enum uvea_daemon_exit status,
                                  const char *event, enum uvea_error error,
                                  const struct uvea_error_context *context)
{
    struct uvea_log_line line;

    uvea_log_begin(&daemon->log, &line, UVEA_LOG_ERROR, event);
    uvea_log_text(&line, "error", uvea_error_name(error));
    uvea_log_text(&line, "message",
                  context->text[0] != '\0' ? context->text : uvea_error_text(error));
    uvea_log_number(&line, "status", status);
    uvea_log_end(&line);
    return status;
}

// ---- opening, in this order

static void say_descriptors(struct daemon *daemon)
{
    struct uvea_error_context context;

    if (uvea_descriptors_check(uvea_descriptors_need(&daemon->settings), uvea_descriptors_limit(),
                               &context) != UVEA_OK) {
        uvea_log_say(&daemon->log, UVEA_LOG_WARN, "descriptors", context.text);
    }
}

static enum uvea_daemon_exit open_runtime(struct daemon *daemon)
{
    struct uvea_error_context context = {{0}};
    struct uvea_tls *tls;
    enum uvea_error error;

    if (daemon->settings.with_tls) {
        error = uvea_tls_open(&daemon->settings.tls, &tls, &context);
        if (error != UVEA_OK) {
            return fail(daemon, UVEA_DAEMON_CONFIGURATION, "configuration", error, &context);
        }
        uvea_signals_hold(&daemon->signals);
        daemon->tls = tls;
        uvea_signals_release(&daemon->signals);
        say_certificate(daemon, "certificates loaded");
    } else {
        uvea_log_say(&daemon->log, UVEA_LOG_WARN, "unprotected",
                     "TLS is switched off: everything goes in the clear");
    }
    daemon->settings.posix.tls = daemon->tls;
    error = uvea_posix_open(&daemon->settings.posix, &daemon->rt, &context);
    if (error != UVEA_OK) {
        return fail(daemon, UVEA_DAEMON_FAILED, "stopped", error, &context);
    }
    say_descriptors(daemon);
    return UVEA_DAEMON_OK;
}

static enum uvea_daemon_exit open_store(struct daemon *daemon)
{
    const struct uvea_config *config = &daemon->config;
    const char *sqlite = uvea_config_text(config, UVEA_KEY_store_sqlite);
    struct uvea_error_context context = {{0}};
    enum uvea_error error;

    if (sqlite != NULL) {
        error = uvea_store_open_sqlite(daemon->rt, sqlite, NULL, &daemon->store, &context);
    } else {
        error = uvea_store_open_postgres(
            daemon->rt, uvea_config_text(config, UVEA_KEY_store_postgres_url),
            uvea_config_text(config, UVEA_KEY_store_schema), &daemon->store, &context);
    }
    return error == UVEA_OK ? UVEA_DAEMON_OK
                            : fail(daemon, UVEA_DAEMON_STORE, "store", error, &context);
}

static void say_memory(struct daemon *daemon, const struct uvea_memory_need *need,
                       uint64_t bytes_max, uint64_t available)
{
    const uint64_t limit = bytes_max != 0 && bytes_max < available ? bytes_max : available;
    const uint64_t room = uvea_memory_records(&daemon->settings.node, limit);
    const bool all = room == daemon->settings.node.records_max;
    struct uvea_log_line line;

    uvea_log_begin(&daemon->log, &line, all ? UVEA_LOG_INFO : UVEA_LOG_WARN, "memory");
    uvea_log_number(&line, "records", need->records);
    uvea_log_number(&line, "scanned_bytes", need->scanned_bytes);
    uvea_log_number(&line, "spectral_bytes", need->spectral_bytes);
    uvea_log_number(&line, "cold_bytes", need->cold_bytes);
    uvea_log_number(&line, "total_bytes", need->total_bytes);
    uvea_log_number(&line, "limit_bytes", limit);
    uvea_log_number(&line, "room_for_records", room);
    uvea_log_number(&line, "records_max", daemon->settings.node.records_max);
    uvea_log_end(&line);
}

static enum uvea_daemon_exit check_memory(struct daemon *daemon)
{
    const uint64_t bytes_max = uvea_config_number(&daemon->config, UVEA_KEY_scan_memory_bytes_max);
    const uint64_t available = uvea_memory_available("");
    struct uvea_error_context context = {{0}};
    uint64_t serial_max;
    uint64_t records;
    enum uvea_error error;

    error = uvea_store_count(daemon->store, &records, &serial_max, &context);
    if (error != UVEA_OK) {
        return fail(daemon, UVEA_DAEMON_STORE, "store", error, &context);
    }
    const struct uvea_memory_need need = uvea_memory_need(&daemon->settings.node, records);
    daemon->monitor.need_bytes = need.total_bytes;
    say_memory(daemon, &need, bytes_max, available);
    error = uvea_memory_check(&need, bytes_max, available, &context);
    return error == UVEA_OK ? UVEA_DAEMON_OK
                            : fail(daemon, UVEA_DAEMON_MEMORY, "memory", error, &context);
}

// ---- running

// A stop that was asked for before there was a node reaches it here.
static enum uvea_error open_node(struct daemon *daemon, struct uvea_error_context *context)
{
    struct uvea_node *node;

    UVEA_TRY(uvea_node_open(daemon->rt, &daemon->settings.node, daemon->store, &node, context));
    daemon->monitor.rt = daemon->rt;
    daemon->monitor.tls = daemon->tls;
    daemon->monitor.node = node;
    uvea_signals_hold(&daemon->signals);
    daemon->node = node;
    if (daemon->stop_signal != 0) {
        uvea_node_stop(node, signal_name(daemon->stop_signal));
    }
    uvea_signals_release(&daemon->signals);
    return UVEA_OK;
}

static void close_node(struct daemon *daemon)
{
    uvea_signals_hold(&daemon->signals);
    struct uvea_node *node = daemon->node;
    daemon->node = NULL;
    uvea_signals_release(&daemon->signals);
    uvea_node_close(node);
}

static enum uvea_daemon_exit run_node(struct daemon *daemon)
{
    struct uvea_error_context context = {{0}};
    struct uvea_log_line line;
    enum uvea_error error = open_node(daemon, &context);

    if (error == UVEA_OK) {
        error = uvea_node_run(daemon->node, &context);
    }
    if (error != UVEA_OK) {
        close_node(daemon);
        return fail(daemon, UVEA_DAEMON_FAILED, "stopped", error, &context);
    }
    const struct uvea_node_stats stats = uvea_node_stats(daemon->node);
    close_node(daemon);
    uvea_log_begin(&daemon->log, &line, UVEA_LOG_INFO, "stopped");
    uvea_log_text(&line, "message", context.text);
    uvea_log_number(&line, "batches", stats.batches);
    uvea_log_number(&line, "requests", stats.requests);
    uvea_log_number(&line, "uptime_s", uvea_monitor_uptime_s(&daemon->monitor));
    uvea_log_number(&line, "status", UVEA_DAEMON_OK);
    uvea_log_end(&line);
    return UVEA_DAEMON_OK;
}

static enum uvea_daemon_exit live(struct daemon *daemon)
{
    static enum uvea_daemon_exit (*const steps[])(struct daemon *) = {open_runtime, open_store,
                                                                      check_memory, run_node};
    enum uvea_daemon_exit status = UVEA_DAEMON_OK;

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && status == UVEA_DAEMON_OK; i++) {
        status = steps[i](daemon);
    }
    uvea_store_close(daemon->store);
    uvea_posix_close(daemon->rt);
    return status;
}

static enum uvea_daemon_exit live_with_signals(struct daemon *daemon)
{
    const struct uvea_error_context nothing = {{0}};
    enum uvea_daemon_exit status;
    enum uvea_error error;

    daemon->signals = (struct uvea_signals){.arg = daemon, .stop = on_stop, .reload = on_reload};
    error = uvea_signals_open(&daemon->signals);
    if (error != UVEA_OK) {
        return fail(daemon, UVEA_DAEMON_FAILED, "stopped", error, &nothing);
    }
    status = live(daemon);
    uvea_signals_close(&daemon->signals);
    uvea_tls_close(daemon->tls);
    return status;
}

enum uvea_daemon_exit uvea_daemon_run(const struct uvea_daemon_options *options)
{
    static struct daemon daemon;
    enum uvea_daemon_exit status = UVEA_DAEMON_CONFIGURATION;

    daemon.options = options;
    forbid_dumps(true);
    (void)umask(S_IRWXG | S_IRWXO); // the store holds shares
    uvea_wipe_json();
    if (configure(&daemon)) {
        forbid_dumps(uvea_config_number(&daemon.config, UVEA_KEY_process_core_dumps) == 0);
        daemon.monitor.log = &daemon.log;
        daemon.monitor.version = options->version;
        daemon.monitor.build = options->build;
        uvea_monitor_attach(&daemon.monitor, &daemon.settings);
        say_starting(&daemon);
        status = live_with_signals(&daemon);
    }
    uvea_log_settle(&daemon.log);
    uvea_settings_deinit(&daemon.settings);
    uvea_config_deinit(&daemon.config);
    uvea_log_deinit(&daemon.log);
    return status;
}
