#include "core/service/share_object.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "core/iris/json.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

enum {
    SHA_BYTES = crypto_hash_sha256_BYTES,
    SHA_CHARS = 2 * SHA_BYTES,
    BOX_BYTES_MAX = 1 << 20,                                    // what the base64 reader takes
    FILE_BYTES = 4 * UVEA_BASE64_CHARS(UVEA_SHARE_BYTES) + 256, // at least what one share file has
};
_Static_assert(UVEA_SHARE_KEY_BYTES == crypto_box_PUBLICKEYBYTES, "size of public keys");
_Static_assert(UVEA_SHARE_KEY_BYTES == crypto_box_SECRETKEYBYTES, "size of secret keys");
_Static_assert(UVEA_SHARE_KEY_BYTES == crypto_box_SEEDBYTES, "size of seeds");
_Static_assert(UVEA_SHARE_KEY_BYTES == crypto_scalarmult_SCALARBYTES, "size of scalars");

// The members that are party p's.
static const char *const box_names[UVEA_PARTY_COUNT] = {"iris_share_0", "iris_share_1",
                                                        "iris_share_2"};
static const char *const hash_names[UVEA_PARTY_COUNT] = {"iris_hashes_0", "iris_hashes_1",
                                                         "iris_hashes_2"};

enum uvea_error uvea_share_key_pair_from_seed(const uint8_t seed[UVEA_SHARE_KEY_BYTES],
                                              struct uvea_share_key_pair *pair)
{
    if (sodium_init() < 0 ||
        crypto_box_seed_keypair(pair->public_key, pair->secret_key, seed) != 0) {
        uvea_mem_wipe(pair, sizeof(*pair));
        return UVEA_ERR_CRYPTO;
    }
    return UVEA_OK;
}

enum uvea_error uvea_share_key_pair_from_secret(const uint8_t secret[UVEA_SHARE_KEY_BYTES],
                                                struct uvea_share_key_pair *pair)
{
    if (sodium_init() < 0 || crypto_scalarmult_base(pair->public_key, secret) != 0) {
        uvea_mem_wipe(pair, sizeof(*pair));
        return UVEA_ERR_CRYPTO;
    }
    memcpy(pair->secret_key, secret, UVEA_SHARE_KEY_BYTES);
    return UVEA_OK;
}

static void hash_text(const uint8_t *bytes, size_t count, char text[SHA_CHARS + 1])
{
    uint8_t sha[SHA_BYTES];
    (void)crypto_hash_sha256(sha, bytes, count);
    (void)sodium_bin2hex(text, SHA_CHARS + 1, sha, sizeof(sha));
}

// ---- writing

// A sealed box as crypto_box_seal makes it, but with the one-time keys that belong to `seed`:
// one-time public key || crypto_box(plain), nonce = BLAKE2b(one-time public key || recipient).
static enum uvea_error seal(const struct uvea_buf *plain,
                            const uint8_t recipient[UVEA_SHARE_KEY_BYTES],
                            const uint8_t seed[UVEA_SHARE_KEY_BYTES], uint8_t *box)
{
    struct uvea_share_key_pair once;
    uint8_t nonce[crypto_box_NONCEBYTES];
    uint8_t both[2 * UVEA_SHARE_KEY_BYTES];

    UVEA_TRY(uvea_share_key_pair_from_seed(seed, &once));
    memcpy(both, once.public_key, UVEA_SHARE_KEY_BYTES);
    memcpy(both + UVEA_SHARE_KEY_BYTES, recipient, UVEA_SHARE_KEY_BYTES);
    memcpy(box, once.public_key, UVEA_SHARE_KEY_BYTES);
    const bool good = crypto_generichash(nonce, sizeof(nonce), both, sizeof(both), NULL, 0) == 0 &&
                      crypto_box_easy(box + UVEA_SHARE_KEY_BYTES, plain->data, plain->len, nonce,
                                      recipient, once.secret_key) == 0;
    uvea_mem_wipe(&once, sizeof(once));
    return good ? UVEA_OK : UVEA_ERR_CRYPTO;
}

static enum uvea_error append_text(struct uvea_buf *buf, const char *text)
{
    return uvea_buf_append(buf, text, strlen(text));
}

static enum uvea_error append_base64(struct uvea_buf *buf, const uint8_t *bytes, size_t count)
{
    const size_t chars = UVEA_BASE64_CHARS(count);
    UVEA_TRY(uvea_buf_reserve(buf, chars + 1));
    uvea_iris_encode_base64(bytes, count, (char *)buf->data + buf->len);
    buf->len += chars;
    return UVEA_OK;
}

// Appends "iris_share_p":"...","iris_hashes_p":"...".
static enum uvea_error append_part(struct uvea_party party, const struct uvea_iris_upload *upload,
                                   const uint8_t recipient[UVEA_SHARE_KEY_BYTES],
                                   const uint8_t seed[UVEA_SHARE_KEY_BYTES], struct uvea_buf *json)
{
    enum uvea_error error;
    struct uvea_buf plain = {0};
    struct uvea_buf box = {0};
    char hash[SHA_CHARS + 1];

    UVEA_TRY_CLEANUP(uvea_buf_reserve(&plain, FILE_BYTES)); // growing leaves copies behind
    UVEA_TRY_CLEANUP(uvea_iris_encode_upload(party, upload, &plain));
    uint8_t *sealed = uvea_buf_extend(&box, plain.len + crypto_box_SEALBYTES);
    if (sealed == NULL) {
        error = UVEA_ERR_MEMORY;
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(seal(&plain, recipient, seed, sealed));
    hash_text(plain.data, plain.len, hash);
    const char *const before[] = {"\"", box_names[party.index], "\":\""};
    const char *const after[] = {"\",\"", hash_names[party.index], "\":\"", hash, "\""};
    for (size_t i = 0; i < UVEA_COUNT_OF(before); i++) {
        UVEA_TRY_CLEANUP(append_text(json, before[i]));
    }
    UVEA_TRY_CLEANUP(append_base64(json, box.data, box.len));
    for (size_t i = 0; i < UVEA_COUNT_OF(after); i++) {
        UVEA_TRY_CLEANUP(append_text(json, after[i]));
    }

cleanup:
    if (plain.data != NULL) {
        uvea_mem_wipe(plain.data, plain.capacity);
    }
    uvea_buf_deinit(&plain);
    uvea_buf_deinit(&box);
    return error;
}

enum uvea_error
uvea_share_object_encode(const struct uvea_iris_upload uploads[UVEA_PARTY_COUNT],
                         const uint8_t public_keys[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES],
                         const uint8_t entropy[UVEA_PARTY_COUNT][UVEA_SHARE_KEY_BYTES],
                         struct uvea_buf *json)
{
    enum uvea_error error;
    const size_t before = json->len;

    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        UVEA_TRY_CLEANUP(append_text(json, p == 0 ? "{" : ","));
        UVEA_TRY_CLEANUP(
            append_part(uvea_party_at(p), &uploads[p], public_keys[p], entropy[p], json));
    }
    UVEA_TRY_CLEANUP(append_text(json, "}"));

cleanup:
    if (error != UVEA_OK) {
        json->len = before;
    }
    return error;
}

// ---- reading

// Bytes that canonical base64 of this length and padding stands for.
static size_t base64_bytes(const char *text, size_t len)
{
    size_t padding = 0;
    while (padding < 2 && padding < len && text[len - 1 - padding] == '=') {
        padding++;
    }
    return len / 4 * 3 < padding ? 0 : len / 4 * 3 - padding;
}

static enum uvea_error read_box(const json_t *object, const char *name, struct uvea_buf *box,
                                struct uvea_error_context *context)
{
    struct uvea_error_context inner = {{0}};
    const char *text = NULL;
    size_t len = 0;

    UVEA_TRY(uvea_iris_get_string(object, name, &text, &len, context));
    const size_t bytes = base64_bytes(text, len);
    if (bytes > BOX_BYTES_MAX) {
        return uvea_error_set(context, UVEA_ERR_LIMIT, "member %s: more than %d bytes", name,
                              BOX_BYTES_MAX);
    }
    if (bytes < crypto_box_SEALBYTES) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "member %s: too short for a sealed box",
                              name);
    }
    uint8_t *out = uvea_buf_extend(box, bytes);
    if (out == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "out of memory");
    }
    enum uvea_error error = uvea_iris_decode_base64(text, len, out, bytes, &inner);
    return error == UVEA_OK ? UVEA_OK
                            : uvea_error_set(context, error, "member %s: %s", name, inner.text);
}

static bool opens(const struct uvea_share_key_pair *pair, const struct uvea_buf *box,
                  uint8_t *plain)
{
    return crypto_box_seal_open(plain, box->data, box->len, pair->public_key, pair->secret_key) ==
           0;
}

static enum uvea_error open_box(const struct uvea_share_keys *keys, const char *name,
                                const struct uvea_buf *box, struct uvea_buf *plain,
                                struct uvea_error_context *context)
{
    if (uvea_buf_reserve(plain, box->len) != UVEA_OK) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "out of memory");
    }
    if (sodium_init() < 0) {
        return uvea_error_set(context, UVEA_ERR_CRYPTO, "the cryptographic library does not start");
    }
    plain->len = box->len - crypto_box_SEALBYTES;
    if (opens(&keys->current, box, plain->data) ||
        (keys->has_previous && opens(&keys->previous, box, plain->data))) {
        return UVEA_OK;
    }
    return uvea_error_set(context, UVEA_ERR_FORMAT, "member %s: the box opens with %s", name,
                          keys->has_previous ? "neither key" : "no key");
}

static enum uvea_error check_hash(const json_t *object, const char *name,
                                  const struct uvea_buf *plain, struct uvea_error_context *context)
{
    const char *text = NULL;
    size_t len = 0;
    char hash[SHA_CHARS + 1];

    UVEA_TRY(uvea_iris_get_string(object, name, &text, &len, context));
    hash_text(plain->data, plain->len, hash);
    if (len != SHA_CHARS || sodium_memcmp(text, hash, SHA_CHARS) != 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "member %s: not the lower-case SHA-256 of the share file", name);
    }
    return UVEA_OK;
}

enum uvea_error uvea_share_object_decode(struct uvea_party party,
                                         const struct uvea_share_keys *keys, const uint8_t *json,
                                         size_t bytes, struct uvea_iris_upload *out,
                                         struct uvea_error_context *context)
{
    enum uvea_error error;
    struct uvea_error_context inner = {{0}};
    struct uvea_buf box = {0};
    struct uvea_buf plain = {0};
    json_t *object = NULL;
    const char *name = box_names[party.index];

    UVEA_TRY_CLEANUP(uvea_iris_load_object((const char *)json, bytes, &object, context));
    UVEA_TRY_CLEANUP(read_box(object, name, &box, context));
    UVEA_TRY_CLEANUP(open_box(keys, name, &box, &plain, context));
    UVEA_TRY_CLEANUP(check_hash(object, hash_names[party.index], &plain, context));
    error = uvea_iris_decode_upload(party, plain.data, plain.len, out, &inner);
    if (error != UVEA_OK) {
        error = uvea_error_set(context, error, "share file: %s", inner.text);
    }

cleanup:
    if (plain.data != NULL) {
        uvea_mem_wipe(plain.data, plain.capacity);
    }
    uvea_buf_deinit(&plain);
    uvea_buf_deinit(&box);
    json_decref(object);
    return error;
}
