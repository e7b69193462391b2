#include "core/posix/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static enum uvea_error fail(const char *name, struct uvea_error_context *context)
{
    char said[128];
    return uvea_error_set(context, UVEA_ERR_NOT_FOUND, "%s: %s", name,
                          strerror_r(errno, said, sizeof(said)));
}

enum uvea_error uvea_file_read_open(int file, const char *name, size_t bytes_max,
                                    struct uvea_buf *out, struct uvea_error_context *context)
{
    const size_t before = out->len;
    for (;;) {
        if (uvea_buf_reserve(out, UVEA_FILE_READ_BYTES) != UVEA_OK) {
            return uvea_error_set(context, UVEA_ERR_MEMORY, "%s: out of memory", name);
        }
        ssize_t got = read(file, out->data + out->len, UVEA_FILE_READ_BYTES);
        if (got < 0 && errno != EINTR) {
            return fail(name, context);
        }
        if (got == 0) {
            return UVEA_OK;
        }
        out->len += got > 0 ? (size_t)got : 0;
        if (out->len - before > bytes_max) {
            return uvea_error_set(context, UVEA_ERR_LIMIT, "%s: longer than %zu bytes", name,
                                  bytes_max);
        }
    }
}

enum uvea_error uvea_file_read(const char *path, size_t bytes_max, struct uvea_buf *out,
                               struct uvea_error_context *context)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return fail(path, context);
    }
    enum uvea_error error = uvea_file_read_open(file, path, bytes_max, out, context);
    (void)close(file);
    return error;
}
