#include "sim/scenario/scenario.h"

#include "core/base/mem.h"
#include "sim/scenario/position.h"
#include "sim/scenario/raw.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// A place in the text, such as "requests[3].by".
struct path {
    char text[128];
};

static struct path path_of(const char *where, const char *field)
{
    struct path path;
    (void)snprintf(path.text, sizeof(path.text), "%.80s.%.40s", where, field);
    return path;
}

static struct path path_entry(const char *list, size_t index)
{
    struct path path;
    (void)snprintf(path.text, sizeof(path.text), "%.80s[%zu]", list, index);
    return path;
}

// The text a value came from, for sentences.
struct source {
    const char *name;
    const uint8_t *text;
    size_t len;
    struct uvea_error_context *context;
};

// Puts "file:line: " before the sentence already in the context.
static enum uvea_error place(const struct source *source, const char *path, enum uvea_error error)
{
    if (error == UVEA_OK || source->context == NULL) {
        return error;
    }
    struct uvea_error_context said = *source->context;
    unsigned line = uvea_yaml_line(source->text, source->len, path);
    if (line == 0) {
        return uvea_error_set(source->context, error, "%s: %.400s", source->name, said.text);
    }
    return uvea_error_set(source->context, error, "%s:%u: %.400s", source->name, line, said.text);
}

UVEA_PRINTF(3, 4)
static enum uvea_error complain(const struct source *source, const char *path, const char *format,
                                ...)
{
    if (source->context != NULL) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(source->context->text, sizeof(source->context->text), format, args);
        va_end(args);
    }
    return place(source, path, UVEA_ERR_FORMAT);
}

// ---- single values

static enum uvea_error number_at(const struct source *source, const char *path, const char *text,
                                 uint64_t low, uint64_t high, uint64_t *value)
{
    return place(source, path, uvea_number_parse(path, text, low, high, value, source->context));
}

static enum uvea_error optional_number(const struct source *source, const char *path,
                                       const char *text, uint64_t low, uint64_t high,
                                       uint64_t *value)
{
    return text == NULL ? UVEA_OK : number_at(source, path, text, low, high, value);
}

static enum uvea_error optional_choice(const struct source *source, const char *path,
                                       const char *choices, const char *text, uint64_t *value)
{
    if (text == NULL) {
        return UVEA_OK;
    }
    return place(source, path, uvea_choice_parse(path, choices, text, value, source->context));
}

static enum uvea_error optional_bool(const struct source *source, const char *path,
                                     const char *text, bool *value)
{
    uint64_t index = *value;
    UVEA_TRY(optional_choice(source, path, "false true", text, &index));
    *value = index != 0;
    return UVEA_OK;
}

static enum uvea_error serial_list(const struct source *source, const char *path, char **texts,
                                   unsigned count, struct uvea_serial_list *list)
{
    if (count > UVEA_SCENARIO_LIST_MAX) {
        return complain(source, path, "%s: more than %d serials", path, UVEA_SCENARIO_LIST_MAX);
    }
    uint32_t *serials = uvea_mem_alloc(count, sizeof(*serials));
    if (serials == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned i = 0; i < count; i++) {
        struct path entry;
        entry = path_entry(path, i);
        uint64_t serial;
        enum uvea_error error = number_at(source, entry.text, texts[i], 1, UINT32_MAX, &serial);
        if (error != UVEA_OK) {
            uvea_mem_free(serials);
            return error;
        }
        serials[i] = (uint32_t)serial;
    }
    *list = (struct uvea_serial_list){.serials = serials, .count = count};
    return UVEA_OK;
}

static enum uvea_error copy_text(const char *text, char **copy)
{
    size_t bytes = strlen(text) + 1;
    *copy = uvea_mem_alloc(bytes, 1);
    if (*copy == NULL) {
        return UVEA_ERR_MEMORY;
    }
    memcpy(*copy, text, bytes);
    return UVEA_OK;
}

// ---- options

static enum uvea_error resolve_options(const struct source *source, const struct uvea_raw *raw,
                                       uint64_t options[UVEA_OPTION_COUNT])
{
    for (unsigned option = 0; option < UVEA_OPTION_COUNT; option++) {
        const char *text = uvea_raw_option(raw, (enum uvea_option)option);
        if (text == NULL) {
            text = uvea_option_info((enum uvea_option)option)->value;
        }
        char key[64];
        uvea_option_key((enum uvea_option)option, key);
        UVEA_TRY(place(
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
        return copy_text(text + sizeof(templates_directory) - 1, &scenario->template_directory);
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

static enum uvea_error check_options(const struct source *source,
                                     const struct uvea_scenario *scenario)
{
    const uint64_t *options = scenario->options;
    if (options[UVEA_OPTION_root_sessions] % 8 != 0) {
        return complain(source, "sessions", "sessions: not a multiple of 8");
    }
    if (options[UVEA_OPTION_database_records] > options[UVEA_OPTION_service_record_limit]) {
        return complain(source, "database.records",
                        "database.records: more than service.record_limit");
    }
    if (options[UVEA_OPTION_database_source] != 0 && scenario->template_file_count == 0) {
        return complain(source, "database.source",
                        "database.source: templates.files names no file");
    }
    return UVEA_OK;
}

// ---- requests

static enum uvea_error resolve_expect(const struct source *source, const char *where,
                                      const struct uvea_raw_expect *raw,
                                      struct uvea_expectation *expect)
{
    struct path path;
    path = path_of(where, "match");
    expect->has_match = raw->match != NULL;
    UVEA_TRY(optional_bool(source, path.text, raw->match, &expect->match));
    path = path_of(where, "mirror_attack");
    expect->has_mirror_attack = raw->mirror_attack != NULL;
    UVEA_TRY(optional_bool(source, path.text, raw->mirror_attack, &expect->mirror_attack));
    path = path_of(where, "serial");
    expect->has_serial = raw->serial != NULL;
    UVEA_TRY(optional_number(source, path.text, raw->serial, 0, UINT32_MAX, &expect->serial));
    if (raw->matched != NULL) {
        path = path_of(where, "matched");
        expect->has_matched = true;
        UVEA_TRY(
            serial_list(source, path.text, raw->matched, raw->matched_count, &expect->matched));
    }
    if (raw->anonymous != NULL) {
        path = path_of(where, "anonymous");
        expect->has_anonymous = true;
        UVEA_TRY(serial_list(source, path.text, raw->anonymous, raw->anonymous_count,
                             &expect->anonymous));
    }
    return UVEA_OK;
}

static enum uvea_error resolve_by(const struct source *source, const char *path, const char *text,
                                  int *by)
{
    uint64_t columns;
    bool left = text[0] == '-';
    enum uvea_error error = uvea_number_parse(path, text + left, 0, 200, &columns, NULL);
    if (error != UVEA_OK) {
        return complain(source, path, "%s: '%s' is not a whole number from -200 to 200", path,
                        text);
    }
    *by = left ? -(int)columns : (int)columns;
    return UVEA_OK;
}

// Which fields a kind of request has beside the general ones.
struct kind_fields {
    bool of, of_needed, by, bits, index, eyes, threshold;
};
static const struct kind_fields fields_of[] = {
    [UVEA_PLAN_NEW] = {0},
    [UVEA_PLAN_DUPLICATE] = {.of = true},
    [UVEA_PLAN_MIRRORED] = {.of = true},
    [UVEA_PLAN_ROTATED] = {.of = true, .by = true},
    [UVEA_PLAN_FLIPPED] = {.of = true, .bits = true, .eyes = true},
    [UVEA_PLAN_THRESHOLD] = {.of = true, .threshold = true},
    [UVEA_PLAN_ZERO_OVERLAP] = {.of = true},
    [UVEA_PLAN_TEMPLATE] = {.index = true},
};

// A field is given exactly when the kind has it.
static enum uvea_error check_field(const struct source *source, const char *where,
                                   const char *field, const char *kind, bool has, bool needed,
                                   const char *text)
{
    struct path path;
    path = path_of(where, field);
    if (text != NULL && !has) {
        return complain(source, path.text, "%s: a request of kind '%s' has no such field",
                        path.text, kind);
    }
    if (text == NULL && needed) {
        return complain(source, where, "%s: a request of kind '%s' needs '%s'", where, kind, field);
    }
    return UVEA_OK;
}

static enum uvea_error check_fields(const struct source *source, const char *where,
                                    const struct uvea_raw_request *raw,
                                    enum uvea_request_plan_kind kind)
{
    const struct kind_fields *has = &fields_of[kind];
    const char *name = raw->kind;
    UVEA_TRY(check_field(source, where, "of", name, has->of, false, raw->of));
    UVEA_TRY(check_field(source, where, "by", name, has->by, has->by, raw->by));
    UVEA_TRY(check_field(source, where, "bits", name, has->bits, has->bits, raw->bits));
    UVEA_TRY(check_field(source, where, "index", name, has->index, has->index, raw->index));
    UVEA_TRY(check_field(source, where, "eyes", name, has->eyes, false, raw->eyes));
    UVEA_TRY(check_field(source, where, "threshold", name, has->threshold, has->threshold,
                         raw->threshold));
    return check_field(source, where, "place", name, has->threshold, has->threshold, raw->place);
}

static enum uvea_error resolve_shape(const struct source *source, const char *where,
                                     const struct uvea_raw_request *raw,
                                     struct uvea_request_plan *plan)
{
    struct path path;
    uint64_t eyes = UVEA_PLAN_BOTH;
    uint64_t threshold = 0;
    uint64_t at = 0;
    path = path_of(where, "of");
    UVEA_TRY(optional_number(source, path.text, raw->of, 1, UINT32_MAX, &plan->of));
    path = path_of(where, "by");
    if (raw->by != NULL) {
        UVEA_TRY(resolve_by(source, path.text, raw->by, &plan->by));
    }
    path = path_of(where, "bits");
    UVEA_TRY(optional_number(source, path.text, raw->bits, 0, 12800, &plan->bits));
    path = path_of(where, "index");
    UVEA_TRY(optional_number(source, path.text, raw->index, 1, UINT32_MAX, &plan->index));
    path = path_of(where, "eyes");
    UVEA_TRY(optional_choice(source, path.text, UVEA_EYE_CHOICES, raw->eyes, &eyes));
    path = path_of(where, "threshold");
    UVEA_TRY(
        optional_choice(source, path.text, UVEA_THRESHOLD_CHOICES, raw->threshold, &threshold));
    path = path_of(where, "place");
    UVEA_TRY(optional_choice(source, path.text, UVEA_PLACE_CHOICES, raw->place, &at));
    plan->eyes = (enum uvea_plan_eyes)eyes;
    plan->threshold = (enum uvea_plan_threshold)threshold;
    plan->place = (enum uvea_plan_place)at;
    return UVEA_OK;
}

static enum uvea_error resolve_request(const struct source *source, const char *where,
                                       const struct uvea_raw_request *raw,
                                       struct uvea_request_plan *plan)
{
    struct path path;
    uint64_t kind = 0;
    path = path_of(where, "kind");
    UVEA_TRY(optional_choice(source, path.text, UVEA_REQUEST_KINDS, raw->kind, &kind));
    plan->kind = (enum uvea_request_plan_kind)kind;
    UVEA_TRY(check_fields(source, where, raw, plan->kind));
    UVEA_TRY(resolve_shape(source, where, raw, plan));
    plan->mirror_detection = true;
    path = path_of(where, "mirror_detection");
    UVEA_TRY(optional_bool(source, path.text, raw->mirror_detection, &plan->mirror_detection));
    path = path_of(where, "skip_persistence");
    UVEA_TRY(optional_bool(source, path.text, raw->skip_persistence, &plan->skip_persistence));
    if (raw->or_rule != NULL) {
        path = path_of(where, "or_rule");
        UVEA_TRY(serial_list(source, path.text, raw->or_rule, raw->or_rule_count, &plan->or_rule));
    }
    if (raw->expect == NULL) {
        return UVEA_OK;
    }
    path = path_of(where, "expect");
    return resolve_expect(source, path.text, raw->expect, &plan->expect);
}

static enum uvea_error count_requests(const struct source *source, const struct uvea_raw *raw,
                                      size_t *count)
{
    *count = 0;
    for (unsigned i = 0; i < raw->requests_count; i++) {
        struct path path;
        path = path_of(path_entry("requests", i).text, "repeat");
        uint64_t repeat = 1;
        UVEA_TRY(optional_number(source, path.text, raw->requests[i].repeat, 1,
                                 UVEA_SCENARIO_REQUESTS_MAX, &repeat));
        *count += repeat;
        if (*count > UVEA_SCENARIO_REQUESTS_MAX) {
            return complain(source, path.text, "%s: more than %d requests in all", path.text,
                            UVEA_SCENARIO_REQUESTS_MAX);
        }
    }
    return UVEA_OK;
}

static enum uvea_error resolve_requests(const struct source *source, const struct uvea_raw *raw,
                                        struct uvea_scenario *scenario)
{
    size_t count;
    UVEA_TRY(count_requests(source, raw, &count));
    scenario->requests = uvea_mem_alloc(count, sizeof(*scenario->requests));
    if (scenario->requests == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned i = 0; i < raw->requests_count; i++) {
        struct path where;
        where = path_entry("requests", i);
        uint64_t repeat = 1;
        UVEA_TRY(optional_number(source, where.text, raw->requests[i].repeat, 1,
                                 UVEA_SCENARIO_REQUESTS_MAX, &repeat));
        for (; repeat > 0; repeat--) {
            struct uvea_request_plan *plan = &scenario->requests[scenario->request_count++];
            UVEA_TRY(resolve_request(source, where.text, &raw->requests[i], plan));
        }
    }
    return UVEA_OK;
}

// ---- faults

static enum uvea_error needed(const struct source *source, const char *where, const char *field,
                              const char *text)
{
    return text != NULL ? UVEA_OK
                        : complain(source, where, "%s: this fault needs '%s'", where, field);
}

static enum uvea_error resolve_fault(const struct source *source, const char *where,
                                     const struct uvea_raw_fault *raw,
                                     struct uvea_fault_plan *fault)
{
    struct path path;
    uint64_t kind = 0;
    uint64_t from = 0;
    uint64_t to = 0;
    path = path_of(where, "kind");
    UVEA_TRY(optional_choice(source, path.text, UVEA_FAULT_KINDS, raw->kind, &kind));
    UVEA_TRY(needed(source, where, "from", raw->from));
    if (kind != UVEA_FAULT_PARTITION) {
        UVEA_TRY(needed(source, where, "to", raw->to));
    }
    UVEA_TRY(kind == UVEA_FAULT_RESET ? needed(source, where, "at_byte", raw->at_byte)
                                      : needed(source, where, "at_ms", raw->at_ms));
    if (kind != UVEA_FAULT_RESET) {
        UVEA_TRY(needed(source, where, "for_ms", raw->for_ms));
    }
    path = path_of(where, "from");
    UVEA_TRY(optional_choice(source, path.text, UVEA_NODE_CHOICES, raw->from, &from));
    path = path_of(where, "to");
    UVEA_TRY(optional_choice(source, path.text, UVEA_NODE_CHOICES, raw->to, &to));
    if (kind != UVEA_FAULT_PARTITION && from == to) {
        return complain(source, path.text, "%s: a link has two different ends", path.text);
    }
    path = path_of(where, "at_ms");
    UVEA_TRY(optional_number(source, path.text, raw->at_ms, 0, 1000000000, &fault->at_ms));
    path = path_of(where, "for_ms");
    UVEA_TRY(optional_number(source, path.text, raw->for_ms, 1, 1000000000, &fault->for_ms));
    path = path_of(where, "at_byte");
    UVEA_TRY(optional_number(source, path.text, raw->at_byte, 0, UINT64_MAX, &fault->at_byte));
    fault->kind = (enum uvea_fault_plan_kind)kind;
    fault->from = (unsigned)from;
    fault->to = (unsigned)to;
    return UVEA_OK;
}

static enum uvea_error resolve_faults(const struct source *source, const struct uvea_raw *raw,
                                      struct uvea_scenario *scenario)
{
    scenario->faults = uvea_mem_alloc(raw->faults_count, sizeof(*scenario->faults));
    if (scenario->faults == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned i = 0; i < raw->faults_count; i++) {
        struct path where;
        where = path_entry("faults", i);
        UVEA_TRY(resolve_fault(source, where.text, &raw->faults[i], &scenario->faults[i]));
        scenario->fault_count++;
    }
    return UVEA_OK;
}

// ---- template files

static enum uvea_error directory_of(const char *path, char **directory)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return copy_text(".", directory);
    }
    UVEA_TRY(copy_text(path, directory));
    (*directory)[slash - path] = '\0';
    return UVEA_OK;
}

static enum uvea_error resolve_templates(const struct source *source, const struct uvea_raw *raw,
                                         struct uvea_scenario *scenario)
{
    const struct uvea_raw_templates *templates = raw->templates;
    if (templates == NULL || templates->directory == NULL) {
        UVEA_TRY(directory_of(source->name, &scenario->template_directory));
    } else {
        UVEA_TRY(copy_text(templates->directory, &scenario->template_directory));
    }
    unsigned count = templates == NULL ? 0 : templates->files_count;
    scenario->template_files = uvea_mem_alloc(count, sizeof(*scenario->template_files));
    if (scenario->template_files == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned i = 0; i < count; i++) {
        UVEA_TRY(copy_text(templates->files[i], &scenario->template_files[i]));
        scenario->template_file_count++;
    }
    return UVEA_OK;
}

// ---- the whole

static enum uvea_error resolve(const struct source *source, const struct uvea_raw *raw,
                               const char *const *overrides, size_t override_count,
                               struct uvea_scenario *scenario)
{
    UVEA_TRY(resolve_options(source, raw, scenario->options));
    UVEA_TRY(resolve_templates(source, raw, scenario));
    UVEA_TRY(resolve_requests(source, raw, scenario));
    UVEA_TRY(resolve_faults(source, raw, scenario));
    for (size_t i = 0; i < override_count; i++) {
        UVEA_TRY(apply_override(overrides[i], scenario, source->context));
    }
    return check_options(source, scenario);
}

enum uvea_error uvea_scenario_parse(const char *name, const uint8_t *text, size_t len,
                                    const char *const *overrides, size_t override_count,
                                    struct uvea_scenario *scenario,
                                    struct uvea_error_context *context)
{
    static const struct uvea_raw nothing;
    const struct source source = {.name = name, .text = text, .len = len, .context = context};
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
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", path, strerror(errno));
    }
    enum uvea_error error = UVEA_OK;
    uint8_t *bytes = uvea_mem_alloc(UVEA_SCENARIO_FILE_BYTES_MAX + 1, 1);
    if (bytes == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    *len = fread(bytes, 1, UVEA_SCENARIO_FILE_BYTES_MAX + 1, file);
    if (ferror(file) != 0) {
        error = uvea_error_set(context, UVEA_ERR_IO, "%s: %s", path, strerror(errno));
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
