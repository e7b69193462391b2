#include "sim/live/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

// Room for everything at once: a buffer that grows would leave copies of a key behind.
static enum uvea_error read_all(int fd, const char *file, size_t bytes_max, struct uvea_buf *buf,
                                struct uvea_error_context *context)
{
    size_t left = bytes_max + 1; // one more, to see that there is too much
    if (uvea_buf_reserve(buf, left) != UVEA_OK) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "%s: out of memory", file);
    }
    while (left > 0) {
        ssize_t got = read(fd, buf->data + buf->len, left);
        if (got == 0) {
            return UVEA_OK;
        }
        if (got < 0 && errno != EINTR) {
            return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", file, strerror(errno));
        }
        buf->len += got > 0 ? (size_t)got : 0;
        left -= got > 0 ? (size_t)got : 0;
    }
    return uvea_error_set(context, UVEA_ERR_LIMIT, "%s: longer than %zu bytes", file, bytes_max);
}

enum uvea_error uvea_live_read(const char *file, size_t bytes_max, struct uvea_buf *buf,
                               struct uvea_error_context *context)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return uvea_error_set(context, UVEA_ERR_NOT_FOUND, "%s: %s", file, strerror(errno));
    }
    enum uvea_error error = read_all(fd, file, bytes_max, buf, context);
    close(fd);
    return error;
}
