#include "tests/sim/chatter.h"

// Of seed 1. The same on every compiler, optimisation level and run; it changes only with the
// simulator's own behaviour, and then on purpose.
static const char golden_hash[] =
    "d2957a3e43f0a5692d0983cc5fef87f6eb67f32d843fd294455565852733b196";

static void hex(const uint8_t *bytes, size_t count, char *text)
{
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    }
}

static struct uvea_sim_outcome run_chatter(uint64_t seed, struct uvea_sim_record_list *keep,
                                           const struct uvea_sim_record_list *expected,
                                           struct uvea_sim_difference *difference)
{
    struct uvea_sim_config config = chatter_config(seed);
    struct uvea_sim *sim = open_sim(&config);
    struct uvea_sim_trace *trace = uvea_sim_trace(sim);
    struct chatter chatter;
    if (keep != NULL) {
        uvea_sim_trace_keep(trace, keep);
    }
    if (expected != NULL) {
        uvea_sim_trace_compare(trace, expected);
    }
    chatter_start(&chatter, sim);
    struct uvea_sim_outcome outcome = run_to(sim, UVEA_SIM_FINISHED);
    unsigned timeouts = 0;
    for (unsigned i = 0; i < CHATTER_PARTIES; i++) {
        assert_int_equal(chatter.parties[i].rounds, CHATTER_ROUNDS);
        timeouts += chatter.parties[i].timeouts;
    }
    assert_true(timeouts > 0);
    assert_true(chatter.parties[2].dials > 1);
    if (difference != NULL) {
        uvea_sim_trace_difference(trace, difference);
    }
    uvea_sim_close(sim);
    return outcome;
}

static void test_golden_hash(void **state)
{
    (void)state;
    char text[2 * UVEA_SIM_HASH_BYTES + 1];
    struct uvea_sim_outcome outcome = run_chatter(1, NULL, NULL, NULL);
    hex(outcome.hash, sizeof(outcome.hash), text);
    assert_string_equal(text, golden_hash);
}

static void test_two_runs_in_one_process_are_equal(void **state)
{
    (void)state;
    for (uint64_t seed = 2; seed < 6; seed++) {
        struct uvea_sim_record_list list = {0};
        struct uvea_sim_difference difference;
        struct uvea_sim_outcome first = run_chatter(seed, &list, NULL, NULL);
        struct uvea_sim_outcome second = run_chatter(seed, NULL, &list, &difference);
        assert_false(difference.found);
        assert_false(list.cut);
        assert_int_equal(list.count, first.events);
        assert_memory_equal(first.hash, second.hash, sizeof(first.hash));
        assert_int_equal(first.steps, second.steps);
        assert_int_equal(first.time_ns, second.time_ns);
        uvea_sim_record_list_deinit(&list);
    }
}

static void test_the_first_difference_is_found(void **state)
{
    (void)state;
    struct uvea_sim_record_list list = {0};
    struct uvea_sim_difference difference;
    struct uvea_sim_outcome outcome = run_chatter(3, &list, NULL, NULL);

    size_t changed = list.count / 2;
    list.records[changed].amount++;
    (void)run_chatter(3, NULL, &list, &difference);
    assert_true(difference.found && difference.has_expected && difference.has_got);
    assert_int_equal(difference.index, changed);
    assert_int_equal(difference.expected.amount, difference.got.amount + 1);
    assert_int_equal(difference.expected.time_ns, difference.got.time_ns);
    list.records[changed].amount--;

    list.count--; // the earlier run was shorter by one event
    (void)run_chatter(3, NULL, &list, &difference);
    assert_true(difference.found && difference.has_got && !difference.has_expected);
    assert_int_equal(difference.index, outcome.events - 1);
    list.cut = true; // its rest is not known
    (void)run_chatter(3, NULL, &list, &difference);
    assert_false(difference.found);
    list.cut = false;
    list.count++;

    (void)run_chatter(4, NULL, &list, &difference); // another seed
    assert_true(difference.found && difference.index < 100);
    uvea_sim_record_list_deinit(&list);
}

static void test_a_missing_tail_is_a_difference(void **state)
{
    (void)state;
    struct uvea_sim_record_list list = {0};
    struct uvea_sim_difference difference;
    struct uvea_sim_outcome outcome = run_chatter(3, &list, NULL, NULL);
    list.records[list.count] = list.records[0]; // the earlier run was longer by one event
    assert_true(list.count < list.capacity);
    list.count++;
    (void)run_chatter(3, NULL, &list, &difference);
    assert_true(difference.found && difference.has_expected && !difference.has_got);
    assert_int_equal(difference.index, outcome.events);
    uvea_sim_record_list_deinit(&list);
}

static void test_seeds_give_different_hashes(void **state)
{
    (void)state;
    uint8_t hashes[8][UVEA_SIM_HASH_BYTES];
    for (unsigned i = 0; i < UVEA_COUNT_OF(hashes); i++) {
        struct uvea_sim_outcome outcome = run_chatter(10 + i, NULL, NULL, NULL);
        memcpy(hashes[i], outcome.hash, sizeof(hashes[i]));
        for (unsigned j = 0; j < i; j++) {
            assert_memory_not_equal(hashes[i], hashes[j], sizeof(hashes[i]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_hash),
        cmocka_unit_test(test_two_runs_in_one_process_are_equal),
        cmocka_unit_test(test_the_first_difference_is_found),
        cmocka_unit_test(test_a_missing_tail_is_a_difference),
        cmocka_unit_test(test_seeds_give_different_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
