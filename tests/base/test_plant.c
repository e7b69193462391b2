// Built twice: against the library that is shipped and against its alarm twin.
#include "core/base/plant.h"
#include "tests/support/cmocka.h"

#ifdef UVEA_ALARM
static void only_the_fault_that_was_set_is_active(void **state)
{
    (void)state;
    for (int set = UVEA_PLANT_NONE; set <= UVEA_PLANT_UNSTEADY; set++) {
        uvea_plant_set((enum uvea_plant)set);
        for (int asked = UVEA_PLANT_NONE; asked <= UVEA_PLANT_UNSTEADY; asked++) {
            assert_int_equal(uvea_plant_active((enum uvea_plant)asked), asked == set);
        }
    }
}
#define PLANT_TEST only_the_fault_that_was_set_is_active
#else
static void no_fault_is_ever_active(void **state)
{
    (void)state;
    for (int asked = UVEA_PLANT_NONE; asked <= UVEA_PLANT_UNSTEADY; asked++) {
        assert_false(uvea_plant_active((enum uvea_plant)asked));
    }
}
#define PLANT_TEST no_fault_is_ever_active
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(PLANT_TEST)};
    return cmocka_run_group_tests_name("base_plant", tests, NULL, NULL);
}
