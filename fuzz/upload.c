// What clients upload and tools read: share files, share strings, template lines, template planes.
// The first byte chooses: bits 0-1 the kind, bits 2-3 the party. The rest is the text, in which the
// bytes 1 and 2 stand for most of a share string and most of a plane, so that small inputs reach
// the far side of the size checks; bit 6 of the first byte turns that off.
#include "core/base/buf.h"
#include "core/base/check.h"
#include "core/base/mem.h"
#include "core/iris/base64.h"
#include "core/iris/share.h"
#include "core/iris/template.h"
#include "fuzz/fuzz.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

enum {
    SHARE_CHARS = UVEA_BASE64_CHARS(UVEA_SHARE_BYTES),
    SHARE_FILL = SHARE_CHARS - 32,
    PLANE_FILL = UVEA_IRIS_BASE64_CHARS - 24,
    FILLS_MAX = 8,
};

static void append_fill(struct uvea_buf *out, size_t count)
{
    uint8_t *to = uvea_buf_extend(out, count);
    UVEA_CHECK(to != NULL);
    memset(to, 'A', count);
}

static void expand(const uint8_t *data, size_t len, bool raw, struct uvea_buf *out)
{
    unsigned fills = 0;
    for (size_t i = 0; i < len; i++) {
        bool fill = !raw && (data[i] == 1 || data[i] == 2) && fills < FILLS_MAX;
        if (fill) {
            append_fill(out, data[i] == 1 ? SHARE_FILL : PLANE_FILL);
            fills++;
        } else {
            UVEA_CHECK(uvea_buf_append(out, data + i, 1) == UVEA_OK);
        }
    }
}

static void check_refusal(enum uvea_error error, const struct uvea_error_context *context)
{
    UVEA_CHECK(error == UVEA_ERR_FORMAT || error == UVEA_ERR_LIMIT);
    UVEA_CHECK(context->text[0] != '\0');
}

static void check_filled(const void *memory, size_t bytes)
{
    const uint8_t *at = memory;
    UVEA_CHECK(at[0] == 0x5A && memcmp(at, at + 1, bytes - 1) == 0);
}

static void one_upload(struct uvea_party party, const struct uvea_buf *text)
{
    struct uvea_error_context context = {{0}};
    struct uvea_iris_upload *upload = uvea_mem_alloc(2, sizeof(*upload));
    UVEA_CHECK(upload != NULL);
    memset(upload, 0x5A, sizeof(*upload));
    enum uvea_error error =
        uvea_iris_decode_upload(party, text->data, text->len, &upload[0], &context);
    if (error == UVEA_OK) {
        struct uvea_buf again = {0};
        UVEA_CHECK(uvea_iris_encode_upload(party, &upload[0], &again) == UVEA_OK);
        UVEA_CHECK(uvea_iris_decode_upload(party, again.data, again.len, &upload[1], NULL) ==
                   UVEA_OK);
        UVEA_CHECK(memcmp(&upload[0], &upload[1], sizeof(*upload)) == 0);
        uvea_buf_deinit(&again);
    } else {
        check_refusal(error, &context);
        check_filled(upload, sizeof(*upload));
    }
    uvea_mem_free(upload);
}

static void one_share(const struct uvea_buf *text)
{
    struct uvea_error_context context = {{0}};
    uint64_t id = 0;
    uint16_t *share = uvea_mem_alloc(UVEA_SHARE_COEFFICIENTS, sizeof(*share));
    UVEA_CHECK(share != NULL);
    memset(share, 0x5A, UVEA_SHARE_COEFFICIENTS * sizeof(*share));
    enum uvea_error error =
        uvea_iris_decode_share((const char *)text->data, text->len, &id, share, &context);
    if (error == UVEA_OK) {
        UVEA_CHECK(id >= 1 && id <= 3 && text->len == SHARE_CHARS);
    } else {
        check_refusal(error, &context);
        check_filled(share, UVEA_SHARE_COEFFICIENTS * sizeof(*share));
        UVEA_CHECK(id == 0);
    }
    uvea_mem_free(share);
}

static void one_template(const struct uvea_buf *text)
{
    struct uvea_error_context context = {{0}};
    struct uvea_template found;
    memset(&found, 0x5A, sizeof(found));
    enum uvea_error error =
        uvea_iris_decode_json((const char *)text->data, text->len, &found, &context);
    if (error != UVEA_OK) {
        check_refusal(error, &context);
        check_filled(&found, sizeof(found));
        return;
    }
    struct uvea_buf again = {0};
    struct uvea_template second;
    UVEA_CHECK(uvea_iris_encode_json(&found, &again) == UVEA_OK);
    UVEA_CHECK(uvea_iris_decode_json((const char *)again.data, again.len, &second, NULL) ==
               UVEA_OK);
    UVEA_CHECK(memcmp(&found, &second, sizeof(found)) == 0);
    uvea_buf_deinit(&again);
}

static void one_plane(const struct uvea_buf *text)
{
    struct uvea_error_context context = {{0}};
    uint64_t plane[UVEA_IRIS_WORDS];
    memset(plane, 0x5A, sizeof(plane));
    enum uvea_error error =
        uvea_iris_decode_plane((const char *)text->data, text->len, plane, &context);
    if (error != UVEA_OK) {
        check_refusal(error, &context);
        check_filled(plane, sizeof(plane));
        return;
    }
    char again[UVEA_IRIS_BASE64_CHARS + 1];
    uvea_iris_encode_plane(plane, again);
    UVEA_CHECK(text->len == UVEA_IRIS_BASE64_CHARS && memcmp(again, text->data, text->len) == 0);
}

int uvea_fuzz_one(const uint8_t *data, size_t len)
{
    json_object_seed(1); // hash order must not depend on the process
    if (len == 0) {
        return 0;
    }
    struct uvea_buf text = {0};
    UVEA_CHECK(uvea_buf_reserve(&text, len) == UVEA_OK);
    expand(data + 1, len - 1, (data[0] & 0x40) != 0, &text);
    switch (data[0] & 3) {
    case 0:
        one_upload(uvea_party_at(data[0] >> 2 & 3), &text);
        break;
    case 1:
        one_share(&text);
        break;
    case 2:
        one_template(&text);
        break;
    default:
        one_plane(&text);
        break;
    }
    uvea_buf_deinit(&text);
    return 0;
}
