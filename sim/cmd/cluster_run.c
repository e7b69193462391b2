// Starts and ends the processes of a cluster.
#include "core/base/check.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cluster.h"
#include "sim/cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- programs

enum uvea_error uvea_cluster_own_program(char path[PATH_MAX], struct uvea_error_context *context)
{
    const ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (len < 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "/proc/self/exe: %s", strerror(errno));
    }
    path[len] = '\0';
    return UVEA_OK;
}

// As it is installed, beside this one; or as it is built.
enum uvea_error uvea_cluster_find_uvead(const char *given, char path[PATH_MAX],
                                        struct uvea_error_context *context)
{
    static const char *const places[] = {"uvead", "../../core/daemon/uvead"};
    char own[PATH_MAX];
    if (given != NULL) {
        return realpath(given, path) != NULL
                   ? UVEA_OK
                   : uvea_error_set(context, UVEA_ERR_NOT_FOUND, "%s: %s", given, strerror(errno));
    }
    UVEA_TRY(uvea_cluster_own_program(own, context));
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < UVEA_COUNT_OF(places); i++) {
        char place[PATH_MAX];
        const int len = snprintf(place, sizeof(place), "%s/%s", own, places[i]);
        if (len < PATH_MAX && realpath(place, path) != NULL && access(path, X_OK) == 0) {
            return UVEA_OK;
        }
    }
    return uvea_error_set(context, UVEA_ERR_NOT_FOUND,
                          "there is no uvead beside %s; name it with --uvead", own);
}

// ---- which processes

static enum uvea_error choose(const char *word, struct uvea_cluster_target *out,
                              struct uvea_error_context *context)
{
    static const char *const words[UVEA_CLUSTER_PROCESSES] = {"0", "1", "2", "proxy"};
    for (unsigned i = 0; i < UVEA_CLUSTER_PROCESSES; i++) {
        if (strcmp(word, words[i]) == 0) {
            out->chosen[i] = true;
            return UVEA_OK;
        }
    }
    return uvea_error_set(context, UVEA_ERR_USAGE, "'%s' is not 0, 1, 2 or proxy", word);
}

// Without a word: the parties, and the proxy when there is one.
static void choose_all(struct uvea_cluster_target *out)
{
    char proxy[PATH_MAX];
    for (unsigned i = 0; i < UVEA_PARTY_COUNT; i++) {
        out->chosen[i] = true;
    }
    const int len = snprintf(proxy, sizeof(proxy), "%s/proxy.yaml", out->directory);
    out->chosen[UVEA_CLUSTER_PROXY] = len < PATH_MAX && access(proxy, F_OK) == 0;
}

static enum uvea_error find_cluster(const char *directory, struct uvea_cluster_target *out,
                                    struct uvea_error_context *context)
{
    if (realpath(directory, out->directory) == NULL) {
        return uvea_error_set(context, UVEA_ERR_NOT_FOUND, "%s: %s", directory, strerror(errno));
    }
    if (snprintf(out->cluster_file, PATH_MAX, "%s/cluster.yaml", out->directory) >= PATH_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "the directory's name is too long");
    }
    return access(out->cluster_file, F_OK) == 0
               ? UVEA_OK
               : uvea_error_set(context, UVEA_ERR_NOT_FOUND,
                                "%s: no cluster is here; make one with uvea cluster init",
                                out->directory);
}

enum uvea_error uvea_cluster_target_parse(int argc, char **argv, size_t words_max,
                                          struct uvea_cluster_target *out,
                                          struct uvea_error_context *context)
{
    const char *words[2];
    const struct uvea_arg_option options[] = {
        {"--uvead", UVEA_ARG_TEXT, &out->uvead, NULL},
        {"--seconds", UVEA_ARG_U64, &out->seconds, NULL},
    };
    struct uvea_arg_positionals positionals = {
        .at = words, .min = 1, .max = words_max, .what = "DIR"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &positionals, context));
    if (out->seconds < 1 || out->seconds > 86400) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--seconds: %" PRIu64 " is not in 1..86400",
                              out->seconds);
    }
    UVEA_TRY(find_cluster(words[0], out, context));
    if (positionals.count == 2) {
        out->named = true;
        return choose(words[1], out, context);
    }
    choose_all(out);
    return UVEA_OK;
}

// ---- start, stop, kill

static enum uvea_error start_one(const struct uvea_cluster_target *target, unsigned which,
                                 struct uvea_error_context *context)
{
    char program[PATH_MAX];
    struct uvea_cluster_process process;
    UVEA_TRY(uvea_cluster_process_of(target->directory, which, &process, context));
    if (!target->named && uvea_cluster_process_pid(&process) != 0) {
        return UVEA_OK;
    }
    if (which == UVEA_CLUSTER_PROXY) {
        UVEA_TRY(uvea_cluster_own_program(program, context));
        return uvea_cluster_process_start(&process, program, "proxy", context);
    }
    UVEA_TRY(uvea_cluster_find_uvead(target->uvead, program, context));
    return uvea_cluster_process_start(&process, program, "--config", context);
}

int uvea_cluster_start(int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    struct uvea_cluster_target target = {.seconds = 1};
    enum uvea_error error = uvea_cluster_target_parse(argc, argv, 2, &target, &context);
    for (unsigned i = 0; i < UVEA_CLUSTER_PROCESSES && error == UVEA_OK; i++) {
        if (target.chosen[i]) {
            error = start_one(&target, i, &context);
        }
    }
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("cluster start", error, &context);
}

// All are told first, once, then waited for: parties stop together, and to be told twice means to
// end at once.
static enum uvea_error end_all(const struct uvea_cluster_target *target, int signal,
                               struct uvea_error_context *context)
{
    struct uvea_cluster_process processes[UVEA_CLUSTER_PROCESSES];
    for (unsigned i = 0; i < UVEA_CLUSTER_PROCESSES; i++) {
        UVEA_TRY(uvea_cluster_process_of(target->directory, i, &processes[i], context));
        if (target->chosen[i] && i != UVEA_CLUSTER_PROXY) {
            UVEA_TRY(uvea_cluster_process_signal(&processes[i], signal, context));
        }
    }
    for (unsigned i = 0; i < UVEA_CLUSTER_PROCESSES; i++) {
        if (target->chosen[i] && i == UVEA_CLUSTER_PROXY) { // which the parties needed until now
            UVEA_TRY(uvea_cluster_process_signal(&processes[i], signal, context));
        }
        if (target->chosen[i]) {
            UVEA_TRY(uvea_cluster_process_await(&processes[i], target->seconds, context));
        }
    }
    return UVEA_OK;
}

static int end(const char *where, int signal, int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    struct uvea_cluster_target target = {.seconds = 30};
    enum uvea_error error = uvea_cluster_target_parse(argc, argv, 2, &target, &context);
    if (error == UVEA_OK) {
        error = end_all(&target, signal, &context);
    }
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail(where, error, &context);
}

int uvea_cluster_stop(int argc, char **argv)
{
    return end("cluster stop", SIGTERM, argc, argv);
}

int uvea_cluster_kill(int argc, char **argv)
{
    return end("cluster kill", SIGKILL, argc, argv);
}
