#include "core/base/mem.h"
#include "tests/support/cmocka.h"

#include <string.h>

static void gives_zeroed_aligned_memory(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 63, 64, 65, 127, 129, 100003};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        // Twice, so that memory used before comes back zeroed.
        for (unsigned round = 0; round < 2; round++) {
            uint8_t *memory = uvea_mem_alloc(counts[i], 3);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % 64, 0);
            for (size_t k = 0; k < counts[i] * 3; k++) {
                assert_int_equal(memory[k], 0);
            }
            memset(memory, 0xa5, counts[i] * 3);
            uvea_mem_free(memory);
        }
    }
}

static void refuses_products_that_overflow(void **state)
{
    (void)state;
    assert_null(uvea_mem_alloc(SIZE_MAX / 2, 3));
    assert_null(uvea_mem_alloc(3, SIZE_MAX / 2));
    assert_null(uvea_mem_alloc(SIZE_MAX, 1));
    assert_null(uvea_mem_alloc(SIZE_MAX - 8, 1));
}

static void frees_null(void **state)
{
    (void)state;
    uvea_mem_free(NULL);
}

static void wipes_what_is_named_and_no_more(void **state)
{
    (void)state;
    uint8_t bytes[16];
    memset(bytes, 0xff, sizeof(bytes));
    uvea_mem_wipe(bytes + 4, 8);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        assert_int_equal(bytes[i], i >= 4 && i < 12 ? 0 : 0xff);
    }
    uvea_mem_wipe(NULL, 0);
}

static bool every_third(void *arg)
{
    unsigned *asked = arg;
    return ++*asked % 3 != 0;
}

static void fails_when_the_hook_says_so(void **state)
{
    (void)state;
    unsigned asked = 0;
    uvea_mem_set_hook(every_third, &asked);
    for (unsigned i = 1; i <= 9; i++) {
        void *memory = uvea_mem_alloc(1, 1);
        assert_true((memory == NULL) == (i % 3 == 0));
        uvea_mem_free(memory);
    }
    uvea_mem_set_hook(NULL, NULL);
    for (unsigned i = 0; i < 3; i++) {
        void *memory = uvea_mem_alloc(1, 1);
        assert_non_null(memory);
        uvea_mem_free(memory);
    }
    assert_int_equal(asked, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_zeroed_aligned_memory),
        cmocka_unit_test(refuses_products_that_overflow),
        cmocka_unit_test(frees_null),
        cmocka_unit_test(wipes_what_is_named_and_no_more),
        cmocka_unit_test(fails_when_the_hook_says_so),
    };
    return cmocka_run_group_tests_name("base_mem", tests, NULL, NULL);
}
