#include "core/base/check.h"
#include "oracle/match.h"
#include "tests/oracle/fixture.h"
#include "tests/support/cmocka.h"

static int coordinate(const struct uvea_oracle_template *t, unsigned i)
{
    return bit_get(t->mask, i) ? (bit_get(t->code, i) ? -1 : 1) : 0;
}

// The definition of service.md 2.2, one bit at a time.
static void score_by_definition(const struct uvea_oracle_template *query,
                                const struct uvea_oracle_template *record, int rho, int *c, int *m)
{
    *c = 0;
    *m = 0;
    for (unsigned i = 0; i < 12800; i++) {
        unsigned row = i / 800;
        unsigned column = i % 800 / 4;
        unsigned turned = (unsigned)((int)column + rho + 200) % 200;
        unsigned j = bit_at(row, turned, i % 4 / 2, i % 2);
        *c += coordinate(query, i) * coordinate(record, j);
        *m += i % 2 == 0 && bit_get(query->mask, i) && bit_get(record->mask, j) ? 2 : 0;
    }
}

static void scores_follow_the_definition(void **state)
{
    (void)state;
    uint64_t seed = 7;
    struct uvea_oracle_template query = random_template(1);
    struct uvea_oracle_template record = random_template(2);
    for (unsigned i = 0; i < UVEA_ORACLE_WORDS; i++) {
        query.mask[i] = mix(&seed);
        query.mask[i] |= mix(&seed);
        record.mask[i] = mix(&seed);
        record.mask[i] |= mix(&seed);
    }
    static struct uvea_oracle_query prepared;
    uvea_oracle_query_prepare(&query, &prepared);
    for (int rho = -15; rho <= 15; rho++) {
        int c;
        int m;
        struct uvea_oracle_counts counts;
        score_by_definition(&query, &record, rho, &c, &m);
        uvea_oracle_count(&prepared.at[rho + 15], &record, &counts);
        assert_int_equal(counts.code_dot, c);
        assert_int_equal(counts.mask_dot, m);
        assert_int_equal(2 * counts.common_real, m);
        assert_int_equal((int)counts.common - 2 * (int)counts.differing, c);
    }
}

static void judge(struct uvea_oracle_counts counts, struct uvea_oracle_verdict *out)
{
    struct uvea_error_context context;
    assert_int_equal(uvea_oracle_judge(&counts, out, &context), UVEA_OK);
}

// Flips bits one by one and expects the thresholds to hold up to the given counts, inclusive.
static void expect_limits(struct uvea_oracle_template base, unsigned anonymous, unsigned strict)
{
    struct uvea_oracle_template copy = base;
    unsigned differing = 0;
    for (unsigned i = 0;; i++) {
        struct uvea_oracle_counts counts;
        struct uvea_oracle_verdict verdict;
        uvea_oracle_count(&base, &copy, &counts);
        assert_int_equal(counts.differing, differing);
        judge(counts, &verdict);
        assert_int_equal(verdict.anonymous, differing <= anonymous);
        assert_int_equal(verdict.strict, differing <= strict);
        while (i < 12800 && !bit_get(base.mask, i)) {
            i++;
        }
        if (i == 12800) {
            break;
        }
        bit_flip(copy.code, i);
        differing++;
    }
}

static void full_masks_decide_at_4800_and_4416(void **state)
{
    (void)state;
    expect_limits(random_template(3), 4800, 4416);
}

// Overlaps for which the thresholds fall between two numbers of bits. `real` and `imaginary` bits
// are valid; where they differ M counts the real ones twice.
static void fractional_overlaps_decide_exactly(void **state)
{
    (void)state;
    static const struct {
        unsigned real;
        unsigned imaginary;
        unsigned anonymous;
        unsigned strict;
    } cases[] = {
        {1, 1, 0, 0},             // M = 2: 0.75 bits
        {1, 0, 0, 0},             // one bit, M = 2: C = 1 passes, C = -1 does not
        {4, 3, 2, 2},             // seven bits, M = 8: C >= 2 and C >= 2.48
        {7, 7, 5, 4},             // M = 14: 5.25 and 4.83 bits
        {6399, 6399, 4799, 4415}, // M = 12,798: 4,799.25 and 4,415.33 bits
        {6400, 6399, 4799, 4415}, // 12,799 bits, M = 12,800: C >= 3,200 and C >= 3,967.97
        {6400, 6400, 4800, 4416},
    };
    for (size_t n = 0; n < UVEA_COUNT_OF(cases); n++) {
        struct uvea_oracle_template base = random_template(4 + n);
        memset(base.mask, 0, sizeof(base.mask));
        for (unsigned i = 0; i < 6400; i++) {
            if (i < cases[n].real) {
                bit_flip(base.mask, 2 * i);
            }
            if (i < cases[n].imaginary) {
                bit_flip(base.mask, 2 * i + 1);
            }
        }
        expect_limits(base, cases[n].anonymous, cases[n].strict);
    }
}

static void nothing_in_common_passes_both(void **state)
{
    (void)state;
    struct uvea_oracle_template a = random_template(20);
    struct uvea_oracle_template b = flipped(a, 12800);
    for (unsigned i = 0; i < UVEA_ORACLE_WORDS; i++) {
        a.mask[i] = i % 2 == 0 ? UINT64_MAX : 0;
        b.mask[i] = ~a.mask[i];
    }
    struct uvea_oracle_counts counts;
    struct uvea_oracle_verdict verdict;
    uvea_oracle_count(&a, &b, &counts);
    assert_int_equal(counts.common, 0);
    judge(counts, &verdict);
    assert_true(verdict.anonymous);
    assert_true(verdict.strict);
}

// Only imaginary bits in common: M = 0 and the sign of C decides.
static void imaginary_overlap_alone_is_decided_by_the_sign(void **state)
{
    (void)state;
    struct uvea_oracle_verdict verdict;
    judge((struct uvea_oracle_counts){.code_dot = 3, .common = 5, .differing = 1}, &verdict);
    assert_true(verdict.anonymous && verdict.strict);
    judge((struct uvea_oracle_counts){.code_dot = -1, .common = 5, .differing = 3}, &verdict);
    assert_false(verdict.anonymous || verdict.strict);
}

// Each formula is handed figures that the other one would decide differently.
static void disagreement_is_a_fault_of_the_oracle(void **state)
{
    (void)state;
    static const struct uvea_oracle_counts cases[] = {
        {.code_dot = 3200, .mask_dot = 12800, 12800, 4801, 6400},
        {.code_dot = 3198, .mask_dot = 12800, 12800, 4800, 6400},
        {.code_dot = 3968, .mask_dot = 12800, 12800, 4417, 6400},
        {.code_dot = 3966, .mask_dot = 12800, 12800, 4416, 6400},
        {.code_dot = -1, .mask_dot = 0, 0, 0, 0},
    };
    for (size_t n = 0; n < UVEA_COUNT_OF(cases); n++) {
        struct uvea_oracle_verdict verdict = {.anonymous = true, .strict = true};
        struct uvea_error_context context = {{0}};
        assert_int_equal(uvea_oracle_judge(&cases[n], &verdict, &context), UVEA_ERR_STATE);
        assert_non_null(strstr(context.text, "oracle fault: the two formulas disagree"));
        assert_true(verdict.anonymous && verdict.strict);
    }
}

static void rotation_moves_columns_to_the_right(void **state)
{
    (void)state;
    struct uvea_oracle_template in = random_template(30);
    in.mask[3] = 0x123456789abcdef0u;
    for (int k = -201; k <= 201; k += 67) {
        struct uvea_oracle_template out;
        uvea_oracle_rotate(&in, k, &out);
        for (unsigned i = 0; i < 12800; i++) {
            unsigned to = (unsigned)((int)(i % 800 / 4) + k + 400) % 200;
            unsigned j = bit_at(i / 800, to, i % 4 / 2, i % 2);
            assert_int_equal(bit_get(out.code, j), bit_get(in.code, i));
            assert_int_equal(bit_get(out.mask, j), bit_get(in.mask, i));
        }
    }
}

static void mirror_reflects_halves_and_inverts_imaginary_code(void **state)
{
    (void)state;
    struct uvea_oracle_template in = random_template(31);
    in.mask[5] = 0x0fedcba987654321u;
    struct uvea_oracle_template out;
    struct uvea_oracle_template back;
    uvea_oracle_mirror(&in, &out);
    for (unsigned i = 0; i < 12800; i++) {
        unsigned column = i % 800 / 4;
        unsigned to = column < 100 ? 99 - column : 299 - column;
        unsigned j = bit_at(i / 800, to, i % 4 / 2, i % 2);
        assert_int_equal(bit_get(out.code, j), bit_get(in.code, i) != (i % 2 == 1));
        assert_int_equal(bit_get(out.mask, j), bit_get(in.mask, i));
    }
    uvea_oracle_mirror(&out, &back);
    assert_memory_equal(&back, &in, sizeof(in));
}

static void best_distance_says_which_way(void **state)
{
    (void)state;
    struct uvea_oracle_template fixed = random_template(40);
    struct uvea_oracle_template moved;
    struct uvea_oracle_distance best;
    for (int k = -15; k <= 15; k++) {
        uvea_oracle_rotate(&fixed, k, &moved);
        bit_flip(moved.code, 17);
        uvea_oracle_best_distance(&fixed, &moved, &best);
        assert_int_equal(best.rotation, -k);
        assert_int_equal(best.differing, 1);
        assert_int_equal(best.common, 12800);
    }
    uvea_oracle_rotate(&fixed, 16, &moved);
    uvea_oracle_best_distance(&fixed, &moved, &best);
    assert_true(best.differing > 5600);
}

static void first_of_equal_distances_wins_and_none_is_no_distance(void **state)
{
    (void)state;
    struct uvea_oracle_template flat;
    memset(&flat, 0xff, sizeof(flat));
    struct uvea_oracle_distance best;
    uvea_oracle_best_distance(&flat, &flat, &best);
    assert_int_equal(best.rotation, -15);
    assert_int_equal(best.differing, 0);

    struct uvea_oracle_template hidden = flat;
    memset(hidden.mask, 0, sizeof(hidden.mask));
    uvea_oracle_best_distance(&flat, &hidden, &best);
    assert_int_equal(best.common, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_follow_the_definition),
        cmocka_unit_test(full_masks_decide_at_4800_and_4416),
        cmocka_unit_test(fractional_overlaps_decide_exactly),
        cmocka_unit_test(nothing_in_common_passes_both),
        cmocka_unit_test(imaginary_overlap_alone_is_decided_by_the_sign),
        cmocka_unit_test(disagreement_is_a_fault_of_the_oracle),
        cmocka_unit_test(rotation_moves_columns_to_the_right),
        cmocka_unit_test(mirror_reflects_halves_and_inverts_imaginary_code),
        cmocka_unit_test(best_distance_says_which_way),
        cmocka_unit_test(first_of_equal_distances_wins_and_none_is_no_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
