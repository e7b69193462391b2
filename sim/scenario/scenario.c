#include "sim/scenario/scenario.h"

#include "core/base/mem.h"
#include "sim/scenario/raw.h"
#include "sim/scenario/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// ---- options

static enum uvea_error resolve_options(const struct uvea_source *source, const struct uvea_raw *raw,
                                       uint64_t options[UVEA_OPTION_COUNT])
{
    for (unsigned option = 0; option < UVEA_OPTION_COUNT; option++) {
        const char *text = uvea_raw_option(raw, (enum uvea_option)option);
        if (text == NULL) {
            text = uvea_option_info((enum uvea_option)option)->value;
        }
        char key[64];
        uvea_option_key((enum uvea_option)option, key);
        UVEA_TRY(uvea_resolve_place(
            source, key,
            uvea_option_parse((enum uvea_option)option, text, &options[option], source->context)));
    }
    return UVEA_OK;
}

static const char templates_directory[] = "templates.directory=";

static enum uvea_error apply_override(const char *text, struct uvea_scenario *scenario,
                                      struct uvea_error_context *context)
{
    if (strncmp(text, templates_directory, sizeof(templates_directory) - 1) == 0) {
        uvea_mem_free(scenario->template_directory);
        scenario->template_directory = NULL;
        return uvea_resolve_text(text + sizeof(templates_directory) - 1,
                                 &scenario->template_directory);
    }
    const char *equals = strchr(text, '=');
    if (equals == NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--set %s: not of the form key=value", text);
    }
    enum uvea_option option = uvea_option_find(text, (size_t)(equals - text));
    if (option == UVEA_OPTION_COUNT) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "--set %s: there is no option '%.*s'", text,
                              (int)(equals - text), text);
    }
    struct uvea_error_context said = {.text = ""};
    enum uvea_error error =
        uvea_option_parse(option, equals + 1, &scenario->options[option], &said);
    return error == UVEA_OK ? UVEA_OK : uvea_error_set(context, error, "--set %.200s", said.text);
}

// What cannot be repaired need not be answered, and the scenario says so itself.
static enum uvea_error check_class(const struct uvea_source *source,
                                   const struct uvea_scenario *scenario)
{
    for (size_t i = 0; scenario->options[UVEA_OPTION_root_class] == 0 && i < scenario->fault_count;
         i++) {
        if (uvea_fault_is_hostile(scenario->faults[i].kind)) {
            struct uvea_path where;
            where = uvea_path_entry("faults", i);
            return uvea_resolve_complain(
                source, where.text, "%s: a fault of kind '%s' needs 'class: hostile'", where.text,
                uvea_fault_info(scenario->faults[i].kind)->text);
        }
    }
    return UVEA_OK;
}

// More connections than sessions would carry nothing. Those that nobody asked for are not made.
static enum uvea_error check_connections(const struct uvea_source *source, bool given,
                                         struct uvea_scenario *scenario)
{
    const uint64_t sessions = scenario->options[UVEA_OPTION_root_sessions];
    uint64_t *connections = &scenario->options[UVEA_OPTION_root_connections];
    if (*connections <= sessions) {
        return UVEA_OK;
    }
    if (given) {
        return uvea_resolve_complain(
            source, "connections", "connections: %llu, but %llu sessions use no more than one each",
            (unsigned long long)*connections, (unsigned long long)sessions);
    }
    *connections = sessions;
    return UVEA_OK;
}

static bool is_overridden(const char *key, const char *const *overrides, size_t count)
{
    const size_t len = strlen(key);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(overrides[i], key, len) == 0 && overrides[i][len] == '=') {
            return true;
        }
    }
    return false;
}

static enum uvea_error check_options(const struct uvea_source *source,
                                     const struct uvea_scenario *scenario)
{
    const uint64_t *options = scenario->options;
    if (options[UVEA_OPTION_root_sessions] % 8 != 0) {
        return uvea_resolve_complain(source, "sessions", "sessions: not a multiple of 8");
    }
    if (options[UVEA_OPTION_database_records] > options[UVEA_OPTION_service_record_limit]) {
        return uvea_resolve_complain(source, "database.records",
                                     "database.records: more than service.record_limit");
    }
    if (options[UVEA_OPTION_database_source] != 0 && scenario->template_file_count == 0) {
        return uvea_resolve_complain(source, "database.source",
                                     "database.source: templates.files names no file");
    }
    return check_class(source, scenario);
}

// ---- template files

static enum uvea_error directory_of(const char *path, char **directory)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return uvea_resolve_text(".", directory);
    }
    UVEA_TRY(uvea_resolve_text(path, directory));
    (*directory)[slash - path] = '\0';
    return UVEA_OK;
}

static enum uvea_error resolve_templates(const struct uvea_source *source,
                                         const struct uvea_raw *raw, struct uvea_scenario *scenario)
{
    const struct uvea_raw_templates *templates = raw->templates;
    if (templates == NULL || templates->directory == NULL) {
        UVEA_TRY(directory_of(source->name, &scenario->template_directory));
    } else {
        UVEA_TRY(uvea_resolve_text(templates->directory, &scenario->template_directory));
    }
    unsigned count = templates == NULL ? 0 : templates->files_count;
    scenario->template_files = uvea_mem_alloc(count, sizeof(*scenario->template_files));
    if (scenario->template_files == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned i = 0; i < count; i++) {
        UVEA_TRY(uvea_resolve_text(templates->files[i], &scenario->template_files[i]));
        scenario->template_file_count++;
    }
    return UVEA_OK;
}

// ---- the whole

static enum uvea_error resolve(const struct uvea_source *source, const struct uvea_raw *raw,
                               const char *const *overrides, size_t override_count,
                               struct uvea_scenario *scenario)
{
    UVEA_TRY(resolve_options(source, raw, scenario->options));
    UVEA_TRY(resolve_templates(source, raw, scenario));
    UVEA_TRY(uvea_resolve_requests(source, raw, scenario));
    UVEA_TRY(uvea_resolve_faults(source, raw, scenario));
    for (size_t i = 0; i < override_count; i++) {
        UVEA_TRY(apply_override(overrides[i], scenario, source->context));
    }
    UVEA_TRY(check_options(source, scenario));
    const bool given = uvea_raw_option(raw, UVEA_OPTION_root_connections) != NULL ||
                       is_overridden("connections", overrides, override_count);
    return check_connections(source, given, scenario);
}

enum uvea_error uvea_scenario_parse(const char *name, const uint8_t *text, size_t len,
                                    const char *const *overrides, size_t override_count,
                                    struct uvea_scenario *scenario,
                                    struct uvea_error_context *context)
{
    static const struct uvea_raw nothing;
    const struct uvea_source source = {.name = name, .text = text, .len = len, .context = context};
    struct uvea_raw *raw = NULL;
    UVEA_TRY(uvea_raw_load(name, text, len, &raw, context));
    *scenario = (struct uvea_scenario){.request_count = 0};
    enum uvea_error error =
        resolve(&source, raw != NULL ? raw : &nothing, overrides, override_count, scenario);
    uvea_raw_free(raw);
    if (error != UVEA_OK) {
        uvea_scenario_deinit(scenario);
    }
    return error;
}

static enum uvea_error read_file(const char *path, uint8_t **text, size_t *len,
                                 struct uvea_error_context *context)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s: %s", path, strerror(errno));
    }
    enum uvea_error error = UVEA_OK;
    uint8_t *bytes = uvea_mem_alloc(UVEA_SCENARIO_FILE_BYTES_MAX + 1, 1);
    if (bytes == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    *len = fread(bytes, 1, UVEA_SCENARIO_FILE_BYTES_MAX + 1, file);
    if (ferror(file) != 0) {
        error = errno == EISDIR ? UVEA_ERR_USAGE : UVEA_ERR_IO;
        error = uvea_error_set(context, error, "%s: %s", path, strerror(errno));
        goto cleanup;
    }
    if (*len > UVEA_SCENARIO_FILE_BYTES_MAX) {
        error = uvea_error_set(context, UVEA_ERR_LIMIT, "%s: longer than %d bytes", path,
                               UVEA_SCENARIO_FILE_BYTES_MAX);
        goto cleanup;
    }
    *text = bytes;
    bytes = NULL;
cleanup:
    uvea_mem_free(bytes);
    (void)fclose(file);
    return error;
}

enum uvea_error uvea_scenario_load(const char *path, const char *const *overrides,
                                   size_t override_count, struct uvea_scenario *scenario,
                                   struct uvea_error_context *context)
{
    uint8_t *text = NULL;
    size_t len = 0;
    UVEA_TRY(read_file(path, &text, &len, context));
    enum uvea_error error =
        uvea_scenario_parse(path, text, len, overrides, override_count, scenario, context);
    uvea_mem_free(text);
    return error;
}

void uvea_scenario_deinit(struct uvea_scenario *scenario)
{
    for (size_t i = 0; i < scenario->request_count; i++) {
        uvea_mem_free(scenario->requests[i].or_rule.serials);
        uvea_mem_free(scenario->requests[i].expect.error);
        uvea_mem_free(scenario->requests[i].expect.matched.serials);
        uvea_mem_free(scenario->requests[i].expect.anonymous.serials);
    }
    for (size_t i = 0; i < scenario->template_file_count; i++) {
        uvea_mem_free(scenario->template_files[i]);
    }
    uvea_mem_free(scenario->template_files);
    uvea_mem_free(scenario->template_directory);
    uvea_mem_free(scenario->requests);
    uvea_mem_free(scenario->faults);
    *scenario = (struct uvea_scenario){.request_count = 0};
}

static enum uvea_error copy_serials(const struct uvea_serial_list *in, struct uvea_serial_list *out)
{
    *out = (struct uvea_serial_list){.count = 0};
    if (in->serials == NULL) {
        return UVEA_OK;
    }
    out->serials = uvea_mem_alloc(in->count, sizeof(*out->serials));
    if (out->serials == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i < in->count; i++) {
        out->serials[i] = in->serials[i];
    }
    out->count = in->count;
    return UVEA_OK;
}

// out owns what was made also after a failure.
static enum uvea_error copy_plan(const struct uvea_request_plan *in, struct uvea_request_plan *out)
{
    *out = *in;
    out->or_rule = (struct uvea_serial_list){.count = 0};
    out->expect.matched = out->or_rule;
    out->expect.anonymous = out->or_rule;
    out->expect.error = NULL;
    UVEA_TRY(copy_serials(&in->or_rule, &out->or_rule));
    UVEA_TRY(copy_serials(&in->expect.matched, &out->expect.matched));
    UVEA_TRY(copy_serials(&in->expect.anonymous, &out->expect.anonymous));
    return in->expect.error == NULL ? UVEA_OK
                                    : uvea_resolve_text(in->expect.error, &out->expect.error);
}

static enum uvea_error copy_lists(const struct uvea_scenario *in, struct uvea_scenario *out)
{
    if (in->template_directory != NULL) {
        UVEA_TRY(uvea_resolve_text(in->template_directory, &out->template_directory));
    }
    out->template_files = uvea_mem_alloc(in->template_file_count, sizeof(*out->template_files));
    out->requests = uvea_mem_alloc(in->request_count, sizeof(*out->requests));
    out->faults = uvea_mem_alloc(in->fault_count, sizeof(*out->faults));
    if (out->template_files == NULL || out->requests == NULL || out->faults == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (; out->template_file_count < in->template_file_count; out->template_file_count++) {
        const size_t at = out->template_file_count;
        UVEA_TRY(uvea_resolve_text(in->template_files[at], &out->template_files[at]));
    }
    while (out->request_count < in->request_count) {
        const size_t at = out->request_count++;
        UVEA_TRY(copy_plan(&in->requests[at], &out->requests[at]));
    }
    for (; out->fault_count < in->fault_count; out->fault_count++) {
        out->faults[out->fault_count] = in->faults[out->fault_count];
    }
    return UVEA_OK;
}

enum uvea_error uvea_scenario_copy(const struct uvea_scenario *in, struct uvea_scenario *out)
{
    *out = (struct uvea_scenario){.request_count = 0};
    for (unsigned i = 0; i < UVEA_OPTION_COUNT; i++) {
        out->options[i] = in->options[i];
    }
    const enum uvea_error error = copy_lists(in, out);
    if (error != UVEA_OK) {
        uvea_scenario_deinit(out);
    }
    return error;
}
