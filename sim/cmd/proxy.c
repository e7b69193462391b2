// uvea proxy: a bad network between good parties.
#include "sim/cmd/proxy.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "sim/cmd/args.h"
#include "sim/cmd/cmd.h"

#include <inttypes.h>
#include <stdio.h>

static const char usage[] =
    "usage: uvea proxy FILE.yaml\n"
    "           passes TCP connections on, and spoils them as the file says: delay, jitter, "
    "throttle,\n"
    "           cut, half-close, flipped bits; SIGHUP reads new conditions, SIGTERM ends it\n"
    "\n"
    "    seed: 1\n"
    "    links:\n"
    "      - {name: a, listen: \"127.0.0.1:8021\", dial: \"127.0.0.1:8011\", delay_ms: 20}\n"
    "\n"
    "A link may have delay_ms, jitter_ms, bytes_per_s (each direction of a connection), and\n"
    "cut_after_bytes, half_close_after_bytes, corrupt_per_million, these three from_ms after the\n"
    "start and for_ms long. What was carried is printed at the end, a line for each link.\n";

static void print_tallies(const struct uvea_proxy *proxy, const struct uvea_proxy_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        const struct uvea_proxy_tally tally = uvea_proxy_tally(proxy, i);
        printf("%s: connections=%" PRIu64 " bytes=%" PRIu64 " corrupted=%" PRIu64 " cut=%" PRIu64
               " half_closed=%" PRIu64 " unreached=%" PRIu64 "\n",
               file->links[i].name, tally.connections, tally.bytes, tally.corrupted, tally.cut,
               tally.half_closed, tally.unreached);
    }
    (void)fflush(stdout);
}

static void reload(struct uvea_proxy *proxy, const char *path, struct uvea_proxy_file *file)
{
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_proxy_file_read(path, file, &context);
    if (error == UVEA_OK) {
        error = uvea_proxy_change(proxy, file, &context);
    }
    if (error == UVEA_OK) {
        printf("new conditions\n");
    } else {
        printf("conditions stay: %s\n", context.text);
    }
    (void)fflush(stdout);
}

// Until it is told to end. IO when this machine fails.
static enum uvea_error run(struct uvea_proxy *proxy, const char *path, const sigset_t *caught,
                           struct uvea_error_context *context)
{
    struct uvea_proxy_file *fresh = uvea_mem_alloc(1, sizeof(*fresh));
    int number = fresh != NULL ? SIGHUP : 0;
    while (number == SIGHUP) {
        number = uvea_proxy_run(proxy, caught);
        if (number == SIGHUP) {
            reload(proxy, path, fresh);
        }
    }
    uvea_mem_free(fresh);
    return number != 0 ? UVEA_OK
                       : uvea_error_set(context, UVEA_ERR_IO, "waiting for connections failed");
}

static int proxy_command(int argc, char **argv)
{
    enum uvea_error error;
    struct uvea_error_context context = {{0}};
    struct uvea_proxy *proxy = NULL;
    sigset_t caught;
    const char *path;
    struct uvea_arg_positionals files = {.at = &path, .min = 1, .max = 1, .what = "FILE"};
    struct uvea_proxy_file *file = uvea_mem_alloc(1, sizeof(*file));
    if (file == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    (void)sigemptyset(&caught);
    (void)sigaddset(&caught, SIGTERM);
    (void)sigaddset(&caught, SIGINT);
    (void)sigaddset(&caught, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &caught, NULL);
    UVEA_TRY_CLEANUP(uvea_args_parse(argc, argv, NULL, 0, &files, &context));
    UVEA_TRY_CLEANUP(uvea_proxy_file_read(path, file, &context));
    UVEA_TRY_CLEANUP(uvea_proxy_open(file, &proxy, &context));
    printf("ready, %zu links\n", file->count);
    (void)fflush(stdout);
    UVEA_TRY_CLEANUP(run(proxy, path, &caught, &context));
    print_tallies(proxy, file);
cleanup:
    uvea_proxy_close(proxy);
    uvea_mem_free(file);
    return error == UVEA_OK ? UVEA_EXIT_PASS : uvea_cmd_fail("proxy", error, &context);
}

const struct uvea_cmd uvea_cmd_proxy = {
    .name = "proxy",
    .summary = "spoil the connections between parties",
    .usage = usage,
    .run = proxy_command,
};
