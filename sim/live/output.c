#include "sim/live/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum uvea_error fail(const char *file, struct uvea_error_context *context)
{
    return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", file, strerror(errno));
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, bytes, len);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        bytes += put > 0 ? put : 0;
        len -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

// Under a temporary name, complete and on the disk. errno says what failed.
static bool stage(int fd, const void *bytes, size_t len, bool secret)
{
    bool good =
        fchmod(fd, secret ? 0600 : 0644) == 0 && write_all(fd, bytes, len) && fsync(fd) == 0;
    int failure = errno;
    if (close(fd) != 0 && good) {
        return false;
    }
    errno = failure;
    return good;
}

// A link fails when there is a file already, also one that came to be a moment ago.
static enum uvea_error publish(const char *temporary, const char *file, bool overwrite,
                               struct uvea_error_context *context)
{
    if (overwrite) {
        return rename(temporary, file) == 0 ? UVEA_OK : fail(file, context);
    }
    if (link(temporary, file) == 0) {
        return UVEA_OK;
    }
    return errno != EEXIST
               ? fail(file, context)
               : uvea_error_set(context, UVEA_ERR_USAGE,
                                "%s: is there already, and is not overwritten unless told", file);
}

enum uvea_error uvea_live_write(const char *file, const void *bytes, size_t len, bool secret,
                                bool overwrite, struct uvea_error_context *context)
{
    char temporary[PATH_MAX];
    if ((size_t)snprintf(temporary, sizeof(temporary), "%s.XXXXXX", file) >= sizeof(temporary)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "the name of a file to write is too long");
    }
    int fd = mkostemp(temporary, O_CLOEXEC); // mode 0600
    if (fd < 0) {
        return fail(file, context);
    }
    enum uvea_error error = stage(fd, bytes, len, secret)
                                ? publish(temporary, file, overwrite, context)
                                : fail(file, context);
    (void)unlink(temporary); // renamed: gone already
    return error;
}

enum uvea_error uvea_live_make_directory(const char *directory, bool secret,
                                         struct uvea_error_context *context)
{
    struct stat found;
    if (mkdir(directory, secret ? 0700 : 0755) == 0) {
        return UVEA_OK;
    }
    if (errno != EEXIST) {
        return fail(directory, context);
    }
    if (stat(directory, &found) != 0 || !S_ISDIR(found.st_mode)) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: is no directory", directory);
    }
    return !secret || chmod(directory, 0700) == 0 ? UVEA_OK : fail(directory, context);
}
