// Measures the ring kernel: comparisons per second, against what memory can deliver.
// Usage: bench_ring [RECORDS [REPETITIONS]]
#include "core/base/mem.h"
#include "core/kernel/ring_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    RECORDS_DEFAULT = 4096,
    RECORDS_MAX = 1 << 20,
    REPETITIONS_DEFAULT = 5,
    REPETITIONS_MAX = 1000,
    CHUNK = 4096, // records per call, as a scan has them
    RECORD_BYTES = UVEA_RECORD_COEFFICIENTS * 2,
};

struct bench {
    size_t record_count;
    size_t repetitions;
    struct uvea_ring_query *query;
    uint16_t *resident; // record_count records, one after the other
    const uint16_t **records;
    uint16_t *scores; // of one chunk
};

// The thread's processor time: the same as wall time on an idle machine, and still fair on a busy
// one.
static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fill(uint64_t seed, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        out[i] = (uint16_t)(seed >> 48);
    }
}

static int prepare(struct bench *bench)
{
    uint16_t *share = uvea_mem_alloc(UVEA_RECORD_COEFFICIENTS, sizeof(*share));
    bench->query = uvea_mem_alloc(1, sizeof(*bench->query));
    bench->resident = uvea_mem_alloc(bench->record_count, RECORD_BYTES);
    bench->records = (const uint16_t **)uvea_mem_alloc(bench->record_count, sizeof(uint16_t *));
    bench->scores = uvea_mem_alloc(CHUNK, UVEA_SCORES_PER_RECORD * sizeof(uint16_t));
    if (share == NULL || bench->query == NULL || bench->resident == NULL ||
        bench->records == NULL || bench->scores == NULL) {
        (void)fprintf(stderr, "bench_ring: out of memory for %zu records\n", bench->record_count);
        uvea_mem_free(share);
        return 0;
    }
    fill(1, share, UVEA_RECORD_COEFFICIENTS);
    uvea_ring_query_prepare(uvea_party_at(0), share, share + UVEA_SHARE_COEFFICIENTS, bench->query);
    uvea_mem_free(share);
    fill(2, bench->resident, bench->record_count * UVEA_RECORD_COEFFICIENTS);
    for (size_t i = 0; i < bench->record_count; i++) {
        bench->records[i] = bench->resident + i * UVEA_RECORD_COEFFICIENTS;
    }
    return 1;
}

static void release(struct bench *bench)
{
    uvea_mem_free(bench->query);
    uvea_mem_free(bench->resident);
    uvea_mem_free((void *)bench->records);
    uvea_mem_free(bench->scores);
}

// Seconds to score all records once. Folds the scores into *checksum, so that two builds can be
// compared and nothing is optimised away.
static double scan_once(const struct uvea_ring_kernel *kernel, const struct bench *bench,
                        uint32_t *checksum)
{
    double seconds = 0;
    for (size_t first = 0; first < bench->record_count; first += CHUNK) {
        size_t left = bench->record_count - first;
        size_t count = left < CHUNK ? left : CHUNK;
        double start = now_s();
        kernel->scores(bench->query, bench->records + first, count, bench->scores);
        seconds += now_s() - start;
        for (size_t i = 0; i < count * UVEA_SCORES_PER_RECORD; i++) {
            *checksum = *checksum * 31 + bench->scores[i];
        }
    }
    return seconds;
}

// Seconds to read all records once and do next to nothing with them: the ceiling for any kernel
// that reads every record from memory.
static double read_once(const struct bench *bench, uint32_t *checksum)
{
    enum { LANES = 32 };
    const uint64_t *words = (const uint64_t *)bench->resident;
    size_t count = bench->record_count * RECORD_BYTES / sizeof(*words);
    _Static_assert(RECORD_BYTES % (LANES * sizeof(*words)) == 0, "no words are left over");
    uint64_t sum[LANES] = {0};
    double start = now_s();
    for (size_t i = 0; i < count; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            sum[lane] ^= words[i + lane];
        }
    }
    double seconds = now_s() - start;
    for (size_t lane = 0; lane < LANES; lane++) {
        *checksum ^= (uint32_t)sum[lane];
    }
    return seconds;
}

static void measure(const struct uvea_ring_kernel *kernel, const struct bench *bench)
{
    double scan_best = 1e30;
    double read_best = 1e30;
    uint32_t checksum = 0;
    uint32_t ignored = 0;
    for (size_t i = 0; i < bench->repetitions; i++) {
        checksum = 0;
        double scan = scan_once(kernel, bench, &checksum);
        double read = read_once(bench, &ignored);
        scan_best = scan < scan_best ? scan : scan_best;
        read_best = read < read_best ? read : read_best;
    }
    double comparisons = (double)bench->record_count;
    double scan_gb = comparisons * RECORD_BYTES / scan_best / 1e9;
    double read_gb = comparisons * RECORD_BYTES / read_best / 1e9;
    (void)printf("kernel %s, compiler %s\n", kernel->name, __VERSION__);
    (void)printf(
        "a comparison: one record, one eye, one orientation, all %d rotations, one party\n",
        UVEA_ROTATION_COUNT);
    (void)printf("records %zu (%.1f MiB), best of %zu repetitions, one thread, processor time\n",
                 bench->record_count, comparisons * RECORD_BYTES / 1048576, bench->repetitions);
    (void)printf("comparisons_per_s %.0f\n", comparisons / scan_best);
    (void)printf("bytes_read_per_comparison %d\n", RECORD_BYTES);
    (void)printf("multiplications_per_comparison %d\n",
                 UVEA_RECORD_COEFFICIENTS * UVEA_ROTATION_COUNT);
    (void)printf("record_read_gb_per_s %.2f\n", scan_gb);
    (void)printf("memory_read_gb_per_s %.2f\n", read_gb);
    (void)printf("share_of_memory_bandwidth %.3f\n", scan_gb / read_gb);
    (void)printf("checksum %08x sums %08x\n", checksum, ignored);
}

static int parse(const char *text, size_t max, size_t *value)
{
    char *end;
    errno = 0;
    unsigned long long found = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || found == 0 || found > max) {
        (void)fprintf(stderr, "bench_ring: \"%s\" is not a number from 1 to %zu\n", text, max);
        return 0;
    }
    *value = (size_t)found;
    return 1;
}

int main(int argc, char **argv)
{
    struct bench bench = {.record_count = RECORDS_DEFAULT, .repetitions = REPETITIONS_DEFAULT};
    if (argc > 3) {
        (void)fprintf(stderr, "usage: bench_ring [RECORDS [REPETITIONS]]\n");
        return 2;
    }
    if ((argc > 1 && !parse(argv[1], RECORDS_MAX, &bench.record_count)) ||
        (argc > 2 && !parse(argv[2], REPETITIONS_MAX, &bench.repetitions))) {
        return 2;
    }
    int ready = prepare(&bench);
    if (ready) {
        measure(&uvea_ring_kernel_portable, &bench);
    }
    release(&bench);
    return ready ? 0 : 1;
}
