#include "sim/cmd/cmd.h"

#include <stdio.h>
#include <string.h>

static int exit_of(enum uvea_error error)
{
    switch (error) {
    case UVEA_ERR_OK:
        return UVEA_EXIT_PASS;
    case UVEA_ERR_MEMORY:
    case UVEA_ERR_IO:
    case UVEA_ERR_CLOSED:
    case UVEA_ERR_CRYPTO:
        return UVEA_EXIT_IO;
    case UVEA_ERR_STATE:
        return UVEA_EXIT_WRONG;
    case UVEA_ERR_TIMEOUT:
        return UVEA_EXIT_STUCK;
    default:
        return UVEA_EXIT_USAGE;
    }
}

int uvea_cmd_fail(const char *where, enum uvea_error error,
                  const struct uvea_error_context *context)
{
    fprintf(stderr, "uvea %s: %s\n", where,
            context->text[0] != '\0' ? context->text : uvea_error_text(error));
    return exit_of(error);
}

int uvea_cmd_dispatch(const char *group, const struct uvea_cmd *table, size_t count, int argc,
                      char **argv)
{
    for (size_t i = 0; argc > 0 && i < count; i++) {
        if (strcmp(table[i].name, argv[0]) == 0) {
            return table[i].run(argc - 1, argv + 1);
        }
    }
    if (argc > 0) {
        fprintf(stderr, "uvea %s: unknown subcommand '%s'; known are", group, argv[0]);
    } else {
        fprintf(stderr, "uvea %s: which subcommand? known are", group);
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", table[i].name);
    }
    fprintf(stderr, " (see: uvea help %s)\n", group);
    return UVEA_EXIT_USAGE;
}
