#include "sim/scenario/raw.h"

#include "core/base/nearest.h"
#include "sim/scenario/position.h"

#include <cyaml/cyaml.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define OPTIONAL (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(key, type, member)                                                                    \
    CYAML_FIELD_STRING_PTR(key, OPTIONAL, type, member, 0, CYAML_UNLIMITED)

static const cyaml_schema_value_t text_value = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED),
};

static const cyaml_schema_field_t expect_fields[] = {
    TEXT("match", struct uvea_raw_expect, match),
    TEXT("mirror_attack", struct uvea_raw_expect, mirror_attack),
    TEXT("serial", struct uvea_raw_expect, serial),
    TEXT("success", struct uvea_raw_expect, success),
    TEXT("error", struct uvea_raw_expect, error),
    CYAML_FIELD_SEQUENCE("matched", OPTIONAL, struct uvea_raw_expect, matched, &text_value, 0,
                         CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("anonymous", OPTIONAL, struct uvea_raw_expect, anonymous, &text_value, 0,
                         CYAML_UNLIMITED),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t request_fields[] = {
    TEXT("type", struct uvea_raw_request, type),
    TEXT("kind", struct uvea_raw_request, kind),
    TEXT("serial", struct uvea_raw_request, serial),
    TEXT("use_or_rule", struct uvea_raw_request, use_or_rule),
    TEXT("bad_share", struct uvea_raw_request, bad_share),
    TEXT("how", struct uvea_raw_request, how),
    TEXT("party", struct uvea_raw_request, party),
    TEXT("enrolments", struct uvea_raw_request, enrolments),
    TEXT("of", struct uvea_raw_request, of),
    TEXT("by", struct uvea_raw_request, by),
    TEXT("bits", struct uvea_raw_request, bits),
    TEXT("index", struct uvea_raw_request, index),
    TEXT("eyes", struct uvea_raw_request, eyes),
    TEXT("threshold", struct uvea_raw_request, threshold),
    TEXT("place", struct uvea_raw_request, place),
    TEXT("skip_persistence", struct uvea_raw_request, skip_persistence),
    TEXT("mirror_detection", struct uvea_raw_request, mirror_detection),
    TEXT("repeat", struct uvea_raw_request, repeat),
    CYAML_FIELD_SEQUENCE("or_rule", OPTIONAL, struct uvea_raw_request, or_rule, &text_value, 0,
                         CYAML_UNLIMITED),
    CYAML_FIELD_MAPPING_PTR("expect", OPTIONAL, struct uvea_raw_request, expect, expect_fields),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t request_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct uvea_raw_request, request_fields),
};

static const cyaml_schema_field_t fault_fields[] = {
    CYAML_FIELD_STRING_PTR("kind", CYAML_FLAG_POINTER, struct uvea_raw_fault, kind, 0,
                           CYAML_UNLIMITED),
    TEXT("from", struct uvea_raw_fault, from),
    TEXT("to", struct uvea_raw_fault, to),
    TEXT("at_ms", struct uvea_raw_fault, at_ms),
    TEXT("for_ms", struct uvea_raw_fault, for_ms),
    TEXT("at_byte", struct uvea_raw_fault, at_byte),
    TEXT("point", struct uvea_raw_fault, point),
    TEXT("nth", struct uvea_raw_fault, nth),
    TEXT("amount", struct uvea_raw_fault, amount),
    TEXT("what", struct uvea_raw_fault, what),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t fault_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct uvea_raw_fault, fault_fields),
};

enum {
    EXTRA_FIELDS = 24, // fields of a mapping that are not options
    MAPPING_FIELDS_MAX = UVEA_OPTION_COUNT + EXTRA_FIELDS,
};

// The option part of the schema is built from the option table.
struct schema {
    cyaml_schema_field_t root[MAPPING_FIELDS_MAX];
    cyaml_schema_field_t templates[MAPPING_FIELDS_MAX];
#define SECTION_SCHEMA(name) cyaml_schema_field_t name[MAPPING_FIELDS_MAX];
    UVEA_RAW_SECTIONS(SECTION_SCHEMA)
#undef SECTION_SCHEMA
    cyaml_schema_value_t top;
};

static cyaml_schema_field_t option_field(enum uvea_option option)
{
    cyaml_schema_field_t field = TEXT(NULL, struct uvea_raw_section, values[0]);
    field.key = uvea_option_info(option)->name;
    field.data_offset = (uint32_t)(sizeof(char *) * option);
    return field;
}

// Writes the section's option fields and returns where the next field goes.
static cyaml_schema_field_t *put_options(cyaml_schema_field_t *to, const char *section)
{
    for (unsigned option = 0; option < UVEA_OPTION_COUNT; option++) {
        if (strcmp(uvea_option_info((enum uvea_option)option)->section, section) == 0) {
            *to++ = option_field((enum uvea_option)option);
        }
    }
    return to;
}

static void schema_init(struct schema *schema)
{
    const cyaml_schema_field_t end = CYAML_FIELD_END;
    cyaml_schema_field_t *to = put_options(schema->templates, "templates");
    *to++ = (cyaml_schema_field_t)TEXT("directory", struct uvea_raw_templates, directory);
    *to++ = (cyaml_schema_field_t)CYAML_FIELD_SEQUENCE("files", OPTIONAL, struct uvea_raw_templates,
                                                       files, &text_value, 0, CYAML_UNLIMITED);
    *to = end;

    to = put_options(schema->root, "root");
#define SECTION_FIELD(name)                                                                        \
    *put_options(schema->name, #name) = end;                                                       \
    *to++ = (cyaml_schema_field_t)CYAML_FIELD_MAPPING_PTR(#name, OPTIONAL, struct uvea_raw, name,  \
                                                          schema->name);
    UVEA_RAW_SECTIONS(SECTION_FIELD)
#undef SECTION_FIELD
    *to++ = (cyaml_schema_field_t)CYAML_FIELD_MAPPING_PTR("templates", OPTIONAL, struct uvea_raw,
                                                          templates, schema->templates);
    *to++ = (cyaml_schema_field_t)CYAML_FIELD_SEQUENCE(
        "requests", OPTIONAL, struct uvea_raw, requests, &request_value, 0, CYAML_UNLIMITED);
    *to++ = (cyaml_schema_field_t)CYAML_FIELD_SEQUENCE("faults", OPTIONAL, struct uvea_raw, faults,
                                                       &fault_value, 0, CYAML_UNLIMITED);
    *to = end;
    schema->top = (cyaml_schema_value_t){
        CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct uvea_raw, schema->root)};
}

// What libcyaml said went wrong: its first error line, its innermost position and the field there.
struct complaint {
    char text[256];
    char field[64];
    unsigned line;
    unsigned column;
};

static void note_position(struct complaint *complaint, const char *line, const char *position)
{
    (void)sscanf(position, "(line: %u, column: %u", &complaint->line, &complaint->column);
    const char *field = strstr(line, "in mapping field '");
    if (field != NULL) {
        (void)sscanf(field, "in mapping field '%63[^']", complaint->field);
    }
}

static void listen_to_cyaml(cyaml_log_t level, void *arg, const char *format, va_list args)
{
    struct complaint *complaint = arg;
    if (level < CYAML_LOG_ERROR) {
        return;
    }
    char line[256];
    (void)vsnprintf(line, sizeof(line), format, args);
    line[strcspn(line, "\n")] = '\0';
    const char *position = strstr(line, "(line: ");
    if (position != NULL && complaint->line == 0) {
        note_position(complaint, line, position);
    } else if (complaint->text[0] == '\0') {
        const char *text = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;
        (void)snprintf(complaint->text, sizeof(complaint->text), "%s", text);
    }
}

static cyaml_config_t config_for(struct complaint *complaint)
{
    return (cyaml_config_t){
        .log_fn = listen_to_cyaml,
        .log_ctx = complaint,
        .mem_fn = cyaml_mem,
        .log_level = CYAML_LOG_ERROR,
        .flags = CYAML_CFG_NO_ALIAS,
    };
}

static const char expecting[] = "Expecting ";
static const char unexpected_key[] = "Unexpected key: ";
static const char repeated_key[] = "Mapping field already seen: ";

// What follows the prefix, or NULL.
static const char *behind(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);
    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

// libcyaml gives the place of an unexpected key's mapping, which may be the key's own, and for a
// repeated one that of what stands before it; of a document that is no mapping it gives none. path:
// of the key, when it is about one.
static unsigned line_of(const struct complaint *complaint, const uint8_t *text, size_t len,
                        char path[UVEA_YAML_PATH_BYTES])
{
    const char *unexpected = behind(complaint->text, unexpected_key);
    const char *repeated = behind(complaint->text, repeated_key);
    const unsigned from = complaint->column;
    unsigned line = 0;
    if (unexpected != NULL) {
        line = uvea_yaml_key_line(text, len, unexpected, complaint->line, from > 0 ? from - 1 : 0,
                                  path);
    } else if (repeated != NULL) {
        line = uvea_yaml_key_line(text, len, repeated, complaint->line, from, path);
    } else if (complaint->line == 0 && behind(complaint->text, expecting) != NULL) {
        line = uvea_yaml_line(text, len, "");
    }
    return line != 0 ? line : complaint->line;
}

// ---- the key that was meant

// The fields of the mapping that a value is, or of those that its entries are; NULL for none.
static const cyaml_schema_field_t *fields_of(const cyaml_schema_value_t *value)
{
    if (value->type == CYAML_SEQUENCE) {
        value = value->sequence.entry;
    }
    return value->type == CYAML_MAPPING ? value->mapping.fields : NULL;
}

static const cyaml_schema_field_t *find_field(const cyaml_schema_field_t *fields, const char *key,
                                              size_t chars)
{
    for (; fields->key != NULL; fields++) {
        if (strlen(fields->key) == chars && memcmp(fields->key, key, chars) == 0) {
            return fields;
        }
    }
    return NULL;
}

// Those of the mapping that holds the key at a path such as "requests[3].expect.macth".
static const cyaml_schema_field_t *fields_at(const struct schema *schema, const char *path)
{
    const cyaml_schema_field_t *fields = fields_of(&schema->top);
    for (const char *dot; fields != NULL && (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        const cyaml_schema_field_t *field = find_field(fields, path, strcspn(path, ".["));
        fields = field != NULL ? fields_of(&field->value) : NULL;
    }
    return fields;
}

// Of that mapping's keys the one that was meant, or NULL.
static const char *nearest_key(const struct schema *schema, const char *path, const char *key)
{
    struct uvea_nearest nearest = {.name = key};
    const cyaml_schema_field_t *field = fields_at(schema, path);
    const char *found = NULL;
    for (; field != NULL && field->key != NULL; field++) {
        found = uvea_nearest_try(&nearest, field->key) ? field->key : found;
    }
    return found;
}

// ---- the sentence

static enum uvea_error refuse(const char *name, const char *said, const uint8_t *text, size_t len,
                              const struct schema *schema, const struct complaint *complaint,
                              struct uvea_error_context *context)
{
    char path[UVEA_YAML_PATH_BYTES] = "";
    unsigned line = line_of(complaint, text, len, path);
    if (line == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s: %s", name, said);
    }
    if (behind(said, expecting) != NULL && complaint->field[0] != '\0') {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s:%u: %s: %s", name, line,
                              complaint->field, said);
    }
    const char *key = behind(said, unexpected_key);
    const char *meant = key != NULL ? nearest_key(schema, path, key) : NULL;
    return uvea_error_set(context, UVEA_ERR_FORMAT, "%s:%u: %s%s%s%s", name, line, said,
                          meant != NULL ? "; is " : "", meant != NULL ? meant : "",
                          meant != NULL ? " meant?" : "");
}

static enum uvea_error load(const char *name, const uint8_t *text, size_t len,
                            const struct schema *schema, struct uvea_raw **raw,
                            struct uvea_error_context *context)
{
    struct complaint complaint = {.line = 0};
    const cyaml_config_t config = config_for(&complaint);
    cyaml_data_t *data = NULL;
    cyaml_err_t failure = cyaml_load_data(text, len, &config, &schema->top, &data, NULL);
    if (failure != CYAML_OK) {
        const char *said = complaint.text[0] != '\0' ? complaint.text : cyaml_strerror(failure);
        return refuse(name, said, text, len, schema, &complaint, context);
    }
    *raw = data;
    return UVEA_OK;
}

enum uvea_error uvea_raw_load(const char *name, const uint8_t *text, size_t len,
                              struct uvea_raw **raw, struct uvea_error_context *context)
{
    const char *what = NULL;
    unsigned line = uvea_yaml_unused(text, len, &what);
    if (line != 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s:%u: %s", name, line, what);
    }
    struct schema schema = {0};
    schema_init(&schema);
    return load(name, text, len, &schema, raw, context);
}

void uvea_raw_free(struct uvea_raw *raw)
{
    struct schema schema = {0};
    schema_init(&schema);
    struct complaint complaint = {.line = 0};
    const cyaml_config_t config = config_for(&complaint);
    (void)cyaml_free(&config, &schema.top, raw, 0);
}

const char *uvea_raw_option(const struct uvea_raw *raw, enum uvea_option option)
{
    const char *section = uvea_option_info(option)->section;
    if (strcmp(section, "root") == 0) {
        return raw->options.values[option];
    }
    if (strcmp(section, "templates") == 0) {
        return raw->templates != NULL ? raw->templates->options.values[option] : NULL;
    }
#define SECTION_OPTION(name)                                                                       \
    if (strcmp(section, #name) == 0) {                                                             \
        return raw->name != NULL ? raw->name->values[option] : NULL;                               \
    }
    UVEA_RAW_SECTIONS(SECTION_OPTION)
#undef SECTION_OPTION
    return NULL;
}
