// Private to `uvea explain`: what is left of a run's events once all that did not lead to its end
// is taken away, and how it is drawn.
#ifndef UVEA_SIM_CMD_EXPLAIN_H
#define UVEA_SIM_CMD_EXPLAIN_H

#include "core/base/buf.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    UVEA_STORY_LANES = 4,        // p0, p1, p2, client
    UVEA_STORY_TEXT_BYTES = 560, // a reason is whole
    UVEA_STORY_ORIGINS_MAX = 5,
    UVEA_STORY_NO_LANE = 255,
};

// One event worth telling.
struct uvea_story_event {
    uint64_t time_ns;
    unsigned char lane;
    unsigned char peer; // where it came from or goes to, or UVEA_STORY_NO_LANE
    bool bad;           // a fault, a death, a refusal
    char text[UVEA_STORY_TEXT_BYTES];
};

// All zero is empty.
struct uvea_story {
    struct uvea_story_event *events; // owned, in order of time
    size_t count;
    size_t origins;  // of these, the first: how a chain of restarts began, when that was left out
    size_t left_out; // all others before the latest
};

extern const char *const uvea_story_lanes[UVEA_STORY_LANES];

// Reads a trace as uvea_sim_trace_write writes it. Keeps, of the events worth telling, those that
// happened before the last one on the lane `last` in the sense of messages: an event counts when a
// chain of deliveries leads from it to there. last = UVEA_STORY_NO_LANE: whatever is last anywhere.
// At most `most` of them, the latest; before them, when they are among what is left out, the first
// deaths and reasons to stop since a batch was committed: what every later restart repeats.
UVEA_MUST_USE enum uvea_error uvea_story_read(FILE *trace, unsigned char last, size_t most,
                                              struct uvea_story *story,
                                              struct uvea_error_context *context);
void uvea_story_deinit(struct uvea_story *story);

// Four columns, one line for each event.
void uvea_story_print(const struct uvea_story *story, FILE *out);

// The same as a drawing; title is shown above it. Long texts are wrapped.
UVEA_MUST_USE enum uvea_error uvea_story_draw(const struct uvea_story *story, const char *title,
                                              struct uvea_buf *svg);

#endif
