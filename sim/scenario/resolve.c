#include "sim/scenario/resolve.h"

#include "core/base/mem.h"
#include "sim/scenario/position.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct uvea_path uvea_path_of(const char *where, const char *field)
{
    struct uvea_path path;
    (void)snprintf(path.text, sizeof(path.text), "%.80s.%.40s", where, field);
    return path;
}

struct uvea_path uvea_path_entry(const char *list, size_t index)
{
    struct uvea_path path;
    (void)snprintf(path.text, sizeof(path.text), "%.80s[%zu]", list, index);
    return path;
}

// A field of a list's entry that was not given stands where the entry does.
static unsigned line_at(const struct uvea_source *source, const char *path)
{
    const unsigned line = uvea_yaml_line(source->text, source->len, path);
    const char *bracket = strrchr(path, ']');
    char entry[UVEA_YAML_PATH_BYTES];
    if (line != 0 || bracket == NULL) {
        return line;
    }
    (void)snprintf(entry, sizeof(entry), "%.*s", (int)(bracket + 1 - path), path);
    return uvea_yaml_line(source->text, source->len, entry);
}

enum uvea_error uvea_resolve_place(const struct uvea_source *source, const char *path,
                                   enum uvea_error error)
{
    if (error == UVEA_OK || source->context == NULL) {
        return error;
    }
    struct uvea_error_context said = *source->context;
    unsigned line = line_at(source, path);
    if (line == 0) {
        return uvea_error_set(source->context, error, "%s: %.400s", source->name, said.text);
    }
    return uvea_error_set(source->context, error, "%s:%u: %.400s", source->name, line, said.text);
}

enum uvea_error uvea_resolve_complain(const struct uvea_source *source, const char *path,
                                      const char *format, ...)
{
    if (source->context != NULL) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(source->context->text, sizeof(source->context->text), format, args);
        va_end(args);
    }
    return uvea_resolve_place(source, path, UVEA_ERR_FORMAT);
}

// ---- single values

enum uvea_error uvea_resolve_number(const struct uvea_source *source, const char *path,
                                    const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    return uvea_resolve_place(source, path,
                              uvea_number_parse(path, text, low, high, value, source->context));
}

enum uvea_error uvea_resolve_optional_number(const struct uvea_source *source, const char *path,
                                             const char *text, uint64_t low, uint64_t high,
                                             uint64_t *value)
{
    return text == NULL ? UVEA_OK : uvea_resolve_number(source, path, text, low, high, value);
}

enum uvea_error uvea_resolve_optional_choice(const struct uvea_source *source, const char *path,
                                             const char *choices, const char *text, uint64_t *value)
{
    if (text == NULL) {
        return UVEA_OK;
    }
    return uvea_resolve_place(source, path,
                              uvea_choice_parse(path, choices, text, value, source->context));
}

enum uvea_error uvea_resolve_optional_bool(const struct uvea_source *source, const char *path,
                                           const char *text, bool *value)
{
    uint64_t index = *value;
    UVEA_TRY(uvea_resolve_optional_choice(source, path, "false true", text, &index));
    *value = index != 0;
    return UVEA_OK;
}

enum uvea_error uvea_resolve_serials(const struct uvea_source *source, const char *path,
                                     char **texts, unsigned count, struct uvea_serial_list *list)
{
    if (count > UVEA_SCENARIO_LIST_MAX) {
        return uvea_resolve_complain(source, path, "%s: more than %d serials", path,
                                     UVEA_SCENARIO_LIST_MAX);
    }
    uint32_t *serials = uvea_mem_alloc(count, sizeof(*serials));
    if (serials == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (unsigned i = 0; i < count; i++) {
        struct uvea_path entry;
        entry = uvea_path_entry(path, i);
        uint64_t serial;
        enum uvea_error error =
            uvea_resolve_number(source, entry.text, texts[i], 1, UINT32_MAX, &serial);
        if (error != UVEA_OK) {
            uvea_mem_free(serials);
            return error;
        }
        serials[i] = (uint32_t)serial;
    }
    *list = (struct uvea_serial_list){.serials = serials, .count = count};
    return UVEA_OK;
}

enum uvea_error uvea_resolve_text(const char *text, char **copy)
{
    size_t bytes = strlen(text) + 1;
    *copy = uvea_mem_alloc(bytes, 1);
    if (*copy == NULL) {
        return UVEA_ERR_MEMORY;
    }
    memcpy(*copy, text, bytes);
    return UVEA_OK;
}
