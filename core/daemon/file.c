#include "core/daemon/file.h"

#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "core/posix/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OTHERS_MODE = 077,
    KEY_FILE_BYTES_MAX = 256,
};

static enum uvea_error fail(const char *path, struct uvea_error_context *context)
{
    char said[128];

    return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", path,
                          strerror_r(errno, said, sizeof(said)));
}

static enum uvea_error check_private(int file, const char *path, struct uvea_error_context *context)
{
    struct stat status;

    if (fstat(file, &status) != 0) {
        return fail(path, context);
    }
    if (!S_ISREG(status.st_mode)) {
        return uvea_error_set(context, UVEA_ERR_USAGE, "%s: is no regular file", path);
    }
    if ((status.st_mode & OTHERS_MODE) != 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "%s: its mode is %03o, so that others than its owner may use the "
                              "key; make it 600 or 400",
                              path, (unsigned)(status.st_mode & 0777));
    }
    return UVEA_OK;
}

static enum uvea_error decode_key(const char *path, const struct uvea_buf *text,
                                  struct uvea_share_key_pair *pair,
                                  struct uvea_error_context *context)
{
    uint8_t secret[UVEA_SHARE_KEY_BYTES];
    struct uvea_error_context why = {{0}};
    size_t chars = text->len;
    enum uvea_error error;

    chars -= chars > 0 && text->data[chars - 1] == '\n' ? 1 : 0;
    chars -= chars > 0 && text->data[chars - 1] == '\r' ? 1 : 0;
    error = uvea_iris_decode_base64((const char *)text->data, chars, secret, sizeof(secret), &why);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "%s: no share key: %s", path, why.text);
    }
    error = uvea_share_key_pair_from_secret(secret, pair);
    uvea_mem_wipe(secret, sizeof(secret));
    return error;
}

enum uvea_error uvea_file_read_share_key(const char *path, struct uvea_share_key_pair *pair,
                                         struct uvea_error_context *context)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct uvea_buf text = {0};
    enum uvea_error error;

    if (file < 0) {
        return fail(path, context);
    }
    UVEA_TRY_CLEANUP(check_private(file, path, context));
    // In one piece, so that no copy stays behind in memory that was given back.
    UVEA_TRY_CLEANUP(
        uvea_buf_reserve(&text, KEY_FILE_BYTES_MAX + 2 * (size_t)UVEA_FILE_READ_BYTES));
    UVEA_TRY_CLEANUP(uvea_file_read_open(file, path, KEY_FILE_BYTES_MAX, &text, context));
    UVEA_TRY_CLEANUP(decode_key(path, &text, pair, context));
cleanup:
    uvea_mem_wipe(text.data, text.len);
    uvea_buf_deinit(&text);
    (void)close(file);
    return error;
}
