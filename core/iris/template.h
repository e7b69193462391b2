// Iris templates in the clear: 16 rows x 200 columns x 2 wavelets x (real, imaginary).
// Plain index i = 800 r + 4 c + 2 w + p; bit i is bit i mod 64 of word i / 64.
// Only the client side and the tools hold these; a party never does. Sources: service.md 2,
// wire.md 8.
#ifndef UVEA_CORE_IRIS_TEMPLATE_H
#define UVEA_CORE_IRIS_TEMPLATE_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
    UVEA_IRIS_ROWS = 16,
    UVEA_IRIS_COLUMNS = 200,
    UVEA_IRIS_BITS = 12800,
    UVEA_IRIS_WORDS = 200,
    UVEA_IRIS_BASE64_CHARS = 2136,
    UVEA_ROTATION_MAX = 15,
    UVEA_ROTATION_COUNT = 31, // -15..15, stored at index rho + 15
};

struct uvea_template {
    uint64_t code[UVEA_IRIS_WORDS];
    uint64_t mask[UVEA_IRIS_WORDS];
};

enum uvea_eye {
    UVEA_EYE_LEFT,
    UVEA_EYE_RIGHT,
};
enum { UVEA_EYE_COUNT = 2 };

static inline enum uvea_eye uvea_eye_other(enum uvea_eye eye)
{
    return eye == UVEA_EYE_LEFT ? UVEA_EYE_RIGHT : UVEA_EYE_LEFT;
}

struct uvea_template_pair {
    struct uvea_template eye[UVEA_EYE_COUNT];
};

// Base64 text of one plane (code or mask), 1,600 bytes, bit i in byte i/8 at position 7 - i mod 8.
// Canonical base64 of exactly that size is required; FORMAT names what is wrong (wrong size names
// the sizes: 1,600 bytes wanted; a 16 x 256 template has 2,048).
UVEA_MUST_USE enum uvea_error uvea_iris_decode_plane(const char *text, size_t len,
                                                     uint64_t plane[UVEA_IRIS_WORDS],
                                                     struct uvea_error_context *context);
// Writes UVEA_IRIS_BASE64_CHARS characters and a final NUL.
void uvea_iris_encode_plane(const uint64_t plane[UVEA_IRIS_WORDS],
                            char text[UVEA_IRIS_BASE64_CHARS + 1]);

// One NDJSON object with string members iris_codes and mask_codes; others are ignored.
UVEA_MUST_USE enum uvea_error uvea_iris_decode_json(const char *line, size_t len,
                                                    struct uvea_template *out,
                                                    struct uvea_error_context *context);
// Appends one line (with its newline) to buf.
struct uvea_buf;
UVEA_MUST_USE enum uvea_error uvea_iris_encode_json(const struct uvea_template *in,
                                                    struct uvea_buf *buf);

// Rotates by any number of columns; positive = right, toward higher columns. out may not alias in.
void uvea_iris_rotate(const struct uvea_template *in, int columns, struct uvea_template *out);

// Column c -> 99 - c or 299 - c; masks move, code bits move and imaginary ones are inverted (also
// where masked). out may not alias in. Applying it twice is the identity.
void uvea_iris_mirror(const struct uvea_template *in, struct uvea_template *out);

#endif
