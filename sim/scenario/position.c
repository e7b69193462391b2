#include "sim/scenario/position.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum {
    DEPTH_MAX = 16, // a scenario nests four deep
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
    char path[UVEA_YAML_PATH_BYTES];
    const char *wanted_path; // or NULL
    const char *wanted_key;  // or NULL
    unsigned from_line;
    unsigned from_column;
    bool wants_unused;  // what a scenario does not use of YAML
    const char *unused; // its name
    unsigned documents;
    const struct entries *entries; // or NULL
    unsigned found;
};

// Where lines of a list's entries go.
struct entries {
    const char *list;
    const char *field;
    unsigned *lines;
    size_t count;
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

// The path is "list[i]" or "list[i].field"; the second comes later and stands.
static void see_entry(const struct entries *entries, const char *path, unsigned line)
{
    const size_t len = strlen(entries->list);
    unsigned index = 0;
    int used = 0;
    if (strncmp(path, entries->list, len) != 0 ||
        sscanf(path + len, "[%u]%n", &index, &used) != 1 || used == 0 || index >= entries->count) {
        return;
    }
    const char *rest = path + len + used;
    if (rest[0] == '\0' || (rest[0] == '.' && strcmp(rest + 1, entries->field) == 0)) {
        entries->lines[index] = line;
    }
}

static void see_value(struct walk *walk, unsigned line)
{
    if (walk->entries != NULL) {
        see_entry(walk->entries, walk->path, line);
    }
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

static const char *unused_scalar(const yaml_event_t *event, bool is_key)
{
    const char *value = (const char *)event->data.scalar.value;
    if (event->data.scalar.anchor != NULL) {
        return "an anchor (&); a scenario has none";
    }
    if (strlen(value) != event->data.scalar.length) {
        return "a NUL in a text";
    }
    return is_key && strcmp(value, "<<") == 0 ? "a merge key (<<); a scenario has none" : NULL;
}

static const char *unused_of(const struct walk *walk, const yaml_event_t *event)
{
    const struct level *level = walk->depth > 0 ? &walk->levels[walk->depth - 1] : NULL;
    const char *anchor = "an anchor (&); a scenario has none";
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return unused_scalar(event, level != NULL && level->mapping && level->key_next);
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor != NULL ? anchor : NULL;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor != NULL ? anchor : NULL;
    case YAML_ALIAS_EVENT:
        return "an alias (*); a scenario has none";
    case YAML_DOCUMENT_START_EVENT:
        return walk->documents == 1 ? "a second document; a scenario is one" : NULL;
    default:
        return NULL;
    }
}

// Returns false when the walk is over.
static bool see_event(struct walk *walk, const yaml_event_t *event)
{
    unsigned line = (unsigned)event->start_mark.line + 1;
    walk->unused = walk->wants_unused ? unused_of(walk, event) : NULL;
    if (walk->unused != NULL) {
        walk->found = line;
        return false;
    }
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
                            unsigned column, char path[UVEA_YAML_PATH_BYTES])
{
    struct walk walk = {.wanted_key = key, .from_line = line, .from_column = column};
    const unsigned found = search(&walk, text, len);
    if (found != 0) {
        memcpy(path, walk.path, sizeof(walk.path));
    }
    return found;
}

unsigned uvea_yaml_unused(const uint8_t *text, size_t len, const char **what)
{
    struct walk walk = {.wants_unused = true};
    const unsigned line = search(&walk, text, len);
    *what = walk.unused;
    return line;
}

void uvea_yaml_entry_lines(const uint8_t *text, size_t len, const char *list, const char *field,
                           unsigned *lines, size_t count)
{
    const struct entries entries = {.list = list, .field = field, .lines = lines, .count = count};
    struct walk walk = {.entries = &entries};
    (void)search(&walk, text, len);
}
