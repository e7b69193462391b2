#include "sim/scenario/position.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum {
    DEPTH_MAX = 16, // a scenario nests four deep
    PATH_MAX_BYTES = 256,
};

// One open mapping or sequence.
struct level {
    size_t path_len; // length of the path up to here
    bool mapping;
    bool key_next;
    unsigned index;
};

struct walk {
    yaml_parser_t parser;
    struct level levels[DEPTH_MAX];
    unsigned depth;
    char path[PATH_MAX_BYTES];
    const char *wanted_path; // or NULL
    const char *wanted_key;  // or NULL
    unsigned from_line;
    unsigned from_column;
    bool wants_document; // the second one
    unsigned documents;
    unsigned found;
};

// Replaces what follows the first `at` characters of the path by a key or an index.
static void path_put_key(struct walk *walk, size_t at, const char *key)
{
    (void)snprintf(walk->path + at, sizeof(walk->path) - at, at > 0 ? ".%.64s" : "%.64s", key);
}

static void path_put_index(struct walk *walk, size_t at, unsigned index)
{
    (void)snprintf(walk->path + at, sizeof(walk->path) - at, "[%u]", index);
}

// Called at the start of each value: extends the path by an index when it stands in a sequence.
static void enter_value(struct walk *walk)
{
    if (walk->depth == 0) {
        return;
    }
    struct level *level = &walk->levels[walk->depth - 1];
    if (level->mapping) {
        level->key_next = true;
    } else {
        path_put_index(walk, level->path_len, level->index++);
    }
}

static bool is_behind(const struct walk *walk, unsigned line, unsigned column)
{
    return line > walk->from_line || (line == walk->from_line && column > walk->from_column);
}

static void see_key(struct walk *walk, const char *key, unsigned line, unsigned column)
{
    struct level *level = &walk->levels[walk->depth - 1];
    level->key_next = false;
    path_put_key(walk, level->path_len, key);
    if (walk->wanted_key != NULL && is_behind(walk, line, column) &&
        strcmp(key, walk->wanted_key) == 0) {
        walk->found = line;
    }
}

static void see_value(struct walk *walk, unsigned line)
{
    if (walk->wanted_path != NULL && strcmp(walk->path, walk->wanted_path) == 0) {
        walk->found = line;
    }
}

static bool open_level(struct walk *walk, bool mapping)
{
    if (walk->depth == DEPTH_MAX) {
        return false;
    }
    walk->levels[walk->depth++] =
        (struct level){.path_len = strlen(walk->path), .mapping = mapping, .key_next = mapping};
    return true;
}

static void close_level(struct walk *walk)
{
    if (walk->depth > 0) {
        walk->depth--;
        walk->path[walk->levels[walk->depth].path_len] = '\0';
    }
}

// Returns false when the walk is over.
static bool see_event(struct walk *walk, const yaml_event_t *event)
{
    unsigned line = (unsigned)event->start_mark.line + 1;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        if (walk->depth > 0 && walk->levels[walk->depth - 1].mapping &&
            walk->levels[walk->depth - 1].key_next) {
            see_key(walk, (const char *)event->data.scalar.value, line,
                    (unsigned)event->start_mark.column + 1);
        } else {
            enter_value(walk);
            see_value(walk, line);
        }
        break;
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        enter_value(walk);
        see_value(walk, line);
        if (!open_level(walk, event->type == YAML_MAPPING_START_EVENT)) {
            return false;
        }
        break;
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        close_level(walk);
        break;
    case YAML_DOCUMENT_START_EVENT:
        walk->documents++;
        if (walk->wants_document && walk->documents == 2) {
            walk->found = line;
        }
        break;
    case YAML_STREAM_END_EVENT:
    case YAML_NO_EVENT:
        return false;
    default:
        break;
    }
    return walk->found == 0;
}

static unsigned search(struct walk *walk, const uint8_t *text, size_t len)
{
    if (yaml_parser_initialize(&walk->parser) == 0) {
        return 0;
    }
    yaml_parser_set_input_string(&walk->parser, text, len);
    bool more = true;
    while (more) {
        yaml_event_t event;
        if (yaml_parser_parse(&walk->parser, &event) == 0) {
            break;
        }
        more = see_event(walk, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&walk->parser);
    return walk->found;
}

unsigned uvea_yaml_line(const uint8_t *text, size_t len, const char *path)
{
    struct walk walk = {.wanted_path = path};
    return search(&walk, text, len);
}

unsigned uvea_yaml_key_line(const uint8_t *text, size_t len, const char *key, unsigned line,
                            unsigned column)
{
    struct walk walk = {.wanted_key = key, .from_line = line, .from_column = column};
    return search(&walk, text, len);
}

unsigned uvea_yaml_second_document(const uint8_t *text, size_t len)
{
    struct walk walk = {.wants_document = true};
    return search(&walk, text, len);
}
