// The log: one JSON object per line and event, with time, level and event first. Lines hold what is
// public only: sizes, times, addresses, names, sentences of errors; never a share or a key.
#ifndef UVEA_CORE_DAEMON_LOG_H
#define UVEA_CORE_DAEMON_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum uvea_log_level { UVEA_LOG_DEBUG, UVEA_LOG_INFO, UVEA_LOG_WARN, UVEA_LOG_ERROR };

// Where strangers are turned away: each place has a bound of its own, so that noise at one does not
// hide what happens at another.
enum uvea_log_place { UVEA_LOG_HTTP, UVEA_LOG_MESH, UVEA_LOG_PLACES };

// A bucket of lines that fills up steadily: a burst of per_minute lines, then so many a minute.
struct uvea_log_bound {
    uint32_t per_minute;
    uint64_t filled_ns;  // when it was last looked at
    double lines;        // that may be written now
    uint64_t suppressed; // since the last one that was written
};

// For any number of threads. A line that cannot be written is lost, nothing waits for it twice.
struct uvea_log {
    int file; // borrowed
    enum uvea_log_level level;
    pthread_mutex_t lock;
    struct uvea_log_bound refusals[UVEA_LOG_PLACES];
};

// Level info, one refusal a minute and place.
void uvea_log_init(struct uvea_log *log, int file);
// While no other thread uses the log.
void uvea_log_set(struct uvea_log *log, enum uvea_log_level level, uint32_t refusals_per_minute);
void uvea_log_deinit(struct uvea_log *log);

enum { UVEA_LOG_LINE_BYTES_MAX = 4096 }; // with the line end; what does not fit is left out whole

// One line under way, in the caller's memory.
struct uvea_log_line {
    struct uvea_log *log;
    bool wanted; // the level is high enough
    size_t bytes;
    char text[UVEA_LOG_LINE_BYTES_MAX];
};

// event and names are literals of the program.
void uvea_log_begin(struct uvea_log *log, struct uvea_log_line *line, enum uvea_log_level level,
                    const char *event);
void uvea_log_text(struct uvea_log_line *line, const char *name, const char *text);
void uvea_log_number(struct uvea_log_line *line, const char *name, uint64_t number);
void uvea_log_flag(struct uvea_log_line *line, const char *name, bool flag);
void uvea_log_end(struct uvea_log_line *line);

// An event with one sentence.
void uvea_log_say(struct uvea_log *log, enum uvea_log_level level, const char *event,
                  const char *sentence);

// A stranger was turned away: written at most so often as the log was told. How many were left out
// stands in the place's next line, or in one of its own once the bound allows it and anything else
// is written.
void uvea_log_refusal(struct uvea_log *log, enum uvea_log_place place, const char *why);

// What was left out and not told yet, now.
void uvea_log_settle(struct uvea_log *log);

#endif
