#include "core/base/endian.h"
#include "core/wire/shape.h"
#include "core/wire/value.h"

#include <inttypes.h>

static enum uvea_error find_shape(uint8_t descriptor, const struct uvea_shape **shape,
                                  struct uvea_error_context *context)
{
    *shape = uvea_shape_of(descriptor);
    if (*shape == NULL) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "unknown value descriptor 0x%02x",
                              (unsigned)descriptor);
    }
    return UVEA_OK;
}

// Bytes of the whole value; 0 when head_bytes do not tell. head_bytes >= 1.
static uint64_t total_bytes(const struct uvea_shape *shape, const uint8_t *head, size_t head_bytes)
{
    if (shape->body == UVEA_SHAPE_FIXED) {
        return 1u + (uint64_t)shape->body_bytes;
    }
    if (head_bytes < UVEA_VALUE_HEADER_BYTES) {
        return 0;
    }
    return UVEA_VALUE_HEADER_BYTES + uvea_shape_body_bytes(shape, uvea_load_le32(head + 1));
}

enum uvea_error uvea_value_total_bytes(const uint8_t *head, size_t head_bytes, size_t bytes_max,
                                       size_t *total, struct uvea_error_context *context)
{
    if (head_bytes == 0) {
        *total = 0;
        return UVEA_OK;
    }
    const struct uvea_shape *shape;
    UVEA_TRY(find_shape(head[0], &shape, context));
    uint64_t bytes = total_bytes(shape, head, head_bytes);
    if (bytes > bytes_max) {
        return uvea_error_set(context, UVEA_ERR_LIMIT,
                              "%s value of %" PRIu64 " bytes exceeds the bound of %zu", shape->name,
                              bytes, bytes_max);
    }
    *total = (size_t)bytes;
    return UVEA_OK;
}

static enum uvea_error decode_fixed(const struct uvea_shape *shape, const uint8_t *bytes,
                                    size_t len, struct uvea_value *value,
                                    struct uvea_error_context *context)
{
    if (len != 1u + (size_t)shape->body_bytes) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "%s value has %zu bytes instead of %u",
                              shape->name, len, 1u + shape->body_bytes);
    }
    *value = (struct uvea_value){(enum uvea_value_kind)bytes[0], bytes + 1, shape->body_bytes, 1};
    return UVEA_OK;
}

static enum uvea_error check_padding(const struct uvea_value *value,
                                     struct uvea_error_context *context)
{
    size_t used = value->count % 8;
    if (used != 0 && value->body[value->body_bytes - 1] >> used != 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "VecRingBit value of %zu bits has bits set behind its end",
                              value->count);
    }
    return UVEA_OK;
}

static enum uvea_error decode_with_length(const struct uvea_shape *shape, const uint8_t *bytes,
                                          size_t len, struct uvea_value *value,
                                          struct uvea_error_context *context)
{
    uint64_t total = total_bytes(shape, bytes, len);
    if (total == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%s value of %zu bytes ends within its length field", shape->name,
                              len);
    }
    uint32_t length = uvea_load_le32(bytes + 1);
    if (len != total) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%s value has %zu bytes, but its length field says %" PRIu64,
                              shape->name, len, total);
    }
    struct uvea_value found = {(enum uvea_value_kind)bytes[0], bytes + UVEA_VALUE_HEADER_BYTES,
                               len - UVEA_VALUE_HEADER_BYTES, length};
    if (shape->body == UVEA_SHAPE_BITS) {
        UVEA_TRY(check_padding(&found, context));
    } else if (length % shape->width != 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%s value: length %" PRIu32 " is no multiple of %u", shape->name,
                              length, (unsigned)shape->width);
    } else {
        found.count = length / shape->width;
    }
    *value = found;
    return UVEA_OK;
}

// Inner values are not looked at.
static enum uvea_error decode_one(const uint8_t *bytes, size_t len, struct uvea_value *value,
                                  struct uvea_error_context *context)
{
    if (len == 0) {
        return uvea_error_set(context, UVEA_ERR_FORMAT, "Empty serialized data");
    }
    const struct uvea_shape *shape;
    UVEA_TRY(find_shape(bytes[0], &shape, context));
    return shape->body == UVEA_SHAPE_FIXED ? decode_fixed(shape, bytes, len, value, context)
                                           : decode_with_length(shape, bytes, len, value, context);
}

enum uvea_error uvea_value_next_inner(const struct uvea_value *vec, size_t *offset,
                                      struct uvea_value *inner, bool *more,
                                      struct uvea_error_context *context)
{
    if (vec->kind != UVEA_VALUE_NETWORK_VEC || *offset > vec->body_bytes) {
        return uvea_error_set(context, UVEA_ERR_PEER, "expected a NetworkVec");
    }
    size_t left = vec->body_bytes - *offset;
    if (left == 0) {
        *more = false;
        return UVEA_OK;
    }
    const uint8_t *bytes = vec->body + *offset;
    const struct uvea_shape *shape;
    UVEA_TRY(find_shape(bytes[0], &shape, context));
    if (!shape->inner) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%s value at byte %zu of a NetworkVec is not allowed there",
                              shape->name, *offset);
    }
    uint64_t total = total_bytes(shape, bytes, left);
    if (total == 0 || total > left) {
        return uvea_error_set(context, UVEA_ERR_FORMAT,
                              "%s value at byte %zu runs past the end of its NetworkVec",
                              shape->name, *offset);
    }
    UVEA_TRY(decode_one(bytes, (size_t)total, inner, context));
    *offset += (size_t)total;
    *more = true;
    return UVEA_OK;
}

static enum uvea_error check_inner_values(const struct uvea_value *vec,
                                          struct uvea_error_context *context)
{
    struct uvea_value inner;
    size_t offset = 0;
    bool more = true;
    while (more) {
        UVEA_TRY(uvea_value_next_inner(vec, &offset, &inner, &more, context));
    }
    return UVEA_OK;
}

enum uvea_error uvea_value_decode(const uint8_t *bytes, size_t len, struct uvea_value *value,
                                  struct uvea_error_context *context)
{
    struct uvea_value decoded;
    UVEA_TRY(decode_one(bytes, len, &decoded, context));
    if (decoded.kind == UVEA_VALUE_NETWORK_VEC) {
        UVEA_TRY(check_inner_values(&decoded, context));
    }
    *value = decoded;
    return UVEA_OK;
}
