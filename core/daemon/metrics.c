#include "core/daemon/monitor.h"
#include "core/posix/file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STATUS_OK = 200,
    STATUS_NOT_FOUND = 404,
    STATUS_NOT_ALLOWED = 405,
    STATUS_FAILED = 500,
    LINE_BYTES = 512,
    TEXT_BYTES_MAX = 4096, // of a file of /proc
};

// A text that grows until something fails, and then stays as it is.
struct text {
    struct uvea_buf *buf;
    enum uvea_error error;
};

static void UVEA_PRINTF(2, 3) put(struct text *text, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (text->error == UVEA_OK && length > 0 && (size_t)length < sizeof(line)) {
        text->error = uvea_buf_append(text->buf, line, (size_t)length);
    }
}

static void put_head(struct text *text, const char *name, const char *type, const char *help)
{
    put(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_one(struct text *text, const char *name, const char *type, const char *help,
                    uint64_t value)
{
    put_head(text, name, type, help);
    put(text, "%s %" PRIu64 "\n", name, value);
}

static void put_labelled(struct text *text, const char *name, const char *label, const char *value,
                         uint64_t number)
{
    put(text, "%s{%s=\"%s\"} %" PRIu64 "\n", name, label, value, number);
}

static void put_seconds(struct text *text, uint64_t ns)
{
    put(text, "%" PRIu64 ".%09" PRIu64 "\n", ns / UVEA_SECOND, ns % UVEA_SECOND);
}

// ---- what there is

static void put_party(struct text *text, const struct uvea_monitor *monitor)
{
    const struct uvea_node_config *config = monitor->config;
    const bool ntt = config->search.path == UVEA_SEARCH_NTT;

    put_head(text, "uvea_info", "gauge", "What runs here.");
    put(text, "uvea_info{version=\"%s\",build=\"%s\",party=\"%u\",scan=\"%s\",kernels=\"%s\"} 1\n",
        monitor->version, monitor->build, config->party.index, ntt ? "ntt" : "ring",
        ntt ? config->search.spectral_kernel->name : config->search.kernel->name);
    put_head(text, "process_start_time_seconds", "gauge", "Start of the process since 1970.");
    put(text, "process_start_time_seconds ");
    put_seconds(text, monitor->started_ns);
}

static void put_work(struct text *text, const struct uvea_monitor *monitor,
                     const struct uvea_node_stats *stats)
{
    put_one(text, "uvea_batches_total", "counter", "Batches published.", stats->batches);
    put_head(text, "uvea_requests_total", "counter", "Requests committed, by what became of them.");
    for (unsigned i = 0; i < UVEA_OUTCOME_COUNT; i++) {
        put_labelled(text, "uvea_requests_total", "outcome",
                     uvea_outcome_text((enum uvea_outcome_kind)i),
                     atomic_load(&monitor->outcomes[i]));
    }
    put_one(text, "uvea_published_sequence", "gauge",
            "Sequence number of the last request whose result is published since the start.",
            stats->published_sequence);
    put_one(text, "uvea_comparisons_total", "counter",
            "Records compared, per eye and orientation, all rotations together.",
            stats->comparisons);
    put_one(text, "uvea_records", "gauge", "Records in the database.", stats->records);
    put_head(text, "uvea_stage_seconds_total", "counter",
             "Time by stage; lanes work side by side and are added up.");
    for (unsigned i = 0; i < UVEA_STAGE_COUNT; i++) {
        put(text, "uvea_stage_seconds_total{stage=\"%s\"} ", uvea_stage_text((enum uvea_stage)i));
        put_seconds(text, stats->stage_ns[i]);
    }
}

static void put_traffic(struct text *text, const struct uvea_monitor *monitor,
                        const struct uvea_node_stats *stats)
{
    const struct uvea_posix_counters counters = uvea_posix_counters(monitor->rt);

    put_one(text, "uvea_mesh_bytes_sent_total", "counter",
            "Bytes of MPC messages, without TLS, as of the last batch.", stats->bytes_sent);
    put_one(text, "uvea_stream_bytes_sent_total", "counter", "Bytes written to peers.",
            counters.stream_bytes_sent);
    put_one(text, "uvea_stream_bytes_received_total", "counter", "Bytes read from peers.",
            counters.stream_bytes_received);
    put_one(text, "uvea_http_requests_served_total", "counter", "HTTP requests answered.",
            counters.http_requests_served);
    put_one(text, "uvea_http_requests_made_total", "counter", "HTTP requests to peers.",
            counters.http_requests_made);
    put_head(text, "uvea_refused_total", "counter", "Connections turned away.");
    put_labelled(text, "uvea_refused_total", "where", "http", counters.http_refused);
    put_labelled(text, "uvea_refused_total", "where", "mesh", atomic_load(&monitor->mesh_refused));
    put_head(text, "uvea_points_total", "counter", "Named points of a party's life passed.");
    for (unsigned i = 0; i < UVEA_POINT_COUNT; i++) {
        put_labelled(text, "uvea_points_total", "point", uvea_point_text((enum uvea_point)i),
                     counters.points[i]);
    }
}

// Resident memory as the kernel counts it; 0 when it does not say.
static uint64_t resident_bytes(void)
{
    struct uvea_buf text = {0};
    uint64_t pages = 0;

    if (uvea_file_read("/proc/self/statm", TEXT_BYTES_MAX, &text, NULL) == UVEA_OK &&
        uvea_buf_append(&text, "", 1) == UVEA_OK) {
        const char *second = strchr((const char *)text.data, ' ');

        pages = second != NULL ? strtoull(second, NULL, 10) : 0;
    }
    uvea_buf_deinit(&text);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

// User and system.
static uint64_t cpu_ns(void)
{
    struct timespec used = {0};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * UVEA_SECOND + (uint64_t)used.tv_nsec;
}

static void put_machine(struct text *text, const struct uvea_monitor *monitor)
{
    struct uvea_tls_facts facts;

    put_one(text, "uvea_memory_need_bytes", "gauge",
            "Memory that was foreseen for the records at the start.", monitor->need_bytes);
    put_one(text, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
    put_head(text, "process_cpu_seconds_total", "counter", "Processor time, user and system.");
    put(text, "process_cpu_seconds_total ");
    put_seconds(text, cpu_ns());
    if (monitor->tls != NULL) {
        uvea_tls_facts(monitor->tls, &facts);
        put_head(text, "uvea_certificate_not_after_seconds", "gauge",
                 "When the own certificate expires, since 1970.");
        put(text, "uvea_certificate_not_after_seconds %" PRId64 "\n", facts.not_after_s);
    }
}

// ---- the path

static bool is_path(const char *target, const char *path)
{
    const size_t chars = strlen(path);

    return strncmp(target, path, chars) == 0 && (target[chars] == '\0' || target[chars] == '?');
}

static void refuse(struct uvea_http_response *response, unsigned status, const char *sentence)
{
    response->status = status;
    if (uvea_buf_append(&response->body, sentence, strlen(sentence)) != UVEA_OK) {
        response->status = STATUS_FAILED;
    }
}

void uvea_metrics_handle(void *arg, const struct uvea_http_request *request,
                         struct uvea_http_response *response)
{
    const struct uvea_monitor *monitor = arg;
    const struct uvea_node_stats stats = uvea_node_stats(monitor->node);
    struct text text = {.buf = &response->body, .error = UVEA_OK};

    if (!is_path(request->target, "/metrics")) {
        refuse(response, STATUS_NOT_FOUND, "no such path");
        return;
    }
    if (strcmp(request->method, "GET") != 0) {
        refuse(response, STATUS_NOT_ALLOWED, "use GET");
        return;
    }
    put_party(&text, monitor);
    put_work(&text, monitor, &stats);
    put_traffic(&text, monitor, &stats);
    put_machine(&text, monitor);
    response->status = text.error == UVEA_OK ? STATUS_OK : STATUS_FAILED;
}
