#include "core/base/buf.h"
#include "core/base/mem.h"
#include "sim/cmd/explain.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>

static const char *const lane_names[UVEA_STORY_LANES] = {"p0", "p1", "p2", "client"};

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
    while (name != NULL && lane < UVEA_STORY_LANES && strcmp(lane_names[lane], name) != 0) {
        lane++;
    }
    return name == NULL || lane == UVEA_STORY_LANES ? UVEA_STORY_NO_LANE : lane;
}

// ---- reading: everything first, then backwards through it

// An event of the trace. Deliveries have no text; they are kept for the causes alone.
struct line {
    struct uvea_story_event event;
    bool delivery;
};

// Lines one after the other in a buffer.
static struct line *line_at(const struct uvea_buf *lines, size_t index)
{
    return (struct line *)(void *)lines->data + index;
}

static size_t line_count(const struct uvea_buf *lines)
{
    return lines->len / sizeof(struct line);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static void describe(const json_t *object, const char *kind, struct uvea_story_event *event)
{
    const char *label = text_of(object, "label");
    const char *text = text_of(object, "text");
    const json_int_t amount = json_integer_value(json_object_get(object, "amount"));
    const bool note = strcmp(kind, "note") == 0 || strcmp(kind, "point") == 0;
    char number[32] = "";
    if (!note && amount != 0) {
        (void)snprintf(number, sizeof(number), " %" JSON_INTEGER_FORMAT, amount);
    }
    (void)snprintf(event->text, sizeof(event->text), "%.12s%.24s%s%.20s%s%.36s", note ? "" : kind,
                   number, !note && label[0] != '\0' ? " " : "", label, text[0] != '\0' ? ": " : "",
                   text);
    event->bad = is_one_of(kind, troubles) || strcmp(label, "stopped") == 0 ||
                 (strcmp(kind, "http") == 0 && amount >= 400 && amount != 409);
}

static bool worth_telling(const json_t *object, const char *kind)
{
    const bool answered =
        strcmp(kind, "http") == 0 && json_integer_value(json_object_get(object, "amount")) == 200;
    return !is_one_of(kind, everyday) && !answered;
}

static enum uvea_error read_line(const struct uvea_buf *text, struct uvea_buf *lines,
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
    line.event.time_ns = (uint64_t)json_integer_value(json_object_get(object, "t"));
    line.event.lane = lane_of(json_string_value(json_object_get(object, "node")));
    line.event.peer = lane_of(json_string_value(json_object_get(object, "peer")));
    line.delivery = strcmp(kind, "deliver") == 0;
    if (line.event.lane == UVEA_STORY_NO_LANE || (!line.delivery && !worth_telling(object, kind))) {
        goto cleanup;
    }
    if (!line.delivery) {
        describe(object, kind, &line.event);
    }
    error = uvea_buf_append(lines, &line, sizeof(line));
cleanup:
    json_decref(object);
    return error;
}

static enum uvea_error read_lines(FILE *trace, struct uvea_buf *lines,
                                  struct uvea_error_context *context)
{
    struct uvea_buf text = {0};
    char part[1024];
    enum uvea_error error = UVEA_OK;
    while (error == UVEA_OK && fgets(part, sizeof(part), trace) != NULL) {
        error = uvea_buf_append(&text, part, strlen(part));
        if (error == UVEA_OK && text.data[text.len - 1] == '\n') {
            error = read_line(&text, lines, context);
            uvea_buf_clear(&text);
        }
    }
    if (error == UVEA_OK && text.len > 0) { // the last line, cut short
        error = read_line(&text, lines, context);
    }
    uvea_buf_deinit(&text);
    return error;
}

// From the end backwards: an event counts while its lane is reached; a delivery that counts makes
// everything earlier on the sender's lane count.
static void mark_causes(struct uvea_buf *lines, unsigned char last)
{
    bool reached[UVEA_STORY_LANES] = {false};
    for (size_t i = line_count(lines); i > 0; i--) {
        struct line *line = line_at(lines, i - 1);
        const struct uvea_story_event *event = &line->event;
        if (!line->delivery && (last == UVEA_STORY_NO_LANE || event->lane == last)) {
            reached[event->lane] = true;
            last = event->lane;
        }
        if (!reached[event->lane]) {
            line->delivery = true; // not told
        } else if (line->delivery && event->peer != UVEA_STORY_NO_LANE) {
            reached[event->peer] = true;
        }
    }
}

enum uvea_error uvea_story_read(FILE *trace, unsigned char last, size_t most,
                                struct uvea_story *story, struct uvea_error_context *context)
{
    struct uvea_buf lines = {0};
    size_t told = 0;
    enum uvea_error error;
    *story = (struct uvea_story){.count = 0};
    UVEA_TRY_CLEANUP(read_lines(trace, &lines, context));
    mark_causes(&lines, last);
    for (size_t i = 0; i < line_count(&lines); i++) {
        told += !line_at(&lines, i)->delivery;
    }
    story->left_out = told > most ? told - most : 0;
    story->events = uvea_mem_alloc(told - story->left_out, sizeof(*story->events));
    if (story->events == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    told = 0;
    for (size_t i = 0; i < line_count(&lines); i++) {
        if (!line_at(&lines, i)->delivery && told++ >= story->left_out) {
            story->events[story->count++] = line_at(&lines, i)->event;
        }
    }
cleanup:
    uvea_buf_deinit(&lines);
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
        (void)fprintf(out, "  %-*s", WIDTH, lane_names[lane]);
    }
    (void)fprintf(out, "\n");
    if (story->left_out > 0) {
        (void)fprintf(out, "%12s  (%zu earlier ones)\n", "...", story->left_out);
    }
    for (size_t i = 0; i < story->count; i++) {
        const struct uvea_story_event *event = &story->events[i];
        char text[UVEA_STORY_TEXT_BYTES + 16];
        (void)snprintf(text, sizeof(text), "%s%s%s%s", event->bad ? "! " : "", event->text,
                       event->peer != UVEA_STORY_NO_LANE ? " <> " : "",
                       event->peer != UVEA_STORY_NO_LANE ? lane_names[event->peer] : "");
        (void)fprintf(out, "%8" PRIu64 ".%03u", event->time_ns / 1000000,
                      (unsigned)(event->time_ns / 1000 % 1000));
        for (unsigned lane = 0; lane < event->lane; lane++) {
            (void)fprintf(out, "  %-*s", WIDTH, "|");
        }
        (void)fprintf(out, "  %s\n", text);
    }
}

// ---- as a drawing

UVEA_PRINTF(2, 3)
static enum uvea_error put(struct uvea_buf *svg, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return len < 0 || (size_t)len >= sizeof(text) ? UVEA_ERR_LIMIT
                                                  : uvea_buf_append(svg, text, (size_t)len);
}

static bool is_plain(char c)
{
    return c >= ' ' && c <= '~';
}

static enum uvea_error put_escaped(struct uvea_buf *svg, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            UVEA_TRY(put(svg, "&lt;"));
            break;
        case '>':
            UVEA_TRY(put(svg, "&gt;"));
            break;
        case '&':
            UVEA_TRY(put(svg, "&amp;"));
            break;
        default:
            // What XML forbids, and what a cut may have left of a longer character.
            UVEA_TRY(uvea_buf_append(svg, is_plain(*text) ? text : "?", 1));
            break;
        }
    }
    return UVEA_OK;
}

enum {
    LEFT = 110,
    LANE = 280,
    TOP = 70,
    ROW = 20,
};

static int lane_x(unsigned lane)
{
    return LEFT + (int)lane * LANE;
}

static enum uvea_error draw_event(const struct uvea_story_event *event, size_t row,
                                  struct uvea_buf *svg)
{
    const int y = TOP + 20 + (int)row * ROW;
    const int x = lane_x(event->lane);
    const char *colour = event->bad ? "#b3261e" : "#1a5fb4";
    UVEA_TRY(put(svg, "<text x=\"8\" y=\"%d\" class=\"t\">%" PRIu64 ".%03u</text>\n", y + 4,
                 event->time_ns / 1000000, (unsigned)(event->time_ns / 1000 % 1000)));
    if (event->peer != UVEA_STORY_NO_LANE) {
        UVEA_TRY(put(svg,
                     "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" "
                     "stroke-dasharray=\"3 3\"/>\n",
                     lane_x(event->peer), y, x, y, colour));
    }
    UVEA_TRY(put(svg, "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n", x, y, colour));
    UVEA_TRY(put(svg, "<text x=\"%d\" y=\"%d\" fill=\"%s\">", x + 8, y + 4, colour));
    UVEA_TRY(put_escaped(svg, event->text));
    return put(svg, "</text>\n");
}

enum uvea_error uvea_story_draw(const struct uvea_story *story, const char *title,
                                struct uvea_buf *svg)
{
    const int height = TOP + 60 + (int)story->count * ROW;
    UVEA_TRY(put(svg,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                 "font-family=\"monospace\" font-size=\"11\">\n"
                 "<style>.t{fill:#666}</style>\n<rect width=\"100%%\" height=\"100%%\" "
                 "fill=\"#fff\"/>\n<text x=\"8\" y=\"22\" font-size=\"14\">",
                 LEFT + UVEA_STORY_LANES * LANE + 40, height));
    UVEA_TRY(put_escaped(svg, title));
    UVEA_TRY(put(svg, "</text>\n"));
    for (unsigned lane = 0; lane < UVEA_STORY_LANES; lane++) {
        UVEA_TRY(put(svg,
                     "<text x=\"%d\" y=\"%d\" font-size=\"13\">%s</text>\n<line x1=\"%d\" "
                     "y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#bbb\"/>\n",
                     lane_x(lane) - 8, TOP - 8, lane_names[lane], lane_x(lane), TOP, lane_x(lane),
                     height - 20));
    }
    if (story->left_out > 0) {
        UVEA_TRY(put(svg, "<text x=\"8\" y=\"%d\" class=\"t\">%zu earlier ones left out</text>\n",
                     TOP + 4, story->left_out));
    }
    for (size_t i = 0; i < story->count; i++) {
        UVEA_TRY(draw_event(&story->events[i], i, svg));
    }
    return put(svg, "</svg>\n");
}
