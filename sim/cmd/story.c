#include "core/base/buf.h"
#include "core/base/mem.h"
#include "sim/cmd/explain.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

const char *const uvea_story_lanes[UVEA_STORY_LANES] = {"p0", "p1", "p2", "client"};

// What goes on all the time and tells nothing by itself.
static const char *const everyday[] = {
    "spawn",   "exit",   "sleep", "charge", "timeout", "listen", "dial",
    "connect", "accept", "end",   "shut",   "deliver", NULL,
};

// What is drawn as trouble.
static const char *const troubles[] = {
    "reset", "refuse", "stall", "http-fault", "death", "pause", "stop", NULL,
};

static bool is_one_of(const char *text, const char *const *list)
{
    while (*list != NULL && strcmp(*list, text) != 0) {
        list++;
    }
    return *list != NULL;
}

static unsigned char lane_of(const char *name)
{
    unsigned char lane = 0;
    while (name != NULL && lane < UVEA_STORY_LANES && strcmp(uvea_story_lanes[lane], name) != 0) {
        lane++;
    }
    return name == NULL || lane == UVEA_STORY_LANES ? UVEA_STORY_NO_LANE : lane;
}

// ---- reading: everything first, then backwards through it

// An event of the trace. Deliveries have no text; they are kept for the causes alone.
struct line {
    uint64_t time_ns;
    size_t text_at; // in the texts
    unsigned char lane;
    unsigned char peer;
    bool bad;
    bool delivery;
    bool ends;    // a process: it died, or says why it stopped
    bool commits; // a batch
};

// Lines one after the other in a buffer, and their texts, each with its zero, in another.
struct trace {
    struct uvea_buf lines;
    struct uvea_buf texts;
};

static struct line *line_at(const struct trace *trace, size_t index)
{
    return (struct line *)(void *)trace->lines.data + index;
}

static size_t line_count(const struct trace *trace)
{
    return trace->lines.len / sizeof(struct line);
}

static const char *line_text(const struct trace *trace, const struct line *line)
{
    return (const char *)trace->texts.data + line->text_at;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static enum uvea_error describe(const json_t *object, const char *kind, struct trace *trace,
                                struct line *line)
{
    enum { NOTE_CHARS = 500, OTHER_CHARS = 36 };
    const char *label = text_of(object, "label");
    const char *text = text_of(object, "text");
    const json_int_t amount = json_integer_value(json_object_get(object, "amount"));
    const bool point = strcmp(kind, "point") == 0;
    const bool note = point || strcmp(kind, "note") == 0;
    char number[32] = "";
    char whole[UVEA_STORY_TEXT_BYTES];
    if (!note && amount != 0) {
        (void)snprintf(number, sizeof(number), " %" JSON_INTEGER_FORMAT, amount);
    }
    (void)snprintf(whole, sizeof(whole), "%.12s%.24s%s%.20s%s%.*s", note ? "" : kind, number,
                   !note && label[0] != '\0' ? " " : "", label, text[0] != '\0' ? ": " : "",
                   note ? NOTE_CHARS : OTHER_CHARS, text);
    line->ends = strcmp(label, "stopped") == 0 || strcmp(kind, "death") == 0;
    line->commits = point && strcmp(label, "committed") == 0;
    line->bad = is_one_of(kind, troubles) || line->ends ||
                (strcmp(kind, "http") == 0 && amount >= 400 && amount != 409);
    line->text_at = trace->texts.len;
    return uvea_buf_append(&trace->texts, whole, strlen(whole) + 1);
}

static bool worth_telling(const json_t *object, const char *kind)
{
    const bool answered =
        strcmp(kind, "http") == 0 && json_integer_value(json_object_get(object, "amount")) == 200;
    return !is_one_of(kind, everyday) && !answered;
}

static enum uvea_error read_line(const struct uvea_buf *text, struct trace *trace,
                                 struct uvea_error_context *context)
{
    struct line line = {.delivery = false};
    json_t *object = json_loadb((const char *)text->data, text->len, 0, NULL);
    const char *kind = text_of(object, "kind");
    enum uvea_error error = UVEA_OK;
    if (object == NULL || kind[0] == '\0') {
        error = uvea_error_set(context, UVEA_ERR_FORMAT, "a line of the trace is no event");
        goto cleanup;
    }
    line.time_ns = (uint64_t)json_integer_value(json_object_get(object, "t"));
    line.lane = lane_of(json_string_value(json_object_get(object, "node")));
    line.peer = lane_of(json_string_value(json_object_get(object, "peer")));
    line.delivery = strcmp(kind, "deliver") == 0;
    if (line.lane == UVEA_STORY_NO_LANE || (!line.delivery && !worth_telling(object, kind))) {
        goto cleanup;
    }
    if (!line.delivery) {
        UVEA_TRY_CLEANUP(describe(object, kind, trace, &line));
    }
    error = uvea_buf_append(&trace->lines, &line, sizeof(line));
cleanup:
    json_decref(object);
    return error;
}

static enum uvea_error read_lines(FILE *file, struct trace *trace,
                                  struct uvea_error_context *context)
{
    struct uvea_buf text = {0};
    char part[1024];
    enum uvea_error error = UVEA_OK;
    while (error == UVEA_OK && fgets(part, sizeof(part), file) != NULL) {
        error = uvea_buf_append(&text, part, strlen(part));
        if (error == UVEA_OK && text.data[text.len - 1] == '\n') {
            error = read_line(&text, trace, context);
            uvea_buf_clear(&text);
        }
    }
    if (error == UVEA_OK && text.len > 0) { // the last line, cut short
        error = read_line(&text, trace, context);
    }
    uvea_buf_deinit(&text);
    return error;
}

// From the end backwards: an event counts while its lane is reached; a delivery that counts makes
// everything earlier on the sender's lane count.
static void mark_causes(const struct trace *trace, unsigned char last)
{
    bool reached[UVEA_STORY_LANES] = {false};
    for (size_t i = line_count(trace); i > 0; i--) {
        struct line *line = line_at(trace, i - 1);
        if (!line->delivery && (last == UVEA_STORY_NO_LANE || line->lane == last)) {
            reached[line->lane] = true;
            last = line->lane;
        }
        if (!reached[line->lane]) {
            line->delivery = true; // not told
        } else if (line->delivery && line->peer != UVEA_STORY_NO_LANE) {
            reached[line->peer] = true;
        }
    }
}

// ---- what is told of it

static void tell(const struct trace *trace, const struct line *line, struct uvea_story *story)
{
    struct uvea_story_event *event = &story->events[story->count++];
    *event = (struct uvea_story_event){
        .time_ns = line->time_ns, .lane = line->lane, .peer = line->peer, .bad = line->bad};
    (void)snprintf(event->text, sizeof(event->text), "%s", line_text(trace, line));
}

static bool is_told(const struct uvea_story *story, const char *text)
{
    size_t at = 0;
    while (at < story->count && strcmp(story->events[at].text, text) != 0) {
        at++;
    }
    return at < story->count;
}

// Of the lines before `end`: the first of each kind of end since a batch was last committed.
static void tell_origins(const struct trace *trace, size_t end, struct uvea_story *story)
{
    size_t begin = line_count(trace);
    while (begin > 0 &&
           (line_at(trace, begin - 1)->delivery || !line_at(trace, begin - 1)->commits)) {
        begin--;
    }
    for (size_t i = begin; i < end && story->count < UVEA_STORY_ORIGINS_MAX; i++) {
        const struct line *line = line_at(trace, i);
        if (!line->delivery && line->ends && !is_told(story, line_text(trace, line))) {
            tell(trace, line, story);
        }
    }
    story->origins = story->count;
    story->left_out -= story->origins;
}

static enum uvea_error tell_all(const struct trace *trace, size_t most, struct uvea_story *story)
{
    const size_t lines = line_count(trace);
    size_t told = 0;
    size_t begin = lines; // of the latest
    while (begin > 0 && (told < most || line_at(trace, begin - 1)->delivery)) {
        begin--;
        told += !line_at(trace, begin)->delivery;
    }
    for (size_t i = 0; i < begin; i++) {
        story->left_out += !line_at(trace, i)->delivery;
    }
    story->events = uvea_mem_alloc(told + UVEA_STORY_ORIGINS_MAX, sizeof(*story->events));
    if (story->events == NULL) {
        return UVEA_ERR_MEMORY;
    }
    tell_origins(trace, begin, story);
    for (size_t i = begin; i < lines; i++) {
        if (!line_at(trace, i)->delivery) {
            tell(trace, line_at(trace, i), story);
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_story_read(FILE *file, unsigned char last, size_t most,
                                struct uvea_story *story, struct uvea_error_context *context)
{
    struct trace trace = {.lines = {0}};
    enum uvea_error error;
    *story = (struct uvea_story){.count = 0};
    UVEA_TRY_CLEANUP(read_lines(file, &trace, context));
    mark_causes(&trace, last);
    error = tell_all(&trace, most, story);
cleanup:
    uvea_buf_deinit(&trace.lines);
    uvea_buf_deinit(&trace.texts);
    return error;
}

void uvea_story_deinit(struct uvea_story *story)
{
    uvea_mem_free(story->events);
    *story = (struct uvea_story){.count = 0};
}

// ---- as text

void uvea_story_print(const struct uvea_story *story, FILE *out)
{
    enum { WIDTH = 30 };
    (void)fprintf(out, "%12s", "ms");
    for (unsigned lane = 0; lane < UVEA_STORY_LANES; lane++) {
        (void)fprintf(out, "  %-*s", WIDTH, uvea_story_lanes[lane]);
    }
    (void)fprintf(out, "\n");
    if (story->left_out > 0) {
        (void)fprintf(out, "%12s  (%zu earlier ones)\n", "...", story->left_out);
    }
    for (size_t i = 0; i < story->count; i++) {
        if (i > 0 && i == story->origins) {
            (void)fprintf(out, "%12s  (the latest)\n", "...");
        }
        const struct uvea_story_event *event = &story->events[i];
        char text[UVEA_STORY_TEXT_BYTES + 16];
        (void)snprintf(text, sizeof(text), "%s%s%s%s", event->bad ? "! " : "", event->text,
                       event->peer != UVEA_STORY_NO_LANE ? " <> " : "",
                       event->peer != UVEA_STORY_NO_LANE ? uvea_story_lanes[event->peer] : "");
        (void)fprintf(out, "%8" PRIu64 ".%03u", event->time_ns / 1000000,
                      (unsigned)(event->time_ns / 1000 % 1000));
        for (unsigned lane = 0; lane < event->lane; lane++) {
            (void)fprintf(out, "  %-*s", WIDTH, "|");
        }
        (void)fprintf(out, "  %s\n", text);
    }
}
