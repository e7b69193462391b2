// What the checks share. Private to sim/gate.
#ifndef UVEA_SIM_GATE_CHECK_H
#define UVEA_SIM_GATE_CHECK_H

#include "core/base/error.h"
#include "core/kernel/cpu.h"
#include "core/kernel/ring_kernel.h"
#include "core/kernel/spectral_kernel.h"
#include "sim/gate/gate.h"
#include "sim/runtime/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The constants of ntt.md, written out: a check must not learn them from what it checks.
enum {
    UVEA_GATE_PRIME = 52201,
    UVEA_GATE_ROOT = 43061,
    UVEA_GATE_POINTS = 200,
    UVEA_GATE_ROTATIONS = 31,
    UVEA_GATE_ROTATION_MAX = 15,
    UVEA_GATE_SCORE_MIN = -32000, // of g = 2C - m for valid templates
    UVEA_GATE_SCORE_MAX = 19200,
};

struct uvea_gate_run {
    const struct uvea_gate_options *options;
    struct uvea_gate_result *result;
    struct uvea_error_context error; // of what failed with an error
    struct uvea_cpu cpu;
    struct uvea_sim_random random; // stream "gate/<check>"
};

// A check gives an error when something did not run to its end; what it found wrong is in run.
typedef enum uvea_error uvea_gate_check_fn(struct uvea_gate_run *run);

uvea_gate_check_fn uvea_gate_field;
uvea_gate_check_fn uvea_gate_pairs;
uvea_gate_check_fn uvea_gate_transform;
uvea_gate_check_fn uvea_gate_conversion;
uvea_gate_check_fn uvea_gate_rotations;
uvea_gate_check_fn uvea_gate_mirror;
uvea_gate_check_fn uvea_gate_tails;
uvea_gate_check_fn uvea_gate_decisions;
uvea_gate_check_fn uvea_gate_traffic;

static inline void uvea_gate_count_cases(struct uvea_gate_run *run, uint64_t cases)
{
    run->result->cases += cases;
}

// Counts a wrong answer; the first one's sentence is kept.
UVEA_PRINTF(2, 3) void uvea_gate_wrong(struct uvea_gate_run *run, const char *format, ...);

// Says what was covered; called once, at the end.
UVEA_PRINTF(2, 3) void uvea_gate_covered(struct uvea_gate_run *run, const char *format, ...);

UVEA_PRINTF(3, 4)
void uvea_gate_skip(struct uvea_gate_run *run, const char *part, const char *format, ...);

void uvea_gate_progress(const struct uvea_gate_run *run, uint64_t done, uint64_t total);

// Uniform in 0..p-1.
uint16_t uvea_gate_draw_residue(struct uvea_gate_run *run);

// ---- plain arithmetic mod p with %, so that nothing of core/field is trusted

static inline uint32_t uvea_gate_mod(int64_t value)
{
    int64_t rest = value % UVEA_GATE_PRIME;
    return (uint32_t)(rest < 0 ? rest + UVEA_GATE_PRIME : rest);
}

// ROOT^exponent for every integer exponent.
uint32_t uvea_gate_root_power(int64_t exponent);
uint32_t uvea_gate_inverse(uint32_t value);

// ---- the kernels that this machine can run; each other one is put down as skipped

enum { UVEA_GATE_KERNELS_MAX = 8 };

struct uvea_gate_kernels {
    const struct uvea_spectral_kernel *spectral[UVEA_GATE_KERNELS_MAX];
    size_t spectral_count;
    const struct uvea_ring_kernel *ring[UVEA_GATE_KERNELS_MAX];
    size_t ring_count;
};

// The portable ones come first.
struct uvea_gate_kernels uvea_gate_find_kernels(struct uvea_gate_run *run);
// The names of the spectral kernels, for a sentence: "portable, avx2".
void uvea_gate_kernel_names(const struct uvea_gate_kernels *kernels, char text[128]);

#endif
