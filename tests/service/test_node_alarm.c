// Mistakes that are planted in the layers below are noticed before anything is committed.
#include "core/base/mem.h"
#include "core/base/plant.h"
#include "tests/service/fleet.h"

struct stage {
    struct fleet fleet;
    struct uvea_template_pair people[2];
};

static void enrol(struct fleet *fleet)
{
    const struct stage *stage = fleet->arg;
    struct uvea_message message = {
        .kind = UVEA_MESSAGE_UNIQUENESS,
        .id = "signup",
        .s3_key = fleet_share(fleet, &stage->people[0], 0, 0),
    };

    (void)fleet_post(fleet, &message);
    assert_int_equal(uvea_rt_sleep_ns(fleet->rt, 20 * UVEA_SECOND), UVEA_OK);
}

static void assert_stops_all(enum uvea_plant plant)
{
    static const uint16_t versions[] = {0, 0};
    struct stage *stage = uvea_mem_alloc(1, sizeof(*stage));
    struct fleet *fleet = &stage->fleet;
    struct uvea_chacha rng;

    assert_non_null(stage);
    fleet_open(fleet, 41);
    uvea_chacha_init_seeded(&rng, 12);
    fixture_pair(&rng, &stage->people[0]);
    fixture_pair(&rng, &stage->people[1]);
    fleet_seed(fleet, stage->people, 2);
    fleet->no_restart = true;
    uvea_plant_set(plant);
    fleet_run(fleet, enrol, stage);
    uvea_plant_set(UVEA_PLANT_NONE);
    for (int i = 0; i < UVEA_PARTY_COUNT; i++) {
        assert_int_not_equal(fleet->member[i].error, UVEA_OK);
        assert_int_equal(fleet->member[i].committed, 0);
    }
    fleet_assert_records(fleet, versions, 2);
    fleet_close(fleet);
    uvea_mem_free(stage);
}

static void a_flipped_opened_bit_stops_all_three(void **state)
{
    (void)state;
    assert_stops_all(UVEA_PLANT_FLIP_OPENED_BIT);
}

static void a_spare_random_word_stops_all_three(void **state)
{
    (void)state;
    assert_stops_all(UVEA_PLANT_SKIP_PRF_WORD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flipped_opened_bit_stops_all_three),
        cmocka_unit_test(a_spare_random_word_stops_all_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
