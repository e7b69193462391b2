#include "core/base/check.h"
#include "sim/runtime/random.h"
#include "tests/support/cmocka.h"
#include "tests/support/hex.h"

#include <string.h>

// Computed with an independent implementation of the construction in random.h.
static void test_known_words(void **state)
{
    (void)state;
    static const uint64_t network[] = {0xd36224ead7218a2b, 0x4386cbc5c7531f21, 0x71c1f4121662ad3f,
                                       0x14506fd149cef7ae};
    static const uint64_t workload[] = {0x670f5bacb69c6d81, 0x5b0492bd87d2b4a2, 0x2c7c04c7148c3a1b,
                                        0x79b453f876a3bc3f};
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 1, "net/p0>p1");
    for (size_t i = 0; i < UVEA_COUNT_OF(network); i++) {
        assert_int_equal(uvea_sim_random_next_u64(&random), network[i]);
    }
    uvea_sim_random_init(&random, 0xfedcba9876543210, "workload");
    for (size_t i = 0; i < UVEA_COUNT_OF(workload); i++) {
        assert_int_equal(uvea_sim_random_next_u64(&random), workload[i]);
    }
}

static void test_fill_is_little_endian(void **state)
{
    (void)state;
    struct uvea_sim_random random;
    uint8_t bytes[12] = {[11] = 0xa5};
    uvea_sim_random_init(&random, 7, "entropy/p2");
    uvea_sim_random_fill(&random, bytes, 11);
    uvea_test_assert_hex(bytes, 11, "c32f1ee330c54d14ce3906");
    assert_int_equal(bytes[11], 0xa5);
}

static void test_seed_and_name_both_count(void **state)
{
    (void)state;
    static const char *const names[] = {"net/p0>p1", "net/p1>p0", "entropy/p0", ""};
    uint64_t seen[8];
    for (unsigned i = 0; i < UVEA_COUNT_OF(seen); i++) {
        struct uvea_sim_random random;
        uvea_sim_random_init(&random, i / 4, names[i % 4]);
        seen[i] = uvea_sim_random_next_u64(&random);
        for (unsigned j = 0; j < i; j++) {
            assert_int_not_equal(seen[i], seen[j]);
        }
    }
}

// Pearson's statistic of `draws` draws below n; a fixed seed, so that the test is not random.
static uint64_t chi_square_times_1000(uint64_t n, unsigned draws)
{
    unsigned counts[64] = {0};
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, n, "chi-square");
    for (unsigned i = 0; i < draws; i++) {
        uint64_t value = uvea_sim_random_below(&random, n);
        assert_true(value < n);
        counts[value]++;
    }
    uint64_t sum = 0; // of counts^2 * n, as sum(n c^2) / draws - draws
    for (unsigned i = 0; i < n; i++) {
        sum += (uint64_t)counts[i] * counts[i] * n;
    }
    return (sum - (uint64_t)draws * draws) * 1000 / draws;
}

static void test_below_is_even(void **state)
{
    (void)state;
    // The 0.001 quantiles of chi-square from both sides, for n - 1 degrees of freedom.
    static const struct {
        uint64_t n, low, high;
    } cases[] = {
        {2, 0, 10828}, {3, 2, 13816}, {10, 1152, 27877}, {31, 11588, 59703}, {64, 33906, 103442}};
    for (size_t i = 0; i < UVEA_COUNT_OF(cases); i++) {
        uint64_t statistic = chi_square_times_1000(cases[i].n, 100000);
        assert_in_range(statistic, cases[i].low, cases[i].high);
    }
}

// With n = 3 * 2^62, the plain product of a 64-bit draw would give the values that are 0 mod 3
// twice as often as the others.
static void test_below_rejects_the_uneven_rest(void **state)
{
    (void)state;
    const uint64_t n = UINT64_C(3) << 62;
    unsigned thirds[3] = {0};
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 1, "rejection");
    for (unsigned i = 0; i < 30000; i++) {
        thirds[uvea_sim_random_below(&random, n) % 3]++;
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_in_range(thirds[i], 9700, 10300);
    }
}

static void test_range_has_both_ends(void **state)
{
    (void)state;
    bool seen[3] = {false};
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 1, "range");
    for (unsigned i = 0; i < 100; i++) {
        uint64_t value = uvea_sim_random_range(&random, 5, 7);
        assert_in_range(value, 5, 7);
        seen[value - 5] = true;
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    uint64_t high_bits = 0;
    for (unsigned i = 0; i < 100; i++) {
        high_bits |= uvea_sim_random_range(&random, 0, UINT64_MAX) >> 32;
    }
    assert_int_equal(high_bits, UINT32_MAX);
}

static void test_forced_choices_draw_nothing(void **state)
{
    (void)state;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 1, "forced");
    struct uvea_sim_random before = random;
    assert_int_equal(uvea_sim_random_below(&random, 1), 0);
    assert_int_equal(uvea_sim_random_range(&random, 9, 9), 9);
    assert_false(uvea_sim_random_chance(&random, 0, 5));
    assert_true(uvea_sim_random_chance(&random, 5, 5));
    assert_true(uvea_sim_random_chance(&random, 6, 5));
    assert_int_equal(uvea_sim_random_exponential(&random, 0), 0);
    uvea_sim_random_fill(&random, NULL, 0);
    assert_memory_equal(&random, &before, sizeof(random));
    (void)uvea_sim_random_chance(&random, 1, 5);
    assert_memory_not_equal(&random, &before, sizeof(random));
}

static void test_chance_has_its_probability(void **state)
{
    (void)state;
    unsigned hits = 0;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 1, "chance");
    for (unsigned i = 0; i < 30000; i++) {
        hits += uvea_sim_random_chance(&random, 3, 10);
    }
    assert_in_range(hits, 8750, 9250);
}

static void test_exponential_has_its_quantiles(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    const uint64_t mean = 1000000;
    // Share of draws expected below ln(4/3), ln 2, 1, 2 and 5 times the mean, per 100,000.
    static const uint64_t bounds[] = {287682, 693147, 1000000, 2000000, 5000000};
    static const int64_t below[] = {25000, 50000, 63212, 86466, 99326};
    int64_t counts[UVEA_COUNT_OF(bounds)] = {0};
    uint64_t sum = 0;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 1, "exponential");
    for (unsigned i = 0; i < DRAWS; i++) {
        uint64_t value = uvea_sim_random_exponential(&random, mean);
        sum += value;
        for (size_t b = 0; b < UVEA_COUNT_OF(bounds); b++) {
            counts[b] += value < bounds[b];
        }
    }
    for (size_t b = 0; b < UVEA_COUNT_OF(bounds); b++) {
        assert_in_range(counts[b], below[b] - 500, below[b] + 500);
    }
    assert_in_range(sum / DRAWS, 990000, 1010000);
}

static void test_exponential_saturates(void **state)
{
    (void)state;
    uint64_t most = 0;
    struct uvea_sim_random random;
    uvea_sim_random_init(&random, 1, "saturate");
    for (unsigned i = 0; i < 100; i++) {
        uint64_t value = uvea_sim_random_exponential(&random, UINT64_MAX);
        most = value > most ? value : most;
    }
    assert_int_equal(most, UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_words),
        cmocka_unit_test(test_fill_is_little_endian),
        cmocka_unit_test(test_seed_and_name_both_count),
        cmocka_unit_test(test_below_is_even),
        cmocka_unit_test(test_below_rejects_the_uneven_rest),
        cmocka_unit_test(test_range_has_both_ends),
        cmocka_unit_test(test_forced_choices_draw_nothing),
        cmocka_unit_test(test_chance_has_its_probability),
        cmocka_unit_test(test_exponential_has_its_quantiles),
        cmocka_unit_test(test_exponential_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
