// The worked examples of wire.md 1, written and read.
#include "core/base/check.h"
#include "core/wire/value.h"
#include "tests/support/aborts.h"
#include "tests/support/cmocka.h"
#include "tests/support/hex.h"

#include <string.h>

// Bytes of an example, and the value they decode to.
struct example {
    uint8_t bytes[64];
    size_t len;
    struct uvea_value value;
};

// What was written must be the example; it is then decoded, from the text and not from the buffer.
static void begin(struct example *example, struct uvea_buf *written, const char *hex)
{
    uvea_test_assert_hex(written->data, written->len, hex);
    uvea_buf_deinit(written);
    example->len = uvea_test_hex(hex, example->bytes, sizeof(example->bytes));
    assert_int_equal(uvea_value_decode(example->bytes, example->len, &example->value, NULL),
                     UVEA_OK);
    assert_int_equal(example->value.kind, example->bytes[0]);
}

static void prf_key(void **state)
{
    (void)state;
    static const uint8_t key[UVEA_PRF_KEY_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                    8, 9, 10, 11, 12, 13, 14, 15};
    struct uvea_buf buf = {0};
    struct example example;
    uint8_t read[UVEA_PRF_KEY_BYTES];
    assert_int_equal(uvea_value_append_prf_key(&buf, key), UVEA_OK);
    begin(&example, &buf, "01 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
    assert_int_equal(example.value.count, 1);
    assert_int_equal(uvea_value_read_prf_key(&example.value, read, NULL), UVEA_OK);
    assert_memory_equal(read, key, sizeof(key));
}

static void lone_bits(void **state)
{
    (void)state;
    for (uint64_t bit = 0; bit < 2; bit++) {
        struct uvea_buf buf = {0};
        struct example example;
        uint64_t word = bit | ~UINT64_C(1); // the bits above are not sent
        assert_int_equal(uvea_value_append_bits(&buf, &word, 1), UVEA_OK);
        begin(&example, &buf, bit == 1 ? "12" : "02");
        assert_int_equal(example.value.count, 1);
        assert_int_equal(example.value.body_bytes, 0);
        assert_int_equal(uvea_value_read_bits(&example.value, &word, 1, NULL), UVEA_OK);
        assert_true(word == bit);
    }
}

static void scalars(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    struct example example;

    uint16_t u16 = 777;
    assert_int_equal(uvea_value_append_u16(&buf, &u16, 1), UVEA_OK);
    begin(&example, &buf, "03 09 03");
    u16 = 0;
    assert_int_equal(uvea_value_read_u16(&example.value, &u16, 1, NULL), UVEA_OK);
    assert_int_equal(u16, 777);

    uint32_t u32 = 0x12345678;
    assert_int_equal(uvea_value_append_u32(&buf, &u32, 1), UVEA_OK);
    begin(&example, &buf, "04 78 56 34 12");
    u32 = 0;
    assert_int_equal(uvea_value_read_u32(&example.value, &u32, 1, NULL), UVEA_OK);
    assert_int_equal(u32, 0x12345678);

    uint64_t u64 = UINT64_C(0x0123456789abcdef);
    assert_int_equal(uvea_value_append_u64(&buf, &u64, 1), UVEA_OK);
    begin(&example, &buf, "05 ef cd ab 89 67 45 23 01");
    u64 = 0;
    assert_int_equal(uvea_value_read_u64(&example.value, &u64, 1, NULL), UVEA_OK);
    assert_true(u64 == UINT64_C(0x0123456789abcdef));

    u64 = UINT64_C(0xffffabcd12345678); // the high 16 bits are not sent
    assert_int_equal(uvea_value_append_u48(&buf, &u64, 1), UVEA_OK);
    begin(&example, &buf, "0d 78 56 34 12 cd ab");
    assert_int_equal(uvea_value_read_u48(&example.value, &u64, 1, NULL), UVEA_OK);
    assert_true(u64 == UINT64_C(0xabcd12345678));
}

static void vectors(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    struct example example;

    uint16_t u16[] = {1, 65535};
    assert_int_equal(uvea_value_append_u16(&buf, u16, 2), UVEA_OK);
    begin(&example, &buf, "06 04 00 00 00 01 00 ff ff");
    assert_int_equal(example.value.count, 2);
    memset(u16, 0, sizeof(u16));
    assert_int_equal(uvea_value_read_u16(&example.value, u16, 2, NULL), UVEA_OK);
    assert_int_equal(u16[0], 1);
    assert_int_equal(u16[1], 65535);

    assert_int_equal(uvea_value_append_u16(&buf, NULL, 0), UVEA_OK);
    begin(&example, &buf, "06 00 00 00 00");
    assert_int_equal(example.value.count, 0);
    assert_int_equal(uvea_value_read_u16(&example.value, NULL, 0, NULL), UVEA_OK);

    uint64_t u48[] = {1, UINT64_C(0xffffffffffff)};
    assert_int_equal(uvea_value_append_u48(&buf, u48, 2), UVEA_OK);
    begin(&example, &buf, "0e 0c 00 00 00 01 00 00 00 00 00 ff ff ff ff ff ff");
    memset(u48, 0, sizeof(u48));
    assert_int_equal(uvea_value_read_u48(&example.value, u48, 2, NULL), UVEA_OK);
    assert_true(u48[0] == 1 && u48[1] == UINT64_C(0xffffffffffff));
}

static void one_element_as_a_vector(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    struct example example;
    uint16_t u16 = 0x0203;
    assert_int_equal(uvea_value_append_vec16(&buf, &u16, 1), UVEA_OK);
    begin(&example, &buf, "06 02 00 00 00 03 02");
    assert_int_equal(uvea_value_read_vec16(&example.value, &u16, 1, NULL), UVEA_OK);
    assert_int_equal(uvea_value_read_u16(&example.value, &u16, 1, NULL), UVEA_OK);
    assert_int_equal(u16, 0x0203);

    uint64_t word = 3;
    assert_int_equal(uvea_value_append_vec_bit(&buf, &word, 1), UVEA_OK);
    begin(&example, &buf, "0f 01 00 00 00 01");
    assert_int_equal(uvea_value_read_bits(&example.value, &word, 1, NULL), UVEA_OK);
    assert_true(word == 1);
}

static void checks_and_bytes(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    struct example example;
    uint64_t pair[2];

    assert_int_equal(uvea_value_append_checksum(&buf, 1, 2), UVEA_OK);
    begin(&example, &buf, "09 0100000000000000 0200000000000000");
    assert_int_equal(uvea_value_read_checksum(&example.value, pair, NULL), UVEA_OK);
    assert_true(pair[0] == 1 && pair[1] == 2);

    assert_int_equal(uvea_value_append_prf_check(&buf, (const uint64_t[2]){5, 0}), UVEA_OK);
    begin(&example, &buf, "0b 0500000000000000 0000000000000000");
    assert_int_equal(uvea_value_read_prf_check(&example.value, pair, NULL), UVEA_OK);
    assert_true(pair[0] == 5 && pair[1] == 0);

    assert_int_equal(uvea_value_append_bytes(&buf, (const uint8_t *)"ok", 2), UVEA_OK);
    begin(&example, &buf, "0c 02 00 00 00 6f 6b");
    assert_int_equal(example.value.count, 2);
    assert_int_equal(example.value.body_bytes, 2);
    assert_memory_equal(example.value.body, "ok", 2);

    assert_int_equal(uvea_value_append_bytes(&buf, NULL, 0), UVEA_OK);
    begin(&example, &buf, "0c 00 00 00 00");
}

static void bit_vector(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    struct example example;
    uint64_t word = 0x49 | ~UINT64_C(0x1ff); // 1,0,0,1,0,0,1,0,0 and padding that is not sent
    assert_int_equal(uvea_value_append_bits(&buf, &word, 9), UVEA_OK);
    begin(&example, &buf, "0f 09 00 00 00 49 00");
    assert_int_equal(example.value.count, 9);
    assert_int_equal(example.value.body_bytes, 2);
    assert_int_equal(uvea_value_read_bits(&example.value, &word, 9, NULL), UVEA_OK);
    assert_true(word == 0x49);
}

static void network_vec_of_scalars(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    struct example example;
    size_t mark;
    assert_int_equal(uvea_value_begin_network_vec(&buf, &mark), UVEA_OK);
    for (uint16_t i = 0; i < 2; i++) {
        assert_int_equal(uvea_value_append_u16(&buf, &i, 1), UVEA_OK);
    }
    assert_int_equal(uvea_value_end_network_vec(&buf, mark), UVEA_OK);
    begin(&example, &buf, "0a 06 00 00 00 03 00 00 03 01 00");

    struct uvea_value inner;
    size_t offset = 0;
    bool more = false;
    for (uint16_t i = 0; i < 2; i++) {
        uint16_t element;
        assert_int_equal(uvea_value_next_inner(&example.value, &offset, &inner, &more, NULL),
                         UVEA_OK);
        assert_true(more);
        assert_int_equal(uvea_value_read_u16(&inner, &element, 1, NULL), UVEA_OK);
        assert_int_equal(element, i);
    }
    assert_int_equal(uvea_value_next_inner(&example.value, &offset, &inner, &more, NULL), UVEA_OK);
    assert_false(more);
}

static void network_vec_of_several_kinds(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    struct example example;
    size_t mark;
    uint64_t word = 1;
    uint16_t u16[] = {1, 2};
    assert_int_equal(uvea_value_begin_network_vec(&buf, &mark), UVEA_OK);
    assert_int_equal(uvea_value_append_bits(&buf, &word, 1), UVEA_OK);
    assert_int_equal(uvea_value_append_u16(&buf, u16, 2), UVEA_OK);
    word = 5; // 1,0,1
    assert_int_equal(uvea_value_append_bits(&buf, &word, 3), UVEA_OK);
    assert_int_equal(uvea_value_end_network_vec(&buf, mark), UVEA_OK);
    begin(&example, &buf, "0a 10 00 00 00 12 06 04 00 00 00 01 00 02 00 0f 03 00 00 00 05");

    static const enum uvea_value_kind kinds[] = {UVEA_VALUE_BIT_ONE, UVEA_VALUE_VEC16,
                                                 UVEA_VALUE_VEC_BIT};
    struct uvea_value inner[3];
    size_t offset = 0;
    bool more;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(uvea_value_next_inner(&example.value, &offset, &inner[i], &more, NULL),
                         UVEA_OK);
        assert_int_equal(inner[i].kind, kinds[i]);
    }
    assert_int_equal(uvea_value_read_bits(&inner[2], &word, 3, NULL), UVEA_OK);
    assert_true(word == 5);
}

// A value goes behind what the buffer holds already, as behind a session id.
static void appends_behind_what_is_there(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    size_t mark;
    uint16_t u16 = 777;
    assert_int_equal(uvea_buf_append(&buf, "\x07\x00\x00\x00", 4), UVEA_OK);
    assert_int_equal(uvea_value_begin_network_vec(&buf, &mark), UVEA_OK);
    assert_int_equal(uvea_value_append_u16(&buf, &u16, 1), UVEA_OK);
    assert_int_equal(uvea_value_end_network_vec(&buf, mark), UVEA_OK);
    uvea_test_assert_hex(buf.data, buf.len, "07000000 0a 03000000 030903");
    uvea_buf_deinit(&buf);
}

static void refuses_what_no_length_field_holds(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    uint16_t u16 = 0;
    uint32_t u32 = 0;
    uint64_t u64 = 0;
    size_t over = UINT32_MAX;
    assert_int_equal(uvea_value_append_u16(&buf, &u16, over / 2 + 1), UVEA_ERR_LIMIT);
    assert_int_equal(uvea_value_append_vec16(&buf, &u16, SIZE_MAX), UVEA_ERR_LIMIT);
    assert_int_equal(uvea_value_append_u32(&buf, &u32, over / 4 + 1), UVEA_ERR_LIMIT);
    assert_int_equal(uvea_value_append_u48(&buf, &u64, over / 6 + 1), UVEA_ERR_LIMIT);
    assert_int_equal(uvea_value_append_u64(&buf, &u64, over / 8 + 1), UVEA_ERR_LIMIT);
    assert_int_equal(uvea_value_append_u64(&buf, &u64, SIZE_MAX / 8 + 2), UVEA_ERR_LIMIT);
    assert_int_equal(uvea_value_append_bits(&buf, &u64, over + 1), UVEA_ERR_LIMIT);
    assert_int_equal(uvea_value_append_bytes(&buf, NULL, over + 1), UVEA_ERR_LIMIT);
    assert_int_equal(buf.len, 0);
    assert_null(buf.data);
}

static void nest_network_vecs(void)
{
    struct uvea_buf buf = {0};
    size_t outer;
    size_t inner;
    UVEA_CHECK(uvea_value_begin_network_vec(&buf, &outer) == UVEA_OK);
    UVEA_CHECK(uvea_value_begin_network_vec(&buf, &inner) == UVEA_OK);
    UVEA_CHECK(uvea_value_end_network_vec(&buf, inner) == UVEA_OK);
    (void)!uvea_value_end_network_vec(&buf, outer);
    uvea_buf_deinit(&buf);
}

static void a_writer_that_nests_network_vecs_is_stopped(void **state)
{
    (void)state;
    assert_true(uvea_test_aborts(nest_network_vecs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prf_key),
        cmocka_unit_test(lone_bits),
        cmocka_unit_test(scalars),
        cmocka_unit_test(vectors),
        cmocka_unit_test(one_element_as_a_vector),
        cmocka_unit_test(checks_and_bytes),
        cmocka_unit_test(bit_vector),
        cmocka_unit_test(network_vec_of_scalars),
        cmocka_unit_test(network_vec_of_several_kinds),
        cmocka_unit_test(appends_behind_what_is_there),
        cmocka_unit_test(refuses_what_no_length_field_holds),
        cmocka_unit_test(a_writer_that_nests_network_vecs_is_stopped),
    };
    return cmocka_run_group_tests_name("wire_value", tests, NULL, NULL);
}
