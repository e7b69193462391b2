// A story as a drawing: four lanes, time from top to bottom.
#include "core/base/buf.h"
#include "sim/cmd/explain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

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

static enum uvea_error put_escaped(struct uvea_buf *svg, const char *text, size_t len)
{
    for (const char *end = text + len; text < end; text++) {
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
    LINE = 14,       // from one line of an event's text to the next
    LANE_CHARS = 38, // of an event's text on a line
    TITLE_LINE = 18,
    TITLE_CHARS = 140,
};

// How much of the text stands on its first line of so many characters: up to a blank if there is
// one.
static size_t line_chars(const char *text, size_t chars)
{
    const size_t len = strlen(text);
    size_t at = chars;
    if (len <= chars) {
        return len;
    }
    while (at > 0 && text[at] != ' ') {
        at--;
    }
    return at > 0 ? at : chars;
}

static const char *next_line(const char *text, size_t chars)
{
    text += line_chars(text, chars);
    return *text == ' ' ? text + 1 : text;
}

static int count_lines(const char *text, size_t chars)
{
    int lines = 0;
    do {
        lines++;
        text = next_line(text, chars);
    } while (*text != '\0');
    return lines;
}

static int lane_x(unsigned lane)
{
    return LEFT + (int)lane * LANE;
}

static int event_height(const struct uvea_story_event *event)
{
    return ROW + (count_lines(event->text, LANE_CHARS) - 1) * LINE;
}

// Line for line; attributes: of each.
static enum uvea_error draw_text(const char *text, size_t chars, int x, int y, int step,
                                 const char *attributes, struct uvea_buf *svg)
{
    do {
        UVEA_TRY(put(svg, "<text x=\"%d\" y=\"%d\" %s>", x, y, attributes));
        UVEA_TRY(put_escaped(svg, text, line_chars(text, chars)));
        UVEA_TRY(put(svg, "</text>\n"));
        text = next_line(text, chars);
        y += step;
    } while (*text != '\0');
    return UVEA_OK;
}

static enum uvea_error draw_event(const struct uvea_story_event *event, int y, struct uvea_buf *svg)
{
    const int x = lane_x(event->lane);
    const char *colour = event->bad ? "#b3261e" : "#1a5fb4";
    char attributes[32];
    (void)snprintf(attributes, sizeof(attributes), "fill=\"%s\"", colour);
    UVEA_TRY(put(svg, "<text x=\"8\" y=\"%d\" class=\"t\">%" PRIu64 ".%03u</text>\n", y + 4,
                 event->time_ns / 1000000, (unsigned)(event->time_ns / 1000 % 1000)));
    if (event->peer != UVEA_STORY_NO_LANE) {
        UVEA_TRY(put(svg,
                     "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" "
                     "stroke-dasharray=\"3 3\"/>\n",
                     lane_x(event->peer), y, x, y, colour));
    }
    UVEA_TRY(put(svg, "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n", x, y, colour));
    return draw_text(event->text, LANE_CHARS, x + 8, y + 4, LINE, attributes, svg);
}

// How far it is from the first event to behind the last one.
static int events_height(const struct uvea_story *story)
{
    int height = story->origins > 0 ? ROW : 0;
    for (size_t i = 0; i < story->count; i++) {
        height += event_height(&story->events[i]);
    }
    return height;
}

static enum uvea_error draw_events(const struct uvea_story *story, int y, struct uvea_buf *svg)
{
    for (size_t i = 0; i < story->count; i++) {
        if (i > 0 && i == story->origins) {
            UVEA_TRY(put(svg, "<text x=\"8\" y=\"%d\" class=\"t\">the latest:</text>\n", y + 4));
            y += ROW;
        }
        UVEA_TRY(draw_event(&story->events[i], y, svg));
        y += event_height(&story->events[i]);
    }
    return UVEA_OK;
}

static enum uvea_error draw_lanes(int top, int bottom, struct uvea_buf *svg)
{
    for (unsigned lane = 0; lane < UVEA_STORY_LANES; lane++) {
        UVEA_TRY(put(svg,
                     "<text x=\"%d\" y=\"%d\" font-size=\"13\">%s</text>\n<line x1=\"%d\" "
                     "y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#bbb\"/>\n",
                     lane_x(lane) - 8, top - 8, uvea_story_lanes[lane], lane_x(lane), top,
                     lane_x(lane), bottom));
    }
    return UVEA_OK;
}

enum uvea_error uvea_story_draw(const struct uvea_story *story, const char *title,
                                struct uvea_buf *svg)
{
    const int top = TOP + (count_lines(title, TITLE_CHARS) - 1) * TITLE_LINE;
    const int height = top + 60 + events_height(story);
    UVEA_TRY(put(svg,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                 "font-family=\"monospace\" font-size=\"11\">\n"
                 "<style>.t{fill:#666}</style>\n<rect width=\"100%%\" height=\"100%%\" "
                 "fill=\"#fff\"/>\n",
                 LEFT + UVEA_STORY_LANES * LANE + 40, height));
    UVEA_TRY(draw_text(title, TITLE_CHARS, 8, 22, TITLE_LINE, "font-size=\"14\"", svg));
    if (story->left_out > 0) {
        UVEA_TRY(put(svg, "<text x=\"8\" y=\"%d\" class=\"t\">%zu earlier ones left out</text>\n",
                     top - 28, story->left_out));
    }
    UVEA_TRY(draw_lanes(top, height - 20, svg));
    UVEA_TRY(draw_events(story, top + 20, svg));
    return put(svg, "</svg>\n");
}
