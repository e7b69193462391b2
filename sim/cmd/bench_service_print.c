#include "sim/cmd/bench_service.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    GOAL_COMPARISONS_S = 150000,
    MIB = 1 << 20,
};

// What a run comes down to.
struct figures {
    double comparisons; // of the requests that count, the few of the other eye among them
    double comparisons_s;
    double cpu_us;       // of a comparison, all three parties together
    double bytes;        // that a party sends for a comparison
    double memory_ratio; // highest peak, by the bound of 1.15 x records and 256 MiB
    double peak_mib;
};

static struct figures figures_of(const struct uvea_bench_service *service,
                                 const struct uvea_bench_run *run,
                                 const struct uvea_bench_measured *measured)
{
    const double eyes = run->path == UVEA_SEARCH_NTT ? 2 : 1; // in the ring, and as spectra
    const double resident = (double)service->records * UVEA_RESIDENT_RECORD_BYTES * eyes;
    const struct uvea_node_stats *warm = &measured->warm[0].stats;
    struct figures figures = {
        .comparisons = (double)(measured->last[0].stats.comparisons - warm->comparisons),
    };
    double cpu_ns = 0;
    double bytes = 0;
    double peak = 0;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const double rss = (double)measured->rss_bytes[i];
        cpu_ns += (double)(measured->last[i].cpu_ns - measured->warm[i].cpu_ns);
        bytes += (double)(measured->last[i].stats.bytes_sent - measured->warm[i].stats.bytes_sent);
        peak = rss > peak ? rss : peak;
    }
    figures.comparisons_s = figures.comparisons / measured->seconds;
    figures.cpu_us = 1e-3 * cpu_ns / figures.comparisons;
    figures.bytes = bytes / UVEA_PARTY_COUNT / figures.comparisons;
    figures.memory_ratio = peak / (1.15 * resident + 256.0 * MIB);
    figures.peak_mib = peak / MIB;
    return figures;
}

static const char *path_text(const struct uvea_bench_run *run)
{
    return run->path == UVEA_SEARCH_NTT ? "ntt" : "ring";
}

static const char *tls_text(const struct uvea_bench_run *run)
{
    return run->tls ? "on" : "off";
}

// Milliseconds of a request, the mean over the parties.
static double stage_ms(const struct uvea_bench_measured *measured, unsigned stage)
{
    double ns = 0;
    double requests = 0;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_node_stats *warm = &measured->warm[i].stats;
        const struct uvea_node_stats *last = &measured->last[i].stats;
        ns += (double)(last->stage_ns[stage] - warm->stage_ns[stage]);
        requests += (double)(last->requests - warm->requests);
    }
    return 1e-6 * ns / requests;
}

static void print_stages(const struct uvea_bench_run *runs,
                         const struct uvea_bench_measured *measured, size_t count)
{
    (void)printf(
        "\nMilliseconds of a request by stage, the mean of the parties: the first seven are "
        "the main task's, the rest\nare added up over its lanes.\n\n|");
    for (size_t i = 0; i < count; i++) {
        (void)printf(" %s, TLS %s |", path_text(&runs[i]), tls_text(&runs[i]));
    }
    (void)printf(" stage |\n|");
    for (size_t i = 0; i < count; i++) {
        (void)printf("---:|");
    }
    (void)printf("---|\n");
    for (unsigned stage = 0; stage < UVEA_STAGE_COUNT; stage++) {
        (void)printf("|");
        for (size_t i = 0; i < count; i++) {
            (void)printf(" %.1f |", stage_ms(&measured[i], stage));
        }
        (void)printf(" %s |\n", uvea_stage_text((enum uvea_stage)stage));
    }
}

void uvea_bench_service_print(const struct uvea_bench_service *service,
                              const struct uvea_bench_run *runs,
                              const struct uvea_bench_measured *measured, size_t count)
{
    (void)printf(
        "\n%" PRIu64 " records per party, %" PRIu64 " requests after %d, %" PRIu64
        " in flight; chunks of %" PRIu64 " records, %" PRIu64 " sessions, %" PRIu64
        " connections\n\n"
        "| x goal | of first | comparisons/s | CPU us, 3 parties | bytes/party | of memory "
        "bound | peak MiB | start s | path | TLS |\n"
        "|---:|---:|---:|---:|---:|---:|---:|---:|---|---|\n",
        service->records, service->requests - UVEA_BENCH_WARM_REQUESTS, UVEA_BENCH_WARM_REQUESTS,
        service->in_flight, service->chunk_records, service->sessions, service->connections);
    double first = 0;
    for (size_t i = 0; i < count; i++) {
        const struct figures figures = figures_of(service, &runs[i], &measured[i]);
        first = i == 0 ? figures.comparisons_s : first;
        (void)printf("| %.2f | %.2f | %.0f | %.2f | %.1f | %.2f | %.0f | %.1f | %s | %s |\n",
                     figures.comparisons_s / GOAL_COMPARISONS_S, figures.comparisons_s / first,
                     figures.comparisons_s, figures.cpu_us, figures.bytes, figures.memory_ratio,
                     figures.peak_mib, measured[i].start_s, path_text(&runs[i]),
                     tls_text(&runs[i]));
    }
    print_stages(runs, measured, count);
}

void uvea_bench_service_print_json(const struct uvea_bench_service *service,
                                   const struct uvea_bench_run *runs,
                                   const struct uvea_bench_measured *measured, size_t count)
{
    (void)printf("{\"records\": %" PRIu64 ", \"requests\": %" PRIu64 ", \"in_flight\": %" PRIu64
                 ", \"runs\": [",
                 service->records, service->requests, service->in_flight);
    for (size_t i = 0; i < count; i++) {
        const struct figures figures = figures_of(service, &runs[i], &measured[i]);
        (void)printf("%s\n {\"path\": \"%s\", \"tls\": %s, \"comparisons_per_s\": %.1f, "
                     "\"cpu_us_per_comparison\": %.4f, \"bytes_per_comparison\": %.2f, "
                     "\"peak_rss_mib\": %.1f, \"of_memory_bound\": %.4f, \"start_s\": %.2f, "
                     "\"stage_ms\": {",
                     i == 0 ? "" : ",", path_text(&runs[i]), runs[i].tls ? "true" : "false",
                     figures.comparisons_s, figures.cpu_us, figures.bytes, figures.peak_mib,
                     figures.memory_ratio, measured[i].start_s);
        for (unsigned stage = 0; stage < UVEA_STAGE_COUNT; stage++) {
            (void)printf("%s\"%s\": %.3f", stage == 0 ? "" : ", ",
                         uvea_stage_text((enum uvea_stage)stage), stage_ms(&measured[i], stage));
        }
        (void)printf("}}");
    }
    (void)printf("\n]}\n");
}
