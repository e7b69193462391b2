// Share objects, read by a party with two fixed keys. Bits 0-1 of the first byte choose the party.
// Bits 2-3: 0, the rest is the object; otherwise the rest is a share file, sealed here to the
// party's current key (1), the one before (2) or to nobody's (3). In share files the byte 1 stands
// for most of a share string, so that small inputs reach the far side of the size checks. Without
// bit 4 a byte of the box is spoilt, without bit 5 the hash (so that digits are whole).
#include "core/service/share_object.h"

#include "core/base/buf.h"
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "fuzz/fuzz.h"

#include <jansson.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    SHARE_FILL = UVEA_BASE64_CHARS(UVEA_SHARE_BYTES) - 32,
    FILLS_MAX = 5, // a share file has four
    BARE = 0,
    SEALED_TO_PREVIOUS = 2,
};

struct choice {
    struct uvea_party party;
    unsigned recipient;
    bool spoil_hash;
    bool spoil_box;
};

static struct uvea_share_key_pair pair_of(uint8_t value)
{
    struct uvea_share_key_pair pair;
    uint8_t seed[UVEA_SHARE_KEY_BYTES];
    memset(seed, value, sizeof(seed));
    UVEA_CHECK(uvea_share_key_pair_from_seed(seed, &pair) == UVEA_OK);
    return pair;
}

static void expand(const uint8_t *data, size_t len, struct uvea_buf *out)
{
    unsigned fills = 0;
    UVEA_CHECK(uvea_buf_reserve(out, len + FILLS_MAX * SHARE_FILL) == UVEA_OK);
    for (size_t i = 0; i < len; i++) {
        if (data[i] == 1 && fills < FILLS_MAX) {
            uint8_t *to = uvea_buf_extend(out, SHARE_FILL);
            UVEA_CHECK(to != NULL);
            memset(to, 'A', SHARE_FILL);
            fills++;
        } else {
            UVEA_CHECK(uvea_buf_append(out, data + i, 1) == UVEA_OK);
        }
    }
}

// A sealed box with a fixed one-time key, so that equal inputs give equal boxes.
static void seal(const struct uvea_buf *plain, const uint8_t *recipient, struct uvea_buf *box)
{
    const struct uvea_share_key_pair once = pair_of(9);
    uint8_t nonce[crypto_box_NONCEBYTES];
    uint8_t both[2 * UVEA_SHARE_KEY_BYTES];
    uint8_t *to = uvea_buf_extend(box, plain->len + crypto_box_SEALBYTES);
    UVEA_CHECK(to != NULL);
    memcpy(both, once.public_key, UVEA_SHARE_KEY_BYTES);
    memcpy(both + UVEA_SHARE_KEY_BYTES, recipient, UVEA_SHARE_KEY_BYTES);
    memcpy(to, once.public_key, UVEA_SHARE_KEY_BYTES);
    UVEA_CHECK(crypto_generichash(nonce, sizeof(nonce), both, sizeof(both), NULL, 0) == 0);
    UVEA_CHECK(crypto_box_easy(to + UVEA_SHARE_KEY_BYTES, plain->data, plain->len, nonce, recipient,
                               once.secret_key) == 0);
}

static void append_object(const struct choice *choice, const struct uvea_buf *plain,
                          const uint8_t *recipient, struct uvea_buf *json)
{
    struct uvea_buf box = {0};
    uint8_t sha[crypto_hash_sha256_BYTES];
    char hash[2 * sizeof(sha) + 1];
    char around[256];
    seal(plain, recipient, &box);
    box.data[box.len / 2] ^= choice->spoil_box ? 1 : 0;
    UVEA_CHECK(crypto_hash_sha256(sha, plain->data, plain->len) == 0);
    sha[31] ^= choice->spoil_hash ? 1 : 0;
    sodium_bin2hex(hash, sizeof(hash), sha, sizeof(sha));
    int len = snprintf(around, sizeof(around), "{\"iris_hashes_%u\":\"%s\",\"iris_share_%u\":\"",
                       choice->party.index, hash, choice->party.index);
    UVEA_CHECK(uvea_buf_reserve(json, UVEA_BASE64_CHARS(box.len) + sizeof(around)) == UVEA_OK);
    UVEA_CHECK(uvea_buf_append(json, around, (size_t)len) == UVEA_OK);
    uvea_iris_encode_base64(box.data, box.len, (char *)json->data + json->len);
    json->len += UVEA_BASE64_CHARS(box.len);
    UVEA_CHECK(uvea_buf_append(json, "\"}", 2) == UVEA_OK);
    uvea_buf_deinit(&box);
}

static void check_filled(const void *memory, size_t bytes)
{
    const uint8_t *at = memory;
    UVEA_CHECK(at[0] == 0x5A && memcmp(at, at + 1, bytes - 1) == 0);
}

static enum uvea_error decode(struct uvea_party party, const struct uvea_buf *json,
                              struct uvea_iris_upload *out)
{
    struct uvea_share_keys keys = {.current = pair_of(1), .previous = pair_of(2)};
    struct uvea_error_context context = {{0}};
    keys.has_previous = true;
    memset(out, 0x5A, sizeof(*out));
    enum uvea_error error =
        uvea_share_object_decode(party, &keys, json->data, json->len, out, &context);
    if (error != UVEA_OK) {
        UVEA_CHECK(error == UVEA_ERR_FORMAT || error == UVEA_ERR_LIMIT);
        UVEA_CHECK(context.text[0] != '\0');
        check_filled(out, sizeof(*out));
    }
    return error;
}

// What is sealed well is taken exactly when it is a share file.
static void one_file(const struct choice *choice, const struct uvea_buf *plain,
                     struct uvea_iris_upload *uploads)
{
    struct uvea_buf json = {0};
    const struct uvea_share_key_pair recipient = pair_of((uint8_t)choice->recipient);
    append_object(choice, plain, recipient.public_key, &json);
    enum uvea_error error = decode(choice->party, &json, &uploads[0]);
    memset(&uploads[1], 0x5A, sizeof(uploads[1]));
    enum uvea_error want =
        uvea_iris_decode_upload(choice->party, plain->data, plain->len, &uploads[1], NULL);
    if (choice->recipient > SEALED_TO_PREVIOUS || choice->spoil_box || choice->spoil_hash) {
        UVEA_CHECK(error == UVEA_ERR_FORMAT);
    } else {
        UVEA_CHECK(error == want);
        UVEA_CHECK(memcmp(&uploads[0], &uploads[1], sizeof(uploads[0])) == 0);
    }
    uvea_buf_deinit(&json);
}

int uvea_fuzz_one(const uint8_t *data, size_t len)
{
    json_object_seed(1); // hash order must not depend on the process
    if (len == 0) {
        return 0;
    }
    const struct choice choice = {uvea_party_at(data[0] & 3), data[0] >> 2 & 3,
                                  (data[0] & 0x20) == 0, (data[0] & 0x10) == 0};
    struct uvea_iris_upload *uploads = uvea_mem_alloc(2, sizeof(*uploads));
    UVEA_CHECK(uploads != NULL);
    if (choice.recipient == BARE) {
        struct uvea_buf json = {.data = (uint8_t *)data + 1, .len = len - 1};
        (void)decode(choice.party, &json, &uploads[0]);
    } else {
        struct uvea_buf plain = {0};
        expand(data + 1, len - 1, &plain);
        one_file(&choice, &plain, uploads);
        uvea_buf_deinit(&plain);
    }
    uvea_mem_free(uploads);
    return 0;
}
