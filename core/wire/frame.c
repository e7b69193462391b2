#include "core/wire/frame.h"

#include "core/base/check.h"
#include "core/base/endian.h"

#include <string.h>

enum { DATA_HEAD_BYTES_MIN = UVEA_FRAME_SESSION_BYTES + 1 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void begin_frame(struct uvea_frame_reader *reader)
{
    reader->stage = UVEA_FRAME_HEAD;
    reader->head_bytes = 0;
    reader->head_need =
        reader->plane == UVEA_FRAME_DATA ? DATA_HEAD_BYTES_MIN : UVEA_CONTROL_LENGTH_BYTES;
    reader->value_bytes = 0;
    if (reader->value.capacity > UVEA_FRAME_EAGER_BYTES) {
        uvea_buf_deinit(&reader->value); // one long frame must not hold its memory for ever
    }
    uvea_buf_clear(&reader->value);
}

void uvea_frame_reader_init(struct uvea_frame_reader *reader, enum uvea_frame_plane plane,
                            size_t bytes_max)
{
    UVEA_CHECK(bytes_max > 0);
    *reader = (struct uvea_frame_reader){.plane = plane, .bytes_max = bytes_max};
    begin_frame(reader);
}

void uvea_frame_reader_deinit(struct uvea_frame_reader *reader)
{
    uvea_buf_deinit(&reader->value);
    *reader = (struct uvea_frame_reader){.stage = UVEA_FRAME_FAILED};
}

size_t uvea_frame_reader_want(struct uvea_frame_reader *reader, uint8_t **into)
{
    switch (reader->stage) {
    case UVEA_FRAME_HEAD:
        *into = reader->head + reader->head_bytes;
        return reader->head_need - reader->head_bytes;
    case UVEA_FRAME_BODY:
        *into = reader->value.data + reader->value.len;
        return smaller(reader->value_bytes, reader->value.capacity) - reader->value.len;
    case UVEA_FRAME_COMPLETE:
    case UVEA_FRAME_FAILED:
        break;
    }
    *into = NULL;
    return 0;
}

// Makes room for the next bytes of the value, or finds it complete.
static enum uvea_error advance_body(struct uvea_frame_reader *reader)
{
    struct uvea_buf *value = &reader->value;
    if (value->len == reader->value_bytes) {
        reader->stage = UVEA_FRAME_COMPLETE;
        return UVEA_OK;
    }
    reader->stage = UVEA_FRAME_BODY;
    if (value->len < value->capacity) {
        return UVEA_OK;
    }
    // Double at most: memory follows the bytes that arrived, not the length that was claimed.
    return uvea_buf_reserve(value, smaller(reader->value_bytes - value->len, value->len));
}

// The value's length is known: moves what the head holds of it (nothing on the control channel).
static enum uvea_error begin_body(struct uvea_frame_reader *reader, size_t value_bytes,
                                  size_t value_start)
{
    reader->value_bytes = value_bytes;
    UVEA_TRY(uvea_buf_reserve(&reader->value, smaller(value_bytes, UVEA_FRAME_EAGER_BYTES)));
    UVEA_TRY(uvea_buf_append(&reader->value, reader->head + value_start,
                             reader->head_bytes - value_start));
    return advance_body(reader);
}

static enum uvea_error end_data_head(struct uvea_frame_reader *reader,
                                     struct uvea_error_context *context)
{
    size_t total;
    UVEA_TRY(uvea_value_total_bytes(reader->head + UVEA_FRAME_SESSION_BYTES,
                                    reader->head_bytes - UVEA_FRAME_SESSION_BYTES,
                                    reader->bytes_max, &total, context));
    if (total == 0) {
        reader->head_need = UVEA_FRAME_HEAD_BYTES_MAX;
        return UVEA_OK;
    }
    reader->session_id = uvea_load_le32(reader->head);
    return begin_body(reader, total, UVEA_FRAME_SESSION_BYTES);
}

static enum uvea_error end_control_head(struct uvea_frame_reader *reader,
                                        struct uvea_error_context *context)
{
    uint32_t length = uvea_load_le32(reader->head);
    if (length == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "control frame of length 0");
    }
    if (length > reader->bytes_max) {
        return uvea_error_set(context, UVEA_ERR_LIMIT,
                              "control frame of %lu bytes exceeds the bound of %zu",
                              (unsigned long)length, reader->bytes_max);
    }
    return begin_body(reader, length, UVEA_CONTROL_LENGTH_BYTES);
}

static enum uvea_error advance(struct uvea_frame_reader *reader, size_t n,
                               struct uvea_error_context *context)
{
    if (reader->stage == UVEA_FRAME_BODY) {
        reader->value.len += n;
        return advance_body(reader);
    }
    reader->head_bytes += n;
    if (reader->head_bytes < reader->head_need) {
        return UVEA_OK;
    }
    return reader->plane == UVEA_FRAME_DATA ? end_data_head(reader, context)
                                            : end_control_head(reader, context);
}

enum uvea_error uvea_frame_reader_got(struct uvea_frame_reader *reader, size_t n, bool *complete,
                                      struct uvea_error_context *context)
{
    uint8_t *into;
    UVEA_CHECK(n <= uvea_frame_reader_want(reader, &into));
    *complete = false;
    if (n > 0) {
        enum uvea_error error = advance(reader, n, context);
        if (error != UVEA_OK) {
            reader->stage = UVEA_FRAME_FAILED;
            return error;
        }
    }
    *complete = reader->stage == UVEA_FRAME_COMPLETE;
    return UVEA_OK;
}

enum uvea_error uvea_frame_reader_feed(struct uvea_frame_reader *reader, const uint8_t *bytes,
                                       size_t len, size_t *used, bool *complete,
                                       struct uvea_error_context *context)
{
    *used = 0;
    *complete = reader->stage == UVEA_FRAME_COMPLETE;
    while (*used < len && !*complete) {
        uint8_t *into;
        size_t n = smaller(uvea_frame_reader_want(reader, &into), len - *used);
        UVEA_CHECK(n > 0); // nothing is fed to a reader that has failed
        memcpy(into, bytes + *used, n);
        *used += n;
        UVEA_TRY(uvea_frame_reader_got(reader, n, complete, context));
    }
    return UVEA_OK;
}

bool uvea_frame_reader_idle(const struct uvea_frame_reader *reader)
{
    return reader->stage == UVEA_FRAME_HEAD && reader->head_bytes == 0;
}

void uvea_frame_reader_take(struct uvea_frame_reader *reader, struct uvea_buf *out)
{
    UVEA_CHECK(reader->stage == UVEA_FRAME_COMPLETE);
    struct uvea_buf spare = *out;
    *out = reader->value;
    reader->value = spare;
    begin_frame(reader);
}

void uvea_frame_reader_next(struct uvea_frame_reader *reader)
{
    UVEA_CHECK(reader->stage == UVEA_FRAME_COMPLETE);
    begin_frame(reader);
}

enum uvea_error uvea_frame_begin(struct uvea_buf *buf, uint32_t session_id)
{
    uint8_t *to = uvea_buf_extend(buf, UVEA_FRAME_SESSION_BYTES);
    if (to == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_store_le32(to, session_id);
    return UVEA_OK;
}

enum uvea_error uvea_control_frame_begin(struct uvea_buf *buf, size_t *mark)
{
    uint8_t *to = uvea_buf_extend(buf, UVEA_CONTROL_LENGTH_BYTES);
    if (to == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_store_le32(to, 0);
    *mark = buf->len;
    return UVEA_OK;
}

enum uvea_error uvea_control_frame_end(struct uvea_buf *buf, size_t mark)
{
    UVEA_CHECK(mark >= UVEA_CONTROL_LENGTH_BYTES && mark <= buf->len);
    size_t length = buf->len - mark;
    if (length > UVEA_CONTROL_BYTES_MAX) {
        buf->len = mark - UVEA_CONTROL_LENGTH_BYTES;
        return UVEA_ERR_LIMIT;
    }
    uvea_store_le32(buf->data + mark - UVEA_CONTROL_LENGTH_BYTES, (uint32_t)length);
    return UVEA_OK;
}
