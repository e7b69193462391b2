// The planted faults of this module do what core/base/plant.h says, and nothing else does.
#include "core/base/check.h"
#include "core/base/plant.h"
#include "core/mpc/predicate.h"
#include "tests/mpc/cmocka_all.h"
#include "tests/mpc/trio.h"

#include <string.h>

// All with C = M = 0: every one matches, by equality. Of a length after which neither stream stands
// at the end of a state (see uvea_session_check_drift).
enum { COUNT = 130 };

struct outcome {
    uint64_t anonymous[UVEA_PARTY_COUNT][3];
    uint64_t strict[UVEA_PARTY_COUNT][3];
    enum uvea_error drift[UVEA_PARTY_COUNT];
};

static enum uvea_error request(struct uvea_session *session, unsigned party, void *arg)
{
    static const uint16_t zeros[2 * COUNT];
    struct outcome *outcome = arg;
    uint16_t code_words[2][COUNT] = {0};
    uint32_t mask_words[2][COUNT] = {0};
    const struct uvea_share16 codes = {code_words[0], code_words[1], COUNT};
    const struct uvea_share32 masks = {mask_words[0], mask_words[1], COUNT};
    UVEA_TRY(uvea_mpc_anonymous_match(session, UVEA_PREDICATE_DENSE, zeros, COUNT,
                                      outcome->anonymous[party], NULL));
    UVEA_TRY(uvea_mpc_strict_match(session, &codes, &masks, outcome->strict[party]));
    outcome->drift[party] = uvea_session_check_drift(session);
    return UVEA_OK;
}

static void run_with(enum uvea_plant plant, struct outcome *outcome)
{
    struct trio trio;
    uvea_plant_set(plant);
    trio_open(&trio, UVEA_PRF_AES128, 0);
    trio_run(&trio, request, outcome);
    trio_close(&trio);
    uvea_plant_set(UVEA_PLANT_NONE);
}

static void assert_words(uint64_t words[3], uint64_t first, uint64_t middle, uint64_t last)
{
    assert_int_equal(words[0], first);
    assert_int_equal(words[1], middle);
    assert_int_equal(words[2], last);
}

static void without_a_fault(void **state)
{
    (void)state;
    struct outcome outcome;
    run_with(UVEA_PLANT_NONE, &outcome);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_words(outcome.anonymous[p], UINT64_MAX, UINT64_MAX, 3);
        assert_words(outcome.strict[p], UINT64_MAX, UINT64_MAX, 3);
        assert_int_equal(outcome.drift[p], UVEA_OK);
    }
}

static void flipped_bit_at_party_two(void **state)
{
    (void)state;
    struct outcome outcome;
    run_with(UVEA_PLANT_FLIP_OPENED_BIT, &outcome);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_words(outcome.anonymous[p], UINT64_MAX - (p == 2), UINT64_MAX, 3);
        assert_words(outcome.strict[p], UINT64_MAX - (p == 2), UINT64_MAX, 3);
    }
}

static void dropped_tail_lane(void **state)
{
    (void)state;
    struct outcome outcome;
    run_with(UVEA_PLANT_DROP_TAIL_LANE, &outcome);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_words(outcome.anonymous[p], UINT64_MAX, UINT64_MAX, 1);
        assert_words(outcome.strict[p], UINT64_MAX, UINT64_MAX, 1);
    }
}

static void lost_equality(void **state)
{
    (void)state;
    struct outcome outcome;
    run_with(UVEA_PLANT_THRESHOLD_OFF_BY_ONE, &outcome);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_words(outcome.anonymous[p], UINT64_MAX, UINT64_MAX, 3);
        assert_words(outcome.strict[p], 0, 0, 0);
        assert_int_equal(outcome.drift[p], UVEA_OK);
    }
}

static void skipped_word(void **state)
{
    (void)state;
    struct outcome outcome;
    run_with(UVEA_PLANT_SKIP_PRF_WORD, &outcome);
    for (unsigned p = 0; p < UVEA_PARTY_COUNT; p++) {
        assert_int_equal(outcome.drift[p], UVEA_ERR_DRIFT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_fault),   cmocka_unit_test(flipped_bit_at_party_two),
        cmocka_unit_test(dropped_tail_lane), cmocka_unit_test(lost_equality),
        cmocka_unit_test(skipped_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
