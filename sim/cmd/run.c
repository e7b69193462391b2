#include "sim/cmd/run.h"

#include "core/base/plant.h"
#include "sim/cmd/cmd.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

static enum uvea_error parse_seeds(const char *text, struct uvea_run_arguments *arguments,
                                   struct uvea_error_context *context)
{
    char low[32];
    const char *dots = strstr(text, "..");
    if (dots == NULL || (size_t)(dots - text) >= sizeof(low)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--seeds %s: not of the form A..B", text);
    }
    memcpy(low, text, (size_t)(dots - text));
    low[dots - text] = '\0';
    UVEA_TRY(uvea_number_parse("--seeds", low, 0, UINT64_MAX, &arguments->first_seed, context));
    UVEA_TRY(uvea_number_parse("--seeds", dots + 2, 0, UINT64_MAX, &arguments->last_seed, context));
    if (arguments->last_seed < arguments->first_seed ||
        arguments->last_seed - arguments->first_seed >= UVEA_RUN_SEEDS_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--seeds %s: B is before A, or more than %d seeds", text,
                              UVEA_RUN_SEEDS_MAX);
    }
    arguments->has_seeds = true;
    return UVEA_OK;
}

static enum uvea_error parse_valued(const char *flag, const char *value,
                                    struct uvea_run_arguments *arguments,
                                    struct uvea_error_context *context)
{
    if (strcmp(flag, "--seed") == 0) {
        arguments->has_seed = true;
        UVEA_TRY(uvea_number_parse(flag, value, 0, UINT64_MAX, &arguments->first_seed, context));
        arguments->last_seed = arguments->first_seed;
        return UVEA_OK;
    }
    if (strcmp(flag, "--seeds") == 0) {
        return parse_seeds(value, arguments, context);
    }
    if (strcmp(flag, "--trace") == 0) {
        arguments->trace = value;
        return UVEA_OK;
    }
#ifdef UVEA_ALARM
    if (strcmp(flag, "--plant") == 0) {
        arguments->plant = value;
        return UVEA_OK;
    }
#endif
    if (arguments->override_count == UVEA_RUN_OVERRIDES_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "more than %d --set",
                              UVEA_RUN_OVERRIDES_MAX);
    }
    arguments->overrides[arguments->override_count++] = (struct uvea_override){.text = value};
    return UVEA_OK;
}

static bool takes_value(const char *flag)
{
    static const char *const flags[] = {
        "--seed",  "--seeds", "--trace", "--set",
#ifdef UVEA_ALARM
        "--plant",
#endif
    };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(flag, flags[i]) == 0) {
            return true;
        }
    }
    return false;
}

static enum uvea_error parse_one(int argc, char **argv, int *at,
                                 struct uvea_run_arguments *arguments,
                                 struct uvea_error_context *context)
{
    const char *word = argv[*at];
    if (takes_value(word)) {
        if (*at + 1 == argc) {
            return uvea_error_set(context, UVEA_ERR_USAGE, "%s needs a value", word);
        }
        *at += 1;
        return parse_valued(word, argv[*at], arguments, context);
    }
    if (strcmp(word, "--twice") == 0) {
        arguments->twice = true;
    } else if (strcmp(word, "--json") == 0) {
        arguments->json = true;
    } else if (word[0] == '-') {
        return uvea_error_set(context, UVEA_ERR_USAGE, "unknown option %s", word);
    } else if (arguments->file == NULL) {
        arguments->file = word;
    } else {
        return uvea_error_set(context, UVEA_ERR_USAGE, "more than one scenario file: %s", word);
    }
    return UVEA_OK;
}

static enum uvea_error parse_arguments(int argc, char **argv, struct uvea_run_arguments *arguments,
                                       struct uvea_error_context *context)
{
    for (int at = 1; at < argc; at++) {
        UVEA_TRY(parse_one(argc, argv, &at, arguments, context));
    }
    if (arguments->file == NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "no scenario file given");
    }
    if (arguments->has_seed && arguments->has_seeds) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--seed and --seeds exclude each other");
    }
    if (arguments->has_seeds && arguments->trace != NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--trace goes with one seed");
    }
    return UVEA_OK;
}

#ifdef UVEA_ALARM
static enum uvea_error set_plant(const char *name, struct uvea_error_context *context)
{
    static const char *const names[] = {
#define PLANT_NAME(id, text, what) text,
        UVEA_PLANTS(PLANT_NAME)
#undef PLANT_NAME
    };
    for (unsigned plant = 0; name != NULL && plant < sizeof(names) / sizeof(names[0]); plant++) {
        if (strcmp(name, names[plant]) == 0) {
            uvea_plant_set((enum uvea_plant)plant);
            return UVEA_OK;
        }
    }
    return name == NULL ? UVEA_OK
                        : uvea_error_set(context, UVEA_ERR_USAGE, "no planted fault '%s'", name);
}
#endif

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
            return uvea_error_set(context, report.error, "%s",
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

static int fail(const struct uvea_error_context *context, enum uvea_error error)
{
    (void)fprintf(stderr, "uvea run: %s\n",
                  context->text[0] != '\0' ? context->text : uvea_error_text(error));
    return UVEA_CMD_EXIT_USAGE;
}

int uvea_cmd_run(int argc, char **argv)
{
    struct uvea_run_arguments arguments = {.program = "uvea"};
    struct uvea_error_context context = {.text = ""};
    struct uvea_scenario scenario;
    struct tally tally = {.seeds = 0};
    enum uvea_error error = parse_arguments(argc, argv, &arguments, &context);
#ifdef UVEA_ALARM
    if (error == UVEA_OK) {
        error = set_plant(arguments.plant, &context);
    }
#endif
    if (error != UVEA_OK) {
        return fail(&context, error);
    }
    error = uvea_scenario_load(arguments.file, arguments.overrides, arguments.override_count,
                               &scenario, &context);
    if (error != UVEA_OK) {
        return fail(&context, error);
    }
    error = run(&arguments, &scenario, &tally, &context);
    EVP_MD_CTX_free(tally.hash);
    uvea_scenario_deinit(&scenario);
    if (error != UVEA_OK) {
        return fail(&context, error);
    }
    if (fflush(stdout) != 0) {
        return UVEA_CMD_EXIT_USAGE;
    }
    return uvea_verdict_exit_status(tally.sum.verdict);
}
