#include "sim/live/tree.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/posix/file.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct uvea_tree {
    char file[PATH_MAX];
    struct uvea_buf text;
    yaml_document_t document;
    bool open; // there is a document
};

static yaml_node_t *node_at(const struct uvea_tree *tree, int node)
{
    // libyaml's look-ups take a document that they do not change.
    return yaml_document_get_node((yaml_document_t *)&tree->document, node);
}

enum uvea_error uvea_tree_refuse(const struct uvea_tree *tree, int node, const char *path,
                                 struct uvea_error_context *context, const char *format, ...)
{
    char sentence[256];
    va_list args;
    const yaml_node_t *at = node_at(tree, node);
    va_start(args, format);
    (void)vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return uvea_error_set(context, UVEA_ERR_FORMAT, "%.200s:%zu: %.80s%s%s", tree->file,
                          at != NULL ? at->start_mark.line + 1 : 1, path,
                          path[0] != '\0' ? ": " : "", sentence);
}

// ---- the file

static enum uvea_error refuse_syntax(const struct uvea_tree *tree, const yaml_parser_t *parser,
                                     struct uvea_error_context *context)
{
    const char *problem = parser->problem != NULL ? parser->problem : "out of memory";
    return uvea_error_set(context, UVEA_ERR_FORMAT, "%.200s:%zu: %.200s", tree->file,
                          parser->problem_mark.line + 1, problem);
}

static enum uvea_error refuse_second(struct uvea_tree *tree, yaml_parser_t *parser,
                                     struct uvea_error_context *context)
{
    yaml_document_t second;
    if (yaml_parser_load(parser, &second) == 0) {
        return refuse_syntax(tree, parser, context);
    }
    const bool empty = yaml_document_get_root_node(&second) == NULL;
    const size_t line = second.start_mark.line + 1;
    yaml_document_delete(&second);
    return empty ? UVEA_OK
                 : uvea_error_set(context, UVEA_ERR_FORMAT, "%.200s:%zu: a second document",
                                  tree->file, line);
}

static enum uvea_error load(struct uvea_tree *tree, yaml_parser_t *parser,
                            struct uvea_error_context *context)
{
    yaml_parser_set_input_string(parser, tree->text.data, tree->text.len);
    if (yaml_parser_load(parser, &tree->document) == 0) {
        return refuse_syntax(tree, parser, context);
    }
    tree->open = true;
    if (yaml_document_get_root_node(&tree->document) == NULL) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%.200s: is empty", tree->file);
    }
    return refuse_second(tree, parser, context);
}

static enum uvea_error parse(struct uvea_tree *tree, struct uvea_error_context *context)
{
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "%s: out of memory", tree->file);
    }
    enum uvea_error error = load(tree, &parser, context);
    yaml_parser_delete(&parser);
    return error;
}

enum uvea_error uvea_tree_open(const char *file, struct uvea_tree **tree,
                               struct uvea_error_context *context)
{
    struct uvea_tree *made = uvea_mem_alloc(1, sizeof(*made));
    if (made == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "%s: out of memory", file);
    }
    (void)snprintf(made->file, sizeof(made->file), "%s", file);
    enum uvea_error error = uvea_file_read(file, UVEA_TREE_BYTES_MAX, &made->text, context);
    if (error == UVEA_OK) {
        error = parse(made, context);
    }
    if (error != UVEA_OK) {
        uvea_tree_close(made);
        return error;
    }
    *tree = made;
    return UVEA_OK;
}

void uvea_tree_close(struct uvea_tree *tree)
{
    if (tree == NULL) {
        return;
    }
    if (tree->open) {
        yaml_document_delete(&tree->document);
    }
    uvea_buf_deinit(&tree->text);
    uvea_mem_free(tree);
}

int uvea_tree_root(const struct uvea_tree *tree)
{
    (void)tree;
    return 1; // libyaml numbers nodes from one
}

// ---- values

static const char *text_of(const yaml_node_t *node)
{
    return node != NULL && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
                                                          : NULL;
}

static bool is_whole_text(const yaml_node_t *node)
{
    const char *text = text_of(node);
    return text != NULL && text[0] != '\0' && strlen(text) == node->data.scalar.length;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value)) {
            return false;
        }
    }
    *out = value;
    return value <= max;
}

static enum uvea_error take(const struct uvea_tree *tree, int node, const char *path,
                            const struct uvea_tree_field *field, struct uvea_error_context *context)
{
    const yaml_node_t *value = node_at(tree, node);
    if (field->kind == UVEA_TREE_NODE) {
        *(int *)field->to = node;
        return UVEA_OK;
    }
    if (!is_whole_text(value)) {
        return uvea_tree_refuse(tree, node, path, context, "a single value is wanted");
    }
    if (field->kind == UVEA_TREE_TEXT) {
        *(const char **)field->to = text_of(value);
        return UVEA_OK;
    }
    uint64_t number;
    if (!parse_number(text_of(value), field->max, &number)) {
        return uvea_tree_refuse(tree, node, path, context, "'%.40s' is no number from 0 to %llu",
                                text_of(value), (unsigned long long)field->max);
    }
    *(uint64_t *)field->to = number;
    return UVEA_OK;
}

// ---- mappings

enum { PATH_CHARS = 96 };

static void join(char out[PATH_CHARS], const char *path, const char *key)
{
    (void)snprintf(out, PATH_CHARS, "%s%s%s", path, path[0] != '\0' ? "." : "", key);
}

static size_t field_of(const struct uvea_tree_field *fields, size_t count, const char *key)
{
    size_t i = 0;
    while (i < count && strcmp(fields[i].key, key) != 0) {
        i++;
    }
    return i;
}

static enum uvea_error take_pair(const struct uvea_tree *tree, const yaml_node_pair_t *pair,
                                 const char *path, const struct uvea_tree_field *fields,
                                 size_t count, bool *seen, struct uvea_error_context *context)
{
    char full[PATH_CHARS];
    const char *key = text_of(node_at(tree, pair->key));
    if (key == NULL) {
        return uvea_tree_refuse(tree, pair->key, path, context, "a key must be a plain word");
    }
    const size_t i = field_of(fields, count, key);
    join(full, path, key);
    if (i == count) {
        return uvea_tree_refuse(tree, pair->key, full, context, "no such key");
    }
    if (seen[i]) {
        return uvea_tree_refuse(tree, pair->key, full, context, "given twice");
    }
    seen[i] = true;
    return take(tree, pair->value, full, &fields[i], context);
}

enum uvea_error uvea_tree_read(const struct uvea_tree *tree, int node, const char *path,
                               const struct uvea_tree_field *fields, size_t count,
                               struct uvea_error_context *context)
{
    bool seen[UVEA_TREE_FIELDS_MAX] = {false};
    const yaml_node_t *mapping = node_at(tree, node);
    UVEA_CHECK(count <= UVEA_TREE_FIELDS_MAX);
    if (mapping == NULL || mapping->type != YAML_MAPPING_NODE) {
        return uvea_tree_refuse(tree, node, path, context, "keys with values are wanted");
    }
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        UVEA_TRY(take_pair(tree, pair, path, fields, count, seen, context));
    }
    for (size_t i = 0; i < count; i++) {
        if (fields[i].required && !seen[i]) {
            return uvea_tree_refuse(tree, node, path, context, "%s is missing", fields[i].key);
        }
    }
    return UVEA_OK;
}

int uvea_tree_find(const struct uvea_tree *tree, int node, const char *key)
{
    const yaml_node_t *mapping = node_at(tree, node);
    UVEA_CHECK(mapping != NULL && mapping->type == YAML_MAPPING_NODE);
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const char *found = text_of(node_at(tree, pair->key));
        if (found != NULL && strcmp(found, key) == 0) {
            return pair->value;
        }
    }
    return node;
}

// ---- sequences

enum uvea_error uvea_tree_count(const struct uvea_tree *tree, int node, const char *path,
                                size_t low, size_t high, size_t *count,
                                struct uvea_error_context *context)
{
    const yaml_node_t *sequence = node_at(tree, node);
    if (sequence == NULL || sequence->type != YAML_SEQUENCE_NODE) {
        return uvea_tree_refuse(tree, node, path, context, "a list is wanted");
    }
    const size_t found =
        (size_t)(sequence->data.sequence.items.top - sequence->data.sequence.items.start);
    if (found < low || found > high) {
        return low == high ? uvea_tree_refuse(tree, node, path, context,
                                              "%zu elements are wanted, %zu are there", low, found)
                           : uvea_tree_refuse(tree, node, path, context,
                                              "%zu to %zu elements are wanted, %zu are there", low,
                                              high, found);
    }
    *count = found;
    return UVEA_OK;
}

int uvea_tree_item(const struct uvea_tree *tree, int node, size_t index)
{
    const yaml_node_t *sequence = node_at(tree, node);
    UVEA_CHECK(sequence != NULL && sequence->type == YAML_SEQUENCE_NODE);
    UVEA_CHECK(sequence->data.sequence.items.start + index < sequence->data.sequence.items.top);
    return sequence->data.sequence.items.start[index];
}
