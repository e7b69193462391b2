#include "core/daemon/log.h"

#include "core/base/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"debug", "info", "warn", "error"};
static const char *const place_names[] = {"http", "mesh"};

enum {
    END_BYTES = 2,      // "}\n"
    PIECE_BYTES = 1024, // of one field, before it is escaped
    MINUTE_S = 60,
    S_NS = 1000000000,
    MS_NS = 1000000,
};

void uvea_log_init(struct uvea_log *log, int file)
{
    *log = (struct uvea_log){.file = file};
    UVEA_CHECK(pthread_mutex_init(&log->lock, NULL) == 0);
    uvea_log_set(log, UVEA_LOG_INFO, 1);
}

void uvea_log_set(struct uvea_log *log, enum uvea_log_level level, uint32_t refusals_per_minute)
{
    log->level = level;
    for (unsigned i = 0; i < UVEA_LOG_PLACES; i++) {
        log->refusals[i] = (struct uvea_log_bound){
            .per_minute = refusals_per_minute,
            .lines = refusals_per_minute,
        };
    }
}

void uvea_log_deinit(struct uvea_log *log)
{
    (void)pthread_mutex_destroy(&log->lock);
}

// ---- a line

// All of it or nothing.
static void put(struct uvea_log_line *line, const char *text, size_t bytes)
{
    if (line->wanted && bytes <= sizeof(line->text) - END_BYTES - line->bytes) {
        memcpy(line->text + line->bytes, text, bytes);
        line->bytes += bytes;
    }
}

static size_t escape(const char *text, char *out)
{
    size_t bytes = 0;

    for (size_t i = 0; text[i] != '\0' && i < PIECE_BYTES; i++) {
        const unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\') {
            out[bytes++] = '\\';
            out[bytes++] = (char)c;
        } else {
            // A peer's name may hold anything; nobody's terminal has to.
            out[bytes++] = (char)(c < ' ' || c > '~' ? '?' : c);
        }
    }
    return bytes;
}

// `,"name":` and the value. A field that does not fit is left out.
static void put_field(struct uvea_log_line *line, const char *name, const char *value, size_t bytes,
                      const char *quote)
{
    char field[2 * PIECE_BYTES + 128];
    int length;

    if (!line->wanted) {
        return;
    }
    length =
        snprintf(field, sizeof(field), ",\"%s\":%s%.*s%s", name, quote, (int)bytes, value, quote);
    if (length > 0 && (size_t)length < sizeof(field)) {
        put(line, field, (size_t)length);
    }
}

void uvea_log_begin(struct uvea_log *log, struct uvea_log_line *line, enum uvea_log_level level,
                    const char *event)
{
    struct timespec now;
    struct tm utc;
    char day[32];
    char head[128];
    int length;

    line->log = log;
    line->wanted = level >= log->level;
    line->bytes = 0;
    if (!line->wanted) {
        return;
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    (void)strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &utc);
    length =
        snprintf(head, sizeof(head), "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"event\":\"%s\"",
                 day, now.tv_nsec / MS_NS, level_names[level], event);
    put(line, head, (size_t)length);
}

void uvea_log_text(struct uvea_log_line *line, const char *name, const char *text)
{
    char escaped[2 * PIECE_BYTES];

    put_field(line, name, escaped, escape(text, escaped), "\"");
}

void uvea_log_number(struct uvea_log_line *line, const char *name, uint64_t number)
{
    char digits[24];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);

    put_field(line, name, digits, (size_t)length, "");
}

void uvea_log_flag(struct uvea_log_line *line, const char *name, bool flag)
{
    const char *word = flag ? "true" : "false";

    put_field(line, name, word, strlen(word), "");
}

static void write_line(struct uvea_log_line *line)
{
    size_t written = 0;

    if (!line->wanted) {
        return;
    }
    memcpy(line->text + line->bytes, "}\n", END_BYTES);
    line->bytes += END_BYTES;
    (void)pthread_mutex_lock(&line->log->lock);
    while (written < line->bytes) {
        const ssize_t sent = write(line->log->file, line->text + written, line->bytes - written);

        if (sent < 0 && errno != EINTR) {
            break;
        }
        written += sent > 0 ? (size_t)sent : 0;
    }
    (void)pthread_mutex_unlock(&line->log->lock);
}

// ---- refusals

static uint64_t now_ns(void)
{
    struct timespec clock;

    (void)clock_gettime(CLOCK_MONOTONIC, &clock);
    return (uint64_t)clock.tv_sec * S_NS + (uint64_t)clock.tv_nsec;
}

// With the lock, under which the clock is read too: two readings must not overtake each other.
static void fill(struct uvea_log_bound *bound)
{
    const uint64_t now = now_ns();
    const double passed_s = bound->filled_ns == 0 ? 0 : (double)(now - bound->filled_ns) / S_NS;

    bound->lines += passed_s * bound->per_minute / MINUTE_S;
    if (bound->lines > bound->per_minute) {
        bound->lines = bound->per_minute;
    }
    bound->filled_ns = now;
}

// Whether one more line may be written; *suppressed is how many were not since the last.
static bool take_line(struct uvea_log *log, enum uvea_log_place place, uint64_t *suppressed)
{
    struct uvea_log_bound *bound = &log->refusals[place];
    bool allowed;

    (void)pthread_mutex_lock(&log->lock);
    fill(bound);
    allowed = bound->lines >= 1;
    *suppressed = bound->suppressed;
    bound->suppressed = allowed ? 0 : bound->suppressed + 1;
    bound->lines -= allowed ? 1 : 0;
    (void)pthread_mutex_unlock(&log->lock);
    return allowed;
}

// How many were left out and can be told now; from then on they count as told.
static uint64_t take_suppressed(struct uvea_log *log, enum uvea_log_place place, bool at_once)
{
    struct uvea_log_bound *bound = &log->refusals[place];
    uint64_t suppressed = 0;

    (void)pthread_mutex_lock(&log->lock);
    if (bound->suppressed > 0) {
        fill(bound);
        if (at_once || bound->lines >= 1) {
            suppressed = bound->suppressed;
            bound->suppressed = 0;
            bound->lines -= at_once ? 0 : 1;
        }
    }
    (void)pthread_mutex_unlock(&log->lock);
    return suppressed;
}

static void begin_refusal(struct uvea_log *log, struct uvea_log_line *line,
                          enum uvea_log_place place)
{
    uvea_log_begin(log, line, UVEA_LOG_WARN, "refused");
    uvea_log_text(line, "where", place_names[place]);
}

void uvea_log_refusal(struct uvea_log *log, enum uvea_log_place place, const char *why)
{
    struct uvea_log_line line;
    uint64_t suppressed;

    if (!take_line(log, place, &suppressed)) {
        return;
    }
    begin_refusal(log, &line, place);
    uvea_log_text(&line, "why", why);
    if (suppressed > 0) {
        uvea_log_number(&line, "suppressed", suppressed);
    }
    write_line(&line);
}

static void tell_suppressed(struct uvea_log *log, bool at_once)
{
    for (unsigned place = 0; place < UVEA_LOG_PLACES; place++) {
        const uint64_t suppressed = take_suppressed(log, (enum uvea_log_place)place, at_once);
        struct uvea_log_line line;

        if (suppressed > 0) {
            begin_refusal(log, &line, (enum uvea_log_place)place);
            uvea_log_number(&line, "suppressed", suppressed);
            write_line(&line);
        }
    }
}

void uvea_log_settle(struct uvea_log *log)
{
    tell_suppressed(log, true);
}

// ---- whole lines

void uvea_log_end(struct uvea_log_line *line)
{
    if (line->wanted) {
        write_line(line);
        tell_suppressed(line->log, false);
    }
}

void uvea_log_say(struct uvea_log *log, enum uvea_log_level level, const char *event,
                  const char *sentence)
{
    struct uvea_log_line line;

    uvea_log_begin(log, &line, level, event);
    uvea_log_text(&line, "message", sentence);
    uvea_log_end(&line);
}
