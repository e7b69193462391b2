// Vectors of every length that packing could get wrong: the bytes are compared with the definition
// (element by element, bit by bit), read back, and refused by readers that expect something else.
#include "core/base/chacha.h"
#include "core/base/check.h"
#include "core/wire/value.h"
#include "tests/support/cmocka.h"

#include <string.h>

enum { COUNT_MAX = 10007, GUARD = 0x5a };

static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 129, 1000, COUNT_MAX};

static uint64_t elements[COUNT_MAX];

static int fill_elements(void **state)
{
    (void)state;
    struct uvea_chacha rng;
    uvea_chacha_init_seeded(&rng, 20);
    for (size_t i = 0; i < COUNT_MAX; i++) {
        elements[i] = uvea_chacha_next_u64(&rng);
    }
    return 0;
}

// One width of element: how it is written, read, and which descriptors it has.
struct width {
    size_t memory_bytes;
    size_t wire_bytes;
    enum uvea_value_kind scalar;
    enum uvea_value_kind vector;
};

static const struct width widths[] = {
    {2, 2, UVEA_VALUE_RING16, UVEA_VALUE_VEC16},
    {4, 4, UVEA_VALUE_RING32, UVEA_VALUE_VEC32},
    {8, 6, UVEA_VALUE_RING48, UVEA_VALUE_VEC48},
    {8, 8, UVEA_VALUE_RING64, UVEA_VALUE_VEC64},
};

static enum uvea_error append(const struct width *width, struct uvea_buf *buf, const void *from,
                              size_t count)
{
    switch (width->scalar) {
    case UVEA_VALUE_RING16:
        return uvea_value_append_u16(buf, from, count);
    case UVEA_VALUE_RING32:
        return uvea_value_append_u32(buf, from, count);
    case UVEA_VALUE_RING48:
        return uvea_value_append_u48(buf, from, count);
    default:
        return uvea_value_append_u64(buf, from, count);
    }
}

static enum uvea_error append_vector(const struct width *width, struct uvea_buf *buf,
                                     const void *from, size_t count)
{
    switch (width->scalar) {
    case UVEA_VALUE_RING16:
        return uvea_value_append_vec16(buf, from, count);
    case UVEA_VALUE_RING32:
        return uvea_value_append_vec32(buf, from, count);
    case UVEA_VALUE_RING48:
        return uvea_value_append_vec48(buf, from, count);
    default:
        return uvea_value_append_vec64(buf, from, count);
    }
}

static enum uvea_error read_elements(const struct width *width, const struct uvea_value *value,
                                     void *out, size_t count, struct uvea_error_context *context)
{
    switch (width->scalar) {
    case UVEA_VALUE_RING16:
        return uvea_value_read_u16(value, out, count, context);
    case UVEA_VALUE_RING32:
        return uvea_value_read_u32(value, out, count, context);
    case UVEA_VALUE_RING48:
        return uvea_value_read_u48(value, out, count, context);
    default:
        return uvea_value_read_u64(value, out, count, context);
    }
}

// The elements as an array of that width in memory.
static void narrow(const struct width *width, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t u16 = (uint16_t)elements[i];
        uint32_t u32 = (uint32_t)elements[i];
        const void *from = width->memory_bytes == 2   ? (const void *)&u16
                           : width->memory_bytes == 4 ? (const void *)&u32
                                                      : (const void *)&elements[i];
        memcpy((uint8_t *)out + i * width->memory_bytes, from, width->memory_bytes);
    }
}

static uint64_t element_at(const struct width *width, const void *array, size_t i)
{
    if (width->memory_bytes == 2) {
        return ((const uint16_t *)array)[i];
    }
    return width->memory_bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static void assert_little_endian(const struct width *width, const uint8_t *body, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t byte = 0; byte < width->wire_bytes; byte++) {
            assert_int_equal(body[i * width->wire_bytes + byte],
                             (uint8_t)(elements[i] >> (8 * byte)));
        }
    }
}

static void assert_reads_back(const struct width *width, const struct uvea_value *value,
                              size_t count)
{
    static uint64_t out[COUNT_MAX + 1];
    memset(out, GUARD, sizeof(out));
    assert_int_equal(read_elements(width, value, out, count, NULL), UVEA_OK);
    uint64_t mask = UINT64_MAX >> (64 - 8 * width->wire_bytes);
    for (size_t i = 0; i < count; i++) {
        assert_true(element_at(width, out, i) == (elements[i] & mask));
    }
    assert_int_equal(((uint8_t *)out)[count * width->memory_bytes], GUARD);
}

// Every other width and every other count; what the caller's array held must stay.
static void assert_refused_elsewhere(const struct width *width, const struct uvea_value *value,
                                     size_t count)
{
    static uint64_t out[COUNT_MAX + 1];
    memset(out, GUARD, sizeof(out));
    for (size_t i = 0; i < UVEA_COUNT_OF(widths); i++) {
        size_t wrong[] = {count + 1, count - 1, 2 * count + 1, count};
        for (size_t k = 0; k < UVEA_COUNT_OF(wrong); k++) {
            if (wrong[k] == count && &widths[i] == width) {
                continue;
            }
            struct uvea_error_context context = {{0}};
            assert_int_equal(read_elements(&widths[i], value, out, wrong[k], &context),
                             UVEA_ERR_PEER);
            assert_true(context.text[0] != '\0');
        }
    }
    assert_int_equal(uvea_value_read_bits(value, out, count, NULL), UVEA_ERR_PEER);
    for (size_t i = 0; i < sizeof(out); i++) {
        assert_int_equal(((uint8_t *)out)[i], GUARD);
    }
}

static void elements_of_every_width(void **state)
{
    (void)state;
    static uint64_t from[COUNT_MAX];
    for (size_t w = 0; w < UVEA_COUNT_OF(widths); w++) {
        const struct width *width = &widths[w];
        for (size_t c = 0; c < UVEA_COUNT_OF(counts); c++) {
            size_t count = counts[c];
            struct uvea_buf buf = {0};
            struct uvea_value value;
            narrow(width, count, from);
            assert_int_equal(append(width, &buf, from, count), UVEA_OK);
            assert_int_equal(uvea_value_decode(buf.data, buf.len, &value, NULL), UVEA_OK);
            assert_int_equal(value.kind, count == 1 ? width->scalar : width->vector);
            assert_int_equal(value.count, count);
            assert_int_equal(value.body_bytes, count * width->wire_bytes);
            assert_int_equal(buf.len, value.body_bytes + (count == 1 ? 1 : 5));
            assert_little_endian(width, value.body, count);
            assert_reads_back(width, &value, count);
            assert_refused_elsewhere(width, &value, count);
            uvea_buf_deinit(&buf);
        }
    }
}

static void vectors_of_every_width(void **state)
{
    (void)state;
    static uint64_t from[COUNT_MAX];
    for (size_t w = 0; w < UVEA_COUNT_OF(widths); w++) {
        for (size_t c = 0; c < UVEA_COUNT_OF(counts); c++) {
            struct uvea_buf buf = {0};
            struct uvea_value value;
            narrow(&widths[w], counts[c], from);
            assert_int_equal(append_vector(&widths[w], &buf, from, counts[c]), UVEA_OK);
            assert_int_equal(uvea_value_decode(buf.data, buf.len, &value, NULL), UVEA_OK);
            assert_int_equal(value.kind, widths[w].vector);
            assert_reads_back(&widths[w], &value, counts[c]);
            uvea_buf_deinit(&buf);
        }
    }
}

static void vec16_reader_insists_on_the_vector(void **state)
{
    (void)state;
    uint16_t element = 5;
    uint16_t out[2] = {9, 9};
    struct uvea_buf buf = {0};
    struct uvea_value value;
    assert_int_equal(uvea_value_append_u16(&buf, &element, 1), UVEA_OK);
    assert_int_equal(uvea_value_decode(buf.data, buf.len, &value, NULL), UVEA_OK);
    assert_int_equal(uvea_value_read_vec16(&value, out, 1, NULL), UVEA_ERR_PEER);
    uvea_buf_clear(&buf);
    assert_int_equal(uvea_value_append_vec16(&buf, &element, 1), UVEA_OK);
    assert_int_equal(uvea_value_decode(buf.data, buf.len, &value, NULL), UVEA_OK);
    assert_int_equal(uvea_value_read_vec16(&value, out, 2, NULL), UVEA_ERR_PEER);
    assert_int_equal(out[0], 9);
    assert_int_equal(uvea_value_read_vec16(&value, out, 1, NULL), UVEA_OK);
    assert_int_equal(out[0], 5);
    assert_int_equal(out[1], 9);
    uvea_buf_deinit(&buf);
}

static unsigned bit_at(size_t i)
{
    return elements[i / 64] >> i % 64 & 1;
}

static void assert_bits(const struct uvea_value *value, size_t count)
{
    static uint64_t out[COUNT_MAX / 64 + 2];
    memset(out, GUARD, sizeof(out));
    assert_int_equal(uvea_value_read_bits(value, out, count, NULL), UVEA_OK);
    size_t words = (count + 63) / 64;
    for (size_t i = 0; i < words * 64; i++) {
        assert_int_equal(out[i / 64] >> i % 64 & 1, i < count ? bit_at(i) : 0);
    }
    assert_int_equal(((uint8_t *)(out + words))[0], GUARD);

    memset(out, GUARD, sizeof(out));
    assert_int_equal(uvea_value_read_bits(value, out, count + 1, NULL), UVEA_ERR_PEER);
    assert_int_equal(uvea_value_read_bits(value, out, count - 1, NULL), UVEA_ERR_PEER);
    assert_int_equal(uvea_value_read_u64(value, out, count, NULL), UVEA_ERR_PEER);
    assert_int_equal(((uint8_t *)out)[0], GUARD);
}

static void bits(void **state)
{
    (void)state;
    for (size_t c = 0; c < UVEA_COUNT_OF(counts); c++) {
        size_t count = counts[c];
        struct uvea_buf buf = {0};
        struct uvea_value value;
        assert_int_equal(uvea_value_append_vec_bit(&buf, elements, count), UVEA_OK);
        assert_int_equal(buf.len, 5 + (count + 7) / 8);
        for (size_t i = 0; i < (buf.len - 5) * 8; i++) {
            assert_int_equal(buf.data[5 + i / 8] >> i % 8 & 1, i < count ? bit_at(i) : 0);
        }
        assert_int_equal(uvea_value_decode(buf.data, buf.len, &value, NULL), UVEA_OK);
        assert_int_equal(value.count, count);
        assert_bits(&value, count);

        uvea_buf_clear(&buf);
        assert_int_equal(uvea_value_append_bits(&buf, elements, count), UVEA_OK);
        assert_int_equal(buf.len, count == 1 ? 1 : 5 + (count + 7) / 8);
        assert_int_equal(uvea_value_decode(buf.data, buf.len, &value, NULL), UVEA_OK);
        assert_bits(&value, count);
        uvea_buf_deinit(&buf);
    }
}

static void bytes(void **state)
{
    (void)state;
    for (size_t c = 0; c < UVEA_COUNT_OF(counts); c++) {
        struct uvea_buf buf = {0};
        struct uvea_value value;
        assert_int_equal(uvea_value_append_bytes(&buf, (const uint8_t *)elements, counts[c]),
                         UVEA_OK);
        assert_int_equal(uvea_value_decode(buf.data, buf.len, &value, NULL), UVEA_OK);
        assert_int_equal(value.kind, UVEA_VALUE_BYTES);
        assert_int_equal(value.count, counts[c]);
        assert_int_equal(value.body_bytes, counts[c]);
        assert_memory_equal(value.body, elements, counts[c]);
        uvea_buf_deinit(&buf);
    }
}

// Values start at any address of a frame: every alignment of the body is read.
static void bodies_at_every_alignment(void **state)
{
    (void)state;
    for (size_t w = 0; w < UVEA_COUNT_OF(widths); w++) {
        for (size_t shift = 0; shift < 8; shift++) {
            static uint64_t from[3];
            struct uvea_buf buf = {0};
            struct uvea_value value;
            narrow(&widths[w], 3, from);
            assert_non_null(uvea_buf_extend(&buf, shift));
            assert_int_equal(append(&widths[w], &buf, from, 3), UVEA_OK);
            assert_int_equal(uvea_value_decode(buf.data + shift, buf.len - shift, &value, NULL),
                             UVEA_OK);
            assert_reads_back(&widths[w], &value, 3);
            uvea_buf_deinit(&buf);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_of_every_width),
        cmocka_unit_test(vectors_of_every_width),
        cmocka_unit_test(vec16_reader_insists_on_the_vector),
        cmocka_unit_test(bits),
        cmocka_unit_test(bytes),
        cmocka_unit_test(bodies_at_every_alignment),
    };
    return cmocka_run_group_tests_name("wire_lengths", tests, fill_elements, NULL);
}
