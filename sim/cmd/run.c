#include "sim/cmd/run.h"

#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"
#include "sim/cmd/plant.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

static enum uvea_error check_arguments(struct uvea_run_arguments *arguments, const char *seeds,
                                       struct uvea_error_context *context)
{
    if (arguments->has_seed && arguments->has_seeds) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--seed and --seeds exclude each other");
    }
    if (!arguments->has_seeds) {
        arguments->last_seed = arguments->first_seed;
        return UVEA_OK;
    }
    if (arguments->trace != NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--trace goes with one seed");
    }
    uint64_t range[2];
    UVEA_TRY(uvea_args_parse_two("--seeds", seeds, "..", range, context));
    if (range[1] < range[0] || range[1] - range[0] >= UVEA_RUN_SEEDS_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--seeds %s: the second is less than the first, or more than %d "
                              "seeds",
                              seeds, UVEA_RUN_SEEDS_MAX);
    }
    arguments->first_seed = range[0];
    arguments->last_seed = range[1];
    return UVEA_OK;
}

static enum uvea_error parse_arguments(int argc, char **argv, struct uvea_run_arguments *arguments,
                                       struct uvea_error_context *context)
{
    const char *seeds = NULL;
    const char *judge = "onlookers";
    const struct uvea_arg_option options[] = {
        {"--seed", UVEA_ARG_U64, &arguments->first_seed, &arguments->has_seed},
        {"--seeds", UVEA_ARG_TEXT, &seeds, &arguments->has_seeds},
        {"--twice", UVEA_ARG_FLAG, &arguments->twice, NULL},
        {"--set", UVEA_ARG_LIST, &arguments->overrides, NULL},
        {"--trace", UVEA_ARG_TEXT, &arguments->trace, NULL},
        {"--json", UVEA_ARG_FLAG, &arguments->json, NULL},
        {"--judge", UVEA_ARG_TEXT, &judge, NULL},
#ifdef UVEA_ALARM
        {"--plant", UVEA_ARG_TEXT, &arguments->plant, NULL},
#endif
    };
    struct uvea_arg_positionals files = {
        .at = &arguments->file, .min = 1, .max = 1, .what = "FILE"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), &files,
                             context));
    uint64_t choice;
    UVEA_TRY(uvea_choice_parse("--judge", UVEA_JUDGE_CHOICES, judge, &choice, context));
    arguments->judge = (enum uvea_world_judge)choice;
    return check_arguments(arguments, seeds, context);
}

// ---- many seeds

struct tally {
    struct uvea_world_result sum; // figures added up; verdict of the first failing seed
    uint64_t first_failure;
    uint64_t seeds;
    uint64_t failed;
    uint64_t skipped;
    EVP_MD_CTX *hash; // over the seeds' hashes, in order
};

static void tally_add(struct tally *tally, uint64_t seed, const struct uvea_world_result *result)
{
    struct uvea_world_result *sum = &tally->sum;
    tally->seeds++;
    tally->skipped += result->verdict == UVEA_VERDICT_SKIPPED;
    tally->failed +=
        result->verdict != UVEA_VERDICT_PASS && result->verdict != UVEA_VERDICT_SKIPPED;
    if (sum->verdict == UVEA_VERDICT_PASS || sum->verdict == UVEA_VERDICT_SKIPPED) {
        if (result->verdict != UVEA_VERDICT_PASS) {
            sum->verdict = result->verdict;
            tally->first_failure = seed;
        }
    }
    sum->requests += result->requests;
    sum->responses += result->responses;
    sum->disagreements += result->disagreements;
    sum->mismatches += result->mismatches;
    sum->records += result->records;
    sum->sim_ns += result->sim_ns;
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        sum->bytes_sent[party] += result->bytes_sent[party];
    }
    (void)EVP_DigestUpdate(tally->hash, result->hash, sizeof(result->hash));
}

static enum uvea_error report_seed(const struct uvea_run_arguments *arguments,
                                   const struct uvea_scenario *scenario,
                                   const struct uvea_world_result *result)
{
    uint64_t seed = scenario->options[UVEA_OPTION_root_seed];
    if (arguments->json) {
        return uvea_run_print_json(arguments, scenario, seed, result);
    }
    if (arguments->has_seeds) {
        uvea_run_print_seed(arguments, seed, result);
    }
    return UVEA_OK;
}

static enum uvea_error run_seeds(const struct uvea_run_arguments *arguments,
                                 struct uvea_scenario *scenario, struct tally *tally,
                                 struct uvea_error_context *context)
{
    uint64_t seed = arguments->has_seed || arguments->has_seeds
                        ? arguments->first_seed
                        : scenario->options[UVEA_OPTION_root_seed];
    uint64_t last = arguments->has_seed || arguments->has_seeds ? arguments->last_seed : seed;
    for (;; seed++) {
        scenario->options[UVEA_OPTION_root_seed] = seed;
        struct uvea_run_report report;
        uvea_run_seed(arguments, scenario, &report);
        if (report.error != UVEA_OK) {
            return uvea_error_set(context, report.error, "%s: %.400s", arguments->file,
                                  report.context.text[0] != '\0' ? report.context.text
                                                                 : uvea_error_text(report.error));
        }
        UVEA_TRY(report_seed(arguments, scenario, &report.result));
        tally_add(tally, seed, &report.result);
        if (seed == last) {
            if (!arguments->has_seeds) {
                tally->sum = report.result;
            }
            return UVEA_OK;
        }
    }
}

// The hash of a range stands for all its runs.
static void finish_tally(const struct uvea_run_arguments *arguments, struct tally *tally)
{
    if (arguments->has_seeds) {
        (void)EVP_DigestFinal_ex(tally->hash, tally->sum.hash, NULL);
        if (!arguments->json) {
            (void)printf("%llu seeds: %llu failed, %llu skipped\n",
                         (unsigned long long)tally->seeds, (unsigned long long)tally->failed,
                         (unsigned long long)tally->skipped);
        }
    }
}

static enum uvea_error run(const struct uvea_run_arguments *arguments,
                           struct uvea_scenario *scenario, struct tally *tally,
                           struct uvea_error_context *context)
{
    tally->hash = EVP_MD_CTX_new();
    if (tally->hash == NULL || EVP_DigestInit_ex(tally->hash, EVP_sha256(), NULL) != 1) {
        return UVEA_ERR_CRYPTO;
    }
    if (!arguments->json) {
        if (arguments->has_seed) {
            scenario->options[UVEA_OPTION_root_seed] = arguments->first_seed;
        }
        uvea_run_print_head(arguments, scenario);
    }
    UVEA_TRY(run_seeds(arguments, scenario, tally, context));
    finish_tally(arguments, tally);
    if (!arguments->json) {
        uvea_run_print_verdict(arguments, scenario->options[UVEA_OPTION_root_seed], &tally->sum);
    }
    return UVEA_OK;
}

enum uvea_error uvea_run_check(const char *file, const struct uvea_scenario *scenario,
                               struct uvea_error_context *context)
{
    struct uvea_error_context said = {.text = ""};
    unsigned line;
    const enum uvea_error error = uvea_world_check(scenario, &line, &said);
    const char *text = said.text[0] != '\0' ? said.text : uvea_error_text(error);
    if (error == UVEA_OK || error == UVEA_ERR_NOT_FOUND) {
        return UVEA_OK;
    }
    return line == 0 ? uvea_error_set(context, error, "%.200s: %.300s", file, text)
                     : uvea_error_set(context, error, "%.200s:%u: %.300s", file, line, text);
}

// Before anything is printed.
static enum uvea_error check_first(const struct uvea_run_arguments *arguments,
                                   const struct uvea_scenario *scenario,
                                   struct uvea_error_context *context)
{
    UVEA_TRY(uvea_run_check(arguments->file, scenario, context));
    return uvea_output_check(arguments->trace, context);
}

static enum uvea_error run_arguments(const struct uvea_run_arguments *arguments,
                                     struct tally *tally, struct uvea_error_context *context)
{
    struct uvea_scenario scenario;
    UVEA_TRY(uvea_scenario_load(arguments->file, arguments->overrides.at,
                                arguments->overrides.count, &scenario, context));
    enum uvea_error error = check_first(arguments, &scenario, context);
    if (error == UVEA_OK) {
        error = run(arguments, &scenario, tally, context);
    }
    uvea_scenario_deinit(&scenario);
    return error;
}

static int run_command(int argc, char **argv)
{
    struct uvea_run_arguments arguments = {.file = NULL};
    struct uvea_error_context context = {.text = ""};
    struct tally tally = {.seeds = 0};
#ifdef UVEA_ALARM
    if (argc == 1 && strcmp(argv[0], "--plants") == 0) {
        return uvea_cmd_list_plants();
    }
#endif
    enum uvea_error error = parse_arguments(argc, argv, &arguments, &context);
#ifdef UVEA_ALARM
    if (error == UVEA_OK) {
        error = uvea_cmd_set_plant(arguments.plant, &context);
    }
#endif
    if (error == UVEA_OK) {
        error = run_arguments(&arguments, &tally, &context);
    }
    EVP_MD_CTX_free(tally.hash);
    if (error == UVEA_OK && (fflush(stdout) != 0 || ferror(stdout) != 0)) {
        error = uvea_error_set(&context, UVEA_ERR_IO, "standard output: %s", strerror(errno));
    }
    return error == UVEA_OK ? uvea_verdict_exit_status(tally.sum.verdict)
                            : uvea_cmd_fail("run", error, &context);
}

const struct uvea_cmd uvea_cmd_run = {
    .name = "run",
    .summary = "run a scenario in the simulator and judge every answer",
    .usage =
        "usage: uvea run FILE [--seed N | --seeds A..B] [--twice] [--set KEY=VALUE]...\n"
        "                [--trace FILE] [--json] [--judge WHICH]\n"
        "\n"
        "Runs three parties and a client through the scenario in virtual time; the oracle judges\n"
        "every answer of every party. Prints the seed, the build and every option, and ends with\n"
        "one line that starts with `verdict:`.\n"
        "\n"
        "  --seed N         instead of the scenario's seed\n"
        "  --seeds A..B     one run for each seed, each in a process of its own\n"
        "  --twice          run again, in the same process and in another: one hash must come out\n"
        "  --set KEY=VALUE  override an option, for example --set network.latency_us=20000\n"
        "  --trace FILE     write every event as one line of JSON\n"
        "  --json           print one JSON object per run instead of text; its answers_hash "
        "covers\n"
        "                   all answers and opened candidates, and nothing of how they came about\n"
        "  --judge WHICH    where the judge has its knowledge from: onlookers (default) see what\n"
        "                   each party does; results: only what clients read, as with a live\n"
        "                   cluster; both: two judges, which must agree\n"
#ifdef UVEA_ALARM
        "  --plant NAME     switch a planted fault on; `uvea run --plants` lists them\n"
#endif
        "\n"
        "Exit status: 0 pass, 1 output or the machine failed, 2 usage or bad input, 10 wrong "
        "answer or broken invariant,\n"
        "11 no progress, 12 crash, 13 resource limit, 14 skipped, 15 runs with one seed differ.\n",
    .run = run_command,
};
