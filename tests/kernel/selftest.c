// The checks of the kernels without a test framework, for processors that the project is built for
// elsewhere. Usage: selftest [KERNEL...]: every kernel that runs here is checked, and it is a
// failure when one of those named does not run here. Prints "N passed, 0 failed" last.
#include "core/base/mem.h"
#include "tests/kernel/ring_check.h"
#include "tests/kernel/spectral_check.h"

#include <stdio.h>
#include <string.h>

struct tally {
    size_t passed;
    size_t failed;
};

static void count(struct tally *tally, bool passed)
{
    tally->passed += passed;
    tally->failed += !passed;
}

static void report(const char *form, const char *name, const struct tally *tally)
{
    (void)printf("%s %s: %zu passed, %zu failed\n", form, name, tally->passed, tally->failed);
}

static struct tally check_spectral(const struct spectral_check *check,
                                   const struct uvea_spectral_kernel *kernel)
{
    struct tally tally = {0};
    for (size_t i = 0; i < spectral_check_count_count; i++) {
        for (size_t queries = 1; queries <= UVEA_SPECTRAL_QUERIES_MAX; queries++) {
            count(&tally, spectral_check_run(check, kernel, spectral_check_counts[i], queries));
        }
    }
    report("spectral", kernel->name, &tally);
    return tally;
}

static struct tally check_ring(const struct ring_check *check,
                               const struct uvea_ring_kernel *kernel)
{
    struct tally tally = {0};
    for (size_t i = 0; i < ring_check_count_count; i++) {
        count(&tally, ring_check_run(check, kernel, ring_check_counts[i]));
    }
    report("ring", kernel->name, &tally);
    return tally;
}

static void add(struct tally *sum, struct tally more)
{
    sum->passed += more.passed;
    sum->failed += more.failed;
}

static void check_all(const struct uvea_cpu *cpu, const struct spectral_check *spectral,
                      const struct ring_check *ring, struct tally *sum)
{
    for (size_t i = 0; uvea_ring_kernels[i] != NULL; i++) {
        if (uvea_ring_kernels[i]->supported(cpu)) {
            add(sum, check_ring(ring, uvea_ring_kernels[i]));
        } else {
            (void)printf("ring %s: skipped, the processor lacks it\n", uvea_ring_kernels[i]->name);
        }
    }
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        if (uvea_spectral_kernels[i]->supported(cpu)) {
            add(sum, check_spectral(spectral, uvea_spectral_kernels[i]));
        } else {
            (void)printf("spectral %s: skipped, the processor lacks it\n",
                         uvea_spectral_kernels[i]->name);
        }
    }
}

int main(int argc, char **argv)
{
    const struct uvea_cpu cpu = uvea_cpu_detect();
    struct tally sum = {0};
    struct spectral_check *spectral = uvea_mem_alloc(1, sizeof(*spectral));
    struct ring_check *ring = uvea_mem_alloc(1, sizeof(*ring));
    if (spectral == NULL || ring == NULL) {
        (void)fprintf(stderr, "selftest: out of memory\n");
        return 1;
    }
    spectral_check_init(spectral);
    ring_check_init(ring);
    check_all(&cpu, spectral, ring, &sum);
    for (int i = 1; i < argc; i++) {
        if (uvea_spectral_kernel_named(argv[i], &cpu) == NULL) {
            (void)printf("spectral %s: named, but does not run here\n", argv[i]);
            sum.failed++;
        }
    }
    uvea_mem_free(spectral);
    uvea_mem_free(ring);
    (void)printf("%zu passed, %zu failed\n", sum.passed, sum.failed);
    return sum.failed > 0 || sum.passed == 0;
}
