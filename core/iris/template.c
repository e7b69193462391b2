#include "core/iris/template.h"

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/iris/base64.h"
#include "core/iris/json.h"

#include <stdbool.h>
#include <string.h>

enum {
    PLANE_BYTES = UVEA_IRIS_BITS / 8,
    PLANE_CHARS_256 = UVEA_BASE64_CHARS(2048), // 16 x 256, the other size open-iris produces
    HALF_COLUMNS = UVEA_IRIS_COLUMNS / 2,
    COLUMN_BITS = 4, // two wavelets, real and imaginary
    COLUMNS_PER_WORD = 64 / COLUMN_BITS,
    IMAGINARY_BITS = 0xA,
};
_Static_assert(PLANE_BYTES == 1600 && UVEA_BASE64_CHARS(PLANE_BYTES) == UVEA_IRIS_BASE64_CHARS,
               "size of a plane");
_Static_assert(UVEA_IRIS_ROWS *UVEA_IRIS_COLUMNS *COLUMN_BITS == UVEA_IRIS_BITS,
               "a column never straddles two words");

static uint64_t reverse_bits(uint64_t value)
{
    value = (value >> 1 & UINT64_C(0x5555555555555555)) | (value & UINT64_C(0x5555555555555555))
                                                              << 1;
    value = (value >> 2 & UINT64_C(0x3333333333333333)) | (value & UINT64_C(0x3333333333333333))
                                                              << 2;
    value = (value >> 4 & UINT64_C(0x0F0F0F0F0F0F0F0F)) | (value & UINT64_C(0x0F0F0F0F0F0F0F0F))
                                                              << 4;
    return __builtin_bswap64(value);
}

enum uvea_error uvea_iris_decode_plane(const char *text, size_t len,
                                       uint64_t plane[UVEA_IRIS_WORDS],
                                       struct uvea_error_context *context)
{
    // The size is the likeliest mistake and deserves a sentence that knows about templates.
    if (len != UVEA_IRIS_BASE64_CHARS) {
        bool is_256 = len == PLANE_CHARS_256;
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%zu base64 characters%s, but a 16 x 200 template has %d (%d bytes)",
                              len, is_256 ? " (2048 bytes, as of a 16 x 256 template)" : "",
                              UVEA_IRIS_BASE64_CHARS, PLANE_BYTES);
    }
    uint8_t bytes[PLANE_BYTES];
    UVEA_TRY(uvea_iris_decode_base64(text, len, bytes, sizeof(bytes), context));
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        plane[i] = reverse_bits(__builtin_bswap64(uvea_load_le64(bytes + 8 * i)));
    }
    return UVEA_OK;
}

void uvea_iris_encode_plane(const uint64_t plane[UVEA_IRIS_WORDS],
                            char text[UVEA_IRIS_BASE64_CHARS + 1])
{
    uint8_t bytes[PLANE_BYTES];
    for (size_t i = 0; i < UVEA_IRIS_WORDS; i++) {
        uvea_store_le64(bytes + 8 * i, __builtin_bswap64(reverse_bits(plane[i])));
    }
    uvea_iris_encode_base64(bytes, sizeof(bytes), text);
}

static enum uvea_error decode_member(const json_t *object, const char *name,
                                     uint64_t plane[UVEA_IRIS_WORDS],
                                     struct uvea_error_context *context)
{
    const char *text = NULL;
    size_t len = 0;
    UVEA_TRY(uvea_iris_get_string(object, name, &text, &len, context));
    struct uvea_error_context inner = {{0}};
    enum uvea_error error = uvea_iris_decode_plane(text, len, plane, &inner);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "member %s: %s", name, inner.text);
    }
    return UVEA_OK;
}

enum uvea_error uvea_iris_decode_json(const char *line, size_t len, struct uvea_template *out,
                                      struct uvea_error_context *context)
{
    enum uvea_error error;
    json_t *object = NULL;
    struct uvea_template found;
    UVEA_TRY_CLEANUP(uvea_iris_load_object(line, len, &object, context));
    UVEA_TRY_CLEANUP(decode_member(object, "iris_codes", found.code, context));
    UVEA_TRY_CLEANUP(decode_member(object, "mask_codes", found.mask, context));
    *out = found;

cleanup:
    json_decref(object);
    return error;
}

static enum uvea_error append_text(struct uvea_buf *buf, const char *text)
{
    return uvea_buf_append(buf, text, strlen(text));
}

enum uvea_error uvea_iris_encode_json(const struct uvea_template *in, struct uvea_buf *buf)
{
    enum uvea_error error;
    size_t before = buf->len;
    char text[UVEA_IRIS_BASE64_CHARS + 1];
    UVEA_TRY_CLEANUP(append_text(buf, "{\"iris_codes\":\""));
    uvea_iris_encode_plane(in->code, text);
    UVEA_TRY_CLEANUP(append_text(buf, text));
    UVEA_TRY_CLEANUP(append_text(buf, "\",\"mask_codes\":\""));
    uvea_iris_encode_plane(in->mask, text);
    UVEA_TRY_CLEANUP(append_text(buf, text));
    UVEA_TRY_CLEANUP(append_text(buf, "\"}\n"));

cleanup:
    if (error != UVEA_OK) {
        buf->len = before;
    }
    return error;
}

static unsigned get_column(const uint64_t plane[UVEA_IRIS_WORDS], size_t row, size_t column)
{
    size_t at = row * UVEA_IRIS_COLUMNS + column;
    return (unsigned)(plane[at / COLUMNS_PER_WORD] >> at % COLUMNS_PER_WORD * COLUMN_BITS) & 0xF;
}

// The column's bits in plane are still zero.
static void put_column(uint64_t plane[UVEA_IRIS_WORDS], size_t row, size_t column, unsigned bits)
{
    size_t at = row * UVEA_IRIS_COLUMNS + column;
    plane[at / COLUMNS_PER_WORD] |= (uint64_t)bits << at % COLUMNS_PER_WORD * COLUMN_BITS;
}

void uvea_iris_rotate(const struct uvea_template *in, int columns, struct uvea_template *out)
{
    size_t turn =
        (size_t)(columns % UVEA_IRIS_COLUMNS + UVEA_IRIS_COLUMNS) % (size_t)UVEA_IRIS_COLUMNS;
    memset(out, 0, sizeof(*out));
    for (size_t row = 0; row < UVEA_IRIS_ROWS; row++) {
        for (size_t from = 0; from < UVEA_IRIS_COLUMNS; from++) {
            size_t to = (from + turn) % UVEA_IRIS_COLUMNS;
            put_column(out->code, row, to, get_column(in->code, row, from));
            put_column(out->mask, row, to, get_column(in->mask, row, from));
        }
    }
}

void uvea_iris_mirror(const struct uvea_template *in, struct uvea_template *out)
{
    memset(out, 0, sizeof(*out));
    for (size_t row = 0; row < UVEA_IRIS_ROWS; row++) {
        for (size_t from = 0; from < UVEA_IRIS_COLUMNS; from++) {
            size_t to = (from < HALF_COLUMNS ? HALF_COLUMNS : 3 * HALF_COLUMNS) - 1 - from;
            put_column(out->code, row, to, get_column(in->code, row, from) ^ IMAGINARY_BITS);
            put_column(out->mask, row, to, get_column(in->mask, row, from));
        }
    }
}
