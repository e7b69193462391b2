// A growable byte buffer: what is written to a stream, a file or a hash is built in one of these.
#ifndef UVEA_CORE_BASE_BUF_H
#define UVEA_CORE_BASE_BUF_H

#include "core/base/error.h"

#include <stddef.h>
#include <stdint.h>

// All zero is an empty buffer. data is owned; len <= capacity.
struct uvea_buf {
    uint8_t *data;
    size_t len;
    size_t capacity;
};

void uvea_buf_deinit(struct uvea_buf *buf);

// Forgets the contents, keeps the memory.
void uvea_buf_clear(struct uvea_buf *buf);

// Makes room for `more` bytes behind len. On failure the buffer is unchanged.
UVEA_MUST_USE enum uvea_error uvea_buf_reserve(struct uvea_buf *buf, size_t more);

// Makes room for `bytes`, counts them into len and returns where they start, for the caller to fill
// at once; NULL when memory is short.
UVEA_MUST_USE uint8_t *uvea_buf_extend(struct uvea_buf *buf, size_t bytes);

UVEA_MUST_USE enum uvea_error uvea_buf_append(struct uvea_buf *buf, const void *bytes, size_t len);

#endif
