#include "sim/live/share_key.h"

#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "sim/live/output.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(UVEA_SHARE_KEY_CHARS == UVEA_BASE64_CHARS(UVEA_SHARE_KEY_BYTES), "one key");

enum uvea_error uvea_share_key_write(const char *file, bool overwrite,
                                     struct uvea_share_key_pair *pair,
                                     struct uvea_error_context *context)
{
    char line[UVEA_SHARE_KEY_CHARS + 1];
    uint8_t secret[UVEA_SHARE_KEY_BYTES];
    struct uvea_share_key_pair fresh;
    if (sodium_init() < 0) {
        return uvea_error_set(context, UVEA_ERR_CRYPTO, "%s: no key could be made", file);
    }
    randombytes_buf(secret, sizeof(secret));
    UVEA_TRY(uvea_share_key_pair_from_secret(secret, &fresh));
    uvea_iris_encode_base64(secret, sizeof(secret), line);
    line[UVEA_SHARE_KEY_CHARS] = '\n';
    enum uvea_error error = uvea_live_write(file, line, sizeof(line), true, overwrite, context);
    if (error == UVEA_OK) {
        *pair = fresh;
    }
    uvea_mem_wipe(&fresh, sizeof(fresh));
    uvea_mem_wipe(secret, sizeof(secret));
    uvea_mem_wipe(line, sizeof(line));
    return error;
}

// Reads as much as there is room for.
static enum uvea_error read_private(const char *file, char *text, size_t room, size_t *len,
                                    struct uvea_error_context *context)
{
    struct stat found;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return uvea_error_set(context, UVEA_ERR_NOT_FOUND, "%s: %s", file, strerror(errno));
    }
    ssize_t got = fstat(fd, &found) == 0 ? read(fd, text, room) : -1;
    int failure = errno;
    close(fd);
    if (got < 0) {
        return uvea_error_set(context, UVEA_ERR_IO, "%s: %s", file, strerror(failure));
    }
    if ((found.st_mode & 077) != 0) {
        return uvea_error_set(context, UVEA_ERR_USAGE,
                              "%s: others may read it (mode %03o); chmod 600 it and trust it no "
                              "more",
                              file, found.st_mode & 0777);
    }
    *len = (size_t)got;
    return UVEA_OK;
}

enum uvea_error uvea_share_key_read(const char *file, struct uvea_share_key_pair *pair,
                                    struct uvea_error_context *context)
{
    char text[UVEA_SHARE_KEY_CHARS + 2]; // a newline, and one more to see that it is too long
    size_t len = 0;
    uint8_t secret[UVEA_SHARE_KEY_BYTES];
    struct uvea_share_key_pair found = {.public_key = {0}};
    struct uvea_error_context inner = {{0}};
    enum uvea_error error = read_private(file, text, sizeof(text), &len, context);
    if (error != UVEA_OK) {
        goto cleanup;
    }
    len -= len > 0 && text[len - 1] == '\n' ? 1 : 0;
    error = uvea_iris_decode_base64(text, len, secret, sizeof(secret), &inner);
    if (error != UVEA_OK) {
        error = uvea_error_set(context, error, "%s: no share key: %.300s", file, inner.text);
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(uvea_share_key_pair_from_secret(secret, &found));
    *pair = found;
cleanup:
    uvea_mem_wipe(text, sizeof(text));
    uvea_mem_wipe(secret, sizeof(secret));
    uvea_mem_wipe(&found, sizeof(found));
    return error;
}

void uvea_share_key_text(const uint8_t public_key[UVEA_SHARE_KEY_BYTES],
                         char text[UVEA_SHARE_KEY_CHARS + 1])
{
    uvea_iris_encode_base64(public_key, UVEA_SHARE_KEY_BYTES, text);
}
