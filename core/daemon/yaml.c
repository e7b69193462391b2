#include "core/daemon/yaml.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

static const char want_list[] = "want a list of three values, one for each party";

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; // the one in hand
    const char *name;
    uvea_yaml_fn *fn;
    void *arg;
    struct uvea_complaints *complaints;
    unsigned seen[UVEA_KEY_COUNT];         // line of each key, 0 for none
    unsigned section_seen[UVEA_KEY_COUNT]; // line of a section, at its first key
    char path[2 * UVEA_KEY_CHARS_MAX];     // of the key in hand
    bool failed;
};

static unsigned line_of(const struct reader *reader)
{
    return (unsigned)reader->event.start_mark.line + 1;
}

// ---- events

static void complain_of_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "out of memory";

    if (parser->error == YAML_READER_ERROR) {
        uvea_complain(reader->complaints, "%s: byte %zu: %s", reader->name, parser->problem_offset,
                      problem);
    } else {
        uvea_complain(reader->complaints, "%s:%zu: %s", reader->name, parser->problem_mark.line + 1,
                      problem);
    }
}

// Takes the next event in hand; false at a syntax error, which ends the reading.
static bool next(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    if (!reader->failed && yaml_parser_parse(&reader->parser, &reader->event) == 0) {
        complain_of_syntax(reader);
        reader->failed = true;
    }
    reader->failed = reader->failed || reader->event.type == YAML_NO_EVENT; // behind the end
    return !reader->failed;
}

// Passes over one event to the one behind it.
static bool next_but_one(struct reader *reader)
{
    if (!next(reader)) {
        return false;
    }
    return next(reader);
}

static bool is_open(const yaml_event_t *event)
{
    return event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
}

static bool is_close(const yaml_event_t *event)
{
    return event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
}

// Passes over the value in hand, however deep.
static bool skip(struct reader *reader)
{
    size_t depth = 0;

    for (;;) {
        depth += is_open(&reader->event) ? 1 : 0;
        depth -= is_close(&reader->event) ? 1 : 0;
        if (depth == 0) {
            return true;
        }
        if (!next(reader)) {
            return false;
        }
    }
}

static bool refuse(struct reader *reader, const char *sentence)
{
    uvea_complain(reader->complaints, "%s:%u: %s%s%s", reader->name, line_of(reader), reader->path,
                  reader->path[0] != '\0' ? ": " : "", sentence);
    return skip(reader);
}

// What makes a value mean something else than it says.
static const char *oddity(const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL;
    const yaml_char_t *tag = NULL;

    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return "an alias; write the value out";
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        break;
    }
    if (anchor != NULL) {
        return "an anchor; values are not named";
    }
    return tag != NULL ? "a tag; values have no types of their own" : NULL;
}

// ---- values

static const char *fault_of_scalar(const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    const bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

    if (strlen(value) != event->data.scalar.length) {
        return "holds a NUL character";
    }
    if (plain && (value[0] == '\0' || strcmp(value, "~") == 0 || strcmp(value, "null") == 0)) {
        return "has no value";
    }
    return NULL;
}

static bool read_scalar(struct reader *reader, enum uvea_key key)
{
    const char *value;
    const char *fault;

    if (reader->event.type != YAML_SCALAR_EVENT) {
        return refuse(reader, "want one value");
    }
    fault = fault_of_scalar(&reader->event);
    if (fault != NULL) {
        return refuse(reader, fault);
    }
    value = (const char *)reader->event.data.scalar.value;
    reader->fn(reader->arg, key, line_of(reader), &value, 1);
    return true;
}

struct list {
    yaml_event_t elements[UVEA_PARTY_COUNT]; // owned
    const char *texts[UVEA_PARTY_COUNT];
    size_t count;
    const char *fault; // the first that was found, or NULL
};

static const char *fault_of_element(const yaml_event_t *event, const struct list *list)
{
    const char *odd = oddity(event);

    if (odd != NULL) {
        return odd;
    }
    if (event->type != YAML_SCALAR_EVENT || list->count == UVEA_PARTY_COUNT) {
        return want_list;
    }
    return fault_of_scalar(event);
}

// Takes the element in hand over, or passes over it when it is no good.
static bool take_element(struct reader *reader, struct list *list)
{
    const char *fault = fault_of_element(&reader->event, list);

    if (fault != NULL) {
        list->fault = list->fault != NULL ? list->fault : fault;
        return skip(reader);
    }
    list->elements[list->count] = reader->event;
    list->texts[list->count] = (const char *)reader->event.data.scalar.value;
    list->count++;
    memset(&reader->event, 0, sizeof(reader->event));
    return true;
}

// Up to the end of the list; its start is in hand.
static bool take_list(struct reader *reader, struct list *list)
{
    while (next(reader)) {
        if (reader->event.type == YAML_SEQUENCE_END_EVENT) {
            return true;
        }
        if (!take_element(reader, list)) {
            return false;
        }
    }
    return false;
}

static bool read_list(struct reader *reader, enum uvea_key key)
{
    struct list list = {.fault = NULL};
    const unsigned line = line_of(reader);
    bool good;

    if (reader->event.type != YAML_SEQUENCE_START_EVENT) {
        return refuse(reader, want_list);
    }
    good = take_list(reader, &list);
    if (good && list.fault != NULL) {
        uvea_complain(reader->complaints, "%s:%u: %s: %s", reader->name, line, reader->path,
                      list.fault);
    } else if (good) {
        reader->fn(reader->arg, key, line, list.texts, list.count);
    }
    for (size_t i = 0; i < list.count; i++) {
        yaml_event_delete(&list.elements[i]);
    }
    return good;
}

static bool read_value(struct reader *reader, enum uvea_key key)
{
    const char *odd = oddity(&reader->event);

    if (odd != NULL) {
        return refuse(reader, odd);
    }
    return uvea_key_is_list(key) ? read_list(reader, key) : read_scalar(reader, key);
}

// ---- keys

static bool refuse_unknown(struct reader *reader, unsigned line)
{
    bool section = false;
    const enum uvea_key nearest = uvea_key_nearest(reader->path, &section);
    char name[UVEA_KEY_CHARS_MAX];

    if (nearest == UVEA_KEY_COUNT) {
        uvea_complain(reader->complaints, "%s:%u: no such key: %.64s", reader->name, line,
                      reader->path);
    } else {
        uvea_key_name(nearest, name);
        uvea_complain(reader->complaints, "%s:%u: no such key: %.64s; is %s meant?", reader->name,
                      line, reader->path, section ? uvea_key_info(nearest)->section : name);
    }
    return skip(reader);
}

static bool refuse_repeated(struct reader *reader, unsigned line, unsigned first)
{
    uvea_complain(reader->complaints, "%s:%u: %s: given already in line %u", reader->name, line,
                  reader->path, first);
    return skip(reader);
}

// The value of a key is in hand.
static bool read_key(struct reader *reader, unsigned line)
{
    const enum uvea_key key = uvea_key_find(reader->path);

    if (key == UVEA_KEY_COUNT) {
        return refuse_unknown(reader, line);
    }
    if (reader->seen[key] != 0) {
        return refuse_repeated(reader, line, reader->seen[key]);
    }
    reader->seen[key] = line;
    return read_value(reader, key);
}

// Takes a key in hand into path, behind what stands there up to `prefix`.
static bool take_key(struct reader *reader, size_t prefix)
{
    const bool scalar = reader->event.type == YAML_SCALAR_EVENT && oddity(&reader->event) == NULL;
    const char *name = scalar ? (const char *)reader->event.data.scalar.value : "";
    const bool good = scalar && name[0] != '\0' && strchr(name, '.') == NULL;

    (void)snprintf(reader->path + prefix, sizeof(reader->path) - prefix, "%s%.63s",
                   prefix > 0 ? "." : "", name);
    return good;
}

// A key that is none is passed over with its value.
static bool refuse_key(struct reader *reader, size_t prefix)
{
    reader->path[prefix] = '\0';
    return refuse(reader, "a key must be a plain word") && next(reader) && skip(reader);
}

// The keys of a section; its mapping's start is in hand.
static bool read_section(struct reader *reader)
{
    const size_t prefix = strlen(reader->path);

    while (next(reader) && reader->event.type != YAML_MAPPING_END_EVENT) {
        const unsigned line = line_of(reader);
        const bool good = take_key(reader, prefix) ? next(reader) && read_key(reader, line)
                                                   : refuse_key(reader, prefix);

        if (!good) {
            return false;
        }
    }
    return !reader->failed;
}

// The place where a section is remembered: that of its first key.
static unsigned *section_seen(struct reader *reader)
{
    unsigned key = 0;

    while (strcmp(uvea_key_info((enum uvea_key)key)->section, reader->path) != 0) {
        key++;
    }
    return &reader->section_seen[key];
}

// What belongs to a section is in hand.
static bool open_section(struct reader *reader, unsigned line)
{
    unsigned *seen = section_seen(reader);
    const char *odd = oddity(&reader->event);

    if (*seen != 0) {
        return refuse_repeated(reader, line, *seen);
    }
    *seen = line;
    if (odd != NULL) {
        return refuse(reader, odd);
    }
    if (reader->event.type != YAML_MAPPING_START_EVENT) {
        return refuse(reader, "a section; its keys stand indented below");
    }
    return read_section(reader);
}

// Every key of it; its mapping's start is in hand.
static bool read_root(struct reader *reader)
{
    while (next(reader) && reader->event.type != YAML_MAPPING_END_EVENT) {
        const unsigned line = line_of(reader);
        bool good = take_key(reader, 0);

        if (!good) {
            good = refuse_key(reader, 0);
        } else if (!next(reader)) {
            return false;
        } else if (uvea_key_is_section(reader->path)) {
            good = open_section(reader, line);
        } else {
            good = read_key(reader, line);
        }
        if (!good) {
            return false;
        }
    }
    return !reader->failed;
}

// ---- the document

static bool read_document(struct reader *reader)
{
    const char *odd;

    if (!next(reader)) {
        return false;
    }
    odd = oddity(&reader->event);
    if (odd != NULL) {
        (void)refuse(reader, odd);
        return false;
    }
    if (reader->event.type != YAML_MAPPING_START_EVENT) {
        (void)refuse(reader, "want sections and keys");
        return false;
    }
    return read_root(reader);
}

static bool read_stream(struct reader *reader)
{
    if (!next_but_one(reader)) { // the stream's start, then the document's
        return false;
    }
    if (reader->event.type == YAML_STREAM_END_EVENT) {
        uvea_complain(reader->complaints, "%s: is empty", reader->name);
        return false;
    }
    if (!read_document(reader)) {
        return false;
    }
    reader->path[0] = '\0';
    if (next_but_one(reader) && reader->event.type != YAML_STREAM_END_EVENT) {
        uvea_complain(reader->complaints, "%s:%u: a second document", reader->name,
                      line_of(reader));
    }
    return !reader->failed;
}

bool uvea_yaml_read(const char *name, const uint8_t *text, size_t bytes, uvea_yaml_fn *fn,
                    void *arg, struct uvea_complaints *complaints)
{
    struct reader reader = {.name = name, .fn = fn, .arg = arg, .complaints = complaints};

    if (yaml_parser_initialize(&reader.parser) == 0) {
        uvea_complain(complaints, "%s: %s", name, uvea_error_text(UVEA_ERR_MEMORY));
        return false;
    }
    yaml_parser_set_input_string(&reader.parser, text, bytes);
    const bool whole = read_stream(&reader);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    return whole;
}
