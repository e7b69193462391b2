#include "core/wire/pack.h"
#include "core/wire/shape.h"
#include "core/wire/value.h"

#include <string.h>

static const char *kind_name(enum uvea_value_kind kind)
{
    const struct uvea_shape *shape = uvea_shape_of((uint8_t)kind);
    return shape != NULL ? shape->name : "unknown";
}

static enum uvea_error wrong_value(const struct uvea_value *value, enum uvea_value_kind expected,
                                   size_t count, struct uvea_error_context *context)
{
    return uvea_error_set(context, UVEA_ERR_PEER,
                          "expected %s with %zu elements, received %s with %zu",
                          kind_name(expected), count, kind_name(value->kind), value->count);
}

static enum uvea_error check_kind(const struct uvea_value *value, enum uvea_value_kind kind,
                                  size_t count, struct uvea_error_context *context)
{
    if (value->kind != kind || value->count != count) {
        return wrong_value(value, kind, count, context);
    }
    return UVEA_OK;
}

// A scalar's count is 1, so it passes for a vector of one.
static enum uvea_error check_elements(const struct uvea_value *value, enum uvea_value_kind scalar,
                                      enum uvea_value_kind vector, size_t count,
                                      struct uvea_error_context *context)
{
    if (value->kind == scalar && count == 1) {
        return UVEA_OK;
    }
    return check_kind(value, vector, count, context);
}

enum uvea_error uvea_value_read_u16(const struct uvea_value *value, uint16_t *out, size_t count,
                                    struct uvea_error_context *context)
{
    UVEA_TRY(check_elements(value, UVEA_VALUE_RING16, UVEA_VALUE_VEC16, count, context));
    uvea_unpack16(out, value->body, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_read_u32(const struct uvea_value *value, uint32_t *out, size_t count,
                                    struct uvea_error_context *context)
{
    UVEA_TRY(check_elements(value, UVEA_VALUE_RING32, UVEA_VALUE_VEC32, count, context));
    uvea_unpack32(out, value->body, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_read_u48(const struct uvea_value *value, uint64_t *out, size_t count,
                                    struct uvea_error_context *context)
{
    UVEA_TRY(check_elements(value, UVEA_VALUE_RING48, UVEA_VALUE_VEC48, count, context));
    uvea_unpack48(out, value->body, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_read_u64(const struct uvea_value *value, uint64_t *out, size_t count,
                                    struct uvea_error_context *context)
{
    UVEA_TRY(check_elements(value, UVEA_VALUE_RING64, UVEA_VALUE_VEC64, count, context));
    uvea_unpack64(out, value->body, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_read_vec16(const struct uvea_value *value, uint16_t *out, size_t count,
                                      struct uvea_error_context *context)
{
    UVEA_TRY(check_kind(value, UVEA_VALUE_VEC16, count, context));
    uvea_unpack16(out, value->body, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_read_bits(const struct uvea_value *value, uint64_t *words, size_t count,
                                     struct uvea_error_context *context)
{
    // Both lone bits take the same path: which of them it is may be a share.
    const struct uvea_shape *lone = uvea_shape_of(UVEA_VALUE_BIT_ZERO);
    if (count == 1 && uvea_shape_of((uint8_t)value->kind) == lone) {
        words[0] = (uint64_t)value->kind >> 4 & 1;
        return UVEA_OK;
    }
    UVEA_TRY(check_kind(value, UVEA_VALUE_VEC_BIT, count, context));
    uvea_unpack_bits(words, value->body, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_read_prf_key(const struct uvea_value *value,
                                        uint8_t out[UVEA_PRF_KEY_BYTES],
                                        struct uvea_error_context *context)
{
    UVEA_TRY(check_kind(value, UVEA_VALUE_PRF_KEY, 1, context));
    memcpy(out, value->body, UVEA_PRF_KEY_BYTES);
    return UVEA_OK;
}

enum uvea_error uvea_value_read_prf_check(const struct uvea_value *value, uint64_t out[2],
                                          struct uvea_error_context *context)
{
    UVEA_TRY(check_kind(value, UVEA_VALUE_PRF_CHECK, 1, context));
    uvea_unpack64(out, value->body, 2);
    return UVEA_OK;
}

enum uvea_error uvea_value_read_checksum(const struct uvea_value *value, uint64_t out[2],
                                         struct uvea_error_context *context)
{
    UVEA_TRY(check_kind(value, UVEA_VALUE_STATE_CHECKSUM, 1, context));
    uvea_unpack64(out, value->body, 2);
    return UVEA_OK;
}
