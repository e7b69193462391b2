// The frame readers. Input: one byte of options, one byte n, n piece lengths, then the stream.
// However the stream is cut into pieces, the same frames must come out, and they must be the
// stream.
#include "core/wire/frame.h"

#include "core/base/check.h"
#include "core/base/endian.h"
#include "fuzz/fuzz.h"

#include <string.h>

enum {
    OPTION_CONTROL = 1,
    OPTION_SMALL_BOUND = 2,
    OPTION_TAKE = 4,
    SMALL_BOUND = 40,
};

struct input {
    unsigned options;
    const uint8_t *pieces; // lengths, used in turn; 0 pieces: all at once
    size_t piece_count;
    const uint8_t *stream;
    size_t stream_bytes;
};

// What a reader made of the stream.
struct outcome {
    struct uvea_buf frames; // the frames as they would be sent again
    size_t frame_count;
    enum uvea_error error;
    char text[sizeof(((struct uvea_error_context *)NULL)->text)];
};

static size_t bound(const struct input *input)
{
    if (input->options & OPTION_SMALL_BOUND) {
        return SMALL_BOUND;
    }
    return input->options & OPTION_CONTROL ? UVEA_CONTROL_BYTES_MAX : UVEA_VALUE_BYTES_MAX_DEFAULT;
}

static void check_memory(const struct uvea_frame_reader *reader)
{
    size_t allowed = 2 * reader->value.len;
    allowed = allowed < UVEA_FRAME_EAGER_BYTES ? UVEA_FRAME_EAGER_BYTES : allowed;
    UVEA_CHECK(reader->value.capacity <= allowed);
}

// Appends the complete frame to the outcome and lets the reader go on.
static void collect(struct uvea_frame_reader *reader, const struct input *input,
                    struct uvea_buf *taken, struct outcome *outcome)
{
    uint32_t head =
        input->options & OPTION_CONTROL ? (uint32_t)reader->value.len : reader->session_id;
    UVEA_CHECK(reader->value.len > 0 && reader->value.len <= bound(input));
    UVEA_CHECK(uvea_frame_begin(&outcome->frames, head) == UVEA_OK);
    const struct uvea_buf *value = &reader->value;
    if (input->options & OPTION_TAKE) {
        uvea_frame_reader_take(reader, taken);
        value = taken;
    }
    UVEA_CHECK(uvea_buf_append(&outcome->frames, value->data, value->len) == UVEA_OK);
    struct uvea_value decoded;
    enum uvea_error error = uvea_value_decode(value->data, value->len, &decoded, NULL);
    UVEA_CHECK(error == UVEA_OK || error == UVEA_ERR_FORMAT);
    if (!(input->options & OPTION_TAKE)) {
        uvea_frame_reader_next(reader);
    }
    UVEA_CHECK(uvea_frame_reader_idle(reader));
    outcome->frame_count += 1;
}

static void feed(struct uvea_frame_reader *reader, const struct input *input, const uint8_t *bytes,
                 size_t len, struct uvea_buf *taken, struct outcome *outcome)
{
    struct uvea_error_context context = {{0}};
    while (len > 0 && outcome->error == UVEA_OK) {
        size_t used;
        bool complete;
        outcome->error = uvea_frame_reader_feed(reader, bytes, len, &used, &complete, &context);
        UVEA_CHECK(used <= len);
        check_memory(reader);
        if (complete) {
            collect(reader, input, taken, outcome);
        }
        bytes += used;
        len -= used;
    }
    memcpy(outcome->text, context.text, sizeof(context.text));
}

static void read_stream(const struct input *input, bool in_pieces, struct outcome *outcome)
{
    struct uvea_frame_reader reader;
    uvea_frame_reader_init(&reader,
                           input->options & OPTION_CONTROL ? UVEA_FRAME_CONTROL : UVEA_FRAME_DATA,
                           bound(input));
    struct uvea_buf taken = {0};
    size_t at = 0;
    for (size_t i = 0; at < input->stream_bytes && outcome->error == UVEA_OK; i++) {
        size_t piece = input->stream_bytes - at;
        if (in_pieces && input->piece_count > 0) {
            size_t length = 1 + (size_t)input->pieces[i % input->piece_count];
            piece = length < piece ? length : piece;
        }
        feed(&reader, input, input->stream + at, piece, &taken, outcome);
        at += piece;
    }
    // Bytes of a frame that is not complete are the only ones that may be missing.
    UVEA_CHECK(outcome->error != UVEA_OK ||
               uvea_frame_reader_idle(&reader) == (outcome->frames.len == input->stream_bytes));
    uvea_buf_deinit(&taken);
    uvea_frame_reader_deinit(&reader);
}

int uvea_fuzz_one(const uint8_t *data, size_t len)
{
    if (len < 2 || len - 2 < data[1]) {
        return 0;
    }
    struct input input = {.options = data[0], .pieces = data + 2, .piece_count = data[1]};
    input.stream = data + 2 + input.piece_count;
    input.stream_bytes = len - 2 - input.piece_count;

    struct outcome whole = {.error = UVEA_OK};
    struct outcome pieces = {.error = UVEA_OK};
    read_stream(&input, false, &whole);
    read_stream(&input, true, &pieces);
    UVEA_CHECK(whole.error == pieces.error && strcmp(whole.text, pieces.text) == 0);
    UVEA_CHECK(whole.error == UVEA_OK || whole.text[0] != '\0');
    UVEA_CHECK(whole.frame_count == pieces.frame_count);
    UVEA_CHECK(whole.frames.len == pieces.frames.len && whole.frames.len <= input.stream_bytes);
    UVEA_CHECK(whole.frames.len == 0 ||
               (memcmp(whole.frames.data, pieces.frames.data, whole.frames.len) == 0 &&
                memcmp(whole.frames.data, input.stream, whole.frames.len) == 0));
    uvea_buf_deinit(&whole.frames);
    uvea_buf_deinit(&pieces.frames);
    return 0;
}
