#include "core/scan/resident.h"
#include "sim/cmd/bench_service.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    GOAL_COMPARISONS_S = 150000,
    MIB = 1 << 20,
};

// What a run comes down to.
struct figures {
    double comparisons_s; // at a party, the few of the other eye among them
    double cpu_us;        // of a comparison, all three parties together
    double bytes;         // that a party sends for a comparison
    double memory_ratio;  // highest peak, by the bound of 1.15 x records and 256 MiB
    double peak_mib;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

// Where the parties differ, the one that looks worst. What was done since `warm` is divided by the
// time since `before`, which is longer.
static struct figures figures_of(const struct uvea_bench_service *service,
                                 const struct uvea_bench_run *run,
                                 const struct uvea_bench_measured *measured)
{
    const double eyes = run->path == UVEA_SEARCH_NTT ? 2 : 1; // in the ring, and as spectra
    const double resident = (double)service->records * UVEA_RESIDENT_RECORD_BYTES * eyes;
    const double seconds = 1e-9 * (double)(measured->last.to_ns - measured->before.from_ns);
    double comparisons = INFINITY;
    double cpu_ns = 0;
    double bytes = 0;
    double peak = 0;
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        const struct uvea_bench_snapshot *warm = &measured->warm.party[i];
        const struct uvea_bench_snapshot *last = &measured->last.party[i];
        const double compared = (double)(last->comparisons - warm->comparisons);
        comparisons = compared < comparisons ? compared : comparisons;
        bytes += (double)(last->bytes_sent - warm->bytes_sent) / compared / UVEA_PARTY_COUNT;
        cpu_ns += (double)(last->cpu_ns - measured->before.party[i].cpu_ns);
        peak = larger(peak, (double)measured->peak_bytes[i]);
    }
    return (struct figures){
        .comparisons_s = comparisons / seconds,
        .cpu_us = 1e-3 * cpu_ns / comparisons,
        .bytes = bytes,
        .memory_ratio = peak / (1.15 * resident + 256.0 * MIB),
        .peak_mib = peak / MIB,
    };
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
        const struct uvea_bench_snapshot *last = &measured->last.party[i];
        ns += (double)(last->stage_ns[stage] - measured->before.party[i].stage_ns[stage]);
        requests += (double)(last->requests - measured->warm.party[i].requests);
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
