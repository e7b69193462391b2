// Whole scenarios, each run on the ring path and on the NTT path in all its variants. The oracle
// judges every run by itself; then the answers and all opened candidates of the runs are held
// against each other.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/gate/check.h"
#include "sim/gate/scenarios.h"
#include "sim/world/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    OVERRIDES = 7,
    OVERRIDE_BYTES = 48,
    VARIANTS_MAX = 3 + UVEA_GATE_KERNELS_MAX,
};

// A variant: a way to run a scenario, as overrides.
struct variant {
    char name[64];
    char set[OVERRIDES][OVERRIDE_BYTES];
    size_t count;
};

static void variant_set(struct variant *variant, const char *key, const char *value)
{
    UVEA_CHECK(variant->count < OVERRIDES);
    int len = snprintf(variant->set[variant->count++], OVERRIDE_BYTES, "%s=%s", key, value);
    UVEA_CHECK(len > 0 && len < OVERRIDE_BYTES);
}

static void variant_set_number(struct variant *variant, const char *key, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    variant_set(variant, key, text);
}

// Kernels of the three parties, by name.
static struct variant ntt_variant(const char *name, const char *predicate, const char *first,
                                  const char *second, const char *third)
{
    struct variant variant = {.count = 0};
    (void)snprintf(variant.name, sizeof(variant.name), "ntt %s, kernels %s", predicate, name);
    variant_set(&variant, "scan", "ntt");
    variant_set(&variant, "field_predicate", predicate);
    variant_set(&variant, "kernels.p0", first);
    variant_set(&variant, "kernels.p1", second);
    variant_set(&variant, "kernels.p2", third);
    return variant;
}

struct variants {
    struct variant at[VARIANTS_MAX];
    size_t count;
};

// Names under which this machine has both a spectral and a ring kernel: a party is given both by
// one name. Portable is always there, and first.
struct names {
    const char *at[UVEA_GATE_KERNELS_MAX];
    size_t count;
};

static struct names common_names(const struct uvea_gate_kernels *kernels)
{
    struct names names = {.count = 0};
    for (size_t i = 0; i < kernels->spectral_count; i++) {
        for (size_t k = 0; k < kernels->ring_count; k++) {
            if (strcmp(kernels->spectral[i]->name, kernels->ring[k]->name) == 0) {
                names.at[names.count++] = kernels->spectral[i]->name;
            }
        }
    }
    return names;
}

// The first one is the ring. Both predicates with kernels that differ between the parties, where
// there is more than one, and each kernel alone.
static void fill_variants(const struct uvea_gate_kernels *kernels, struct variants *variants)
{
    const struct variant ring = {.name = "ring", .set = {"scan=ring"}, .count = 1};
    const struct names names = common_names(kernels);
    const char *first = names.at[0];
    const char *second = names.at[names.count / 2];
    const char *third = names.at[names.count - 1];
    variants->at[0] = ring;
    variants->at[1] = ntt_variant("mixed", "full", first, second, third);
    variants->at[2] = ntt_variant("mixed", "valid-range", third, first, second);
    variants->count = 3;
    for (size_t i = 0; i < names.count; i++) {
        const char *predicate = i % 2 == 0 ? "full" : "valid-range";
        variants->at[variants->count++] =
            ntt_variant(names.at[i], predicate, names.at[i], names.at[i], names.at[i]);
    }
}

static enum uvea_error run_variant(struct uvea_gate_run *run,
                                   const struct uvea_gate_scenario *scenario,
                                   const struct variant *variant, struct uvea_world_result *result)
{
    const struct uvea_world_options options = {.trace = NULL};
    const char *overrides[OVERRIDES];
    struct uvea_scenario parsed;
    for (size_t i = 0; i < variant->count; i++) {
        overrides[i] = variant->set[i];
    }
    UVEA_TRY(uvea_scenario_parse(scenario->name, scenario->text, scenario->len, overrides,
                                 variant->count, &parsed, &run->error));
    parsed.options[UVEA_OPTION_root_seed] = run->options->seed;
    enum uvea_error error = uvea_world_run(&parsed, &options, result, &run->error);
    uvea_scenario_deinit(&parsed);
    return error;
}

static void judge_variant(struct uvea_gate_run *run, const struct uvea_gate_scenario *scenario,
                          const struct variant *variant, const struct uvea_world_result *ring,
                          const struct uvea_world_result *result)
{
    if (result->verdict != UVEA_VERDICT_PASS) {
        uvea_gate_wrong(run, "%s, %s: %s: %.400s", scenario->name, variant->name,
                        uvea_verdict_text(result->verdict), result->reason);
    } else if (memcmp(result->answers_hash, ring->answers_hash, sizeof(ring->answers_hash)) != 0) {
        uvea_gate_wrong(run,
                        "%s, %s: the answers or the opened candidates are not those of the ring",
                        scenario->name, variant->name);
    }
    uvea_gate_count_cases(run, result->responses);
}

struct tally {
    uint64_t runs;
    uint64_t total;
};

// extra: overrides for every run of this scenario.
static enum uvea_error check_scenario(struct uvea_gate_run *run,
                                      const struct uvea_gate_scenario *scenario,
                                      const struct variant *extra, const struct variant *variants,
                                      size_t count, struct tally *tally)
{
    struct uvea_world_result ring;
    for (size_t i = 0; i < count; i++) {
        struct uvea_world_result result;
        struct variant variant = variants[i];
        for (size_t k = 0; k < extra->count; k++) {
            memcpy(variant.set[variant.count++], extra->set[k], OVERRIDE_BYTES);
        }
        UVEA_TRY(run_variant(run, scenario, &variant, &result));
        if (i == 0) {
            ring = result;
        }
        judge_variant(run, scenario, &variant, &ring, &result);
        uvea_gate_progress(run, ++tally->runs, tally->total);
    }
    return UVEA_OK;
}

// ---- chunks and tiles: databases that end inside, at and behind them

static const uint64_t record_counts[] = {0, 1, 15, 16, 17, 33};
static const uint64_t chunk_sizes[] = {1, 3, 16, 17, 4096};

static const char boundary_text[] = "sessions: 8\n"
                                    "connections: 2\n"
                                    "requests:\n"
                                    "  - {kind: new}\n"
                                    "  - {kind: duplicate}\n"
                                    "  - {kind: rotated, by: -15}\n"
                                    "  - {kind: mirrored}\n"
                                    "  - {kind: threshold, threshold: anonymous, place: at}\n";

// The ring and both predicates with kernels mixed.
enum { BOUNDARY_VARIANTS = 3 };

static enum uvea_error check_boundaries(struct uvea_gate_run *run, const struct variants *variants,
                                        struct tally *tally)
{
    const struct uvea_gate_scenario scenario = {"boundaries", (const uint8_t *)boundary_text,
                                                sizeof(boundary_text) - 1};
    for (size_t r = 0; r < UVEA_COUNT_OF(record_counts); r++) {
        for (size_t c = 0; c < UVEA_COUNT_OF(chunk_sizes); c++) {
            struct variant extra = {.count = 0};
            variant_set_number(&extra, "database.records", record_counts[r]);
            variant_set_number(&extra, "chunk_records", chunk_sizes[c]);
            UVEA_TRY(
                check_scenario(run, &scenario, &extra, variants->at, BOUNDARY_VARIANTS, tally));
        }
    }
    return UVEA_OK;
}

static enum uvea_error check_all(struct uvea_gate_run *run, const struct variants *variants,
                                 size_t scenario_count, struct tally *tally)
{
    const struct variant no_extra = {.count = 0};
    for (size_t i = 0; i < scenario_count; i++) {
        UVEA_TRY(check_scenario(run, &uvea_gate_scenarios[i], &no_extra, variants->at,
                                variants->count, tally));
    }
    return check_boundaries(run, variants, tally);
}

enum uvea_error uvea_gate_decisions(struct uvea_gate_run *run)
{
    const struct uvea_gate_kernels kernels = uvea_gate_find_kernels(run);
    size_t scenario_count = 0;
    while (uvea_gate_scenarios[scenario_count].name != NULL) {
        scenario_count++;
    }
    struct variants *variants = uvea_mem_alloc(1, sizeof(*variants));
    if (variants == NULL) {
        return UVEA_ERR_MEMORY;
    }
    fill_variants(&kernels, variants);
    const size_t boundaries = UVEA_COUNT_OF(record_counts) * UVEA_COUNT_OF(chunk_sizes);
    struct tally tally = {.total =
                              scenario_count * variants->count + boundaries * BOUNDARY_VARIANTS};
    enum uvea_error error = check_all(run, variants, scenario_count, &tally);
    uvea_mem_free(variants);
    uvea_gate_covered(run,
                      "%" PRIu64 " runs: %zu scenarios on the ring and on the NTT path with both "
                      "predicates, each kernel alone and kernels mixed between the parties, and "
                      "%zu databases around tiles and chunks; answers and opened candidates alike, "
                      "all judged by the oracle",
                      tally.runs, scenario_count, boundaries);
    return error;
}
