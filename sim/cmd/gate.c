#include "sim/cmd/gate.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/plant.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct arguments {
    const char *names[UVEA_GATE_CHECKS_MAX];
    size_t checks[UVEA_GATE_CHECKS_MAX];
    size_t count;
    uint64_t seed;
    const char *junit;
    bool json;
    bool list;
    const char *plant; // alarm build only
};

static enum uvea_error find_checks(struct arguments *arguments, struct uvea_error_context *context)
{
    UVEA_CHECK(uvea_gate_count() <= UVEA_GATE_CHECKS_MAX);
    for (size_t i = 0; i < arguments->count; i++) {
        arguments->checks[i] = uvea_gate_find(arguments->names[i]);
        if (arguments->checks[i] == uvea_gate_count()) {
            return uvea_error_set(context, UVEA_ERR_USAGE,
                                  "no check '%.100s'; `uvea gate --list` names them",
                                  arguments->names[i]);
        }
        for (size_t k = 0; k < i; k++) {
            if (arguments->checks[k] == arguments->checks[i]) {
                return uvea_error_set(context, UVEA_ERR_USAGE, "check '%s' is named twice",
                                      arguments->names[i]);
            }
        }
    }
    for (size_t i = 0; arguments->count == 0 && i < uvea_gate_count(); i++) {
        arguments->checks[i] = i;
    }
    if (arguments->count == 0) {
        arguments->count = uvea_gate_count();
    }
    return UVEA_OK;
}

static enum uvea_error parse(int argc, char **argv, struct arguments *arguments,
                             struct uvea_error_context *context)
{
    const struct uvea_arg_option options[] = {
        {"--seed", UVEA_ARG_U64, &arguments->seed, NULL},
        {"--json", UVEA_ARG_FLAG, &arguments->json, NULL},
        {"--junit", UVEA_ARG_TEXT, &arguments->junit, NULL},
        {"--list", UVEA_ARG_FLAG, &arguments->list, NULL},
#ifdef UVEA_ALARM
        {"--plant", UVEA_ARG_TEXT, &arguments->plant, NULL},
#endif
    };
    struct uvea_arg_positionals names = {
        .at = arguments->names, .min = 0, .max = UVEA_GATE_CHECKS_MAX, .what = "NAME"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &names, context));
    arguments->count = names.count;
    if (arguments->list && argc > 1) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--list stands alone");
    }
    if (arguments->json && arguments->junit != NULL && strcmp(arguments->junit, "-") == 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--json and --junit - both want standard output");
    }
    return find_checks(arguments, context);
}

static void show_progress(void *arg, const char *name, uint64_t done, uint64_t total)
{
    (void)arg;
    (void)fprintf(stderr, "\r\033[K%s: %u %%", name,
                  total == 0 ? 0 : (unsigned)(done * 100 / total));
    (void)fflush(stderr);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool prints_text(const struct arguments *arguments)
{
    bool junit_there = arguments->junit != NULL && strcmp(arguments->junit, "-") == 0;
    return !arguments->json && !junit_there;
}

static enum uvea_error run_checks(const struct arguments *arguments,
                                  struct uvea_gate_report *report,
                                  struct uvea_error_context *context)
{
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const struct uvea_gate_options options = {
        .seed = arguments->seed,
        .progress = terminal ? show_progress : NULL,
    };
    report->seed = arguments->seed;
    for (size_t i = 0; i < arguments->count; i++) {
        struct uvea_gate_outcome *outcome = &report->outcomes[i];
        uint64_t start_ns = now_ns();
        UVEA_TRY(uvea_gate_run(arguments->checks[i], &options, &outcome->result, context));
        outcome->elapsed_ns = now_ns() - start_ns;
        report->count++;
        if (terminal) {
            (void)fputs("\r\033[K", stderr);
        }
        if (prints_text(arguments)) {
            uvea_gate_print_check(&outcome->result);
        }
    }
    return UVEA_OK;
}

// The file is opened before the checks run: minutes of work must not end in a wrong path.
static enum uvea_error run(const struct arguments *arguments, struct uvea_gate_report *report,
                           struct uvea_error_context *context)
{
    struct uvea_output junit = {.open = false};
    enum uvea_error error;
    if (arguments->junit != NULL) {
        UVEA_TRY_CLEANUP(uvea_output_open(&junit, arguments->junit, false, context));
    }
    UVEA_TRY_CLEANUP(run_checks(arguments, report, context));
    if (arguments->junit != NULL) {
        UVEA_TRY_CLEANUP(uvea_gate_write_junit(report, &junit, context));
        UVEA_TRY_CLEANUP(uvea_output_finish(&junit, context));
    }
    if (arguments->json) {
        UVEA_TRY_CLEANUP(uvea_gate_print_json(report));
    } else if (prints_text(arguments)) {
        uvea_gate_print_verdict(report);
    }
cleanup:
    uvea_output_close(&junit);
    return error;
}

static void print_list(void)
{
    for (size_t i = 0; i < uvea_gate_count(); i++) {
        (void)printf("%-11s %s\n", uvea_gate_name(i), uvea_gate_summary(i));
    }
}

static int exit_of(enum uvea_gate_status status)
{
    static const int exits[] = {
        [UVEA_GATE_PASS] = UVEA_EXIT_PASS,
        [UVEA_GATE_WRONG] = UVEA_EXIT_WRONG,
        [UVEA_GATE_SKIPPED] = UVEA_EXIT_SKIPPED,
    };
    return exits[status];
}

static int gate_command(int argc, char **argv)
{
    struct arguments arguments = {.seed = 1};
    struct uvea_error_context context = {.text = ""};
    struct uvea_gate_report *report = NULL;
    int status = UVEA_EXIT_PASS;
    enum uvea_error error;
    UVEA_TRY_CLEANUP(parse(argc, argv, &arguments, &context));
#ifdef UVEA_ALARM
    UVEA_TRY_CLEANUP(uvea_cmd_set_plant(arguments.plant, &context));
#endif
    if (arguments.list) {
        print_list();
    } else {
        report = uvea_mem_alloc(1, sizeof(*report));
        error = report == NULL ? UVEA_ERR_MEMORY : run(&arguments, report, &context);
        status = report == NULL ? status : exit_of(uvea_gate_report_status(report));
    }
    if (error == UVEA_OK && (fflush(stdout) != 0 || ferror(stdout) != 0)) {
        error = uvea_error_set(&context, UVEA_ERR_IO, "standard output could not be written");
    }
cleanup:
    uvea_mem_free(report);
    return error == UVEA_OK ? status : uvea_cmd_fail("gate", error, &context);
}

const struct uvea_cmd uvea_cmd_gate = {
    .name = "gate",
    .summary = "check that the NTT path and the ring path are the same function",
    .usage =
        "usage: uvea gate [NAME...] [--seed N] [--json] [--junit FILE]\n"
        "       uvea gate --list\n"
        "\n"
        "Runs the named checks, or all of them: the field, its transform and kernels, the private\n"
        "conversion, scores, predicates, whole scenarios and traffic, each against the ring path,\n"
        "the oracle, or arithmetic in the clear. One seed gives the same cases everywhere. Prints\n"
        "what each check covered and ends with one line that starts with `gate:`. What this\n"
        "processor cannot run is named as skipped, not counted as passed.\n"
        "\n"
        "  --seed N      where all randomness comes from (default 1)\n"
        "  --json        print one JSON object instead of text\n"
        "  --junit FILE  also write a JUnit report\n"
        "  --list        name the checks\n"
#ifdef UVEA_ALARM
        "  --plant NAME  switch a planted fault on; `uvea run --plants` lists them\n"
#endif
        "\n"
        "Exit status: 0 pass, 2 usage, 10 wrong, 14 nothing of what was named can run here.\n",
    .run = gate_command,
};
