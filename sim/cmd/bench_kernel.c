#include "core/base/mem.h"
#include "core/kernel/ring_kernel.h"
#include "sim/cmd/bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPETITIONS = 7,     // medians are of these
    CALL_RECORDS = 1024, // records in one call of a kernel, as a scan has them
    RING_RECORDS = 1024, // of each thread: the ring kernels are slow
    SPECIMENS = 64,      // different records; the rest repeat them
    TILE_RECORDS_MAX = 64,
    RECORD_BYTES = UVEA_PAYLOAD_BYTES,
    QUERIES_MAX = UVEA_SPECTRAL_QUERIES_MAX,
};
_Static_assert(RECORD_BYTES == 2 * UVEA_RECORD_COEFFICIENTS, "both forms are equally long");

// What all threads share.
struct bench {
    const struct uvea_bench_arguments *arguments;
    struct uvea_spectrum *specimens;
    const struct uvea_spectral_kernel *spectral;
    const struct uvea_ring_kernel *ring;
    void *queries[QUERIES_MAX]; // for the spectral kernel at hand
    size_t query_count;
    struct uvea_ring_query *ring_query;
};

// One thread, and the records that are its own.
struct worker {
    const struct bench *bench;
    void (*work)(struct worker *worker);
    pthread_t thread;
    size_t records;
    size_t done; // records of the last pass
    uint8_t *resident;
    uint16_t *scores;  // of one call
    uint64_t checksum; // keeps what is read from being optimised away
    double seconds;
};

static void fill_random(uint64_t seed, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        out[i] = (uint16_t)(seed >> 48);
    }
}

// ---- the work of one pass

// Every word once, and next to nothing done with it: the ceiling of any kernel that reads its
// records from memory.
static void read_all(struct worker *worker)
{
    enum { LANES = 32 };
    _Static_assert(RECORD_BYTES % (LANES * sizeof(uint64_t)) == 0, "no words are left over");
    const uint64_t *words = (const uint64_t *)worker->resident;
    size_t count = worker->records * RECORD_BYTES / sizeof(*words);
    uint64_t sum[LANES] = {0};
    for (size_t i = 0; i < count; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            sum[lane] ^= words[i + lane];
        }
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        worker->checksum ^= sum[lane];
    }
    worker->done = worker->records;
}

static void fill_tiles(struct worker *worker)
{
    const struct uvea_spectral_kernel *kernel = worker->bench->spectral;
    memset(worker->resident, 0, (worker->records + TILE_RECORDS_MAX) * RECORD_BYTES);
    for (size_t i = 0; i < worker->records; i++) {
        kernel->tile_put(worker->resident + i / kernel->tile_records * kernel->tile_bytes,
                         i % kernel->tile_records, worker->bench->specimens + i % SPECIMENS);
    }
    worker->done = worker->records;
}

static void score_tiles(struct worker *worker)
{
    const struct uvea_spectral_kernel *kernel = worker->bench->spectral;
    const void *tiles[CALL_RECORDS];
    const uint8_t *next = worker->resident;
    for (size_t first = 0; first < worker->records; first += CALL_RECORDS) {
        size_t left = worker->records - first;
        size_t count = left < CALL_RECORDS ? left : CALL_RECORDS;
        for (size_t i = 0; i < count; i += kernel->tile_records, next += kernel->tile_bytes) {
            tiles[i / kernel->tile_records] = next;
        }
        kernel->scores((const void *const *)worker->bench->queries, worker->bench->query_count,
                       tiles, count, worker->scores);
        worker->checksum += worker->scores[0];
    }
    worker->done = worker->records;
}

static void fill_shares(struct worker *worker)
{
    worker->done = worker->records < RING_RECORDS ? worker->records : RING_RECORDS;
    fill_random(2, (uint16_t *)worker->resident, worker->done * UVEA_RECORD_COEFFICIENTS);
}

// Once per orientation: a ring kernel takes one query at a time.
static void score_shares(struct worker *worker)
{
    const uint16_t *records[RING_RECORDS];
    size_t count = worker->records < RING_RECORDS ? worker->records : RING_RECORDS;
    for (size_t i = 0; i < count; i++) {
        records[i] = (const uint16_t *)worker->resident + i * UVEA_RECORD_COEFFICIENTS;
    }
    for (size_t i = 0; i < UVEA_BENCH_ORIENTATIONS; i++) {
        worker->bench->ring->scores(worker->bench->ring_query, records, count, worker->scores);
        worker->checksum += worker->scores[0];
    }
    worker->done = count * UVEA_BENCH_ORIENTATIONS;
}

// ---- threads

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    double start = uvea_bench_now_s();
    worker->work(worker);
    worker->seconds = uvea_bench_now_s() - start;
    return NULL;
}

// All workers at once. Gives records per second, added up over them.
static enum uvea_error run_all(struct worker *workers, size_t count, void (*work)(struct worker *),
                               double *records_per_s, struct uvea_error_context *context)
{
    size_t started = 0;
    while (started < count) {
        workers[started].work = work;
        if (pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]) != 0) {
            break;
        }
        started++;
    }
    *records_per_s = 0;
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        *records_per_s += (double)workers[i].done / workers[i].seconds;
    }
    return started == count
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_IO, "thread %zu of %zu could not be started",
                                started + 1, count);
}

// ---- measurements

struct samples {
    double at[REPETITIONS];
};

static int compare_doubles(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static double median(struct samples *samples)
{
    qsort(samples->at, REPETITIONS, sizeof(samples->at[0]), compare_doubles);
    return samples->at[REPETITIONS / 2];
}

struct rate {
    double comparisons_per_s;
    double bytes_per_s; // of records read from memory
    double read_share;  // of the bandwidth of plain reading
};

struct run {
    struct bench bench;
    struct worker *workers;
    size_t worker_count;
    double ring_comparisons_per_s; // of the portable ring kernel
};

// Passes of reading and of scoring take turns, so that both see the same machine. `at_once`
// comparisons are made with a record that is read once.
static enum uvea_error measure(struct run *run, void (*work)(struct worker *), size_t at_once,
                               struct rate *rate, struct uvea_error_context *context)
{
    struct samples scored;
    struct samples shares;
    for (size_t i = 0; i < REPETITIONS; i++) {
        double read;
        UVEA_TRY(run_all(run->workers, run->worker_count, read_all, &read, context));
        UVEA_TRY(run_all(run->workers, run->worker_count, work, &scored.at[i], context));
        shares.at[i] = scored.at[i] / read;
    }
    double records_per_s = median(&scored);
    *rate = (struct rate){records_per_s * (double)at_once, records_per_s * RECORD_BYTES,
                          median(&shares)};
    return UVEA_OK;
}

static void print_head(const struct uvea_bench_arguments *arguments)
{
    (void)printf("%zu records of %d bytes, %zu thread%s, medians of %d, compiler %s\n\n",
                 arguments->records, RECORD_BYTES, arguments->threads,
                 arguments->threads == 1 ? "" : "s", REPETITIONS, __VERSION__);
    (void)printf("%8s %8s %8s %14s %8s  %s\n", "of read", "x ring", "x one", "comparisons/s",
                 "GB/s", "kernel");
}

static void print_rate(const struct run *run, const char *kernel, size_t queries, double times_one,
                       const struct rate *rate)
{
    (void)printf("%8.3f %8.2f %8.2f %14.0f %8.2f  %s, %zu quer%s\n", rate->read_share,
                 rate->comparisons_per_s / run->ring_comparisons_per_s, times_one,
                 rate->comparisons_per_s, rate->bytes_per_s / 1e9, kernel, queries,
                 queries == 1 ? "y" : "ies");
    (void)fflush(stdout);
}

static enum uvea_error measure_ring(struct run *run, struct uvea_error_context *context)
{
    struct rate rate;
    char name[32];
    double ignored;
    UVEA_TRY(run_all(run->workers, run->worker_count, fill_shares, &ignored, context));
    UVEA_TRY(measure(run, score_shares, 1, &rate, context));
    if (run->bench.ring == &uvea_ring_kernel_portable) {
        run->ring_comparisons_per_s = rate.comparisons_per_s;
    }
    (void)snprintf(name, sizeof(name), "ring %s", run->bench.ring->name);
    print_rate(run, name, 1, 1, &rate);
    return UVEA_OK;
}

static enum uvea_error measure_spectral(struct run *run, struct uvea_error_context *context)
{
    const struct uvea_spectral_kernel *kernel = run->bench.spectral;
    struct rate one;
    struct rate several;
    char name[32];
    double ignored;
    (void)snprintf(name, sizeof(name), "spectral %s", kernel->name);
    UVEA_TRY(run_all(run->workers, run->worker_count, fill_tiles, &ignored, context));
    for (size_t i = 0; i < QUERIES_MAX; i++) {
        kernel->query_put(run->bench.queries[i], run->bench.specimens + i);
    }
    run->bench.query_count = UVEA_BENCH_ORIENTATIONS;
    UVEA_TRY(measure(run, score_tiles, run->bench.query_count, &one, context));
    print_rate(run, name, 1, 1, &one);
    size_t queries = run->bench.arguments->queries;
    if (queries > 1) {
        run->bench.query_count = queries * UVEA_BENCH_ORIENTATIONS;
        UVEA_TRY(measure(run, score_tiles, run->bench.query_count, &several, context));
        print_rate(run, name, queries, several.comparisons_per_s / one.comparisons_per_s, &several);
    }
    return UVEA_OK;
}

static enum uvea_error measure_kernels(struct run *run, struct uvea_error_context *context)
{
    const struct uvea_cpu cpu = uvea_cpu_detect();
    print_head(run->bench.arguments);
    for (size_t i = 0; uvea_ring_kernels[i] != NULL; i++) {
        if (uvea_ring_kernels[i]->supported(&cpu)) {
            run->bench.ring = uvea_ring_kernels[i];
            UVEA_TRY(measure_ring(run, context));
        }
    }
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        if (uvea_spectral_kernels[i]->supported(&cpu)) {
            run->bench.spectral = uvea_spectral_kernels[i];
            UVEA_TRY(measure_spectral(run, context));
        }
    }
    return UVEA_OK;
}

// ---- preparation

struct preparation {
    struct uvea_field_eye eye;
    uint16_t share[UVEA_RECORD_COEFFICIENTS];
    struct uvea_spectrum spectrum;
};

static void prepare_ring(struct run *run, struct preparation *room)
{
    uvea_ring_query_prepare(uvea_party_at(0), room->share, room->share + UVEA_SHARE_COEFFICIENTS,
                            run->bench.ring_query);
}

static void prepare_query(struct run *run, struct preparation *room)
{
    uvea_spectrum_of_query(uvea_party_at(0), &room->eye, &room->spectrum);
    run->bench.spectral->query_put(run->bench.queries[0], &room->spectrum);
}

static void prepare_record(struct run *run, struct preparation *room)
{
    uvea_spectrum_of_record(&room->eye, &room->spectrum);
    run->bench.spectral->tile_put(run->workers[0].resident, 0, &room->spectrum);
}

static void time_preparation(struct run *run, struct preparation *room, const char *what,
                             void (*prepare)(struct run *, struct preparation *))
{
    enum { TIMES = 8 };
    struct samples seconds;
    for (size_t i = 0; i < REPETITIONS; i++) {
        double start = uvea_bench_now_s();
        for (size_t j = 0; j < TIMES; j++) {
            prepare(run, room);
        }
        seconds.at[i] = (uvea_bench_now_s() - start) / TIMES;
    }
    (void)printf("%14.1f us  %s\n", 1e6 * median(&seconds), what);
}

static enum uvea_error time_conversion(struct uvea_error_context *context)
{
    struct samples seconds;
    for (size_t i = 0; i < REPETITIONS; i++) {
        UVEA_TRY(uvea_bench_conversion(&seconds.at[i], context));
    }
    (void)printf("%14.1f us  private conversion of one eye, for one of three parties\n",
                 1e6 * median(&seconds));
    return UVEA_OK;
}

// With the forms of the best kernel, which was measured last.
static enum uvea_error measure_preparation(struct run *run, struct uvea_error_context *context)
{
    struct preparation *room = uvea_mem_alloc(1, sizeof(*room));
    if (room == NULL) {
        return UVEA_ERR_MEMORY;
    }
    fill_random(3, room->share, UVEA_RECORD_COEFFICIENTS);
    for (size_t i = 0; i < UVEA_FIELD_EYE_VALUES; i++) {
        room->eye.values[i] = room->share[i] % UVEA_FIELD_PRIME;
    }
    (void)printf("\npreparation of one eye in one orientation, from its shares\n");
    time_preparation(run, room, "ring query", prepare_ring);
    time_preparation(run, room, "spectral query", prepare_query);
    time_preparation(run, room, "spectral record", prepare_record);
    uvea_mem_free(room);
    return time_conversion(context);
}

// ---- memory

static size_t query_bytes_max(void)
{
    size_t bytes = 0;
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        size_t one = uvea_spectral_kernels[i]->query_bytes;
        bytes = one > bytes ? one : bytes;
    }
    return bytes;
}

static bool allocate_worker(struct worker *worker)
{
    worker->resident = uvea_mem_alloc(worker->records + TILE_RECORDS_MAX, RECORD_BYTES);
    worker->scores = uvea_mem_alloc((size_t)CALL_RECORDS * QUERIES_MAX * UVEA_SPECTRAL_ROTATIONS,
                                    sizeof(uint16_t));
    return worker->resident != NULL && worker->scores != NULL;
}

static bool allocate(struct run *run)
{
    const struct uvea_bench_arguments *arguments = run->bench.arguments;
    bool ok = true;
    run->workers = uvea_mem_alloc(arguments->threads, sizeof(*run->workers));
    run->bench.specimens = uvea_mem_alloc(SPECIMENS, sizeof(*run->bench.specimens));
    run->bench.ring_query = uvea_mem_alloc(1, sizeof(*run->bench.ring_query));
    if (run->workers == NULL || run->bench.specimens == NULL || run->bench.ring_query == NULL) {
        return false;
    }
    for (size_t i = 0; i < QUERIES_MAX; i++) {
        run->bench.queries[i] = uvea_mem_alloc(1, query_bytes_max());
        ok = ok && run->bench.queries[i] != NULL;
    }
    run->worker_count = arguments->threads;
    for (size_t i = 0; i < run->worker_count; i++) {
        struct worker *worker = &run->workers[i];
        size_t extra = i < arguments->records % arguments->threads;
        worker->bench = &run->bench;
        worker->records = arguments->records / arguments->threads + extra;
        ok = ok && allocate_worker(worker);
    }
    return ok;
}

static void release(struct run *run)
{
    for (size_t i = 0; i < run->worker_count; i++) {
        uvea_mem_free(run->workers[i].resident);
        uvea_mem_free(run->workers[i].scores);
    }
    for (size_t i = 0; i < QUERIES_MAX; i++) {
        uvea_mem_free(run->bench.queries[i]);
    }
    uvea_mem_free(run->workers);
    uvea_mem_free(run->bench.specimens);
    uvea_mem_free(run->bench.ring_query);
}

enum uvea_error uvea_bench_kernel(const struct uvea_bench_arguments *arguments,
                                  struct uvea_error_context *context)
{
    struct run run = {.bench = {.arguments = arguments}};
    enum uvea_error error;
    if (!allocate(&run)) {
        error = uvea_error_set(context, UVEA_ERR_MEMORY, "%zu records of %d bytes do not fit",
                               arguments->records, RECORD_BYTES);
        goto cleanup;
    }
    for (size_t i = 0; i < SPECIMENS; i++) {
        uint16_t *values = run.bench.specimens[i].values;
        fill_random(i, values, UVEA_SPECTRUM_VALUES);
        for (size_t j = 0; j < UVEA_SPECTRUM_VALUES; j++) {
            values[j] %= UVEA_FIELD_PRIME;
        }
    }
    error = measure_kernels(&run, context);
    if (error == UVEA_OK) {
        error = measure_preparation(&run, context);
    }
cleanup:
    release(&run);
    return error;
}
