// One encoded value. What decodes must encode to the same bytes again, and must be refused by every
// reader that expects something else.
#include "core/wire/value.h"

#include "core/base/check.h"
#include "core/base/mem.h"
#include "fuzz/fuzz.h"

#include <string.h>

// Room for the elements of a value, for whichever reader: 8 bytes per element and one more element.
static void *element_room(size_t count)
{
    void *room = uvea_mem_alloc(count + 1, sizeof(uint64_t));
    UVEA_CHECK(room != NULL);
    return room;
}

static bool is_scalar(const struct uvea_value *value)
{
    return value->kind != UVEA_VALUE_VEC16 && value->kind != UVEA_VALUE_VEC32 &&
           value->kind != UVEA_VALUE_VEC48 && value->kind != UVEA_VALUE_VEC64 &&
           value->kind != UVEA_VALUE_VEC_BIT;
}

static void encode_elements(const struct uvea_value *value, void *room, struct uvea_buf *out)
{
    size_t count = value->count;
    bool scalar = is_scalar(value);
    enum uvea_error error = UVEA_ERR_STATE;
    switch (value->kind) {
    case UVEA_VALUE_RING16:
    case UVEA_VALUE_VEC16:
        UVEA_CHECK(uvea_value_read_u16(value, room, count, NULL) == UVEA_OK);
        error = (scalar ? uvea_value_append_u16 : uvea_value_append_vec16)(out, room, count);
        break;
    case UVEA_VALUE_RING32:
    case UVEA_VALUE_VEC32:
        UVEA_CHECK(uvea_value_read_u32(value, room, count, NULL) == UVEA_OK);
        error = (scalar ? uvea_value_append_u32 : uvea_value_append_vec32)(out, room, count);
        break;
    case UVEA_VALUE_RING48:
    case UVEA_VALUE_VEC48:
        UVEA_CHECK(uvea_value_read_u48(value, room, count, NULL) == UVEA_OK);
        error = (scalar ? uvea_value_append_u48 : uvea_value_append_vec48)(out, room, count);
        break;
    case UVEA_VALUE_RING64:
    case UVEA_VALUE_VEC64:
        UVEA_CHECK(uvea_value_read_u64(value, room, count, NULL) == UVEA_OK);
        error = (scalar ? uvea_value_append_u64 : uvea_value_append_vec64)(out, room, count);
        break;
    default:
        UVEA_CHECK(uvea_value_read_bits(value, room, count, NULL) == UVEA_OK);
        error = (scalar ? uvea_value_append_bits : uvea_value_append_vec_bit)(out, room, count);
        break;
    }
    UVEA_CHECK(error == UVEA_OK);
}

static void encode(const struct uvea_value *value, void *room, struct uvea_buf *out)
{
    uint64_t pair[2];
    enum uvea_error error = UVEA_OK;
    switch (value->kind) {
    case UVEA_VALUE_PRF_KEY:
        UVEA_CHECK(uvea_value_read_prf_key(value, room, NULL) == UVEA_OK);
        error = uvea_value_append_prf_key(out, room);
        break;
    case UVEA_VALUE_PRF_CHECK:
        UVEA_CHECK(uvea_value_read_prf_check(value, pair, NULL) == UVEA_OK);
        error = uvea_value_append_prf_check(out, pair);
        break;
    case UVEA_VALUE_STATE_CHECKSUM:
        UVEA_CHECK(uvea_value_read_checksum(value, pair, NULL) == UVEA_OK);
        error = uvea_value_append_checksum(out, pair[0], pair[1]);
        break;
    case UVEA_VALUE_BYTES:
        error = uvea_value_append_bytes(out, value->body, value->count);
        break;
    default:
        encode_elements(value, room, out);
        break;
    }
    UVEA_CHECK(error == UVEA_OK);
}

static void encode_network_vec(const struct uvea_value *vec, void *room, struct uvea_buf *out)
{
    size_t mark;
    UVEA_CHECK(uvea_value_begin_network_vec(out, &mark) == UVEA_OK);
    size_t offset = 0;
    for (;;) {
        struct uvea_value inner;
        bool more;
        UVEA_CHECK(uvea_value_next_inner(vec, &offset, &inner, &more, NULL) == UVEA_OK);
        if (!more) {
            break;
        }
        encode(&inner, room, out);
    }
    UVEA_CHECK(uvea_value_end_network_vec(out, mark) == UVEA_OK);
}

// How many of the readers of elements take the value for `count` elements.
static unsigned readers_that_accept(const struct uvea_value *value, void *room, size_t count)
{
    unsigned accepted = 0;
    accepted += uvea_value_read_u16(value, room, count, NULL) == UVEA_OK;
    accepted += uvea_value_read_u32(value, room, count, NULL) == UVEA_OK;
    accepted += uvea_value_read_u48(value, room, count, NULL) == UVEA_OK;
    accepted += uvea_value_read_u64(value, room, count, NULL) == UVEA_OK;
    accepted += uvea_value_read_bits(value, room, count, NULL) == UVEA_OK;
    return accepted;
}

static void check_readers(const struct uvea_value *value, void *room)
{
    UVEA_CHECK(readers_that_accept(value, room, value->count) <= 1);
    UVEA_CHECK(readers_that_accept(value, room, value->count + 1) == 0);
    UVEA_CHECK(value->count == 0 || readers_that_accept(value, room, value->count - 1) == 0);
    bool vec16 = uvea_value_read_vec16(value, room, value->count, NULL) == UVEA_OK;
    UVEA_CHECK(vec16 == (value->kind == UVEA_VALUE_VEC16));
}

// The head alone must tell the same length, as soon as it tells one.
static void check_total(const uint8_t *data, size_t len)
{
    for (size_t head = 0; head <= len && head <= UVEA_VALUE_HEADER_BYTES; head++) {
        size_t total;
        UVEA_CHECK(uvea_value_total_bytes(data, head, len, &total, NULL) == UVEA_OK);
        UVEA_CHECK(total == len || (total == 0 && head < UVEA_VALUE_HEADER_BYTES));
    }
    size_t total;
    UVEA_CHECK(uvea_value_total_bytes(data, len, len - 1, &total, NULL) == UVEA_ERR_LIMIT);
}

int uvea_fuzz_one(const uint8_t *data, size_t len)
{
    struct uvea_value value = {0};
    struct uvea_error_context context = {{0}};
    enum uvea_error error = uvea_value_decode(data, len, &value, &context);
    if (error != UVEA_OK) {
        UVEA_CHECK(error == UVEA_ERR_FORMAT && context.text[0] != '\0');
        UVEA_CHECK(value.body == NULL && value.count == 0);
        return 0;
    }
    check_total(data, len);
    void *room = element_room(value.count);
    struct uvea_buf out = {0};
    if (value.kind == UVEA_VALUE_NETWORK_VEC) {
        encode_network_vec(&value, room, &out);
    } else {
        encode(&value, room, &out);
    }
    UVEA_CHECK(out.len == len && memcmp(out.data, data, len) == 0);
    check_readers(&value, room);
    uvea_buf_deinit(&out);
    uvea_mem_free(room);
    return 0;
}
