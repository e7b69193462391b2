#include "core/base/check.h"
#include "core/base/endian.h"
#include "core/wire/pack.h"
#include "core/wire/shape.h"
#include "core/wire/value.h"

#include <string.h>

// *body is where the caller writes body_bytes bytes at once.
static enum uvea_error append_fixed(struct uvea_buf *buf, unsigned descriptor, size_t body_bytes,
                                    uint8_t **body)
{
    uint8_t *to = uvea_buf_extend(buf, 1 + body_bytes);
    if (to == NULL) {
        return UVEA_ERR_MEMORY;
    }
    to[0] = (uint8_t)descriptor;
    *body = to + 1;
    return UVEA_OK;
}

// length is what the length field says: bytes, or bits of VEC_BIT.
static enum uvea_error append_header(struct uvea_buf *buf, enum uvea_value_kind kind, size_t length,
                                     size_t body_bytes, uint8_t **body)
{
    uint8_t *to = uvea_buf_extend(buf, UVEA_VALUE_HEADER_BYTES + body_bytes);
    if (to == NULL) {
        return UVEA_ERR_MEMORY;
    }
    to[0] = (uint8_t)kind;
    uvea_store_le32(to + 1, (uint32_t)length);
    *body = to + UVEA_VALUE_HEADER_BYTES;
    return UVEA_OK;
}

static enum uvea_error append_vector(struct uvea_buf *buf, enum uvea_value_kind kind, size_t count,
                                     size_t width, uint8_t **body)
{
    if (count > UINT32_MAX / width) {
        return UVEA_ERR_LIMIT;
    }
    return append_header(buf, kind, count * width, count * width, body);
}

enum uvea_error uvea_value_append_vec16(struct uvea_buf *buf, const uint16_t *from, size_t count)
{
    uint8_t *body;
    UVEA_TRY(append_vector(buf, UVEA_VALUE_VEC16, count, 2, &body));
    uvea_pack16(body, from, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_vec32(struct uvea_buf *buf, const uint32_t *from, size_t count)
{
    uint8_t *body;
    UVEA_TRY(append_vector(buf, UVEA_VALUE_VEC32, count, 4, &body));
    uvea_pack32(body, from, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_vec48(struct uvea_buf *buf, const uint64_t *from, size_t count)
{
    uint8_t *body;
    UVEA_TRY(append_vector(buf, UVEA_VALUE_VEC48, count, 6, &body));
    uvea_pack48(body, from, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_vec64(struct uvea_buf *buf, const uint64_t *from, size_t count)
{
    uint8_t *body;
    UVEA_TRY(append_vector(buf, UVEA_VALUE_VEC64, count, 8, &body));
    uvea_pack64(body, from, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_u16(struct uvea_buf *buf, const uint16_t *from, size_t count)
{
    if (count != 1) {
        return uvea_value_append_vec16(buf, from, count);
    }
    uint8_t *body;
    UVEA_TRY(append_fixed(buf, UVEA_VALUE_RING16, 2, &body));
    uvea_pack16(body, from, 1);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_u32(struct uvea_buf *buf, const uint32_t *from, size_t count)
{
    if (count != 1) {
        return uvea_value_append_vec32(buf, from, count);
    }
    uint8_t *body;
    UVEA_TRY(append_fixed(buf, UVEA_VALUE_RING32, 4, &body));
    uvea_pack32(body, from, 1);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_u48(struct uvea_buf *buf, const uint64_t *from, size_t count)
{
    if (count != 1) {
        return uvea_value_append_vec48(buf, from, count);
    }
    uint8_t *body;
    UVEA_TRY(append_fixed(buf, UVEA_VALUE_RING48, 6, &body));
    uvea_pack48(body, from, 1);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_u64(struct uvea_buf *buf, const uint64_t *from, size_t count)
{
    if (count != 1) {
        return uvea_value_append_vec64(buf, from, count);
    }
    uint8_t *body;
    UVEA_TRY(append_fixed(buf, UVEA_VALUE_RING64, 8, &body));
    uvea_pack64(body, from, 1);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_vec_bit(struct uvea_buf *buf, const uint64_t *words, size_t count)
{
    if (count > UINT32_MAX) {
        return UVEA_ERR_LIMIT;
    }
    uint8_t *body;
    UVEA_TRY(append_header(buf, UVEA_VALUE_VEC_BIT, count, (count + 7) / 8, &body));
    uvea_pack_bits(body, words, count);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_bits(struct uvea_buf *buf, const uint64_t *words, size_t count)
{
    if (count != 1) {
        return uvea_value_append_vec_bit(buf, words, count);
    }
    // Arithmetic instead of a choice: the bit may be a share.
    unsigned bit = (unsigned)(words[0] & 1);
    uint8_t *body;
    return append_fixed(buf, UVEA_VALUE_BIT_ZERO | bit << 4, 0, &body);
}

enum uvea_error uvea_value_append_prf_key(struct uvea_buf *buf,
                                          const uint8_t key[UVEA_PRF_KEY_BYTES])
{
    uint8_t *body;
    UVEA_TRY(append_fixed(buf, UVEA_VALUE_PRF_KEY, UVEA_PRF_KEY_BYTES, &body));
    memcpy(body, key, UVEA_PRF_KEY_BYTES);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_prf_check(struct uvea_buf *buf, const uint64_t value[2])
{
    uint8_t *body;
    UVEA_TRY(append_fixed(buf, UVEA_VALUE_PRF_CHECK, 16, &body));
    uvea_pack64(body, value, 2);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_checksum(struct uvea_buf *buf, uint64_t irises, uint64_t graph)
{
    uint8_t *body;
    UVEA_TRY(append_fixed(buf, UVEA_VALUE_STATE_CHECKSUM, 16, &body));
    uvea_store_le64(body, irises);
    uvea_store_le64(body + 8, graph);
    return UVEA_OK;
}

enum uvea_error uvea_value_append_bytes(struct uvea_buf *buf, const uint8_t *from, size_t count)
{
    uint8_t *body;
    UVEA_TRY(append_vector(buf, UVEA_VALUE_BYTES, count, 1, &body));
    if (count > 0) {
        memcpy(body, from, count);
    }
    return UVEA_OK;
}

enum uvea_error uvea_value_begin_network_vec(struct uvea_buf *buf, size_t *mark)
{
    uint8_t *body;
    UVEA_TRY(append_header(buf, UVEA_VALUE_NETWORK_VEC, 0, 0, &body));
    *mark = buf->len;
    return UVEA_OK;
}

enum uvea_error uvea_value_end_network_vec(struct uvea_buf *buf, size_t mark)
{
    UVEA_CHECK(mark >= UVEA_VALUE_HEADER_BYTES && mark <= buf->len);
    size_t body_bytes = buf->len - mark;
    if (body_bytes > UINT32_MAX) {
        return UVEA_ERR_LIMIT;
    }
    uint8_t *header = buf->data + mark - UVEA_VALUE_HEADER_BYTES;
    uvea_store_le32(header + 1, (uint32_t)body_bytes);
    // Only a programmer can have put a value there that no reader accepts.
    struct uvea_value vec;
    UVEA_CHECK(uvea_value_decode(header, UVEA_VALUE_HEADER_BYTES + body_bytes, &vec, NULL) ==
               UVEA_OK);
    return UVEA_OK;
}
