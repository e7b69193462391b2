#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "core/iris/json.h"
#include "core/iris/share.h"

#include <inttypes.h>
#include <string.h>

enum { SHARE_CHARS = UVEA_BASE64_CHARS(UVEA_SHARE_BYTES) };
_Static_assert(UVEA_SHARE_BYTES == 25608 && SHARE_CHARS == 34144, "size of a share string");

enum plane { CODE, MASK };

// The four share strings, in the order in which the plaintext is hashed.
static const struct member {
    const char *name;
    enum uvea_eye eye;
    enum plane plane;
} members[] = {
    {"left_iris_code_shares", UVEA_EYE_LEFT, CODE},
    {"right_iris_code_shares", UVEA_EYE_RIGHT, CODE},
    {"left_mask_code_shares", UVEA_EYE_LEFT, MASK},
    {"right_mask_code_shares", UVEA_EYE_RIGHT, MASK},
};

static const uint16_t *plane_of(const struct uvea_iris_upload *upload, const struct member *member)
{
    const struct uvea_iris_share *share = &upload->eye[member->eye];
    return member->plane == CODE ? share->code : share->mask;
}

static uint16_t *plane_in(struct uvea_iris_upload *upload, const struct member *member)
{
    struct uvea_iris_share *share = &upload->eye[member->eye];
    return member->plane == CODE ? share->code : share->mask;
}

static enum uvea_error append_text(struct uvea_buf *buf, const char *text)
{
    return uvea_buf_append(buf, text, strlen(text));
}

// Appends ,"name":"base64". bytes is room for one share string's bytes.
static enum uvea_error append_share(struct uvea_buf *buf, const char *name, uint64_t id,
                                    const uint16_t plane[UVEA_SHARE_COEFFICIENTS], uint8_t *bytes)
{
    uvea_store_le64(bytes, id);
    for (size_t i = 0; i < UVEA_SHARE_COEFFICIENTS; i++) {
        uvea_store_le16(bytes + 8 + 2 * i, plane[i]);
    }
    UVEA_TRY(append_text(buf, ",\""));
    UVEA_TRY(append_text(buf, name));
    UVEA_TRY(append_text(buf, "\":\""));
    char *text = (char *)uvea_buf_extend(buf, SHARE_CHARS + 1);
    if (text == NULL) {
        return UVEA_ERR_MEMORY;
    }
    uvea_iris_encode_base64(bytes, UVEA_SHARE_BYTES, text);
    text[SHARE_CHARS] = '"'; // in place of the NUL
    return UVEA_OK;
}

enum uvea_error uvea_iris_encode_upload(struct uvea_party party, const struct uvea_iris_upload *in,
                                        struct uvea_buf *buf)
{
    enum uvea_error error = UVEA_ERR_MEMORY;
    size_t before = buf->len;
    uint8_t *bytes = uvea_mem_alloc(UVEA_SHARE_BYTES, 1);
    if (bytes == NULL) {
        goto cleanup;
    }
    UVEA_TRY_CLEANUP(append_text(buf, "{\"IRIS_version\":\"1.0\",\"IRIS_shares_version\":\"1.3\""));
    for (size_t i = 0; i < UVEA_COUNT_OF(members); i++) {
        UVEA_TRY_CLEANUP(append_share(buf, members[i].name, party.index + UINT64_C(1),
                                      plane_of(in, &members[i]), bytes));
    }
    UVEA_TRY_CLEANUP(append_text(buf, "}"));

cleanup:
    if (error != UVEA_OK) {
        buf->len = before;
    }
    if (bytes != NULL) {
        uvea_mem_wipe(bytes, UVEA_SHARE_BYTES);
    }
    uvea_mem_free(bytes);
    return error;
}

enum uvea_error uvea_iris_decode_share(const char *text, size_t len, uint64_t *id,
                                       uint16_t out[UVEA_SHARE_COEFFICIENTS],
                                       struct uvea_error_context *context)
{
    enum uvea_error error;
    uint8_t *bytes = uvea_mem_alloc(UVEA_SHARE_BYTES, 1);
    if (bytes == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "out of memory");
    }
    UVEA_TRY_CLEANUP(uvea_iris_decode_base64(text, len, bytes, UVEA_SHARE_BYTES, context));
    uint64_t found = uvea_load_le64(bytes);
    if (found < 1 || found > UVEA_PARTY_COUNT) {
        error = uvea_error_set(context, UVEA_ERR_FORMAT, "share id %" PRIu64 ", valid are 1 to %d",
                               found, UVEA_PARTY_COUNT);
        goto cleanup;
    }
    *id = found;
    for (size_t i = 0; i < UVEA_SHARE_COEFFICIENTS; i++) {
        out[i] = uvea_load_le16(bytes + 8 + 2 * i);
    }

cleanup:
    uvea_mem_wipe(bytes, UVEA_SHARE_BYTES);
    uvea_mem_free(bytes);
    return error;
}

static enum uvea_error decode_member(struct uvea_party party, const json_t *object,
                                     const struct member *member, struct uvea_iris_upload *upload,
                                     struct uvea_error_context *context)
{
    const char *text = NULL;
    size_t len = 0;
    UVEA_TRY(uvea_iris_get_string(object, member->name, &text, &len, context));
    struct uvea_error_context inner = {{0}};
    uint64_t id = 0;
    enum uvea_error error =
        uvea_iris_decode_share(text, len, &id, plane_in(upload, member), &inner);
    if (error != UVEA_OK) {
        return uvea_error_set(context, error, "member %s: %s", member->name, inner.text);
    }
    if (id != party.index + UINT64_C(1)) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "member %s: share id %" PRIu64 ", party %u wants %u", member->name,
                              id, party.index, party.index + 1u);
    }
    return UVEA_OK;
}

enum uvea_error uvea_iris_decode_upload(struct uvea_party party, const uint8_t *json, size_t len,
                                        struct uvea_iris_upload *out,
                                        struct uvea_error_context *context)
{
    enum uvea_error error;
    const char *version = NULL;
    size_t version_len = 0;
    json_t *object = NULL;
    struct uvea_iris_upload *found = uvea_mem_alloc(1, sizeof(*found));
    if (found == NULL) {
        return uvea_error_set(context, UVEA_ERR_MEMORY, "out of memory");
    }
    UVEA_TRY_CLEANUP(uvea_iris_load_object((const char *)json, len, &object, context));
    // The reference wants both versions to be present but accepts any.
    UVEA_TRY_CLEANUP(uvea_iris_get_string(object, "IRIS_version", &version, &version_len, context));
    UVEA_TRY_CLEANUP(
        uvea_iris_get_string(object, "IRIS_shares_version", &version, &version_len, context));
    for (size_t i = 0; i < UVEA_COUNT_OF(members); i++) {
        UVEA_TRY_CLEANUP(decode_member(party, object, &members[i], found, context));
    }
    memcpy(out, found, sizeof(*out));

cleanup:
    json_decref(object);
    uvea_mem_wipe(found, sizeof(*found));
    uvea_mem_free(found);
    return error;
}
