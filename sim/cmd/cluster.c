// uvea cluster: three uvead for development, on one machine or three.
#include "sim/cmd/cluster.h"

#include "core/base/check.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/live/cluster_make.h"
#include "sim/scenario/scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: uvea cluster init DIR [--scenario FILE] [--set KEY=VALUE]... [--port BASE]\n"
    "           [--store sqlite|postgres] [--url URL] [--hosts H0,H1,H2] [--through-proxy]\n"
    "           [--uvead PROGRAM] [--overwrite]\n"
    "           keys, certificates, a configuration for each party from the scenario's options, "
    "and\n"
    "           DIR/cluster.yaml, which clients of the cluster read; ports from BASE (8000) on\n"
    "       uvea cluster start DIR [0|1|2|proxy] [--uvead PROGRAM]\n"
    "           that process, which must not run yet, or all that do not run\n"
    "       uvea cluster stop DIR [0|1|2|proxy] [--seconds N]\n"
    "           SIGTERM, and waits (30 s) until it has ended\n"
    "       uvea cluster kill DIR [0|1|2|proxy]\n"
    "           SIGKILL\n"
    "       uvea cluster status DIR\n"
    "           what runs and what is ready; exit status 11 when not everything is\n"
    "       uvea cluster wait DIR [--seconds N]\n"
    "           until all parties are ready (60 s); exit status 11 when one does not run or it "
    "takes\n"
    "           longer\n"
    "\n"
    "PROGRAM is uvead beside this command's build, unless given. Output of the processes is in\n"
    "DIR/p0/uvead.log, ..., DIR/proxy.log.\n";

// ---- init

struct init_options {
    struct uvea_cluster_plan plan;
    const char *scenario;
    const char *store;
    const char *uvead;
    char hosts[UVEA_PARTY_COUNT][256];
    struct uvea_arg_list overrides;
};

static enum uvea_error parse_store(struct init_options *out, struct uvea_error_context *context)
{
    const bool sqlite = strcmp(out->store, "sqlite") == 0;
    if (!sqlite && strcmp(out->store, "postgres") != 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--store: '%s' is not sqlite or postgres",
                              out->store);
    }
    if (sqlite == (out->plan.postgres_url != NULL)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--url goes with --store postgres");
    }
    return UVEA_OK;
}

static enum uvea_error parse_hosts(struct init_options *out, const char *hosts,
                                   struct uvea_error_context *context)
{
    char rest;
    if (sscanf(hosts, "%255[^,],%255[^,],%255[^,]%c", out->hosts[0], out->hosts[1], out->hosts[2],
               &rest) != UVEA_PARTY_COUNT) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--hosts: '%.80s' is not H0,H1,H2", hosts);
    }
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        out->plan.hosts[i] = out->hosts[i];
    }
    return UVEA_OK;
}

static enum uvea_error init_parse(int argc, char **argv, struct init_options *out,
                                  struct uvea_error_context *context)
{
    uint64_t port = 8000;
    const char *hosts = "127.0.0.1,127.0.0.1,127.0.0.1";
    bool spread = false;
    const struct uvea_arg_option options[] = {
        {"--scenario", UVEA_ARG_TEXT, &out->scenario, NULL},
        {"--set", UVEA_ARG_LIST, &out->overrides, NULL},
        {"--port", UVEA_ARG_U64, &port, NULL},
        {"--store", UVEA_ARG_TEXT, &out->store, NULL},
        {"--url", UVEA_ARG_TEXT, &out->plan.postgres_url, NULL},
        {"--hosts", UVEA_ARG_TEXT, &hosts, &spread},
        {"--through-proxy", UVEA_ARG_FLAG, &out->plan.through_proxy, NULL},
        {"--uvead", UVEA_ARG_TEXT, &out->uvead, NULL},
        {"--overwrite", UVEA_ARG_FLAG, &out->plan.overwrite, NULL},
    };
    struct uvea_arg_positionals positionals = {
        .at = &out->plan.directory, .min = 1, .max = 1, .what = "DIR"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &positionals, context));
    if (spread && out->plan.through_proxy) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "--hosts and --through-proxy exclude each other");
    }
    if (port < 1 || port > UINT16_MAX - UVEA_CLUSTER_PORTS) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--port: %" PRIu64 " is not in 1..%d", port,
                              UINT16_MAX - UVEA_CLUSTER_PORTS);
    }
    out->plan.port = (uint32_t)port;
    UVEA_TRY(parse_hosts(out, hosts, context));
    return parse_store(out, context);
}

static enum uvea_error load_scenario(const struct init_options *options,
                                     struct uvea_scenario *scenario,
                                     struct uvea_error_context *context)
{
    const struct uvea_arg_list *overrides = &options->overrides;
    return options->scenario != NULL
               ? uvea_scenario_load(options->scenario, overrides->at, overrides->count, scenario,
                                    context)
               : uvea_scenario_parse("defaults", (const uint8_t *)"{}", 2, overrides->at,
                                     overrides->count, scenario, context);
}

static enum uvea_error init_parsed(int argc, char **argv, struct uvea_error_context *context)
{
    char own[PATH_MAX];
    char uvead[PATH_MAX];
    struct uvea_scenario scenario;
    struct init_options options = {.store = "sqlite"};
    UVEA_TRY(init_parse(argc, argv, &options, context));
    UVEA_TRY(uvea_cluster_own_program(own, context));
    UVEA_TRY(uvea_cluster_find_uvead(options.uvead, uvead, context));
    UVEA_TRY(load_scenario(&options, &scenario, context));
    options.plan.scenario = &scenario;
    options.plan.now_s = time(NULL);
    options.plan.uvea = own;
    options.plan.uvead = uvead;
    const enum uvea_error error = uvea_cluster_make(&options.plan, context);
    uvea_scenario_deinit(&scenario);
    return error;
}

static int init(int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = init_parsed(argc, argv, &context);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("cluster init", error, &context);
}

static int cluster(int argc, char **argv)
{
    static const struct uvea_cmd table[] = {
        {.name = "init", .run = init},
        {.name = "start", .run = uvea_cluster_start},
        {.name = "stop", .run = uvea_cluster_stop},
        {.name = "kill", .run = uvea_cluster_kill},
        {.name = "status", .run = uvea_cluster_status},
        {.name = "wait", .run = uvea_cluster_wait},
    };
    return uvea_cmd_dispatch("cluster", table, UVEA_COUNT_OF(table), argc, argv);
}

const struct uvea_cmd uvea_cmd_cluster = {
    .name = "cluster",
    .summary = "make, start and stop three uvead for development",
    .usage = usage,
    .run = cluster,
};
