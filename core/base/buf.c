#include "core/base/buf.h"

#include "core/base/mem.h"

#include <string.h>

void uvea_buf_deinit(struct uvea_buf *buf)
{
    uvea_mem_free(buf->data);
    *buf = (struct uvea_buf){0};
}

void uvea_buf_clear(struct uvea_buf *buf)
{
    buf->len = 0;
}

enum uvea_error uvea_buf_reserve(struct uvea_buf *buf, size_t more)
{
    if (buf->data != NULL && more <= buf->capacity - buf->len) {
        return UVEA_OK;
    }
    size_t need;
    if (__builtin_add_overflow(buf->len, more, &need)) {
        return UVEA_ERR_MEMORY;
    }
    size_t capacity = buf->capacity < 64 ? 64 : buf->capacity;
    while (capacity < need) {
        capacity = capacity > SIZE_MAX / 2 ? need : capacity * 2;
    }
    uint8_t *data = uvea_mem_alloc(capacity, 1);
    if (data == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (buf->data != NULL) {
        memcpy(data, buf->data, buf->len);
    }
    uvea_mem_free(buf->data);
    buf->data = data;
    buf->capacity = capacity;
    return UVEA_OK;
}

uint8_t *uvea_buf_extend(struct uvea_buf *buf, size_t bytes)
{
    if (uvea_buf_reserve(buf, bytes) != UVEA_OK) {
        return NULL;
    }
    uint8_t *start = buf->data + buf->len;
    buf->len += bytes;
    return start;
}

enum uvea_error uvea_buf_append(struct uvea_buf *buf, const void *bytes, size_t len)
{
    uint8_t *to = uvea_buf_extend(buf, len);
    if (to == NULL) {
        return UVEA_ERR_MEMORY;
    }
    if (len > 0) {
        memcpy(to, bytes, len);
    }
    return UVEA_OK;
}
