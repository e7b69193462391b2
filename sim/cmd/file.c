#include "sim/cmd/file.h"

#include "core/base/mem.h"
#include "core/posix/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 16 };

// ---- input

enum uvea_error uvea_input_read(const char *path, struct uvea_buf *buf,
                                struct uvea_error_context *context)
{
    return strcmp(path, "-") == 0 ? uvea_file_read_open(STDIN_FILENO, "standard input",
                                                        UVEA_FILE_BYTES_MAX, buf, context)
                                  : uvea_file_read(path, UVEA_FILE_BYTES_MAX, buf, context);
}

// ---- output

static enum uvea_error fail(const struct uvea_output *out, struct uvea_error_context *context)
{
    return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", out->path, strerror(errno));
}

// A temporary file in the directory of out->path, with the permissions that open() would give.
static enum uvea_error stage(struct uvea_output *out, bool secret,
                             struct uvea_error_context *context)
{
    int len = snprintf(out->temporary, sizeof(out->temporary), "%s.XXXXXX", out->path);
    if (len < 0 || (size_t)len >= sizeof(out->temporary)) {
        errno = ENAMETOOLONG;
        return fail(out, context);
    }
    out->fd = mkostemp(out->temporary, O_CLOEXEC);
    if (out->fd < 0) {
        return fail(out, context);
    }
    out->open = true;
    out->staged = true;
    if (!secret) {
        mode_t mask = umask(0);
        umask(mask);
        if (fchmod(out->fd, 0666 & ~mask) != 0) {
            return fail(out, context);
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_output_open(struct uvea_output *out, const char *path, bool secret,
                                 struct uvea_error_context *context)
{
    *out = (struct uvea_output){0};
    if (path == NULL || strcmp(path, "-") == 0) {
        (void)snprintf(out->path, sizeof(out->path), "standard output");
        out->fd = STDOUT_FILENO;
        out->open = true;
        return UVEA_OK;
    }
    if ((size_t)snprintf(out->path, sizeof(out->path), "%s", path) >= sizeof(out->path)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "output name is too long");
    }
    struct stat found;
    if (stat(path, &found) != 0 || S_ISREG(found.st_mode)) {
        return stage(out, secret, context);
    }
    out->fd = open(path, O_WRONLY | O_CLOEXEC);
    out->open = out->fd >= 0;
    return out->open ? UVEA_OK : fail(out, context);
}

// A pipe is not opened: its reader would see it closed.
enum uvea_error uvea_output_check(const char *path, struct uvea_error_context *context)
{
    struct uvea_output out = {0};
    struct stat found;
    if (path == NULL || strcmp(path, "-") == 0) {
        return UVEA_OK;
    }
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
        errno = S_ISDIR(found.st_mode) ? EISDIR : 0;
        return errno == 0 && access(path, W_OK) == 0
                   ? UVEA_OK
                   : uvea_error_set(context, UVEA_ERR_IO, "%s: %s", path, strerror(errno));
    }
    const enum uvea_error error = uvea_output_open(&out, path, false, context);
    uvea_output_close(&out);
    return error;
}

static enum uvea_error flush(struct uvea_output *out, struct uvea_error_context *context)
{
    size_t done = 0;
    while (done < out->pending.len) {
        ssize_t put = write(out->fd, out->pending.data + done, out->pending.len - done);
        if (put < 0 && errno != EINTR) {
            return fail(out, context);
        }
        done += put > 0 ? (size_t)put : 0;
    }
    uvea_buf_clear(&out->pending);
    return UVEA_OK;
}

enum uvea_error uvea_output_write(struct uvea_output *out, const void *bytes, size_t len,
                                  struct uvea_error_context *context)
{
    if (uvea_buf_append(&out->pending, bytes, len) != UVEA_OK) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "%s: out of memory", out->path);
    }
    return out->pending.len < CHUNK_BYTES ? UVEA_OK : flush(out, context);
}

enum uvea_error uvea_output_print(struct uvea_output *out, struct uvea_error_context *context,
                                  const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof(text)) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "%s: a line is too long", out->path);
    }
    return uvea_output_write(out, text, (size_t)len, context);
}

enum uvea_error uvea_output_seal(struct uvea_output *out, struct uvea_error_context *context)
{
    UVEA_TRY(flush(out, context));
    if (out->staged && fsync(out->fd) != 0) {
        return fail(out, context);
    }
    if (out->fd != STDOUT_FILENO) {
        out->open = false;
        if (close(out->fd) != 0) {
            return fail(out, context);
        }
    }
    return UVEA_OK;
}

enum uvea_error uvea_output_publish(struct uvea_output *out, struct uvea_error_context *context)
{
    if (out->staged) {
        if (rename(out->temporary, out->path) != 0) {
            return fail(out, context);
        }
        out->staged = false;
    }
    return UVEA_OK;
}

void uvea_output_close(struct uvea_output *out)
{
    if (out->open && out->fd != STDOUT_FILENO) {
        close(out->fd);
    }
    if (out->staged) {
        unlink(out->temporary);
    }
    if (out->pending.data != NULL) {
        uvea_mem_wipe(out->pending.data, out->pending.capacity);
    }
    uvea_buf_deinit(&out->pending);
    *out = (struct uvea_output){0};
}

enum uvea_error uvea_output_finish(struct uvea_output *out, struct uvea_error_context *context)
{
    UVEA_TRY(uvea_output_seal(out, context));
    return uvea_output_publish(out, context);
}
