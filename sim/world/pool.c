#include "core/base/mem.h"
#include "sim/world/population_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES_MAX = 65536,     // a line of a template file
    FILE_TEMPLATES_MAX = 65536, // templates of all files
};

// ---- template files

struct template_list {
    struct uvea_template *templates;
    size_t count;
    size_t capacity;
};

static enum uvea_error list_add(struct template_list *list, const struct uvea_template *template)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        struct uvea_template *grown = uvea_mem_alloc(capacity, sizeof(*grown));
        if (grown == NULL) {
            return UVEA_ERR_MEMORY;
        }
        if (list->count > 0) {
            memcpy(grown, list->templates, list->count * sizeof(*grown));
        }
        uvea_mem_free(list->templates);
        list->templates = grown;
        list->capacity = capacity;
    }
    list->templates[list->count++] = *template;
    return UVEA_OK;
}

static enum uvea_error read_line(const char *path, unsigned number, char *line,
                                 struct template_list *list, struct uvea_error_context *context)
{
    size_t len = strcspn(line, "\r\n");
    if (len == 0) {
        return UVEA_OK;
    }
    if (list->count == FILE_TEMPLATES_MAX) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "%s:%u: more than %d templates", path,
                              number, FILE_TEMPLATES_MAX);
    }
    struct uvea_template template;
    struct uvea_error_context said = {.text = ""};
    if (uvea_iris_decode_json(line, len, &template, &said) != UVEA_OK) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s:%u: %.300s", path, number, said.text);
    }
    return list_add(list, &template);
}

static enum uvea_error read_templates(const char *path, struct template_list *list,
                                      struct uvea_error_context *context)
{
    enum uvea_error error = UVEA_OK;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        error = errno == ENOENT ? UVEA_ERR_NOT_FOUND : UVEA_ERR_USAGE;
        return uvea_error_set(context, error, "%s: %s", path, strerror(errno));
    }
    char *line = uvea_mem_alloc(LINE_BYTES_MAX, 1);
    if (line == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    for (unsigned number = 1; fgets(line, LINE_BYTES_MAX, file) != NULL; number++) {
        UVEA_TRY_CLEANUP(read_line(path, number, line, list, context));
    }
    if (ferror(file) != 0) {
        error = errno == EISDIR ? UVEA_ERR_USAGE : UVEA_ERR_IO;
        error = uvea_error_set(context, error, "%s: %s", path, strerror(errno));
    }
cleanup:
    uvea_mem_free(line);
    (void)fclose(file);
    return error;
}

static enum uvea_error make_pool(struct uvea_population *population,
                                 const struct template_list *list)
{
    bool pairs = population->scenario->options[UVEA_OPTION_templates_pairing] != 0;
    size_t step = pairs ? 2 : 1;
    population->pool = uvea_mem_alloc(list->count / step, sizeof(*population->pool));
    if (population->pool == NULL) {
        return UVEA_ERR_MEMORY;
    }
    for (size_t i = 0; i + step <= list->count; i += step) {
        struct uvea_template_pair *pair = &population->pool[population->pool_count++];
        pair->eye[UVEA_EYE_LEFT] = list->templates[i];
        pair->eye[UVEA_EYE_RIGHT] = list->templates[i + step - 1];
    }
    return UVEA_OK;
}

enum uvea_error uvea_population_read_pool(struct uvea_population *population,
                                          struct uvea_error_context *context)
{
    const struct uvea_scenario *scenario = population->scenario;
    struct template_list list = {.count = 0};
    enum uvea_error error = UVEA_OK;
    for (size_t i = 0; i < scenario->template_file_count; i++) {
        char path[4096];
        int len = snprintf(path, sizeof(path), "%s/%s", scenario->template_directory,
                           scenario->template_files[i]);
        if (len < 0 || (size_t)len >= sizeof(path)) {
            error =
                uvea_error_set(context, UVEA_ERR_LIMIT, "templates.files[%zu]: path too long", i);
            goto cleanup;
        }
        UVEA_TRY_CLEANUP(read_templates(path, &list, context));
    }
    error = make_pool(population, &list);
cleanup:
    uvea_mem_free(list.templates);
    return error;
}
