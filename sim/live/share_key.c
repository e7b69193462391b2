#include "sim/live/share_key.h"

#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "sim/live/output.h"

#include <sodium.h>

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

void uvea_share_key_text(const uint8_t public_key[UVEA_SHARE_KEY_BYTES],
                         char text[UVEA_SHARE_KEY_CHARS + 1])
{
    uvea_iris_encode_base64(public_key, UVEA_SHARE_KEY_BYTES, text);
}
