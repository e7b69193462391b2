// uvea diff: one scenario in the simulator and against a live cluster, answer by answer.
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/target.h"
#include "sim/live/rows.h"
#include "sim/world/world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum uvea_error parse(int argc, char **argv, struct uvea_target_arguments *arguments,
                             struct uvea_error_context *context)
{
    const struct uvea_arg_option options[] = {UVEA_TARGET_OPTIONS(arguments)};
    struct uvea_arg_positionals files = {
        .at = &arguments->file, .min = 1, .max = 1, .what = "FILE"};
    return uvea_args_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), &files,
                           context);
}

// ---- printing

static const char *oracle_of(const struct uvea_row *row)
{
    return row == NULL ? "no such request" : row->oracle;
}

static const char *answer_of(const struct uvea_row *row, unsigned party)
{
    if (row == NULL) {
        return "no such request";
    }
    return row->party[party][0] == '\0' ? "no answer" : row->party[party];
}

// A uvea_rows_differ_fn: left is the simulator.
static void print_difference(void *arg, const struct uvea_row_difference *difference)
{
    const struct uvea_row *any = difference->left != NULL ? difference->left : difference->right;
    (void)arg;
    (void)printf("%s (%s)\n  oracle     %s\n", any->key, any->kind, any->oracle);
    if (difference->party < 0) {
        (void)printf("  in sim     %s\n  when live  %s\n", oracle_of(difference->left),
                     oracle_of(difference->right));
        return;
    }
    const unsigned party = (unsigned)difference->party;
    (void)printf("  sim, p%u    %s\n  live, p%u   %s\n", party, answer_of(difference->left, party),
                 party, answer_of(difference->right, party));
}

// ---- the two runs

static enum uvea_error simulate(const struct uvea_target *target, struct uvea_rows *rows,
                                struct uvea_error_context *context)
{
    const struct uvea_world_options options = {.answer = uvea_rows_add, .answer_arg = rows};
    struct uvea_world_result result;
    struct uvea_scenario calm;
    UVEA_TRY(uvea_replay_calm(&target->scenario, &calm));
    const enum uvea_error error = uvea_world_run(&calm, &options, &result, context);
    uvea_scenario_deinit(&calm);
    UVEA_TRY(error);
    (void)printf("sim:  %s%s%s\n", uvea_verdict_text(result.verdict),
                 result.reason[0] == '\0' ? "" : ": ", result.reason);
    return UVEA_OK;
}

static enum uvea_error replay(struct uvea_target *target, struct uvea_replay_result *result,
                              struct uvea_error_context *context)
{
    target->config.carries_on = true; // every difference is wanted, not the first
    const enum uvea_error error = uvea_replay_run(&target->config, result, context);
    uvea_target_end_progress(target);
    UVEA_TRY(error);
    if (result->ignored[0] != '\0') {
        (void)printf("left out of the scenario: %s\n", result->ignored);
    }
    (void)printf("live: %s%s%s\n", uvea_replay_verdict_text(result),
                 result->reason[0] == '\0' ? "" : ": ", result->reason);
    return UVEA_OK;
}

static enum uvea_error compare(struct uvea_target *target, size_t *differing,
                               struct uvea_error_context *context)
{
    struct uvea_replay_result live = {.requests = 0};
    struct uvea_rows simulated = {.count = 0};
    target->scenario.options[UVEA_OPTION_client_window] = 1;
    enum uvea_error error = replay(target, &live, context);
    if (error == UVEA_OK) {
        error = simulate(target, &simulated, context);
    }
    if (error == UVEA_OK) {
        *differing = uvea_rows_compare(&simulated, &live.rows, print_difference, NULL);
        (void)printf("%zu of %zu requests are answered differently\n", *differing, simulated.count);
    }
    uvea_rows_deinit(&simulated);
    uvea_replay_result_deinit(&live);
    return error;
}

static int diff_command(int argc, char **argv)
{
    struct uvea_target_arguments arguments = {.file = NULL};
    struct uvea_target target = {.rt = NULL};
    struct uvea_error_context context = {.text = ""};
    size_t differing = 0;
    enum uvea_error error = parse(argc, argv, &arguments, &context);
    if (error == UVEA_OK) {
        error = uvea_target_open(&arguments, &target, &context);
    }
    if (error == UVEA_OK) {
        error = compare(&target, &differing, &context);
    }
    uvea_target_close(&target);
    if (error == UVEA_OK && (fflush(stdout) != 0 || ferror(stdout) != 0)) {
        error = uvea_error_set(&context, UVEA_ERR_IO, "standard output: %s", strerror(errno));
    }
    if (error != UVEA_OK) {
        return uvea_cmd_fail("diff", error, &context);
    }
    return differing == 0 ? UVEA_EXIT_PASS : UVEA_EXIT_WRONG;
}

const struct uvea_cmd uvea_cmd_diff = {
    .name = "diff",
    .summary = "run a scenario in the simulator and live, and list differing answers",
    .usage =
        "usage: uvea diff FILE --target CLUSTER.yaml [--set KEY=VALUE]... [--seed N]\n"
        "                 [--ignore-faults] [--progress]\n"
        "\n"
        "Runs the scenario against the cluster (see: uvea help replay) and in the simulator, with\n"
        "one seed and client.window 1, and lists every request that is answered differently:\n"
        "its kind, the oracle's outcome, and what a party answered in each. node_id is left out.\n"
        "\n"
        "Exit status: 0 no difference, 1 output or the machine failed, 2 usage or bad input, 10\n"
        "some difference, 11 a cluster that is not reached.\n",
    .run = diff_command,
};
