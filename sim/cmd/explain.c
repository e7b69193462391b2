// Shows what led to the end of a run: the events that a chain of messages connects with it, side by
// side for the three parties and the client.
#include "sim/cmd/explain.h"

#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"
#include "sim/cmd/plant.h"
#include "sim/cmd/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    EVENTS_DEFAULT = 60,
    EVENTS_MAX = 100000,
};

struct explain {
    const char *file;
    const char *svg;
    struct uvea_arg_list overrides;
    bool has_seed;
    uint64_t seed;
    uint64_t events;
    const char *plant; // alarm build only
};

// The party a verdict speaks of, as "party N"; the story then ends there.
static unsigned char lane_of_reason(const char *reason)
{
    const char *at = strstr(reason, "party ");
    return at != NULL && at[6] >= '0' && at[6] <= '2' ? (unsigned char)(at[6] - '0')
                                                      : UVEA_STORY_NO_LANE;
}

static enum uvea_error write_svg(const struct explain *explain, const struct uvea_story *story,
                                 const char *title, struct uvea_error_context *context)
{
    struct uvea_buf svg = {0};
    struct uvea_output out = {0};
    enum uvea_error error;
    UVEA_TRY_CLEANUP(uvea_story_draw(story, title, &svg));
    UVEA_TRY_CLEANUP(uvea_output_open(&out, explain->svg, false, context));
    UVEA_TRY_CLEANUP(uvea_output_write(&out, (const char *)svg.data, svg.len, context));
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, context));
cleanup:
    uvea_output_close(&out);
    uvea_buf_deinit(&svg);
    return error;
}

static enum uvea_error tell(const struct explain *explain, FILE *trace, uint64_t seed,
                            const struct uvea_world_result *result,
                            struct uvea_error_context *context)
{
    struct uvea_story story;
    char title[700];
    enum uvea_error error = UVEA_OK;
    const bool passed = result->verdict == UVEA_VERDICT_PASS;
    (void)snprintf(title, sizeof(title), "%.100s, seed %" PRIu64 ": %s%s%.512s", explain->file,
                   seed, uvea_verdict_text(result->verdict), passed ? "" : ": ", result->reason);
    rewind(trace);
    UVEA_TRY(
        uvea_story_read(trace, lane_of_reason(result->reason), explain->events, &story, context));
    (void)printf("%s\n\n", title);
    uvea_story_print(&story, stdout);
    if (explain->svg != NULL) {
        error = write_svg(explain, &story, title, context);
    }
    uvea_story_deinit(&story);
    return error;
}

// The run is a process of its own, so that a crash is a story too.
static enum uvea_error run_traced(const struct explain *explain, struct uvea_scenario *scenario,
                                  FILE *trace, struct uvea_world_result *result,
                                  struct uvea_error_context *context)
{
    struct uvea_run_arguments arguments = {
        .file = explain->file,
        .quiet = true,
        .trace_stream = trace,
    };
    struct uvea_run_report report;
    if (explain->has_seed) {
        scenario->options[UVEA_OPTION_root_seed] = explain->seed;
    }
    (void)setvbuf(trace, NULL, _IOLBF, 0);
    uvea_run_seed(&arguments, scenario, &report);
    if (report.error != UVEA_OK) {
        return uvea_error_set(context, report.error, "%s: %.400s", explain->file,
                              report.context.text);
    }
    *result = report.result;
    return tell(explain, trace, scenario->options[UVEA_OPTION_root_seed], result, context);
}

static enum uvea_error explain_run(const struct explain *explain, struct uvea_world_result *result,
                                   struct uvea_error_context *context)
{
    struct uvea_scenario scenario;
    FILE *trace = tmpfile();
    enum uvea_error error;
    if (trace == NULL) {
        return uvea_error_set(context, UVEA_ERR_IO, "cannot make a temporary file: %s",
                              strerror(errno));
    }
    error = uvea_scenario_load(explain->file, explain->overrides.at, explain->overrides.count,
                               &scenario, context);
    if (error == UVEA_OK) {
        error = uvea_run_check(explain->file, &scenario, context);
        if (error == UVEA_OK) {
            error = run_traced(explain, &scenario, trace, result, context);
        }
        uvea_scenario_deinit(&scenario);
    }
    (void)fclose(trace);
    return error;
}

static int run_command(int argc, char **argv)
{
    struct explain explain = {.events = EVENTS_DEFAULT};
    struct uvea_error_context context = {.text = ""};
    struct uvea_world_result result = {.verdict = UVEA_VERDICT_PASS};
    const struct uvea_arg_option options[] = {
        {"--seed", UVEA_ARG_U64, &explain.seed, &explain.has_seed},
        {"--set", UVEA_ARG_LIST, &explain.overrides, NULL},
        {"--events", UVEA_ARG_U64, &explain.events, NULL},
        {"-o", UVEA_ARG_TEXT, &explain.svg, NULL},
#ifdef UVEA_ALARM
        {"--plant", UVEA_ARG_TEXT, &explain.plant, NULL},
#endif
    };
    struct uvea_arg_positionals files = {.at = &explain.file, .min = 1, .max = 1, .what = "FILE"};
    enum uvea_error error = uvea_args_parse(argc, argv, options,
                                            sizeof(options) / sizeof(options[0]), &files, &context);
#ifdef UVEA_ALARM
    if (error == UVEA_OK) {
        error = uvea_cmd_set_plant(explain.plant, &context);
    }
#endif
    if (error == UVEA_OK && (explain.events == 0 || explain.events > EVENTS_MAX)) {
        error = uvea_error_set(&context, UVEA_ERR_USAGE, "--events: not from 1 to %d", EVENTS_MAX);
    }
    if (error == UVEA_OK) {
        error = uvea_output_check(explain.svg, &context);
    }
    if (error == UVEA_OK) {
        error = explain_run(&explain, &result, &context);
    }
    if (error == UVEA_OK && (fflush(stdout) != 0 || ferror(stdout) != 0)) {
        error = uvea_error_set(&context, UVEA_ERR_IO, "standard output: %s", strerror(errno));
    }
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("explain", error, &context);
}

const struct uvea_cmd uvea_cmd_explain = {
    .name = "explain",
    .summary = "show what led to the end of a run, side by side for the parties",
    .usage =
        "usage: uvea explain FILE [--seed N] [--set KEY=VALUE]... [--events N] [-o PICTURE.svg]\n"
        "\n"
        "Runs one seed and prints the last events that count: points the parties passed, faults,\n"
        "deaths, what they said when they stopped, as far as a chain of messages leads from them\n"
        "to the end of the party that the verdict names.\n"
        "\n"
        "  --seed N         instead of the scenario's seed\n"
        "  --set KEY=VALUE  override an option\n"
        "  --events N       so many events; 60\n"
        "  -o FILE          draw them as SVG as well\n"
#ifdef UVEA_ALARM
        "  --plant NAME     switch a planted fault on\n"
#endif
        "\n"
        "Exit status: 0 whatever the verdict, 1 output failed, 2 usage or bad input.\n",
    .run = run_command,
};
