#include "core/base/endian.h"
#include "tests/support/cmocka.h"
#include "tests/support/hex.h"

static void loads_at_every_alignment(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 8; shift++) {
        uint8_t bytes[16] = {0};
        for (size_t i = 0; i < 8; i++) {
            bytes[shift + i] = (uint8_t)(0x81 + i);
        }
        assert_int_equal(uvea_load_le16(bytes + shift), 0x8281);
        assert_int_equal(uvea_load_le32(bytes + shift), 0x84838281);
        assert_true(uvea_load_le64(bytes + shift) == UINT64_C(0x8887868584838281));
        assert_int_equal(uvea_load_be32(bytes + shift), 0x81828384);
    }
}

static void stores_at_every_alignment(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 8; shift++) {
        uint8_t bytes[16];
        uvea_store_le16(bytes + shift, 0x8182);
        uvea_test_assert_hex(bytes + shift, 2, "82 81");
        uvea_store_le32(bytes + shift, 0x81828384);
        uvea_test_assert_hex(bytes + shift, 4, "84 83 82 81");
        uvea_store_le64(bytes + shift, UINT64_C(0x8182838485868788));
        uvea_test_assert_hex(bytes + shift, 8, "88 87 86 85 84 83 82 81");
        uvea_store_be32(bytes + shift, 0x81828384);
        uvea_test_assert_hex(bytes + shift, 4, "81 82 83 84");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_at_every_alignment),
        cmocka_unit_test(stores_at_every_alignment),
    };
    return cmocka_run_group_tests_name("base_endian", tests, NULL, NULL);
}
