#include "core/base/buf.h"
#include "tests/support/cmocka.h"

#include <string.h>

static void appends_in_order(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    for (unsigned i = 0; i < 10000; i++) {
        uint8_t bytes[3] = {(uint8_t)i, (uint8_t)(i >> 8), 0x5a};
        assert_int_equal(uvea_buf_append(&buf, bytes, i % 4), UVEA_OK);
        assert_true(buf.len <= buf.capacity);
    }
    size_t at = 0;
    for (unsigned i = 0; i < 10000; i++) {
        uint8_t bytes[3] = {(uint8_t)i, (uint8_t)(i >> 8), 0x5a};
        assert_memory_equal(buf.data + at, bytes, i % 4);
        at += i % 4;
    }
    assert_int_equal(at, buf.len);
    uvea_buf_deinit(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.len, 0);
    assert_int_equal(buf.capacity, 0);
}

static void appends_nothing_from_null(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    assert_int_equal(uvea_buf_append(&buf, NULL, 0), UVEA_OK);
    assert_int_equal(buf.len, 0);
    uvea_buf_deinit(&buf);
    assert_non_null(uvea_buf_extend(&buf, 0)); // NULL would mean that memory is short
    uvea_buf_deinit(&buf);
}

static void reserve_keeps_contents_and_moves_only_when_full(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    assert_int_equal(uvea_buf_append(&buf, "iris", 4), UVEA_OK);
    assert_int_equal(uvea_buf_reserve(&buf, 1000), UVEA_OK);
    assert_true(buf.capacity >= 1004);
    assert_int_equal(buf.len, 4);
    const uint8_t *data = buf.data;
    assert_ptr_equal(uvea_buf_extend(&buf, 1000), data + 4);
    assert_ptr_equal(buf.data, data);
    assert_memory_equal(buf.data, "iris", 4);
    uvea_buf_deinit(&buf);
}

static void clear_keeps_memory(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    assert_non_null(uvea_buf_extend(&buf, 500));
    const uint8_t *data = buf.data;
    size_t capacity = buf.capacity;
    uvea_buf_clear(&buf);
    assert_int_equal(buf.len, 0);
    assert_ptr_equal(buf.data, data);
    assert_int_equal(buf.capacity, capacity);
    uvea_buf_deinit(&buf);
}

static void refuses_what_overflows_and_stays_unchanged(void **state)
{
    (void)state;
    struct uvea_buf buf = {0};
    assert_int_equal(uvea_buf_append(&buf, "iris", 4), UVEA_OK);
    struct uvea_buf before = buf;
    assert_int_equal(uvea_buf_reserve(&buf, SIZE_MAX), UVEA_ERR_MEMORY);
    assert_int_equal(uvea_buf_reserve(&buf, SIZE_MAX - 4), UVEA_ERR_MEMORY);
    assert_null(uvea_buf_extend(&buf, SIZE_MAX - 3));
    assert_int_equal(uvea_buf_append(&buf, "", SIZE_MAX), UVEA_ERR_MEMORY);
    assert_memory_equal(&buf, &before, sizeof(buf));
    assert_memory_equal(buf.data, "iris", 4);
    uvea_buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_in_order),
        cmocka_unit_test(appends_nothing_from_null),
        cmocka_unit_test(reserve_keeps_contents_and_moves_only_when_full),
        cmocka_unit_test(clear_keeps_memory),
        cmocka_unit_test(refuses_what_overflows_and_stays_unchanged),
    };
    return cmocka_run_group_tests_name("base_buf", tests, NULL, NULL);
}
