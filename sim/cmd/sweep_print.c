#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/cmd/interrupt.h"
#include "sim/cmd/sweep.h"
#include "uvea_build_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REASON_CHARS_SHOWN = 160, COLUMNS_SHOWN = 96 };

static double seconds_since(const struct uvea_sweep *sweep, uint64_t now_ns)
{
    return 1e-9 * (double)(now_ns - sweep->started_ns);
}

void uvea_sweep_print_progress(const struct uvea_sweep *sweep, size_t running, bool final)
{
    const struct uvea_sweep_tally *tally = &sweep->tally;
    if (final) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        return;
    }
    double elapsed = seconds_since(sweep, uvea_sweep_now_ns());
    double rate = elapsed > 0 ? (double)(tally->runs - tally->known) / elapsed : 0;
    (void)fprintf(stderr,
                  "\r\033[K%" PRIu64 " of %" PRIu64 " runs, %" PRIu64 " failed, %" PRIu64
                  " skipped, %.1f a second, %zu under way",
                  tally->runs, uvea_sweep_planned(sweep), uvea_sweep_failed(tally),
                  tally->verdicts[UVEA_VERDICT_SKIPPED], rate, running);
    (void)fflush(stderr);
}

// ---- the parts of the summary

static void print_head(const struct uvea_sweep *sweep)
{
    const struct uvea_sweep_arguments *arguments = &sweep->arguments;
    (void)printf("sweep of %zu files, seeds %" PRIu64 "..%" PRIu64 ", shard %" PRIu64 "/%" PRIu64
                 ", build %s\n",
                 arguments->file_count, arguments->first_seed, arguments->last_seed,
                 arguments->shard, arguments->shard_count, UVEA_BUILD_ID);
    if (uvea_sweep_by_steps(sweep)) {
        (void)printf(
            "crashes of p%u at steps 1 to %" PRIu64 " of its first process, one in %" PRIu64 "\n",
            arguments->steps_of, uvea_sweep_step(sweep, sweep->slot_count - 1), arguments->stride);
    }
    if (sweep->slot_count == 0) {
        (void)printf("shard is empty: no seed s of these has s mod %" PRIu64 " = %" PRIu64 "\n",
                     arguments->shard_count, arguments->shard);
    }
    if (sweep->stopped[0] != '\0') {
        (void)printf("NOT COMPLETED: %" PRIu64 " of %" PRIu64 " runs; %s\n", sweep->tally.runs,
                     uvea_sweep_planned(sweep), sweep->stopped);
    }
}

static void print_verdicts(const struct uvea_sweep_tally *tally)
{
    (void)printf("\nruns           %" PRIu64 " (%" PRIu64 " of them recorded earlier)\n",
                 tally->runs, tally->known);
    for (int verdict = UVEA_VERDICT_PASS; verdict <= UVEA_VERDICT_DIFFERS; verdict++) {
        (void)printf("  %-15s %" PRIu64 "\n", uvea_verdict_text((enum uvea_verdict)verdict),
                     tally->verdicts[verdict]);
    }
    (void)printf("recoverable    %" PRIu64 "\nhostile        %" PRIu64 "\nrun twice      %" PRIu64
                 ", hashes %s\n",
                 tally->runs - tally->hostile, tally->hostile, tally->twice,
                 tally->verdicts[UVEA_VERDICT_DIFFERS] > 0 ? "DIFFER" : "equal");
    (void)printf("requests %" PRIu64 ", responses %" PRIu64 ", errors answered %" PRIu64
                 ", batches %" PRIu64 ", restarts %" PRIu64 "\n",
                 tally->requests, tally->responses, tally->errors, tally->batches, tally->restarts);
}

static int by_file_and_seed(const void *a, const void *b)
{
    const struct uvea_sweep_failure *one = a;
    const struct uvea_sweep_failure *two = b;
    if (one->file != two->file) {
        return one->file < two->file ? -1 : 1;
    }
    if (one->seed != two->seed) {
        return one->seed < two->seed ? -1 : 1;
    }
    return one->step < two->step ? -1 : one->step > two->step;
}

static void print_command(const struct uvea_sweep *sweep, size_t file, uint64_t seed, uint64_t step,
                          bool twice)
{
    char text[UVEA_SWEEP_STEP_CHARS];
    struct uvea_run_arguments arguments = uvea_sweep_run_arguments(sweep, file);
    uvea_sweep_add_step(sweep, step, &arguments, text);
    arguments.twice = twice;
    uvea_run_print_command(stdout, &arguments, seed);
}

// In an order that does not depend on which run ended first.
static void print_failures(const struct uvea_sweep *sweep)
{
    const struct uvea_sweep_tally *tally = &sweep->tally;
    if (tally->failure_count == 0) {
        return;
    }
    qsort(tally->failures, tally->failure_count, sizeof(*tally->failures), by_file_and_seed);
    (void)puts("\nfailures, to reproduce:");
    for (size_t i = 0; i < tally->failure_count; i++) {
        const struct uvea_sweep_failure *failure = &tally->failures[i];
        print_command(sweep, failure->file, failure->seed, failure->step,
                      failure->verdict == UVEA_VERDICT_DIFFERS);
        (void)printf("  # %s: %.*s\n", uvea_verdict_text(failure->verdict), REASON_CHARS_SHOWN,
                     failure->reason);
    }
    if (uvea_sweep_failed(tally) > tally->failure_count) {
        (void)printf("and %" PRIu64 " more\n", uvea_sweep_failed(tally) - tally->failure_count);
    }
}

static void print_skipped(const struct uvea_sweep *sweep)
{
    if (sweep->tally.verdicts[UVEA_VERDICT_SKIPPED] == 0) {
        return;
    }
    (void)printf("\nskipped%s:\n",
                 uvea_sweep_skipped_too_many(&sweep->tally) ? ", more than one in a hundred" : "");
    for (size_t i = 0; i < sweep->arguments.file_count; i++) {
        if (sweep->files[i].skipped > 0) {
            (void)printf("  %" PRIu64 " of %s: %s\n", sweep->files[i].skipped, sweep->files[i].path,
                         sweep->files[i].why_skipped);
        }
    }
}

static void print_count(uint64_t count)
{
    if (count == 0) {
        (void)printf("%10s", ".");
    } else {
        (void)printf("%10" PRIu64, count);
    }
}

static void print_faults(const struct uvea_sweep_tally *tally)
{
    uint64_t sums[UVEA_FAMILY_COUNT] = {0};
    (void)printf("\nfaults met, by the point that their victim had passed last:\n%-22s", "");
    for (unsigned family = 0; family < UVEA_FAMILY_COUNT; family++) {
        (void)printf("%10s", uvea_family_text((enum uvea_family)family));
    }
    for (unsigned i = 0; i < UVEA_PHASE_COUNT; i++) {
        unsigned phase = i == 0 ? UVEA_PHASE_NONE : i - 1; // in the order of a life
        (void)printf("\n  %-20s", i == 0 ? "(no point)" : uvea_point_text((enum uvea_point)phase));
        for (unsigned family = 0; family < UVEA_FAMILY_COUNT; family++) {
            print_count(tally->faults[family][phase]);
            sums[family] += tally->faults[family][phase];
        }
    }
    (void)printf("\n  %-20s", "all");
    for (unsigned family = 0; family < UVEA_FAMILY_COUNT; family++) {
        print_count(sums[family]);
    }
    (void)putchar('\n');
}

// Names of cold marks on as few lines as they need. Gives back how many there are.
static uint64_t print_cold(const struct uvea_sweep *sweep, bool allowed)
{
    uint64_t count = 0;
    size_t column = 0;
    for (size_t mark = 0; mark < UVEA_SWEEP_MARK_COUNT; mark++) {
        if (!uvea_sweep_mark_cold(sweep, mark) || uvea_sweep_cold_allowed(sweep, mark) != allowed) {
            continue;
        }
        const char *name = uvea_sweep_mark_text(mark);
        if (count++ == 0) {
            (void)printf("%s", allowed ? "\ncold, as is allowed:" : "\nCOLD:");
            column = COLUMNS_SHOWN;
        }
        if (column + 1 + strlen(name) > COLUMNS_SHOWN) {
            (void)printf("\n ");
            column = 1;
        }
        (void)printf(" %s", name);
        column += 1 + strlen(name);
    }
    (void)printf("%s", count > 0 ? "\n" : "");
    return count;
}

static uint64_t print_marks(const struct uvea_sweep *sweep)
{
    (void)puts("\npoints and marks:");
    for (size_t mark = 0; mark < UVEA_SWEEP_MARK_COUNT; mark++) {
        if (!uvea_sweep_mark_cold(sweep, mark)) {
            (void)printf("  %-20s %" PRIu64 "\n", uvea_sweep_mark_text(mark),
                         sweep->tally.marks[mark]);
        }
    }
    (void)print_cold(sweep, true);
    return print_cold(sweep, false);
}

// ---- times

struct timed {
    uint32_t wall_ms;
    uint32_t file;
    uint64_t slot;
};

static int slowest_first(const void *a, const void *b)
{
    const struct timed *one = a;
    const struct timed *two = b;
    if (one->wall_ms != two->wall_ms) {
        return one->wall_ms > two->wall_ms ? -1 : 1;
    }
    if (one->file != two->file) {
        return one->file < two->file ? -1 : 1;
    }
    return one->slot < two->slot ? -1 : one->slot > two->slot;
}

static size_t collect(const struct uvea_sweep *sweep, struct timed *times)
{
    size_t count = 0;
    for (size_t file = 0; file < sweep->arguments.file_count; file++) {
        for (uint64_t slot = 0; slot < sweep->slot_count; slot++) {
            const struct uvea_sweep_slot *run = &sweep->files[file].slots[slot];
            if (run->done) {
                times[count++] = (struct timed){run->wall_ms, (uint32_t)file, slot};
            }
        }
    }
    qsort(times, count, sizeof(*times), slowest_first);
    return count;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static enum uvea_error print_times(const struct uvea_sweep *sweep)
{
    const struct uvea_sweep_tally *tally = &sweep->tally;
    struct timed *times = uvea_mem_alloc((size_t)tally->runs, sizeof(*times));
    if (times == NULL) {
        return UVEA_ERR_MEMORY;
    }
    size_t count = collect(sweep, times);
    double elapsed = seconds_since(sweep, sweep->ended_ns);
    double sim = 1e-9 * (double)tally->sim_ns;
    uint32_t median_ms = count == 0 ? 0 : times[count / 2].wall_ms;
    (void)printf("\ntime           %.1f s; median %.3f s a run; %.1f simulated seconds per second "
                 "of a run\n",
                 elapsed, 1e-3 * (double)median_ms, ratio(sim, 1e-3 * (double)tally->wall_ms));
    (void)puts("slowest:");
    for (size_t i = 0; i < count && i < UVEA_SWEEP_SLOWEST; i++) {
        (void)printf("  %9.3f s  ", 1e-3 * (double)times[i].wall_ms);
        print_command(sweep, times[i].file, uvea_sweep_seed(sweep, times[i].slot),
                      uvea_sweep_step(sweep, times[i].slot), false);
        (void)putchar('\n');
    }
    uvea_mem_free(times);
    return UVEA_OK;
}

static const char *final_word(const struct uvea_sweep *sweep, uint64_t cold)
{
    int status = uvea_sweep_status(sweep);
    if (sweep->stopped[0] != '\0') {
        return uvea_interrupt_signal() != 0 ? "interrupted" : "not-completed";
    }
    if (status == UVEA_EXIT_PASS && sweep->slot_count == 0) {
        return "empty";
    }
    for (int verdict = UVEA_VERDICT_PASS; verdict <= UVEA_VERDICT_DIFFERS; verdict++) {
        if (uvea_verdict_exit_status((enum uvea_verdict)verdict) == status) {
            return uvea_verdict_text((enum uvea_verdict)verdict);
        }
    }
    return cold > 0 ? "cold" : "unknown";
}

enum uvea_error uvea_sweep_print_summary(const struct uvea_sweep *sweep)
{
    const struct uvea_sweep_tally *tally = &sweep->tally;
    print_head(sweep);
    print_verdicts(tally);
    print_failures(sweep);
    print_skipped(sweep);
    print_faults(tally);
    uint64_t cold = print_marks(sweep);
    UVEA_TRY(print_times(sweep));
    (void)printf("verdict: %s runs=%" PRIu64 " failed=%" PRIu64 " skipped=%" PRIu64 " cold=%" PRIu64
                 " twice=%" PRIu64 " recorded=%" PRIu64 "\n",
                 final_word(sweep, cold), tally->runs, uvea_sweep_failed(tally),
                 tally->verdicts[UVEA_VERDICT_SKIPPED], cold, tally->twice, tally->known);
    return UVEA_OK;
}
