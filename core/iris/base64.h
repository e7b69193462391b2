// Standard base64 with padding, canonical form only: one text for one byte string. The contents may
// be secret; sentences name offsets and sizes, never what was read.
#ifndef UVEA_CORE_IRIS_BASE64_H
#define UVEA_CORE_IRIS_BASE64_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

// Characters of the text for `bytes` bytes, without a NUL.
#define UVEA_BASE64_CHARS(bytes) (((size_t)(bytes) + 2) / 3 * 4)

// Decodes text that must hold exactly `bytes` bytes (at most 2^20). FORMAT: a character outside the
// alphabet (its offset is named), padding in the wrong place, unused bits that are not zero, or
// another size (both sizes are named). out is zeroed on failure.
UVEA_MUST_USE enum uvea_error uvea_iris_decode_base64(const char *text, size_t len, uint8_t *out,
                                                      size_t bytes,
                                                      struct uvea_error_context *context);

// Writes UVEA_BASE64_CHARS(bytes) characters and a final NUL. bytes at most 2^20.
void uvea_iris_encode_base64(const uint8_t *from, size_t bytes, char *text);

#endif
