#include "core/daemon/config.h"

#include "core/base/mem.h"
#include "core/daemon/yaml.h"
#include "core/posix/file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = "UVEA__";

struct reading {
    struct uvea_config *config;
    struct uvea_complaints *complaints;
    const char *file; // or NULL
    bool whole;       // nothing of the file is unknown
    bool in_environment[UVEA_KEY_COUNT];
};

// ---- values

static void wipe_text(char *text)
{
    if (text != NULL) {
        uvea_mem_wipe(text, strlen(text));
    }
    uvea_mem_free(text);
}

static void forget(struct uvea_config_value *value)
{
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        wipe_text(value->text[i]);
    }
    uvea_mem_free(value->what);
    *value = (struct uvea_config_value){.number = 0};
}

static char *copy(const char *text, size_t chars)
{
    char *made = uvea_mem_alloc(1, chars + 1);

    if (made != NULL) {
        memcpy(made, text, chars);
    }
    return made;
}

// The path as it is to be opened: relative ones begin at the folder of the configuration file.
static char *place(const char *file, const char *path)
{
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;
    const size_t folder = slash != NULL ? (size_t)(slash - file) + 1 : 0;
    char *made;

    if (folder == 0 || path[0] == '/') {
        return copy(path, strlen(path));
    }
    made = uvea_mem_alloc(1, folder + strlen(path) + 1);
    if (made != NULL) {
        memcpy(made, file, folder);
        memcpy(made + folder, path, strlen(path));
    }
    return made;
}

// The i-th text of a value.
static enum uvea_error keep_text(const struct reading *reading, enum uvea_key key,
                                 struct uvea_config_value *value, size_t i, const char *text)
{
    const enum uvea_key_kind kind = uvea_key_info(key)->kind;
    const bool file = kind == UVEA_KEY_FILE || kind == UVEA_KEY_FILES;

    if (kind == UVEA_KEY_NUMBER || kind == UVEA_KEY_CHOICE || text[0] == '\0') {
        return UVEA_OK;
    }
    value->text[i] = file ? place(reading->file, text) : copy(text, strlen(text));
    return value->text[i] != NULL ? UVEA_OK : UVEA_ERR_MEMORY;
}

static enum uvea_error keep(const struct reading *reading, enum uvea_key key, const char *what,
                            const char *const *texts, size_t count, struct uvea_config_value *value,
                            struct uvea_error_context *context)
{
    value->what = copy(what, strlen(what));
    if (value->what == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (count != (uvea_key_is_list(key) ? UVEA_PARTY_COUNT : 1)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%s: want a list of three values, one for each party", what);
    }
    for (size_t i = 0; i < count; i++) {
        UVEA_TRY(uvea_key_parse(key, what, texts[i], &value->number, context));
        UVEA_TRY(keep_text(reading, key, value, i, texts[i]));
    }
    return UVEA_OK;
}

// Puts a value in the place of what is there.
static void set(const struct reading *reading, enum uvea_key key, const char *what,
                const char *const *texts, size_t count)
{
    struct uvea_error_context context = {{0}};
    struct uvea_config_value value = {.number = 0};
    const enum uvea_error error = keep(reading, key, what, texts, count, &value, &context);

    uvea_complain_of(reading->complaints, error, &context);
    forget(&reading->config->values[key]);
    reading->config->values[key] = value;
}

// ---- the file

static void see_key(void *arg, enum uvea_key key, unsigned line, const char *const *texts,
                    size_t count)
{
    const struct reading *reading = arg;
    char what[512];
    char name[UVEA_KEY_CHARS_MAX];

    uvea_key_name(key, name);
    (void)snprintf(what, sizeof(what), "%.256s:%u: %s", reading->file, line, name);
    set(reading, key, what, texts, count);
}

static void read_file(struct reading *reading)
{
    struct uvea_error_context context = {{0}};
    struct uvea_buf text = {0};
    const enum uvea_error error =
        uvea_file_read(reading->file, UVEA_CONFIG_BYTES_MAX, &text, &context);

    uvea_complain_of(reading->complaints, error, &context);
    reading->whole = error == UVEA_OK && uvea_yaml_read(reading->file, text.data, text.len, see_key,
                                                        reading, reading->complaints);
    uvea_mem_wipe(text.data, text.len);
    uvea_buf_deinit(&text);
}

// ---- the environment

// "UVEA__MESH__LISTN" is looked for as "mesh.listn".
static enum uvea_key nearest_variable(const char *variable, bool *section)
{
    char name[UVEA_KEY_CHARS_MAX] = {0};
    size_t at = 0;

    for (const char *c = variable + sizeof(prefix) - 1; *c != '\0'; c++) {
        if (at + 1 == sizeof(name)) {
            return UVEA_KEY_COUNT;
        }
        if (c[0] == '_' && c[1] == '_' && c[2] != '\0') {
            name[at++] = '.';
            c++;
        } else {
            name[at++] = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
        }
    }
    return uvea_key_nearest(name, section);
}

static void refuse_variable(const struct reading *reading, const char *variable)
{
    bool section = false;
    const enum uvea_key nearest = nearest_variable(variable, &section);
    char name[UVEA_KEY_CHARS_MAX];

    if (nearest == UVEA_KEY_COUNT) {
        uvea_complain(reading->complaints, "environment: no such key: %.128s", variable);
        return;
    }
    uvea_key_variable(nearest, name);
    uvea_complain(reading->complaints, "environment: no such key: %.128s; is %s%s meant?", variable,
                  section ? "one like " : "", name);
}

// A list is cut at its commas, in place.
static size_t cut(enum uvea_key key, char *text, const char *texts[UVEA_PARTY_COUNT])
{
    size_t count = 1;

    texts[0] = text;
    for (char *c = text; uvea_key_is_list(key) && *c != '\0'; c++) {
        if (*c == ',') {
            *c = '\0';
            if (count < UVEA_PARTY_COUNT) {
                texts[count] = c + 1;
            }
            count++;
        }
    }
    return count;
}

static void set_variable(const struct reading *reading, enum uvea_key key, const char *variable,
                         const char *value)
{
    const char *texts[UVEA_PARTY_COUNT];
    char *text = copy(value, strlen(value));

    if (text == NULL) {
        uvea_complain_of(reading->complaints, UVEA_ERR_MEMORY, &(struct uvea_error_context){{0}});
        return;
    }
    const size_t count = cut(key, text, texts);
    set(reading, key, variable, texts, count);
    uvea_mem_wipe(text, strlen(value));
    uvea_mem_free(text);
}

static void read_variable(struct reading *reading, const char *entry)
{
    char variable[UVEA_KEY_VALUE_CHARS_MAX + 1];
    const char *equals = strchr(entry, '=');
    const size_t chars = equals != NULL ? (size_t)(equals - entry) : strlen(entry);
    enum uvea_key key;

    (void)snprintf(variable, sizeof(variable), "%.*s", (int)(chars < 256 ? chars : 256), entry);
    key = uvea_key_find_variable(variable);
    if (key == UVEA_KEY_COUNT || equals == NULL) {
        refuse_variable(reading, variable);
    } else if (reading->in_environment[key]) {
        uvea_complain(reading->complaints, "environment: %s: given twice", variable);
    } else {
        reading->in_environment[key] = true;
        set_variable(reading, key, variable, equals + 1);
    }
}

static void read_environment(struct reading *reading, char *const *environment)
{
    for (; *environment != NULL; environment++) {
        if (strncmp(*environment, prefix, sizeof(prefix) - 1) == 0) {
            read_variable(reading, *environment);
        }
    }
}

// ---- what was not given

static void fill_in(const struct reading *reading, enum uvea_key key)
{
    const struct uvea_key_info *info = uvea_key_info(key);
    char name[UVEA_KEY_CHARS_MAX];
    char variable[UVEA_KEY_CHARS_MAX];

    if (reading->config->values[key].what != NULL) {
        return;
    }
    uvea_key_name(key, name);
    if (info->value == NULL && !reading->whole) {
        return;
    }
    if (info->value == NULL) {
        uvea_key_variable(key, variable);
        uvea_complain(reading->complaints, "%s is missing (%s); give it in a file or as %s", name,
                      info->meaning, variable);
        return;
    }
    const char *texts[UVEA_PARTY_COUNT] = {info->value, info->value, info->value};
    set(reading, key, name, texts, uvea_key_is_list(key) ? UVEA_PARTY_COUNT : 1);
}

void uvea_config_read(const char *file, char *const *environment, struct uvea_config *config,
                      struct uvea_complaints *complaints)
{
    struct reading reading = {
        .config = config, .complaints = complaints, .file = file, .whole = true};

    *config = (struct uvea_config){.values = {{0}}};
    if (file != NULL) {
        read_file(&reading);
    }
    read_environment(&reading, environment);
    for (unsigned key = 0; key < UVEA_KEY_COUNT; key++) {
        fill_in(&reading, (enum uvea_key)key);
    }
    if (complaints->count == 0) {
        uvea_config_check(config, complaints);
    }
}

void uvea_config_deinit(struct uvea_config *config)
{
    for (unsigned key = 0; key < UVEA_KEY_COUNT; key++) {
        forget(&config->values[key]);
    }
}

uint64_t uvea_config_number(const struct uvea_config *config, enum uvea_key key)
{
    return config->values[key].number;
}

const char *uvea_config_text(const struct uvea_config *config, enum uvea_key key)
{
    return config->values[key].text[0];
}

const char *uvea_config_of_party(const struct uvea_config *config, enum uvea_key key,
                                 unsigned party)
{
    return config->values[key].text[party];
}
