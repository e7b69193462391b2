// uvea certs: certificates for development and tests.
#include "sim/live/certs.h"

#include "core/base/check.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"
#include "sim/cmd/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: uvea certs init DIR [--days N] [--overwrite]\n"
    "           a root for each party and one for clients\n"
    "       uvea certs issue DIR --party N --name HOST[,IP]... [--days N] [--overwrite]\n"
    "           party N's certificate for these names and addresses, below its root\n"
    "       uvea certs issue DIR --client NAME [--days N] [--overwrite]\n"
    "           a client's certificate\n"
    "       uvea certs show FILE\n"
    "           what the certificates of a file say, and what is wrong with them now; exit status "
    "10\n"
    "           when something is\n"
    "\n"
    "For development: the roots' keys lie in DIR unprotected but for their mode, 0600. Roots are "
    "valid\n"
    "for 3650 days, others for 365, from an hour ago. Files that are there stay as they are "
    "without\n"
    "--overwrite.\n";

enum {
    ROOT_DAYS = 3650,
    LEAF_DAYS = 365,
    DAYS_MAX = 36500,
    CLOCK_SKEW_S = 3600, // how far a peer's clock may be behind
    NAMES_CHARS_MAX = 4096,
};

static enum uvea_error window_of(uint64_t days, struct uvea_certs_window *window,
                                 struct uvea_error_context *context)
{
    if (days < 1 || days > DAYS_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--days: %" PRIu64 " is not in 1..%d", days,
                              DAYS_MAX);
    }
    const int64_t now = time(NULL);
    *window = (struct uvea_certs_window){now - CLOCK_SKEW_S, now + (int64_t)days * 86400};
    return UVEA_OK;
}

static enum uvea_error init_parsed(int argc, char **argv, struct uvea_error_context *context)
{
    uint64_t days = ROOT_DAYS;
    bool overwrite = false;
    const char *directory;
    struct uvea_certs_window window;
    const struct uvea_arg_option options[] = {
        {"--days", UVEA_ARG_U64, &days, NULL},
        {"--overwrite", UVEA_ARG_FLAG, &overwrite, NULL},
    };
    struct uvea_arg_positionals positionals = {.at = &directory, .min = 1, .max = 1, .what = "DIR"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &positionals, context));
    UVEA_TRY(window_of(days, &window, context));
    return uvea_certs_init(directory, &window, overwrite, context);
}

static int init(int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = init_parsed(argc, argv, &context);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("certs init", error, &context);
}

// ---- issue

struct names {
    char text[NAMES_CHARS_MAX];
    const char *at[UVEA_CERTS_NAMES_MAX];
    size_t count;
};

static enum uvea_error add_name(struct names *names, char *name, struct uvea_error_context *context)
{
    if (names->count == UVEA_CERTS_NAMES_MAX) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--name: more than %d names",
                              UVEA_CERTS_NAMES_MAX);
    }
    names->at[names->count++] = name;
    return UVEA_OK;
}

// The names between commas, of every --name.
static enum uvea_error split_names(const struct uvea_arg_list *lists, struct names *names,
                                   struct uvea_error_context *context)
{
    size_t used = 0;
    for (size_t i = 0; i < lists->count; i++) {
        char *name = names->text + used;
        const size_t room = sizeof(names->text) - used;
        const size_t len = (size_t)snprintf(name, room, "%s", lists->at[i]);
        if (len >= room) {
            return uvea_error_set(context, UVEA_ERR_USAGE, "--name: too many characters");
        }
        used += len + 1;
        for (char *comma = strchr(name, ','); comma != NULL; comma = strchr(name, ',')) {
            *comma = '\0';
            UVEA_TRY(add_name(names, name, context));
            name = comma + 1;
        }
        UVEA_TRY(add_name(names, name, context));
    }
    return UVEA_OK;
}

struct issue_options {
    const char *directory;
    const char *client;
    uint64_t party;
    bool party_given;
    struct uvea_arg_list names;
    uint64_t days;
    bool overwrite;
};

static enum uvea_error issue_parse(int argc, char **argv, struct issue_options *out,
                                   struct uvea_error_context *context)
{
    const struct uvea_arg_option options[] = {
        {"--party", UVEA_ARG_U64, &out->party, &out->party_given},
        {"--client", UVEA_ARG_TEXT, &out->client, NULL},
        {"--name", UVEA_ARG_LIST, &out->names, NULL},
        {"--days", UVEA_ARG_U64, &out->days, NULL},
        {"--overwrite", UVEA_ARG_FLAG, &out->overwrite, NULL},
    };
    struct uvea_arg_positionals positionals = {
        .at = &out->directory, .min = 1, .max = 1, .what = "DIR"};
    UVEA_TRY(uvea_args_parse(argc, argv, options, UVEA_COUNT_OF(options), &positionals, context));
    if (out->party_given == (out->client != NULL)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "one of --party and --client is needed");
    }
    if (out->party >= UVEA_PARTY_COUNT) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--party: %" PRIu64 " is not 0, 1 or 2",
                              out->party);
    }
    if (out->client != NULL && out->names.count > 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--name: a client's certificate has none");
    }
    if (out->client == NULL && out->names.count == 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--name is missing");
    }
    return UVEA_OK;
}

static enum uvea_error issue_parsed(int argc, char **argv, struct uvea_error_context *context)
{
    struct issue_options options = {.days = LEAF_DAYS};
    struct names names = {.count = 0};
    struct uvea_certs_window window;
    UVEA_TRY(issue_parse(argc, argv, &options, context));
    UVEA_TRY(window_of(options.days, &window, context));
    if (options.client != NULL) {
        return uvea_certs_issue_client(options.directory, options.client, &window,
                                       options.overwrite, context);
    }
    UVEA_TRY(split_names(&options.names, &names, context));
    return uvea_certs_issue_party(options.directory, uvea_party_at((unsigned)options.party),
                                  names.at, names.count, &window, options.overwrite, context);
}

static int issue(int argc, char **argv)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = issue_parsed(argc, argv, &context);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("certs issue", error, &context);
}

// ---- show

static int show(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct uvea_buf text = {0};
    struct uvea_output out = {0};
    bool good = false;
    const char *path;
    struct uvea_arg_positionals files = {.at = &path, .min = 1, .max = 1, .what = "FILE"};
    UVEA_TRY_CLEANUP(uvea_args_parse(argc, argv, NULL, 0, &files, &context));
    UVEA_TRY_CLEANUP(uvea_certs_describe(path, time(NULL), &text, &good, &context));
    UVEA_TRY_CLEANUP(uvea_output_open(&out, NULL, false, &context));
    UVEA_TRY_CLEANUP(uvea_output_write(&out, text.data, text.len, &context));
    UVEA_TRY_CLEANUP(uvea_output_finish(&out, &context));
cleanup:
    uvea_output_close(&out);
    uvea_buf_deinit(&text);
    if (error != UVEA_OK) {
        return uvea_cmd_fail("certs show", error, &context);
    }
    return good ? UVEA_EXIT_PASS : UVEA_EXIT_WRONG;
}

static int certs(int argc, char **argv)
{
    static const struct uvea_cmd table[] = {
        {.name = "init", .run = init},
        {.name = "issue", .run = issue},
        {.name = "show", .run = show},
    };
    return uvea_cmd_dispatch("certs", table, UVEA_COUNT_OF(table), argc, argv);
}

const struct uvea_cmd uvea_cmd_certs = {
    .name = "certs",
    .summary = "make and inspect certificates for development",
    .usage = usage,
    .run = certs,
};
