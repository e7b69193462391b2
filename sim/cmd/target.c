#include "sim/cmd/target.h"

#include "core/posix/posix.h"
#include "sim/cmd/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS (180 * UVEA_SECOND)
#define TERMINAL_NS (200 * UVEA_MS) // between two looks at the progress
#define LINE_NS (5 * UVEA_SECOND)

// ---- progress

static bool is_due(struct uvea_target *target, uint64_t every_ns)
{
    const uint64_t now_ns = uvea_rt_now_ns(target->rt);
    if (target->shown_ns != 0 && now_ns - target->shown_ns < every_ns) {
        return false;
    }
    target->shown_ns = now_ns;
    return true;
}

static void show(const struct uvea_replay_progress *progress, const char *before, const char *after)
{
    (void)fprintf(stderr, "%senrolled %zu of %zu, answered %zu of %zu%s", before,
                  progress->enrolled, progress->enrolments, progress->answered, progress->requests,
                  after);
    (void)fflush(stderr);
}

// Over and over in one line.
static void show_on_terminal(void *arg, const struct uvea_replay_progress *progress)
{
    struct uvea_target *target = arg;
    if (is_due(target, TERMINAL_NS)) {
        show(progress, "\r", "\033[K");
    }
}

static void show_in_lines(void *arg, const struct uvea_replay_progress *progress)
{
    struct uvea_target *target = arg;
    if (is_due(target, LINE_NS)) {
        show(progress, "", "\n");
    }
}

static uvea_replay_progress_fn *choose_progress(bool wanted)
{
    if (isatty(STDERR_FILENO)) {
        return show_on_terminal;
    }
    return wanted ? show_in_lines : NULL;
}

void uvea_target_end_progress(const struct uvea_target *target)
{
    if (target->shown_ns != 0 && target->config.progress == show_on_terminal) {
        (void)fputs("\r\033[K", stderr);
    }
}

// ---- opening

static enum uvea_error load(const struct uvea_target_arguments *arguments,
                            struct uvea_scenario *scenario, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_scenario_load(arguments->file, arguments->overrides.at,
                                arguments->overrides.count, scenario, context));
    if (arguments->has_seed) {
        scenario->options[UVEA_OPTION_root_seed] = arguments->seed;
    }
    return uvea_run_check(arguments->file, scenario, context);
}

static enum uvea_error connect_to(struct uvea_target *target, struct uvea_error_context *context)
{
    const struct uvea_tls_config tls = uvea_cluster_tls(&target->cluster);
    struct uvea_posix_config posix = uvea_posix_config_default();
    UVEA_TRY(uvea_tls_open(&tls, &target->tls, context));
    posix.tls = target->tls;
    return uvea_posix_open(&posix, &target->rt, context);
}

enum uvea_error uvea_target_open(const struct uvea_target_arguments *arguments,
                                 struct uvea_target *target, struct uvea_error_context *context)
{
    if (arguments->cluster == NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--target is missing: the cluster's file, cluster.yaml");
    }
    UVEA_TRY(load(arguments, &target->scenario, context));
    UVEA_TRY(uvea_cluster_load(arguments->cluster, &target->cluster, context));
    UVEA_TRY(connect_to(target, context));
    target->config = (struct uvea_replay_config){
        .rt = target->rt,
        .scenario = &target->scenario,
        .control = uvea_target_control(target),
        .patience_ns = PATIENCE_NS,
        .ignore_faults = arguments->ignore_faults,
        .progress = choose_progress(arguments->progress),
        .progress_arg = target,
    };
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const struct uvea_cluster_party *of = &target->cluster.parties[party];
        target->config.addresses[party] = of->http;
        memcpy(target->config.public_keys[party], of->share_public_key, UVEA_SHARE_KEY_BYTES);
    }
    return UVEA_OK;
}

void uvea_target_close(struct uvea_target *target)
{
    uvea_posix_close(target->rt);
    uvea_tls_close(target->tls);
    uvea_cluster_deinit(&target->cluster);
    uvea_scenario_deinit(&target->scenario);
}
