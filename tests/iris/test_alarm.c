// The planted fault of mirroring must change what a mirrored mask opens to, and only that.
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "core/iris/share.h"
#include "tests/iris/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void mirror_mask(enum uvea_plant plant, uint16_t mask[UVEA_MASK_COEFFICIENTS])
{
    for (size_t i = 0; i < UVEA_MASK_COEFFICIENTS; i++) {
        mask[i] = (uint16_t)(i + 1);
    }
    uvea_plant_set(plant);
    uvea_iris_mirror_mask(mask);
    uvea_plant_set(UVEA_PLANT_NONE);
}

static void test_mirror_mask_as_code(void **unused)
{
    (void)unused;
    uint16_t *good = uvea_mem_alloc(UVEA_MASK_COEFFICIENTS, sizeof(*good));
    uint16_t *bad = uvea_mem_alloc(UVEA_MASK_COEFFICIENTS, sizeof(*bad));
    assert_non_null(good);
    assert_non_null(bad);
    mirror_mask(UVEA_PLANT_NONE, good);
    mirror_mask(UVEA_PLANT_SWAP_EYES, bad);
    assert_memory_equal(bad, good, UVEA_MASK_COEFFICIENTS * sizeof(*good));
    mirror_mask(UVEA_PLANT_MIRROR_MASK_AS_CODE, bad);
    for (size_t i = 0; i < UVEA_MASK_COEFFICIENTS; i++) {
        assert_int_equal(bad[i], (uint16_t)(i < 3200 ? good[i] : -good[i]));
    }
    uvea_mem_free(bad);
    uvea_mem_free(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mirror_mask_as_code)};
    return cmocka_run_group_tests_name("iris_alarm", tests, NULL, NULL);
}
