#include "core/iris/base64.h"

#include "core/base/check.h"
#include "core/base/mem.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20 };

static bool in_alphabet(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

// OpenSSL skips white space and takes padding anywhere, so the shape is settled before it is asked.
static enum uvea_error check_shape(const char *text, size_t len, size_t bytes,
                                   struct uvea_error_context *context)
{
    size_t body = len;
    while (body > 0 && len - body < 2 && text[body - 1] == '=') {
        body--;
    }
    for (size_t i = 0; i < body; i++) {
        if (!in_alphabet(text[i])) {
            return uvea_error_set(context, UVEA_ERR_FORMAT,
                                  "base64: character %zu is not in the alphabet", i + 1);
        }
    }
    if (len % 4 != 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "base64: %zu characters are not a multiple of 4", len);
    }
    size_t found = len / 4 * 3 - (len - body);
    if (found != bytes) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "base64: holds %zu bytes, %zu are wanted",
                              found, bytes);
    }
    return UVEA_OK;
}

enum uvea_error uvea_iris_decode_base64(const char *text, size_t len, uint8_t *out, size_t bytes,
                                        struct uvea_error_context *context)
{
    UVEA_CHECK(bytes <= BYTES_MAX);
    enum uvea_error error = UVEA_OK;
    memset(out, 0, bytes);
    UVEA_TRY(check_shape(text, len, bytes, context));

    // The decoder writes whole groups and the check below wants the text again.
    unsigned char *groups = uvea_mem_alloc(len + 1, 1);
    char *again = uvea_mem_alloc(len + 1, 1);
    if (groups == NULL || again == NULL) {
        error = uvea_error_set(context, UVEA_ERR_MEMORY, "out of memory");
        goto cleanup;
    }
    if (EVP_DecodeBlock(groups, (const unsigned char *)text, (int)len) != (int)(len / 4 * 3)) {
        error = uvea_error_set(context, UVEA_ERR_FORMAT, "base64: the text cannot be decoded");
        goto cleanup;
    }
    uvea_iris_encode_base64(groups, bytes, again);
    if (CRYPTO_memcmp(again, text, len) != 0) {
        error = uvea_error_set(context, UVEA_ERR_FORMAT,
                               "base64: the unused bits of the last character are not zero");
        goto cleanup;
    }
    memcpy(out, groups, bytes);

cleanup:
    if (groups != NULL) {
        uvea_mem_wipe(groups, len);
    }
    if (again != NULL) {
        uvea_mem_wipe(again, len);
    }
    uvea_mem_free(groups);
    uvea_mem_free(again);
    return error;
}

void uvea_iris_encode_base64(const uint8_t *from, size_t bytes, char *text)
{
    UVEA_CHECK(bytes <= BYTES_MAX);
    (void)EVP_EncodeBlock((unsigned char *)text, from, (int)bytes);
}
