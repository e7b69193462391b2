#include "sim/cmd/run.h"
#include "uvea_build_id.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void hash_text(const uint8_t hash[UVEA_SIM_HASH_BYTES], char text[33])
{
    for (unsigned i = 0; i < 16; i++) {
        (void)snprintf(text + 2 * (size_t)i, 3, "%02x", hash[i]);
    }
}

static void print_options(const struct uvea_scenario *scenario)
{
    for (unsigned which = 0; which < UVEA_OPTION_COUNT; which++) {
        char key[64];
        char value[64];
        uvea_option_key((enum uvea_option)which, key);
        uvea_option_format((enum uvea_option)which, scenario->options[which], value);
        (void)printf("  %-28s %s\n", key, value);
    }
}

// Everything a run is made of; the seed of a range is printed with each run.
void uvea_run_print_head(const struct uvea_run_arguments *arguments,
                         const struct uvea_scenario *scenario)
{
    if (arguments->has_seeds) {
        (void)printf("seeds %" PRIu64 "..%" PRIu64, arguments->first_seed, arguments->last_seed);
    } else {
        (void)printf("seed %" PRIu64, scenario->options[UVEA_OPTION_root_seed]);
    }
    (void)printf("  build %s  scenario %s\n", UVEA_BUILD_ID, arguments->file);
    print_options(scenario);
}

static void print_figures(const struct uvea_world_result *result)
{
    char hash[33];
    hash_text(result->hash, hash);
    (void)printf("%s requests=%" PRIu64 " responses=%" PRIu64 " disagreements=%" PRIu64
                 " mismatches=%" PRIu64 " records=%" PRIu64 " sim_ms=%" PRIu64
                 " bytes_sent=[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "] hash=%s\n",
                 uvea_verdict_text(result->verdict), result->requests, result->responses,
                 result->disagreements, result->mismatches, result->records,
                 result->sim_ns / 1000000, result->bytes_sent[0], result->bytes_sent[1],
                 result->bytes_sent[2], hash);
}

static void print_shell_word(FILE *out, const char *word)
{
    if (word[0] != '\0' && word[strcspn(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!")] == '\0') {
        (void)fprintf(out, " %s", word);
        return;
    }
    (void)fputs(" '", out);
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            (void)fputs("'\\''", out);
        } else {
            (void)putc(*word, out);
        }
    }
    (void)putc('\'', out);
}

void uvea_run_print_command(FILE *out, const struct uvea_run_arguments *arguments, uint64_t seed)
{
    (void)fputs("uvea run", out);
    print_shell_word(out, arguments->file);
    (void)fprintf(out, " --seed %" PRIu64, seed);
    for (size_t i = 0; i < arguments->overrides.count; i++) {
        (void)fputs(" --set", out);
        print_shell_word(out, arguments->overrides.at[i]);
    }
    if (arguments->twice) {
        (void)fputs(" --twice", out);
    }
    if (arguments->plant != NULL) {
        (void)fputs(" --plant", out);
        print_shell_word(out, arguments->plant);
    }
}

static void print_record(struct uvea_sim_trace *trace, const char *run, bool has,
                         const struct uvea_sim_record *record)
{
    (void)printf("  %s run: ", run);
    if (has) {
        uvea_sim_trace_print(trace, record, stdout);
    } else {
        (void)puts("had ended");
    }
}

static void print_difference(const struct uvea_sim_difference *difference)
{
    static const char *const names[] = {"p0", "p1", "p2", "client"};
    struct uvea_sim_trace *trace = NULL;
    if (!difference->found || uvea_sim_trace_open(names, 4, &trace) != UVEA_OK) {
        return;
    }
    (void)printf("first differing event, number %" PRIu64 ":\n", difference->index);
    print_record(trace, "first", difference->has_expected, &difference->expected);
    print_record(trace, "second", difference->has_got, &difference->got);
    uvea_sim_trace_close(trace);
}

static void print_failure(const struct uvea_run_arguments *arguments, uint64_t seed,
                          const struct uvea_world_result *result)
{
    if (result->verdict == UVEA_VERDICT_PASS) {
        return;
    }
    (void)printf("seed %" PRIu64 ": %s: %s\n", seed, uvea_verdict_text(result->verdict),
                 result->reason);
    print_difference(&result->difference);
    (void)fputs("to reproduce: ", stdout);
    uvea_run_print_command(stdout, arguments, seed);
    (void)putchar('\n');
}

void uvea_run_print_seed(const struct uvea_run_arguments *arguments, uint64_t seed,
                         const struct uvea_world_result *result)
{
    (void)printf("seed %" PRIu64 ": ", seed);
    print_figures(result);
    print_failure(arguments, seed, result);
    (void)fflush(stdout);
}

void uvea_run_print_verdict(const struct uvea_run_arguments *arguments, uint64_t seed,
                            const struct uvea_world_result *result)
{
    if (!arguments->has_seeds) {
        print_failure(arguments, seed, result);
    }
    (void)fputs("verdict: ", stdout);
    print_figures(result);
}

// ---- JSON

static json_t *json_options(const struct uvea_scenario *scenario)
{
    json_t *options = json_object();
    for (unsigned which = 0; which < UVEA_OPTION_COUNT; which++) {
        char key[64];
        char value[64];
        uvea_option_key((enum uvea_option)which, key);
        uvea_option_format((enum uvea_option)which, scenario->options[which], value);
        (void)json_object_set_new(options, key, json_string(value));
    }
    return options;
}

static json_t *json_bytes_sent(const struct uvea_world_result *result)
{
    return json_pack("[I,I,I]", (json_int_t)result->bytes_sent[0],
                     (json_int_t)result->bytes_sent[1], (json_int_t)result->bytes_sent[2]);
}

enum uvea_error uvea_run_print_json(const struct uvea_run_arguments *arguments,
                                    const struct uvea_scenario *scenario, uint64_t seed,
                                    const struct uvea_world_result *result)
{
    char hash[33];
    char answers[33];
    char seed_text[32];
    hash_text(result->hash, hash);
    hash_text(result->answers_hash, answers);
    (void)snprintf(seed_text, sizeof(seed_text), "%" PRIu64, seed);
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:s, s:s, "
        "s:o}",
        "scenario", arguments->file, "build", UVEA_BUILD_ID, "seed", seed_text, "verdict",
        uvea_verdict_text(result->verdict), "reason", result->reason, "requests",
        (json_int_t)result->requests, "responses", (json_int_t)result->responses, "disagreements",
        (json_int_t)result->disagreements, "mismatches", (json_int_t)result->mismatches, "records",
        (json_int_t)result->records, "sim_ms", (json_int_t)(result->sim_ns / 1000000), "steps",
        (json_int_t)result->steps, "events", (json_int_t)result->events, "comparisons",
        (json_int_t)result->comparisons, "bytes_sent", json_bytes_sent(result), "hash", hash,
        "answers_hash", answers, "options", json_options(scenario));
    int status = object == NULL ? -1 : json_dumpf(object, stdout, JSON_COMPACT);
    json_decref(object);
    if (status != 0) {
        return UVEA_ERR_MEMORY;
    }
    (void)putchar('\n');
    return UVEA_OK;
}
