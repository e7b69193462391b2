#include "sim/live/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BARS = 32, BAR_WIDTH = 20, BAR_HEIGHT = 160, LINE_CHARS = 600 };

// A page in the making; what could not be put is kept for the end.
struct page {
    struct uvea_buf *html;
    enum uvea_error error;
};

static void put(struct page *page, const char *text, size_t bytes)
{
    if (page->error == UVEA_OK) {
        page->error = uvea_buf_append(page->html, text, bytes);
    }
}

// Markup of this file's own, numbers among it.
UVEA_PRINTF(2, 3)
static void mark(struct page *page, const char *format, ...)
{
    char line[LINE_CHARS];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    put(page, line, strlen(line));
}

// Anything else: what could be read as markup is not.
static void show(struct page *page, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        switch (text[i]) {
        case '&':
            put(page, "&amp;", 5);
            break;
        case '<':
            put(page, "&lt;", 4);
            break;
        case '>':
            put(page, "&gt;", 4);
            break;
        case '"':
            put(page, "&quot;", 6);
            break;
        case '\'':
            put(page, "&#39;", 5);
            break;
        default:
            put(page, &text[i], 1);
        }
    }
}

static void show_text(struct page *page, const char *text)
{
    show(page, text, strlen(text));
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

// ---- head

static const char style[] =
    "body{font:14px/1.4 sans-serif;margin:2em;color:#222}"
    "table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:2px 6px;text-align:left;"
    "vertical-align:top}code{font-size:12px;word-break:break-all}"
    ".bad{background:#fdd}.good{background:#dfd}";

static void put_head(struct page *page, const struct uvea_report_head *head,
                     const struct uvea_replay_result *result)
{
    mark(page,
         "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>uvea replay: ");
    show_text(page, head->scenario);
    mark(page, "</title><style>%s</style></head><body>\n<h1>", style);
    show_text(page, head->scenario);
    mark(page, "</h1>\n<p>Against ");
    show_text(page, head->cluster);
    mark(page, ", seed %" PRIu64 ", build ", head->seed);
    show_text(page, head->build);
    mark(page, ".</p>\n<p class=\"%s\">Verdict: <b>%s</b>",
         result->verdict == UVEA_VERDICT_PASS ? "good" : "bad", uvea_replay_verdict_text(result));
    if (result->reason[0] != '\0') {
        mark(page, ": ");
        show_text(page, result->reason);
    }
    mark(page, "</p>\n<p>Ledger: ");
    show_text(page, result->ledger);
    mark(page, ".</p>\n");
    if (result->ignored[0] != '\0') {
        mark(page, "<p>Left out of the scenario: ");
        show_text(page, result->ignored);
        mark(page, ".</p>\n");
    }
}

static void put_figures(struct page *page, const struct uvea_replay_result *result)
{
    const double seconds = (double)result->elapsed_ns / 1e9;
    const struct {
        const char *name;
        uint64_t value;
    } figures[] = {
        {"requests", result->requests},
        {"responses", result->responses},
        {"disagreements", result->disagreements},
        {"mismatches", result->mismatches},
        {"answered with an error", result->errors},
        {"records at the end", result->records},
        {"enrolled before the first request", result->enrolled},
        {"batches", result->batches},
        {"bytes sent over HTTP", result->bytes_sent},
        {"bytes received over HTTP", result->bytes_received},
    };
    mark(page, "<table>\n");
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        mark(page, "<tr><th>%s</th><td>%" PRIu64 "</td></tr>\n", figures[i].name, figures[i].value);
    }
    mark(page, "<tr><th>seconds</th><td>%.3f</td></tr>\n", seconds);
    mark(page, "<tr><th>requests/s</th><td>%.2f</td></tr>\n</table>\n",
         seconds > 0 ? (double)result->latency_count / seconds : 0.0);
}

// ---- latencies

// Bars over a logarithmic axis from the fastest to the slowest.
static void put_bars(struct page *page, const struct uvea_replay_result *result)
{
    size_t bars[BARS] = {0};
    size_t highest = 1;
    const double low = log(ms(uvea_replay_latency_ns(result, 0)) + 0.001);
    const double high = log(ms(uvea_replay_latency_ns(result, 1000)) + 0.001);
    const double step = high > low ? (high - low) / BARS : 1;
    for (size_t i = 0; i < result->latency_count; i++) {
        const double at = (log(ms(result->latencies_ns[i]) + 0.001) - low) / step;
        const size_t bar = at < 0 ? 0 : at >= BARS ? BARS - 1 : (size_t)at;
        bars[bar]++;
        highest = bars[bar] > highest ? bars[bar] : highest;
    }
    mark(page,
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" role=\"img\" "
         "aria-label=\"latencies\">\n",
         BARS * BAR_WIDTH, BAR_HEIGHT + 24);
    for (unsigned bar = 0; bar < BARS; bar++) {
        const unsigned height = (unsigned)(bars[bar] * BAR_HEIGHT / highest);
        const double from = exp(low + step * bar);
        mark(page,
             "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%u\" fill=\"#369\"><title>from %.1f "
             "ms: %zu</title></rect>\n",
             bar * BAR_WIDTH, BAR_HEIGHT - height, BAR_WIDTH - 2, height, from, bars[bar]);
        if (bar % 8 == 0) {
            mark(page, "<text x=\"%u\" y=\"%d\" font-size=\"11\">%.1f ms</text>\n", bar * BAR_WIDTH,
                 BAR_HEIGHT + 16, from);
        }
    }
    mark(page, "</svg>\n");
}

static void put_latencies(struct page *page, const struct uvea_replay_result *result)
{
    static const struct {
        const char *name;
        unsigned q;
    } parts[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"max", 1000}};
    mark(page, "<h2>Latency</h2>\n<p>From the acceptance of a request to the third party's answer, "
               "as the client sees it.</p>\n");
    if (result->latency_count == 0) {
        mark(page, "<p>No request was answered by all parties.</p>\n");
        return;
    }
    put_bars(page, result);
    mark(page, "<table><tr>");
    for (size_t i = 0; i < 4; i++) {
        mark(page, "<th>%s</th>", parts[i].name);
    }
    mark(page, "</tr><tr>");
    for (size_t i = 0; i < 4; i++) {
        mark(page, "<td>%.1f ms</td>", ms(uvea_replay_latency_ns(result, parts[i].q)));
    }
    mark(page, "</tr></table>\n");
}

// ---- requests

// Good when all say the same, else every cell on its own.
static void put_row(struct page *page, const struct uvea_row *row)
{
    mark(page, "<tr><td>");
    show_text(page, row->key);
    mark(page, "</td><td>");
    show_text(page, row->kind);
    mark(page, "</td><td>%.1f</td><td><code>", ms(row->latency_ns));
    show_text(page, row->oracle);
    mark(page, "</code></td>");
    for (unsigned party = 0; party < UVEA_PARTY_COUNT; party++) {
        const bool same = strcmp(row->party[party], row->oracle) == 0;
        mark(page, "<td class=\"%s\">", same ? "good" : "bad");
        if (same) {
            mark(page, "as the oracle");
        } else {
            mark(page, "<code>");
            show_text(page, row->party[party][0] == '\0' ? "no answer" : row->party[party]);
            mark(page, "</code>");
        }
        mark(page, "</td>");
    }
    mark(page, "</tr>\n");
}

static void put_rows(struct page *page, const struct uvea_rows *rows)
{
    mark(page, "<h2>Requests</h2>\n<p>Members that are null and node_id are left out.</p>\n<table>"
               "<tr><th>message</th><th>kind</th><th>ms</th><th>oracle</th><th>party 0</th>"
               "<th>party 1</th><th>party 2</th></tr>\n");
    for (size_t i = 0; i < rows->count; i++) {
        put_row(page, &rows->at[i]);
    }
    mark(page, "</table>\n");
}

enum uvea_error uvea_report_html(const struct uvea_report_head *head,
                                 const struct uvea_replay_result *result, struct uvea_buf *html)
{
    struct page page = {.html = html};
    put_head(&page, head, result);
    put_figures(&page, result);
    put_latencies(&page, result);
    put_rows(&page, &result->rows);
    mark(&page, "<h2>Configuration of the cluster</h2>\n<pre>");
    show(&page, (const char *)result->common_config.data, result->common_config.len);
    mark(&page, "</pre>\n</body></html>\n");
    return page.error;
}
