// --check-config and --print-config.
#include "core/daemon/daemon.h"
#include "core/daemon/settings.h"

#include <stdio.h>

// What the node itself refuses, which is to be nothing that the keys' bounds let pass.
static void check_node(const struct uvea_settings *settings, struct uvea_complaints *complaints)
{
    struct uvea_error_context context = {{0}};
    struct uvea_node *node = NULL;
    struct uvea_rt *rt = NULL;
    enum uvea_error error;

    UVEA_TRY_CLEANUP(uvea_posix_open(&settings->posix, &rt, &context));
    UVEA_TRY_CLEANUP(uvea_node_open(rt, &settings->node, NULL, &node, &context));
cleanup:
    uvea_complain_of(complaints, error, &context);
    uvea_node_close(node);
    uvea_posix_close(rt);
}

static void check_all(const struct uvea_config *config, struct uvea_complaints *complaints)
{
    static struct uvea_settings settings;

    uvea_settings_make(config, &settings, complaints);
    if (complaints->count == 0) {
        check_node(&settings, complaints);
    }
    uvea_settings_deinit(&settings);
}

static void say(const struct uvea_complaints *complaints)
{
    if (complaints->text.len > 0) {
        (void)fwrite(complaints->text.data, 1, complaints->text.len, stderr);
    }
    if (complaints->count > UVEA_COMPLAINTS_MAX) {
        (void)fprintf(stderr, "and %zu more\n", complaints->count - UVEA_COMPLAINTS_MAX);
    }
}

enum uvea_daemon_exit uvea_daemon_check(const struct uvea_daemon_options *options)
{
    struct uvea_complaints complaints = {.count = 0};
    struct uvea_config config;

    uvea_config_read(options->file, options->environment, &config, &complaints);
    if (complaints.count == 0) {
        check_all(&config, &complaints);
    }
    const bool good = complaints.count == 0;
    say(&complaints);
    if (good) {
        (void)printf("configuration is good\n");
    }
    uvea_config_deinit(&config);
    uvea_complaints_deinit(&complaints);
    return good ? UVEA_DAEMON_OK : UVEA_DAEMON_CONFIGURATION;
}

enum uvea_daemon_exit uvea_daemon_print(const struct uvea_daemon_options *options)
{
    struct uvea_complaints complaints = {.count = 0};
    struct uvea_config config;
    struct uvea_buf text = {0};
    bool good;

    uvea_config_read(options->file, options->environment, &config, &complaints);
    good = complaints.count == 0 && uvea_config_print(&config, &text) == UVEA_OK;
    say(&complaints);
    if (good) {
        (void)fwrite(text.data, 1, text.len, stdout);
    }
    uvea_buf_deinit(&text);
    uvea_config_deinit(&config);
    uvea_complaints_deinit(&complaints);
    return good ? UVEA_DAEMON_OK : UVEA_DAEMON_CONFIGURATION;
}
