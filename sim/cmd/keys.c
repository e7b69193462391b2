// uvea keys: the keys that open share objects.
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/daemon/file.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"
#include "sim/live/share_key.h"

#include <stdio.h>
#include <sys/stat.h>

static const char usage[] = "usage: uvea keys new FILE|DIR [--overwrite]\n"
                            "           a fresh share key for a party, in FILE (mode 0600) or in "
                            "DIR/share.key; prints the\n"
                            "           public key, which clients seal its shares to\n"
                            "       uvea keys show FILE\n"
                            "           the public key that belongs to a share key\n";

typedef enum uvea_error key_fn(const char *file, bool overwrite, struct uvea_share_key_pair *pair,
                               struct uvea_error_context *context);

static enum uvea_error print_public(const struct uvea_share_key_pair *pair,
                                    struct uvea_error_context *context)
{
    struct uvea_output out = {0};
    char text[UVEA_SHARE_KEY_CHARS + 1];
    uvea_share_key_text(pair->public_key, text);
    enum uvea_error error = uvea_output_open(&out, NULL, false, context);
    if (error == UVEA_OK) {
        error = uvea_output_print(&out, context, "%s\n", text);
    }
    if (error == UVEA_OK) {
        error = uvea_output_finish(&out, context);
    }
    uvea_output_close(&out);
    return error;
}

static enum uvea_error write_new(const char *path, bool overwrite, struct uvea_share_key_pair *pair,
                                 struct uvea_error_context *context)
{
    struct stat found;
    char file[PATH_MAX];
    bool directory = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    if ((size_t)snprintf(file, sizeof(file), "%s%s", path, directory ? "/share.key" : "") >=
        sizeof(file)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "the file's name is too long");
    }
    return uvea_share_key_write(file, overwrite, pair, context);
}

static enum uvea_error read_old(const char *path, bool overwrite, struct uvea_share_key_pair *pair,
                                struct uvea_error_context *context)
{
    (void)overwrite;
    return uvea_file_read_share_key(path, pair, context);
}

static int act(const char *where, key_fn *fn, bool writes, int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct uvea_share_key_pair pair = {.public_key = {0}};
    bool overwrite = false;
    const char *path;
    const struct uvea_arg_option options[] = {{"--overwrite", UVEA_ARG_FLAG, &overwrite, NULL}};
    struct uvea_arg_positionals files = {.at = &path, .min = 1, .max = 1, .what = "FILE"};
    UVEA_TRY_CLEANUP(uvea_args_parse(argc, argv, options, writes ? UVEA_COUNT_OF(options) : 0,
                                     &files, &context));
    UVEA_TRY_CLEANUP(fn(path, overwrite, &pair, &context));
    UVEA_TRY_CLEANUP(print_public(&pair, &context));
cleanup:
    uvea_mem_wipe(&pair, sizeof(pair));
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail(where, error, &context);
}

static int new_key(int argc, char **argv)
{
    return act("keys new", write_new, true, argc, argv);
}

static int show(int argc, char **argv)
{
    return act("keys show", read_old, false, argc, argv);
}

static int keys(int argc, char **argv)
{
    static const struct uvea_cmd table[] = {
        {.name = "new", .run = new_key},
        {.name = "show", .run = show},
    };
    return uvea_cmd_dispatch("keys", table, UVEA_COUNT_OF(table), argc, argv);
}

const struct uvea_cmd uvea_cmd_keys = {
    .name = "keys",
    .summary = "make and inspect the keys that open share objects",
    .usage = usage,
    .run = keys,
};
