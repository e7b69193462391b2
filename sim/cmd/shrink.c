// Makes a failing scenario smaller while it fails in the same way: without requests, without
// faults, with fewer records and shorter times. The seed's own draws are first written out as a
// list, so that they can be taken away one by one.
#include "core/base/buf.h"
#include "core/base/mem.h"
#include "sim/chaos/expand.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"
#include "sim/cmd/plant.h"
#include "sim/cmd/run.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    TRIES_DEFAULT = 400,
    SIGNATURE_BYTES = 96,
};

// How a run failed: its verdict and its reason without numbers, so that other ids and times are the
// same failure.
struct signature {
    enum uvea_verdict verdict;
    char text[SIGNATURE_BYTES];
};

struct shrink {
    struct uvea_run_arguments arguments;
    const char *output;
    uint64_t tries_max;
    uint64_t tries;
    struct signature wanted;
    char reason[sizeof(((struct uvea_world_result *)NULL)->reason)]; // of best, as it is
    struct uvea_scenario best;                                       // fails in the wanted way
};

static struct signature signature_of(const struct uvea_world_result *result)
{
    struct signature signature = {.verdict = result->verdict};
    size_t len = 0;
    for (const char *at = result->reason; *at != '\0' && len + 1 < SIGNATURE_BYTES; at++) {
        const bool digit = isdigit((unsigned char)*at) != 0;
        if (!digit) {
            signature.text[len++] = *at;
        } else if (len == 0 || signature.text[len - 1] != '#') {
            signature.text[len++] = '#';
        }
    }
    return signature;
}

static bool same(const struct signature *a, const struct signature *b)
{
    return a->verdict == b->verdict && strcmp(a->text, b->text) == 0;
}

// The scenario as it reads back once it is written, for this is what will be judged by others.
static enum uvea_error reread(const struct uvea_scenario *scenario, const char *name,
                              struct uvea_scenario *out, struct uvea_error_context *context)
{
    struct uvea_buf yaml = {0};
    enum uvea_error error = uvea_scenario_write(scenario, &yaml);
    if (error == UVEA_OK) {
        error = uvea_scenario_parse(name, yaml.data, yaml.len, NULL, 0, out, context);
    }
    uvea_buf_deinit(&yaml);
    return error;
}

static void run_written(struct shrink *shrink, const struct uvea_scenario *scenario,
                        struct uvea_run_report *report)
{
    struct uvea_scenario written;
    *report = (struct uvea_run_report){.error = UVEA_OK};
    report->error = reread(scenario, shrink->arguments.file, &written, &report->context);
    if (report->error == UVEA_OK) {
        uvea_run_seed(&shrink->arguments, &written, report);
        uvea_scenario_deinit(&written);
    }
}

static void keep_reason(struct shrink *shrink, const struct uvea_world_result *result)
{
    (void)snprintf(shrink->reason, sizeof(shrink->reason), "%s", result->reason);
}

static bool fails_alike(struct shrink *shrink, const struct uvea_scenario *scenario)
{
    struct uvea_run_report report;
    shrink->tries++;
    run_written(shrink, scenario, &report);
    if (report.error != UVEA_OK) {
        return false; // it cannot be carried out any more
    }
    const struct signature found = signature_of(&report.result);
    if (!same(&found, &shrink->wanted)) {
        return false;
    }
    keep_reason(shrink, &report.result);
    return true;
}

// Takes candidate over when it fails alike, else releases it.
static bool accept(struct shrink *shrink, struct uvea_scenario *candidate)
{
    const bool good = shrink->tries < shrink->tries_max && fails_alike(shrink, candidate);
    if (good) {
        uvea_scenario_deinit(&shrink->best);
        shrink->best = *candidate;
        (void)fprintf(stderr,
                      "shrink: %zu requests, %zu faults, %" PRIu64 " records (run %" PRIu64 ")\n",
                      shrink->best.request_count, shrink->best.fault_count,
                      shrink->best.options[UVEA_OPTION_database_records], shrink->tries);
    } else {
        uvea_scenario_deinit(candidate);
    }
    return good;
}

// ---- lists

static void drop_requests(struct uvea_scenario *scenario, size_t at, size_t count)
{
    struct uvea_request_plan *requests = scenario->requests;
    for (size_t i = at; i < at + count; i++) {
        uvea_mem_free(requests[i].or_rule.serials);
        uvea_mem_free(requests[i].expect.error);
        uvea_mem_free(requests[i].expect.matched.serials);
        uvea_mem_free(requests[i].expect.anonymous.serials);
    }
    for (size_t i = at; i + count < scenario->request_count; i++) {
        requests[i] = requests[i + count];
    }
    scenario->request_count -= count;
}

static void drop_faults(struct uvea_scenario *scenario, size_t at, size_t count)
{
    for (size_t i = at; i + count < scenario->fault_count; i++) {
        scenario->faults[i] = scenario->faults[i + count];
    }
    scenario->fault_count -= count;
}

typedef void drop_fn(struct uvea_scenario *scenario, size_t at, size_t count);

// Tries to leave out pieces of the list, large ones first, the last ones first.
static enum uvea_error thin_out(struct shrink *shrink, drop_fn *drop, const size_t *count,
                                size_t least, bool *changed)
{
    for (size_t piece = (*count + 1) / 2; piece > 0; piece /= 2) {
        for (size_t at = *count; at > 0;) {
            const size_t size = piece < at ? piece : at;
            at -= size;
            if (*count < least + size || shrink->tries >= shrink->tries_max) {
                continue;
            }
            struct uvea_scenario candidate;
            UVEA_TRY(uvea_scenario_copy(&shrink->best, &candidate));
            drop(&candidate, at, size);
            *changed = accept(shrink, &candidate) || *changed;
            at = at < *count ? at : *count;
        }
    }
    return UVEA_OK;
}

// ---- numbers

static enum uvea_error try_option(struct shrink *shrink, enum uvea_option option, uint64_t value,
                                  bool *changed)
{
    struct uvea_scenario candidate;
    if (shrink->best.options[option] <= value) {
        return UVEA_OK;
    }
    UVEA_TRY(uvea_scenario_copy(&shrink->best, &candidate));
    candidate.options[option] = value;
    *changed = accept(shrink, &candidate) || *changed;
    return UVEA_OK;
}

// By half of what is above the least, and small numbers by one.
static enum uvea_error lower_option(struct shrink *shrink, enum uvea_option option, uint64_t least,
                                    bool *changed)
{
    enum { SMALL = 16 };
    const uint64_t value = shrink->best.options[option];
    const uint64_t half = least + (value - least) / 2;
    if (value <= least || (option == UVEA_OPTION_root_sessions && half % 8 != 0)) {
        return UVEA_OK;
    }
    UVEA_TRY(try_option(shrink, option, half, changed));
    if (shrink->best.options[option] == value && value <= SMALL &&
        option != UVEA_OPTION_root_sessions) {
        return try_option(shrink, option, value - 1, changed);
    }
    return UVEA_OK;
}

static enum uvea_error shrink_options(struct shrink *shrink, bool *changed)
{
    static const struct {
        enum uvea_option option;
        uint64_t least;
    } options[] = {
        {UVEA_OPTION_database_records, 0},
        {UVEA_OPTION_client_window, 1},
        {UVEA_OPTION_service_batch_requests_max, 1},
        {UVEA_OPTION_client_pause_ms, 0},
        {UVEA_OPTION_network_latency_us, 0},
        {UVEA_OPTION_network_jitter_us, 0},
        {UVEA_OPTION_root_sessions, 8},
        {UVEA_OPTION_root_connections, 1},
        {UVEA_OPTION_clocks_p0_offset_ms, 0},
        {UVEA_OPTION_clocks_p1_offset_ms, 0},
        {UVEA_OPTION_clocks_p2_offset_ms, 0},
        {UVEA_OPTION_clocks_p0_drift_ppm, 0},
        {UVEA_OPTION_clocks_p1_drift_ppm, 0},
        {UVEA_OPTION_clocks_p2_drift_ppm, 0},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const enum uvea_option option = options[i].option;
        UVEA_TRY(try_option(shrink, option, options[i].least, changed));
        UVEA_TRY(lower_option(shrink, option, options[i].least, changed));
    }
    return UVEA_OK;
}

static enum uvea_error shrink_fault_times(struct shrink *shrink, bool *changed)
{
    for (size_t i = 0; i < shrink->best.fault_count; i++) {
        struct uvea_scenario candidate;
        if (shrink->best.faults[i].for_ms < 2) {
            continue;
        }
        UVEA_TRY(uvea_scenario_copy(&shrink->best, &candidate));
        candidate.faults[i].for_ms /= 2;
        *changed = accept(shrink, &candidate) || *changed;
    }
    return UVEA_OK;
}

static enum uvea_error shrink_all(struct shrink *shrink)
{
    bool changed = true;
    while (changed && shrink->tries < shrink->tries_max) {
        changed = false;
        UVEA_TRY(thin_out(shrink, drop_requests, &shrink->best.request_count, 1, &changed));
        UVEA_TRY(thin_out(shrink, drop_faults, &shrink->best.fault_count, 0, &changed));
        UVEA_TRY(shrink_options(shrink, &changed));
        UVEA_TRY(shrink_fault_times(shrink, &changed));
    }
    return UVEA_OK;
}

// ---- the command

// What says how faults are drawn says nothing any more; how long all must be over by still counts.
static enum uvea_error forget_swarm(struct uvea_scenario *scenario)
{
    for (unsigned i = 0; i < UVEA_OPTION_COUNT; i++) {
        const struct uvea_option_info *info = uvea_option_info((enum uvea_option)i);
        struct uvea_error_context context;
        if (strcmp(info->section, "swarm") == 0 && i != UVEA_OPTION_swarm_recovery_s) {
            UVEA_TRY(uvea_option_parse((enum uvea_option)i, info->value, &scenario->options[i],
                                       &context));
        }
    }
    return UVEA_OK;
}

// The scenario with its seed's draws written out. What a mix knew about its answers stays behind:
// it cannot be written down.
static enum uvea_error write_out(const struct uvea_scenario *scenario, struct uvea_scenario *out)
{
    UVEA_TRY(uvea_expand(scenario, out));
    for (size_t i = 0; i < out->request_count; i++) {
        out->requests[i].mixed = false;
    }
    const enum uvea_error error = forget_swarm(out);
    if (error != UVEA_OK) {
        uvea_scenario_deinit(out);
    }
    return error;
}

static enum uvea_error find_failure(struct shrink *shrink, struct uvea_error_context *context)
{
    struct uvea_run_report report;
    run_written(shrink, &shrink->best, &report);
    if (report.error != UVEA_OK) {
        *context = report.context;
        return report.error;
    }
    if (report.result.verdict == UVEA_VERDICT_PASS ||
        report.result.verdict == UVEA_VERDICT_SKIPPED) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "seed %" PRIu64 ": %s, nothing to shrink",
                              shrink->best.options[UVEA_OPTION_root_seed],
                              uvea_verdict_text(report.result.verdict));
    }
    shrink->wanted = signature_of(&report.result);
    keep_reason(shrink, &report.result);
    (void)fprintf(
        stderr,
        "shrink: fails with \"%s: %s\"\nshrink: keeps \"%s: %s\", whatever numbers stand for #\n",
        uvea_verdict_text(shrink->wanted.verdict), shrink->reason,
        uvea_verdict_text(shrink->wanted.verdict), shrink->wanted.text);
    return UVEA_OK;
}

static enum uvea_error write_result(const struct shrink *shrink, struct uvea_error_context *context)
{
    struct uvea_buf yaml = {0};
    struct uvea_output out = {0};
    enum uvea_error error;
    UVEA_TRY_CLEANUP(uvea_scenario_write(&shrink->best, &yaml));
    UVEA_TRY_CLEANUP(uvea_output_open(&out, shrink->output, false, context));
    UVEA_TRY_CLEANUP(uvea_output_write(&out, (const char *)yaml.data, yaml.len, context));
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, context));
cleanup:
    uvea_output_close(&out);
    uvea_buf_deinit(&yaml);
    return error;
}

static enum uvea_error shrink_scenario(struct shrink *shrink, struct uvea_error_context *context)
{
    struct uvea_scenario scenario;
    UVEA_TRY(uvea_output_check(shrink->output, context));
    UVEA_TRY(uvea_scenario_load(shrink->arguments.file, shrink->arguments.overrides.at,
                                shrink->arguments.overrides.count, &scenario, context));
    if (shrink->arguments.has_seed) {
        scenario.options[UVEA_OPTION_root_seed] = shrink->arguments.first_seed;
    }
    enum uvea_error error = uvea_run_check(shrink->arguments.file, &scenario, context);
    error = error == UVEA_OK ? write_out(&scenario, &shrink->best) : error;
    uvea_scenario_deinit(&scenario);
    UVEA_TRY(error);
    UVEA_TRY_CLEANUP(find_failure(shrink, context));
    UVEA_TRY_CLEANUP(shrink_all(shrink));
    UVEA_TRY_CLEANUP(write_result(shrink, context));
    (void)printf("shrink: %zu requests, %zu faults, %" PRIu64 " records left after %" PRIu64
                 " runs: %s: %s\n",
                 shrink->best.request_count, shrink->best.fault_count,
                 shrink->best.options[UVEA_OPTION_database_records], shrink->tries,
                 uvea_verdict_text(shrink->wanted.verdict), shrink->reason);
cleanup:
    uvea_scenario_deinit(&shrink->best);
    return error;
}

static int run_command(int argc, char **argv)
{
    struct shrink shrink = {.tries_max = TRIES_DEFAULT, .arguments = {.quiet = true}};
    struct uvea_error_context context = {.text = ""};
    const struct uvea_arg_option options[] = {
        {"--seed", UVEA_ARG_U64, &shrink.arguments.first_seed, &shrink.arguments.has_seed},
        {"--set", UVEA_ARG_LIST, &shrink.arguments.overrides, NULL},
        {"--tries", UVEA_ARG_U64, &shrink.tries_max, NULL},
        {"-o", UVEA_ARG_TEXT, &shrink.output, NULL},
#ifdef UVEA_ALARM
        {"--plant", UVEA_ARG_TEXT, &shrink.arguments.plant, NULL},
#endif
    };
    struct uvea_arg_positionals files = {
        .at = &shrink.arguments.file, .min = 1, .max = 1, .what = "FILE"};
    enum uvea_error error = uvea_args_parse(argc, argv, options,
                                            sizeof(options) / sizeof(options[0]), &files, &context);
#ifdef UVEA_ALARM
    if (error == UVEA_OK) {
        error = uvea_cmd_set_plant(shrink.arguments.plant, &context);
    }
#endif
    if (error == UVEA_OK && shrink.output == NULL) {
        error = uvea_error_set(&context, UVEA_ERR_USAGE, "-o FILE is missing");
    }
    if (error == UVEA_OK) {
        error = shrink_scenario(&shrink, &context);
    }
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("shrink", error, &context);
}

const struct uvea_cmd uvea_cmd_shrink = {
    .name = "shrink",
    .summary = "make a failing scenario smaller while it fails in the same way",
    .usage =
        "usage: uvea shrink FILE [--seed N] [--set KEY=VALUE]... [--tries N] -o SMALLER.yaml\n"
        "\n"
        "Writes out what the seed draws (mixes, faults), then leaves out requests, faults, "
        "records\n"
        "and time as long as the run fails with the same verdict and the same reason (numbers\n"
        "apart). Each try is a run in a process of its own.\n"
        "\n"
        "  --seed N         instead of the scenario's seed\n"
        "  --set KEY=VALUE  override an option\n"
        "  --tries N        stop after so many runs; 400\n"
        "  -o FILE          where the smaller scenario is written\n"
#ifdef UVEA_ALARM
        "  --plant NAME     switch a planted fault on\n"
#endif
        "\n"
        "Exit status: 0 a smaller scenario was written, 1 it could not be, 2 usage or bad input, "
        "or\n"
        "the run does not fail.\n",
    .run = run_command,
};
