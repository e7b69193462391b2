// uvea replay: a scenario against a live cluster.
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"
#include "sim/cmd/interrupt.h"
#include "sim/cmd/run.h"
#include "sim/cmd/target.h"
#include "sim/live/report.h"
#include "uvea_build_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct uvea_target_arguments target;
    const char *pace;
    const char *report;
};

static enum uvea_error parse_pace(const char *text, uint64_t *pace_ns,
                                  struct uvea_error_context *context)
{
    char *end;
    if (text == NULL) {
        return UVEA_OK;
    }
    errno = 0;
    const double rate = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !(rate >= 0.001 && rate <= 100000)) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--pace %s: want requests per second, 0.001 to 100000", text);
    }
    *pace_ns = (uint64_t)(1e9 / rate);
    return UVEA_OK;
}

static enum uvea_error parse(int argc, char **argv, struct arguments *arguments,
                             struct uvea_error_context *context)
{
    const struct uvea_arg_option options[] = {
        UVEA_TARGET_OPTIONS(&arguments->target),
        {"--pace", UVEA_ARG_TEXT, &arguments->pace, NULL},
        {"--report", UVEA_ARG_TEXT, &arguments->report, NULL},
    };
    struct uvea_arg_positionals files = {
        .at = &arguments->target.file, .min = 1, .max = 1, .what = "FILE"};
    return uvea_args_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), &files,
                           context);
}

// ---- printing

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void print_figures(const struct uvea_replay_result *result)
{
    const double seconds = (double)result->elapsed_ns / 1e9;
    if (result->ignored[0] != '\0') {
        (void)printf("left out of the scenario: %s\n", result->ignored);
    }
    (void)printf("enrolled: %" PRIu64 " of %" PRIu64 " records by requests in %.1f s\n",
                 result->enrolled, result->enrolments, (double)result->enrolling_ns / 1e9);
    (void)printf("latency: p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, max %.1f ms\n",
                 ms(uvea_replay_latency_ns(result, 500)), ms(uvea_replay_latency_ns(result, 900)),
                 ms(uvea_replay_latency_ns(result, 990)), ms(uvea_replay_latency_ns(result, 1000)));
    (void)printf("http: %" PRIu64 " bytes sent, %" PRIu64 " bytes received; %.2f requests/s\n",
                 result->bytes_sent, result->bytes_received,
                 seconds > 0 ? (double)result->latency_count / seconds : 0.0);
    (void)printf("ledger: %s\n", result->ledger);
    if (result->afterwards[0] != '\0') {
        (void)printf("the cluster is not ready again: %s\n", result->afterwards);
    }
}

static void print_verdict(const struct uvea_replay_result *result)
{
    if (result->verdict != UVEA_VERDICT_PASS) {
        (void)printf("%s: %s\n", uvea_replay_verdict_text(result), result->reason);
    }
    if (result->interrupted) {
        (void)puts("before the next replay: " UVEA_REPLAY_FRESH);
    }
    (void)printf("verdict: %s requests=%" PRIu64 " responses=%" PRIu64 " disagreements=%" PRIu64
                 " mismatches=%" PRIu64 " records=%" PRIu64 " batches=%" PRIu64 " live_ms=%" PRIu64
                 " answers=",
                 uvea_replay_verdict_text(result), result->requests, result->responses,
                 result->disagreements, result->mismatches, result->records, result->batches,
                 result->elapsed_ns / 1000000);
    for (unsigned i = 0; i < 16; i++) {
        (void)printf("%02x", result->answers_hash[i]);
    }
    (void)putchar('\n');
}

static enum uvea_error write_report(const struct arguments *arguments,
                                    const struct uvea_target *target,
                                    const struct uvea_replay_result *result,
                                    struct uvea_error_context *context)
{
    const struct uvea_report_head head = {
        .scenario = arguments->target.file,
        .cluster = arguments->target.cluster,
        .seed = target->scenario.options[UVEA_OPTION_root_seed],
        .build = UVEA_BUILD_ID,
    };
    struct uvea_buf html = {.len = 0};
    struct uvea_output out = {0};
    enum uvea_error error = uvea_report_html(&head, result, &html);
    if (error == UVEA_OK) {
        error = uvea_output_open(&out, arguments->report, false, context);
    }
    if (error == UVEA_OK) {
        error = uvea_output_write(&out, html.data, html.len, context);
    }
    if (error == UVEA_OK) {
        error = uvea_output_finish(&out, context);
    }
    uvea_output_close(&out);
    uvea_buf_deinit(&html);
    return error;
}

// ---- the command

static bool is_interrupted(void)
{
    return uvea_interrupt_signal() != 0;
}

// A replay that was over before the signal came has its own status.
static int conclude(enum uvea_error error, const struct uvea_replay_result *result,
                    const struct uvea_error_context *context)
{
    const int status = error == UVEA_OK ? uvea_verdict_exit_status(result->verdict)
                                        : uvea_cmd_fail("replay", error, context);
    const bool interrupted = error == UVEA_OK ? result->interrupted : error == UVEA_ERR_CLOSED;
    return interrupted && is_interrupted() ? UVEA_EXIT_SIGNAL + uvea_interrupt_signal() : status;
}

static enum uvea_error replay(const struct arguments *arguments, struct uvea_target *target,
                              struct uvea_replay_result *result, struct uvea_error_context *context)
{
    const struct uvea_run_arguments head = {.file = arguments->target.file};
    UVEA_TRY(parse_pace(arguments->pace, &target->config.pace_ns, context));
    if (arguments->report != NULL) {
        UVEA_TRY(uvea_output_check(arguments->report, context));
    }
    uvea_interrupt_listen();
    target->config.interrupted = is_interrupted;
    uvea_run_print_head(&head, &target->scenario);
    (void)fflush(stdout);
    const enum uvea_error error = uvea_replay_run(&target->config, result, context);
    uvea_target_end_progress(target);
    UVEA_TRY(error);
    print_figures(result);
    print_verdict(result);
    return arguments->report == NULL ? UVEA_OK : write_report(arguments, target, result, context);
}

static int replay_command(int argc, char **argv)
{
    struct arguments arguments = {.pace = NULL};
    struct uvea_target target = {.rt = NULL};
    struct uvea_replay_result result = {.requests = 0};
    struct uvea_error_context context = {.text = ""};
    enum uvea_error error = parse(argc, argv, &arguments, &context);
    if (error == UVEA_OK) {
        error = uvea_target_open(&arguments.target, &target, &context);
    }
    if (error == UVEA_OK) {
        error = replay(&arguments, &target, &result, &context);
    }
    uvea_target_close(&target);
    if (error == UVEA_OK && (fflush(stdout) != 0 || ferror(stdout) != 0)) {
        error = uvea_error_set(&context, UVEA_ERR_IO, "standard output: %s", strerror(errno));
    }
    const int status = conclude(error, &result, &context);
    uvea_replay_result_deinit(&result);
    return status;
}

const struct uvea_cmd uvea_cmd_replay = {
    .name = "replay",
    .summary = "run a scenario against a live cluster and judge every answer",
    .usage =
        "usage: uvea replay FILE --target CLUSTER.yaml [--pace RATE] [--report OUT.html]\n"
        "                   [--set KEY=VALUE]... [--seed N] [--ignore-faults] [--progress]\n"
        "\n"
        "Enrols the scenario's database by requests, sends its requests, collects all three\n"
        "answers of each, and has them judged as `uvea run` does. The cluster must be empty and\n"
        "configured as the scenario says. What restarts parties calls the commands of the cluster\n"
        "file; where it names stores and commands, the stores are looked at in the end. Ends with\n"
        "one line that starts with `verdict:`.\n"
        "\n"
        "  --target FILE    the cluster's file (uvea cluster init writes one)\n"
        "  --pace RATE      so many requests per second, evenly, instead of the scenario's "
        "pauses;\n"
        "                   never more under way than its client.window\n"
        "  --report FILE    write latencies, every answer and the configuration as one HTML page\n"
        "  --set KEY=VALUE  override an option of the scenario\n"
        "  --seed N         instead of the scenario's seed\n"
        "  --ignore-faults  leave out what only the simulator can do, and say so\n"
        "  --progress       say every five seconds how far it is, also when standard error is no\n"
        "                   terminal\n"
        "\n"
        "Exit status: 0 pass, 1 output or the machine failed, 2 usage, bad input or a cluster that "
        "is\n"
        "not as it should be, 10 wrong answer, 11 no progress or a cluster that is not reached,\n"
        "130 and 143 interrupted: SIGINT and SIGTERM end it in order, with what was answered "
        "until\n"
        "then.\n",
    .run = replay_command,
};
