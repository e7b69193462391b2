// The uvea command.

#include "core/base/check.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"
#include "uvea_build_id.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct uvea_cmd *const commands[] = {
    &uvea_cmd_run,     &uvea_cmd_replay,  &uvea_cmd_diff,   &uvea_cmd_sweep, &uvea_cmd_shrink,
    &uvea_cmd_explain, &uvea_cmd_gate,    &uvea_cmd_iris,   &uvea_cmd_share, &uvea_cmd_certs,
    &uvea_cmd_keys,    &uvea_cmd_cluster, &uvea_cmd_submit, &uvea_cmd_proxy, &uvea_cmd_bench,
};

static const char exits[] =
    "\nexit status: 0 pass, 1 output or the machine failed, 2 usage or bad input, 10 wrong answer\n"
    "or broken invariant, 11 no progress, 12 crash, 13 resource limit, 14 skipped, 15 runs with "
    "one\n"
    "seed differ, 16 a sweep never met some point or mark, 130 and 143 interrupted (128 and the\n"
    "signal's number)\n";

static const struct uvea_cmd *find(const char *name)
{
    for (size_t i = 0; i < UVEA_COUNT_OF(commands); i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static int print(const char *where, const char *text)
{
    struct uvea_error_context context = {{0}};
    struct uvea_output out = {0};
    enum uvea_error error = uvea_output_open(&out, NULL, false, &context);
    if (error == UVEA_OK) {
        error = uvea_output_write(&out, text, strlen(text), &context);
    }
    if (error == UVEA_OK) {
        error = uvea_output_finish(&out, &context);
    }
    uvea_output_close(&out);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail(where, error, &context);
}

static void overview(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "usage: uvea COMMAND [ARGUMENT...]\n\n");
    for (size_t i = 0; i < UVEA_COUNT_OF(commands); i++) {
        used += (size_t)snprintf(text + used, size - used, "  %-9s%s\n", commands[i]->name,
                                 commands[i]->summary);
    }
    used += (size_t)snprintf(text + used, size - used, "  %-9s%s\n  %-9s%s\n", "help",
                             "this text, or with the name of a command, its usage", "version",
                             "version and build");
    used += (size_t)snprintf(text + used, size - used, "%s", exits);
    UVEA_CHECK(used < size);
}

static int help(int argc, char **argv)
{
    char text[2048];
    if (argc == 0) {
        overview(text, sizeof(text));
        return print("help", text);
    }
    const struct uvea_cmd *command = find(argv[0]);
    if (command == NULL || argc > 1) {
        fprintf(stderr, "uvea help: %s '%s'\n",
                command == NULL ? "unknown command" : "unexpected argument",
                command == NULL ? argv[0] : argv[1]);
        return UVEA_EXIT_USAGE;
    }
    return print("help", command->usage);
}

static int version(int argc, char **argv)
{
    if (argc > 0) {
        fprintf(stderr, "uvea version: unexpected argument '%s'\n", argv[0]);
        return UVEA_EXIT_USAGE;
    }
    return print("version", "uvea " UVEA_VERSION " build " UVEA_BUILD_ID "\n");
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int main(int argc, char **argv)
{
    // A closed pipe or a file that may not grow is an output error like any other, with a sentence
    // and a status.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        char text[2048];
        overview(text, sizeof(text));
        fputs(text, stderr);
        return UVEA_EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 || is_help(argv[1])) {
        return help(argc - 2, argv + 2);
    }
    if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0) {
        return version(argc - 2, argv + 2);
    }
    const struct uvea_cmd *command = find(argv[1]);
    if (command == NULL) {
        fprintf(stderr, "uvea: unknown command '%s' (see: uvea help)\n", argv[1]);
        return UVEA_EXIT_USAGE;
    }
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (is_help(argv[i])) {
            return print(command->name, command->usage);
        }
    }
    return command->run(argc - 2, argv + 2);
}
