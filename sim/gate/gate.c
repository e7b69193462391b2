#include "sim/gate/gate.h"

#include "core/base/check.h"
#include "sim/gate/check.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct row {
    const char *name;
    const char *summary;
    uvea_gate_check_fn *check;
};

static const struct row rows[] = {
    {"field", "every representative through both forms of the predicate, among three parties",
     uvea_gate_field},
    {"pairs", "every pair of terms through both circuits, in the clear", uvea_gate_pairs},
    {"transform", "transforms against direct sums, and every kernel at its bounds",
     uvea_gate_transform},
    {"conversion", "every converted coordinate, by every pair of parties", uvea_gate_conversion},
    {"rotations", "scores of both paths and of the oracle, every rotation", uvea_gate_rotations},
    {"mirror", "the same for mirrored queries", uvea_gate_mirror},
    {"tails", "record counts and packed bits around every boundary", uvea_gate_tails},
    {"decisions", "whole scenarios on both paths: one set of answers", uvea_gate_decisions},
    {"traffic", "messages, bytes, AND gates and layers against the formulas", uvea_gate_traffic},
};

size_t uvea_gate_count(void)
{
    return UVEA_COUNT_OF(rows);
}

const char *uvea_gate_name(size_t check)
{
    return rows[check].name;
}

const char *uvea_gate_summary(size_t check)
{
    return rows[check].summary;
}

size_t uvea_gate_find(const char *name)
{
    size_t check = 0;
    while (check < UVEA_COUNT_OF(rows) && strcmp(rows[check].name, name) != 0) {
        check++;
    }
    return check;
}

const char *uvea_gate_status_text(enum uvea_gate_status status)
{
    static const char *const texts[] = {
        [UVEA_GATE_PASS] = "pass",
        [UVEA_GATE_WRONG] = "wrong",
        [UVEA_GATE_SKIPPED] = "skipped",
    };
    return texts[status];
}

static bool is_the_machines(enum uvea_error error)
{
    return error == UVEA_ERR_MEMORY || error == UVEA_ERR_IO || error == UVEA_ERR_CRYPTO;
}

enum uvea_error uvea_gate_run(size_t check, const struct uvea_gate_options *options,
                              struct uvea_gate_result *result, struct uvea_error_context *context)
{
    UVEA_CHECK(check < UVEA_COUNT_OF(rows));
    *result = (struct uvea_gate_result){.name = rows[check].name};
    struct uvea_gate_run run = {
        .options = options,
        .result = result,
        .cpu = uvea_cpu_detect(),
    };
    char stream[32];
    (void)snprintf(stream, sizeof(stream), "gate/%s", rows[check].name);
    uvea_sim_random_init(&run.random, options->seed, stream);
    enum uvea_error error = rows[check].check(&run);
    if (is_the_machines(error)) {
        return uvea_error_set(context, error, "%s: %.400s", rows[check].name,
                              run.error.text[0] != '\0' ? run.error.text : uvea_error_text(error));
    }
    if (error != UVEA_OK) {
        uvea_gate_wrong(&run, "%s: %.400s", uvea_error_text(error), run.error.text);
    }
    if (result->wrong > 0) {
        result->status = UVEA_GATE_WRONG;
    } else if (result->cases == 0) {
        result->status = UVEA_GATE_SKIPPED;
    }
    return UVEA_OK;
}

// ---- for the checks

void uvea_gate_wrong(struct uvea_gate_run *run, const char *format, ...)
{
    if (run->result->wrong++ == 0) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(run->result->reason, sizeof(run->result->reason), format, args);
        va_end(args);
    }
}

void uvea_gate_covered(struct uvea_gate_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(run->result->covered, sizeof(run->result->covered), format, args);
    va_end(args);
}

void uvea_gate_skip(struct uvea_gate_run *run, const char *part, const char *format, ...)
{
    UVEA_CHECK(run->result->skip_count < UVEA_GATE_SKIPS_MAX);
    struct uvea_gate_skip *skip = &run->result->skips[run->result->skip_count++];
    (void)snprintf(skip->part, sizeof(skip->part), "%s", part);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(skip->reason, sizeof(skip->reason), format, args);
    va_end(args);
}

void uvea_gate_progress(const struct uvea_gate_run *run, uint64_t done, uint64_t total)
{
    if (run->options->progress != NULL) {
        run->options->progress(run->options->progress_arg, run->result->name, done, total);
    }
}

uint16_t uvea_gate_draw_residue(struct uvea_gate_run *run)
{
    return (uint16_t)uvea_sim_random_below(&run->random, UVEA_GATE_PRIME);
}

uint32_t uvea_gate_root_power(int64_t exponent)
{
    static uint32_t powers[UVEA_GATE_POINTS]; // all zero until the first call
    if (powers[0] == 0) {
        uint64_t value = 1;
        for (unsigned i = 0; i < UVEA_GATE_POINTS; i++) {
            powers[i] = (uint32_t)value;
            value = value * UVEA_GATE_ROOT % UVEA_GATE_PRIME;
        }
    }
    int64_t rest = exponent % UVEA_GATE_POINTS;
    return powers[rest < 0 ? rest + UVEA_GATE_POINTS : rest];
}

uint32_t uvea_gate_inverse(uint32_t value)
{
    uint64_t base = value;
    uint64_t result = 1;
    for (unsigned exponent = UVEA_GATE_PRIME - 2; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0) {
            result = result * base % UVEA_GATE_PRIME;
        }
        base = base * base % UVEA_GATE_PRIME;
    }
    return (uint32_t)result;
}

// ---- kernels

// All that there are, for whatever processor, portable first.
static const char *const spectral_names[] = {"portable", "avx2", "avx512", "neon", "neon-i8mm"};
static const char *const ring_names[] = {"portable", "avx2", "avx512", "neon"};
_Static_assert(UVEA_COUNT_OF(spectral_names) <= UVEA_GATE_KERNELS_MAX &&
                   UVEA_COUNT_OF(ring_names) <= UVEA_GATE_KERNELS_MAX,
               "each has its place");

static const char *const not_built = "not built for this kind of processor";
static const char *const not_supported = "this processor does not support it";

static void skip_kernel(struct uvea_gate_run *run, const char *kind, const char *name,
                        const char *why)
{
    char part[48];
    (void)snprintf(part, sizeof(part), "%s kernel %s", kind, name);
    uvea_gate_skip(run, part, "%s", why);
}

static void find_spectral(struct uvea_gate_run *run, const char *name,
                          struct uvea_gate_kernels *kernels)
{
    const char *why = not_built;
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        if (strcmp(uvea_spectral_kernels[i]->name, name) == 0) {
            if (uvea_spectral_kernels[i]->supported(&run->cpu)) {
                kernels->spectral[kernels->spectral_count++] = uvea_spectral_kernels[i];
                return;
            }
            why = not_supported;
        }
    }
    skip_kernel(run, "spectral", name, why);
}

static void find_ring(struct uvea_gate_run *run, const char *name,
                      struct uvea_gate_kernels *kernels)
{
    const char *why = not_built;
    for (size_t i = 0; uvea_ring_kernels[i] != NULL; i++) {
        if (strcmp(uvea_ring_kernels[i]->name, name) == 0) {
            if (uvea_ring_kernels[i]->supported(&run->cpu)) {
                kernels->ring[kernels->ring_count++] = uvea_ring_kernels[i];
                return;
            }
            why = not_supported;
        }
    }
    skip_kernel(run, "ring", name, why);
}

static void check_known(struct uvea_gate_run *run, const char *const *names, size_t count,
                        const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return;
        }
    }
    uvea_gate_wrong(run, "kernel %s is not among those that the gate knows", name);
}

struct uvea_gate_kernels uvea_gate_find_kernels(struct uvea_gate_run *run)
{
    struct uvea_gate_kernels kernels = {.ring_count = 0};
    for (size_t i = 0; uvea_spectral_kernels[i] != NULL; i++) {
        check_known(run, spectral_names, UVEA_COUNT_OF(spectral_names),
                    uvea_spectral_kernels[i]->name);
    }
    for (size_t i = 0; uvea_ring_kernels[i] != NULL; i++) {
        check_known(run, ring_names, UVEA_COUNT_OF(ring_names), uvea_ring_kernels[i]->name);
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(spectral_names); i++) {
        find_spectral(run, spectral_names[i], &kernels);
    }
    for (size_t i = 0; i < UVEA_COUNT_OF(ring_names); i++) {
        find_ring(run, ring_names[i], &kernels);
    }
    return kernels;
}

void uvea_gate_kernel_names(const struct uvea_gate_kernels *kernels, char text[128])
{
    size_t used = 0;
    for (size_t i = 0; i < kernels->spectral_count && used < 128; i++) {
        int wrote = snprintf(text + used, 128 - used, "%s%s", i == 0 ? "" : ", ",
                             kernels->spectral[i]->name);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}
