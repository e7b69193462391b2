#include "core/coord/json.h"
#include "core/coord/sync.h"

#include <string.h>

// Where the value of the member node_id stands in a text that was found to be an object.
struct place {
    size_t at;
    size_t bytes;
};

static size_t string_bytes(const char *text)
{
    size_t bytes = 1;

    while (text[bytes] != '"') {
        bytes += text[bytes] == '\\' ? 2 : 1;
    }
    return bytes + 1;
}

static size_t space_bytes(const char *text)
{
    return strspn(text, " \t\n\r");
}

// Looks for the name at depth 1 in front of a colon; a name spelled with escapes is not found.
static bool find_node_id(const char *text, struct place *place)
{
    static const char name[] = "\"node_id\"";
    unsigned depth = 0;

    for (size_t at = 0; text[at] != '\0';) {
        if (text[at] != '"') {
            depth += text[at] == '{' || text[at] == '[';
            depth -= text[at] == '}' || text[at] == ']';
            at++;
            continue;
        }
        const size_t bytes = string_bytes(text + at);
        const size_t colon = at + bytes + space_bytes(text + at + bytes);
        if (depth == 1 && text[colon] == ':' && bytes == sizeof(name) - 1 &&
            memcmp(text + at, name, bytes) == 0) {
            place->at = colon + 1 + space_bytes(text + colon + 1);
            place->bytes = strspn(text + place->at, "-0123456789");
            return true;
        }
        at += bytes;
    }
    return false;
}

static enum uvea_error check_result(const char *result, struct uvea_error_context *context)
{
    json_t *object = NULL;
    uint64_t node = 0;

    UVEA_TRY(uvea_coord_json_load((const uint8_t *)result, strlen(result),
                                  UVEA_STORE_BODY_BYTES_MAX, &object, context));
    const enum uvea_error error =
        uvea_coord_json_number(object, "node_id", UINT32_MAX, &node, context);
    json_decref(object);
    return error == UVEA_ERR_LIMIT ? UVEA_ERR_FORMAT : error;
}

enum uvea_error uvea_sync_readdress(const char *result, struct uvea_party party,
                                    struct uvea_buf *buf, struct uvea_error_context *context)
{
    const size_t before = buf->len;
    struct place place = {0};
    enum uvea_error error;

    UVEA_TRY(check_result(result, context));
    if (!find_node_id(result, &place) || place.bytes == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "member node_id is not written plainly");
    }
    UVEA_TRY_CLEANUP(uvea_buf_append(buf, result, place.at));
    UVEA_TRY_CLEANUP(uvea_coord_append_number(buf, party.index));
    UVEA_TRY_CLEANUP(uvea_coord_append(buf, result + place.at + place.bytes));
    UVEA_TRY_CLEANUP(uvea_buf_append(buf, "", 1));
    buf->len--;

cleanup:
    if (error != UVEA_OK) {
        buf->len = before;
        return uvea_error_set(context, error, "out of memory");
    }
    return UVEA_OK;
}
