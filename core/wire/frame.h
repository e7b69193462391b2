// Frames around encoded values. Data plane: u32 session id, then the value, whose own head tells
// where it ends. Control channel: u32 length, then the value. Both little-endian.
// The reader does no input or output itself: it says how many bytes it wants and where they go.
// Source: wire.md 2 and 3.
#ifndef UVEA_CORE_WIRE_FRAME_H
#define UVEA_CORE_WIRE_FRAME_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/wire/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_FRAME_SESSION_BYTES = 4,
    UVEA_CONTROL_LENGTH_BYTES = 4,
    UVEA_CONTROL_BYTES_MAX = 1 << 20, // one encoded value on the control channel
    UVEA_FRAME_HEAD_BYTES_MAX = UVEA_FRAME_SESSION_BYTES + UVEA_VALUE_HEADER_BYTES,
    // A longer value gets its memory as its bytes arrive: a mere claim costs no more than this.
    UVEA_FRAME_EAGER_BYTES = 1 << 20,
};

enum uvea_frame_plane {
    UVEA_FRAME_DATA,
    UVEA_FRAME_CONTROL,
};

enum uvea_frame_stage {
    UVEA_FRAME_HEAD,
    UVEA_FRAME_BODY,
    UVEA_FRAME_COMPLETE,
    UVEA_FRAME_FAILED,
};

// While a frame is complete, session_id (data plane) and value.data[0..value.len) may be read: the
// encoded value, not yet decoded. Everything else is the reader's own.
// Memory: at most twice the bytes of the value received so far, or UVEA_FRAME_EAGER_BYTES.
struct uvea_frame_reader {
    enum uvea_frame_plane plane;
    enum uvea_frame_stage stage;
    size_t bytes_max;
    uint32_t session_id;
    size_t value_bytes;
    size_t head_bytes;
    size_t head_need;
    uint8_t head[UVEA_FRAME_HEAD_BYTES_MAX];
    struct uvea_buf value;
};

// bytes_max: longest encoded value that is let in, at least 1; UVEA_VALUE_BYTES_MAX_DEFAULT or
// UVEA_CONTROL_BYTES_MAX unless configured. Allocates nothing.
void uvea_frame_reader_init(struct uvea_frame_reader *reader, enum uvea_frame_plane plane,
                            size_t bytes_max);
void uvea_frame_reader_deinit(struct uvea_frame_reader *reader);

// How many bytes to read now, and where to put them (up to so many may be put there). 0 when a
// frame is complete or the reader has failed, at least 1 otherwise. Never more than the frame
// needs.
size_t uvea_frame_reader_want(struct uvea_frame_reader *reader, uint8_t **into);

// Says that the first n bytes asked for have been put there; n at most what was wanted.
// FORMAT: unknown descriptor, or a control frame of length 0. LIMIT: the value is longer than
// bytes_max, found before memory is taken for it. MEMORY. After an error the reader wants nothing
// more and can only be released: the stream has no next frame.
UVEA_MUST_USE enum uvea_error uvea_frame_reader_got(struct uvea_frame_reader *reader, size_t n,
                                                    bool *complete,
                                                    struct uvea_error_context *context);

// want and got over bytes that the caller already has: takes bytes until a frame is complete or
// len are used, and tells how many it took. Errors as got.
UVEA_MUST_USE enum uvea_error uvea_frame_reader_feed(struct uvea_frame_reader *reader,
                                                     const uint8_t *bytes, size_t len, size_t *used,
                                                     bool *complete,
                                                     struct uvea_error_context *context);

// True between frames: a stream that ends now has not been cut off.
bool uvea_frame_reader_idle(const struct uvea_frame_reader *reader);

// Gives the complete frame's value to out and begins the next frame. The memory that out held, if
// any, serves the next frame; out's contents are replaced.
void uvea_frame_reader_take(struct uvea_frame_reader *reader, struct uvea_buf *out);

// Drops the complete frame and begins the next one.
void uvea_frame_reader_next(struct uvea_frame_reader *reader);

// Starts an outgoing data frame: appends the session id. One value is to follow.
// MEMORY: buf is unchanged.
UVEA_MUST_USE enum uvea_error uvea_frame_begin(struct uvea_buf *buf, uint32_t session_id);

// An outgoing control frame: *mark is passed to _end after one value has been appended.
// LIMIT: the value exceeds UVEA_CONTROL_BYTES_MAX; buf is then cut back to where the frame began.
UVEA_MUST_USE enum uvea_error uvea_control_frame_begin(struct uvea_buf *buf, size_t *mark);
UVEA_MUST_USE enum uvea_error uvea_control_frame_end(struct uvea_buf *buf, size_t mark);

#endif
